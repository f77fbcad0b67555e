"""Mechanisms put together from known structural groups, as plain data, and the models of them.

Bodies have a place and no turn, and joints stand where their two bodies are then, so that every
mechanism is assembled where it starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import biela as bl

#: Joints of which both sides are alike.
SYMMETRIC = ("revolute", "prismatic", "spherical")
#: Dyads in the plane: outer, inner, outer joint.
DYADS = ("RRR", "RRP", "RPR", "PRP", "RPP")
_KINDS = {"R": "revolute", "P": "prismatic", "S": "spherical", "U": "universal"}


@dataclass
class Mechanism:
    """Bodies with places, joints with two bodies, a place and an axis, and driven joints."""

    plane: str | None
    bodies: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    joints: dict[str, tuple[str, str, str, tuple[float, ...], tuple[float, ...]]] = field(
        default_factory=dict
    )
    driven: dict[str, str] = field(default_factory=dict)
    #: What has to be found: sets of bodies and the names of their kinds.
    groups: list[tuple[frozenset[str], str]] = field(default_factory=list)

    def body(self, name: str, at: np.ndarray) -> str:
        self.bodies[name] = (float(at[0]), float(at[1]), float(at[2]))
        return name

    def join(
        self, letter: str, a: str, b: str, at: np.ndarray, axis: np.ndarray | None = None
    ) -> str:
        name = f"j{len(self.joints)}"
        direction = (0.0, 0.0, 1.0) if axis is None else tuple(float(x) for x in axis)
        place = tuple(float(x) for x in at)
        self.joints[name] = (_KINDS[letter], a, b, place, direction)
        return name

    def drive(self, joint: str) -> None:
        self.driven[f"d{len(self.driven)}"] = joint


def model_of(mechanism: Mechanism, shuffled: int | None = None) -> tuple[bl.Model, dict[str, str]]:
    """The model of a mechanism, and what its bodies are called.

    With a seed the bodies and joints come in another order with other names, and joints of which
    both sides are alike are turned round.
    """
    rng = np.random.default_rng(shuffled)
    names = {name: name for name in mechanism.bodies}
    called = {name: name for name in mechanism.joints}
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    if shuffled is not None:
        rng.shuffle(bodies)
        rng.shuffle(joints)
        names = {name: f"b{k}" for k, name in enumerate(bodies)}
        called = {name: f"x{k}" for k, name in enumerate(joints)}
    m = bl.Model("random", plane=mechanism.plane)
    made = {"ground": m.ground}
    for name in bodies:
        made[name] = m.body(names[name], mass=1.0, inertia=0.1, position=mechanism.bodies[name])
    for name in joints:
        kind, a, b, at, axis = mechanism.joints[name]
        if shuffled is not None and kind in SYMMETRIC and rng.random() < 0.5:
            a, b = b, a
        m.joint(kind, called[name], made[a], made[b], at=at, axis=axis)
    for name, joint in mechanism.driven.items():
        kind = "rotary" if mechanism.joints[joint][0] == "revolute" else "translational"
        m.driver(kind, name, coordinate=called[joint], law="t")
    return m, names


def random_mechanism(seed: int, count: int, spatial: bool) -> Mechanism:
    """So many random groups, each on bodies of those before it or on the ground."""
    rng = np.random.default_rng(seed)
    mechanism = Mechanism(None if spatial else "xy")
    for k in range(count):
        # what stands on a rod between two balls would make its spin a freedom
        known = ["ground", *(name for name in mechanism.bodies if not name.endswith("r"))]
        first, second, third = (str(rng.choice(known)) for _ in range(3))
        if spatial:
            choice = str(rng.choice(["crank", "slide", "2S1P", "SPU"] if k else ["crank"]))
        else:
            choice = str(rng.choice(["crank", "slide", *DYADS, "triad"] if k else ["crank"]))
        if choice in ("crank", "slide"):
            _single(mechanism, rng, k, choice, first, spatial)
        elif choice == "triad":
            _triad(mechanism, rng, k, (first, second, third))
        elif choice == "2S1P":
            _rod_and_slider(mechanism, rng, k, first, second)
        elif choice == "SPU":
            _actuator(mechanism, rng, k, first, second)
        else:
            _dyad(mechanism, rng, k, choice, first, second)
    return mechanism


def place(rng: np.random.Generator, spatial: bool) -> np.ndarray:
    """Somewhere within a metre or two."""
    point = rng.uniform(-1.5, 1.5, 3)
    if not spatial:
        point[2] = 0.0
    return point


def _direction(rng: np.random.Generator, spatial: bool) -> np.ndarray:
    d = rng.normal(size=3)
    if not spatial:
        d[2] = 0.0
    return d / np.linalg.norm(d)


def _single(
    m: Mechanism, rng: np.random.Generator, k: int, choice: str, known: str, spatial: bool
) -> None:
    b = m.body(f"g{k}a", place(rng, spatial))
    letter = "R" if choice == "crank" else "P"
    axis = _direction(rng, spatial) if letter == "P" or spatial else None
    m.drive(m.join(letter, known, b, place(rng, spatial), axis))
    m.groups.append((frozenset({b}), f"1{letter}"))


def _dyad(
    m: Mechanism, rng: np.random.Generator, k: int, name: str, first: str, second: str
) -> None:
    a, b = m.body(f"g{k}a", place(rng, False)), m.body(f"g{k}b", place(rng, False))
    for letter, one, other in zip(name, (first, a, second), (a, b, b), strict=True):
        axis = _direction(rng, False) if letter == "P" else None
        m.join(letter, one, other, place(rng, False), axis)
    m.groups.append((frozenset({a, b}), min(name, name[::-1])))


def _triad(m: Mechanism, rng: np.random.Generator, k: int, known: tuple[str, str, str]) -> None:
    t = m.body(f"g{k}t", place(rng, False))
    bodies = {t}
    for n, one in enumerate(known):
        link = m.body(f"g{k}l{n}", place(rng, False))
        m.join("R", t, link, place(rng, False))
        m.join("R", one, link, place(rng, False))
        bodies.add(link)
    m.groups.append((frozenset(bodies), "4 bodies, 6 joints (6R)"))


def _rod_and_slider(
    m: Mechanism, rng: np.random.Generator, k: int, first: str, second: str
) -> None:
    rod, slider = m.body(f"g{k}r", place(rng, True)), m.body(f"g{k}s", place(rng, True))
    m.join("S", first, rod, place(rng, True))
    m.join("S", rod, slider, place(rng, True))
    m.join("P", second, slider, place(rng, True), _direction(rng, True))
    m.groups.append((frozenset({rod, slider}), "2S1P"))


def _actuator(m: Mechanism, rng: np.random.Generator, k: int, first: str, second: str) -> None:
    a, b = m.body(f"g{k}c", place(rng, True)), m.body(f"g{k}p", place(rng, True))
    foot, head = place(rng, True), place(rng, True)
    along = (head - foot) / np.linalg.norm(head - foot)
    m.join("U", first, a, foot, along)
    m.join("P", a, b, foot, along)
    m.join("S", b, second, head)
    m.groups.append((frozenset({a, b}), "SPU"))
