"""The three levels of every joint: Φ' and Φ'' by finite differences of Φ along a motion.

Along q(t) = q ⊕ v t the velocities are constant, so that Φ' = Φ_v v - β and Φ'' = -γ there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.equations import System

Floats = npt.NDArray[np.float64]

KINDS: dict[str, dict[str, object]] = {
    "revolute": {},
    "prismatic": {},
    "cylindrical": {},
    "universal": {},
    "spherical": {},
    "planar": {},
    "helical": {"pitch": 0.3},
    "fixed": {},
    "distance": {"length": 0.7},
    "point_on_line": {},
    "point_on_curve": {"x": "0.3*cos(s)", "y": "0.2*s^2", "z": "0.1*s"},
    "dot": {"a": "x", "b": "y", "value": 0.2},
    "in_plane": {"offset": 0.15},
    "parallel_axes": {},
    "coordinate_difference": {"along": "y", "value": 0.1},
}


def two_bodies(kind: str) -> bl.Model:
    m = bl.Model(kind)
    a = m.body("a", mass=1.3, com=(0.1, 0.05, -0.2), inertia=(0.03, 0.05, 0.04))
    b = m.body("b", mass=0.7, com=(0.0, 0.1, -0.1), inertia=(0.03, 0.05, 0.04))
    i = a.at(0.1, -0.2, 0.3, axis=(1, 2, -1), x_axis=(0, 1, 1))
    j = b.at(0.05, 0.1, 0.2, axis=(0, 1, 0.3), x_axis="x")
    m.joint(kind, "J", i, j, **KINDS[kind])
    return m


def central(f: Callable[[float], Floats], h: float = 2e-3) -> Floats:
    """The derivative at 0, to order 4."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def moved(system: System, q: Floats, delta: Floats) -> Floats:
    return np.asarray(system["retract"](q, delta)) if "retract" in system else q + delta


@pytest.mark.parametrize("coordinates", ["reference", "euler"])
@pytest.mark.parametrize("kind", KINDS)
def test_velocity_and_acceleration_rows_are_derivatives(kind: str, coordinates: str) -> None:
    system = bl.formulate(two_bodies(kind), coordinates)
    random = np.random.default_rng(3)
    q = np.array([e.value for e in system.q])
    if coordinates == "reference":
        q = moved(system, q, random.uniform(-1, 1, len(system.v)))
        v = random.uniform(-1, 1, len(system.v))
    else:  # rates of unit quaternions along a motion that keeps their norm
        q, v = _unit_motion(system, random)

    def place(t: float) -> Floats:
        return moved(system, q, v * t) if coordinates == "reference" else _along(system, q, v, t)

    def speed(t: float) -> Floats:
        return v if coordinates == "reference" else _speed(system, q, v, t)

    Phi = np.atleast_1d(system.evaluate("Phi", q))
    rate = np.atleast_1d(system.evaluate("dPhi", q, v))
    rows = np.atleast_2d(system.evaluate("Phi_v", q))
    beta = np.atleast_1d(system.evaluate("beta", q))
    gamma = np.atleast_1d(system.evaluate("gamma", q, v))
    assert len(Phi) == len(system.multipliers)
    np.testing.assert_allclose(rows @ v - beta, rate, atol=1e-13)
    found = central(lambda t: np.atleast_1d(system.evaluate("Phi", place(t))))
    np.testing.assert_allclose(found, rate, atol=1e-9)
    curved = central(lambda t: np.atleast_1d(system.evaluate("dPhi", place(t), speed(t))))
    a = central(speed)
    np.testing.assert_allclose(curved, rows @ a - gamma, atol=1e-9)


def _quaternions(system: System) -> list[int]:
    return [k for k, entry in enumerate(system.q) if entry.name.endswith(".e0")]


def _unit_motion(system: System, random: np.random.Generator) -> tuple[Floats, Floats]:
    q, v = random.uniform(-1, 1, len(system.q)), random.uniform(-1, 1, len(system.v))
    for k in _quaternions(system):
        e = q[k : k + 4] / np.linalg.norm(q[k : k + 4])
        q[k : k + 4] = e
        v[k : k + 4] -= e * (e @ v[k : k + 4])
    return q, v


def _along(system: System, q: Floats, v: Floats, t: float) -> Floats:
    """Straight lines, and great circles of the unit quaternions."""
    place = q + v * t
    for k in _quaternions(system):
        size = np.linalg.norm(v[k : k + 4])
        place[k : k + 4] = np.cos(size * t) * q[k : k + 4] + np.sin(size * t) / size * v[k : k + 4]
    return place


def _speed(system: System, q: Floats, v: Floats, t: float) -> Floats:
    speed = v.copy()
    for k in _quaternions(system):
        size = np.linalg.norm(v[k : k + 4])
        speed[k : k + 4] = np.cos(size * t) * v[k : k + 4] - size * np.sin(size * t) * q[k : k + 4]
    return speed


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"helical", "point_on_curve"}))
def test_rows_are_the_products_of_points_and_axes_as_they_stand(kind: str) -> None:
    """The values of all rows at a random position, from poses by NumPy.

    With d = r_j - r_i: its components, a_i · b_j less a cosine, a_i · d less an offset, and
    (d · d - L²) / 2L.
    """
    m = two_bodies(kind)
    system = bl.formulate(m, "reference")
    q = np.array([e.value for e in system.q])
    q = moved(system, q, np.random.default_rng(5).uniform(-1, 1, len(system.v)))
    at = dict(zip([e.name for e in system.q], q, strict=True))

    def frame(marker: object) -> tuple[Floats, Floats]:
        r, e = (
            np.array([at[f"{marker.body}.{n}"] for n in part.split()])
            for part in ("rx ry rz", "e0 e1 e2 e3")
        )
        K = np.array([[0, -e[3], e[2]], [e[3], 0, -e[1]], [-e[2], e[1], 0]])
        A = np.eye(3) + 2 * e[0] * K + 2 * K @ K
        # the reference point of a body is its centre of mass
        place = np.subtract(marker.position, m.bodies[marker.body].inertia.com)
        return r + A @ place, A @ np.array(marker.orientation.axes)

    joint = m.joints["J"]
    (r_i, R_i), (r_j, R_j) = frame(joint.i), frame(joint.j)
    d, given = r_j - r_i, {k: x for k, x in KINDS[kind].items() if not isinstance(x, str)}
    (constant,) = given.values() or (0.0,)
    Phi = np.atleast_1d(system.evaluate("Phi", q))
    for name, value in zip(system.multipliers, Phi, strict=True):
        label = name.removeprefix("J.")
        if label == "length":
            expected = (d @ d - constant**2) / (2 * constant)
        elif label.startswith("axis_"):
            a, b = ("xyz".index(axis) for axis in label.removeprefix("axis_"))
            expected = R_i[:, a] @ R_j[:, b] - constant
        elif label.startswith("along_"):
            expected = R_i[:, "xyz".index(label[-1])] @ d - constant
        else:
            expected = d["xyz".index(label)] - constant
        assert value == pytest.approx(expected, abs=1e-14), name


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_freedoms_are_removed_as_it_says(kind: str) -> None:
    m = two_bodies(kind)
    system = bl.formulate(m, "reference")
    random = np.random.default_rng(5)
    q = np.array([e.value for e in system.q])
    q = moved(system, q, random.uniform(-0.5, 0.5, len(system.v)))
    rank = np.linalg.matrix_rank(np.atleast_2d(system.evaluate("Phi_v", q)))
    extra = len(system.v) - 12  # coordinates that count turns
    assert rank - extra == m.joints["J"].removes
