"""Idle spins of halves that slide on each other between balls, and what their groups say."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.poses import rotations
from biela.analysis.groups.workspace import dead_point
from biela.errors import DeadPointError
from tests.analysis.test_idle import assert_rates_are_those_of_poses, rssr

FIRST, SECOND = np.array([0.3, 0.0, 0.0]), np.array([0.2, 0.9, 0.5])
AXIS = np.array([0.1, 0.7, 0.2]) / np.linalg.norm([0.1, 0.7, 0.2])


def rscs(beside: bool, driven: bool = True) -> bl.Model:
    """A crank, and two halves on a common axis between its ball and one in the ground.

    The axis goes through the first ball, or beside both.
    """
    m = bl.Model("RSCS", gravity=(0, 0, -9.81))
    crank = m.body("crank", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    a = m.body("a", mass=1.0, inertia=(0.02, 0.03, 0.03), position=FIRST)
    b = m.body("b", mass=1.0, inertia=(0.02, 0.03, 0.04), position=SECOND)
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("spherical", "S1", crank, a, at=FIRST)
    place = FIRST + (np.array([0.05, 0, 0.1]) if beside else 0.0)
    m.joint("cylindrical", "C", a, b, at=place, axis=AXIS)
    m.joint("spherical", "S2", b, m.ground, at=SECOND)
    if driven:
        m.driver("rotary", "motor", coordinate="A", law="0.5*t")
    return m


def test_an_axis_through_a_ball_leaves_idle_spins_only() -> None:
    m = rscs(beside=False)
    structure = bl.structural_groups(m)
    assert structure.determined
    assert [len(group.locked) for group in structure.groups] == [0, 2]
    found = bl.group_kinematics(m, 1.0, step=0.01)
    # |second ball - first ball| is that of an arm beside the axis and what slides along it
    arm = SECOND - FIRST
    along = float(arm @ AXIS)
    off = float(arm @ arm) - along**2
    t = found.t
    first = 0.3 * np.stack([np.cos(0.5 * t), np.sin(0.5 * t), 0 * t], axis=1)
    slide = np.sqrt(((SECOND - first) ** 2).sum(axis=1) - off) - along
    assert found["C.displacement"] == pytest.approx(slide, abs=1e-12)
    assert np.ptp(slide) > 0.1


def test_halves_beside_the_line_of_their_balls_want_one_driver() -> None:
    m = rscs(beside=True)
    structure = bl.structural_groups(m)
    assert len(structure.freedoms) == 1
    assert "1 motion wants a driver: drive C.displacement or C.angle" in structure.wanting()
    m.driver("rotary", "second", coordinate="C.angle", law="0.1*t")
    assert bl.structural_groups(m).determined


@pytest.mark.parametrize("beside", [False, True])
def test_velocities_of_idle_halves_fulfil_their_joint(beside: bool) -> None:
    m = rscs(beside)
    if beside:
        m.driver("rotary", "second", coordinate="C.angle", law="0.1*t")
    found = bl.group_kinematics(m, 1.0, step=0.02)
    R, omega, alpha = {}, {}, {}
    for k, name in enumerate(m.bodies):
        R[name] = rotations(found.q[:, 7 * k + 3 : 7 * k + 7])
        rows = slice(6 * k + 3, 6 * k + 6)
        omega[name], alpha[name] = (
            np.einsum("tij,tj->ti", R[name], rates[:, rows]) for rates in (found.v, found.a)
        )
    axis = R["a"] @ R["a"][0].T @ AXIS
    relative = omega["b"] - omega["a"]
    assert np.abs(relative).max() > 1e-2
    assert np.abs(np.cross(relative, axis)).max() < 1e-12
    # ω_b - ω_a = s n, so that its rate without that of s is s ω_a x n
    s = (relative * axis).sum(axis=1, keepdims=True)
    rest = alpha["b"] - alpha["a"] - s * np.cross(omega["a"], axis)
    assert np.abs(np.cross(rest, axis)).max() < 1e-11


@pytest.mark.parametrize("beside", [False, True])
def test_free_halves_move_as_with_all_equations_at_once(beside: bool) -> None:
    m = rscs(beside, driven=False)
    found = bl.group_simulation(m, 0.3, step=1e-3, output=0.03, v={"A": 1.0})
    whole = bl.simulate(m, 0.3, tolerance=1e-11, output=0.03, v={"A": 1.0})
    for name in ("A.angle", "C.displacement", "C.angle", "b.x", "b.y"):
        assert found[name] == pytest.approx(whole[name], abs=1e-9), name


@pytest.mark.parametrize(
    "formulation", ["natural groups", "relative groups", "reference groups", "global sparse"]
)
def test_a_rod_held_level_turns_as_its_poses_do(formulation: str) -> None:
    found = bl.group_kinematics(rssr(driven=True), 0.2, step=0.01, formulation=formulation)
    assert_rates_are_those_of_poses(found, 10)
    # the line of its balls is its x axis: it spins about that, since an axis across stays level
    assert np.abs(found["rod.own_wx"]).max() > 0.05


@pytest.mark.parametrize("beside", [False, True])
def test_halves_held_level_turn_as_their_poses_do(beside: bool) -> None:
    m = rscs(beside)
    if beside:
        m.driver("rotary", "second", coordinate="C.angle", law="0.1*t")
    assert_rates_are_those_of_poses(bl.group_kinematics(m, 0.2, step=0.01), 10)


def test_motion_and_forces_of_a_rod_without_spin_balance() -> None:
    """M v' + Φ_vᵀ λ = Q with all that the results say, and rates that are those of poses."""
    m = rssr(driven=True)
    found = bl.group_inverse_dynamics(m, 0.2, step=0.01)
    assert_rates_are_those_of_poses(found, 10)
    assert np.abs(found["rod.own_wx"]).max() < 1e-12
    system = bl.formulate(m, "reference")
    for k in (0, 7, 20):
        q, v, t = found.q[k], found.v[k], float(found.t[k])
        M, Q, J = (np.asarray(system.evaluate(n, q, v, t=t)) for n in ("M", "Q", "Phi_v"))
        left = M @ found.a[k] + J.T @ found.lam[k] - Q.ravel()
        assert np.abs(left).max() < 1e-10


def test_a_rod_that_moves_by_forces_turns_as_its_poses_do() -> None:
    found = bl.group_simulation(rssr(), 0.2, step=1e-3, output=0.01, v={"A": 1.0})
    assert_rates_are_those_of_poses(found, 10)


# ----------------------------------------------------------------------------------------- words


def test_joints_in_line_are_said_of_three_hinges_only() -> None:
    m = bl.Model("dyads", plane="xy")
    for name, length in (("crank", 0.3), ("coupler", 1.0), ("rocker", 0.8), ("rod", 0.9)):
        m.body(name, mass=1.0, inertia=0.1).marker("end", (length, 0, 0))
    m.body("slider", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, "crank")
    m.joint("revolute", "B", "crank.end", "coupler", start="60 deg")
    m.joint("revolute", "D", m.ground.at(1.0, 0, 0), "rocker", start="110 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    m.joint("prismatic", "rail", m.ground, "slider", axis="x", start=-0.5)
    m.joint("revolute", "E", "crank.end", "rod", start="180 deg")
    m.joint("revolute", "F", "rod.end", "slider")
    m.driver("rotary", "motor", coordinate="A", law="t")
    said = {group.name: dead_point(group) for group in bl.structural_groups(m).groups}
    assert said["RRR"] == "its three joints in line, where two of its branches meet"
    others = {name: text for name, text in said.items() if name != "RRR"}
    assert len(others) == 2
    assert set(others.values()) == {"where two of its branches meet"}


def test_a_slider_that_its_rod_cannot_push_is_not_said_to_be_in_line() -> None:
    # the rod is across the rail when the crank is up
    m = bl.Model("slider-crank", plane="xy")
    m.body("crank", mass=1.0, inertia=0.1).marker("end", (1.0, 0, 0))
    m.body("rod", mass=1.0, inertia=0.1).marker("end", (0.8, 0, 0))
    m.body("slider", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, "crank", start="20 deg")
    m.joint("revolute", "B", "crank.end", "rod", start="-60 deg")
    m.joint("revolute", "C", "rod.end", "slider")
    m.joint("prismatic", "rail", m.ground, "slider", axis="x", start=1.5)
    m.driver("rotary", "motor", coordinate="A", law="0.35 + t")
    with pytest.raises(DeadPointError, match="dead point, where two of its branches") as error:
        bl.group_kinematics(m, 1.5, step=0.01)
    assert "in line" not in str(error.value)
    assert error.value.results.t[-1] == pytest.approx(np.arcsin(0.8) - 0.35, abs=0.011)
