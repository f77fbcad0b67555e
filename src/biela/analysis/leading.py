"""The first moments of a motion that starts in a singular position, where its branches meet.

There rows of Φ_v depend on others that do not so beside it, and forces and constraints do not
determine the accelerations: of a four-bar with its bars in line they allow two freedoms, and the
linkage has one.  Those of the motion are the limit from both sides along its branch,

    q± = q ± h v + h² a/2,   v± = v ± h a,   both on the constraints,
    a = (a(q₊, v₊) + a(q₋, v₋))/2,

repeated until a is found; its error is of order h², that of the rate ȧ = (a₊ - a₋)/2h too.  From
there the motion is led on by h, with an error of order h⁴, to where integrators take over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant, motions

Floats = npt.NDArray[np.float64]

#: How far a motion is led on, m or rad: far enough that rows are told apart.
_WAY: Final = 2e-3
_ROUNDS: Final = 12


@dataclass(frozen=True, eq=False)
class LedState:
    """A state shortly after a start in a singular position.

    Attributes:
        t: The time, s.
        q: Position.
        v: Velocity.
        a: The acceleration with which it started.
    """

    t: float
    q: Floats
    v: Floats
    a: Floats


def led_state(
    here: Instant, q: Floats, v: Floats, most: float, *, exactly: bool = False
) -> LedState | None:
    """The state at most so long after a start at an instant, or exactly so long.

    None if the start is not singular, or if nothing moves there.
    """
    system, t, u, p = here.system, here.t, here.u, here.p
    if not system.multipliers or not np.abs(v).max(initial=0.0) > 0.0:
        return None
    rows = here.Phi_v(q)
    rank = motions(rows).rank
    if rank == len(rows):
        return None
    h = min(_WAY / float(np.linalg.norm(here.N(q) @ v)), most)
    start = _Start(here, q, v)
    a, slope = np.zeros(len(v)), np.zeros(len(v))
    for _ in range(_ROUNDS):
        after, before = (start.beside(a, slope, way) for way in (h, -h))
        if after is None or before is None:
            return None
        sides = [(Instant(system, side.t, u, p), side) for side in (after, before)]
        if any(motions(at.Phi_v(side.q)).rank <= rank for at, side in sides):
            return None  # rows that are redundant everywhere
        ahead, behind = (at.motion(side.q, side.v)[0] for at, side in sides)
        change = float(np.abs((ahead + behind) / 2 - a).max())
        a, slope = (ahead + behind) / 2, (ahead - behind) / (2 * h)
        if change <= 1e-12 * (1.0 + float(np.abs(a).max())):
            break
    led = start.beside(a, slope, h)
    if led is None or not exactly:
        return led
    steps = math.ceil((most - h) / h)
    for _ in range(steps):
        if led is not None:
            led = _stepped(here, led, (most - h) / steps)
    return None if led is None else replace(led, t=t + most, a=a)


def _stepped(instant: Instant, state: LedState, h: float) -> LedState | None:
    """One step of the classical Runge–Kutta method, brought back to the constraints."""
    system, u, p = instant.system, instant.u, instant.p
    speeds: list[Floats] = []
    pulls: list[Floats] = []
    for part in (0.0, 0.5, 0.5, 1.0):
        at = Instant(system, state.t + part * h, u, p)
        way = part * h * speeds[-1] if speeds else np.zeros(len(state.v))
        speed = state.v + part * h * pulls[-1] if pulls else state.v
        speeds.append(speed)
        pulls.append(at.motion(at.moved(state.q, way), speed)[0])
    way, change = ((x[0] + 2 * x[1] + 2 * x[2] + x[3]) * h / 6 for x in (speeds, pulls))
    end = Instant(system, state.t + h, u, p)
    return _closed(end, end.moved(state.q, way), state.v + change, state.a)


def _closed(instant: Instant, q: Floats, v: Floats, a: Floats) -> LedState | None:
    """The state nearest to another one on the constraints; None if there is none."""
    place = instant.assembled(q)
    if place is None:
        return None
    rows = instant.Phi_v(place)
    speed = v + motions(rows).inverse @ (instant.beta(place) - rows @ v)
    return LedState(instant.t, place, speed, a)


@dataclass(frozen=True, eq=False)
class _Start:
    """A start in a singular position."""

    instant: Instant
    q: Floats
    v: Floats

    def beside(self, a: Floats, slope: Floats, h: float) -> LedState | None:
        """The state a time h before or after, with an acceleration and its rate."""
        here = self.instant
        there = Instant(here.system, here.t + h, here.u, here.p)
        ahead = there.moved(self.q, h * self.v + h**2 / 2 * a + h**3 / 6 * slope)
        return _closed(there, ahead, self.v + h * a + h**2 / 2 * slope, a)
