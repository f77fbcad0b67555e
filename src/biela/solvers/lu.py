"""Dense LU of a square matrix with partial pivoting."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Matrix, Vector, routine

__all__ = ["PIVOT_TOLERANCE", "lu_factor", "lu_solve"]

PIVOT_TOLERANCE = 1e-14


@routine(A="n, n", pivots="n")
def lu_factor(n: Int, A: Matrix, pivots: IntVector) -> Int:
    """Factor P A = L U in place; return 0, or 1 if A is singular to working precision.

    Column by column (Crout), with unit L below the diagonal and U on and above it:

        u_ij = a_ij - Σ_{k<i} l_ik u_kj,    l_ij = (a_ij - Σ_{k<j} l_ik u_kj) / u_jj

    Step j exchanges rows j and `pivots[j]`, so that |u_jj| is the largest candidate. A is singular
    if it is below 1e-14 of the largest entry the column had, a test that does not depend on the
    units of the unknowns; a nan counts as singular. A is then only partly factored.

    Golub & Van Loan 2013, Matrix Computations, §3.4.
    """
    for j in range(n):
        scale = 0.0
        for i in range(n):
            scale = max(scale, abs(A[i, j]))

        # eliminate the columns to the left, and look for the largest pivot
        largest = -1.0
        best = j
        for i in range(n):
            value = A[i, j]
            for k in range(min(i, j)):
                value -= A[i, k] * A[k, j]
            A[i, j] = value
            if i >= j and abs(value) > largest:
                largest = abs(value)
                best = i
        pivots[j] = best

        if not largest > PIVOT_TOLERANCE * scale:
            return 1

        # exchange whole rows
        if best != j:
            for k in range(n):
                held = A[j, k]
                A[j, k] = A[best, k]
                A[best, k] = held

        for i in range(j + 1, n):
            A[i, j] /= A[j, j]
    return 0


@routine(LU="n, n", pivots="n", x="n")
def lu_solve(n: Int, LU: Matrix, pivots: IntVector, x: Vector) -> None:
    """Solve A x = b in place: x is b on entry. `LU` and `pivots` come from `lu_factor`."""
    # exchange as the rows were
    for i in range(n):
        held = x[i]
        x[i] = x[pivots[i]]
        x[pivots[i]] = held

    # forward substitution with unit L
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= LU[i, j] * x[j]
        x[i] = total

    # back substitution with U
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= LU[i, j] * x[j]
        x[i] = total / LU[i, i]
