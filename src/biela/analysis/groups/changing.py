"""Other independent coordinates, where a group comes to a dead point of those that a motion has.

Of the velocities that a mechanism has, the rates of its coordinates are linear forms: rows R of
z'.  In the metric of the kinetic energy, z'ᵀ M z', the row of a coordinate has the length
√(R M⁻¹ Rᵀ), the highest rate at a unit of energy; divided by it, rows of metres and of radians are
alike.  Independent coordinates are the better the larger the determinant of their rows: at a dead
point of a group it vanishes, since the group moves while they stand still.  Then coordinates of
joints of that group take the place of some that it depends on, as long as that makes the
determinant clearly larger: the ratio is an entry of the inverse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["exchanges"]

Floats = npt.NDArray[np.float64]

#: A determinant has to grow by this factor for coordinates to change.
_CLEARLY: Final = 2.0
#: A row that is shorter, of the longest, is that of a coordinate that stands still.
_STANDS: Final = 1e-9
#: A share of the masses that keeps their matrix regular to rounding.
_ROUNDING: Final = 1e-14


def exchanges(M: Floats, rows: Floats, held: Collection[int]) -> Iterator[list[int]]:
    """Choices of independent coordinates, from the best one on.

    Args:
        M: The matrix of masses of the present coordinates, (f, f).
        rows: Rates of other coordinates by those of the present ones, (candidates, f).
        held: Present coordinates that stay.

    Yields:
        For each present coordinate the number of the candidate that takes its place, or -1.
    """
    f = len(M)
    L = np.linalg.cholesky(M + _ROUNDING * np.diag(np.diag(M)))

    def unit(some: Floats) -> Floats:
        metric = np.linalg.solve(L, some.T).T
        length = np.linalg.norm(metric, axis=1, keepdims=True)
        still = length <= _STANDS * length.max(initial=0.0)
        return np.where(still, 0.0, metric / np.where(still, 1.0, length))

    present, others = unit(np.eye(f)), unit(rows)
    free = [k for k in range(f) if k not in held]

    def gains(basis: Floats, taken: list[int]) -> Floats:
        found: Floats = np.abs(others @ np.linalg.pinv(basis, rcond=_ROUNDING))
        for k in range(f):
            if k not in free or taken[k] >= 0:
                found[:, k] = 0.0
        found[[k for k in taken if k >= 0]] = 0.0
        return found

    first = gains(present, [-1] * f)
    seen: set[frozenset[int]] = set()
    for flat in np.argsort(-first, axis=None):
        new, old = divmod(int(flat), f)
        if first[new, old] < _CLEARLY:
            return
        basis, taken = present.copy(), [-1] * f
        while True:
            basis[old], taken[old] = others[new], new
            further = gains(basis, taken)
            if further.max() < _CLEARLY:
                break
            new, old = divmod(int(np.argmax(further)), f)
        if frozenset(taken) not in seen:
            seen.add(frozenset(taken))
            yield taken
