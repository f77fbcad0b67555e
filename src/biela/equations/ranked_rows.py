"""Constraints of which so many count: the best of them, chosen anew in every position.

In an overconstrained mechanism some rows of Φ_v depend on others, and often only *on* the
constraints: of the five rows that close a Bennett linkage two count wherever it is assembled, and
three or four at the stages of a Runge–Kutta step, which lie O(h²) beside.  A threshold on pivots
then keeps a row that is noise, and accelerations explode or freeze.  And of dependent rows, those
that come first may nearly depend on each other where others would do well.

So the rank is told, and the elimination takes that many pivots, each the largest that is left in
proportion to the size of its row (`biela.atoms.ranked_elimination`), which is little work for the
handful of rows that close a loop.  The rows that are not taken get no force.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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


def weights(places: Sequence[int], sizes: Sequence[float]) -> dict[int, float]:
    """By what the pivots of rows are multiplied, for the largest of them to be found.

    Powers of four, so that the choice is the same for models that differ a little or in scale.
    """
    most = max(sizes, default=0.0)
    return {
        k: 4.0 ** -round(math.log(size / most, 4)) if size > 0 else 1.0
        for k, size in zip(places, sizes, strict=True)
    }
