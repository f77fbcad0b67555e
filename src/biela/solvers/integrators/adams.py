"""Adams-Bashforth-Moulton methods of variable order 1 to 12 and variable step, in PECE mode.

The solution is carried by modified divided differences φ_i of the slopes. With the step h to come,

    ψ_1 = h,  ψ_i = ψ_{i-1}(before) + h,                 α_i = h/ψ_i
    β_1 = 1,  β_i = β_{i-1} ψ_{i-1}/ψ_{i-1}(before),     σ_1 = 1,  σ_{i+1} = i α_i σ_i
    c_{1,j} = 1/(j (j + 1)),  c_{i,j} = c_{i-1,j} - α_i c_{i-1,j+1},     g_1 = 1,  g_{i+1} = c_{i,1}

a step of order k is

    P   p = x + h Σ_{i≤k} g_i φ*_i,   φ*_i = β_i φ_i          φᵖ_i = φ*_i + φᵖ_{i+1},  φᵖ_{k+1} = 0
    E   e = f(t + h, p) - φᵖ_1
    C   x₁ = p + h g_{k+1} e
    E   φ_{k+1} = f(t + h, x₁) - φᵖ_1,   φ_i = φᵖ_i + φ_{k+1}

and the errors of the orders k - 2 to k + 1 choose the next order and step: the step is kept,
doubled or reduced. A projection of x₁ comes before the last evaluation, so it costs none. The
method starts itself, at order one.

Shampine & Gordon 1975, Computer Solution of Ordinary Differential Equations: The Initial Value
Problem, ch. 5, 6 and 10; Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I,
§III.5 and §III.7.
"""

from __future__ import annotations

from math import pow, sqrt

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.adaptive import AdaptiveMethod
from biela.solvers.integrators.adaptive_memory import (
    CONVENTION,
    COUNTS_OWN,
    EVALUATIONS,
    METHOD_SHAPES,
    REJECTED,
    RTOL,
    STORE_OWN,
    H,
)
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.error_norm import error_norm, first_step

__all__ = ["adams"]

MAX_ORDER = 12

# own places in `counts` and `store`
ORDER = COUNTS_OWN  # of the next step
OLD_ORDER = COUNTS_OWN + 1  # of the last one
ALIKE = COUNTS_OWN + 2  # how many steps had the same length
GROWING = COUNTS_OWN + 3  # 1 in the first phase, when order and step rise with every step
TRIED_ORDER = COUNTS_OWN + 4
TRIED_ALIKE = COUNTS_OWN + 5
LOWER = COUNTS_OWN + 6  # the order the last attempt would go down to, or its own
OLD_H = STORE_OWN
ERROR_K = STORE_OWN + 1  # errors at the order of the last attempt, and one below
ERROR_BELOW = STORE_OWN + 2

# rows of `memory`: φ_1 to φ_14, the predicted φᵖ, and scratch; φ_i is in row i - 1
PREDICTED = 14
SLOPE = 28
SCRATCH = 29
ROWS = 31

# places in `table`: coefficients with index i lie at NAME + i
PSI = 0
PSI_NEW = 15
ALPHA = 30
BETA = 45
SIGMA = 60
G = 75
C = 90
MOULTON = 106
SIZE = 121


def _moulton() -> NDArray[np.float64]:
    """Error constants |γ*_i| of the Adams-Moulton methods: 1, 1/2, 1/12, 1/24, 19/720, …"""
    gamma = [1.0]
    for m in range(1, 15):
        gamma.append(-sum(g / (m + 1 - j) for j, g in enumerate(gamma)))
    return np.abs(gamma)


@routine(table="size")
def coefficients(size: Int, k: Int, h: Real, table: Vector) -> None:
    """Set ψ, α, β, σ and g for a step of length h and order k."""
    table[PSI_NEW + 1] = h
    table[BETA + 1] = 1.0
    table[SIGMA + 1] = 1.0
    for i in range(1, k + 1):
        if i > 1:
            table[PSI_NEW + i] = table[PSI + i - 1] + h
            table[BETA + i] = table[BETA + i - 1] * table[PSI_NEW + i - 1] / table[PSI + i - 1]
        table[ALPHA + i] = h / table[PSI_NEW + i]
        table[SIGMA + i + 1] = i * table[ALPHA + i] * table[SIGMA + i]
    table[G + 1] = 1.0
    for j in range(1, k + 2):
        table[C + j] = 1.0 / (j * (j + 1))
    table[G + 2] = table[C + 1]
    for i in range(2, k + 1):
        for j in range(1, k + 2 - i):
            table[C + j] -= table[ALPHA + i] * table[C + j + 1]
        table[G + i + 1] = table[C + 1]


@routine(**METHOD_SHAPES)
def begin(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, keep: Int, end: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector,
) -> None:  # fmt: skip
    """Begin at order one: slopes from before a jump are of no use, so no step length is kept."""
    f(t, x, p, memory[0])
    counts[EVALUATIONS] += 1
    for i in range(n):
        memory[1, i] = 0.0
    store[H] = first_step(
        n, m, 2, end, t, x, p, f, memory[0], atol, store, counts, memory[SLOPE], memory[SCRATCH]
    )
    store[OLD_H] = 0.0
    counts[ORDER] = 1
    counts[OLD_ORDER] = 0
    counts[ALIKE] = 0
    counts[GROWING] = 1


@routine(**METHOD_SHAPES, y="n")
def attempt(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector, p: Vector,
    f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Predict, evaluate, correct; 1 accepted, 0 rejected, -1 not finite."""
    k = counts[ORDER]
    counts[TRIED_ORDER] = k
    alike = 1
    if h == store[OLD_H]:
        alike = min(counts[ALIKE], counts[OLD_ORDER]) + 1
    counts[TRIED_ALIKE] = alike
    coefficients(size, k, h, table)

    # P: the sum from the highest difference down
    for i in range(n):
        y[i] = 0.0
        memory[PREDICTED + k, i] = 0.0
    for j in range(k, 0, -1):
        for i in range(n):
            difference = table[BETA + j] * memory[j - 1, i]
            y[i] += table[G + j] * difference
            memory[PREDICTED + j - 1, i] = memory[PREDICTED + j, i] + difference
    for i in range(n):
        y[i] = x[i] + h * y[i]

    # E, and e
    start = t[0]
    t[0] = start + h
    f(t, y, p, memory[SLOPE])
    t[0] = start
    counts[EVALUATIONS] += 1
    for i in range(n):
        memory[SLOPE, i] -= memory[PREDICTED, i]
        # C
        y[i] += h * table[G + k + 1] * memory[SLOPE, i]

    # errors at orders k, k - 1 and k - 2, as shares of the tolerance
    convention = counts[CONVENTION]
    norm = h * error_norm(n, convention, store[RTOL], memory[SLOPE], x, x, atol)
    err = norm * (table[G + k] - table[G + k + 1])
    at_k = norm * table[SIGMA + k + 1] * table[MOULTON + k]
    below = 0.0
    lower = k
    if k >= 2:
        for i in range(n):
            memory[SCRATCH, i] = memory[PREDICTED + k - 1, i] + memory[SLOPE, i]
        norm = h * error_norm(n, convention, store[RTOL], memory[SCRATCH], x, x, atol)
        below = norm * table[SIGMA + k] * table[MOULTON + k - 1]
        if k == 2 and below <= 0.5 * at_k:
            lower = 1
    if k >= 3:
        for i in range(n):
            memory[SCRATCH, i] = memory[PREDICTED + k - 2, i] + memory[SLOPE, i]
        norm = h * error_norm(n, convention, store[RTOL], memory[SCRATCH], x, x, atol)
        two_below = norm * table[SIGMA + k - 1] * table[MOULTON + k - 2]
        if max(below, two_below) <= at_k:
            lower = k - 1
    store[ERROR_K] = at_k
    store[ERROR_BELOW] = below
    counts[LOWER] = lower

    if finite(n, y) == 0 or not err < 1e300:
        counts[ORDER] = 1
        counts[GROWING] = 0
        store[H] = 0.25 * h
        return -1
    if err <= 1.0:
        return 1
    # halve the step twice; then the differences are not to be trusted: order one
    counts[GROWING] = 0
    counts[ORDER] = lower if counts[REJECTED] < 2 else 1
    factor = 0.5
    if counts[REJECTED] > 2 and 0.25 * at_k > 0.5:
        factor = sqrt(0.5 / at_k)
    store[H] = factor * h
    return 0


@routine(**METHOD_SHAPES, start="n")
def commit(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, changed: Int, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector,
) -> None:  # fmt: skip
    """Evaluate at the new state, update the differences, choose the next order and step."""
    k = counts[TRIED_ORDER]
    f(t, x, p, memory[SLOPE])
    counts[EVALUATIONS] += 1
    for i in range(n):
        memory[SLOPE, i] -= memory[PREDICTED, i]
        memory[k + 1, i] = memory[SLOPE, i] - memory[k, i]
        memory[k, i] = memory[SLOPE, i]
    for j in range(k):
        for i in range(n):
            memory[j, i] = memory[PREDICTED + j, i] + memory[SLOPE, i]
    for i in range(1, k + 1):
        table[PSI + i] = table[PSI_NEW + i]
    store[OLD_H] = h
    counts[OLD_ORDER] = k
    counts[ALIKE] = counts[TRIED_ALIKE]

    # order
    err = store[ERROR_K]
    order = k
    if counts[LOWER] < k or k == MAX_ORDER:
        counts[GROWING] = 0
    if counts[GROWING] == 1:
        order = k + 1
    elif counts[LOWER] < k:
        order = k - 1
        err = store[ERROR_BELOW]
    elif counts[ALIKE] > k:
        # only after k + 1 equal steps is the next difference good for an estimate
        norm = error_norm(n, counts[CONVENTION], store[RTOL], memory[k + 1], x, x, atol)
        above = h * table[MOULTON + k + 1] * norm
        if k == 1:
            if above < 0.5 * err:
                order = 2
                err = above
        elif store[ERROR_BELOW] <= min(err, above):
            order = k - 1
            err = store[ERROR_BELOW]
        elif above < err and k < MAX_ORDER:
            order = k + 1
            err = above
    counts[ORDER] = order

    # step: doubled, kept or reduced
    if counts[GROWING] == 1 or err * pow(2.0, order + 1.0) <= 0.5:
        store[H] = 2.0 * h
    elif err <= 0.5:
        store[H] = h
    else:
        store[H] = h * max(0.5, min(0.9, pow(0.5 / err, 1.0 / (order + 1))))


@routine(**METHOD_SHAPES, start="n", y="n")
def interpolate(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, at: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector, y: Vector,
) -> None:  # fmt: skip
    """Set y from the polynomial of degree k + 1 through the slopes, `at` seconds into the step.

    Its integral from the end of the step back to there needs factors of its own:
    c_{1,j} = 1/j, c_{i,j} = Γ_{i-1} c_{i-1,j} - η_{i-1} c_{i-1,j+1}, with s = at - h,
    Γ_1 = s/ψ_1, Γ_i = (s + ψ_{i-1})/ψ_i and η_i = s/ψ_i.
    """
    last = counts[OLD_ORDER] + 1
    s = at - h
    for j in range(1, last + 1):
        table[C + j] = 1.0 / j
    for i in range(n):
        y[i] = memory[0, i]
    before = 0.0
    for i in range(2, last + 1):
        gamma = (s + before) / table[PSI + i - 1]
        eta = s / table[PSI + i - 1]
        for j in range(1, last + 2 - i):
            table[C + j] = gamma * table[C + j] - eta * table[C + j + 1]
        before = table[PSI + i - 1]
        for l in range(n):
            y[l] += table[C + 1] * memory[i - 1, l]
    for i in range(n):
        y[i] = x[i] + s * y[i]


def _table() -> NDArray[np.float64]:
    table = np.zeros(SIZE)
    table[MOULTON:] = _moulton()
    return table


adams = AdaptiveMethod("adams", begin, attempt, commit, interpolate, ROWS, _table(), 0)
