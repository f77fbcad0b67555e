"""What is asked of numbers before and after an elimination in a fixed order.

Without exchanges of rows a pivot may vanish though the matrix is regular, [[0, 1], [1, 0]] being
the smallest example. A solution found then is judged by what it leaves of the right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import DomainError, ShapeError, SingularityError
from biela.solvers.sparse.pattern import SymmetricPattern
from biela.solvers.sparse.scalar_ldlt import sparse_equilibrate

__all__ = [
    "LARGEST_ERROR",
    "checked_vector",
    "contradicted",
    "named",
    "redundant",
    "refuse_inaccurate",
    "refuse_vanished",
    "require_finite",
]

#: Solutions of a larger backward error are refused.
LARGEST_ERROR = 1e-8
#: Parts of the whole right-hand side up to here are rounding, in whatever row.
ROUNDING = 1e-13
_NAMED = 8

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


def checked_vector(what: str, name: str, values: ArrayLike, size: int) -> Reals:
    """The values as a vector that compiled code can take.

    Raises:
        ShapeError: They are not a vector of this size.
    """
    array: Reals = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(f"{what}: '{name}' has shape {array.shape} where ({size},) is needed")
    return array if array.flags.writeable else np.array(array)


def require_finite(what: str, values: Reals, rows: Integers, columns: Integers) -> None:
    """See that each value of an entry is a finite number.

    Raises:
        DomainError: one is not; the first is named by its place.
    """
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        raise DomainError(
            f"{what}: entry {k}, at ({rows[k]}, {columns[k]}), is {values[k]}; a matrix to factor "
            "has finite numbers only: look at the position it was evaluated in"
        )


def contradicted(pattern: SymmetricPattern, A: Reals, b: Reals, x: Reals, r: Reals) -> Integers:
    """Rows that x does not solve, from its residual r = b - A x.

    Those with |r_i| above 1e-8 (|A| |x| + |b|)_i, which does not depend on units (Oettli & Prager
    1964), where it is more than rounding of the whole, equilibrated so that neither does this. A
    nan is no contradiction; it is seen.
    """
    i, j, n = pattern.rows, pattern.columns, pattern.size
    off = i != j
    scale = np.ones(n)
    sparse_equilibrate.compiled(n, len(i), i, j, A, scale, np.zeros(n))
    b, x, r = b * scale, x / scale, r * scale
    size, entry = np.abs(x), np.abs(A) * scale[i] * scale[j]
    with np.errstate(over="ignore", invalid="ignore"):
        magnitude = np.abs(b) + np.bincount(i, entry * size[j], n)
        magnitude += np.bincount(j[off], (entry * size[i])[off], n)
        whole = entry.max(initial=0.0) * size.max(initial=0.0) + np.abs(b).max(initial=0.0)
    return np.flatnonzero((np.abs(r) > LARGEST_ERROR * magnitude) & (np.abs(r) > ROUNDING * whole))


def redundant(
    pattern: SymmetricPattern,
    A: Reals,
    late: NDArray[np.bool_],
    dropped: Integers,
    solve: Callable[[Reals], Reals],
) -> bool:
    """Whether late rows that were dropped are combinations of other late rows.

    They are, wherever the other unknowns have a positive definite matrix. Otherwise their pivots
    may have cancelled: with M = diag(1, -1) and Φ = [[1, 1], [1, -1]] both are zero and nothing is
    redundant. A vector z in the dropped rows, less the solution of K y = K z in the others, is a
    null vector of K; its multipliers d balance each other, Φᵀ d = 0, if rows are redundant. Pivots
    are dropped below 1e-8 of their sums, so that 1e-4 may be left.
    """
    i, j, n = pattern.rows, pattern.columns, pattern.size
    off = i != j

    def product(A: Reals, x: Reals) -> Reals:
        y = np.zeros(n)
        y += np.bincount(i, A * x[j], n)
        y += np.bincount(j[off], (A * x[i])[off], n)
        return y

    z, scale = np.zeros(n), np.ones(n)
    sparse_equilibrate.compiled(n, len(i), i, j, A, scale, np.zeros(n))
    z[dropped] = scale[dropped] * np.random.default_rng(0).uniform(1.0, 2.0, len(dropped))
    d = np.where(late, z - solve(product(A, z)), 0.0)
    left, sums = scale * product(A, d), scale * product(np.abs(A), np.abs(d))
    return bool(np.abs(left).max() <= 1e-3 * sums.max())


def refuse_vanished(solver: str, vanished: Integers, wrong: Integers, cure: str) -> None:
    """Refuse a solution that leaves rows `wrong`, after pivots have vanished that should not.

    Raises:
        SingularityError: always; it names the rows.
    """
    raise SingularityError(
        f"{solver}: no pivot is left in {named(vanished)}, not redundant, and the solution without "
        f"contradicts {named(wrong)}. Either the matrix is singular, or it cannot be eliminated in "
        f"this order: {cure}"
    )


def refuse_inaccurate(solver: str, error: float, wrong: Integers, cure: str) -> None:
    """Refuse a solution whose backward error stays too large.

    Raises:
        SingularityError: always; it names the rows.
    """
    raise SingularityError(
        f"{solver}: the backward error is {error:.1e} after refinement, and is in {named(wrong)}. "
        f"The matrix cannot be eliminated in this order: {cure}"
    )


def named(rows: Integers) -> str:
    """Rows in words, the first eight of many.

    >>> named(np.array([3, 5]))
    'rows 3, 5'
    """
    shown = ", ".join(map(str, rows[:_NAMED].tolist()))
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"
