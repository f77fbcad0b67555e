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

from biela.code.routines import Kernel
from biela.solvers.position_iteration import (
    BFGS,
    DAMPED,
    DFP,
    NEWTON,
    TRANSPOSE,
    iterate_position,
)
from biela.solvers.position_sequence import follow_positions, solve_rates
from biela.solvers.sparse.pattern import SymmetricPattern
from biela.solvers.sparse.scalar_solver import SparseLDLT

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
        self._schedule: tuple[Any, ...] = (
            ldlt.start,
            ldlt.rows,
            ldlt.order,
            ldlt.targets,
            ldlt.scatter,
        )
        self._sizes: tuple[Any, ...] = (nq, n, r, e, parameters, ldlt.fill, len(ldlt.targets))
        self._f, self._J = np.zeros(r), np.zeros(e)
        self._places, self._step, self._y = np.zeros((2, nq)), np.zeros(n + r), np.zeros(n + r)
        self._factors: tuple[Any, ...] = (
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
        arguments: tuple[Any, ...] = (
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
        status = iterate_position(*arguments)
        return Correction(int(status), place, self._f.copy(), int(self._info[0]))

    def rates(self, t: float, x: ArrayLike, p: Reals) -> Reals:
        """The state (q, v, a) with v and a that fulfil their equations."""
        state = np.array(x, dtype=float)
        arguments: tuple[Any, ...] = (
            *self._sizes,
            DROP_VELOCITY,
            np.array([t], dtype=float),
            state,
            p,
            *(self._entries, self._beta, self._gamma),
            *(self._first, self._second, *self._schedule),
            *(self._f, self._J, self._step, self._y, *self._factors),
        )
        solve_rates(*arguments)
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
        arguments: tuple[Any, ...] = (
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
        done = follow_positions(*arguments)
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
