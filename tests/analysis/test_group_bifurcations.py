"""Groups at instants where two branches meet: continuity decides, or a dead point is told."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.forces import GroupForces
from biela.analysis.groups.quintic import quintic
from biela.analysis.groups.runner import GroupRunner
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from biela.errors import AssemblyError, DeadPointError, SimulationError

Floats = npt.NDArray[np.float64]
ARM, BASE, START = 1.0, 3.0, 0.5
#: When the parallelogram is flat: its crank turns by 1 rad/s from START.
FLAT = np.pi - START


def parallelogram(longer: float = 0.0, law: str = f"{START} + t", cells: int = 1) -> bl.Model:
    """Parallelograms side by side, each rocker the crank of the next; couplers somewhat longer."""
    m = bl.Model("parallelogram", plane="xy")
    crank = m.body("crank", mass=1.0)
    m.joint("revolute", "A", m.ground.at(), crank.at(), start=START)
    for k in range(cells):
        coupler, rocker = m.body(f"coupler{k}", mass=1.0), m.body(f"rocker{k}", mass=1.0)
        m.joint("revolute", f"B{k}", crank.at(ARM, 0, 0), coupler.at(), start=-START)
        base = m.ground.at(BASE * (k + 1), 0, 0)
        m.joint("revolute", f"D{k}", base, rocker.at(), start=START)
        m.joint("revolute", f"C{k}", coupler.at(BASE + longer, 0, 0), rocker.at(ARM, 0, 0))
        crank = rocker
    m.driver("rotary", "motor", coordinate="A.angle", law=law)
    return m


def _directions(motion: Any) -> list[Floats]:
    """Cosines and sines of all bodies with two rates, (instants, bodies, 2) each."""
    _, turn = motion.body_rows
    return [np.asarray(part) for part in turn]


def _is_parallelogram(motion: Any, within: tuple[float, float, float]) -> None:
    """Couplers keep their direction, and rockers turn as the crank."""
    angle = START + motion.t
    crank = [
        np.stack([np.cos(angle), np.sin(angle)], axis=1),
        np.stack([-np.sin(angle), np.cos(angle)], axis=1),
        np.stack([-np.cos(angle), -np.sin(angle)], axis=1),
    ]
    for rate, (found, expected) in enumerate(zip(_directions(motion), crank, strict=True)):
        still = np.array([1.0, 0.0]) if rate == 0 else np.zeros(2)
        for body in range(found.shape[1]):
            wanted = np.broadcast_to(still, expected.shape) if body % 2 else expected
            np.testing.assert_allclose(found[:, body], wanted, rtol=0, atol=within[rate])


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
@pytest.mark.parametrize("closed_forms", [True, False])
def test_a_parallelogram_passes_its_line_positions_on_its_branch(
    coordinates: Any, closed_forms: bool
) -> None:
    solver = GroupSolver(
        parallelogram(),
        coordinates=coordinates,
        closed_forms=closed_forms,
        iteration=Iteration(polish=1),
    )
    within = (1e-10, 1e-8, 1e-5)
    random = np.random.default_rng(0)
    for instants in (14, 40, 111, 700):
        # two line positions, each somewhere between two instants
        _is_parallelogram(solver.run(random.uniform() + np.linspace(0.0, 6.0, instants)), within)


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, -1e-9, 1e-6, -1e-6])
def test_an_instant_on_the_line_or_next_to_it_has_exact_rates(off: float) -> None:
    solver = GroupSolver(parallelogram())
    t = FLAT + off + 0.02 * np.arange(-60, 60)
    _is_parallelogram(solver.run(t), (1e-11, 1e-9, 1e-6))
    last = solver.run(t[: list(t).index(FLAT + off) + 1])  # it ends there
    _is_parallelogram(last, (1e-9, 1e-4, 1e2) if off < 0 else (1e-11, 1e-9, 1e-6))


def test_time_may_run_backwards_through_it() -> None:
    _is_parallelogram(
        GroupSolver(parallelogram()).run(-np.linspace(0, 6, 301)), (1e-11, 1e-8, 1e-5)
    )


def test_parallelograms_that_are_flat_at_once_all_pass() -> None:
    solver = GroupSolver(parallelogram(cells=4))
    _is_parallelogram(solver.run(np.linspace(0.0, 6.0, 401)), (1e-10, 1e-7, 1e-4))


def test_one_call_passes_as_the_global_solution_does() -> None:
    model = parallelogram()
    ours = bl.group_kinematics(model, 6.0, step=0.01)
    others = bl.kinematics(model, 6.0, step=0.01)
    for name in ("D0.angle", "B0.angle"):
        np.testing.assert_allclose(ours[name], others[name], rtol=0, atol=1e-9)


def test_forces_are_told_to_be_undetermined_where_branches_meet() -> None:
    model = parallelogram()
    model.gravity = (0.0, -9.81, 0.0)
    h = FLAT / 50
    with pytest.warns(UserWarning, match=rf"at t = {FLAT:.6g} s two branches of a group meet"):
        found = bl.group_inverse_dynamics(model, 80 * h, step=h)
    torque, angle = -found["λ(motor.angle)"], START + found.t
    on_the_line = np.isclose(found.t, FLAT)
    np.testing.assert_array_equal(np.isnan(torque), on_the_line)
    # the coupler, whose mass is at the crank pin, is lifted at constant speed
    wanted = 9.81 * ARM * np.cos(angle)
    np.testing.assert_allclose(torque[~on_the_line], wanted[~on_the_line], rtol=0, atol=1e-8)
    assert np.isfinite(found["D0.angle"]).all()


@pytest.mark.parametrize("longer", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("closed_forms", [True, False])
def test_a_bar_that_is_a_little_longer_stays_on_its_own_branch(
    longer: float, closed_forms: bool
) -> None:
    """The branches then miss each other: what was a parallelogram goes on as its opposite."""
    solver = GroupSolver(parallelogram(longer), closed_forms=closed_forms)
    t = np.linspace(0.0, 4.0, 401)
    try:
        motion = solver.run(t)
    except DeadPointError as error:  # so near that rounding would decide
        assert longer < 1e-6
        motion = error.results
        assert abs(motion.t[-1] - FLAT) < 0.02
    found = _directions(motion)[0]
    np.testing.assert_allclose(found[:, 1], _coupler(motion.t, longer), rtol=0, atol=1e-6)


def _coupler(t: Floats, longer: float) -> Floats:
    """The direction of a longer coupler on its first branch, (instants, 2)."""
    # the distance of the far ends, by the law of cosines; the coupler is above it or below
    angle = START + t
    B = ARM * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    way = np.array([BASE, 0.0]) - B
    d, bar = np.linalg.norm(way, axis=1), BASE + longer
    along = (d**2 + bar**2 - ARM**2) / (2 * d)
    across = np.sqrt(bar**2 - along**2)
    square = np.stack([-way[:, 1], way[:, 0]], axis=1)
    found: Floats = (along[:, None] * way + across[:, None] * square) / (d * bar)[:, None]
    return found


# ------------------------------------------------------------------- runs that begin elsewhere

WAYS = [("natural", False), ("relative", True), ("relative", False), ("reference", False)]


@pytest.mark.parametrize("longer", [1e-7, 1e-3, 0.1])
@pytest.mark.parametrize(("coordinates", "closed_forms"), WAYS)
def test_a_run_that_begins_later_follows_the_motion_from_the_start(
    longer: float, coordinates: Any, closed_forms: bool
) -> None:
    """Newton's method from the position at t = 0 finds the other branch of some of these."""
    solver = GroupSolver(parallelogram(longer), coordinates=coordinates, closed_forms=closed_forms)
    for t in (FLAT + 0.02 * np.arange(-30, 30), FLAT + 1.0 + 0.02 * np.arange(30)):
        found = _directions(solver.run(t))[0]
        np.testing.assert_allclose(found[:, 1], _coupler(t, longer), rtol=0, atol=3e-8)


@pytest.mark.parametrize(("coordinates", "closed_forms"), [("natural", True), *WAYS])
def test_a_run_that_begins_past_line_positions_is_still_a_parallelogram(
    coordinates: Any, closed_forms: bool
) -> None:
    solver = GroupSolver(parallelogram(), coordinates=coordinates, closed_forms=closed_forms)
    for first in (FLAT + 1.0, 2 * FLAT, 20.0, -FLAT - 2.0):
        _is_parallelogram(solver.run(first + 0.02 * np.arange(-8, 8)), (1e-9, 1e-8, 1e-6))


def test_forces_of_a_run_that_begins_later_are_those_of_the_motion_from_the_start() -> None:
    model = parallelogram()
    model.gravity = (0.0, -9.81, 0.0)
    forces = GroupForces(GroupSolver(model))
    assert forces.at_once
    motion, found = forces.run(FLAT + 1.0 + 0.02 * np.arange(20))
    _is_parallelogram(motion, (1e-9, 1e-8, 1e-6))
    torque = -found["motor.angle"]
    np.testing.assert_allclose(torque, 9.81 * ARM * np.cos(START + motion.t), rtol=0, atol=1e-8)


def test_a_first_instant_that_the_motion_does_not_reach_is_told() -> None:
    """Folded, the longer coupler does not let the crank through."""
    longer = 0.1
    solver = GroupSolver(parallelogram(longer))
    # the pins are as near to each other as the bars allow; the law of cosines
    reach = BASE + longer - ARM
    gap = 2 * np.pi - np.arccos((ARM**2 + BASE**2 - reach**2) / (2 * ARM * BASE)) - START
    with pytest.raises(SimulationError, match=r"the start, t = 0 s.*GroupSolver\(.*t=7") as error:
        solver.run(7.0 + 0.02 * np.arange(10))
    when = re.search(r"after t = ([\d.]+) s group RRR", str(error.value))
    assert when is not None
    assert float(when[1]) == pytest.approx(gap, abs=1e-4)
    # what it advises works
    later = GroupSolver(parallelogram(longer), t=7.0).run(7.0 + 0.02 * np.arange(10))
    assert len(later.t) == 10


def test_a_solver_is_assembled_at_its_own_time_and_with_its_own_parameters() -> None:
    m = parallelogram(-0.5, law="pi - t")  # at t = 0 the bars are too short
    t = 1.5 + 0.02 * np.arange(10)
    with pytest.raises(SimulationError, match=r"cannot be assembled.*GroupSolver\(model, t=1\.5\)"):
        GroupSolver(m).run(t)
    np.testing.assert_allclose(
        _directions(GroupSolver(m, t=1.5).run(t))[0][:, 0],
        np.stack([np.cos(np.pi - t), np.sin(np.pi - t)], axis=1),
        atol=1e-10,
    )
    long = bl.Model("four-bar", plane="xy")
    long.parameter("bar", 50.0)
    for name, end in (("crank", 0.3), ("coupler", "bar"), ("rocker", 0.8)):
        long.body(name, mass=1.0).marker("end", (end, 0, 0))
    long.joint("revolute", "A", long.ground, "crank")
    long.joint("revolute", "B", "crank.end", "coupler", start="60 deg")
    long.joint("revolute", "D", long.ground.at(1.0, 0, 0), "rocker", start="110 deg")
    long.joint("revolute", "C", "coupler.end", "rocker.end")
    long.driver("rotary", "motor", coordinate="A", law="2*t")
    with pytest.raises(AssemblyError):
        GroupSolver(long)
    motion = GroupSolver(long, parameters={"bar": 1.0}, points=["coupler.end"]).run(t)
    tip = motion.point("coupler.end").position[:, :2]
    assert np.linalg.norm(tip - np.array([1.0, 0.0]), axis=1) == pytest.approx(0.8)
    crank = 0.3 * np.stack([np.cos(2 * t), np.sin(2 * t)], axis=1)
    assert np.linalg.norm(tip - crank, axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("law", [f"{START} + if(t < 1, 0, 2.5)", f"{START} + log(1 - t)"])
def test_a_law_that_cannot_be_followed_to_the_first_instant_is_told(law: str) -> None:
    with pytest.raises(SimulationError, match="law jumps or is not finite on the way"):
        GroupSolver(parallelogram(law=law)).run(2.0 + 0.02 * np.arange(10))


@pytest.mark.parametrize("shorter", [1e-2, 1e-3])
@pytest.mark.parametrize(
    ("coordinates", "closed_forms"), [("natural", True), ("natural", False), ("relative", False)]
)
def test_steps_over_positions_that_cannot_be_reached_are_told_by_their_rates(
    shorter: float, coordinates: Any, closed_forms: bool
) -> None:
    """Before and after the gap the bars meet: only the rates tell that nothing leads over it."""
    solver = GroupSolver(
        parallelogram(-shorter), coordinates=coordinates, closed_forms=closed_forms
    )
    # the pins are as far apart as both bars in line; the law of cosines
    reach = BASE - shorter + ARM
    gap = float(np.arccos((ARM**2 + BASE**2 - reach**2) / (2 * ARM * BASE))) - START
    leapt = 0
    for instants, end in ((6, 5.2), (6, 5.9), (7, 5.9), (8, 5.2), (8, 5.9), (40, 4.0)):
        t = np.linspace(0.0, end, instants)
        leapt += not ((gap < t) & (t < 2 * FLAT - gap)).any()
        with pytest.raises(DeadPointError) as error:
            solver.run(t)
        assert error.value.results.t[-1] <= gap
    assert leapt > 2  # no instant is in the gap


@pytest.mark.parametrize("instants", [24, 31, 51])
@pytest.mark.parametrize("coordinates", ["natural", "relative"])
def test_a_group_whose_determinant_vanishes_but_for_rounding_has_failed(
    coordinates: Any, instants: int
) -> None:
    """Branches that miss each other by so little that it is rounding that chooses.

    The determinant of the dyad is the sine of its transmission angle, 7e-5 in line.
    """
    longer = 2e-9
    cosine = ((BASE + longer) ** 2 + ARM**2 - (BASE + ARM) ** 2) / (2 * (BASE + longer) * ARM)
    assert 5e-5 < np.sqrt(1 - cosine**2) < 1e-4
    solver = GroupSolver(parallelogram(longer), coordinates=coordinates, closed_forms=False)
    try:
        motion = solver.run(np.linspace(0.0, 4.0, instants))
    except DeadPointError as error:
        assert "coupler0, rocker0" in str(error)
        assert error.results.t[-1] <= FLAT
        return
    # no instant came so near that rounding would choose: then it is on its own branch
    assert instants < 51 and np.abs(motion.t - FLAT).min() > 0.01
    found = _directions(motion)[0]
    np.testing.assert_allclose(found[:, 1], _coupler(motion.t, longer), rtol=0, atol=1e-6)


def test_a_first_instant_that_is_not_the_start_is_as_exact_as_the_others() -> None:
    """Also where its block comes to a line position, and is gone through one by one."""
    solver = GroupSolver(parallelogram())
    for first in np.linspace(2.1, 2.6, 6):
        _is_parallelogram(solver.run(first + np.linspace(0.0, 1.5, 14)), (1e-10, 1e-8, 1e-5))


def test_a_law_that_jerks_on_the_line_leaves_the_branch_undecided() -> None:
    """The speed of the crank changes there: neither branch continues the motion before."""
    law = f"if(t < {FLAT!r}, {START} + t, {START} + {FLAT!r} - 3*(t - {FLAT!r}))"
    solver = GroupSolver(parallelogram(law=law))
    with pytest.raises(DeadPointError) as error:
        solver.run(np.linspace(0.0, 4.0, 401))
    assert error.value.results.t[-1] <= FLAT


def test_a_motion_that_starts_on_the_line_is_refused() -> None:
    solver = GroupSolver(parallelogram(law=f"{np.pi!r} + t"), q={"D0.angle": np.pi})
    with pytest.raises((SimulationError, DeadPointError)):
        solver.run(np.linspace(0.0, 1.0, 101))


def test_five_degrees_are_met_between_two_instants_and_beyond() -> None:
    polynomial = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -0.7, 0.2])
    parts = [polynomial, polynomial.deriv(), polynomial.deriv(2)]
    first, last = ([np.array([p(t)]) for p in parts] for t in (1.0, 1.4))
    for t in (1.1, 1.4, 2.2, 0.5):
        found = quintic(first, last, 0.4, t - 1.0)
        for value, p in zip(found, parts, strict=True):
            assert value[0] == pytest.approx(p(t), rel=1e-10)


# ------------------------------------------------------------------------------- what is told


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
def test_a_crank_that_is_not_followed_is_not_said_to_be_at_a_dead_point(coordinates: Any) -> None:
    """From the position at the start its driver leaves it half a turn off, no more."""
    solver = GroupSolver(parallelogram(), coordinates=coordinates)
    runner = GroupRunner(solver.groups, solver.poses, solver.lanes)
    if coordinates != "reference":  # the angle of the driver is itself a coordinate
        runner.assemble(np.pi)
        return
    with pytest.raises(
        SimulationError, match=r"1R \(crank.*only with an angle half a turn"
    ) as error:
        runner.assemble(np.pi)
    assert "dead point" not in str(error.value)


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
def test_a_dead_point_is_told_without_a_word_about_drivers(coordinates: Any) -> None:
    solver = GroupSolver(parallelogram(-1e-2), coordinates=coordinates)
    with pytest.raises(DeadPointError, match=r"RRR \(coupler0, rocker0; .* in line") as error:
        solver.run(np.linspace(0.0, 4.0, 41))
    assert "half a turn" not in str(error.value)
