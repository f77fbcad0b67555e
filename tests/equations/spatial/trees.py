"""Trees that the tests of spatial dynamics share: chains of the specification, and random ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import biela as bl
from biela.equations import System
from biela.equations.spatial import SpatialTree

Floats = np.ndarray

#: Every joint of the library that can carry a body, with what it needs.
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("revolute", {}),
    ("prismatic", {}),
    ("cylindrical", {}),
    ("universal", {}),
    ("spherical", {}),
    ("planar", {}),
    ("helical", {"pitch": 0.3}),
    ("fixed", {}),
    ("free", {}),
    ("point_on_line", {}),
    ("point_on_curve", {"x": "0.3*cos(s)", "y": "0.2*sin(s)", "z": "0.1*s"}),
)


def random_tree(
    bodies: int, seed: int, kinds: Any = KINDS, chain: bool = False, turned: bool = True
) -> bl.Model:
    """Bodies without a single zero on joints in general position, some the other way round."""
    random = np.random.default_rng(seed)
    m = bl.Model(f"tree {seed}", gravity=(1.0, -2.0, -9.0))
    known = [m.ground]
    for k in range(bodies):
        half = random.normal(size=(3, 3))
        second = 0.02 * half @ half.T
        I = np.trace(second) * np.eye(3) - second
        b = m.body(
            f"b{k}",
            mass=float(random.uniform(0.5, 2)),
            com=random.uniform(-0.3, 0.3, 3).tolist(),
            inertia=I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist(),
        )
        before = known[-1] if chain else known[random.integers(len(known))]
        kind, settings = kinds[random.integers(len(kinds))]
        i, j = (
            body.at(
                *random.uniform(-0.5, 0.5, 3).tolist(),
                axis=random.normal(size=3).tolist(),
                x_axis=random.normal(size=3).tolist(),
            )
            for body in (before, b)
        )
        if turned and random.random() < 0.3:
            i, j = j, i
        m.joint(kind, f"j{k}", i, j, **settings)
        known.append(b)
    return m


def aligned_tree(bodies: int, seed: int) -> bl.Model:
    """Axes along axes, many zeros, coincident points, parallel and crossing hinges."""
    random = np.random.default_rng(seed)
    m = bl.Model(f"aligned {seed}", gravity=random.choice([0.0, 0.0, -9.81], 3).tolist())
    letters = ["x", "y", "z", "-x", "-y", "-z"]
    known = [m.ground]
    for k in range(bodies):
        b = m.body(
            f"b{k}",
            mass=float(random.choice([0.5, 1.0, 2.0])),
            com=random.choice([0.0, 0.0, 0.1, -0.2], 3).tolist(),
            inertia=random.choice([0.1, 0.12, 0.15], 3).tolist(),
        )
        kind, settings = KINDS[random.choice([0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9])]
        markers = []
        for body in (known[random.integers(max(0, len(known) - 2), len(known))], b):
            z = letters[random.integers(6)]
            x = [letter for letter in letters if letter[-1] != z[-1]][random.integers(4)]
            place = random.choice([0.0, 0.0, 0.0, 0.3, -0.5], 3).tolist()
            markers.append(body.at(*place, axis=z, x_axis=x))
        m.joint(kind, f"j{k}", *markers[:: random.choice([1, 1, -1])], **settings)
        known.append(b)
    return m


def state(tree: SpatialTree, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Random q, v and a."""
    random = np.random.default_rng(seed)
    q, v, a = (random.normal(size=n) for n in (len(tree.q), len(tree.v), len(tree.v)))
    for first, _ in tree.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, v, a


def value(
    system: System, capability: str, q: Any, v: Any = None, p: Any = None, a: Any = None
) -> Any:
    """What a system answers, by walking the graph: one state is not worth compiling for."""
    none = np.zeros(len(system.v))
    arguments = {
        "t": 0.0,
        "q": q,
        "v": none if v is None else v,
        "a": none if a is None else a,
        "u": system.inputs,
        "p": system.parameters if p is None else p,
    }
    function = system[capability]
    return function.interpret(*[arguments[array.name] for array in function.inputs])


# ------------------------------------------------------------------ specification


def about(axis: str, angle: float) -> Floats:
    """A rotation matrix."""
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = math.cos(angle)
    R[j, i] = math.sin(angle)
    R[i, j] = -R[j, i]
    return R


def add(
    m: bl.Model,
    before: Any,
    name: str,
    kind: str,
    axis: str,
    *,
    r0: Floats,
    p0: Any,
    mass: float,
    J: Any,
    s: Any,
) -> Any:
    """A body of the specification: its frame is at its joint, whose axis is one of its own."""
    body = m.body(name, mass=mass, com=s, inertia=np.asarray(J).tolist())
    e = np.eye(3)["xyz".index(axis)]
    x = np.eye(3)[("xyz".index(axis) + 1) % 3]
    i = before.at(*p0, axis=(r0 @ e).tolist(), x_axis=(r0 @ x).tolist())
    m.joint(kind, f"J{name}", i, body.at(axis=e.tolist(), x_axis=x.tolist()))
    return body


def box(mass: float, a: float, b: float, c: float) -> Floats:
    """Central moments of a box with c along x, b along y and a along z."""
    return mass / 12 * np.diag([a * a + b * b, a * a + c * c, b * b + c * c])


def planar_arm() -> bl.Model:
    """G1: two hinges about z."""
    m = bl.Model("G1", gravity=(0, -9.81, 0))
    one = add(
        m, m.ground, "1", "revolute", "z",
        r0=np.eye(3), p0=(0, 0, 0), mass=2.0, J=box(2, 0.05, 0.1, 1), s=(0.5, 0, 0),
    )  # fmt: skip
    add(
        m, one, "2", "revolute", "z",
        r0=np.eye(3), p0=(1, 0, 0), mass=1.5, J=box(1.5, 0.04, 0.08, 0.8), s=(0.4, 0, 0),
    )  # fmt: skip
    return m


def hinge_and_slide() -> bl.Model:
    """G2: a hinge about z and a slide along x."""
    m = bl.Model("G2", gravity=(0, -9.81, 0))
    one = add(
        m, m.ground, "1", "revolute", "z",
        r0=np.eye(3), p0=(0, 0, 0), mass=3.0, J=box(3, 0.05, 0.1, 0.6), s=(0.3, 0, 0),
    )  # fmt: skip
    add(
        m, one, "2", "prismatic", "x",
        r0=np.eye(3), p0=(0.2, 0, 0), mass=1.0, J=box(1, 0.03, 0.03, 0.5), s=(0.1, 0, 0),
    )  # fmt: skip
    return m


def link_data(i: int) -> dict[str, Any]:
    """Place and inertia of body i of G3."""
    k, sigma = min(i, 6), (-1.0) ** i
    J = [
        [0.02 + 0.002 * k, 0.001, -0.0005 * k],
        [0.001, 0.03 + 0.001 * k, 0.002],
        [-0.0005 * k, 0.002, 0.025],
    ]
    return {
        "r0": about("x", 0.1 * k),
        "p0": (0.3 + 0.02 * k, 0.05 * sigma, 0.01 * k),
        "mass": 1 + 0.25 * k,
        "s": (0.15, 0.02 * sigma, 0.01 * k),
        "J": J,
    }


def spatial_chain(n: int = 6) -> bl.Model:
    """G3: hinges about z, y, x in turn, every fifth joint a slide."""
    m = bl.Model("G3")
    before: Any = m.ground
    for i in range(1, n + 1):
        kind = "revolute" if i % 5 else "prismatic"
        before = add(m, before, f"{i}", kind, "zyx"[(i - 1) % 3], **link_data(i))
    return m


def chain_state(n: int = 6) -> tuple[Floats, Floats, Floats]:
    """The state of G3."""
    i = np.arange(1, n + 1)
    k, sigma = np.minimum(i, 6), (-1.0) ** i
    return 0.2 * k - 0.5, 0.3 * sigma * (1 + 0.1 * k), 0.5 - 0.15 * k


def floating_chain() -> bl.Model:
    """G4: free, spherical, revolute and spherical joints with the bodies of G3."""
    m = bl.Model("G4")
    before: Any = m.ground
    kinds = (("free", "z"), ("spherical", "z"), ("revolute", "x"), ("spherical", "z"))
    for i, (kind, axis) in enumerate(kinds, 1):
        before = add(m, before, f"{i}", kind, axis, **link_data(i))
    return m
