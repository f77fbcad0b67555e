"""The step of a damped least-squares iteration with equations that hold and bounds on the unknowns.

    minimise  λ |δ|² + |f + J δ|²     with   Φ + Φ_δ δ = 0   and   l <= δ <= u

Without the bounds, and with the rows of both in one matrix A, the equations first, the step is

    δ = Aᵀ y,     (A Aᵀ + diag(0, λ)) y = -(Φ, f)

which costs little where there are fewer rows than unknowns, as in an arm with joints to spare, and
is of minimum norm as λ vanishes.  Equations that depend on earlier ones are dropped by the
factorisation.  Unknowns that leave their bounds are held there, and the rest is solved again.

Nakamura & Hanafusa 1986, "Inverse kinematic solutions with singularity robustness for robot
manipulator control", J. Dyn. Syst. Meas. Control 108; bounds as in Stark & Parker 1995,
"Bounded-variable least squares", Computational Statistics 10, but that none is released.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Matrix, Real, Vector, routine
from biela.solvers.ldlt import DROP_TOLERANCE, ldlt_factor, ldlt_solve

__all__ = ["bounded_step"]


@routine(
    A="r, n",
    f="r",
    low="n",
    high="n",
    held="n",
    G="r, r",
    L="r, r",
    b="r",
    y="r",
    step="n",
)
def bounded_step(
    r: Int,
    n: Int,
    hard: Int,
    damping: Real,
    A: Matrix,
    f: Vector,
    low: Vector,
    high: Vector,
    held: IntVector,
    G: Matrix,
    L: Matrix,
    b: Vector,
    y: Vector,
    step: Vector,
) -> Int:
    """Set `step` to δ and return how many of its elements are held at a bound.

    The first `hard` rows are equations, the others are damped.  `held` becomes 1 where an
    element is at its bound, else 0; `G`, `L`, `b`, `y` are scratch.
    """
    count = 0
    for j in range(n):
        held[j] = 0
        step[j] = 0.0
    for i in range(r):
        b[i] = -f[i]
        for k in range(i + 1):
            total = 0.0
            for j in range(n):
                total += A[i, j] * A[k, j]
            G[i, k] = total

    for _round in range(n + 1):
        for i in range(r):
            y[i] = b[i]
            for k in range(i):
                L[i, k] = G[i, k]
            L[i, i] = G[i, i] + damping if i >= hard else G[i, i]
        rank = ldlt_factor(r, L, DROP_TOLERANCE)
        if rank == 0:
            break
        ldlt_solve(r, L, y)
        for j in range(n):
            if held[j] == 0:
                total = 0.0
                for i in range(r):
                    total += A[i, j] * y[i]
                step[j] = total

        # hold what leaves its bounds by most, and take its column out
        worst = -1
        most = 0.0
        for j in range(n):
            if held[j] == 0:
                beyond = max(step[j] - high[j], low[j] - step[j])
                if beyond > most:
                    most = beyond
                    worst = j
        if worst < 0:
            break
        step[worst] = high[worst] if step[worst] > high[worst] else low[worst]
        held[worst] = 1
        count += 1
        for i in range(r):
            b[i] -= A[i, worst] * step[worst]
            for k in range(i + 1):
                G[i, k] -= A[i, worst] * A[k, worst]
        if count == n:
            break
    return count
