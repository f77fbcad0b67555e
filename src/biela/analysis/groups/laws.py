"""The laws of time of the drivers of a model, at many instants at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.quintic import quintic
from biela.equations.blocks.block import Block

__all__ = ["LawBlocks", "Laws"]

Floats = npt.NDArray[np.float64]


class LawBlocks(Protocol):
    """Laws of time and what evaluates them, such as a `biela.equations.blocks` table."""

    @property
    def size(self) -> int:
        """How many laws there are."""

    def blocks(self) -> tuple[Block, ...]:
        """What evaluates them."""


class Laws:
    """Values and two rates of all laws."""

    def __init__(self, table: LawBlocks) -> None:
        self.size = table.size
        self._blocks = table.blocks()
        self._followed: tuple[Floats, list[int], Floats] | None = None

    def follow(self, t: Floats, places: list[int], values: Floats) -> None:
        """Let some laws follow numbers at instants: values, rates and second rates of all.

        Between instants they go by the polynomial of fifth degree that fits both ends.
        """
        self._followed = t, places, values.reshape(len(t), 3, len(places))

    def at(self, t: Floats) -> Floats:
        """Values, rates and second rates, (instants, 3 * number of laws)."""
        found = np.zeros((3, self.size, len(t)))
        self.write(t, found)
        return found.reshape(3 * self.size, len(t)).T

    def write(self, t: Floats, into: Floats) -> None:
        """Write the same right where it belongs.

        Args:
            t: Times, of any shape.
            into: (3, number of laws, shape of the times).
        """
        times = t.reshape(-1)
        for block in self._blocks:
            for row in range(len(block.parameters)):
                given = [times[:, None]]
                if block.parameters.shape[1]:
                    given.append(np.tile(block.parameters[row], (len(times), 1)))
                values = block.kernel.map(*given)
                for rate, name in enumerate(("w", "dw", "ddw")):
                    places = np.atleast_1d(np.asarray(block.scatter[name][1])[row])
                    found = np.asarray(values[rate]).reshape(len(times), -1)
                    for k, place in enumerate(places):
                        into[rate, place] = found[:, k].reshape(t.shape)
        if self._followed is not None:
            known, laws, numbers = self._followed
            between = np.moveaxis(_between(known, numbers, times), 0, 2)
            into[:, laws] = between.reshape(3, len(laws), *t.shape)


def _between(known: Floats, values: Floats, t: Floats) -> Floats:
    """Values and two rates at instants, by quintic polynomials between those that are known."""
    k = np.clip(np.searchsorted(known, t, side="right") - 1, 0, max(len(known) - 2, 0))
    if len(known) < 2:
        return values[k]
    length, since = known[k + 1] - known[k], t - known[k]
    first, last = (np.moveaxis(values[i], 1, 0) for i in (k, k + 1))
    inside = quintic(list(first), list(last), length[:, None], since[:, None])
    # at instants that are known the numbers themselves, to the last digit
    found = np.where((since == 0)[:, None], first, inside)
    found = np.where((since == length)[:, None], last, found)
    return np.moveaxis(found, 0, 1)
