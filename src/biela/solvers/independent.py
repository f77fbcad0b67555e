"""Which coordinates to take as independent: elimination with full pivoting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.code.routines import Int, IntVector, Matrix, Real, routine
from biela.errors import ShapeError

__all__ = ["CoordinatePartition", "choose_independent", "full_pivoting"]

#: Pivots below this part of the largest entry their row had are rounding.
PIVOT_TOLERANCE = 1e-10
#: A preferred coordinate becomes dependent only where all others give pivots this much smaller.
PREFERENCE = 1e-3


@routine(A="r, n", preferred="n", rows="r", columns="n")
def full_pivoting(
    r: Int,
    n: Int,
    A: Matrix,
    tolerance: Real,
    preference: Real,
    preferred: IntVector,
    rows: IntVector,
    columns: IntVector,
) -> Int:
    """Eliminate A in place by Gauss-Jordan with full pivoting; return its rank k.

    Step k takes the largest entry of what is left, in parts of the largest entry that its row had
    at the start. A column with `preferred` not 0 is taken only if no other column has an entry
    above `preference` times that. Elimination ends when all is within `tolerance`.

    The first k of `rows` and `columns` are those of the pivots: independent rows, dependent
    coordinates q_d. The other columns q_i are independent, and the first k rows of A, in the places
    of q_i, become the matrix with δq_d = -A δq_i.

    García de Jalón & Bayo 1994, Kinematic and Dynamic Simulation of Multibody Systems, §3.5.
    """
    for j in range(n):
        columns[j] = j
    for i in range(r):
        rows[i] = i
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
        if largest > 0.0:
            for j in range(n):
                A[i, j] /= largest

    rank = 0
    for k in range(min(r, n)):
        best = 0.0
        row = k
        column = k
        best_preferred = 0.0
        row_preferred = k
        column_preferred = k
        for i in range(k, r):
            for j in range(k, n):
                value = abs(A[i, j])
                if preferred[columns[j]] == 0:
                    if value > best:
                        best = value
                        row = i
                        column = j
                elif value > best_preferred:
                    best_preferred = value
                    row_preferred = i
                    column_preferred = j
        if best <= tolerance or best < preference * best_preferred:
            best = best_preferred
            row = row_preferred
            column = column_preferred
        if not best > tolerance:
            break
        rank += 1

        # bring the pivot to its place
        for j in range(n):
            held = A[k, j]
            A[k, j] = A[row, j]
            A[row, j] = held
        for i in range(r):
            held = A[i, k]
            A[i, k] = A[i, column]
            A[i, column] = held
        held_row = rows[k]
        rows[k] = rows[row]
        rows[row] = held_row
        held_column = columns[k]
        columns[k] = columns[column]
        columns[column] = held_column

        # eliminate above and below
        pivot = A[k, k]
        for j in range(k, n):
            A[k, j] /= pivot
        for i in range(r):
            factor = A[i, k]
            if i != k and factor != 0.0:
                for j in range(k, n):
                    A[i, j] -= factor * A[k, j]
    return rank


@dataclass(frozen=True, eq=False)
class CoordinatePartition:
    """Dependent and independent coordinates of J δq = 0, and the rows that tie them.

    Attributes:
        dependent: coordinates that follow from the others, in the order of `independent_rows`.
        independent: coordinates to choose freely.
        independent_rows: rows of J of full rank.
        dependent_rows: rows that follow from them.
        transfer: matrix B with δq_dependent = B δq_independent.
    """

    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    independent_rows: tuple[int, ...]
    dependent_rows: tuple[int, ...]
    transfer: np.ndarray

    @property
    def rank(self) -> int:
        """Rank of J."""
        return len(self.dependent)


def choose_independent(
    J: ArrayLike,
    tolerance: float = PIVOT_TOLERANCE,
    *,
    prefer_independent: ArrayLike = (),
    preference: float = PREFERENCE,
) -> CoordinatePartition:
    """Split the coordinates of the constraints J δq = 0 into dependent and independent ones.

    The columns of the largest pivots become dependent, so that they follow well from the others.
    Those of `prefer_independent`, such as the coordinates of motors, are tried last.

    >>> choose_independent([[1.0, 2.0, 0.1], [2.0, 4.0, 0.2]], prefer_independent=[1]).independent
    (1, 2)

    Raises:
        ShapeError: J is not a matrix of finite numbers, or a preferred coordinate is not in it.
    """
    A = np.array(J, dtype=np.float64, order="C")
    if A.ndim != 2 or not np.all(np.isfinite(A)):
        raise ShapeError(
            f"choose_independent: J is a matrix of finite numbers, not an array of shape {A.shape}"
            + ("" if A.ndim != 2 else " with inf or nan in it")
        )
    r, n = A.shape
    preferred = np.zeros(n, dtype=np.int64)
    wanted = np.array(prefer_independent, dtype=np.int64).ravel()
    outside = wanted[(wanted < 0) | (wanted >= n)]
    if len(outside):
        raise ShapeError(
            f"choose_independent: preferred coordinate {outside[0]} is not one of the {n} of J"
        )
    preferred[wanted] = 1
    rows, columns = np.zeros(r, dtype=np.int64), np.zeros(n, dtype=np.int64)
    rank = full_pivoting(r, n, A, tolerance, preference, preferred, rows, columns)
    free = np.argsort(columns[rank:])
    return CoordinatePartition(
        tuple(columns[:rank].tolist()),
        tuple(columns[rank:][free].tolist()),
        tuple(rows[:rank].tolist()),
        tuple(sorted(rows[rank:].tolist())),
        -A[:rank, rank:][:, free],
    )
