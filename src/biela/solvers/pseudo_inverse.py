"""Minimum-norm least-squares solutions of linear systems of any shape and rank.

The complete orthogonal decomposition of J, r rows by n columns,

    P J Q = [ S  0 ]        S of k = rank columns,   S = U [ R ]
                                                           [ 0 ]

is made of Householder reflections: Q from the right, with the rows in order of their distance from
the span of those before, then U from the left. With it

    J⁺ b = Q [ R⁻¹ (Uᵀ P b)₁ ]
             [       0       ]

Rows that are not needed, the dependent ones, come last in P. The work depends on r and n only.

Golub & Van Loan 2013, Matrix Computations, §5.4.7.
"""

from __future__ import annotations

from math import copysign, sqrt

from biela.code.routines import Int, IntVector, Matrix, Real, Vector, routine

__all__ = [
    "RANK_TOLERANCE",
    "orthogonal_factor",
    "orthogonal_solve",
]

#: A row nearer than this, in parts of its length, to the span of others depends on them.
RANK_TOLERANCE = 1e-10


@routine(J="r, n", rows="r", tau="r", S="r, n", sigma="r", lengths="r")
def orthogonal_factor(
    r: Int,
    n: Int,
    J: Matrix,
    tolerance: Real,
    rows: IntVector,
    tau: Vector,
    S: Matrix,
    sigma: Vector,
    lengths: Vector,
) -> Int:
    """Decompose J in place and return its rank k.

    The first k of `rows` are independent, the others depend on them: each is within `tolerance`,
    in parts of its own length, of their span, a test that does not depend on the units of the rows.
    `J` becomes the reflections of Q, `tau` their factors, `S` the matrix R with the reflections of
    U, and `sigma` their factors. `lengths` is scratch. A nan counts as independent.
    """
    for i in range(r):
        rows[i] = i
        total = 0.0
        for j in range(n):
            total += J[i, j] ** 2
        lengths[i] = total

    # from the right, with row exchanges
    rank = 0
    full = 1
    for k in range(min(r, n)):
        # the row that is farthest from the span of those above, in parts of its length
        best = k
        farthest = -1.0
        for i in range(k, r):
            total = 0.0
            for j in range(k, n):
                total += J[i, j] ** 2
            part = total / lengths[i] if lengths[i] != 0.0 else 0.0
            if not part <= farthest:
                farthest = part
                best = i
        for j in range(n):
            held = J[k, j]
            J[k, j] = J[best, j]
            J[best, j] = held
        held_row = rows[k]
        rows[k] = rows[best]
        rows[best] = held_row
        held_length = lengths[k]
        lengths[k] = lengths[best]
        lengths[best] = held_length

        if farthest <= tolerance * tolerance:
            full = 0
        rank += full
        tau[k] = 0.0
        if full == 1:
            tau[k] = reflect_row(n, k, J[k])
        # what lies below is rounding once the rank is found
        for i in range(k + 1, r):
            apply_reflection(n, k, tau[k], J[k], J[i])
            J[i, k] *= full
        J[k, k] *= full

    # from the left, on the trapezoid that is left of J
    for i in range(r):
        for j in range(n):
            S[i, j] = J[i, j] if j <= i else 0.0
    for k in range(min(r, n)):
        sigma[k] = reflect_column(r, n, k, S)
    return rank


@routine(v="n")
def reflect_row(n: Int, k: Int, v: Vector) -> Real:
    """Make the reflection that turns v[k:] into its first element; return its factor.

    I - τ w wᵀ with w = (1, v[k+1:]) on return, and the length, with its sign, in v[k].
    """
    total = 0.0
    for j in range(k + 1, n):
        total += v[j] ** 2
    if total == 0.0:
        return 0.0
    first = float(v[k])
    length = -copysign(sqrt(first**2 + total), first)
    for j in range(k + 1, n):
        v[j] /= first - length
    v[k] = length
    return (length - first) / length


@routine(w="n", x="n")
def apply_reflection(n: Int, k: Int, factor: Real, w: Vector, x: Vector) -> None:
    """Reflect x[k:] by I - τ w wᵀ, with w = (1, w[k+1:])."""
    total = x[k]
    for j in range(k + 1, n):
        total += w[j] * x[j]
    total *= factor
    x[k] -= total
    for j in range(k + 1, n):
        x[j] -= total * w[j]


@routine(S="r, n")
def reflect_column(r: Int, n: Int, k: Int, S: Matrix) -> Real:
    """Turn S[k:, k] into its first element, and the columns to the right with it."""
    total = 0.0
    for i in range(k + 1, r):
        total += S[i, k] ** 2
    if total == 0.0:
        return 0.0
    first = float(S[k, k])
    length = -copysign(sqrt(first**2 + total), first)
    for i in range(k + 1, r):
        S[i, k] /= first - length
    S[k, k] = length
    factor = (length - first) / length
    for j in range(k + 1, min(r, n)):
        total = S[k, j]
        for i in range(k + 1, r):
            total += S[i, k] * S[i, j]
        total *= factor
        S[k, j] -= total
        for i in range(k + 1, r):
            S[i, j] -= total * S[i, k]
    return factor


@routine(J="r, n", rows="r", tau="r", S="r, n", sigma="r", b="r", x="n", y="r")
def orthogonal_solve(
    r: Int,
    n: Int,
    J: Matrix,
    rows: IntVector,
    tau: Vector,
    S: Matrix,
    sigma: Vector,
    b: Vector,
    x: Vector,
    y: Vector,
) -> None:
    """Set x = J⁺ b: of all x with the least |J x - b| the one with the least |x|.

    The rest comes from `orthogonal_factor`; `y` is scratch.
    """
    for i in range(r):
        y[i] = b[rows[i]]

    # reflections of U, one column of S each
    for k in range(min(r, n)):
        total = y[k]
        for i in range(k + 1, r):
            total += S[i, k] * y[i]
        total *= sigma[k]
        y[k] -= total
        for i in range(k + 1, r):
            y[i] -= total * S[i, k]

    # back substitution with R; beyond the rank its diagonal is 0, and so is x
    for i in range(n):
        x[i] = 0.0
    for k in range(min(r, n) - 1, -1, -1):
        value = y[k]
        for j in range(k + 1, min(r, n)):
            value -= S[k, j] * x[j]
        x[k] = value / S[k, k] if S[k, k] != 0.0 else 0.0

    # back through the reflections of Q
    for k in range(min(r, n) - 1, -1, -1):
        apply_reflection(n, k, tau[k], J[k], x)
