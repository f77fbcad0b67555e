from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biela.errors import ResultsError
from biela.results.ordering_drawing import OrderedMatrix, draw_orderings


def pixels(path: Path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(path)[..., :3]


def painted(image: np.ndarray, color: str) -> int:
    """Pixels of a colour "#rrggbb"."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return int((np.abs(image - wanted).max(axis=-1) < 0.02).sum())


def test_blocks_border_and_band_have_colours_of_their_own(tmp_path: Path) -> None:
    rows, columns = np.array([0, 1, 1, 2, 3]), np.array([0, 1, 3, 0, 3])
    plain = OrderedMatrix("plain", (4, 4), rows, columns)
    ordered = OrderedMatrix("ordered", (4, 4), rows, columns, (0, 1, 2, 3), "a note")
    before = pixels(draw_orderings([plain], tmp_path / "plain.png"))
    after = pixels(draw_orderings([ordered], tmp_path / "ordered.png", title="both"))
    for color in ("#0072B2", "#D55E00"):
        assert painted(before, color) == 0
        assert painted(after, color) > 100
    assert painted(before, "#222222") > painted(after, "#222222")


def test_a_wide_matrix_and_a_large_one_are_drawn(tmp_path: Path) -> None:
    k = np.arange(3000)
    large = OrderedMatrix("large", (3000, 3000), k, k, tuple(range(0, 2998, 3)))
    wide = OrderedMatrix("wide", (2, 40), np.array([0, 1]), np.array([0, 39]))
    assert draw_orderings([large, wide], tmp_path / "both.svg").exists()


def test_nothing_and_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no matrix"):
        draw_orderings([], tmp_path / "none.png")
    matrix = OrderedMatrix("one", (1, 1), np.array([0]), np.array([0]))
    with pytest.raises(ResultsError, match="should end in one of"):
        draw_orderings([matrix], tmp_path / "one.xyz")
