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

from math import pow, sqrt

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.adaptive import AdaptiveMethod
from biela.solvers.integrators.adaptive_memory import (
    CONVENTION,
    COUNTS,
    COUNTS_OWN,
    EPSILON,
    EVALUATIONS,
    FACTORISATIONS,
    ITERATIONS,
    JACOBIANS,
    OLD_ERROR,
    REJECTED,
    RTOL,
    STORE,
    STORE_OWN,
    USED,
    WITH_JACOBIAN,
    H,
)
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.differences import difference_jacobian
from biela.solvers.integrators.error_norm import error_norm, first_step
from biela.solvers.lu import lu_factor, lu_solve

__all__ = ["radau"]

LIMIT = 7  # iterations of Newton's method

# own places in `counts` and `store`
FRESHNESS = COUNTS_OWN  # of J: 0 to be taken, 1 from an earlier state, 2 of this one
NEWTON = COUNTS_OWN + 1  # iterations of the last attempt
PREVIOUS = COUNTS_OWN + 2  # 1 if there is a step before this one
FACTORED = STORE_OWN  # step the factors are for, or 0
TRIED_ERROR = STORE_OWN + 1
RATE = STORE_OWN + 2  # of convergence

# rows of `memory`
SLOPE = 0
Z = 1  # stages
W = 4  # transformed
F = 7  # slopes at the stages
OLD_Q = 10  # coefficients of the continuous solution: of the step before, of the last attempt
NEW_Q = 13
SCRATCH = 16
ROWS = 19

# places in `table`
T = 0
T_INVERSE = 9
GAMMA = 18
ALPHA = 19
BETA = 20
C = 21
ERROR = 24
TO_POWERS = 27
SIZE = 36

SHAPES = {
    "t": "1",
    "x": "n",
    "p": "m",
    "f": "1, n, m -> n",
    "jacobian": "1, n, m -> ns*ns",
    "atol": "n",
    "store": str(STORE),
    "counts": str(COUNTS),
    "memory": f"{ROWS}, n",
    "table": str(SIZE),
    "J": "ns, ns",
    "E1": "ns, ns",
    "E2": "2*ns, 2*ns",
    "pivots": "3*ns",
    "delta": "3*ns",
}


def _table() -> NDArray[np.float64]:
    """Coefficients, from the collocation conditions at the nodes c."""
    root = np.sqrt(6.0)
    c = np.array([(4 - root) / 10, (4 + root) / 10, 1.0])
    powers = c[:, None] ** np.arange(1, 4)
    # A integrates 1, θ, θ² exactly from 0 to each node
    A = powers / np.arange(1, 4) @ np.linalg.inv(c[:, None] ** np.arange(3))
    values, vectors = np.linalg.eig(np.linalg.inv(A))
    real = int(np.argmin(np.abs(values.imag)))
    pair = int(np.argmax(values.imag))
    transform = np.stack([vectors[:, real].real, vectors[:, pair].real, vectors[:, pair].imag], 1)
    error = np.array([-13 - 7 * root, -13 + 7 * root, -1]) / 3
    return np.concatenate(
        [
            transform.ravel(),
            np.linalg.inv(transform).ravel(),
            [values[real].real, values[pair].real, values[pair].imag],
            c,
            error,
            np.linalg.inv(powers).ravel(),
        ]
    )


@routine(**SHAPES)
def begin(
    n: Int, m: Int, ns: Int, keep: Int, end: Real, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector,
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


@routine(**SHAPES)
def factor(
    n: Int, m: Int, ns: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector,
) -> Int:  # fmt: skip
    """Take the Jacobian if it is due, and factor the two matrices; 0, or 1 if one is singular."""
    if counts[FRESHNESS] == 0:
        if counts[WITH_JACOBIAN] == 1:
            jacobian(t, x, p, J)
        else:
            for i in range(n):
                memory[SCRATCH, i] = atol[i]
            difference_jacobian(
                n, ns, m, t, x, p, f, memory[SLOPE], memory[SCRATCH], memory[SCRATCH + 1],
                memory[SCRATCH + 2], J,
            )  # fmt: skip
            counts[EVALUATIONS] += n
        counts[JACOBIANS] += 1
        counts[FRESHNESS] = 2
        store[FACTORED] = 0.0
    if store[FACTORED] == h:
        return 0
    for i in range(n):
        for j in range(n):
            E1[i, j] = -J[i, j]
            E2[i, j] = -J[i, j]
            E2[n + i, n + j] = -J[i, j]
            E2[i, n + j] = 0.0
            E2[n + i, j] = 0.0
        E1[i, i] += table[GAMMA] / h
        E2[i, i] += table[ALPHA] / h
        E2[n + i, n + i] += table[ALPHA] / h
        E2[i, n + i] = table[BETA] / h
        E2[n + i, i] = -table[BETA] / h
    store[FACTORED] = 0.0
    counts[FACTORISATIONS] += 1
    singular = lu_factor(ns, E1, pivots[0:ns])
    if singular == 0:
        singular = lu_factor(2 * ns, E2, pivots[ns : 3 * ns])
    if singular == 0:
        store[FACTORED] = h
    return singular


@routine(**SHAPES, y="n")
def stages(
    n: Int, m: Int, ns: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Solve for the stages by simplified Newton; 1 converged, 0 not, -1 not finite."""
    # first guess: the continuous solution of the step before, gone on with
    for j in range(3):
        theta = 1.0 + table[C + j] * h / store[USED] if counts[PREVIOUS] == 1 else 1.0
        for i in range(n):
            ahead = theta * (memory[OLD_Q, i] + theta * (memory[OLD_Q + 1, i] + theta * memory[OLD_Q + 2, i]))  # fmt: skip
            here = memory[OLD_Q, i] + memory[OLD_Q + 1, i] + memory[OLD_Q + 2, i]
            memory[Z + j, i] = ahead - here if counts[PREVIOUS] == 1 else 0.0
    for j in range(3):
        for i in range(n):
            total = 0.0
            for k in range(3):
                total += table[T_INVERSE + 3 * j + k] * memory[Z + k, i]
            memory[W + j, i] = total

    tolerance = max(10.0 * EPSILON / store[RTOL], min(0.03, sqrt(store[RTOL])))
    start = t[0]
    before = 0.0
    for iteration in range(LIMIT):
        counts[NEWTON] = iteration + 1
        counts[ITERATIONS] += 1
        good = 1
        for k in range(3):
            for i in range(n):
                y[i] = x[i] + memory[Z + k, i]
            t[0] = start + table[C + k] * h
            f(t, y, p, memory[F + k])
            good = min(good, finite(n, memory[F + k]))
        t[0] = start
        counts[EVALUATIONS] += 3
        if good == 0:
            return -1
        for i in range(n):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += table[T_INVERSE + 3 * j + k] * memory[F + k, i]
                delta[j * n + i] = total
            w1 = memory[W, i] / h
            w2 = memory[W + 1, i] / h
            w3 = memory[W + 2, i] / h
            delta[i] -= table[GAMMA] * w1
            delta[n + i] -= table[ALPHA] * w2 + table[BETA] * w3
            delta[2 * n + i] -= table[ALPHA] * w3 - table[BETA] * w2
        lu_solve(ns, E1, pivots[0:ns], delta[0:ns])
        lu_solve(2 * ns, E2, pivots[ns : 3 * ns], delta[ns : 3 * ns])

        # size of the change, over the three parts
        total = 0.0
        for j in range(3):
            for i in range(n):
                memory[SCRATCH, i] = delta[j * n + i]
                memory[W + j, i] += delta[j * n + i]
            total += error_norm(n, 0, store[RTOL], memory[SCRATCH], x, x, atol) ** 2
        size = sqrt(total / 3.0)
        for j in range(3):
            for i in range(n):
                total = 0.0
                for k in range(3):
                    total += table[T + 3 * j + k] * memory[W + k, i]
                memory[Z + j, i] = total

        rate = 0.0 if iteration == 0 else size / before
        store[RATE] = rate
        if not size < 1e300 or rate >= 1.0:
            return 0
        if size == 0.0 or (iteration > 0 and rate / (1.0 - rate) * size < tolerance):
            return 1
        if iteration > 0 and pow(rate, float(LIMIT - 1 - iteration)) / (1.0 - rate) * size > tolerance:  # fmt: skip
            return 0
        before = size
    return 0


@routine(**SHAPES, y="n")
def attempt(
    n: Int, m: Int, ns: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Try a step of length h to y, and propose the next; 1 accepted, 0 rejected, -1 not finite."""
    solved = 0
    for _try in range(2):
        singular = factor(
            n, m, ns, h, t, x, p, f, jacobian, atol, store, counts, memory, table, J, E1, E2,
            pivots, delta,
        )  # fmt: skip
        solved = 0
        if singular == 0:
            solved = stages(
                n, m, ns, h, t, x, p, f, jacobian, atol, store, counts, memory, table, J, E1, E2,
                pivots, delta, y,
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
    store[H] = h if 1.0 <= grown and grown < 1.2 else h * grown
    return 1


@routine(**SHAPES, start="n")
def commit(
    n: Int, m: Int, ns: Int, h: Real, changed: Int, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector,
    start: Vector,
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


@routine(**SHAPES, start="n", y="n")
def interpolate(
    n: Int, m: Int, ns: Int, h: Real, at: Real, t: Vector, x: Vector, p: Vector, f: Kernel,
    jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector,
    start: Vector, y: Vector,
) -> None:  # fmt: skip
    """Set y to the collocation polynomial `at` seconds into the last step, of length h."""
    theta = at / h
    for i in range(n):
        y[i] = memory[NEW_Q, i] + theta * (memory[NEW_Q + 1, i] + theta * memory[NEW_Q + 2, i])
        y[i] = start[i] + theta * y[i]


radau = AdaptiveMethod(
    "radau", begin, attempt, commit, interpolate, ROWS, _table(), 1, implicit=True
)
