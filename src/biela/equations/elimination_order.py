"""An order of elimination for constrained motion in which multipliers need not wait for a hub.

In the equations

    [ M    Φ_vᵀ ] [ v' ]   [ Q ]
    [ Φ_v  0    ] [ λ  ] = [ γ ]

a multiplier that comes after all coordinates it acts on has a safe pivot in every position (see
`biela.equations.elimination`).  Where many loops share a body, as the legs of a platform do, that
order is dear: the coordinates of the shared body go first, and couple all multipliers.

After *some* of its coordinates, say those of its own leg, the pivot of a multiplier is minus the
inverse inertia that these alone offer along the constraint.  It is negative wherever the leg can
move its end that way, and then any order is stable enough, for the matrix that is left is
quasidefinite: coordinates positive, multipliers negative (Vanderbei 1995, Symmetric quasidefinite
matrices, SIAM J. Optim. 5).  It vanishes where the leg cannot, at a singular position of the leg
that need not be one of the mechanism.  So such an order is taken only if the pivots are good near
the position that a motion starts from, and if it saves much; a pivot that becomes small on the way
is held at `biela.equations.elimination.LEAST_PIVOT`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Pattern = npt.NDArray[np.bool_]

#: A multiplier may go early where its pivot is at least this part of what all its coordinates give.
SAFE: Final = 0.01
#: It has to save this part of the multiplications, where there are at least so many.
SAVED: Final = 0.25
MANY: Final = 1000
#: Larger systems are not looked at: their elimination is not written out.
LARGEST: Final = 400


def early_order(pattern: Pattern, n: int, samples: Sequence[Floats]) -> tuple[int, ...]:
    """An order in which multipliers go before some of the coordinates they act on.

    Empty where none saves enough, or where constraints are dependent, which only the other order
    can tell.

    Args:
        pattern: Which entries of the matrix are not zero in every position, shape (N, N).
        n: How many rows are coordinates; they come first.
        samples: The matrix at some positions, M definite, each of shape (N, N).
    """
    if not n < len(pattern) <= LARGEST or not samples:
        return ()
    values = np.array(samples, dtype=float)
    if not np.isfinite(values).all():
        return ()
    waiting, work = _minimum_degree(pattern, n, None)
    if work < MANY or (np.linalg.matrix_rank(values[:, n:, :n]) < len(pattern) - n).any():
        return ()
    if not (np.linalg.eigvalsh(values[:, :n, :n])[:, 0] > 0).all():
        return ()
    chosen, less = _minimum_degree(pattern, n, values)
    if chosen == waiting or less > (1 - SAVED) * work:
        return ()
    return tuple(chosen)


def _minimum_degree(pattern: Pattern, n: int, samples: Floats | None) -> tuple[list[int], int]:
    """An order by fewest neighbours, and its multiplications.

    Multipliers wait for all coordinates they act on, or, with samples, until their pivot is safe in
    all of these.
    """
    N = len(pattern)
    neighbours = [set(np.flatnonzero(row).tolist()) - {i} for i, row in enumerate(pattern)]
    waits = [{j for j in neighbours[i] if j < n} if i >= n else set() for i in range(N)]
    left, order, work = set(range(N)), [], 0
    S = None if samples is None else samples.copy()
    enough = np.zeros((0, N)) if S is None else SAFE * _full_pivots(S, n)
    while left:
        allowed = [i for i in left if not waits[i] & left]
        if S is not None:
            pivots = -np.einsum("kii->ki", S)
            safe = set(np.flatnonzero(((pivots > enough) & (enough > 0)).all(axis=0)).tolist())
            # a multiplier whose coordinates are all gone may still depend on others that went
            # early, until the coordinates of those are gone too
            good = [i for i in left if i < n or i in safe]
            allowed = good or allowed
        # of equals a multiplier first: the last leg of a hub then goes like the others
        chosen = min(allowed, key=lambda i: (len(neighbours[i] & left), i < n, i))
        order.append(chosen)
        left.discard(chosen)
        around = neighbours[chosen] & left
        work += len(around) * (len(around) + 3)
        for i in around:
            neighbours[i] |= around - {i}
        if S is not None:
            _eliminate(S, chosen, sorted(around))
    return order, work


def _full_pivots(S: Floats, n: int) -> Floats:
    """The diagonal of Φ_v M⁻¹ Φ_vᵀ in each sample; 0 for coordinates, which are always allowed."""
    found = np.zeros(S.shape[:2])
    J = S[:, n:, :n]
    found[:, n:] = np.einsum("kij,kji->ki", J, np.linalg.solve(S[:, :n, :n], J.transpose(0, 2, 1)))
    return found


def _eliminate(S: Floats, k: int, around: list[int]) -> None:
    """Subtract what a row does to those around it, in all samples."""
    if not around:
        return
    pivot = S[:, k, k]
    # a dependent constraint is dropped, as in the elimination itself
    inverse = np.divide(1.0, pivot, out=np.zeros_like(pivot), where=pivot != 0)
    column = S[:, around, k]
    S[np.ix_(range(len(S)), around, around)] -= (
        column[:, :, None] * column[:, None, :] * inverse[:, None, None]
    )
