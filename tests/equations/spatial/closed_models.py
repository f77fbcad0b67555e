"""Mechanisms with closed loops that the tests of spatial dynamics share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from biela.model.joints import Joint
from biela.model.joints.moves import transform
from biela.model.markers import Marker
from tests.equations.spatial.trees import random_tree, state

Floats = np.ndarray

#: Joints that remove most freedoms, so that others close the loops.
CARRIERS = (("revolute", {}), ("prismatic", {}), ("revolute", {}))


def bar(m: bl.Model, name: str, mass: float) -> Any:
    """A bar along x."""
    return m.body(name, mass=mass, com=(0.45, 0, 0.05), inertia=(0.1, 0.3, 0.25))


def four_bar() -> bl.Model:
    """Hinges about y; of the five rows of the last one three hold by themselves."""
    m = bl.Model("four bar")
    crank, coupler, rocker = (bar(m, n, 1.0 + k) for k, n in enumerate(("crank", "rod", "rocker")))
    m.joint("revolute", "A", m.ground, crank, axis="y", start={"angle": -1.3})
    m.joint("revolute", "B", crank.at(0.7, 0, 0), coupler, axis="y", start={"angle": 1.2})
    m.joint("revolute", "D", m.ground.at(1.2, 0, 0), rocker, axis="y", start={"angle": -1.5})
    m.joint("revolute", "C", coupler.at(1.3, 0, 0), rocker.at(0.9, 0, 0), axis="y")
    return m


def five_bar() -> bl.Model:
    """Two arms of two bars, with their tips joined."""
    m = bl.Model("five bar")
    a, b, c, d = (bar(m, n, 1 + 0.2 * k) for k, n in enumerate("abcd"))
    m.joint("revolute", "A", m.ground, a, axis="y", start={"angle": -2.0})
    m.joint("revolute", "B", a.at(1, 0, 0), b, axis="y", start={"angle": 1.1})
    m.joint("revolute", "E", m.ground.at(0.8, 0, 0), d, axis="y", start={"angle": -0.9})
    m.joint("revolute", "D", d.at(1, 0, 0), c, axis="y", start={"angle": -1.1})
    m.joint("revolute", "C", b.at(1, 0, 0), c.at(1, 0, 0), axis="y")
    return m


def stewart(locked: float | None = None) -> bl.Model:
    """A platform on six legs: each a universal joint, a slide with a spring, and a ball.

    With ``locked`` the fourth leg is so far (rad) from lying along the first axis of its universal
    joint, about which it then cannot be moved.
    """
    m = bl.Model("stewart")
    top = np.array([0.03, -0.02, 0.9])
    plate = m.body(
        "platform",
        mass=12.0,
        com=(0.01, 0.02, 0.03),
        inertia=(0.5, 0.6, 1.0),
        position=top.tolist(),
    )
    for n in range(6):
        turn = 2 * np.pi * n / 6
        foot = np.array([np.cos(turn - 0.3 * (-1) ** n), np.sin(turn - 0.3 * (-1) ** n), 0.0])
        tip = 0.5 * np.array([np.cos(turn + 0.4 * (-1) ** n), np.sin(turn + 0.4 * (-1) ** n), 0.0])
        if n == 3 and locked is not None:
            foot = top + tip + 0.7 * np.array([np.cos(locked), 0.0, -np.sin(locked)])
        x, y, z = top + tip - foot
        y = 0.0 if n == 3 and locked is not None else y
        lower = m.body(f"lower{n}", mass=2.0, com=(0, 0, 0.3), inertia=(0.05, 0.05, 0.01))
        upper = m.body(f"upper{n}", mass=1.0, com=(0, 0, -0.3), inertia=(0.04, 0.04, 0.005))
        tilt = {
            "first": float(np.arctan2(-y, z)),
            "second": float(np.arctan2(x, np.hypot(y, z))),
        }
        length = float(np.linalg.norm((x, y, z)))
        m.joint("universal", f"foot{n}", m.ground.at(*foot.tolist()), lower, start=tilt)
        m.joint("prismatic", f"leg{n}", lower, upper, start={"displacement": length})
        m.joint("spherical", f"top{n}", upper, plate.at(*tip.tolist()))
        m.force("axial", f"spring{n}", coordinate=f"leg{n}", stiffness=4000.0, rest=length)
    return m


def bricard() -> bl.Model:
    """Six hinges along the edges of a cube: one freedom, where the rows leave none."""
    m = bl.Model("bricard")
    P = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
    bodies = [m.ground]
    for k in range(1, 6):
        com = ((P[k] + P[(k + 1) % 6]) / 2).tolist()
        bodies.append(m.body(f"b{k}", mass=1 + 0.1 * k, com=com, inertia=(0.1, 0.12, 0.11)))
    for k in range(6):
        axis = np.cross(P[k] - P[k - 1], P[(k + 1) % 6] - P[k])
        along = {"axis": axis.tolist(), "x_axis": np.roll(axis, 1).tolist()}
        i, j = (body.at(*P[k].tolist(), **along) for body in (bodies[k - 1], bodies[k]))
        m.joint("revolute", f"j{k}", i, j)
    return m


def cells(count: int) -> bl.Model:
    """Four-bars, each on the rod of the one before."""
    m = bl.Model(f"{count} cells")
    base, x, z = m.ground, 0.0, 0.0
    for k in range(count):
        a, b, c = (bar(m, f"{n}{k}", 1.0) for n in "abc")
        m.joint("revolute", f"A{k}", base.at(x, 0, z), a, axis="y", start={"angle": -1.3})
        m.joint("revolute", f"B{k}", a.at(1, 0, 0), b, axis="y", start={"angle": 1.2})
        m.joint("revolute", f"D{k}", base.at(x + 1, 0, z), c, axis="y", start={"angle": -1.5})
        m.joint("revolute", f"C{k}", b.at(1.2, 0, 0), c.at(0.9, 0, 0), axis="y")
        base, x, z = b, 0.1, 0.1
    return m


# ------------------------------------------------------------------------ random loops


def closed_tree(
    seed: int, closers: Sequence[tuple[str, dict[str, Any]]], kinds: Any = CARRIERS
) -> tuple[bl.Model, Floats]:
    """A random tree with loops that are closed in the position that is returned with it."""
    m = random_tree(7, seed, kinds, turned=False)
    random = np.random.default_rng(seed + 100)
    tree = SpatialTree(m)
    q = state(tree, seed)[0] / 2
    for first, _ in tree.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    known = {cls.kind: cls for cls in subclasses(Joint) if hasattr(cls, "kind")}
    poses = {name: pose(m, name, q) for name in m.bodies}
    for n, (kind, given) in enumerate(closers):
        a, b = random.choice(list(m.bodies), 2, replace=False)
        settings, step = dict(given), np.eye(4)
        if kind == "distance":
            step[:3, 3] = random.normal(size=3)
            settings["length"] = float(np.linalg.norm(step[:3, 3]))
        else:
            joint = known[kind](name="x", i=Marker("ground", "i"), j=Marker("b", "j"), **settings)
            free = [float(x) for x in random.uniform(-0.5, 0.5, len(joint.coordinates))]
            Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
            turns = {k: Q * np.linalg.det(Q) for k in range(len(free))}
            step = transform(joint.moves(free, m.number), turns)
        i = frame(random.uniform(-0.5, 0.5, 3), *random.normal(size=(2, 3)))
        j = np.linalg.inv(poses[b]) @ poses[a] @ i @ step
        m.joint(kind, f"close{n}", marker(m, a, i), marker(m, b, j), **settings)
    return m, q


def subclasses(cls: Any) -> list[Any]:
    """All of them."""
    return [x for sub in cls.__subclasses__() for x in (sub, *subclasses(sub))]


def frame(p: Floats, z: Floats, x: Floats) -> Floats:
    """The pose with an axis along z and another near x."""
    z = z / np.linalg.norm(z)
    x = x - z * (x @ z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.c_[x, np.cross(z, x), z], p
    return T


def marker(m: bl.Model, body: str, T: Floats) -> Any:
    """A marker on a body."""
    axes = {"axis": T[:3, 2].tolist(), "x_axis": T[:3, 0].tolist()}
    return m.bodies[body].at(*T[:3, 3].tolist(), **axes)


def pose(m: bl.Model, name: str, q: Floats) -> Floats:
    """The pose of a body."""
    R, p = spatial.pose(m, name).interpret(q)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


# --------------------------------------------------------------------------- states


def called(function: bl.Function, m: bl.Model, **arrays: Any) -> Any:
    """A function by the names of its arrays."""
    arrays.setdefault("t", 0.3)
    arrays.setdefault("p", np.array(list(m.parameters.values())))
    return function.interpret(*[arrays[array.name] for array in function.inputs])


def assembled(m: bl.Model, q: Floats | None = None, seed: int = 0) -> tuple[Floats, ...]:
    """Coordinates and velocities that keep the loops closed, and joint forces."""
    tree = SpatialTree(m)
    phi, jacobian, drift = (
        f(m) for f in (spatial.closure, spatial.closure_jacobian, spatial.closure_drift)
    )
    move = spatial.integrate(m)
    found = np.array(tree.start) if q is None else q
    for _ in range(60):
        gap, J = called(phi, m, q=found), called(jacobian, m, q=found)
        if np.abs(gap).max() < 2e-13:
            break
        step = -np.linalg.lstsq(J, gap, rcond=1e-9)[0]
        found = called(move, m, q=found, v=step * min(1.0, 0.5 / np.abs(step).max()))
    assert np.abs(gap).max() < 1e-12, m.name
    random = np.random.default_rng(seed)
    v, tau = random.normal(size=(2, len(tree.v)))
    J = called(jacobian, m, q=found)
    rate = J @ v + called(drift, m, q=found, v=v)[0]
    return found, v - np.linalg.lstsq(J, rate, rcond=1e-9)[0], tau


def expected(m: bl.Model, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """The accelerations by the equations of `bl.formulate`, and the forces Jᵀ λ of the loops."""
    system = bl.formulate(m)
    assert [entry.name for entry in system.q] == SpatialTree(m).q_names
    arrays = {"t": 0.3, "q": q, "v": v, "p": system.parameters, "u": system.inputs}
    M, Q, J, gamma = (
        system[name].interpret(*[arrays[array.name] for array in system[name].inputs])
        for name in ("M", "Q", "Phi_v", "gamma")
    )
    n = len(v)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    solution = np.linalg.lstsq(K, np.r_[Q + tau, gamma], rcond=1e-11)[0]
    return solution[:n], J.T @ solution[n:]
