"""The generalised-α method of index 3 as a way to drive a run.

Its kernels are made of a system: the residual r = M v' - Q + Φ_vᵀ λ with Φ below it, and the
iteration matrix with the symmetric part of the tangents; see
`biela.solvers.integrators.generalized_alpha`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.stepping import Progressed
from biela.analysis.unrolled import (
    Matrix,
    Row,
    Unrolled,
    along_displacements,
    derivatives,
    product,
    transposed_product,
)
from biela.atoms import Kind
from biela.code import Function
from biela.code.arrays import Entries
from biela.errors import ModelError
from biela.solvers.integrators import GeneralizedAlpha

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AlphaKernels:
    """The kernels of the method."""

    residual: Function
    tangent: Function
    retract: Function


def alpha_kernels(unrolled: Unrolled) -> AlphaKernels:
    """The kernels of a system.

    Raises:
        ModelError: It has constraints on velocities, which the method does not take.
    """
    u, system = unrolled, unrolled.system
    if system.geometric != len(system.multipliers):
        raise ModelError(
            f"{system.name}: the generalised-α method takes geometric constraints only; use "
            f"formulation='multipliers'"
        )
    nv = len(u.v)
    reaction = transposed_product(u.Phi_v, u.lam, nv, u.zero)
    inertia = product(u.M, u.a, u.zero)
    r = [i + s - f for i, s, f in zip(inertia, reaction, u.Q(), strict=True)]
    arrays: dict[str, Entries] = {
        "t": [u.t],
        "q": u.q,
        "v": u.v,
        "a": u.a,
        "lam": u.lam,
        "p": [*u.p, *u.u],
    }
    factors = [u.workspace.symbol(f"factor{k}", Kind.FREE) for k in range(3)]
    delta = [u.workspace.symbol(f"delta{k}", Kind.FREE) for k in range(nv)]
    matrix = _iteration_matrix(u, r, factors)
    name = u.workspace.name
    return AlphaKernels(
        Function(f"{name}_residual", arrays, {"r": [*r, *u.Phi]}),
        Function(f"{name}_tangent", {**arrays, "factors": factors}, {"S": matrix}),
        Function(
            f"{name}_retract",
            {"q": u.q, "delta": delta, "p": [*u.p, *u.u]},
            {"moved": u.moved(delta)},
        ),
    )


def _iteration_matrix(u: Unrolled, r: Row, factors: Row) -> Matrix:
    by_v = derivatives(r, u.v)
    by_delta = along_displacements(u, derivatives(r, u.q))
    n, nl = len(u.v), len(u.lam)
    rows = [[u.zero] * (n + nl) for _ in range(n + nl)]
    for i in range(n):
        for j in range(i + 1):
            damping = (by_v[i][j] + by_v[j][i]) / 2
            stiffness = (by_delta[i][j] + by_delta[j][i]) / 2
            entry = u.M[i][j] * factors[0] + damping * factors[1] + stiffness * factors[2]
            rows[i][j] = rows[j][i] = entry
    without = [not any(entry.ref for entry in row) for row in u.M]
    for k, row in enumerate(u.Phi_v):
        for j, entry in enumerate(row):
            rows[n + k][j] = rows[j][n + k] = entry
        # coordinates without inertia have no pivot but by the constraints on them
        if any(entry.ref and bare for entry, bare in zip(row, without, strict=True)):
            rows[n + k][n + k] = u.workspace.atom(1.0)
    return rows


class AlphaStepper:
    """Drives the generalised-α method; output times are every ``stride`` steps."""

    def __init__(
        self,
        kernels: AlphaKernels,
        unrolled: Unrolled,
        h: float,
        stride: int,
        rho: float,
        iterations: int,
    ) -> None:
        system = unrolled.system
        self._sizes = len(system.q), len(system.v), len(system.multipliers)
        nq, nv, nl = self._sizes
        self._method = GeneralizedAlpha(
            kernels.residual.native,
            kernels.tangent.native,
            kernels.retract.native,
            nq=nq,
            nv=nv,
            nl=nl,
            m=len(system.p) + len(system.u),
            rho=rho,
            iterations=iterations,
            tolerance=1e-12,
        )
        self._h, self._stride = h, stride
        self._steps = self._iterations = self.leaps = 0
        self.mean = 0.0
        self.pause = 5000

    def start(
        self, elapsed: float, x: Floats, p: Floats, times: Floats, origin: float = 0.0
    ) -> None:
        """Begin with the state (q, v, v', λ)."""
        self._k, self._origin = round(elapsed / self._h), origin
        nq, nv, _ = self._sizes
        q, v, vdot, lam = np.split(x, np.cumsum([nq, nv, nv]))
        self._method.start(origin + elapsed, q, v, vdot, lam, p)
        self._times, self._x = times, x

    def restart(self, x: Floats) -> None:
        """There are no events to restart from."""
        raise ModelError("the generalised-α method does not stop at events")

    def advance(self, count: int) -> Progressed:
        """Go on for so many output times."""
        times = self._times[: max(1, min(count, self.pause // self._stride))]
        # the last output may come after less than a stride
        whole = [t for t in times if (round(t / self._h) - self._k) % self._stride == 0]
        times, stride = times[: len(whole)], self._stride
        if not len(times):
            times = self._times[:1]
            stride = round(float(times[0]) / self._h) - self._k
        run = self._method.advance(self._h, len(times), stride)
        rows = len(run.times) - 1
        self._k += rows * stride
        states = np.concatenate([run.q, run.v, run.vdot, run.lam], axis=1)[1:]
        self._times = self._times[rows:]
        self._steps, self._iterations = run.steps, run.iterations
        if rows:
            self._x = states[-1]
        empty = np.zeros((rows, 0))
        return Progressed(
            run.status, self._origin + times[:rows], states, empty, empty[:0],
            self._origin + self._k * self._h, self._k * self._h, self._x, np.zeros(0, np.int64),
        )  # fmt: skip

    def counts(self) -> dict[str, Any]:
        """What it cost so far."""
        return {
            "steps": self._steps,
            "failed_steps": 0,
            "evaluations": self._iterations,
            "iterations": self._iterations,
            "factorisations": self._iterations,
        }
