"""Where a motion leaves the limits of its coordinates, and where it comes back within them.

Limits hold nothing: inverse kinematics keeps to them, and a motion that passes them is told of by
events.  What stops a joint is the force "stop".
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from biela.equations import Quantity, System
from biela.results import Event

Floats = npt.NDArray[np.float64]

#: Beyond a limit by less than this part of it a coordinate is at its limit: rounding passes none.
_AT: Final = 1e-9


def has_limits(system: System) -> bool:
    """Whether a coordinate of the system has any."""
    return any(np.isfinite(entry.lower) or np.isfinite(entry.upper) for entry in system.q)


def limit_events(system: System, t: Floats, q: Floats) -> list[Event]:
    """The instants at which coordinates leave their limits and return, in order.

    Args:
        system: Its coordinates have the limits.
        t: Stored instants, s, (k).
        q: Coordinates at these instants, (k, nq).

    Returns:
        Events "limit of slide.displacement passed" and "slide.displacement within its limits
        again"; between two stored instants their times are those of a straight line.  The
        direction is the sign of the change of the coordinate; outside from the start, 0.
    """
    events: list[Event] = []
    for entry, values in zip(system.q, np.asarray(q).T, strict=True):
        for limit, side in ((entry.lower, -1), (entry.upper, 1)):
            if np.isfinite(limit):
                events += _crossings(entry, t, values, limit, side)
    return sorted(events, key=lambda event: event.time)


def _crossings(entry: Quantity, t: Floats, values: Floats, limit: float, side: int) -> list[Event]:
    """The events at one limit: ``side`` is 1 for the upper one."""
    beyond = side * (values - limit)
    outside = beyond > _AT * (1.0 + abs(limit))
    passed, returned = f"limit of {entry.name} passed", f"{entry.name} within its limits again"
    events = [Event(float(t[0]), passed)] if len(outside) and outside[0] else []
    for k in np.flatnonzero(outside[1:] != outside[:-1]):
        # one end is within by rounding: then it is the instant
        way = beyond[k + 1] - beyond[k]
        part = float(np.clip(-beyond[k] / way, 0.0, 1.0))
        when = float(t[k] + part * (t[k + 1] - t[k]))
        leaves = bool(outside[k + 1])
        events.append(Event(when, passed if leaves else returned, side if leaves else -side))
    return events
