"""Dense LDLᵀ of a symmetric matrix, without pivoting, that finds redundant rows."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Matrix, Real, Vector, routine

__all__ = ["DROP_TOLERANCE", "best_rows_solve", "ldlt_factor", "ldlt_solve"]

DROP_TOLERANCE = 1e-12


@routine(A="n, n")
def ldlt_factor(n: Int, A: Matrix, tolerance: Real) -> Int:
    """Factor A = L D Lᵀ in place and return its rank.

    Row i of L and the pivot d_i follow from the rows above:

        y_ij = a_ij - Σ_{k<j} y_ik l_jk,    l_ij = y_ij / d_j,    d_i = a_ii - Σ_{j<i} y_ij l_ij

    Only the lower triangle of A is read. It becomes L below the diagonal and 1/d_i on it.

    A is positive semidefinite, or of the saddle-point form in which every multiplier comes after
    the bodies it acts on. A row that depends on earlier ones leaves a pivot that is rounding only:
    |d_i| <= tolerance (|a_ii| + Σ |y_ij l_ij|). It is dropped: 1/d_i and the unknown are set to 0.
    The rank is sure where n ε κ <= tolerance, with κ the condition of the rows before; where they
    are nearly dependent, the rounding of a pivot may exceed the tolerance and keep its row.

    Golub & Van Loan 2013, Matrix Computations, §4.1.2.
    """
    rank = 0
    for i in range(n):
        # eliminate with the rows above: y_ij takes the place of a_ij
        for j in range(i):
            y = A[i, j]
            for k in range(j):
                y -= A[i, k] * A[j, k]
            A[i, j] = y

        # pivot, and the sum of the magnitudes it is made of
        pivot = A[i, i]
        accumulated = abs(pivot)
        for j in range(i):
            l = A[i, j] * A[j, j]
            pivot -= A[i, j] * l
            accumulated += abs(A[i, j] * l)
            A[i, j] = l

        # drop a redundant row; a nan is kept, to be seen in the result
        if abs(pivot) <= tolerance * accumulated:
            A[i, i] = 0.0
        else:
            A[i, i] = 1.0 / pivot
            rank += 1
    return rank


@routine(LD="n, n", x="n")
def ldlt_solve(n: Int, LD: Matrix, x: Vector) -> None:
    """Solve L D Lᵀ x = b in place: x is b on entry. `LD` comes from `ldlt_factor`.

    Unknowns of dropped rows are 0 before the back substitution, so that a consistent system of
    less than full rank is solved exactly.

    Golub & Van Loan 2013, Matrix Computations, §3.1.
    """
    # forward substitution with unit L
    for i in range(n):
        for j in range(i):
            x[i] -= LD[i, j] * x[j]

    # reciprocal pivots, 0 where a row was dropped
    for i in range(n):
        x[i] *= LD[i, i]

    # back substitution by rows of L, which are columns of its transpose
    for i in range(n - 1, -1, -1):
        for j in range(i):
            x[j] -= LD[i, j] * x[i]


@routine(A="n, n", sizes="n", step="n", x="n")
def best_rows_solve(
    n: Int, most: Int, tolerance: Real, A: Matrix, sizes: Vector, step: IntVector, x: Vector
) -> Int:
    """Solve A x = b in place with the best rows of a known number; return how many were taken.

    A is positive semidefinite and of rank `most`, up to errors that make it seem larger. Pivots
    are the largest that are left, over the `sizes` of their rows; one below the tolerance ends the
    elimination. Unknowns of rows that are not taken are 0. `step` tells when a row was taken, or
    is -1. Only the lower triangle of A is read.

    Golub & Van Loan 2013, Matrix Computations, §4.2.8, without exchanging rows.
    """
    for i in range(n):
        step[i] = -1
        for j in range(i):
            A[j, i] = A[i, j]
    rank = 0
    for k in range(most):
        best = tolerance
        c = -1
        for i in range(n):
            if step[i] < 0 and A[i, i] > best * sizes[i]:
                best = A[i, i] / sizes[i]
                c = i
        if c < 0:
            break
        step[c] = k
        rank += 1
        for i in range(n):
            if step[i] < 0:
                l = A[i, c] / A[c, c]
                x[i] -= l * x[c]
                for j in range(n):
                    if step[j] < 0:
                        A[i, j] -= l * A[c, j]
    for i in range(n):
        if step[i] < 0:
            # 0, or a nan to be seen in the result
            x[i] = A[i, i] - A[i, i]
    for k in range(rank - 1, -1, -1):
        for i in range(n):
            if step[i] == k:
                for j in range(n):
                    if step[j] > k:
                        x[i] -= A[i, j] * x[j]
                x[i] /= A[i, i]
    return rank
