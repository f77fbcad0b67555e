"""Which constraint rows are independent, where the pivots of an elimination do not tell.

An elimination in a fixed order sees rows through Φ M⁻¹ Φᵀ, whose condition is the square of that of
Φ: behind rows that are nearly dependent the rounding of a pivot may exceed any limit for dropping,
and a redundant row is kept. So where pivots are small, the rows are looked at themselves:

1. Rows kept are independent if no combination of them vanishes. Inverse iteration with the factors
   finds the combination z that is nearest to it; |Φᵀ z| / |z| estimates the smallest singular value
   σ without squaring it (Higham 2002, Accuracy and Stability of Numerical Algorithms, §15).
2. Rows dropped are redundant if what the kept ones leave of them is rounding.
3. Otherwise all rows with small pivots are put off to a *last front*. The others are well
   conditioned; what they leave of each row is a vector, found by refined solutions, and a pivoted
   QR factorisation of these vectors (Golub & Van Loan 2013, Matrix Computations, §5.4) tells how
   many are independent, and which are the best to keep.

Lengths are taken in coordinates of unit inertia, and every row has length 1: units do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biela.solvers.sparse.pattern import SymmetricPattern

__all__ = ["SURE", "Constraints", "Judgement", "examine"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

#: Kept and dropped rows that are further apart than this factor tell the rank.
SURE = 1e3
#: Rows whose pivots are below this part of their sums are looked at.
SMALL = 1e-4
#: Those below this part are put off to the last front; then more, if that was not enough; then all.
_PUT_OFF = (SMALL, 1e-2, np.inf)
#: What is left of a row of length 1 beside others is rounding, up to here.
_ROUNDING = 1e-14
#: The same behind pivots of ordinary size, where it needs no closer look.
_CLEAR = 1e-11
#: What lies nearer to the span of others has a pivot below rounding: it cannot be solved with.
_LOST = 4e-8
#: Rows kept of a smaller singular value are looked at together, and exchanged for better ones.
_FIRM = 1e-4
#: A row is exchanged for one that holds so many times more of the direction that is hardly held.
_HEAVIER = 10.0
_ITERATIONS = 3
_ROUNDS = 3
#: So many numbers may the last front have, and so many operations may the solutions for it take.
_NUMBERS, _OPERATIONS = 2e7, 5e9


@dataclass(frozen=True, eq=False)
class Judgement:
    """What is known of the rank.

    Attributes:
        dropped: Redundant rows, where others than those of the elimination were found; else None.
        gap: How many times further from depending on others the rows kept are than those dropped;
            or than rounding, where none is. 0 where it was too much work to find out.
        doubtful: Rows that might as well be on the other side.
    """

    dropped: Integers | None
    gap: float
    doubtful: Integers


def _sums(places: Integers, values: Reals, size: int) -> Reals:
    return np.asarray(np.bincount(places, values, size), dtype=np.float64)


class Constraints:
    """The rows Φ of a saddle-point matrix, scaled.

    Args:
        pattern: of the whole matrix.
        late: the rows that are constraints.
        excluded: rows that are not looked at, as they are eliminated together with an unknown.

    Attributes:
        late: the rows.
        eligible: those that may be redundant: without a diagonal of their own.
        length: of each row, in coordinates of unit inertia.
    """

    def __init__(self, pattern: SymmetricPattern, late: Booleans, excluded: Integers) -> None:
        n, i, j = pattern.size, pattern.rows, pattern.columns
        self.size, self.late = n, late
        self._all_rows = i, j
        self._diagonal = np.flatnonzero(i == j)
        self._among = np.flatnonzero(late[i] & late[j])
        self._entries = np.flatnonzero(late[i] != late[j])
        row, column = (
            np.where(late[i], i, j)[self._entries],
            np.where(late[i], j, i)[self._entries],
        )
        places, self._place = np.unique(row * n + column, return_inverse=True)
        self._added = len(places) < len(row)
        self._row, self._column = np.divmod(places, n) if self._added else (row, column)
        self._plain = late.copy()
        self._plain[excluded] = False
        self.eligible: Booleans = self._plain
        self.length: Reals = np.ones(n)
        self._values = self._unit = np.zeros(0)
        self._own = np.zeros(n)

    def take(self, A: Reals) -> None:
        """Take the values of the entries."""
        i, j = self._all_rows
        among = self._among[A[self._among] != 0.0]
        self.eligible = self._plain
        if len(among):
            self.eligible = self._plain.copy()
            self.eligible[i[among]] = self.eligible[j[among]] = False
        values = A[self._entries]
        if self._added:
            values = _sums(self._place, values, len(self._row))
        # coordinates of unit inertia, then rows of length 1
        inertia = np.abs(_sums(i[self._diagonal], A[self._diagonal], self.size))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            scale = 1.0 / np.sqrt(inertia)
            without = np.flatnonzero(~(self.late | np.isfinite(scale)))
            scale[without] = 0.0
            unit = values * scale[self._column]
            if len(without):
                # unknowns without inertia: so that none is longer than its row without it
                share, length = np.zeros(self.size), self._lengths(unit)
                np.maximum.at(share, self._column, np.abs(values) / length[self._row])
                scale[without] = np.where(share[without] > 0.0, 1.0 / share[without], 0.0)
                unit = values * scale[self._column]
            self.length = self._lengths(unit)
            self._unit = unit / self.length[self._row]
            self._own = np.where(self.late, inertia, 0.0) / self.length**2
        self._values = values

    def _lengths(self, values: Reals) -> Reals:
        length: Reals = np.sqrt(_sums(self._row, values**2, self.size))
        if not np.isfinite(length).all():  # extreme units
            length = np.zeros(self.size)
            np.maximum.at(length, self._row, np.abs(values))
        length[length == 0.0] = 1.0
        return length

    def without(self, A: Reals, rows: Booleans) -> Reals:
        """The entries with those of some rows set to zero: their pivots vanish."""
        i, j = self._all_rows
        return np.where(rows[i] | rows[j], 0.0, A)

    def combined(self, z: Reals, rows: Booleans) -> Reals:
        """The combination Φᵀ z of some rows, scaled."""
        part = np.where(rows, z, 0.0)
        return _sums(self._column, self._unit * part[self._row], self.size)

    def along(self, u: Reals) -> Reals:
        """The part of each row along a direction, scaled."""
        return _sums(self._row, self._unit * u[self._column], self.size)

    def sigma(self, z: Reals) -> float:
        """The length of a combination of rows, with what diagonals of theirs add to it."""
        force = self.combined(z, self.late)
        return float(np.sqrt(force @ force + self._own @ z**2))

    def force(self, z: Reals, rows: Booleans) -> Reals:
        """The same as a right-hand side of the matrix, not scaled."""
        part = np.where(rows, z / self.length, 0.0)
        return _sums(self._column, self._values * part[self._row], self.size)

    def left(self, z: Reals, rows: Booleans, kept: Booleans, solve: Solve) -> Reals:
        """What ``kept`` rows leave of the combination z of ``rows``, scaled.

        The solution of M v + Φᵀ c = f, Φ v = 0 has the coefficients c of the nearest combination.
        """
        c = solve(self.force(z, rows)) * self.length
        found: Reals = self.combined(z, rows) - self.combined(c, kept)
        return found


Solve = Callable[[Reals], Reals]
Eliminate = Callable[[Reals, float], Reals]


def examine(
    constraints: Constraints,
    A: Reals,
    ratios: Reals,
    dropped: Booleans,
    tolerance: float,
    work: float,
    eliminate: Eliminate,
    solve: Solve,
) -> Judgement:
    """Look at the rows of small pivots; the factors are those of the rows that were not dropped.

    Args:
        constraints: the rows.
        A: values of the entries.
        ratios: of each pivot to what was accumulated in it.
        dropped: rows that the elimination has dropped, all of them late.
        tolerance: square of the distance from the span of others up to which a row depends on them.
        work: operations of a solution.
        eliminate: factors the matrix with other values and another limit for dropping; returns the
            ratios of the pivots.
        solve: solves with the last factors, refined; unknowns of dropped rows are 0.
    """
    limit = float(np.sqrt(tolerance))
    none = np.zeros(0, dtype=np.int64)
    kept = constraints.late & ~dropped
    small = constraints.eligible & (dropped | ~(ratios >= SMALL))
    gone = small & dropped
    sigma, rest = float(np.sqrt(SMALL)), _ROUNDING
    if (small & kept).any():
        sigma, _ = _smallest(constraints, kept, solve)
    if gone.any():
        rest = _remainder(constraints, gone, kept, solve)
    if sigma > (_FIRM if gone.any() else 10 * limit) and rest <= _CLEAR:
        return Judgement(None, sigma / max(rest, _ROUNDING), none)
    for part in _PUT_OFF:
        small = constraints.eligible & (dropped | ~(ratios >= part))
        count = int(small.sum())
        if count * constraints.size > _NUMBERS or count * work > _OPERATIONS:
            break
        found = _last_front(constraints, A, small, part, limit, eliminate, solve)
        if found is not None:
            return found
    return Judgement(np.flatnonzero(dropped), 0.0, np.flatnonzero(small))


def _last_front(
    constraints: Constraints,
    A: Reals,
    small: Booleans,
    part: float,
    limit: float,
    eliminate: Eliminate,
    solve: Solve,
) -> Judgement | None:
    """Judge rows beside those whose pivots are larger; nothing, if these are nearly dependent too.

    It has failed, too, where rows that should be independent are not.
    """
    for _ in range(_ROUNDS):
        ratios = eliminate(constraints.without(A, small), 0.0)
        more = constraints.eligible & ~small & ~(ratios >= part)
        if not more.any():
            break
        small = small | more
    order, lengths = _pivoted(constraints, small, constraints.late & ~small, solve)
    if not np.isfinite(lengths).all():
        return None
    found = _cut(order, lengths, limit)
    assert found.dropped is not None
    dropped, sigma = _exchanged(constraints, A, found.dropped, eliminate, solve)
    return replace(found, dropped=dropped) if sigma > 0.1 * _LOST else None


def _smallest(constraints: Constraints, kept: Booleans, solve: Solve) -> tuple[float, Reals]:
    """An estimate of the smallest singular value of the rows kept, and their combination."""
    z = np.where(kept, np.random.default_rng(0).uniform(-1.0, 1.0, constraints.size), 0.0)
    found, best = np.inf, z
    for _ in range(_ITERATIONS):
        z = np.where(kept, solve(z * constraints.length) * constraints.length, 0.0)
        size = float(np.linalg.norm(z))
        if not (np.isfinite(size) and size > 0.0):
            return 0.0, best
        z /= size
        sigma = constraints.sigma(z)
        if sigma < found:
            found, best = sigma, z
    return found, best


def _remainder(constraints: Constraints, rows: Booleans, kept: Booleans, solve: Solve) -> float:
    """What is left of a random combination of rows beside those kept, at most in a coordinate."""
    z = np.where(rows, np.random.default_rng(1).uniform(1.0, 2.0, constraints.size), 0.0)
    left = constraints.left(z, rows, kept, solve)
    return float(np.abs(left).max(initial=0.0)) if np.isfinite(left).all() else np.inf


def _pivoted(
    constraints: Constraints, rows: Booleans, kept: Booleans, solve: Solve
) -> tuple[Integers, Reals]:
    """Order rows by what is left of each beside the kept ones and those before it; and how much."""
    numbers = np.flatnonzero(rows)
    count = len(numbers)
    R = np.empty((count, int((~constraints.late).sum())))
    alone = np.zeros(constraints.size, dtype=np.bool_)
    for k, row in enumerate(numbers.tolist()):
        alone[row] = True
        R[k] = constraints.left(alone.astype(float), alone, kept, solve)[~constraints.late]
        alone[row] = False
    order, lengths = np.arange(count), np.zeros(count)
    if not np.isfinite(R).all():
        return numbers, np.full(count, np.nan)
    for k in range(count):
        squares = np.einsum("ij,ij->i", R[k:], R[k:])
        best = k + int(np.argmax(squares))
        lengths[k] = np.sqrt(squares[best - k])
        R[[k, best]] = R[[best, k]]
        order[[k, best]] = order[[best, k]]
        if lengths[k] <= 0.1 * _ROUNDING:
            break
        q = R[k] / lengths[k]
        R[k + 1 :] -= np.outer(R[k + 1 :] @ q, q)
    return numbers[order], lengths


def _exchanged(
    constraints: Constraints, A: Reals, dropped: Integers, eliminate: Eliminate, solve: Solve
) -> tuple[Integers, float]:
    """Keep rows that were dropped instead of others, as long as those kept are ill conditioned.

    The combination z of rows kept that nearly vanishes tells which row to give up, the largest in
    it; what is left of it, Φᵀ z, is the direction that they hardly hold, and that of the dropped
    rows which has the largest part along it takes the place. Returns the rows that stay dropped,
    and the smallest singular value of the others (Chan 1987, "Rank revealing QR
    factorizations", Linear Algebra Appl. 88/89; Golub & Van Loan 2013, §5.5.7).
    """
    gone = np.zeros(constraints.size, dtype=np.bool_)
    gone[dropped] = True
    best, found = -1.0, gone
    for _ in range(len(dropped) + 8):
        ratios = eliminate(constraints.without(A, gone), 0.0)
        kept = constraints.late & ~gone
        if (ratios[constraints.eligible & kept] == 0.0).any():
            break  # one of them depends on others exactly
        sigma, z = _smallest(constraints, kept, solve)
        if sigma > best:
            best, found = sigma, gone.copy()
        if not (0.0 < sigma < _FIRM and gone.any()):
            break
        along = np.abs(constraints.along(constraints.combined(z, constraints.late) / sigma))
        taken = int(np.argmax(np.where(gone, along, -1.0)))
        given = int(np.argmax(np.where(constraints.eligible & kept, np.abs(z), -1.0)))
        if along[taken] < _HEAVIER * sigma:
            break
        gone[taken], gone[given] = False, True
    return np.flatnonzero(found), best


def _cut(order: Integers, lengths: Reals, limit: float) -> Judgement:
    """Drop what is below the widest gap whose lower side is within the limit.

    Its upper side is above what an elimination can solve with. Rows between this gap and another
    one that is nearly as wide are in doubt; so are those around it if it is not wide.
    """
    clipped = np.maximum(lengths, _ROUNDING)
    above = np.concatenate([[1.0], clipped[:-1]])
    gaps = np.where(clipped <= limit, above / clipped, 0.0)
    usable = np.where(above >= _LOST, gaps, 0.0)
    keep = int(np.argmax(usable)) if usable.any() else len(order)
    if keep == len(order):
        return Judgement(order[:0], float(clipped[-1]) / _ROUNDING, order[:0])
    gap = float(gaps[keep])
    others = np.flatnonzero(gaps >= max(SURE, gap / SURE))
    doubtful = np.zeros(len(order), dtype=np.bool_)
    doubtful[min(keep, *others, keep) : max(keep, *others, keep)] = True
    if gap < SURE:
        cut = np.sqrt(above[keep] * clipped[keep])
        doubtful |= (clipped < SURE * cut) & (clipped > cut / SURE)
    return Judgement(np.sort(order[keep:]), gap, np.sort(order[doubtful]))
