"""Drivers: their rows are what they say, their rates are right, and they drive through any turn."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis import kinematics
from biela.equations import System, reference_point
from biela.equations.formulate import formulate
from biela.errors import ModelError
from biela.model import Model
from biela.space import position
from tests.mechanisms import turn
from tests.model.motions import (
    COORDINATES,
    DIFFERENCE,
    marked,
    possible_state,
    random_state,
    rotation_log,
    slope,
    two_bodies,
)

DRIVERS = {
    "rotary": ("rotary", {"coordinate": "C.angle", "law": "0.3 + 2*t + 0.4*sin(3*t)"}),
    "translational": ("translational", {"coordinate": "C.displacement", "law": "0.1 + 0.3*t^2"}),
    "distance": ("distance", {"i": "a.a1", "j": "b.b1", "law": "1.2 + 0.2*sin(t)"}),
    "distance from the ground": ("distance", {"i": "ground.g", "j": "b.b2", "law": "1 + t"}),
    "position": ("position", {"marker": "b.b1", "axis": "y", "law": "sin(2*t)"}),
    "relative position": ("position", {"marker": "b.b1", "i": "a.a2", "axis": "z", "law": "t"}),
    "path": ("path", {"marker": "b.b1", "x": "t", "y": "cos(t)", "z": "t^2"}),
    "part of a path": ("path", {"marker": "b.b1", "x": "sin(t)", "z": "0.4"}),
    "relative path": ("path", {"marker": "b.b2", "i": "a.a1", "x": "t", "y": "cos(t)"}),
    "orientation": ("orientation", {"marker": "b.b1", "first": "2*t"}),
    "relative orientation": (
        "orientation",
        {
            "marker": "b.b1",
            "i": "a.a2",
            "axes": "zyx",
            "first": "t",
            "second": "sin(t)",
            "third": "1",
        },
    ),
    "cosine": ("cosine", {"i": "a.a1", "j": "b.b1", "law": "0.5 + t", "a": "-y", "b": "z"}),
}


def all_drivers() -> Model:
    """Every driver at once, each with rows of its own name."""
    m = two_bodies()
    marked(m)
    for name, (kind, settings) in DRIVERS.items():
        m.driver(kind, name.replace(" ", "_"), **settings)
    return m


@pytest.fixture(scope="module", params=COORDINATES)
def driven(request) -> tuple[str, Model, System]:
    m = all_drivers()
    return request.param, m, formulate(m, request.param)


def test_rates_of_the_rows_are_their_time_derivatives(driven):
    _, _, system = driven
    for seed in (1, 2, 3):
        t, q, v = random_state(system, seed)

        def speed(t, q, v=v):
            return system.evaluate("Phi_v", q, t=t) @ v - system.evaluate("beta", q, t=t)

        rate = slope(lambda t, q: system.evaluate("Phi", q, t=t), system, t, q, v)
        np.testing.assert_allclose(speed(t, q), rate, **DIFFERENCE)
        bend = slope(speed, system, t, q, v)
        np.testing.assert_allclose(-system.evaluate("gamma", q, v, t=t), bend, **DIFFERENCE)


def frames(system, q, *names):
    """Position and axes of markers, from the poses of the system."""
    poses = system.evaluate("poses", q)
    rows = [poses[system.frames.index(name)] for name in names]
    return [(row[:3], row[3:].reshape(3, 3)) for row in rows]


def test_rows_are_what_the_markers_say(driven):
    coordinates, m, system = driven
    q, _ = possible_state(m, system, coordinates, 3)
    t = 0.8
    (g, _), (a1, A1), (a2, A2), (b1, B1), (b2, _) = frames(
        system, q, "ground.g", "a.a1", "a.a2", "b.b1", "b.b2"
    )
    (p, P), (r, R) = frames(system, q, "a.C", "b.C")
    turned = P.T @ R
    angle, target = np.arctan2(turned[1, 0], turned[0, 0]), 0.3 + 2 * t + 0.4 * np.sin(3 * t)
    d, e = np.linalg.norm(b1 - a1), np.linalg.norm(b2 - g)
    L, E = 1.2 + 0.2 * np.sin(t), 1 + t
    zyx = turn([0, 0, 1], t) @ turn([0, 1, 0], np.sin(t)) @ turn([1, 0, 0], 1.0)
    expected = {
        "rotary": [np.sin(angle - target)],
        "translational": [P[:, 2] @ (r - p) - 0.1 - 0.3 * t**2],
        "distance": [(d**2 - L**2) / (2 * L)],
        "distance from the ground": [(e**2 - E**2) / (2 * E)],
        "position": [b1[1] - np.sin(2 * t)],
        "relative position": [b1[2] - a2[2] - t],
        "path": b1 - [t, np.cos(t), t**2],
        "part of a path": [b1[0] - np.sin(t), b1[2] - 0.4],
        "relative path": (A1.T @ (b2 - a1))[:2] - [t, np.cos(t)],
        "orientation": sine(turn([0, 0, 1], 2 * t).T @ B1),
        "relative orientation": sine(zyx.T @ A2.T @ B1),
        "cosine": [-A1[:, 1] @ B1[:, 2] - np.cos(0.5 + t)],
    }
    Phi = system.evaluate("Phi", q, t=t)
    for name, values in expected.items():
        owner = name.replace(" ", "_")
        row = Phi[[n.startswith(f"{owner}.") for n in system.multipliers]]
        if name == "rotary" and coordinates == "joint":
            row = np.sin(row)  # there the angle itself is a coordinate
        np.testing.assert_allclose(row, values, rtol=1e-12, atol=1e-12, err_msg=name)
        assert m.drivers[owner].removes == len(values)


def test_the_wrench_of_a_row_is_what_its_multiplier_does_to_body_b():
    m = all_drivers()
    derivation = reference_point.placed(m)
    for driver in m.drivers.values():
        derivation.hold(driver.name, driver.rows(derivation), None)
    system = derivation.system.equations().system
    t, q, _ = random_state(system, 5)
    root = derivation.space.root
    rows = [k for k, h in enumerate(derivation.held) if h.owner in m.drivers]
    held = [derivation.held[k] for k in rows]
    wrenches = {
        "force": [h.row.force.components(root) for h in held],
        "moment": [h.row.moment.components(root) for h in held],
        "arm": [_arm(derivation, m.drivers[h.owner]).components(root) for h in held],
    }
    found = derivation.system.function("wrenches", wrenches)
    forces, moments, arms = found(t, q, np.zeros(len(system.v)), [], [])
    assert [x.name for x in system.q[10:14]] == ["b_e0", "b_e1", "b_e2", "b_e3"]
    R = matrix(q[10:14])
    about_centre = (moments + np.cross(arms, forces)) @ R
    Phi_v = system.evaluate("Phi_v", q, t=t)[rows]
    np.testing.assert_allclose(Phi_v[:, 6:12], np.hstack([forces, about_centre]), atol=1e-12)


def _arm(derivation, driver):
    """From the centre of mass of b to the marker that is driven."""
    marker = getattr(driver, "marker", None) or getattr(driver, "j", None)
    point = derivation.place(marker or derivation.model.joints["C"].j).point
    return position(derivation.solids["b"].point, point)


def matrix(e):
    """The rotation of Euler parameters."""
    w = np.array([[0, -e[3], e[2]], [e[3], 0, -e[1]], [-e[2], e[1], 0]])
    return np.eye(3) + 2 * e[0] * w + 2 * w @ w


def sine(R):
    """The axis of a rotation times the sine of its angle."""
    phi = rotation_log(R)
    return phi * np.sin(np.linalg.norm(phi)) / np.linalg.norm(phi)


#: Angles of rod and rocker where the crank is along the ground, from the triangle 3, 4, 3.
ROD, ROCKER = np.arccos(2 / 3), np.arctan2(4 * np.sqrt(5) / 3, -1 / 3)
START = {"A": 0.0, "B": ROD, "C": ROCKER - ROD, "D": ROCKER}


def four_bar() -> Model:
    """A crank rocker with a motor at its crank."""
    m = Model("four_bar", plane="xz", gravity=(0, 0, 0))
    crank = m.body("crank", mass=1.0, inertia=0.1)
    rod = m.body("rod", mass=1.0, inertia=0.1)
    rocker = m.body("rocker", mass=1.0, inertia=0.1)
    places = {
        "A": (m.ground, crank),
        "B": ((crank, (1, 0, 0)), rod),
        "C": ((rod, (4, 0, 0)), (rocker, (3, 0, 0))),
        "D": ((m.ground, (4, 0, 0)), rocker),
    }
    for name, ends in places.items():
        m.joint("revolute", name, *ends, axis="-y", start=START[name])
    m.driver("rotary", "motor", coordinate="A.angle", law="3*t")
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_rotary_driver_turns_a_crank_more_than_once(coordinates):
    system = formulate(four_bar(), coordinates)
    found = kinematics(system, 5.0, step=0.05)
    row = system.frames.index("crank")
    for t, q in zip(found.t, np.asarray(found.q), strict=True):
        R = system.evaluate("poses", q)[row, 3:].reshape(3, 3)
        # a turn about -y by φ takes x to (cos φ, 0, sin φ)
        np.testing.assert_allclose(R[[0, 2], 0], [np.cos(3 * t), np.sin(3 * t)], atol=1e-9)


def test_wrong_settings_of_drivers_are_refused():
    m = two_bodies()
    marked(m)
    with pytest.raises(ModelError, match="x, y or z"):
        m.driver("position", "P", marker="b.b1", axis="q", law="t")
    with pytest.raises(ModelError, match="at least one"):
        m.driver("path", "P", marker="b.b1")
    with pytest.raises(ModelError, match="not an axis"):
        m.driver("cosine", "P", i="a.a1", j="b.b1", a="up", law="t")
    with pytest.raises(ModelError, match="one law for each axis"):
        m.driver("orientation", "P", marker="b.b1", axes="zy", first="t")
    with pytest.raises(ModelError, match="no second one"):
        m.driver("orientation", "P", marker="b.b1", axes="zy", first="t", third="t")


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    (
        ("rotary", {"coordinate": "C.displacement", "law": "t"}, 'use the kind "translational"'),
        ("translational", {"coordinate": "C.angle", "law": "t"}, 'use the kind "rotary"'),
        ("distance", {"i": "a.a1", "j": "b.b1", "law": "-2"}, "above zero"),
    ),
)
def test_what_cannot_be_driven_is_named(kind, settings, message):
    m = two_bodies()
    marked(m)
    m.driver(kind, "D", **settings)
    with pytest.raises(ModelError, match=message):
        formulate(m)
