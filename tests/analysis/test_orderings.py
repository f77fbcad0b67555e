from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis import orderings
from biela.analysis.orderings import draw_ordering_study, study_orderings
from biela.errors import ModelError
from biela.graph import symbolic_fill
from biela.model.files import load_model, loads
from biela.results.ordering_drawing import OrderedMatrix

PENDULUM = """
name = "pendulum"
[bodies.rod]
mass = 1.0
inertia = 0.1
[joints.A]
kind = "revolute"
i = "ground"
j = "rod"
"""
MECHANISMS = Path(__file__).parents[2] / "examples" / "mechanisms"


@pytest.fixture(scope="module")
def bennett() -> bl.Model:
    return load_model(MECHANISMS / "bennett.toml")


@pytest.mark.parametrize("coordinates", ["natural", "reference"])
def test_the_pattern_holds_the_jacobian_at_any_position(
    bennett: bl.Model, coordinates: str
) -> None:
    study = study_orderings(bennett, coordinates)
    system = bl.formulate(bennett, coordinates)
    inside = np.zeros(study.jacobian.shape, dtype=bool)
    inside[study.jacobian.entry_rows, study.jacobian.entries] = True
    q = bl.assemble(system).q + 0.1 * np.random.default_rng(0).standard_normal(len(system.q))
    J = system.evaluate("Phi_v", q)
    assert J.shape == study.jacobian.shape
    assert not np.any(J[~inside])
    assert len(study.row_names) == J.shape[0] and len(study.column_names) == J.shape[1]


def test_independent_columns_are_as_many_as_the_pattern_cannot_determine() -> None:
    model = load_model(MECHANISMS / "bennett.toml")
    study = study_orderings(model, "reference")
    m, n = study.jacobian.shape
    assert len(study.independent) == max(n - m, 0)
    assert study.dependent.columns == n - len(study.independent)
    chosen = study_orderings(model, "reference", independent=[study.column_names[0]])
    assert chosen.independent == (study.column_names[0],)
    with pytest.raises(ModelError, match="'nobody' is no column"):
        study_orderings(model, "reference", independent=["nobody"])


def test_the_best_ordering_is_the_cheapest_of_all(bennett: bl.Model) -> None:
    study = study_orderings(bennett, "reference")
    sound = [r for r in study.orderings if r.regularity is None or r.regularity > 1e-9]
    assert study.best in sound
    assert study.best.predicted == min(r.predicted for r in sound)
    assert {"P5", "RB3", "block triangular", "minimum degree"} <= {r.name for r in study.orderings}
    best = study.best_elimination
    assert best is not None and study.saddle is not None
    assert best.cost == symbolic_fill(study.saddle, best.order)
    assert study.eliminations[-1].name == "multibody"
    by_degree = next(r for r in study.eliminations if r.name == "minimum degree")
    assert study.eliminations[-1].predicted <= by_degree.predicted


def test_a_tree_has_no_jacobian_in_its_own_coordinates() -> None:
    arm = loads(PENDULUM)
    with pytest.raises(ModelError, match="no constraints in joint coordinates"):
        study_orderings(arm, "joint")
    assert study_orderings(arm, "reference").orderings


class Layout:
    """What a layout of natural coordinates tells: two rods on a point between two fixed ones."""

    name = "two rods"

    def jacobian_pattern(self) -> object:
        class Found:
            row_names = ("first.length", "second.length", "angle")
            columns = ("x", "y", "θ")
            rows = (frozenset({0, 1}), frozenset({0, 1}), frozenset({0, 1, 2}))
            constant = (False, False, False)
            relative = frozenset({2})
            closure = frozenset({1})

        return Found()


def test_a_layout_is_ordered_by_the_pattern_and_the_hints_it_gives() -> None:
    study = study_orderings(Layout())
    forms = {report.name: report.form for report in study.orderings}
    assert forms["RB3"].orders == {1: 1, 2: 1}
    assert forms["RB3, REL"].border == (2,)
    assert 1 in forms["RB3, REL + CLO"].band
    assert study.eliminations == ()


def test_orderings_are_drawn(bennett: bl.Model, tmp_path: Path) -> None:
    path = draw_ordering_study(study_orderings(bennett), tmp_path / "orders.png")
    assert path.stat().st_size > 10_000


def test_the_best_order_is_among_those_that_are_drawn(
    bennett: bl.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_orderings(bennett)
    drawn: list[OrderedMatrix] = []

    def draw(matrices: list[OrderedMatrix], path: Path, **_: str) -> Path:
        drawn.extend(matrices)
        return path

    monkeypatch.setattr(orderings, "draw_orderings", draw)
    draw_ordering_study(study, tmp_path / "orders.png")
    assert len(drawn) == 4 and study.best.name in [matrix.name for matrix in drawn]
