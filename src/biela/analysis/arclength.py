"""A curve of positions, followed by its length: through dead points, on the branch it came on.

The geometric constraints leave a curve, of the displacements alone (one freedom, time held) or of
displacements and time (all freedoms driven):

    J = Φ_v      or      J = [ Φ_v  Φ_t ],      J τ = 0,   |τ| = 1.

predict    z ← z ⊕ s τ
correct    z ← z ⊕ δ,     [ J  ] δ = [ -Φ ]        until Φ = 0
                          [ τᵀ ]     [  0 ]

(pseudo-arclength continuation: Keller 1977; Allgower & Georg 2003, Introduction to Numerical
Continuation Methods, ch. 2 and 10.)  The tangent keeps its orientation, τ·τ_before > 0.  Where two
curves cross, J loses rank: there the tangent is the part of the one before that lies in the null
space, which is straight on, and corrections leave out the weak direction.  Metres, radians and
seconds count alike in the length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant
from biela.equations import System
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: Singular values below this part of the largest one are directions left out of corrections.
WEAK: Final = 1e-7
#: The turn of the tangent in a step, rad, above which the step is halved, and below it grows.
BEND: Final = 0.25
GENTLE: Final = 0.08
_ITERATIONS: Final = 10


@dataclass(frozen=True)
class Place:
    """A point of the curve, with its tangent (the rate of the time last, where time is free)."""

    t: float
    q: Floats
    tangent: Floats


class Tracer:
    """The curve of a system at fixed inputs and parameters.

    ``timed`` says that time is an unknown too.
    """

    def __init__(
        self, system: System, u: Floats, p: Floats, timed: bool, tolerance: float = 1e-12
    ) -> None:
        self.system, self.timed, self.tolerance = system, timed, tolerance
        self._u, self._p = u, p
        self.size = len(system.v) + timed
        self._rows = system.geometric

    def instant(self, t: float) -> Instant:
        """The system at a time."""
        return Instant(self.system, t, self._u, self._p)

    def rows(self, t: float, q: Floats) -> Floats:
        """J; Φ_t = -β of geometric constraints."""
        instant = self.instant(t)
        rows = instant.Phi_v(q)[: self._rows]
        if not self.timed:
            return rows
        return np.column_stack([rows, -instant.beta(q)[: self._rows]])

    def residual(self, t: float, q: Floats) -> Floats:
        """Φ."""
        return self.instant(t).Phi(q)

    def moved(self, t: float, q: Floats, delta: Floats) -> tuple[float, Floats]:
        """Time and position after a displacement."""
        place = self.instant(t).moved(q, delta[: len(self.system.v)])
        return (t + float(delta[-1]) if self.timed else t), place

    def rank(self, t: float, q: Floats) -> int:
        """The rank of J."""
        s = np.linalg.svd(self.rows(t, q), compute_uv=False)
        return int((s > WEAK * s[0]).sum()) if len(s) else 0

    def null_space(self, t: float, q: Floats) -> Floats:
        """An orthonormal basis of the directions in which the curve may go on."""
        rows = self.rows(t, q)
        _, s, Vt = svd(rows)
        rank = int((s > WEAK * s[0]).sum()) if len(s) else 0
        return np.asarray(Vt[min(rank, self.size - 1) :].T)

    def tangent(self, t: float, q: Floats, before: Floats) -> Floats:
        """The unit tangent, oriented as the one before."""
        null = self.null_space(t, q)
        along = null @ (null.T @ before)
        length = float(np.linalg.norm(along))
        if null.shape[1] == 1 or length < 1e-6:
            along, length = null[:, -1] * np.sign(null[:, -1] @ before or 1.0), 1.0
        return np.asarray(along / length)

    def corrected(
        self, t: float, q: Floats, row: Floats, reach: float
    ) -> tuple[float, Floats, int] | None:
        """A point of the curve near another one, across a row; None if there is none in reach.

        The iterations that it took come last.
        """
        travelled = 0.0
        residual = self.residual(t, q)
        for k in range(_ITERATIONS):
            size = float(np.abs(residual).max(initial=0.0))
            if not np.isfinite(size):
                return None
            if size <= self.tolerance:
                return t, q, k
            J = np.vstack([self.rows(t, q), row])
            U, s, Vt = svd(J, full_matrices=False)
            kept = s > WEAK * s[0]
            delta = -Vt[kept].T @ ((U[:, kept].T @ np.append(residual, 0.0)) / s[kept])
            travelled += float(np.linalg.norm(delta))
            if travelled > reach:
                return None
            t, q = self.moved(t, q, delta)
            residual = self.residual(t, q)
        met = np.abs(residual).max(initial=0.0) <= 10 * self.tolerance
        return (t, q, _ITERATIONS) if met else None

    def step(self, place: Place, length: float) -> tuple[Place, float] | None:
        """The point a length further on, and the turn of the tangent; None if it is not found."""
        t, q = self.moved(place.t, place.q, length * place.tangent)
        found = self.corrected(t, q, place.tangent, 0.5 * length)
        if found is None:
            return None
        t, q, _ = found
        tangent = self.tangent(t, q, place.tangent)
        turn = float(np.arccos(np.clip(tangent @ place.tangent, -1.0, 1.0)))
        return Place(t, q, tangent), turn

    def advance(
        self, place: Place, length: float, most: float
    ) -> tuple[Place, float, float] | None:
        """The next point, the length that was taken, and the one to try next.

        A step that bends too much is halved; where even short ones do, the curve crosses another
        one and a longer step leads over.
        """
        trials = [length * 0.5**k for k in range(12)]
        for trial in [*trials, *(length * f for f in (1.5, 2.2, 3.1))]:
            found = self.step(place, trial)
            if found is not None and found[1] <= BEND:
                after, turn = found
                grown = 1.4 if turn < GENTLE else 1.0
                return after, trial, min(most, max(trial, 1e-3 * most) * grown)
        return None
