"""What a run of groups through many instants stores, and the memory for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Stored", "Stretches", "aligned_rows", "aligned_zeros", "joined"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: Parts of a workspace, each its first place and its length.
Stretches = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Stored:
    """What a run has stored.

    Attributes:
        t: Times.
        rows: (blocks, places, lanes) of the stretches stored, one after the other.
        steps: Steps of Newton's method, of all groups and instants.
        careful: Instants that were taken one by one.
        solving: Seconds of the processor in native code, without those instants; 0 of a run that
            went tile by tile.
    """

    t: Floats
    rows: Floats
    steps: float
    careful: int
    solving: float = 0.0

    def column(self, place: int) -> Floats:
        """One place at all instants."""
        return self.rows[:, place, :].reshape(-1)[: len(self.t)]

    def columns(self, places: Integers) -> Floats:
        """Some places at all instants, (instants, places)."""
        found = np.moveaxis(self.rows[:, places, :], 1, 2)
        return found.reshape(-1, len(places))[: len(self.t)]


def joined(stretches: Stretches) -> Stretches:
    """Stretches with those that follow each other as one."""
    found: Stretches = []
    for first, length in stretches:
        if found and sum(found[-1]) == first:
            found[-1] = found[-1][0], found[-1][1] + length
        else:
            found.append((first, length))
    return found


def aligned_rows(blocks: int, kept: int, lanes: int) -> Floats:
    """Memory for rows, (blocks, places, lanes); vectors of lanes do not straddle cache lines."""
    return _aligned(np.empty((blocks * kept + 1) * lanes), lanes).reshape(blocks, kept, lanes)


def aligned_zeros(places: int, lanes: int) -> Floats:
    """A workspace of so many places, likewise; all are zero."""
    return _aligned(np.zeros((places + 1) * lanes), lanes)


def _aligned(raw: Floats, lanes: int) -> Floats:
    """All but ``lanes`` numbers of a row, from one on that begins a vector of lanes."""
    shift = (-raw.ctypes.data // 8) % lanes
    return raw[shift : shift + len(raw) - lanes]
