"""Newton's method for a group whose equations are evaluated by kernels and solved at run time.

What `biela.code.looped.Solve` writes out for small groups is a loop here:

    φ ← φ - Φ_φ⁻¹ Φ  until |Φ| ≤ tolerance,    Φ_φ φ' = right_1,    Φ_φ φ'' = right_2

with one factorisation at the solution for velocity and acceleration (Miralles 2018, eqs 36 to 38).
The kernels read and write a workspace; the linear equations are solved by two more, so that it is
no matter here how.  Failures are told as a `Solve` tells them.
"""

from __future__ import annotations

from math import isfinite

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine

__all__ = ["group_newton"]

# phases of the evaluation: Φ and the entries of Φ_φ; what is right of velocity and acceleration;
# and what is read of the group
POSITION, VELOCITY, ACCELERATION, ITEMS = 0, 1, 2, 3
# failures, see biela.code.looped.Failure
NO_CONVERGENCE, NOT_FINITE, NOT_POSITIVE = 1, 2, 3
# first places in the workspace: the instant before, which becomes this one; time since; the sign
# of the determinant; the iterate and its rates; Φ, right-hand sides and the entries; the status
PLACES = 12
(LAST, RATE, SECOND, TAU, GAUGE, X, DX, DDX, PHI, RIGHT, ENTRIES, STATUS) = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip


@routine(
    run="words -> size",
    factor="e + 2 -> 1",
    solve="r -> m",
    tapes="4, words",
    places="12",
    sign="1",
    w="size",
)
def group_newton(
    size: Int,
    words: Int,
    m: Int,
    r: Int,
    e: Int,
    iterations: Int,
    polish: Int,
    fixed: Int,
    label: Int,
    tolerance: Real,
    run: Kernel,
    factor: Kernel,
    solve: Kernel,
    tapes: Matrix,
    places: IntVector,
    sign: Vector,
    w: Vector,
) -> None:
    """Solve one group at one instant.

    `run` evaluates a phase: row of `tapes`.  `factor` gets the entries, whether they are the last
    ones, and the sign before; it gives the sign of the determinant or 0.  With `fixed` ≥ 0 so many
    steps are made and the residual is looked at once.
    """
    x = places[X]
    dx = places[DX]
    ddx = places[DDX]
    Phi = places[PHI]
    right = places[RIGHT]
    V = places[ENTRIES]
    tau = w[places[TAU]]
    before = w[places[GAUGE]]
    for k in range(m):
        w[x + k] = w[places[LAST] + k] + tau * (
            w[places[RATE] + k] + 0.5 * tau * w[places[SECOND] + k]
        )

    limit = tolerance * tolerance
    rest = polish
    made = 0
    begun = 0
    square = 0.0
    most = iterations + polish if fixed < 0 else fixed
    w[V + e] = 0.0
    w[V + e + 1] = before
    for n in range(most + 1):
        run(tapes[POSITION], w)
        square = 0.0
        for i in range(r):
            square += w[Phi + i] * w[Phi + i]
        if fixed < 0:
            if begun == 1 or square <= limit:
                if rest == 0 or not isfinite(square):
                    break
                begun = 1
                rest -= 1
            elif n >= iterations or not isfinite(square):
                break
        elif n == fixed:
            break
        factor(w[V : V + e + 2], sign)
        if sign[0] == 0.0:
            break
        solve(w[Phi : Phi + r], w[dx : dx + m])
        for k in range(m):
            w[x + k] -= w[dx + k]
        made += 1
    converged = 1 if isfinite(square) and (begun == 1 or square <= limit) else 0

    # the factors at the solution serve both rates
    w[V + e] = 1.0 if converged == 1 else 2.0
    factor(w[V : V + e + 2], sign)
    if sign[0] != 0.0:
        run(tapes[VELOCITY], w)
        solve(w[right : right + r], w[dx : dx + m])
        run(tapes[ACCELERATION], w)
        solve(w[right : right + r], w[ddx : ddx + m])
    run(tapes[ITEMS], w)

    failure = 0
    if converged == 0:
        failure = NO_CONVERGENCE if isfinite(square) else NOT_FINITE
    elif not sign[0] * before > 0.0:
        failure = NOT_POSITIVE
    w[places[GAUGE]] = sign[0]
    for k in range(m):
        w[places[LAST] + k] = w[x + k]
        w[places[RATE] + k] = w[dx + k]
        w[places[SECOND] + k] = w[ddx + k]
    status = places[STATUS]
    w[status + 2] += float(made)
    if failure != 0 and w[status] == 0.0:
        w[status] = float(label)
        w[status + 1] = float(failure)
