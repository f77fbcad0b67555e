"""A driven mechanism at and across its dead points, where Φ_v loses rank and the drive turns back.

In time and position together such an instant is a point at which two curves cross: the mechanism
goes on, or returns as it came.  Going on is what the curve does that is followed by its length
(`arclength`).  At the instant itself and close to it the linear solves for velocity and
acceleration lose their digits; there both come from positions on either side, which are well
conditioned, by differences of fourth order in the distance δ:

    v = (4 (v₁ + v₋₁) - (v₂ + v₋₂))/6,     a = (8 (v₁ - v₋₁) - (v₂ - v₋₂))/(12 δ).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.arclength import Place, Tracer
from biela.equations import System

Floats = npt.NDArray[np.float64]

#: Condition of Φ_v above which an instant is computed from its neighbourhood.
POOR: Final = 1e4
#: The angle, about, that the motion turns through within δ.
_REACH: Final = 0.01
#: Steps along the curve for one step in time.
_STEPS: Final = 60


class DeadPoints:
    """Instants of a driven mechanism that are found along the curve of its positions."""

    def __init__(self, system: System, p: Floats, u: Floats, tolerance: float) -> None:
        self.system, self.tolerance = system, tolerance
        self._tracer = Tracer(system, u, p, timed=True)
        self.nq, self.nv = len(system.q), len(system.v)

    def across(self, t: float, q: Floats, h: float, v: Floats) -> tuple[Floats, Floats] | None:
        """Position and velocity a step of h later; None if time does not go on along the curve.

        ``v`` is the velocity that it came with, which tells the direction where curves cross.
        """
        nv = self.nv
        place = Place(t, q, self._tracer.tangent(t, q, _unit(v)))
        if not place.tangent[-1] > 1e-9:
            return None
        most = h / float(place.tangent[-1])
        length = most
        before = place
        for _ in range(_STEPS):
            found = self._tracer.advance(place, length, most)
            if found is None or found[0].t <= place.t:
                return None
            before, (place, _, length) = place, found
            if place.t >= t + h:
                break
        else:
            return None
        way = before.tangent[:nv] / before.tangent[-1]
        end = self._at(t + h, self._moved(before, (t + h - before.t) * way))
        if end is None:
            return None
        tangent = self._tracer.tangent(t + h, end, before.tangent)
        return end, tangent[:nv] / tangent[-1]

    def repaired(
        self, times: Floats, states: Floats, rows: Floats, condition: float = POOR
    ) -> Floats:
        """The states with the velocities and accelerations of poor instants from around them."""
        s = np.linalg.svd(rows, compute_uv=False)
        rank = min(rows.shape[1:])
        with np.errstate(divide="ignore"):
            poor = ~(s[:, rank - 1] * condition > s[:, 0])
        if not poor.any() or poor.all():
            return states
        found = states.copy()
        fine = np.flatnonzero(~poor)
        for k in np.flatnonzero(poor):
            near = fine[np.argmin(np.abs(fine - k))]
            again = self._between(float(times[k]), states[k], states[near])
            if again is not None:
                found[k] = again
        return found

    # ------------------------------------------------------------------ inside

    def _between(self, t: float, x: Floats, near: Floats) -> Floats | None:
        nq, nv = self.nq, self.nv
        v0 = self._tracer.tangent(t, x[:nq], _unit(near[nq : nq + nv]))
        if not abs(v0[-1]) > 1e-9:
            return None
        guess = v0[:nv] / v0[-1]
        delta = _REACH / max(float(np.linalg.norm(guess)), 1e-9)
        best: tuple[float, Floats, float] | None = None
        # a dead point may lie where one of the neighbours would be
        for width in (delta, 1.3 * delta, 0.7 * delta):
            found = [self._rate(t + k * width, x[:nq], k * width * guess) for k in (-2, -1, 1, 2)]
            known = [pair for pair in found if pair is not None]
            if len(known) == 4:
                worst = min(size for _, size in known)
                if best is None or worst > best[0]:
                    best = worst, np.array([v for v, _ in known]), width
        if best is None:
            return None
        _, (w, v, y, z), width = best
        speed = (4 * (v + y) - (w + z)) / 6
        rate = (8 * (y - v) - (z - w)) / (12 * width)
        return np.concatenate([x[:nq], speed, rate])

    def _rate(self, t: float, q: Floats, delta: Floats) -> tuple[Floats, float] | None:
        """The velocity of a position beside another one, and the weakest singular value there."""
        place = self._at(t, self._tracer.instant(t).moved(q, delta))
        if place is None:
            return None
        instant = self._tracer.instant(t)
        rows = instant.Phi_v(place)
        v, _, rank, s = np.linalg.lstsq(rows, instant.beta(place), rcond=1e-12)
        return np.asarray(v, dtype=float), float(s[min(rows.shape) - 1]) if rank else 0.0

    def _moved(self, place: Place, delta: Floats) -> Floats:
        return self._tracer.instant(place.t).moved(place.q, delta)

    def _at(self, t: float, q: Floats) -> Floats | None:
        """The position at a time, near a guess."""
        row = np.zeros(self._tracer.size)
        row[-1] = 1.0
        found = self._tracer.corrected(t, q, row, np.inf)
        return None if found is None else found[1]


def _unit(v: Floats) -> Floats:
    """The direction of a motion in position and time."""
    tangent = np.append(v, 1.0)
    return np.asarray(tangent / np.linalg.norm(tangent))
