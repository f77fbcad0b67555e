"""Random motions of systems, along which elements are differentiated by differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.equations.formulate import formulate
from biela.model import Model

Floats = npt.NDArray[np.float64]

#: Every choice of coordinates that a model can be formulated in.
COORDINATES = ("joint", "reference")
#: The error of a difference quotient of fourth order with the step below.
STEP = 1e-3
DIFFERENCE = {"rtol": 1e-8, "atol": 1e-8}


def two_bodies(name: str = "pair") -> Model:
    """A body that turns on a cross in the ground, and one that turns and slides on it."""
    m = Model(name, gravity=(0, 0, 0))
    a = m.body("a", mass=2.0, com=(0.1, 0.2, 0.3), inertia=(0.3, 0.4, 0.5))
    b = m.body("b", mass=1.0, com=(0.1, -0.2, 0.1), inertia=(0.2, 0.3, 0.25))
    m.joint("universal", "U", m.ground, a)
    m.joint("cylindrical", "C", (a, (0.1, 0.2, 0.3)), (b, (0.2, 0.1, 0.0)), axis=(1, 2, 2))
    return m


def marked(m: Model) -> None:
    """Two markers on each body, and one on the ground, in general places."""
    for body, places in (
        (m.ground, ("g",)),
        (m.bodies["a"], ("a1", "a2")),
        (m.bodies["b"], ("b1", "b2")),
    ):
        for k, place in enumerate(places):
            axis = (1.0, 0.5 * k - 0.2, -0.3)
            body.marker(place, (0.3 - k, 0.2 * k + 0.4, 0.5), axis=axis, x_axis=(0, 1, k))


def random_state(system: System, seed: int) -> tuple[float, Floats, Floats]:
    """Time, position and velocity; every quaternion has a unit norm."""
    rng = np.random.default_rng(seed)
    q, v = rng.normal(scale=0.7, size=len(system.q)), rng.normal(size=len(system.v))
    for k in system.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return float(rng.uniform(0.2, 1.5)), q, v


def possible_state(
    model: Model, system: System, coordinates: str, seed: int
) -> tuple[Floats, Floats]:
    """A random motion that all joints of a tree allow, the same in all coordinates.

    Coordinates of the joints are drawn; those of the bodies follow from poses and twists.
    """
    tree = system if coordinates == "joint" else formulate(model, "joint")
    _, q, v = random_state(tree, seed)
    if coordinates == "joint":
        return q, v
    poses, twists = tree.evaluate("poses", q, v), tree.evaluate("twists", q, v)
    at, rate = np.zeros(len(system.q)), np.zeros(len(system.v))
    names_q, names_v = [x.name for x in system.q], [x.name for x in system.v]
    for body in model.bodies.values():
        row = tree.frames.index(body.name)
        R = poses[row, 3:].reshape(3, 3)
        com = R @ np.array(body.inertia.com, float)
        omega = twists[row, 3:]
        first, first_v = names_q.index(f"{body.name}.rx"), names_v.index(f"{body.name}.rx_rate")
        at[first : first + 3] = poses[row, :3] + com
        at[first + 3 : first + 7] = quaternion(R)
        rate[first_v : first_v + 3] = twists[row, :3] + np.cross(omega, com)
        rate[first_v + 3 : first_v + 6] = R.T @ omega
    for k, joint in enumerate(tree.q):
        if joint.name in names_q:  # an angle over several turns, which is read from the bodies
            at[names_q.index(joint.name)] = q[k]
            rate[names_v.index(f"{joint.name}_rate")] = v[k]
    return at, rate


def quaternion(R: Floats) -> Floats:
    """The Euler parameters of a rotation of less than half a turn."""
    e0 = np.sqrt(max(0.0, 1 + np.trace(R))) / 2
    return np.array(
        [e0, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * e0))]
    )


def moved(system: System, q: Floats, v: Floats, h: float) -> Floats:
    """The position after a time with constant velocities."""
    if "retract" in system:
        return np.asarray(system["retract"](q, h * v))
    return q + h * v


def slope(
    f: Callable[[float, Floats], Floats], system: System, t: float, q: Floats, v: Floats
) -> Floats:
    """The time derivative of f(t, q) along a motion with constant velocities."""
    h = STEP
    near = [np.asarray(f(t + k * h, moved(system, q, v, k * h))) for k in (-2, -1, 1, 2)]
    return np.asarray((near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h))


def rotation_log(R: Floats) -> Floats:
    """The rotation vector of a matrix, from its eigenvalues: axis and angle apart."""
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    angle = np.arctan2(np.linalg.norm(w), (np.trace(R) - 1) / 2)
    return w * (angle / np.linalg.norm(w))
