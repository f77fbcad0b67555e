"""Explicit Runge-Kutta pairs of which the last stage is the first of the next step.

A pair is a tableau (`Tableau`); `embedded_pair` makes the method of it:

    k_i = f(t + c_i h, x + h Σ_j a_ij k_j),    x₁ = x + h Σ_j a_sj k_j,    e = h Σ_i e_i k_i
    x(t + θh) = x + h Σ_i k_i Σ_j d_ij θ^(j+1)

The step follows the errors of this step and the last (PI control), with err the error as a share of
the tolerance and q the order of the error estimate plus one:

    h ← h min(10, max(0.2, 0.9 err_old^β / err^(1/q - 3β/4))),    β = 0.04

Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §II.4 and §II.6;
Hairer & Wanner 1996, Solving Ordinary Differential Equations II, §IV.2 for the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pow

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.errors import ShapeError
from biela.solvers.integrators.adaptive import AdaptiveMethod
from biela.solvers.integrators.adaptive_memory import (
    CONVENTION,
    EPSILON,
    EVALUATIONS,
    METHOD_SHAPES,
    OLD_ERROR,
    REJECTED,
    RTOL,
    H,
)
from biela.solvers.integrators.corrections import finite
from biela.solvers.integrators.error_norm import error_norm, first_step

__all__ = ["Tableau", "embedded_pair"]

# places in `table`
STAGES = 0
DEGREE = 1
ORDER = 2  # of the local error of the estimate
HEAD = 3  # A by rows, then c, e and D

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Tableau:
    """Coefficients of an embedded pair with s stages, the last of them at the new state.

    Attributes:
        order: order of the solution that is carried on.
        error_order: order of the error estimate's method.
        A: rows of a_ij, the last of them the weights.
        c: nodes.
        e: weights minus those of the other method.
        D: rows of d_ij, of the continuous solution.

    Raises:
        ShapeError: the coefficients do not fit together.
    """

    order: int
    error_order: int
    A: Rows
    c: Sequence[float]
    e: Sequence[float]
    D: Rows

    def __post_init__(self) -> None:
        s = len(self.c)
        lower = [len(row) for row in self.A] == list(range(s)) and s > 1
        if not (
            lower and len(self.e) == s and [len(row) for row in self.D] == [len(self.D[0])] * s
        ):
            raise ShapeError(
                f"a tableau of {s} stages has rows of 0 to {s - 1} numbers in A, {s} numbers in e "
                f"and {s} rows of one length in D"
            )
        weights = np.array([*self.A[-1], 0.0])
        sums = [sum(row) for row in self.A]
        if not (
            np.allclose(sums, self.c, atol=1e-12)
            and abs(self.c[-1] - 1) < 1e-12
            and abs(sum(self.e)) < 1e-12
            and np.allclose(np.sum(self.D, axis=1), weights, atol=1e-12)
        ):
            raise ShapeError(
                "the tableau is not consistent: rows of A add up to c, the last of them to 1, "
                "e to 0, and rows of D to the weights, the last row of A"
            )

    def numbers(self) -> NDArray[np.float64]:
        """All of them in one row: s, degree of D, order of the error, A by rows of s, c, e, D."""
        s = len(self.c)
        A = np.zeros((s, s))
        for i, row in enumerate(self.A):
            A[i, : len(row)] = row
        numbers = [s, len(self.D[0]), self.error_order + 1]
        return np.concatenate([numbers, A.ravel(), self.c, self.e, np.ravel(self.D)])


@routine(**METHOD_SHAPES)
def begin(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, keep: Int, end: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector,
) -> None:  # fmt: skip
    """Take the slope at a new start, and choose the first step unless one is to be kept."""
    f(t, x, p, memory[0])
    counts[EVALUATIONS] += 1
    if keep == 0:
        store[OLD_ERROR] = 1e-4
        order = int(table[ORDER])
        store[H] = first_step(
            n, m, order, end, t, x, p, f, memory[0], atol, store, counts, memory[1], memory[2]
        )


@routine(**METHOD_SHAPES, y="n")
def attempt(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector, p: Vector,
    f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector, memory: Matrix,
    table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, y: Vector,
) -> Int:  # fmt: skip
    """Try a step of length h to y, and propose the next; 1 accepted, 0 not, -1 not finite."""
    s = int(table[STAGES])
    c = HEAD + s * s
    e = c + s
    order = table[ORDER]
    start = t[0]
    for i in range(n):
        memory[1, i] = memory[0, i]
    for k in range(1, s):
        for i in range(n):
            y[i] = 0.0
        for j in range(k):
            if table[HEAD + k * s + j] != 0.0:
                for i in range(n):
                    y[i] += table[HEAD + k * s + j] * memory[j + 1, i]
        for i in range(n):
            y[i] = x[i] + h * y[i]
        t[0] = start + table[c + k] * h
        f(t, y, p, memory[k + 1])
    t[0] = start
    counts[EVALUATIONS] += s - 1

    # error as a share of the tolerance
    for i in range(n):
        total = 0.0
        for k in range(s):
            total += table[e + k] * memory[k + 1, i]
        memory[s + 1, i] = h * total
    err = error_norm(n, counts[CONVENTION], store[RTOL], memory[s + 1], x, y, atol)
    if finite(n, y) == 0 or not err < 1e300:
        store[H] = 0.25 * h
        return -1

    if counts[CONVENTION] == 1:
        if err > 1.0:
            factor = 0.5 if counts[REJECTED] > 0 else max(0.1, 0.8 * pow(err, -1.0 / order))
            store[H] = max(16.0 * EPSILON * abs(start), h * factor)
            return 0
        # after a rejection the step stays as it is
        factor = 1.0 if counts[REJECTED] > 0 else 1.0 / max(0.2, 1.25 * pow(err, 1.0 / order))
        store[H] = h * factor
        return 1
    exponent = 1.0 / order - 0.03
    if err > 1.0:
        store[H] = h * max(0.2, 0.9 * pow(err, -1.0 / order))
        return 0
    small = max(err, 1e-10)
    factor = min(10.0, max(0.2, 0.9 * pow(store[OLD_ERROR], 0.04) * pow(small, -exponent)))
    store[H] = h * (min(1.0, factor) if counts[REJECTED] > 0 else factor)
    store[OLD_ERROR] = max(err, 1e-4)
    return 1


@routine(**METHOD_SHAPES, start="n")
def commit(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, changed: Int, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector,
) -> None:  # fmt: skip
    """Go on from the new state x at t: the last slope is the first of the next step."""
    if changed != 0:
        f(t, x, p, memory[0])
        counts[EVALUATIONS] += 1
    else:
        for i in range(n):
            memory[0, i] = memory[int(table[STAGES]), i]


@routine(**METHOD_SHAPES, start="n", y="n")
def interpolate(
    n: Int, m: Int, ns: Int, rows: Int, size: Int, h: Real, at: Real, t: Vector, x: Vector,
    p: Vector, f: Kernel, jacobian: Kernel, atol: Vector, store: Vector, counts: IntVector,
    memory: Matrix, table: Vector, J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector,
    delta: Vector, start: Vector, y: Vector,
) -> None:  # fmt: skip
    """Set y to the continuous solution `at` seconds into the last step, of length h."""
    s = int(table[STAGES])
    degree = int(table[DEGREE])
    d = HEAD + s * s + 2 * s
    theta = at / h
    for i in range(n):
        y[i] = 0.0
    for k in range(s):
        weight = 0.0
        for j in range(degree - 1, -1, -1):
            weight = (weight + table[d + k * degree + j]) * theta
        for i in range(n):
            y[i] += weight * memory[k + 1, i]
    for i in range(n):
        y[i] = start[i] + h * y[i]


def embedded_pair(name: str, tableau: Tableau) -> AdaptiveMethod:
    """Return the method of a tableau, for `VariableStep`; all pairs share the same code."""
    rows = len(tableau.c) + 2  # the slope at x, the stages, the error
    return AdaptiveMethod(
        name, begin, attempt, commit, interpolate, rows, tableau.numbers(), dense_first=1
    )
