"""Limits of coordinates: the events at which a motion passes them and comes back.

Limits hold nothing: inverse kinematics keeps to them, and a motion that passes them is told of by
events.  What stops a joint is the force "stop".

A limit that somebody answers is an event function of the run like any other, x - limit, located by
the integrator.  The others cost nothing while a motion runs: they are found on what it has stored,
on the polynomials through values, rates and second rates of neighbouring instants.  Where these
are farther apart than a step the interval is run once more, so that both ways give one time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.preparation import at_values
from biela.equations import System
from biela.results import Event

__all__ = ["LimitEnd", "Track", "asked_ends", "beyond", "limit_ends", "limit_events"]

Floats = npt.NDArray[np.float64]

#: Beyond a limit by less than this part of it a coordinate is at its limit: rounding passes none.
_AT: Final = 1e-9
#: Likewise in a run, where events are located at zero: one that starts at its limit has a sign.
NEAR: Final = 1e-12
#: Parts of the largest excursion between two instants are looked for among so many.
_PARTS: Final = 64
#: Halvings of an interval in which a root lies.
_HALVINGS: Final = 60


@dataclass(frozen=True)
class LimitEnd:
    """One end of the range of a coordinate.

    Attributes:
        coordinate: Its name.
        side: 1 for the upper end, -1 for the lower one.
        limit: Its value.
    """

    coordinate: str
    side: int
    limit: float

    @property
    def names(self) -> tuple[str, str]:
        """The names of its events: passed, and within the limits again."""
        return f"limit of {self.coordinate} passed", f"{self.coordinate} within its limits again"

    def name(self, direction: int) -> str:
        """The event at which it is passed (direction 1, or 0 at the start), or left behind (-1)."""
        return self.names[direction < 0]

    @property
    def slack(self) -> float:
        """How far beyond it the event function of a run is zero."""
        return NEAR * (1.0 + abs(self.limit))

    @property
    def tolerance(self) -> float:
        """How far beyond it a coordinate is at it still."""
        return _AT * (1.0 + abs(self.limit))

    def event(self, t: float, direction: int) -> Event:
        """The event; its direction is the sign of the change of the coordinate."""
        return Event(t, self.name(direction), self.side * direction)


def limit_ends(system: System, p: Floats | None = None) -> list[LimitEnd]:
    """The ends of the ranges of all coordinates of a system that have limits.

    Args:
        system: Its coordinates have the limits.
        p: Values of its parameters, which limits may depend on.
    """
    if not _limited(system):
        return []
    found = system if p is None else at_values(system, p)
    return [
        LimitEnd(entry.name, side, limit)
        for entry in (*found.q, *found.joint_coordinates)
        for limit, side in ((entry.lower, -1), (entry.upper, 1))
        if np.isfinite(limit)
    ]


def _limited(system: System) -> bool:
    entries = (*system.q, *system.joint_coordinates)
    return any(np.isfinite(entry.lower) or np.isfinite(entry.upper) for entry in entries)


def asked_ends(ends: Sequence[LimitEnd], reactions: object) -> list[LimitEnd]:
    """Those of the ends that somebody answers, with reactions by the names of events."""
    if not isinstance(reactions, Mapping):
        return []
    return [end for end in ends if not reactions.keys().isdisjoint(end.names)]


def beyond(ends: Sequence[LimitEnd], x: Sequence[Any]) -> list[Any]:
    """The event functions of ends, with the coordinate of each: numbers, arrays or atoms."""
    return [end.side * (q - end.limit) - end.slack for end, q in zip(ends, x, strict=True)]


@dataclass(frozen=True)
class Track:
    """A coordinate at stored instants.

    Attributes:
        t: The instants, s.
        x: Its values.
        dx: Its rates.
        ddx: Its second rates; None where they are not known.
    """

    t: Floats
    x: Floats
    dx: Floats
    ddx: Floats | None = None


#: Sees the interval from a stored instant to the next closely: a track from the one to the other.
Closer = Callable[[int], Track | None]


def limit_events(end: LimitEnd, track: Track, closer: Closer | None = None) -> list[Event]:
    """The instants at which a coordinate leaves its range at an end, and returns, in order.

    Returns:
        Events "limit of slide.displacement passed" and "slide.displacement within its limits
        again".  The direction is the sign of the change of the coordinate; outside from the start,
        0.
    """
    f = _Distance(end, track)
    doubtful = f.doubtful()
    if closer is not None and len(doubtful):
        seen = {k: found for k in doubtful.tolist() if (found := closer(k)) is not None}
        f = _Distance(end, _spliced(track, seen))
        doubtful = f.doubtful()
    if not len(f.t):
        return []
    events = [end.event(float(f.t[0]), 0)] if f.outside[0] else []
    for k in doubtful.tolist():
        if f.outside[k] != f.outside[k + 1]:
            leaves = bool(f.outside[k + 1])
            events.append(end.event(f.crossing(k), 1 if leaves else -1))
            continue
        there, back = f.excursion(k)
        if there < back:
            way = -1 if f.outside[k] else 1
            events += [end.event(there, way), end.event(back, -way)]
    return events


def _spliced(track: Track, seen: Mapping[int, Track]) -> Track:
    """A track with closer ones in place of some of its intervals."""
    parts: list[Track] = []
    last = 0
    for k, part in sorted(seen.items()):
        # ends of a part stand in place of those of the interval
        parts += [_rows(track, slice(last, max(k, last))), _rows(part, slice(int(k < last), None))]
        last = k + 2
    parts.append(_rows(track, slice(last, None)))
    t, x, dx = (np.concatenate([getattr(p, name) for p in parts]) for name in ("t", "x", "dx"))
    bent = [np.full(len(p.t), np.nan) if p.ddx is None else p.ddx for p in parts]
    return Track(t, x, dx, np.concatenate(bent))


def _rows(track: Track, rows: slice) -> Track:
    ddx = None if track.ddx is None else track.ddx[rows]
    return Track(track.t[rows], track.x[rows], track.dx[rows], ddx)


class _Distance:
    """How far a coordinate is beyond an end, between stored instants too."""

    def __init__(self, end: LimitEnd, track: Track) -> None:
        self.t, self.end = track.t, end
        self.f = end.side * (track.x - end.limit)
        self.df = end.side * track.dx
        self.ddf = None if track.ddx is None else end.side * track.ddx
        self.outside = self.f > end.tolerance

    def doubtful(self) -> npt.NDArray[np.intp]:
        """The intervals in which an event is, or may be."""
        if len(self.t) < 2:
            return np.zeros(0, dtype=np.intp)
        h = np.diff(self.t)
        f0, f1, d0, d1 = self.f[:-1], self.f[1:], self.df[:-1], self.df[1:]
        changed = self.outside[:-1] != self.outside[1:]
        within = ~self.outside[:-1] & ~self.outside[1:]
        # out and back between two instants: the tangents meet on the other side
        out = (d0 > 0) & (d1 < 0) & (f0 + h * d0 > 0) & (f1 - h * d1 > 0)
        back = (d0 < 0) & (d1 > 0) & (f0 + h * d0 < 0) & (f1 - h * d1 < 0)
        return np.flatnonzero(changed | np.where(within, out, back & self.outside[:-1]))

    def crossing(self, k: int) -> float:
        """When it is zero near an interval at whose ends it has different signs.

        One of these may be within by rounding; then the root lies before or behind.
        """
        leaves = self.outside[k + 1]
        if leaves:
            while k > 0 and self.f[k] > 0:
                k -= 1
        else:
            while k + 2 < len(self.t) and self.f[k + 1] > 0:
                k += 1
        if leaves and self.f[k] > 0:
            return float(self.t[k])
        if not leaves and self.f[k + 1] > 0:
            return float(self.t[k + 1])
        return self._root(k, 0.0, 1.0)

    def excursion(self, k: int) -> tuple[float, float]:
        """When it crosses, and back, between two instants on one side; one time if it does not."""
        sign = -1.0 if self.outside[k] else 1.0
        c = self._polynomial(k)
        s = np.linspace(0.0, 1.0, _PARTS + 1)
        step = 1.0 / _PARTS
        while True:
            best = int(np.argmax(sign * _value(c, s)))
            top = float(s[best])
            if step < 1e-9:
                break
            s = np.linspace(max(top - step, 0.0), min(top + step, 1.0), _PARTS + 1)
            step = 2 * step / _PARTS
        if not sign * _value(c, top) > self.end.tolerance:
            return 0.0, 0.0
        return self._root(k, 0.0, top), self._root(k, top, 1.0)

    def _root(self, k: int, low: float, high: float) -> float:
        """When it is zero, between parts of an interval at which it has different signs."""
        c = self._polynomial(k)
        rising = _value(c, high) > _value(c, low)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if (_value(c, middle) > 0) == rising:
                high = middle
            else:
                low = middle
        return float(self.t[k] + high * (self.t[k + 1] - self.t[k]))

    def _polynomial(self, k: int) -> list[float]:
        """Its coefficients in the part s of an interval, from what is known at both ends.

        Where rates do not explain the way, because nobody told them, it is a straight line.
        """
        h = float(self.t[k + 1] - self.t[k])
        f0, way = float(self.f[k]), float(self.f[k + 1] - self.f[k])
        d0, d1 = h * float(self.df[k]), h * float(self.df[k + 1])
        if d0 == 0.0 == d1 or not np.isfinite(d0 + d1):
            return [f0, way]
        found = [f0, d0, 3 * way - 2 * d0 - d1, d0 + d1 - 2 * way, 0.0, 0.0]
        if self.ddf is not None and np.isfinite(self.ddf[k] + self.ddf[k + 1]):
            b0, b1 = (0.5 * h * h * float(self.ddf[j]) for j in (k, k + 1))
            # what the cubic lacks of both second rates: s² (1-s)² (m (1-s) + n s)
            m, n = b0 - (3 * way - 2 * d0 - d1), b1 - (d0 + 2 * d1 - 3 * way)
            for power, more in enumerate((m, n - 3 * m, 3 * m - 2 * n, n - m), start=2):
                found[power] += more
        return found


def _value(coefficients: Sequence[float], s: Any) -> Any:
    """A polynomial by the rule of Horner, at a number or an array."""
    found = 0.0 * s
    for c in reversed(coefficients):
        found = found * s + c
    return found


def events_beyond(
    ends: Sequence[LimitEnd],
    tracks: Callable[[str], Track],
    closer: Callable[[str, int], Track | None] | None = None,
    known: Collection[LimitEnd] = (),
) -> list[Event]:
    """The events of ends whose coordinates have tracks, but for those that are known already."""
    found: list[Event] = []
    for end in ends:
        if end in known:
            continue
        see = None if closer is None else _closer(closer, end.coordinate)
        found += limit_events(end, tracks(end.coordinate), see)
    return sorted(found, key=lambda event: event.time)


def _closer(closer: Callable[[str, int], Track | None], name: str) -> Closer:
    return lambda k: closer(name, k)
