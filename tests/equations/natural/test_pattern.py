"""The symbolic Jacobian: as many entries as the thesis counted, whatever the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from biela.equations.natural import Layout, Segment
from tests.equations.natural.laid import bricard, four_bar, spatial_chain, tether


def test_the_five_bar_pendulum_has_the_entries_of_the_thesis() -> None:
    lay, _, _ = spatial_chain()
    pattern = lay.jacobian_pattern()
    assert (len(pattern.rows), len(pattern.columns)) == (30, 35)
    assert pattern.without([f"theta{k}" for k in range(1, 6)]).entries == 198
    assert {pattern.columns[k] for k in pattern.relative} == {f"theta{k}" for k in range(1, 6)}


@pytest.mark.parametrize("bars", [2, 3, 9])
def test_chains_of_any_length_grow_by_45_entries_a_bar(bars: int) -> None:
    lay, _, _ = spatial_chain(bars)
    dependent = lay.jacobian_pattern().without([f"theta{k}" for k in range(1, bars + 1)])
    assert len(dependent.rows) == len(dependent.columns) == 6 * bars
    assert dependent.entries == 45 * bars - 27


@pytest.mark.parametrize("bodies", [3, 10])
def test_the_tether_has_the_entries_of_the_thesis(bodies: int) -> None:
    pattern = tether(bodies).jacobian_pattern()
    assert len(pattern.columns) == 12 * bodies - 8
    assert len(pattern.rows) == 9 * bodies - 6
    assert len(pattern.relative) == 3 * bodies - 2
    assert pattern.entries == 75 * bodies - 89


def test_both_models_of_bricard_have_the_entries_of_the_thesis() -> None:
    closed, fixed = bricard(1).jacobian_pattern(), bricard(2).jacobian_pattern()
    assert (len(closed.rows), len(closed.columns), closed.entries) == (36, 35, 209)
    assert (len(fixed.rows), len(fixed.columns), fixed.entries) == (30, 29, 182)
    assert fixed.without(["theta5"]).entries == 181
    assert closed.closure == frozenset(range(30, 36))
    assert all(closed.constant[k] for k in closed.closure)
    # between fixed entities nothing is left of a row
    assert [name for name, row in zip(fixed.row_names, fixed.rows, strict=True) if not row] == [
        "v5.unit"
    ]


def test_the_switched_angle_has_the_union_of_the_patterns_of_sine_and_cosine() -> None:
    rows = {}
    for written in ("cosine", "sine", "switched", "regular", "sum"):
        pattern = spatial_chain(3, written=written)[0].jacobian_pattern()
        rows[written] = pattern.rows[pattern.row_names.index("theta3.angle")]
    assert rows["cosine"] < rows["sine"]
    assert rows["switched"] == rows["cosine"] | rows["sine"] == rows["regular"] == rows["sum"]


def test_no_entry_of_the_numeric_jacobian_is_outside_of_the_pattern() -> None:
    for lay in (spatial_chain(3)[0], tether(3), four_bar("switched")):
        pattern = lay.jacobian_pattern()
        system = lay.system()
        random = np.random.default_rng(1)
        seen = np.zeros((len(pattern.rows), len(pattern.columns)), dtype=bool)
        for _ in range(4):
            q = random.normal(size=len(system.q))
            seen |= np.asarray(system.evaluate("Phi_q", q)) != 0.0
        allowed = np.array([[k in row for k in range(seen.shape[1])] for row in pattern.rows])
        assert not (seen & ~allowed).any()
        assert tuple(e.name for e in system.q) == pattern.columns
        assert system.multipliers == pattern.row_names


def test_entries_that_are_zero_by_chance_of_the_numbers_count() -> None:
    lay = Layout("chance")
    p = lay.point("p", (0, 0, 0), fixed=True)
    v = lay.vector("v", (0, 0, 1), fixed=True)
    q = lay.point("q", (1, 0, 0))
    lay.dot(Segment(p, q), v)
    (row,) = lay.jacobian_pattern().rows
    assert len(row) == 3
    assert np.count_nonzero(lay.system().evaluate("Phi_q", [1.0, 0.0, 0.0])) == 1
