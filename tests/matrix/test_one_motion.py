"""One model is one motion, whatever the coordinates, the engine or the door."""

from __future__ import annotations

import warnings

import pytest

from tests.matrix.cells import AGREEMENT, Cell, chosen_cells, largest_difference, missing
from tests.matrix.frozen import COORDINATES, differences, mechanisms, stored


def _parameters() -> list[object]:
    return [
        pytest.param(
            cell,
            id=", ".join(cell),
            marks=[pytest.mark.xfail(reason=missing(cell), strict=True)] if missing(cell) else [],
        )
        for cell in chosen_cells()
    ]


@pytest.mark.parametrize("cell", _parameters())
def test_every_door_gives_the_same_motion(cell: Cell) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if missing(cell) else "error")
        difference, where = largest_difference(cell)
    assert difference < AGREEMENT, where


@pytest.mark.parametrize(
    ("name", "coordinates"),
    [(name, COORDINATES[k % len(COORDINATES)]) for k, name in enumerate(sorted(mechanisms()))],
)
def test_equations_and_their_c_are_as_they_were(name: str, coordinates: str) -> None:
    assert not list(differences(name, coordinates, stored()[f"{name} {coordinates}"]))
