"""The large mechanisms: published counts, orders of their Jacobians, and motions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from benchmarks.large_mechanisms.cases import CASES
from benchmarks.large_mechanisms.runs import Outcome, integrate, prepare
from benchmarks.large_mechanisms.solves import dependent_matrix, square_rows
from biela.cli.order import order as order_command
from biela.equations.natural import Layout, NaturalPoint, NaturalVector, RelativeCoordinate
from biela.graph import Pattern
from biela.graph.ordering import BlockForm, block_triangular, p5, rb3
from biela.solvers import BorderedBlocks
from examples.large import five_bars, tether, vehicle
from examples.large.vehicle_bodies import vehicle_bodies
from tests.graph import thesis_patterns
from tests.oracles import five_bars as particles

PENDULUM, TETHER, BRICARD, VEHICLE = CASES


@cache
def system(make: Callable[[], Layout]) -> bl.System:
    return make().system()


def ordered(lay: Layout, independent: tuple[str, ...]) -> tuple[Pattern, dict[str, list[int]]]:
    """The pattern of Φ_q^d and its hints."""
    found = lay.jacobian_pattern().without(independent)
    hints = {
        "relative": sorted(found.relative),
        "closures": sorted(found.closure),
        "constant": [k for k, same in enumerate(found.constant) if same],
    }
    return Pattern.of_rows(found.rows, len(found.columns)), hints


def sizes(form: BlockForm) -> tuple[int, int]:
    return len(form.border), len(form.band)


# --- counts ---------------------------------------------------------------------------------------

#: Points, vectors and relative coordinates, fixed ones included; free coordinates; constraints;
#: entries by all columns and by the dependent ones; freedoms.  Published are all of them but the
#: entries, of which 198 of the pendulum, 661 of the tether, and 209 and 181 of Bricard's are; the
#: data of the vehicle are not, and ours has 1004 entries where the source has 954.
COUNTS = {
    "pendulum": (five_bars.pendulum, five_bars.angles(), (6, 7, 5), 35, 30, 203, 198, 5),
    "tether": (tether.tether, tether.angles(), (11, 20, 28), 112, 84, 661, 633, 28),
    "Bricard 1": (five_bars.bricard_closed, ("theta5",), (7, 8, 5), 35, 36, 209, 208, 1),
    "Bricard 2": (five_bars.bricard_fixed, ("theta5",), (6, 7, 5), 29, 30, 182, 181, 1),
    "vehicle": (vehicle.vehicle, vehicle.INDEPENDENT, (54, 12, 9), 202, 192, 1004, 844, 10),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_layout_has_the_counts_of_the_source(name: str) -> None:
    make, independent, kinds, free, rows, entries, dependent, freedoms = COUNTS[name]
    lay = make()
    pattern = lay.jacobian_pattern()
    count = Counter(type(entity) for entity in lay.entities.values())
    assert (count[NaturalPoint], count[NaturalVector], count[RelativeCoordinate]) == kinds
    assert (len(pattern.columns), len(pattern.rows), pattern.entries) == (free, rows, entries)
    assert pattern.without(independent).entries == dependent
    assert len(independent) == freedoms


@pytest.mark.parametrize(
    ("make", "rank"),
    [
        (five_bars.pendulum, 30),
        (tether.tether, 84),
        (five_bars.bricard_closed, 34),
        (five_bars.bricard_fixed, 28),
        (vehicle.vehicle, 192),
    ],
)
def test_the_rank_leaves_the_freedoms(make: Callable[[], Layout], rank: int) -> None:
    """Also of Bricard's mechanism beside its start, where one more row is dependent."""
    s = system(make)
    q = np.array([entry.value for entry in s.q])
    if rank < 30 or rank == 34:
        case = replace(BRICARD, layout=make, duration=0.25)
        q = integrate(prepare(case, system=s), 2).q[-1]
    J = np.asarray(s.evaluate("Phi_q", q))
    assert np.abs(s.evaluate("Phi", q)).max() < 1e-12
    assert np.linalg.matrix_rank(J, 1e-9) == rank


def test_the_layouts_have_the_patterns_that_were_written_by_hand() -> None:
    """Rows as sets of (entity, component), whatever their order."""
    for lay, hand, renamed in (
        (five_bars.pendulum(), thesis_patterns.five_bar_chain(), {}),
        (vehicle.vehicle(), thesis_patterns.vehicle(), {"RL": "rackL", "RR": "rackR"}),
    ):
        pattern = lay.jacobian_pattern()
        found = Counter(frozenset(pattern.columns[k] for k in row) for row in pattern.rows)
        names = {}
        for entity, columns in hand.columns.items():
            plain = renamed.get(entity, entity.replace("θ", "theta"))
            if plain[:2] in ("FL", "FR", "RL", "RR"):
                plain = f"{plain[:2]}.{plain[2:]}"
            for k, column in enumerate(columns):
                names[column] = f"{plain}.{'xyz'[k]}" if len(columns) == 3 else plain
        assert found == Counter(frozenset(names[c] for c in row) for row in hand.rows)


def test_no_entry_of_the_jacobian_of_the_vehicle_is_outside_of_its_pattern() -> None:
    pattern = vehicle.vehicle().jacobian_pattern()
    q = np.random.default_rng(0).normal(size=202)
    J = np.asarray(system(vehicle.vehicle).evaluate("Phi_q", q))
    inside = np.zeros(J.shape, dtype=bool)
    for i, row in enumerate(pattern.rows):
        inside[i, list(row)] = True
    assert not np.any(J[~inside])
    assert np.count_nonzero(J) == 995  # nine coefficients of points on the chassis are zero


# --- orders ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bars", [2, 5, 40])
def test_a_pendulum_is_solved_in_two_blocks_of_three_a_bar(bars: int) -> None:
    pattern, _ = ordered(five_bars.pendulum(bars), five_bars.angles(bars))
    assert (pattern.shape, pattern.nnz) == ((6 * bars, 6 * bars), 45 * bars - 27)
    for order in (p5, rb3, block_triangular):
        assert (sizes(order(pattern)), order(pattern).orders) == ((0, 0), {3: 2 * bars})


@pytest.mark.parametrize("bodies", [2, 10, 40])
def test_a_tether_is_solved_in_blocks_of_three(bodies: int) -> None:
    pattern, _ = ordered(tether.tether(bodies), tether.angles(bodies))
    assert rb3(pattern).orders == p5(pattern).orders == {3: 3 * bodies - 2}
    assert sizes(rb3(pattern)) == sizes(p5(pattern)) == (0, 0)


@pytest.mark.parametrize("make", [five_bars.bricard_closed, five_bars.bricard_fixed])
def test_bricards_mechanism_has_its_border_and_band(make: Callable[[], Layout]) -> None:
    pattern, hints = ordered(make(), ("theta5",))
    plain = rb3(pattern, constant=hints["constant"])
    assert sizes(plain) == sizes(p5(pattern)) == (3, 5)
    assert sizes(rb3(pattern, constant=hints["constant"], look_ahead=True)) == (2, 4)
    ones = 10 if hints["closures"] else 4
    assert plain.orders == {1: ones, 2: 3, 3: 5}
    hinted = rb3(pattern, relative=hints["relative"], constant=hints["constant"])
    assert (sizes(hinted), hinted.orders) == ((4, 6), {1: 6, 3: 8} if ones == 10 else {3: 8})
    if hints["closures"]:
        both = rb3(pattern, relative=hints["relative"], closures=hints["closures"])
        assert (sizes(both), both.orders) == ((4, 6), {3: 10})


def test_the_vehicle_has_a_narrower_border_than_with_p5_and_none_when_opened() -> None:
    pattern, hints = ordered(vehicle.vehicle(), vehicle.INDEPENDENT)
    assert pattern.shape == (192, 192)
    assert len(hints["closures"]) == len(vehicle.OPENED) == 18
    assert sizes(p5(pattern)) == (21, 21)
    form = rb3(pattern, constant=hints["constant"])
    assert (sizes(form), form.orders) == ((14, 14), {1: 131, 2: 7, 3: 11})
    opened, _ = ordered(vehicle.opened(), vehicle.INDEPENDENT + vehicle.OPENED)
    assert opened.shape == (174, 174)
    assert sizes(p5(opened)) == (7, 7)
    assert (sizes(rb3(opened)), rb3(opened).orders) == ((0, 0), {1: 127, 2: 7, 3: 11})


def test_the_command_orders_a_layout_of_a_file_by_its_name(capsys) -> None:
    order_command(Path(five_bars.__file__), "bricard_fixed", None, ["theta5"], None)
    said = capsys.readouterr().out
    assert "Bricard, fixed" in said
    assert "30 × 28, 181 entries" in said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("ordering", ["RB3", "P5"])
def test_blocks_solve_as_a_dense_solution_does(case, ordering: str) -> None:
    """Beside the start; with P5 the vehicle has singular blocks, which give way to the border."""
    s = system(case.layout)
    q = np.array([entry.value for entry in s.q])
    q = q + 1e-2 * np.random.default_rng(1).normal(size=len(q))
    rows = square_rows(case, s, q) if case is not BRICARD else None
    m = dependent_matrix(case, s, q, ordering, rows)
    J = np.zeros(m.shape)
    np.add.at(J, (m.rows, m.columns), m.values)
    x = np.random.default_rng(2).normal(size=m.shape[1])
    solver = BorderedBlocks(
        m.shape, m.rows, m.columns, m.blocks, m.border, m.band, spare=40, native=ordering == "RB3"
    )
    solver.factor(m.values)
    np.testing.assert_allclose(solver.solve(J @ x), x, rtol=1e-8, atol=1e-9)


# --- motions --------------------------------------------------------------------------------------


def at(run: Outcome, s: bl.System, t: float, *names: str) -> np.ndarray:
    k = int(np.argmin(np.abs(run.t - t)))
    assert run.t[k] == pytest.approx(t)
    columns = [entry.name for entry in s.q]
    return np.array([run.q[k, columns.index(name)] for name in names])


@pytest.mark.parametrize("solver", ["reordered", "dense"])
def test_the_pendulum_falls_as_its_particles_do(solver: str) -> None:
    s = system(five_bars.pendulum)
    case = replace(PENDULUM, duration=2.0, tolerance=1e-9)
    run = integrate(prepare(case, solver, system=s), 8)
    times = list(five_bars.PENDULUM)
    turned, ends = particles.pendulum(np.array(times))
    for t, q, places in zip(times, turned, ends, strict=True):
        np.testing.assert_allclose(at(run, s, t, "p5.x", "p5.y", "p5.z"), places[5], atol=1e-6)
        np.testing.assert_allclose(at(run, s, t, *five_bars.angles()), q - np.pi / 2, atol=1e-6)
        tip, angles = five_bars.PENDULUM[t]  # the figures of the example, to their six digits
        np.testing.assert_allclose(places[5], tip, atol=1e-6)
        np.testing.assert_allclose(q - np.pi / 2, angles, atol=1e-6)
    np.testing.assert_allclose(run.energy.sum(axis=0), -29.43, atol=1e-6)
    assert run.violation.max() < 1e-13


@pytest.mark.parametrize("make", [five_bars.bricard_closed, five_bars.bricard_fixed])
def test_bricards_mechanism_swings_as_its_particles_do(make: Callable[[], Layout]) -> None:
    s = system(make)
    case = replace(BRICARD, layout=make, duration=5.0, tolerance=1e-9)
    run = integrate(prepare(case, system=s), 20)
    times = list(five_bars.BRICARD)
    for t, q, rate, places in zip(times, *particles.bricard(np.array(times)), strict=True):
        np.testing.assert_allclose(at(run, s, t, "p3.x", "p3.y", "p3.z"), places[3], atol=3e-6)
        np.testing.assert_allclose(at(run, s, t, *five_bars.angles()), q - np.pi / 2, atol=3e-6)
        k, column = int(np.argmin(np.abs(run.t - t))), [e.name for e in s.q].index("theta1")
        assert run.v[k, column] == pytest.approx(rate, abs=3e-6)
        p3, first, second, speed = five_bars.BRICARD[t]  # the figures of the example
        np.testing.assert_allclose([*places[3], rate], [*p3, speed], atol=1e-6)
        np.testing.assert_allclose(q[:2] - np.pi / 2, [first, second], atol=1e-6)
    np.testing.assert_allclose(run.energy.sum(axis=0), -29.43, atol=1e-6)


def test_counts_of_steps_are_those_of_the_conventions_of_ode45() -> None:
    """With the correction of positions in every evaluation, and without.

    The last digits of a machine may change the fate of a step or two of some hundred.
    """
    for case, index, steps, evaluations in (
        (PENDULUM, 3, 463, 2911),
        (PENDULUM, 2, 490, 3073),
        (BRICARD, 3, 120, 721),
    ):
        run = integrate(prepare(case, index=index, system=system(case.layout)))
        assert run.steps == pytest.approx(steps, rel=0.01)
        assert run.evaluations == pytest.approx(evaluations, rel=0.01)
        assert run.evaluations == 1 + 6 * (run.steps + run.failed)


def test_without_correction_the_constraints_drift_and_with_it_they_hold() -> None:
    s = system(five_bars.bricard_closed)
    free, held = (integrate(prepare(BRICARD, index=k, system=s)).violation for k in (2, 3))
    assert free[len(free) // 2 :].max() > 10 * free[1]
    assert held.max() < 1e-13


def test_the_bars_move_the_same_as_bodies_on_joints() -> None:
    for bodies, case in (
        (five_bars.pendulum_bodies(), PENDULUM),
        (five_bars.bricard_bodies(), BRICARD),
    ):
        s = system(case.layout)
        run = integrate(prepare(replace(case, duration=1.0, tolerance=1e-8), system=s), 2)
        other = bl.simulate(bodies, 1.0, output=0.5, tolerance=1e-9)
        turned = at(run, s, 1.0, *five_bars.angles()) + np.pi / 2
        expected = [other[f"theta{i}.angle"][-1] for i in range(1, 6)]
        np.testing.assert_allclose(turned, expected, atol=2e-6)


def test_natural_coordinates_are_laid_automatically_for_the_same_bars() -> None:
    """Six coordinates and five equations a bar; in Bricard's mechanism the last point is fixed."""
    for bodies, q, rows in (
        (five_bars.pendulum_bodies(), 30, 25),
        (five_bars.bricard_bodies(), 24, 24),
    ):
        made = bl.formulate(bodies, "natural")
        assert (len(made.q), len(made.multipliers)) == (q, rows)


def test_a_short_tether_keeps_its_energy_and_starts_as_told() -> None:
    case = replace(
        TETHER, layout=lambda: tether.tether(3), independent=tether.angles(3), duration=0.2
    )
    s = case.layout().system()
    run = integrate(prepare(case, system=s), 4)
    rate = {entry.name: x for entry, x in zip(s.v, run.v[0], strict=True)}
    assert rate["joint3.torsion_rate"] == pytest.approx(10.0)
    assert rate["joint3.bending1_rate"] == pytest.approx(2.0)
    still = [rate["tau_rate"], rate["joint2.torsion_rate"], rate["joint3.bending2_rate"]]
    np.testing.assert_allclose(still, 0.0, atol=1e-12)
    # ½ (m r²/2) 10² + ½ (m/3 + m r²/4) 2² about its joint
    assert run.energy[:, 0].sum() == pytest.approx(0.5 * 0.00125 * 100 + 2 * (1 / 3 + 0.000625))
    assert run.energy_change < 1e-5
    assert run.violation.max() < 1e-13


def test_a_blow_at_the_tip_moves_the_tether_only_nearby() -> None:
    s = system(tether.tether)
    after = tether.blow(s, 10, 1.0)
    speeds = np.array([after[f"p{i}.z_rate"] for i in range(2, 11)])
    assert speeds[-1] > 3.0  # more than a free rod that is struck at its end, 4 J/m, less its joint
    assert np.all(speeds[1:] * speeds[:-1] < 0)
    assert np.all(np.abs(speeds[:-1]) < 0.6 * np.abs(speeds[1:]))


@pytest.mark.slow
def test_the_tether_of_ten_bodies_takes_the_steps_and_keeps_the_energy_as_known() -> None:
    case = replace(TETHER, duration=0.3, method="dormand_prince")
    run = integrate(prepare(case, system=system(tether.tether)))
    total = run.energy.sum(axis=0)
    assert run.steps == pytest.approx(256, rel=0.01)
    assert run.evaluations == pytest.approx(1567, rel=0.01)
    assert (total[-1] - total[0]) / total[0] == pytest.approx(-8.2e-7, abs=1e-8)


@pytest.mark.slow
def test_the_vehicle_settles_on_the_step_of_the_ground() -> None:
    s = system(vehicle.vehicle)
    run = integrate(prepare(VEHICLE, system=s), 20)
    height = at(run, s, 1.0, "pc.z")[0]
    assert height == pytest.approx(0.039, abs=5e-4)
    assert run.violation.max() < 1e-13
    # left and right do the same, and what dampers take is gone
    names = [entry.name for entry in s.q]
    for axle in "FR":
        left, right = (run.q[:, names.index(f"{axle}{side}.s")] for side in "LR")
        np.testing.assert_allclose(left, right, atol=1e-9)
    assert len(s.y) == 4  # the energies of the tyres
    total = run.energy.sum(axis=0) + run.outputs.sum(axis=1)
    assert np.all(np.diff(total) < 1e-6 * np.ptp(total))
    assert np.ptp(total) > 100.0


def accelerations(s: bl.System) -> dict[str, float]:
    """Those at the start, at rest, by a dense solution."""
    q, still = [entry.value for entry in s.q], np.zeros(len(s.v))
    M, rows = np.asarray(s.evaluate("M", q)), np.asarray(s.evaluate("Phi_v", q))
    right = np.concatenate([s.evaluate("Q", q, still), s.evaluate("gamma", q, still)])
    K = np.block([[M, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.lstsq(K, right, rcond=None)[0]
    return {entry.name: x for entry, x in zip(s.v, found, strict=False)}


@pytest.mark.parametrize("coordinates", ["joint", "natural"])
def test_the_vehicle_starts_as_the_same_car_of_bodies_and_joints(coordinates: str) -> None:
    laid = accelerations(system(vehicle.vehicle))
    made = bl.formulate(vehicle_bodies(), coordinates)
    assert np.abs(made.evaluate("Phi", [entry.value for entry in made.q])).max() < 1e-12
    found = accelerations(made)
    if coordinates == "joint":
        pairs = {f"pc.{axis}_rate": f"pose.{axis}_rate" for axis in "xyz"}
    else:
        pairs = {f"FL.A1.{axis}_rate": f"chassis.FL_hinge.{axis}_rate" for axis in "xyz"}
    for ours, theirs in pairs.items():
        assert laid[ours] == pytest.approx(found[theirs], rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("case", [PENDULUM, BRICARD], ids=["pendulum", "Bricard"])
def test_the_scene_shows_every_bar(case, tmp_path) -> None:
    options = bl.Options(independent=case.independent)
    run = bl.simulate(
        system(case.layout), 0.1, output=0.05, formulation="velocity_projection", options=options
    )
    assert run.scene is not None
    assert {shape.name for shape in run.scene.shapes} == {f"bar{i}" for i in range(1, 6)}
    run.draw(0.05, save=tmp_path / "bars.png")
    assert (tmp_path / "bars.png").stat().st_size > 5000


def test_the_lines_of_the_vehicle_and_of_the_tether_join_their_points() -> None:
    for make, count, name, ends in (
        (vehicle.vehicle, None, "FL.tie rod", ((1.17, 0.68, -0.02), (1.20, 0.34, -0.05))),
        (tether.tether, 10, "body1", ((0, 0, 0), (1, 0, 0))),
    ):
        s = system(make)
        assert s.drawing is not None
        lines = {line.name: line for line in s.drawing.links}
        assert count is None or len(lines) == count
        points = np.asarray(s.evaluate("points", [entry.value for entry in s.q]))
        drawn = points[[lines[name].first, lines[name].second]]
        np.testing.assert_allclose(drawn, ends, atol=1e-12)
