"""The cells of the matrix: a mechanism with a feature, moved through a door.

What cannot be done yet stands in `MISSING`, with the reason.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tests.matrix.doors import DOORS, TAKES
from tests.matrix.features import FEATURES
from tests.matrix.mechanisms import LOOPS, MECHANISMS

Floats = npt.NDArray[np.float64]
Cell = tuple[str, str, str]

DURATION, STEP = 0.01, 2.5e-4
#: Part of the largest value of a reading by which cells may differ.
AGREEMENT: Final = 1e-9

#: Why a feature does not go through a door yet.
MISSING: Final[Mapping[tuple[str, str], str]] = {
    ("friction under load", "groups"): "forces that depend on reactions are not in group programs",
}


def missing(cell: Cell) -> str:
    """Why a cell cannot be had yet; nothing if it can."""
    _, feature, door = cell
    return MISSING.get((feature, door), "")


def every_cell() -> Iterator[Cell]:
    """All cells; a door that does not take a setting at all, by its nature, has none there."""
    for mechanism in MECHANISMS:
        for name, feature in FEATURES.items():
            for door in DOORS:
                if set(feature.run) <= TAKES.get(door, set(feature.run)):
                    yield mechanism, name, door


def chosen_cells() -> Iterator[Cell]:
    """Some for every change: each feature through each door, with a tree and with a loop.

    The mechanisms take turns, so that each of them goes through every door as well.
    """
    trees = [name for name in MECHANISMS if name not in LOOPS]
    loops = [name for name in MECHANISMS if name in LOOPS]
    features, doors = list(FEATURES), list(DOORS)
    for cell in every_cell():
        turn = features.index(cell[1]) + doors.index(cell[2])
        if cell[0] in (trees[turn % len(trees)], loops[turn % len(loops)]):
            yield cell


def readings(cell: Cell) -> dict[str, Floats]:
    """The motion of all bodies, and what the feature reads besides."""
    mechanism, name, door = cell
    model, feature = MECHANISMS[mechanism](), FEATURES[name]
    feature.change(model)
    with contextlib.redirect_stdout(io.StringIO()):
        results = DOORS[door](model, DURATION, step=STEP, **feature.run)
    found = dict(feature.read(model, results))
    for body in model.bodies:
        frame = results.frame(body)
        found[f"{body}, position"] = frame.position
        found[f"{body}, velocity"] = frame.velocity
        found[f"{body}, angular velocity"] = frame.angular_velocity
    return found


@cache
def expected(mechanism: str, feature: str) -> dict[str, Floats]:
    """What a cell is compared with: joint coordinates, unrolled."""
    return readings((mechanism, feature, "joint"))


def largest_difference(cell: Cell) -> tuple[float, str]:
    """By how much a cell differs from what is expected, relative to each reading, and in which."""
    wanted, found = expected(*cell[:2]), readings(cell)
    assert set(found) == set(wanted)
    differences = []
    for name, x in wanted.items():
        y = found[name]
        if x.shape != y.shape:
            return np.inf, f"{name}: {y.shape} in place of {x.shape}"
        size = max(float(np.abs(x).max(initial=0.0)), 1e-3)
        differences.append((float(np.abs(x - y).max(initial=0.0)) / size, name))
    return max(differences)
