"""Finds which constraint rows are independent where the pivots of an elimination cannot tell.

An elimination in a fixed order sees the rows through Φ M⁻¹ Φᵀ, whose condition number is the square
of that of Φ. Behind rows that are nearly dependent, the rounding of a redundant row's pivot may
exceed any limit for dropping it. Where pivots are small, `examine` therefore looks at the rows:

1. The kept rows are independent if no combination of them vanishes. Inverse iteration with the
   factors finds the combination z that comes nearest to it; |Φᵀ z| / |z| estimates the smallest
   singular value σ without squaring it (Higham 2002, Accuracy and Stability of Numerical
   Algorithms, §15).
2. The dropped rows are redundant if they are combinations of the kept ones up to rounding. One
   random combination of them is tested.
3. If either test fails, all rows with small pivots are put off to a *last front*. The other rows
   are well conditioned. What they leave of each row put off is a vector, and a pivoted QR
   factorisation of these vectors (Golub & Van Loan 2013, Matrix Computations, §5.4) tells how many
   of them are independent, and which to keep.

Lengths are measured in coordinates of unit inertia and every row has length 1, so that units do not
matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biela.solvers.sparse.pattern import SymmetricPattern

__all__ = ["SURE", "Constraints", "Judgement", "examine"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
#: Solves with the last factors: the right-hand side, and whether the solution is to be refined.
Solve = Callable[[Reals, bool], Reals]
#: Factors other values with another drop tolerance, and returns the ratios of the pivots.
Eliminate = Callable[[Reals, float], Reals]

#: The rank is certain if kept and dropped rows differ by at least this factor.
SURE = 1e3
#: Rows whose pivot is below this part of what was accumulated in it are examined.
SMALL = 1e-4
#: Pivots below this part are put off to the last front. If the rest is still ill conditioned, the
#: next part is tried; the last one puts off all rows.
_PUT_OFF = (SMALL, 1e-2, np.inf)
#: A remainder up to this part of a row of length 1 is rounding.
_ROUNDING = 1e-14
#: A remainder up to this size shows that the dropped rows depend on the kept ones.
_CLEAR = 1e-11
#: A row nearer than this to the span of others has a pivot below rounding and cannot be kept.
_LOST = 4e-8
#: If the smallest singular value is below this, kept rows are exchanged for better dropped ones.
_FIRM = 1e-4
#: An exchange must improve the weakest direction by this factor.
_HEAVIER = 10.0
_ITERATIONS = 3
_ROUNDS = 3
#: At most this many rows are restored one by one.
_RESTORED = 32
#: The last front has at most this many numbers and takes at most this many operations.
_NUMBERS, _OPERATIONS = 2e7, 5e9


@dataclass(frozen=True, eq=False)
class Judgement:
    """How certain the rank is.

    Attributes:
        gap: Distance of the kept rows from dependence, divided by that of the dropped rows, or by
            rounding if none was dropped. 0 if the examination would have taken too long.
        doubtful: Rows that could equally well be on the other side.
    """

    gap: float
    doubtful: Integers


_NONE: Integers = np.zeros(0, dtype=np.int64)


def _sums(places: Integers, values: Reals, size: int) -> Reals:
    return np.asarray(np.bincount(places, values, size), dtype=np.float64)


class Constraints:
    """The constraint rows Φ of a saddle-point matrix, scaled to length 1 for unit inertia.

    Args:
        pattern: Pattern of the whole matrix.
        late: Which rows of the matrix are constraints.
        excluded: Constraints that are not examined because they are eliminated with an unknown.

    Attributes:
        late: Which rows of the matrix are constraints.
        eligible: Which of them may be redundant: those without a diagonal of their own.
        length: Length of each row in coordinates of unit inertia.
        random: Numbers between -1 and 1, always the same.
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
        self.random: Reals = np.random.default_rng(0).uniform(-1.0, 1.0, n)

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
        """The entries with some rows set to zero, so that their pivots vanish."""
        i, j = self._all_rows
        return np.where(rows[i] | rows[j], 0.0, A)

    def combined(self, z: Reals, rows: Booleans) -> Reals:
        """The combination Φᵀ z of some rows, scaled."""
        part = np.where(rows, z, 0.0)
        return _sums(self._column, self._unit * part[self._row], self.size)

    def along(self, u: Reals) -> Reals:
        """The component of each scaled row along a direction."""
        return _sums(self._row, self._unit * u[self._column], self.size)

    def sigma(self, z: Reals) -> float:
        """The length of the combination Φᵀ z, with the part that diagonals of the rows add."""
        force = self.combined(z, self.late)
        return float(np.sqrt(force @ force + self._own @ z**2))

    def force(self, z: Reals, rows: Booleans) -> Reals:
        """The combination Φᵀ z of some rows as a right-hand side of the matrix, not scaled."""
        part = np.where(rows, z / self.length, 0.0)
        return _sums(self._column, self._values * part[self._row], self.size)

    def left(self, z: Reals, rows: Booleans, kept: Booleans, solve: Solve, refined: bool) -> Reals:
        """What ``kept`` rows leave of the combination z of ``rows``, scaled.

        The solution of M v + Φᵀ c = f, Φ v = 0 has the coefficients c of the nearest combination.
        """
        c = solve(self.force(z, rows), refined) * self.length
        found: Reals = self.combined(z, rows) - self.combined(c, kept)
        return found


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
    """Examine the rows with small pivots, and leave the factors of the independent ones.

    Args:
        constraints: The rows; they take their values here.
        A: Values of the entries.
        ratios: Each pivot as a part of what was accumulated in it.
        dropped: Rows that the elimination has dropped, all of them late.
        tolerance: Square of the distance from the span of others below which a row depends on them.
        work: Number of operations of one solution.
        eliminate: Factors the matrix with other values. It is called only if other rows are to be
            dropped, and the last call leaves the factors to solve with.
        solve: Solves with the last factors; the unknowns of dropped rows are 0.
    """
    constraints.take(A)
    limit = float(np.sqrt(tolerance))
    small = constraints.eligible & (dropped | ~(ratios >= SMALL))
    gone = small & dropped
    sigma, rest = float(np.sqrt(SMALL)), 0.0
    if (small & ~dropped).any():
        gone, sigma = _exchanged(constraints, A, gone, 1e3 * limit, eliminate, solve)
    if gone.any() and sigma > _LOST:
        gone, sigma, rest = _restored(constraints, A, gone, sigma, limit, eliminate, solve)
    gap = sigma / max(rest, _ROUNDING)
    if sigma > 2 * limit and rest <= _CLEAR:
        return Judgement(gap, _NONE)
    for part in _PUT_OFF:
        small = constraints.eligible & (dropped | ~(ratios >= part))
        count = int(small.sum())
        operations = count * work + 4 * count**2 * constraints.size
        if count * constraints.size > _NUMBERS or operations > _OPERATIONS:
            break
        found = _last_front(constraints, A, small, part, limit, eliminate, solve)
        if found is not None:
            return found
    if sigma > _LOST and rest <= _CLEAR:
        # the dropped rows are redundant; the others may be too
        eliminate(constraints.without(A, gone), 0.0)
        return Judgement(gap, np.flatnonzero(small & ~gone))
    eliminate(constraints.without(A, dropped), 0.0)
    return Judgement(0.0, np.flatnonzero(small))


def _last_front(
    constraints: Constraints,
    A: Reals,
    small: Booleans,
    part: float,
    limit: float,
    eliminate: Eliminate,
    solve: Solve,
) -> Judgement | None:
    """Judge rows by what the rows with larger pivots leave of them.

    Returns None if that fails: the rows with larger pivots are nearly dependent themselves, or the
    rows that are kept in the end turn out to be dependent.
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
    keep, found = _cut(order, lengths, limit)
    gone = np.zeros(constraints.size, dtype=np.bool_)
    gone[order[keep:]] = True
    ratios = eliminate(constraints.without(A, gone), 0.0)
    if (ratios[constraints.eligible & ~gone] == 0.0).any():
        return None
    _, sigma = _exchanged(constraints, A, gone, np.inf, eliminate, solve)
    return found if sigma > 0.1 * _LOST else None


def _smallest(
    constraints: Constraints, kept: Booleans, enough: float, solve: Solve
) -> tuple[float, Reals]:
    """Estimate the smallest singular value of the kept rows; return it and their combination.

    Estimates fall from one iteration to the next, the first by m^(1/4) at most as a rule (m rows).
    A first estimate above ``enough`` is not improved, nor one that hardly falls.
    """
    z = np.where(kept, constraints.random, 0.0)
    found, best = np.inf, z
    for _ in range(_ITERATIONS):
        # a solution that is not refined will do: its error lies in the direction that is sought
        z = np.where(kept, solve(z * constraints.length, False) * constraints.length, 0.0)
        size = float(np.linalg.norm(z))
        if not (np.isfinite(size) and size > 0.0):
            return 0.0, best
        z /= size
        sigma, before = constraints.sigma(z), found
        if sigma < found:
            found, best = sigma, z
        if sigma > enough or sigma > 0.5 * before:
            break
    return found, best


def _restored(
    constraints: Constraints,
    A: Reals,
    gone: Booleans,
    sigma: float,
    limit: float,
    eliminate: Eliminate,
    solve: Solve,
) -> tuple[Booleans, float, float]:
    """Keep dropped rows again as long as they are clearly not combinations of the kept ones.

    Returns the rows that stay dropped, the smallest singular value of the others, and the largest
    component of what these leave of a random combination of the dropped rows.
    """
    rest = np.inf
    for _ in range(_RESTORED):
        kept = constraints.late & ~gone
        left = _remainder(constraints, gone, kept, solve)
        rest = float(np.abs(left).max(initial=0.0)) if np.isfinite(left).all() else np.inf
        if rest <= _CLEAR or not np.isfinite(rest):
            break
        # the row that holds most of the direction which the kept ones leave free
        along = np.where(gone, np.abs(constraints.along(left)), 0.0) / float(np.linalg.norm(left))
        if along.max() < 10 * limit:
            break
        gone = gone.copy()
        gone[int(np.argmax(along))] = False
        eliminate(constraints.without(A, gone), 0.0)
        gone, sigma = _exchanged(constraints, A, gone, 1e3 * limit, eliminate, solve)
        if not sigma > _LOST:
            break
    return gone, sigma, rest


def _remainder(constraints: Constraints, rows: Booleans, kept: Booleans, solve: Solve) -> Reals:
    """What kept rows leave of a random combination of other rows, refined if it is not clear."""
    z = np.where(rows, 1.5 + 0.5 * constraints.random, 0.0)
    left = constraints.left(z, rows, kept, solve, False)
    if np.abs(left).max(initial=0.0) <= _CLEAR:
        return left
    return constraints.left(z, rows, kept, solve, True)


def _pivoted(
    constraints: Constraints, rows: Booleans, kept: Booleans, solve: Solve
) -> tuple[Integers, Reals]:
    """Order rows by their distance from the span of the kept rows and those before them.

    Returns the rows and these distances, which are nan if a solution is not finite.
    """
    numbers = np.flatnonzero(rows)
    count, unknowns = len(numbers), ~constraints.late
    R = np.empty((count, int(unknowns.sum())))
    alone = np.zeros(constraints.size, dtype=np.bool_)
    for k, row in enumerate(numbers.tolist()):
        alone[row] = True
        R[k] = constraints.left(alone.astype(float), alone, kept, solve, True)[unknowns]
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
    constraints: Constraints,
    A: Reals,
    gone: Booleans,
    enough: float,
    eliminate: Eliminate,
    solve: Solve,
) -> tuple[Booleans, float]:
    """Exchange kept rows for dropped ones as long as the kept ones are ill conditioned.

    The combination z of kept rows that nearly vanishes tells which row to drop: the one with the
    largest coefficient. Φᵀ z is the direction that the kept rows hardly constrain; the dropped row
    with the largest part along it is kept instead (Chan 1987, "Rank revealing QR
    factorizations", Linear Algebra Appl. 88/89; Golub & Van Loan 2013, §5.5.7).

    The factors are those without the rows ``gone`` before, and without the rows returned
    afterwards. The smallest singular value of the kept rows is returned too; see `_smallest` for
    ``enough``.
    """
    gone = gone.copy()
    best, found, vain = -1.0, gone.copy(), 0
    for _ in range(int(gone.sum()) + 8):
        kept = constraints.late & ~gone
        sigma, z = _smallest(constraints, kept, enough, solve)
        vain = 0 if sigma > best else vain + 1
        if sigma > best:
            best, found = sigma, gone.copy()
        if sigma >= _FIRM or sigma <= 0.1 * best or vain == _ROUNDS or not gone.any():
            break
        along = np.abs(constraints.along(constraints.combined(z, constraints.late) / sigma))
        taken = int(np.argmax(np.where(gone, along, -1.0)))
        given = int(np.argmax(np.where(constraints.eligible & kept, np.abs(z), -1.0)))
        if along[taken] < _HEAVIER * sigma:
            break
        gone[taken], gone[given] = False, True
        ratios = eliminate(constraints.without(A, gone), 0.0)
        if (ratios[constraints.eligible & ~gone] == 0.0).any():
            break  # one of them depends on others exactly
    if (gone != found).any():
        eliminate(constraints.without(A, found), 0.0)
    return found, best


def _cut(order: Integers, lengths: Reals, limit: float) -> tuple[int, Judgement]:
    """Decide how many rows to keep, in the order of their distance from those before.

    The cut is made in the widest gap of distances whose lower side is within the limit and whose
    upper side is large enough to solve with. If another gap is nearly as wide, the rows between
    the two are doubtful; if the gap is narrower than `SURE`, so are the rows around it.
    """
    clipped = np.maximum(lengths, _ROUNDING)
    above = np.concatenate([[1.0], clipped[:-1]])
    gaps = np.where(clipped <= limit, above / clipped, 0.0)
    usable = np.where(above >= _LOST, gaps, 0.0)
    if not usable.any():
        return len(order), Judgement(float(clipped[-1]) / _ROUNDING, _NONE)
    keep = int(np.argmax(usable))
    gap = float(gaps[keep])
    others = np.flatnonzero(gaps >= max(SURE, gap / SURE))
    doubtful = np.zeros(len(order), dtype=np.bool_)
    doubtful[min([keep, *others]) : max([keep, *others])] = True
    if gap < SURE:
        cut = np.sqrt(above[keep] * clipped[keep])
        doubtful |= (clipped < SURE * cut) & (clipped > cut / SURE)
    return keep, Judgement(gap, np.sort(order[doubtful]))
