"""A part of the workspace that may stand elsewhere: results are written where they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biela.code.looped.stage import Integers
from biela.errors import ShapeError

__all__ = ["Window"]


@dataclass(frozen=True)
class Window:
    """Places that need not stand in the workspace, where states are in the lanes.

    From the place ``shift`` of the workspace on stand three numbers, one double after the other: by
    how many doubles they are moved; by how many they were in the run before, where carried arrays
    are read; and by how many more they will be in the next one, 0 if nobody knows.  There the
    caches are told to fetch what that one writes: an instance that reads what another has just
    written would wait for the memory.

    Attributes:
        first: The first of them.
        count: How many.
        shift: The first of three places that are kept for them.
    """

    first: int
    count: int
    shift: int

    def holds(self, places: Any, size: int) -> tuple[bool, ...]:
        """Which entries of an array it holds, of all instances.

        Args:
            places: (count, size), or first places (count,) of entries that follow each other.
            size: Of the array.

        Raises:
            ShapeError: It holds an entry in some instances only, or a part of entries that follow
                each other.
        """
        table: Integers = np.asarray(places)
        together = table.ndim == 1
        rows = table[:, None] + np.arange(size) if together else table
        held = (rows >= self.first) & (rows < self.first + self.count)
        every = [bool(column.all()) for column in held.T]
        some = [bool(column.any()) for column in held.T]
        if some != every or (together and any(every) != all(every)):
            raise ShapeError(
                f"places {self.first} to {self.first + self.count - 1} stand elsewhere: an array "
                f"is there in all instances or in none"
            )
        return tuple(every)
