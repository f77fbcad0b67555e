from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biela.errors import ResultsError
from biela.results.graph_drawing import Edge, _layout, draw_graph


def ring(count: int) -> list[Edge]:
    return [Edge(k, (k + 1) % count) for k in range(count)]


@pytest.mark.parametrize("count", [3, 4, 7])
def test_a_loop_is_laid_out_as_a_regular_polygon(count: int) -> None:
    places = _layout(count, ring(count))
    radii = np.linalg.norm(places, axis=1)
    sides = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-3)
    np.testing.assert_allclose(sides, sides[0], rtol=1e-3)


def test_a_chain_is_laid_out_in_a_line_from_left_to_right() -> None:
    places = _layout(5, [Edge(k, k + 1) for k in range(4)])
    assert np.all(np.diff(places[:, 0]) > 1.5)
    assert np.abs(places[:, 1]).max() < 0.3


@pytest.mark.parametrize("edges", [[Edge(0, 1)], []])
def test_circles_that_hang_on_nothing_do_not_lie_on_each_other(edges: list[Edge]) -> None:
    places = _layout(6, edges)
    gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2) + 9 * np.eye(6)
    assert gaps.min() > 1.0


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="90 circles are too many"):
        draw_graph([str(k) for k in range(90)], [], tmp_path / "a.png")
    with pytest.raises(ResultsError, match="'J' leads to a circle that is not there"):
        draw_graph(["a", "b"], [Edge(0, 2, "R", "J")], tmp_path / "a.png")
