"""Newton's method with the pseudo-inverse, damped: for any number of equations, from far away.

    x ← x - s J⁺ r,     or, near a singularity,     (JᵀJ + μ 1) δ = -Jᵀ r

(Levenberg–Marquardt, Nocedal & Wright 2006, §10.3), with J⁺ from the singular value decomposition.
For the problems that are solved once, before a run, on functions of NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CONVERGED, STALLED, NOT_FINITE = 0, 1, 2


@dataclass(frozen=True)
class Solution:
    """Where it ended, and how: CONVERGED, STALLED at a residual above zero, or NOT_FINITE."""

    x: Floats
    residual: Floats
    status: int
    iterations: int


def damped_newton(
    residual: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    start: Floats,
    tolerance: float = 1e-11,
    iterations: int = 100,
) -> Solution:
    """Solve r(x) = 0 from a start that may be far away, changing x as little as it can."""
    x = np.array(start, dtype=float)
    r = residual(x)
    damping = 0.0
    for k in range(iterations):
        if not np.isfinite(r).all():
            return Solution(x, r, NOT_FINITE, k)
        size = float(np.abs(r).max(initial=0.0))
        if size <= tolerance:
            return Solution(x, r, CONVERGED, k)
        J = jacobian(x)
        if not np.isfinite(J).all():
            return Solution(x, r, NOT_FINITE, k)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        kept = s > 1e-10 * s[0] if len(s) and s[0] > 0 else np.zeros(len(s), bool)
        if not kept.any():
            return Solution(x, r, STALLED, k)
        projected = U[:, kept].T @ r
        sigma = s[kept]
        found = False
        for _ in range(30):
            step = -Vt[kept].T @ (sigma / (sigma**2 + damping) * projected)
            trial = x + step
            value = residual(trial)
            better = np.isfinite(value).all() and value @ value < (1 - 1e-4) * (r @ r)
            if better or (np.isfinite(value).all() and np.abs(value).max() <= tolerance):
                found = True
                break
            damping = max(4 * damping, 1e-4 * sigma[0] ** 2)
        if not found:
            return Solution(x, r, STALLED, k + 1)
        x, r = trial, value
        damping = damping / 10 if damping > 1e-12 * sigma[0] ** 2 else 0.0
    done = np.isfinite(r).all() and np.abs(r).max(initial=0.0) <= tolerance
    return Solution(x, r, CONVERGED if done else STALLED, iterations)
