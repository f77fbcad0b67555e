"""Runs of the generalised-α method, from Python: arrays are allocated once, the loop is native."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.routines import Kernel
from biela.errors import ShapeError
from biela.solvers.integrators.generalized_alpha import generalized_alpha

__all__ = ["ConstrainedRun", "GeneralizedAlpha"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConstrainedRun:
    """Outcome of one call of `advance`.

    Attributes:
        status: FINISHED, NOT_FINITE or NOT_CONVERGING.
        times: times of the rows below.
        q: positions, one row a time, the first of them at the start of the call; likewise the rest.
        v: velocities.
        vdot: accelerations.
        lam: multipliers.
        steps: steps taken since the start.
        iterations: iterations since the start.
    """

    status: int
    times: Array
    q: Array
    v: Array
    vdot: Array
    lam: Array
    steps: int
    iterations: int


class GeneralizedAlpha:
    """Integrates a constrained mechanical system of index three with a fixed step.

    The kernels are those of `generalized_alpha`: residual, tangent and retract.

    Args:
        residual: r = M v̇ - Q + Φ_vᵀ λ and Φ, `1, nq, nv, nv, nl, m -> nv + nl`.
        tangent: iteration matrix, `1, nq, nv, nv, nl, m, 3 -> (nv + nl)²`.
        retract: q ⊕ δ, `nq, nv, m -> nq`.
        nq: number of positions.
        nv: number of velocities.
        nl: number of constraints.
        m: size of p.
        rho: spectral radius at infinite frequency, from 0 (most damping) to 1 (none).
        iterations: iterations a step, at most.
        tolerance: change of the displacement at which they end; 0 takes all of them.

    Raises:
        ShapeError: `rho` lies outside 0 to 1, or there is no iteration.
    """

    def __init__(
        self,
        residual: Kernel,
        tangent: Kernel,
        retract: Kernel,
        *,
        nq: int,
        nv: int,
        nl: int,
        m: int = 0,
        rho: float = 0.9,
        iterations: int = 10,
        tolerance: float = 0.0,
    ) -> None:
        if not 0 <= rho <= 1:
            raise ShapeError(f"rho is {rho}; a spectral radius lies between 0 and 1")
        if iterations < 1:
            raise ShapeError(f"a step needs at least one iteration, not {iterations}")
        self._kernels = (residual, tangent, retract)
        self._sizes = (nq, nv, nl, m)
        self._options = (float(rho), iterations, float(tolerance))
        self._t, self._p = np.zeros(1), np.zeros(m)
        self._q, self._v, self._vdot = np.zeros(nq), np.zeros(nv), np.zeros(nv)
        self._a, self._lam = np.zeros(nv), np.zeros(nl)
        total = nv + nl
        self._scratch = (
            np.zeros(nq), np.zeros((3, nv)), np.zeros(total), np.zeros((total, total)), np.zeros(3),
        )  # fmt: skip
        self._counts = np.zeros(3, np.int64)

    def start(
        self, t: float, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, lam: ArrayLike, p: ArrayLike
    ) -> None:
        """Begin with consistent q, v, v̇ and λ; the counts begin anew.

        Raises:
            ShapeError: an array has another size than the system.
        """
        self._t[0] = t
        given = {"q": q, "v": v, "vdot": vdot, "lam": lam, "p": p}
        places = (self._q, self._v, self._vdot, self._lam, self._p)
        for (name, values), place in zip(given.items(), places, strict=True):
            array = np.asarray(values, dtype=np.float64).reshape(-1)
            if array.shape != place.shape:
                raise ShapeError(f"{name} has {array.size} numbers where {place.size} are needed")
            place[:] = array
        self._a[:] = self._vdot
        self._counts[:] = 0

    def advance(self, h: float, samples: int, stride: int = 1) -> ConstrainedRun:
        """Take samples × stride steps of length h; the next call goes on from there."""
        nq, nv, nl, _ = self._sizes
        rows = tuple(np.empty((samples + 1, size)) for size in (nq, nv, nv, nl))
        start = float(self._t[0])
        status = generalized_alpha(
            *(*self._sizes, samples, stride, h, *self._options),
            *(self._t, self._q, self._v, self._vdot, self._a, self._lam, self._p),
            *(*self._kernels, *self._scratch, *rows, self._counts),
        )
        steps, iterations, last = (int(c) for c in self._counts)
        times = start + h * stride * np.arange(last + 1, dtype=np.float64)
        q, v, vdot, lam = (row[: last + 1] for row in rows)
        return ConstrainedRun(status, times, q, v, vdot, lam, steps, iterations)
