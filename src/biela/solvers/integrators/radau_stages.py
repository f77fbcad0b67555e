"""The stages of Radau IIA: coefficients, matrices and Newton's method. See `radau`."""

from __future__ import annotations

from math import pow, sqrt

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.adaptive_memory import (
    COUNTS_OWN,
    EPSILON,
    EVALUATIONS,
    FACTORISATIONS,
    ITERATIONS,
    JACOBIANS,
    METHOD_SHAPES,
    RTOL,
    STORE_OWN,
    USED,
    WITH_JACOBIAN,
)
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.differences import difference_jacobian
from biela.solvers.integrators.error_norm import error_norm
from biela.solvers.lu import lu_factor, lu_solve

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


def radau_table() -> NDArray[np.float64]:
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


@routine(**METHOD_SHAPES)
def factor(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector, p: Vector,
    f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector,
) -> Int:  # fmt: skip
    """Take the Jacobian if it is due, and factor the two matrices; 0, or 1 if one is singular."""
    if counts[FRESHNESS] == 0:
        if counts[WITH_JACOBIAN] == 1:
            jacobian(t, x, p, J)
        else:
            # numbers count as small where the absolute tolerance is larger than the relative one;
            # smaller increments of coordinates that are zero would show the rounding of f
            for i in range(n):
                memory[SCRATCH, i] = atol[i] / store[RTOL]
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


@routine(**METHOD_SHAPES, y="n")
def stages(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector, p: Vector,
    f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Solve for the stages by simplified Newton; 1 converged, 0 not, -1 not finite."""
    # first guess: the continuous solution of the step before, gone on with
    for j in range(3):
        theta = 1.0 + table[C + j] * h / store[USED] if counts[PREVIOUS] == 1 else 1.0
        for i in range(n):
            ahead = memory[OLD_Q + 1, i] + theta * memory[OLD_Q + 2, i]
            ahead = theta * (memory[OLD_Q, i] + theta * ahead)
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
        change = sqrt(total / 3.0)
        for j in range(3):
            for i in range(n):
                total = 0.0
                for k in range(3):
                    total += table[T + 3 * j + k] * memory[W + k, i]
                memory[Z + j, i] = total

        rate = 0.0 if iteration == 0 else change / before
        store[RATE] = rate
        if not change < 1e300 or rate >= 1.0:
            return 0
        if change == 0.0 or (iteration > 0 and rate / (1.0 - rate) * change < tolerance):
            return 1
        # what is left after the last iteration, at this rate
        left = pow(rate, float(LIMIT - 1 - iteration)) / (1.0 - rate) * change
        if iteration > 0 and left > tolerance:
            return 0
        before = change
    return 0
