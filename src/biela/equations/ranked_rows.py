"""Constraints of which so many count: the best of them, chosen anew in every position.

In an overconstrained mechanism some rows of Φ_v depend on others, and often only *on* the
constraints: a Bennett linkage has rank 3 of 5 wherever it is assembled, and rank 4 at the stages of
a Runge–Kutta step, which lie O(h²) beside.  A threshold on pivots then keeps a row that is noise,
and accelerations explode or freeze.  And of dependent rows, those that come first may nearly depend
on each other where others would do well.

So the rank is told (`RankedRows`), and the elimination takes that many pivots, each the largest
that is left in proportion to the size of its row, as Gauss elimination with symmetric pivoting
does.  The rows that are not taken get no force.  There are no branches and no indices that depend
on the position: with w the unit vector of the row that is chosen,

    c = S w,    d = wᵀ c,    S ← S - c cᵀ/d,

so that the code does the same work everywhere, runs in vector lanes, and prints as C.  It takes
O(rank · rows²) operations, which is little for the handful of rows that close a loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biela.atoms import Atom, maximum, select


@dataclass(frozen=True)
class RankedRows:
    """Constraints that depend on each other, and how many of them are independent.

    Attributes:
        rows: Their places among the constraints.
        rank: How many of them count, beside all constraints that are not in such a set.
        sizes: φ M⁻¹ φᵀ of each row φ, the largest of some positions: what its pivots are
            measured by.
        lengths: φ φᵀ of each, likewise, where the metric is 1.
    """

    rows: tuple[int, ...]
    rank: int
    sizes: tuple[float, ...]
    lengths: tuple[float, ...]


@dataclass(frozen=True)
class _Step:
    """A pivot: which row it is, as a unit vector, its column over the pivot, and 1/pivot."""

    chosen: dict[int, Atom]
    column: dict[int, Atom]
    inverse: Atom


def _weights(places: Sequence[int], sizes: Sequence[float]) -> dict[int, float]:
    """By what the pivots of rows are multiplied, for the largest of them to be found.

    Powers of four, so that the choice is the same for models that differ a little or in scale.
    """
    most = max(sizes, default=0.0)
    return {
        k: 4.0 ** -round(math.log(size / most, 4)) if size > 0 else 1.0
        for k, size in zip(places, sizes, strict=True)
    }


class RankedElimination:
    """The elimination of the last rows of a symmetric matrix, by sets of known rank.

    Args:
        S: Entries of the rows that are left, by pairs of places i ≥ j; missing ones are 0.
        sets: For each set the places of its rows, its rank, and the sizes of the rows.
        floors: For each place the pivot below which it is rounding only.
    """

    def __init__(
        self,
        S: Mapping[tuple[int, int], Atom],
        sets: Sequence[tuple[Sequence[int], int, Sequence[float]]],
        floors: Mapping[int, Atom],
        one: Atom,
    ) -> None:
        self._one, self._zero = one, one * 0
        self._S = dict(S)
        self._floors = floors
        self._left = [place for places, _, _ in sets for place in places]
        self._steps: list[_Step] = []
        #: Whether a row gets a force, by its place: 1 or 0.
        self.kept: dict[int, Atom] = dict.fromkeys(self._left, self._zero)
        for places, rank, sizes in sets:
            weights = _weights(places, sizes)
            for _ in range(rank):
                self._eliminate(list(places), weights)
            self._left = [k for k in self._left if k not in set(places)]

    def _entry(self, i: int, j: int) -> Atom:
        return self._S.get((max(i, j), min(i, j)), self._zero)

    def _eliminate(self, places: list[int], weights: Mapping[int, float]) -> None:
        chosen = self._largest(places, weights)
        column = {
            i: self._picked(chosen, {k: self._entry(i, k) for k in places}) for i in self._left
        }
        pivot = self._picked(chosen, {k: column[k] for k in places})
        floor = self._picked(chosen, {k: self._floors.get(k, self._zero) for k in places})
        dropped = abs(pivot) <= floor
        inverse = select(dropped, 0, 1 / select(dropped, 1, pivot))
        scaled = {i: entry * inverse for i, entry in column.items() if entry.ref}
        for a, i in enumerate(self._left):
            for j in self._left[: a + 1]:
                if i in scaled and column[j].ref:
                    pair = (max(i, j), min(i, j))
                    self._S[pair] = self._entry(i, j) - scaled[i] * column[j]
        for k in places:
            self.kept[k] = self.kept[k] + select(dropped, 0, chosen[k])
        self._steps.append(_Step(chosen, scaled, inverse))

    def _largest(self, places: list[int], weights: Mapping[int, float]) -> dict[int, Atom]:
        """The unit vector of the largest pivot among the rows that are not taken yet."""
        sizes = [
            select(self.kept[k] > 0.5, -1, abs(self._entry(k, k)) * weights[k]) for k in places
        ]
        better, best = [self._one], sizes[0]
        for size in sizes[1:]:
            better.append(size > best)
            best = maximum(best, size)
        found: dict[int, Atom] = {}
        later = self._zero
        for k, flag in zip(reversed(places), reversed(better), strict=True):
            found[k] = select(later > 0.5, 0, flag)
            later = maximum(later, flag)
        return found

    def _picked(self, chosen: Mapping[int, Atom], values: Mapping[int, Atom]) -> Atom:
        total = self._zero
        for k, value in values.items():
            if value.ref:
                # not a product: what is not chosen may be infinite
                total = total + select(chosen[k] > 0.5, value, 0)
        return total

    def solve(self, b: dict[int, Atom]) -> dict[int, Atom]:
        """The solution of S x = b, 0 for rows that are not taken."""
        rest, heads = dict(b), []
        for step in self._steps:
            head = self._picked(step.chosen, {k: rest[k] for k in step.chosen})
            heads.append(head)
            for i, entry in step.column.items():
                rest[i] = rest[i] - entry * head
        x = dict.fromkeys(b, self._zero)
        for step, head in zip(reversed(self._steps), reversed(heads), strict=True):
            value = head * step.inverse
            for i, entry in step.column.items():
                if x[i].ref:
                    value = value - entry * x[i]
            for k, flag in step.chosen.items():
                x[k] = select(flag > 0.5, value, x[k])
        return x
