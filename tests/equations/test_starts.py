"""Where a motion starts: what was given for joints is kept, whatever the coordinates are."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError


def four_bar(starts: np.ndarray, loaded: bool) -> bl.Model:
    """A four-bar with a spring on joint A; friction under load takes A out of the tree."""
    m = bl.Model("four_bar", plane="xz")
    a = m.body("a", mass=1.0, com=(0.1, 0, 0), inertia=0.01)
    b = m.body("b", mass=1.0, com=(0.25, 0, 0), inertia=0.01)
    c = m.body("c", mass=1.0, com=(0.2, 0, 0), inertia=0.01)
    m.joint("revolute", "A", m.ground, a, axis="y", start=float(starts[0]))
    m.joint("revolute", "B", a.at(0.2, 0, 0), b, axis="y", start=float(starts[1]))
    m.joint("revolute", "C", b.at(0.5, 0, 0), c.at(0.4, 0, 0), axis="y")
    m.joint("revolute", "D", m.ground.at(0.4, 0, 0), c, axis="y", start=float(starts[2]))
    m.force("torsional", "spring", coordinate="A", stiffness=50.0)
    if loaded:
        m.force("friction", "bearing", coordinate="A", coefficient=0.1, radius=0.01)
    return m


@pytest.mark.parametrize("coordinates", ["joint", "reference"])
@pytest.mark.parametrize("loaded", [False, True])
def test_the_first_start_is_kept_and_the_angle_is_that_of_the_body(
    coordinates: str, loaded: bool
) -> None:
    random = np.random.default_rng(0)
    for _ in range(6):
        starts = random.uniform(-1.5, 1.5, 3)
        system = bl.formulate(four_bar(starts, loaded), coordinates)
        found = bl.assemble(system)
        pose = system.evaluate("poses", found.q)[system.frames.index("a")]
        R = np.asarray(pose[3:]).reshape(3, 3)
        assert np.arctan2(-R[2, 0], R[0, 0]) == pytest.approx(starts[0], abs=1e-10)
        k = [entry.name for entry in system.q].index("A.angle")
        assert found.q[k] == pytest.approx(starts[0], abs=1e-10)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "euler"])
@pytest.mark.parametrize("angle", [1.6, 3.0, -2.5])
def test_a_driven_angle_is_not_half_a_turn_off(coordinates: str, angle: float) -> None:
    """Sin(θ - f) = 0 has two roots; the one that is meant is found from any first guess."""
    for pose in ({}, {"position": (0, 0, 0)}):
        m = bl.Model("crank")
        crank = m.body("crank", mass=1.0, inertia=1.0, **pose)
        m.joint("revolute", "A", m.ground, crank)
        m.driver("rotary", "motor", coordinate="A", law=angle)
        system = bl.formulate(m, coordinates)
        R = system.evaluate("poses", bl.assemble(system).q)[0][3:].reshape(3, 3)
        assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(angle, abs=1e-10)


def test_joints_that_nobody_moved_rest_in_all_coordinates() -> None:
    """The second joint turns with the first body, whatever the velocities are."""
    m = bl.Model("arm")
    a = m.body("a", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.2, 0.3))
    b = m.body("b", mass=1.0, com=(0.1, 0, -0.5), inertia=(0.1, 0.2, 0.3))
    m.joint("universal", "A", m.ground, a, rates={"first": 2.0}, start={"second": 0.3})
    m.joint("spherical", "B", a.at(0, 0, -1), b)
    for coordinates in ("joint", "reference", "euler"):
        run = bl.simulate(bl.formulate(m, coordinates), 0.01, step=1e-3)
        np.testing.assert_allclose(run.frame("a").angular_velocity[0], [2, 0, 0], atol=1e-12)
        np.testing.assert_allclose(run.frame("b").angular_velocity[0], [2, 0, 0], atol=1e-12)


def test_places_in_the_ground_follow_their_parameters() -> None:
    def arm(r: float) -> bl.Model:
        m = bl.Model("arm")
        m.parameter("r", r)
        a = m.body("a", mass=1.0, inertia=0.1)
        b = m.body("b", mass=1.0, inertia=0.1, position=("r", 0, 0))
        m.joint("revolute", "A", m.ground, a, at=(0, 0, 0), axis="y")
        m.joint("revolute", "B", a, b, at=("2*r", 0, 0), axis="y")
        m.driver("rotary", "first", coordinate="A", law="t")
        m.driver("rotary", "second", coordinate="B", law="2*t")
        return m

    changed = bl.kinematics(arm(0.1), 1.0, step=0.5, parameters={"r": 0.2})
    np.testing.assert_allclose(
        changed.frame("b").position,
        bl.kinematics(arm(0.2), 1.0, step=0.5).frame("b").position,
        atol=1e-12,
    )
    m = bl.Model("turned")
    m.parameter("r", 0.1)
    b = m.body("b", mass=1.0, inertia=0.1, orientation=("z", [0.3]))
    with pytest.raises(ModelError, match="parameter"):
        m.joint("revolute", "A", m.ground, b, at=("r", 0, 0))
