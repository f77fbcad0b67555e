"""Constraints that contradict each other are refused by name, through every door and engine."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.closure import contradiction, in_conflict
from biela.errors import AssemblyError, BielaError, ModelError, SimulationError


def parallelogram(*laws: tuple[str, str], third: float | None = None) -> bl.Model:
    """Two cranks and a coupler, with a third crank of a length of its own, and drivers by law."""
    m = bl.Model("parallelogram", plane="xy", gravity=(0, -9.81, 0))
    for name, com in (("left", 0.5), ("right", 0.5), ("coupler", 1.0)):
        m.body(name, mass=1, com=(com, 0, 0), inertia=0.02)
    m.joint("revolute", "A", m.ground, "left", start=1.0)
    m.joint("revolute", "B", ("left", (1, 0, 0)), "coupler", start=-1.0)
    m.joint("revolute", "C", ("coupler", (2, 0, 0)), ("right", (1, 0, 0)))
    m.joint("revolute", "D", ("ground", (2, 0, 0)), "right", start=1.0)
    if third is not None:
        m.body("middle", mass=1, com=(0.5, 0, 0), inertia=0.02)
        m.joint("revolute", "E", ("ground", (1, 0, 0)), "middle", start=1.0)
        m.joint("revolute", "F", ("coupler", (1, 0, 0)), ("middle", (third, 0, 0)))
    for k, (joint, law) in enumerate(laws):
        m.driver("rotary", f"motor_{k}", coordinate=f"{joint}.angle", law=law)
    return m


SAME = ("A", "1 + t")
BOTH = r"motor_0\.angle.* and motor_1\.angle contradict each other"


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
@pytest.mark.parametrize("joint", ["A", "D"])
def test_drivers_of_different_speed_are_refused_at_the_start(engine: str, joint: str) -> None:
    model = parallelogram(SAME, (joint, "1 + 1.5*t"))
    with pytest.raises((AssemblyError, ModelError), match=BOTH):
        bl.kinematics(model, 0.1, step=0.05, engine=engine)
    with pytest.raises((AssemblyError, ModelError), match=BOTH):
        bl.simulate(model, 0.1, step=0.01, engine=engine)


def test_looped_kinematics_sees_velocities_that_differ_where_positions_agree() -> None:
    # at multiples of the step both drivers ask for the same position
    model = parallelogram(SAME, ("A", "1 + t + 0.01*sin(pi*t/0.05)"))
    with pytest.raises(AssemblyError, match=f"{BOTH}.*miss their velocities"):
        bl.kinematics(model, 0.1, step=0.05, engine="looped")


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_drivers_that_agree_again_at_the_end_are_refused(engine: str) -> None:
    model = parallelogram(SAME, ("D", "1 + t + 0.01*(1 - cos(2*pi*t))"))
    # the laws are 0.01 (2 π t)²/2 = 2e-5 rad apart after the first step
    with pytest.raises(SimulationError, match=rf"at t = 0\.0[12] s.*{BOTH}"):
        bl.simulate(model, 1.0, step=0.01, output=1.0, engine=engine)


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_a_crank_that_is_too_long_is_refused(engine: str) -> None:
    model = parallelogram(third=1.001)
    with pytest.raises(AssemblyError, match=r"F\.y by"):
        bl.simulate(model, 0.1, step=0.01, engine=engine)


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_drivers_that_agree_are_redundant_and_run(engine: str) -> None:
    model = parallelogram(SAME, ("D", "1 + t"), third=1.0)
    found = bl.simulate(model, 0.1, step=0.01, engine=engine)
    assert found["constraint error"].max() < 1e-9
    assert found["A.angle"][-1] == pytest.approx(1.1, abs=1e-9)


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
@pytest.mark.parametrize("coordinates", ["joint", "reference"])
def test_drivers_that_differ_in_their_accelerations_only_are_refused(
    engine: str, coordinates: str
) -> None:
    """Positions and velocities agree whenever they are looked at."""
    for late in (0.0, 0.2):
        model = parallelogram(SAME, ("D", f"1 + t + max(t - {late}, 0)^2*sin(100*pi*t)^2"))
        what = model if engine == "looped" else bl.formulate(model, coordinates)
        with pytest.raises(SimulationError, match=r"acceleration.* motor_") as caught:
            bl.kinematics(what, 0.5, output=0.01, engine=engine)
        assert "contradict each other" in str(caught.value)
        assert caught.value.results.t[-1] == pytest.approx(late, abs=0.011)


def test_inverse_dynamics_has_no_motion_of_drivers_that_contradict() -> None:
    system = bl.formulate(parallelogram(SAME, ("A", "1 + 1.5*t")), "joint")
    with pytest.raises(BielaError, match=BOTH):
        bl.inverse_dynamics(system, bl.kinematics(system, 0.1, step=0.05))


def test_only_rows_in_the_conflict_are_named() -> None:
    rows = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [2, 0, 0]])
    names = ["a", "b", "c", "d"]
    assert contradiction(names, rows, np.array([1.0, 1, 2, 2])) == "b and c contradict each other"
    assert contradiction(names, rows, np.array([1.0, 2, 2, 2])) == ""
    assert in_conflict(names, np.array([0, 0, 1.0, 0])) == "c contradicts the others"
    assert in_conflict([*"abcdefgh"], np.ones(8)).startswith("a, b, c, d, e, f and 2 more")


def test_check_says_that_the_rank_is_doubtful_between_two_pins_at_nearly_one_place() -> None:
    # pins 1e-6 m apart hold the rod's angle, or are meant to be one pin
    m = bl.Model("two pins", plane="xy")
    m.body("rod", mass=1, com=(0.5, 0, 0), inertia=0.02)
    m.joint("revolute", "first", m.ground, "rod")
    m.joint("revolute", "second", ("ground", (1e-6, 0, 0)), ("rod", (1e-6, 0, 0)))
    report = bl.check(m)
    assert report.mobility is not None
    assert report.mobility.doubtful == ("second.y",)
    assert any(
        "number of freedoms is doubtful: rows of second" in finding.text
        for finding in report.findings
    )
    assert "second.y: nearly dependent" in str(report.mobility)
    # further apart they hold it without doubt
    del m.joints["second"]
    m.joint("revolute", "second", ("ground", (0.1, 0, 0)), ("rod", (0.1, 0, 0)))
    assert bl.mobility(m).doubtful == ()
