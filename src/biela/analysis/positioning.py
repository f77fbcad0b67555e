"""Positions, velocities and accelerations of a driven mechanism, instant after instant.

    predict    q ← q ⊕ (h v + h²/2 a)
    correct    q ← q ⊕ δ,   δ = -Φ_v⁺ Φ,     until Φ = 0
    solve      v ← v + Φ_v⁺ (β - Φ_v v),     a ← a + Φ_v⁺ (γ - Φ_v a)

(Plaza 2015, fig. 2.1; the predictor is Taylor's series.)  The steps are native, unrolled or
iterated (`unrolled_positions`, `iterated_positions`).  Afterwards every instant is looked at: where
a constraint is missed, or the correction is long against the step, so that the position may be on
another branch, the step is taken again in shorter ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from biela.analysis.dead_points import DeadPoints
from biela.analysis.formulations.saddle import unit_metric
from biela.analysis.instant import ROUNDED_ANGLE, SMALL, Instant, lever_units
from biela.analysis.iterated_positions import (
    OVERCONSTRAINED,
    UNROLLED,
    IteratedPositions,
    unrolled_operations,
)
from biela.analysis.position_method import PositionMethod
from biela.analysis.unrolled_positions import UnrolledPositions
from biela.equations import System

Floats = npt.NDArray[np.float64]

#: A correction longer than this part of the way of a step may lead to another branch.  That of a
#: smooth motion is (ω h)²/6 of it: steps up to a sixth of a turn pass.
LEAP: Final = 0.2
#: How often a step is halved before the run is given up.
HALVINGS: Final = 10
#: Instants of one native call.
_CHUNK: Final = 4096


@dataclass(frozen=True)
class Course:
    """The states (q, v, a) of a driven mechanism, as far as it came.

    ``stopped`` is the instant at which it failed, if it did.
    """

    states: Floats
    iterations: int
    halved: int
    stopped: float | None


class Engine(Protocol):
    """What takes the steps of `Positioning`."""

    nq: int
    nv: int

    @property
    def name(self) -> str:
        """What the method is called."""

    def start(self, t: float, q: Floats) -> Floats:
        """The state (q, v, a) of a position that fulfils the constraints."""

    def run(self, t: float, x: Floats, h: float, steps: int) -> tuple[Floats, int]:
        """The states from x on, and the iterations that it took."""

    def residuals(self, t: Floats, q: Floats) -> Floats:
        """Φ at each of some instants."""

    def rows(self, t: Floats, q: Floats) -> Floats:
        """Φ_v at each of some instants."""


def engine(
    system: System,
    p: Floats,
    u: Floats,
    method: PositionMethod,
    accepted: float,
    start: tuple[float, Floats],
) -> Engine:
    """Steps of a method from a time and position on.

    They are unrolled if the method is Newton's and the code is not too long.  It may be longer for
    overconstrained loops, of which the best rows are chosen there.
    """
    operations = unrolled_operations(system) if method.plain else OVERCONSTRAINED + 1
    t, q = start
    instant = Instant(system, t, u, p)
    size = instant.extent(q)
    if operations <= OVERCONSTRAINED:
        dependent = unit_metric(system, t, q, u, p)
        if operations <= UNROLLED or dependent.ranked:
            units = np.ones(len(system.v))
            if size < SMALL:
                lengths = np.array([entry.unit == "m/s" for entry in system.v], dtype=bool)
                units = lever_units(instant.Phi_v(q), lengths)
            return UnrolledPositions(system, p, u, dependent, size, units)
    return IteratedPositions(system, p, u, method, accepted, size)


class Positioning:
    """The loop over the instants of a driven mechanism."""

    def __init__(
        self,
        system: System,
        p: Floats,
        u: Floats,
        steps: Engine,
        dead_points: DeadPoints | None = None,
    ) -> None:
        self.system, self.engine, self._dead_points = system, steps, dead_points
        self._instant = Instant(system, 0.0, u, p)
        self.nq, self.nv = steps.nq, steps.nv
        self._size = 1.0

    def course(
        self,
        t: float,
        x: Floats,
        h: float,
        steps: int,
        stride: int,
        tolerance: float,
        told: Callable[[int, Sequence[Floats]], None],
    ) -> Course:
        """The states from a start on, every ``stride`` steps of length h.

        Now and then ``told`` is how many steps are done, and the states until then.
        """
        states, before = [x[None]], x
        self._size = self._instant.extent(x[: self.nq])
        if self._size < 1.0:
            tolerance = max(tolerance * self._size, ROUNDED_ANGLE)
        halved = iterations = done = 0
        chunk = min(64, steps)
        while done < steps:
            told(done, states)
            count = min(chunk, steps - done)
            found, taken = self.engine.run(t + done * h, x, h, count)
            iterations += taken
            good = self._good(t + done * h, found, h, tolerance)
            fine = found[1:good]
            states.append(fine[(np.arange(done + 1, done + good) % stride) == 0])
            done += good - 1
            if good > 1:
                before, x = found[good - 2], found[good - 1]
            chunk = min(2 * chunk, _CHUNK)
            if good <= count:
                chunk = 16
                begin = t + done * h
                careful = self._halved(begin, x, h, tolerance, 1)
                if careful is None and done:
                    # the velocity of a singular position leads nowhere: from the one before it
                    careful = self._stepped(begin - h, before, 2 * h, tolerance, True)
                if careful is None and self._dead_points is not None:
                    careful = self._across(begin, x, h, tolerance, before)
                halved += 1
                if careful is None:
                    return Course(np.concatenate(states), iterations, halved, begin + h)
                before, x, done = x, careful, done + 1
                if done % stride == 0:
                    states.append(x[None])
        return Course(np.concatenate(states), iterations, halved, None)

    # ------------------------------------------------------------------ inside

    def _signs(self, t: Floats, q: Floats) -> Floats:
        """Signs of the determinant of Φ_v, which tell branches apart; zeros if it is not square."""
        if len(self.system.multipliers) != self.nv:
            return np.zeros(len(t))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.linalg.slogdet(self.engine.rows(t, q))[0])

    def _good(
        self, t: float, states: Floats, h: float, tolerance: float, crossing: bool = False
    ) -> int:
        """How many of the states, from the first on, can be believed.

        A change of branch can only be believed if it is a ``crossing`` of a singular position,
        seen with the shortest of steps.
        """
        k, nq, nv = len(states), self.nq, self.nv
        times: Floats = t + h * np.arange(float(k))
        met = np.abs(self.engine.residuals(times, states[:, :nq])).max(axis=1) <= tolerance
        met &= np.isfinite(states).all(axis=1)
        v, a = states[:, nq : nq + nv], states[:, nq + nv :]
        with np.errstate(over="ignore", invalid="ignore"):  # of a motion that goes to infinity
            reach = h * v[:-1] + h**2 / 2 * a[:-1]
        if nq == nv and "rates" not in self.system:
            moved = states[1:, :nq] - states[:-1, :nq]
            corrected = np.linalg.norm(moved - reach, axis=1)
            sizes = np.linalg.norm(v, axis=1)
        else:
            # on a manifold by coordinates, in which places of it are near where they are alike
            corrected, sizes = self._along_manifold(states, reach)
        speed = np.maximum(sizes[:-1], sizes[1:])
        met[1:] &= ~(corrected > LEAP * h * speed + 1e-9 * self._size)
        if not crossing:
            signs = self._signs(times, states[:, :nq])
            met[1:] &= signs[1:] * signs[:-1] >= 0
        met[0] = True
        return k if met.all() else int(np.argmin(met))

    def _along_manifold(self, states: Floats, reach: Floats) -> tuple[Floats, Floats]:
        """Lengths of the corrections and speeds, both of the coordinates."""
        nq, nv = self.nq, self.nv
        places = states[:, :nq]
        foretold = [self._instant.moved(q, d) for q, d in zip(places[:-1], reach, strict=True)]
        corrected = places[1:] - np.reshape(foretold, (-1, nq))
        speeds = [
            self._instant("rates", q, v) if "rates" in self.system else v
            for q, v in zip(places, states[:, nq : nq + nv], strict=True)
        ]
        return np.linalg.norm(corrected, axis=1), np.linalg.norm(speeds, axis=1)

    def _across(
        self, t: float, x: Floats, h: float, tolerance: float, before: Floats
    ) -> Floats | None:
        """The state after a step along the curve of positions, across a dead point."""
        assert self._dead_points is not None, "asked for with dead points only"
        nq, nv = self.nq, self.nv
        found = self._dead_points.across(t, x[:nq], h, before[nq : nq + nv])
        if found is None:
            return None
        q, v = found
        if not np.abs(self.engine.residuals(np.array([t + h]), q[None])).max() <= tolerance:
            return None
        state = self.engine.start(t + h, q)
        away = float(np.linalg.norm(state[nq : nq + nv] - v))
        if not away <= 1e-3 * float(np.linalg.norm(v)):  # a dead point itself
            state = np.concatenate([q, v, np.zeros(nv)])
        return state

    def _halved(self, t: float, x: Floats, h: float, tolerance: float, depth: int) -> Floats | None:
        """The state after a step taken in two halves, each again in two if need be."""
        for part in range(2):
            begin = t + part * h / 2
            after = self._stepped(begin, x, h / 2, tolerance, depth == HALVINGS)
            if after is None and depth < HALVINGS:
                after = self._halved(begin, x, h / 2, tolerance, depth + 1)
            if after is None:
                return None
            x = after
        return x

    def _stepped(
        self, t: float, x: Floats, h: float, tolerance: float, crossing: bool
    ) -> Floats | None:
        """The state after one step, if it can be believed."""
        found, _ = self.engine.run(t, x, h, 1)
        good = len(found) == 2 and self._good(t, found, h, tolerance, crossing) == 2
        return found[1] if good else None
