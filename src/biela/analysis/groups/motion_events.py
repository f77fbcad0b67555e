"""Events of a motion that is stored: where functions of the model changed their sign."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.results.channels import Event

__all__ = ["motion_events"]

Floats = npt.NDArray[np.float64]


def motion_events(
    system: System, t: Floats, q: Floats, v: Floats, u: Floats, p: Floats
) -> list[Event]:
    """The events of a motion, in order of time.

    A sign that changes between two instants did so where the cubic through the four instants about
    them is zero; two changes between two instants are not seen.

    Args:
        system: What has events.
        t: (n,) instants.
        q: (n, coordinates) positions.
        v: (n, velocities) velocities.
        u: (n, inputs) inputs.
        p: Parameters.
    """
    if not system.events or len(t) < 2:
        return []
    function = system["events"]
    given = {"t": t, "q": q, "v": v, "u": u, "p": np.tile(p, (len(t), 1))}
    values = np.asarray(function.walk_map(*(given[a.name] for a in function.inputs)))
    values = values.reshape(len(t), len(system.events))
    found = []
    for name, g in zip(system.events, values.T, strict=True):
        signs = np.sign(g)
        # an instant that is on zero belongs to what follows
        for k in np.flatnonzero((signs[:-1] != 0) & (signs[1:] != signs[:-1])):
            time = _zero(t, g, int(k))
            found.append(Event(time, name, 1 if g[k] < 0 else -1))
    return sorted(found, key=lambda event: event.time)


def _zero(t: Floats, g: Floats, k: int) -> float:
    """When g vanishes between instants k and k + 1."""
    first = min(max(k - 1, 0), max(len(t) - 4, 0))
    near = slice(first, first + 4)
    length = t[k + 1] - t[k]
    s = (t[near] - t[k]) / length
    cubic = np.polynomial.Polynomial.fit(s, g[near], len(s) - 1, domain=(-1, 1), window=(-1, 1))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.sign(cubic(middle)) == np.sign(g[k]):
            low = middle
        else:
            high = middle
    return float(t[k] + high * length)
