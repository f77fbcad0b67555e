"""Nonlinear equations solved with an account of what was found: rank, redundancy, open rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.routines import Int, Kernel, Matrix, Vector, routine
from biela.errors import ShapeError
from biela.solvers.damped import STALLED, newton_damped
from biela.solvers.minimum_norm import NOT_FINITE, newton_minimum_norm
from biela.solvers.newton import CONVERGED, NOT_CONVERGED
from biela.solvers.pseudo_inverse import RANK_TOLERANCE, orthogonal_factor, orthogonal_solve

__all__ = ["Solution", "Steps", "solve_equations"]

Reals = NDArray[np.float64]
_PERTURBATION = 0.1


class Steps(Enum):
    """How the iteration moves."""

    MINIMUM_NORM = "minimum norm"  # full steps, for a good guess
    DAMPED = "damped"  # inside a trust region, from anywhere


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the iteration ended, and what the equations are like there.

    Attributes:
        status: CONVERGED, NOT_CONVERGED, STALLED (at a residual that no small move reduces) or
            NOT_FINITE.
        x: the last iterate.
        residual: f at x.
        tolerance: bound of |f| that was asked for.
        iterations: steps, or with damping evaluations of f.
        rank: rank of the Jacobian at x; None if it is not finite.
        dependent: rows that depend on the others at x, to first order.
        consistent: whether the dependent rows agree with the others: no part of the residual
            lies outside the range of the Jacobian. None without dependent rows.
    """

    status: int
    x: Reals
    residual: Reals
    tolerance: float
    iterations: int
    rank: int | None
    dependent: tuple[int, ...]
    consistent: bool | None

    @property
    def converged(self) -> bool:
        """Whether |f| is within the tolerance."""
        return self.status == CONVERGED

    @property
    def open(self) -> tuple[int, ...]:
        """Rows that are not fulfilled, the worst first."""
        size = np.abs(self.residual)
        worst = np.argsort(-np.nan_to_num(size, nan=np.inf), kind="stable")
        return tuple(int(i) for i in worst if not size[i] <= self.tolerance)

    @property
    def summary(self) -> str:
        """One sentence."""
        said = {
            CONVERGED: "converged",
            NOT_CONVERGED: "not converged",
            STALLED: "stalled where no small move reduces the residual",
            NOT_FINITE: "stopped at a value that is not finite",
        }[self.status]
        size = float(np.linalg.norm(self.residual))
        text = f"{said} after {self.iterations} iterations, |f| = {size:.3g}"
        if self.rank is not None:
            text += f", rank {self.rank} of {len(self.residual)} rows"
        if self.consistent is not None:
            agree = "consistent" if self.consistent else "inconsistent"
            text += f", rows {list(self.dependent)} dependent and {agree}"
        return text


@routine(t="1", x="n", p="m", jacobian="1, n, m -> r*n", J="r, n")
def evaluate_jacobian(
    r: Int, n: Int, m: Int, t: Vector, x: Vector, p: Vector, jacobian: Kernel, J: Matrix
) -> None:
    """Set J = ∂f/∂x at (t, x, p)."""
    jacobian(t, x, p, J)


def solve_equations(
    residual: Kernel,
    jacobian: Kernel,
    rows: int,
    x: ArrayLike,
    *,
    p: ArrayLike = (),
    t: float = 0.0,
    steps: Steps = Steps.DAMPED,
    weight: ArrayLike | None = None,
    tolerance: float = 1e-10,
    rank_tolerance: float = RANK_TOLERANCE,
    iterations: int = 200,
    radius: float | None = None,
    restarts: int = 0,
    seed: int = 0,
) -> Solution:
    """Solve f(t, x, p) = 0, `rows` equations in any number of unknowns, from the guess x.

    Args:
        residual: kernel f(t, x, p), sizes `1, n, m -> rows`.
        jacobian: kernel ∂f/∂x by rows, sizes `1, n, m -> rows*n`.
        rows: number of equations.
        x: guess; it is not changed.
        p: parameters.
        t: time.
        steps: full steps of minimum norm, or damped ones.
        weight: positive weight of each unknown in the norm that is minimised; 1 if not given.
        tolerance: bound of |f|.
        rank_tolerance: see [`orthogonal_factor`][biela.solvers.orthogonal_factor].
        iterations: at most so many steps.
        radius: first radius of the trust region; the length of x, and at least 1, if not given.
        restarts: so many times, where the iteration stalls, the guess is disturbed and tried again:
            a symmetric guess can lie on a ridge of |f|. The best end is returned.
        seed: of the disturbances.

    Raises:
        ShapeError: sizes that do not fit, or a weight that is not positive.
    """
    guess = np.array(x, dtype=np.float64).ravel()
    n = len(guess)
    weights = np.ones(n) if weight is None else np.array(weight, dtype=np.float64).ravel()
    if weights.shape != (n,) or not np.all((weights > 0) & np.isfinite(weights)):
        raise ShapeError(
            f"solve_equations: 'weight' is {n} positive numbers, one an unknown, not {weight!r}"
        )
    problem = _Problem(
        residual,
        jacobian,
        (rows, n),
        np.array([t], dtype=np.float64),
        np.array(p, dtype=np.float64).ravel(),
        weights,
        (tolerance, rank_tolerance),
    )
    start = float(np.linalg.norm(np.sqrt(weights) * guess)) if radius is None else radius
    delta = max(start, 1.0) if radius is None else start
    best = problem.solved(guess, steps, iterations, delta)
    random = np.random.default_rng(seed)
    for _ in range(restarts):
        if best.converged:
            break
        disturbed = guess + _PERTURBATION * delta * random.standard_normal(n) / np.sqrt(weights)
        again = problem.solved(disturbed, steps, iterations, delta)
        with np.errstate(over="ignore"):  # residuals near the largest of doubles
            if not np.linalg.norm(again.residual) >= np.linalg.norm(best.residual):
                best = again
    return best


@dataclass(frozen=True, eq=False)
class _Problem:
    residual: Any
    jacobian: Any
    shape: tuple[int, int]
    t: Reals
    p: Reals
    weight: Reals
    tolerances: tuple[float, float]

    def solved(self, guess: Reals, steps: Steps, iterations: int, radius: float) -> Solution:
        r, n = self.shape
        m, t, p, w = len(self.p), self.t, self.p, self.weight
        kernels = self.residual, self.jacobian
        tolerance, rank_tolerance = self.tolerances
        x, f, step = guess.copy(), np.zeros(r), np.zeros(n)
        rows, info = np.zeros(r, dtype=np.int64), np.zeros(2, dtype=np.int64)
        J, S, Q = np.zeros((3, r, n))
        if steps is Steps.DAMPED:
            work, g, trial = np.zeros(7 * r), np.zeros(n), np.zeros(n)
            status = newton_damped(
                *(r, n, m),
                *(t, x, p),
                *kernels,
                w,
                tolerance,
                rank_tolerance,
                iterations,
                radius,
                f,
                *(J, Q, S),
                rows,
                work,
                *(step, g, trial),
                info,
            )
        else:
            work = np.zeros(4 * r)
            status = newton_minimum_norm(
                *(r, n, m),
                *(t, x, p),
                *kernels,
                w,
                tolerance,
                rank_tolerance,
                iterations,
                f,
                *(J, S),
                rows,
                work,
                step,
                info,
            )
        return self._account(status, x, f, int(info[0]))

    def _account(self, status: int, x: Reals, f: Reals, iterations: int) -> Solution:
        """Look at the Jacobian where the iteration ended."""
        r, n = self.shape
        tolerance, rank_tolerance = self.tolerances
        J, S = np.zeros((2, r, n))
        evaluate_jacobian(r, n, len(self.p), self.t, x, self.p, self.jacobian, J)
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(f))):
            return Solution(status, x, f, tolerance, iterations, None, (), None)
        J /= np.sqrt(self.weight)
        Q, rows = J.copy(), np.zeros(r, dtype=np.int64)
        tau, sigma, scratch = np.zeros((3, r))
        step = np.zeros(n)
        rank = orthogonal_factor(r, n, Q, rank_tolerance, rows, tau, S, sigma, scratch)
        orthogonal_solve(r, n, Q, rows, tau, S, sigma, f, step, scratch)
        dependent = tuple(sorted(rows[rank:].tolist()))
        consistent = None
        if dependent:
            outside = float(np.linalg.norm(f - J @ step))
            consistent = outside <= max(tolerance, 1e-6 * float(np.linalg.norm(f)))
        return Solution(status, x, f, tolerance, iterations, rank, dependent, consistent)
