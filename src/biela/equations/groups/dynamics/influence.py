"""Which independent coordinates move which group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from biela.equations.blocks.populations import Integers
from biela.equations.groups.cast import Cast
from biela.equations.groups.casts import Casts

__all__ = ["Influence"]


class Influence:
    """The independent coordinates that each group depends on.

    Kinds whose groups depend on different numbers of them are divided, so that all groups of a
    cast have equally many columns.

    Args:
        casts: Kinds of groups.
        drivers: Of each driver that stands for a coordinate the numbers of its freedoms.

    Attributes:
        casts: The casts, divided.
        columns: Of each cast the numbers of its coordinates, (instances, columns).
        of_body: Those of each body.
        timed: Of each cast whether drivers that stand for no coordinate move some of its groups.
    """

    def __init__(self, casts: Casts, drivers: Mapping[str, Sequence[int]]) -> None:
        structure = casts.structure
        sets: list[tuple[int, ...]] = [()] * len(structure.groups)
        timed = np.zeros(len(structure.groups), dtype=bool)
        for number, group in enumerate(structure.groups):
            found = {k for name in group.drivers for k in drivers.get(name, ())}
            for before in group.after:
                found.update(sets[before])
            sets[number] = tuple(sorted(found))
            own = any(name not in drivers for name in group.drivers)
            timed[number] = own or timed[list(group.after)].any()
        self._sets = sets
        self.casts: list[Cast] = []
        self.columns: list[Integers] = []
        self.timed: list[bool] = []
        for cast in casts.casts:
            for part in _divided(cast, sets):
                self.casts.append(part)
                self.timed.append(bool(timed[part.groups].any()))
                rows = [sets[int(g)] for g in part.groups]
                self.columns.append(np.array(rows, dtype=np.int64).reshape(part.count, -1))
        self.of_body: dict[int, tuple[int, ...]] = {}
        for cast in self.casts:
            for row, number in zip(cast.bodies, cast.groups, strict=True):
                self.of_body |= {int(body): sets[int(number)] for body in row}

    def of_group(self, group: int) -> tuple[int, ...]:
        """The coordinates that a group depends on, by its number."""
        return self._sets[group]


def _divided(cast: Cast, sets: list[tuple[int, ...]]) -> Iterator[Cast]:
    sizes = np.array([len(sets[int(g)]) for g in cast.groups])
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        yield cast if len(rows) == cast.count else cast.at(rows)
