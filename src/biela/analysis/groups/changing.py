"""Other independent coordinates, where a group comes to a dead point of those that a motion has.

The rates of all coordinates are linear in those of the independent ones, z': rows R.  At a dead
point of a group it moves while z stands still: some of its rows grow without bound.  To let a
coordinate with the row r take the place of one that has the row b_k among those that are chosen, B,
multiplies the determinant of B by (r B⁻¹)_k: the exchange of a pivot.  Independent coordinates are
the better the larger this determinant is, with metres divided by the size of the mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["exchanges"]

Floats = npt.NDArray[np.float64]

#: A determinant has to grow by this factor for coordinates to change.
_CLEARLY: Final = 1.5


def exchanges(rows: Floats, held: Collection[int] = ()) -> Iterator[list[int]]:
    """Choices of independent coordinates, from the best single exchange on.

    Each goes on to exchange as long as that makes the determinant clearly larger.

    Args:
        rows: Rates of other coordinates by those of the present ones, (candidates, present).
        held: Present coordinates that stay.

    Yields:
        For each present coordinate the number of the candidate that takes its place, or -1.
    """
    f = rows.shape[1]

    def gains(basis: Floats, taken: list[int]) -> Floats:
        found: Floats = np.abs(np.linalg.solve(basis.T, rows.T).T)
        found[:, [k for k in range(f) if k in held or taken[k] >= 0]] = 0.0
        found[[new for new in taken if new >= 0]] = 0.0
        return found

    first = gains(np.eye(f), [-1] * f)
    seen: set[frozenset[int]] = set()
    for flat in np.argsort(-first, axis=None):
        new, old = divmod(int(flat), f)
        if first[new, old] < _CLEARLY:
            return
        basis, taken = np.eye(f), [-1] * f
        while True:
            basis[old], taken[old] = rows[new], new
            further = gains(basis, taken)
            if further.max() < _CLEARLY:
                break
            new, old = divmod(int(np.argmax(further)), f)
        if frozenset(taken) not in seen:
            seen.add(frozenset(taken))
            yield taken
