"""The structure figures of a thesis on sparse reordering, on its mechanisms as described there."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from biela.graph import Pattern
from biela.graph.ordering import (
    BlockForm,
    BlockValues,
    block_triangular,
    compare_orderings,
    p5,
    rb3,
)
from tests.graph.reference_orderings import p5_reference, rb3_reference
from tests.graph.thesis_patterns import (
    bricard,
    bricard_jacobian,
    bricard_residual,
    bricard_start,
    five_bar_chain,
    opened_vehicle,
    tether,
    vehicle,
    vehicle_independent,
)


def sizes(form: BlockForm) -> tuple[int, int]:
    return len(form.border), len(form.band)


def by_dependent(m, *angles: int) -> tuple[Pattern, list[int]]:
    return m.without([m.column(f"θ{k}") for k in angles])


def test_the_pendulum_has_the_published_entries_and_ten_blocks_of_three() -> None:
    m = five_bar_chain()
    pattern, _ = m.without(m.relative)
    assert (m.pattern.shape, pattern.shape, pattern.nnz) == ((30, 35), (30, 30), 198)
    for order in (p5, rb3, block_triangular):
        assert order(pattern).orders == {3: 10}
        assert sizes(order(pattern)) == (0, 0)


@pytest.mark.parametrize("bars", [2, 7, 30])
def test_longer_pendulums_follow_the_same_law(bars: int) -> None:
    m = five_bar_chain(bars)
    pattern, _ = m.without(m.relative)
    assert m.pattern.shape == (6 * bars, 7 * bars)
    assert pattern.nnz == 45 * bars - 27
    assert rb3(pattern).orders == {3: 2 * bars}


@pytest.mark.parametrize("bodies", [2, 10, 60])
def test_the_tether_has_the_published_entries_and_blocks_of_three(bodies: int) -> None:
    m = tether(bodies)
    assert m.pattern.shape == (9 * bodies - 6, 12 * bodies - 8)
    assert m.pattern.nnz == 75 * bodies - 89  # 661 with ten bodies
    pattern, _ = m.without(m.relative)
    for order in (p5, rb3, block_triangular):
        assert order(pattern).orders == {3: 3 * bodies - 2}
        assert sizes(order(pattern)) == (0, 0)


@pytest.mark.parametrize("model", [1, 2])
def test_bricards_mechanism_has_the_published_entries(model: int) -> None:
    m = bricard(model)
    assert m.pattern.shape == {1: (36, 35), 2: (30, 29)}[model]
    assert m.pattern.nnz == {1: 209, 2: 182}[model]
    pattern, _ = by_dependent(m, 5)
    assert pattern.nnz == {1: 208, 2: 181}[model]


@pytest.mark.parametrize("model", [1, 2])
@pytest.mark.parametrize(
    ("angle", "border", "band"), [(1, 2, 4), (2, 2, 4), (3, 2, 4), (4, 3, 5), (5, 3, 5)]
)
def test_bricards_mechanism_has_its_border_and_band(
    model: int, angle: int, border: int, band: int
) -> None:
    """3 and 5 are published, with an angle that is not told; the others by sets."""
    m = bricard(model)
    pattern, _ = by_dependent(m, angle)
    form = rb3(pattern, constant=m.constant)
    assert sizes(form) == (border, band)
    assert sizes(p5(pattern)) == (border, band)
    rows, n = pattern.row_lists(), pattern.columns
    for played in (rb3_reference(rows, n, constant=m.constant), p5_reference(rows, n)):
        assert (len(played[1]), len(played[2])) == (border, band)
    ones = 10 if model == 1 else 4
    assert form.orders == {1: ones, 2: border, 3: 8 - border}
    # the closures, whose derivatives are constant, come first and alone
    for (row,), (_,) in form.blocks[: len(m.closures)]:
        assert row in m.closures
    ahead = rb3(pattern, constant=m.constant, look_ahead=True)
    assert sizes(ahead) == (2, 4)


def test_hints_keep_relative_coordinates_and_closures_out_of_the_blocks() -> None:
    m = bricard(1)
    pattern, relative = by_dependent(m, 5)
    hinted = rb3(pattern, relative=relative, constant=m.constant)
    assert (sizes(hinted), hinted.orders) == ((4, 6), {1: 6, 3: 8})
    assert set(hinted.border) == set(relative)
    closed = rb3(pattern, relative=relative, closures=m.closures)
    assert (sizes(closed), closed.orders) == ((4, 6), {3: 10})
    assert set(m.closures) <= set(closed.band)
    second, relative = by_dependent(bricard(2), 5)
    assert rb3(second, relative=relative).orders == {3: 8}


def test_the_vehicle_has_a_narrower_border_than_with_p5_and_none_when_opened() -> None:
    m = vehicle()
    assert (m.pattern.shape, len(m.closures)) == ((192, 202), 18)
    pattern, _ = m.without(vehicle_independent(m))
    assert (pattern.shape, pattern.nnz) == ((192, 192), 844)
    assert sizes(p5(pattern)) == (21, 21)
    form = rb3(pattern, constant=m.constant)
    assert (sizes(form), form.orders) == ((14, 14), {1: 131, 2: 7, 3: 11})
    assert block_triangular(pattern).orders == {1: 91, 2: 1, 3: 7, 18: 2, 21: 2}
    opened, _ = opened_vehicle()
    assert opened.shape == (174, 174)
    assert sizes(p5(opened)) == (7, 7)
    form = rb3(opened)
    assert (sizes(form), form.orders) == ((0, 0), {1: 127, 2: 7, 3: 11})


@pytest.mark.parametrize(("tube", "entries"), [((0, 1), 612), ((0, 2), 610)])
def test_the_two_rows_of_a_tube_decide_over_the_entries_of_the_opened_vehicle(
    tube: tuple[int, int], entries: int
) -> None:
    # any two components of the cross product will do: closed it makes no difference
    assert vehicle(tube).without(vehicle_independent(vehicle(tube)))[0].nnz == 844
    assert opened_vehicle(tube)[0].nnz == entries


@cache
def moving_bricard(steps: int = 20) -> list[np.ndarray]:
    """Positions along the motion: the first angle given, the rest by Gauss-Newton."""
    q = bricard_start()
    found = []
    for angle in np.linspace(-np.pi / 2, 1.2, steps):
        for _ in range(20):
            residual = np.append(bricard_residual(q), q[30] - angle)
            J = np.vstack([bricard_jacobian(q), np.eye(35)[30]])
            q = q - np.linalg.lstsq(J, residual, rcond=1e-6)[0]
            if np.abs(residual).max() < 1e-11:
                break
        assert np.abs(bricard_residual(q)).max() < 1e-9
        found.append(q)
    return found


def test_the_pattern_of_bricard_holds_all_entries_that_its_equations_have() -> None:
    pattern = bricard().pattern
    inside = np.zeros(pattern.shape, dtype=bool)
    inside[pattern.entry_rows, pattern.entries] = True
    rng = np.random.default_rng(0)
    J = bricard_jacobian(bricard_start() + rng.standard_normal(35))
    assert not np.any(np.abs(J[~inside]) > 0)
    # entries that this choice of axes makes zero whatever the position
    assert np.count_nonzero(np.abs(J[inside]) < 1e-14) == 5


def test_choosing_by_values_avoids_singular_blocks_with_the_same_border() -> None:
    m = bricard(1)
    pattern, _ = by_dependent(m, 5)
    kept = [c for c in range(35) if c != m.column("θ5")]
    jacobians = np.array([bricard_jacobian(q)[:, kept] for q in moving_bricard()])
    at_start = BlockValues.of_matrices(pattern, jacobians[:1])
    everywhere = BlockValues.of_matrices(pattern, jacobians)

    def least(form: BlockForm, values: BlockValues) -> float:
        return min(values.least_singular_value(r, c) for r, c in form.blocks)

    reports = compare_orderings(pattern, constant=m.constant, values=at_start)
    known = {report.name: report.regularity for report in reports}
    assert known["natural"] is None and known["RB3"] is not None and known["RB3"] < 1e-12
    assert known["RB3 by values"] is not None and known["RB3 by values"] > 1e-2
    plain = rb3(pattern, constant=m.constant)
    assert least(plain, at_start) < 1e-12  # the pattern alone chooses a singular block
    chosen = rb3(pattern, constant=m.constant, values=at_start)
    assert sizes(chosen) == (3, 5)
    assert least(chosen, at_start) > 1e-2
    along = rb3(pattern, constant=m.constant, values=everywhere)
    assert least(along, everywhere) > 1e-3


def test_the_blocks_solve_bricards_velocities_as_a_dense_solution_does() -> None:
    m = bricard(1)
    pattern, _ = by_dependent(m, 5)
    kept = [c for c in range(35) if c != m.column("θ5")]
    full = bricard_jacobian(moving_bricard()[10])
    J, right = full[:, kept], -full[:, m.column("θ5")]
    form = rb3(
        pattern, constant=m.constant, values=BlockValues.of_matrices(pattern, J), look_ahead=True
    )
    inner = sum(len(c) for _, c in form.blocks)
    P = J[np.ix_(form.rows, form.columns)]
    T, B, C, A = P[:inner, :inner], P[:inner, inner:], P[inner:, :inner], P[inner:, inner:]
    bounds = form.bounds
    for a, b in pairwise(bounds):
        assert not np.any(T[a:b, b:])
    b = right[form.rows]
    W, y = np.linalg.solve(T, B), np.linalg.solve(T, b[:inner])
    x_border = np.linalg.lstsq(A - C @ W, b[inner:] - C @ y, rcond=None)[0]
    x = np.empty(34)
    x[form.columns] = np.concatenate([y - W @ x_border, x_border])
    np.testing.assert_allclose(x, np.linalg.lstsq(J, right, rcond=None)[0], atol=1e-9)
