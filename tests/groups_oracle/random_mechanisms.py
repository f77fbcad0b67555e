"""Random mechanisms put together from known structural groups, as plain numbers.

Each new group hangs on bodies that are there already, so groups and their order are known by
construction.  Joints are laid where the bodies are, so the first state is assembled; a group near
one of its dead points is drawn again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tests.groups_oracle import structure
from tests.groups_oracle.bodies import Driver, Joint, Marker, Mechanism, State, at_rest, frame_along
from tests.groups_oracle.dynamics import Mass
from tests.groups_oracle.motion import Law, matrix, rows, turned

Floats = npt.NDArray[np.float64]

#: freedoms that a joint leaves, in space and (of those used there) in the plane
FREEDOMS = {
    "revolute": 1,
    "prismatic": 1,
    "helical": 1,
    "cylindrical": 2,
    "universal": 2,
    "spherical": 3,
    "planar": 3,
    "point on line": 4,
    "parallel": 4,
    "point in plane": 5,
    "rod": 5,
    "fixed": 0,
}
PLANAR_FREEDOMS = {"revolute": 1, "prismatic": 1, "point on line": 2, "rod": 2}

#: joints of a group in a chain: outer, inner …, outer; a driver is on the first where marked
PLANAR_KINDS = (
    ("revolute", "revolute", "revolute"),
    ("revolute", "revolute", "prismatic"),
    ("revolute", "prismatic", "revolute"),
    ("prismatic", "revolute", "prismatic"),
    ("revolute", "point on line"),
)
SPATIAL_KINDS = (
    ("universal", "prismatic", "spherical"),
    ("revolute", "universal", "spherical"),
    ("revolute", "spherical", "cylindrical"),
    ("spherical", "revolute", "universal"),
    ("universal", "cylindrical", "universal"),
    ("universal", "point on line"),
    ("revolute", "rod"),
)


class Built(NamedTuple):
    """A mechanism, its first state, its groups in an order of solution, and masses."""

    mechanism: Mechanism
    state: State
    groups: list[tuple[int, ...]]
    masses: list[Mass]

    def laws(self, t: float, rates: Floats, accelerations: Floats) -> list[Law]:
        """Drivers moved from the first state: value, rate and acceleration at ``t``."""
        start = driven_values(self.mechanism, self.state)
        return [
            (q + w * t + a * t * t / 2, w + a * t, a)
            for q, w, a in zip(start, rates, accelerations, strict=True)
        ]


def driven_values(mechanism: Mechanism, s: State) -> list[float]:
    """Where each driver stands in a state."""
    laws = [(0.0, 0.0, 0.0)] * len(mechanism.drivers)
    found = rows(mechanism, s, laws)
    return [row.value for row in found[len(found) - len(laws) :]]


def counted(mechanism: Mechanism) -> list[structure.Joint | structure.Driver]:
    """The same mechanism for `structure.find_structure`: bodies and freedoms only."""
    table = PLANAR_FREEDOMS if mechanism.planar else FREEDOMS
    joints: list[structure.Joint | structure.Driver] = [
        structure.Joint(joint.a.body, joint.b.body, table[joint.kind]) for joint in mechanism.joints
    ]
    return joints + [structure.Driver(d.a.body, d.b.body) for d in mechanism.drivers]


def drawn(rng: np.random.Generator, planar: bool, inputs: int, dyads: int) -> Built:
    """``inputs`` driven bodies (the first on the frame), then ``dyads`` passive groups."""
    draft = _Draft(rng, planar)
    for k in range(inputs):
        draft.add_input(on=0 if k == 0 else int(rng.integers(0, draft.count + 1)))
    kinds = PLANAR_KINDS if planar else SPATIAL_KINDS
    for _ in range(dyads):
        draft.add_group(kinds[int(rng.integers(len(kinds)))])
    masses = [_mass(rng, planar) for _ in range(draft.count)]
    return Built(draft.mechanism(), draft.state(), draft.groups, masses)


class _Draft:
    """A mechanism under construction."""

    def __init__(self, rng: np.random.Generator, planar: bool) -> None:
        self.rng, self.planar = rng, planar
        self.r: list[Floats] = []
        self.A: list[Floats] = []
        self.joints: list[Joint] = []
        self.drivers: list[Driver] = []
        self.groups: list[tuple[int, ...]] = []

    @property
    def count(self) -> int:
        return len(self.r)

    def state(self) -> State:
        return at_rest(np.array(self.r), np.array(self.A))

    def mechanism(self) -> Mechanism:
        return Mechanism(self.count, tuple(self.joints), tuple(self.drivers), self.planar)

    def add_input(self, on: int) -> None:
        body = self._body()
        kind = ("revolute", "prismatic")[int(self.rng.integers(2))]
        joint = self._joint(kind, on, body)
        self.joints.append(joint)
        what = "slide" if kind == "prismatic" else "angle"
        self.drivers.append(Driver(what, joint.a, joint.b))
        self.groups.append((body,))

    def add_group(self, kinds: tuple[str, ...]) -> None:
        first, last = self.rng.choice(self.count + 1, size=2, replace=False).tolist()
        bodies = [self._body() for _ in kinds[1:]]
        path = [first, *bodies, last]
        kept = len(self.joints)
        while True:
            for kind, a, b in zip(kinds, path[:-1], path[1:], strict=True):
                self.joints.append(self._joint(kind, a, b))
            if self._far_from_dead(bodies, self.joints[kept:]):
                break
            del self.joints[kept:]
        self.groups.append(tuple(bodies))

    def _body(self) -> int:
        r, turn = self.rng.normal(size=3) * 2, self.rng.normal(size=3)
        if self.planar:
            r[2] = turn[0] = turn[1] = 0.0
        self.r.append(r)
        self.A.append(turned(turn))
        return self.count

    def _joint(self, kind: str, a: int, b: int) -> Joint:
        x, axes = self.rng.normal(size=3) * 2, turned(self.rng.normal(size=3))
        y = x
        if self.planar:
            x[2] = 0.0
            angle = self.rng.uniform(0, 2 * np.pi)
            inside = kind in ("prismatic", "point on line")
            axes = frame_along((np.cos(angle), np.sin(angle), 0.0) if inside else (0, 0, 1.0))
        if kind in ("prismatic", "cylindrical", "point on line"):
            y = x + axes[:, 2] * self.rng.normal()
        size = 0.0
        if kind == "rod":
            y = x + self.rng.normal(size=3) * np.array([1, 1, 0 if self.planar else 1])
            size = float(np.linalg.norm(y - x))
        other = axes[:, [1, 2, 0]] if kind == "universal" else axes
        return Joint(kind, self._marker(a, x, axes), self._marker(b, y, other), size)

    def _marker(self, body: int, x: Floats, axes: Floats) -> Marker:
        s = self.state()
        return Marker(body, s.A[body].T @ (x - s.r[body]), s.A[body].T @ axes)

    def _far_from_dead(self, bodies: list[int], joints: list[Joint]) -> bool:
        """Is the group's own matrix well conditioned with the bodies it hangs on held?"""
        alone = Mechanism(self.count, tuple(joints), (), self.planar)
        J = matrix(alone, rows(alone, self.state(), ())).reshape(-1, self.count, 6)
        J = J[:, [body - 1 for body in bodies]].reshape(len(J), -1)
        sigma = np.linalg.svd(J, compute_uv=False)
        size = (3 if self.planar else 6) * len(bodies)
        # about half of all draws pass
        least = 0.02 if self.planar else 0.006
        return bool(np.sum(sigma > least * sigma[0]) == size)


def _mass(rng: np.random.Generator, planar: bool) -> Mass:
    centre = rng.normal(size=3) * 0.3
    if planar:
        centre[2] = 0.0
    principal = np.array([1.0, 1.2, 1.5]) * rng.uniform(0.1, 1.0)
    turn = np.eye(3) if planar else turned(rng.normal(size=3))
    return Mass(float(rng.uniform(0.5, 3.0)), centre, turn @ np.diag(principal) @ turn.T)
