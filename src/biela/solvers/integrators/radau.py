"""The implicit Runge-Kutta method Radau IIA of order five, for stiff problems: L-stable.

The three stages z_i = x(t + c_i h) - x solve (A⁻¹ ⊗ 1) z = h f(t + c_i h, x + z_i). With
T⁻¹ A⁻¹ T = Λ, a real eigenvalue γ and the block (α β; -β α), simplified Newton for w = (T⁻¹ ⊗ 1) z
needs one system of size n and one of size 2n:

    (γ/h - J) Δw_1 = r_1,     ( α/h - J    β/h   ) (Δw_2)   (r_2)
                              (  -β/h    α/h - J ) (Δw_3) = (r_3),     r = T⁻¹ f - Λ w / h

The new state is x + z_3, the continuous solution the cubic through the stages, and the error
estimate (γ/h - J)⁻¹ (f(t, x) + Σ e_i z_i / h). J is kept as long as Newton converges well, and the
factors as long as the step would grow by less than a fifth.

Hairer & Wanner 1996, Solving Ordinary Differential Equations II, §IV.5 and §IV.8.
"""

from __future__ import annotations

from math import pow

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.adaptive import AdaptiveMethod
from biela.solvers.integrators.adaptive_memory import (
    CONVENTION,
    EVALUATIONS,
    METHOD_SHAPES,
    OLD_ERROR,
    REJECTED,
    RTOL,
    USED,
    H,
)
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.error_norm import error_norm, first_step
from biela.solvers.integrators.radau_stages import (
    ERROR,
    FRESHNESS,
    LIMIT,
    NEW_Q,
    NEWTON,
    OLD_Q,
    PREVIOUS,
    RATE,
    ROWS,
    SCRATCH,
    SLOPE,
    TO_POWERS,
    TRIED_ERROR,
    Z,
    factor,
    radau_table,
    stages,
)
from biela.solvers.lu import lu_solve

__all__ = ["radau"]


@routine(**METHOD_SHAPES)
def begin(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, keep: Int, end: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector,
) -> None:  # fmt: skip
    """Take the slope at a new start, and choose the first step unless one is to be kept."""
    f(t, x, p, memory[SLOPE])
    counts[EVALUATIONS] += 1
    counts[FRESHNESS] = 0
    counts[PREVIOUS] = 0
    if keep == 0:
        store[H] = first_step(
            n, m, 4, end, t, x, p, f, memory[SLOPE], atol, store, counts, memory[1], memory[2]
        )


@routine(**METHOD_SHAPES, y="n")
def attempt(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector, p: Vector,
    f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Try a step of length h to y, and propose the next; 1 accepted, 0 rejected, -1 not finite."""
    solved = 0
    for _try in range(2):
        singular = factor(
            n, m, ns, rows, size, h, t, x, p, f, jacobian, atol, store, counts, memory, table, J,
            E1, E2, pivots, delta,
        )  # fmt: skip
        solved = 0
        if singular == 0:
            solved = stages(
                n, m, ns, rows, size, h, t, x, p, f, jacobian, atol, store, counts, memory, table,
                J, E1, E2, pivots, delta, y,
            )  # fmt: skip
        if solved != 0 or counts[FRESHNESS] == 2:
            break
        # once more with the Jacobian of this state
        counts[FRESHNESS] = 0
    for i in range(n):
        y[i] = x[i] + memory[Z + 2, i]
    if solved != 1:
        store[H] = (0.5 if solved == 0 else 0.25) * h
        return solved

    # continuous solution
    for j in range(3):
        for i in range(n):
            total = 0.0
            for k in range(3):
                total += table[TO_POWERS + 3 * j + k] * memory[Z + k, i]
            memory[NEW_Q + j, i] = total

    # error; again with f at the corrected state if it is large, which damps stiff components
    err = 0.0
    for again in range(2):
        for i in range(n):
            total = 0.0
            for k in range(3):
                total += table[ERROR + k] * memory[Z + k, i]
            delta[i] = memory[SLOPE if again == 0 else SCRATCH, i] + total / h
        lu_solve(ns, E1, pivots[0:ns], delta[0:ns])
        for i in range(n):
            memory[SCRATCH, i] = delta[i]
        err = error_norm(n, counts[CONVENTION], store[RTOL], memory[SCRATCH], x, y, atol)
        if again == 1 or err < 1.0 or (counts[REJECTED] == 0 and counts[PREVIOUS] == 1):
            break
        for i in range(n):
            memory[SCRATCH + 1, i] = x[i] + delta[i]
        f(t, memory[SCRATCH + 1], p, memory[SCRATCH])
        counts[EVALUATIONS] += 1
    if finite(n, y) == 0 or not err < 1e300:
        store[H] = 0.25 * h
        return -1
    store[TRIED_ERROR] = err

    # step length: from this error and that of the step before (Gustafsson)
    small = max(err, 1e-10)
    share = pow(small, -0.25)
    if counts[PREVIOUS] == 1 and err > 0.0:
        share *= min(1.0, h / store[USED] * pow(max(store[OLD_ERROR], 1e-10) / small, 0.25))
    safety = 0.9 * (2 * LIMIT + 1) / (2 * LIMIT + counts[NEWTON])
    if err > 1.0:
        store[H] = h * max(0.2, safety * share)
        return 0
    grown = min(10.0, max(0.2, safety * share))
    if counts[REJECTED] > 0:
        grown = min(1.0, grown)
    # a little growth is not worth new factors
    store[H] = h if grown >= 1.0 and grown < 1.2 else h * grown
    return 1


@routine(**METHOD_SHAPES, start="n")
def commit(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, changed: Int, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector,
) -> None:  # fmt: skip
    """Go on from the new state; a Jacobian with which Newton was slow is taken anew."""
    for j in range(3):
        for i in range(n):
            memory[OLD_Q + j, i] = memory[NEW_Q + j, i]
    f(t, x, p, memory[SLOPE])
    counts[EVALUATIONS] += 1
    slow = counts[NEWTON] > 2 and store[RATE] > 1e-3
    counts[FRESHNESS] = 0 if slow else 1
    counts[PREVIOUS] = 1
    store[OLD_ERROR] = store[TRIED_ERROR]


@routine(**METHOD_SHAPES, start="n", y="n")
def interpolate(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, at: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector, y: Vector,
) -> None:  # fmt: skip
    """Set y to the collocation polynomial `at` seconds into the last step, of length h."""
    theta = at / h
    for i in range(n):
        y[i] = memory[NEW_Q, i] + theta * (memory[NEW_Q + 1, i] + theta * memory[NEW_Q + 2, i])
        y[i] = start[i] + theta * y[i]


radau = AdaptiveMethod(
    "radau", begin, attempt, commit, interpolate, ROWS, radau_table(), 1, implicit=True
)
