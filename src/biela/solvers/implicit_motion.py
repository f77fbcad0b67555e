"""The motion q(t) that equations f(t, q, p) = 0 define, instant after instant.

    predict    q ← q ⊕ (h v + h²/2 a)          (of order 0, 1 or 2)
    correct    until f = 0                     (`iterate_position`)
    solve      v ← v + J⁺ (β - J v),     a ← a + J⁺ (γ - J a)

with J v = β and J a = γ the equations differentiated once and twice.  The loop is native and knows
the equations by the addresses of their kernels: nothing but the kernels is compiled for new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.newton import CONVERGED
from biela.solvers.position_iteration import (
    BFGS,
    DAMPED,
    DFP,
    NEWTON,
    TRANSPOSE,
    iterate_position,
)
from biela.solvers.saddle_steps import displace, saddle_factor, saddle_step, sparse_product
from biela.solvers.sparse_pattern import SymmetricPattern
from biela.solvers.sparse_solver import SparseLDLT

__all__ = ["METHODS", "Correction", "ImplicitMotion", "Iteration"]

#: Methods by name, as `Iteration` takes them.
METHODS: Final = {
    "newton": NEWTON,
    "damped": DAMPED,
    "transpose": TRANSPOSE,
    "bfgs": BFGS,
    "dfp": DFP,
}
#: Rows that depend on others to this part are left out of a correction, see the projections.
DROP_POSITION: Final = 1e-8
#: The same for velocities and accelerations.
DROP_VELOCITY: Final = 1e-12

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Iteration:
    """How a position is corrected.

    Attributes:
        method: One of `METHODS`.
        damping: λ of "damped".
        tolerance: |f|, or |δ|, below which it ends.
        by_correction: Whether |δ| decides.
        fewest: Steps taken always.
        iterations: Steps taken at most.
    """

    method: str = "newton"
    damping: float = 0.05
    tolerance: float = 1e-13
    by_correction: bool = False
    fewest: int = 0
    iterations: int = 50


@dataclass(frozen=True, eq=False)
class Correction:
    """Where an iteration ended: CONVERGED, NOT_CONVERGED, STALLED or NOT_FINITE."""

    status: int
    q: Reals
    residual: Reals
    iterations: int


@routine(
    t="1",
    x="nq + 2*n",
    p="m",
    entries="1, nq, m -> e",
    beta="1, nq, m -> r",
    gamma="1, nq + n, m -> r",
    first="e",
    second="e",
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    f="r",
    J="e",
    step="n + r",
    y="n + r",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
)
def solve_rates(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    drop: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    entries: Kernel,
    beta: Kernel,
    gamma: Kernel,
    first: IntVector,
    second: IntVector,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    f: Vector,
    J: Vector,
    step: Vector,
    y: Vector,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
) -> None:
    """Correct v and a of the state x = (q, v, a), each in two rounds, the second a refinement."""
    entries(t, x[0:nq], p, J)
    saddle_factor(
        n, r, e, fill, updates, start, rows, order, targets, scatter, J, 0.0, drop, A, LD,
        accumulated, ratios, dropped,
    )  # fmt: skip
    for _round in range(2):
        beta(t, x[0:nq], p, f)
        sparse_product(n, r, e, first, second, J, x[nq : nq + n], y[0:r])
        for i in range(r):
            f[i] -= y[i]
        saddle_step(n, r, fill, start, rows, order, LD, f, step, y)
        for j in range(n):
            x[nq + j] += step[j]
    for _round in range(2):
        gamma(t, x[0 : nq + n], p, f)
        sparse_product(n, r, e, first, second, J, x[nq + n : nq + 2 * n], y[0:r])
        for i in range(r):
            f[i] -= y[i]
        saddle_step(n, r, fill, start, rows, order, LD, f, step, y)
        for j in range(n):
            x[nq + n + j] += step[j]


@routine(
    t="1",
    x="nq + 2*n",
    p="m",
    residual="1, nq, m -> r",
    entries="1, nq, m -> e",
    retract="nq, n -> nq",
    beta="1, nq, m -> r",
    gamma="1, nq + n, m -> r",
    first="e",
    second="e",
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    f="r",
    J="e",
    places="2, nq",
    step="n + r",
    y="n + r",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
    H="n, n",
    vectors="3, n",
    info="2",
    trajectory="steps + 1, nq + 2*n",
)
def follow_positions(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    steps: Int,
    predictor: Int,
    method: Int,
    damping: Real,
    tolerance: Real,
    by_correction: Int,
    fewest: Int,
    iterations: Int,
    drop_position: Real,
    drop_velocity: Real,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    residual: Kernel,
    entries: Kernel,
    retract: Kernel,
    beta: Kernel,
    gamma: Kernel,
    first: IntVector,
    second: IntVector,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    f: Vector,
    J: Vector,
    places: Matrix,
    step: Vector,
    y: Vector,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
    H: Matrix,
    vectors: Matrix,
    info: IntVector,
    trajectory: Matrix,
) -> Int:
    """Take `steps` steps of length h from the state x = (q, v, a) at t; return how many were good.

    `info[1]` becomes the number of iterations of all of them.
    """
    begin = t[0]
    total = 0
    for j in range(nq + 2 * n):
        trajectory[0, j] = x[j]
    for k in range(steps):
        for j in range(n):
            step[j] = 0.0
            if predictor >= 1:
                step[j] += h * x[nq + j]
            if predictor >= 2:
                step[j] += h * h / 2.0 * x[nq + n + j]
        displace(nq, n, 1.0, x[0:nq], step[0:n], retract, places[0])
        for j in range(nq):
            x[j] = places[0, j]
        t[0] = begin + (k + 1) * h
        status = iterate_position(
            nq, n, r, e, m, fill, updates, method, damping, tolerance, by_correction, fewest,
            iterations, drop_position, t, x[0:nq], p, residual, entries, retract, first, second,
            start, rows, order, targets, scatter, f, J, places, step, y, A, LD, accumulated,
            ratios, dropped, H, vectors, info,
        )  # fmt: skip
        total += info[0]
        info[1] = total
        if status != CONVERGED:
            return k
        solve_rates(
            nq, n, r, e, m, fill, updates, drop_velocity, t, x, p, entries, beta, gamma, first,
            second, start, rows, order, targets, scatter, f, J, step, y, A, LD, accumulated,
            ratios, dropped,
        )  # fmt: skip
        for j in range(nq + 2 * n):
            trajectory[k + 1, j] = x[j]
    return steps


class ImplicitMotion:
    """The equations of a motion by their kernels, with the arrays that the loop needs.

    Args:
        sizes: nq, n: entries of q and of v.
        pattern: rows and columns of the entries of J that are not zero, in the order in which the
            kernel `entries` gives them.
        rows: number of equations.
        parameters: size of p.
        residual: kernel f, `1, nq, m -> r`.
        entries: kernel of the entries of J, `1, nq, m -> e`.
        retract: kernel of q ⊕ δ, `nq, n -> nq`.
        beta: kernel β, `1, nq, m -> r`.
        gamma: kernel γ of (q, v), `1, nq + n, m -> r`.
    """

    def __init__(
        self,
        sizes: tuple[int, int],
        pattern: tuple[Sequence[int], Sequence[int]],
        rows: int,
        parameters: int,
        *,
        residual: Kernel,
        entries: Kernel,
        retract: Kernel,
        beta: Kernel,
        gamma: Kernel,
    ) -> None:
        self.nq, self.n = sizes
        nq, n, r = self.nq, self.n, rows
        self._first = np.array(pattern[0], dtype=np.int64)
        self._second = np.array(pattern[1], dtype=np.int64)
        e = len(self._first)
        self._residual, self._entries, self._retract = residual, entries, retract
        self._beta, self._gamma = beta, gamma
        own = np.arange(n + r)
        ldlt = SparseLDLT(
            SymmetricPattern(
                n + r,
                np.concatenate([own, n + self._first]),
                np.concatenate([own, self._second]),
            ),
            late=range(n, n + r),
        )
        self._schedule = (ldlt.start, ldlt.rows, ldlt.order, ldlt.targets, ldlt.scatter)
        self._sizes = (nq, n, r, e, parameters, ldlt.fill, len(ldlt.targets))
        self.operations = 2 * len(ldlt.targets) + 3 * ldlt.fill  #: of one factorisation
        self._f, self._J = np.zeros(r), np.zeros(e)
        self._places, self._step, self._y = np.zeros((2, nq)), np.zeros(n + r), np.zeros(n + r)
        self._factors = (
            np.zeros(n + r + e),
            np.zeros(n + r + ldlt.fill),
            np.zeros(n + r),
            np.zeros(n + r),
            np.zeros(n + r, dtype=np.int64),
        )
        self._H, self._vectors = np.zeros((n, n)), np.zeros((3, n))
        self._info = np.zeros(2, dtype=np.int64)

    def position(self, t: float, q: ArrayLike, p: Reals, iteration: Iteration) -> Correction:
        """A position that fulfils the equations, from the guess q."""
        place = np.array(q, dtype=float)
        status = iterate_position(
            *self._sizes,
            *self._options(iteration),
            DROP_POSITION,
            np.array([t], dtype=float),
            place,
            p,
            *(self._residual, self._entries, self._retract),
            *(self._first, self._second, *self._schedule),
            *(self._f, self._J, self._places, self._step, self._y, *self._factors),
            *(self._H, self._vectors, self._info),
        )
        return Correction(int(status), place, self._f.copy(), int(self._info[0]))

    def rates(self, t: float, x: ArrayLike, p: Reals) -> Reals:
        """The state (q, v, a) with v and a that fulfil their equations."""
        state = np.array(x, dtype=float)
        solve_rates(
            *self._sizes,
            DROP_VELOCITY,
            np.array([t], dtype=float),
            state,
            p,
            *(self._entries, self._beta, self._gamma),
            *(self._first, self._second, *self._schedule),
            *(self._f, self._J, self._step, self._y, *self._factors),
        )
        return state

    def follow(
        self,
        t: float,
        x: ArrayLike,
        p: Reals,
        h: float,
        steps: int,
        iteration: Iteration,
        predictor: int = 2,
    ) -> tuple[Reals, int]:
        """The states from x on, as far as they converge, and the iterations that it took."""
        state: Any = np.array(x, dtype=float)
        trajectory = np.empty((steps + 1, len(state)))
        done = follow_positions(
            *self._sizes,
            steps,
            predictor,
            *self._options(iteration),
            *(DROP_POSITION, DROP_VELOCITY, h),
            *(np.array([t], dtype=float), state, p),
            *(self._residual, self._entries, self._retract, self._beta, self._gamma),
            *(self._first, self._second, *self._schedule),
            *(self._f, self._J, self._places, self._step, self._y, *self._factors),
            *(self._H, self._vectors, self._info),
            trajectory,
        )
        return trajectory[: int(done) + 1], int(self._info[1]) if steps else 0

    def _options(self, iteration: Iteration) -> tuple[Any, ...]:
        return (
            METHODS[iteration.method],
            float(iteration.damping),
            float(iteration.tolerance),
            int(iteration.by_correction),
            int(iteration.fewest),
            int(iteration.iterations),
        )
