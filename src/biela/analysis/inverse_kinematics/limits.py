"""The limits of the coordinates, as bounds of the displacements that move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.search import Bounds
from biela.equations import System
from biela.errors import ModelError

Limits: TypeAlias = bool | Mapping[str, tuple[float, float]]


def bounds(system: System, place: npt.NDArray[np.int64], limits: Limits) -> Bounds:
    """Bounds from the limits of a system, or from others by name.

    Raises:
        ModelError: A coordinate is unknown, its limits are no interval, or its rate is not a
            velocity of the system, so that it cannot be held.
    """
    names = [entry.name for entry in system.q]
    lower = {i: e.lower for i, e in enumerate(system.q) if limits is not False}
    upper = {i: e.upper for i, e in enumerate(system.q) if limits is not False}
    for name, interval in (limits if isinstance(limits, Mapping) else {}).items():
        if name not in names:
            raise ModelError(
                f"{system.name} has no coordinate {name} to limit; it has {', '.join(names)}"
            )
        try:
            low, high = (float(x) for x in interval)
        except (TypeError, ValueError):
            low = high = np.nan
        if not low <= high:
            raise ModelError(
                f"{system.name}: the limits of {name} are two numbers, the lower first, not "
                f"{interval!r}"
            )
        lower[names.index(name)], upper[names.index(name)] = low, high
    n = len(system.v)
    found = Bounds(place, np.full(n, -np.inf), np.full(n, np.inf))
    for i in lower:
        if np.isinf(lower[i]) and np.isinf(upper[i]):
            continue
        where = np.flatnonzero(place == i)
        if not len(where):
            raise ModelError(
                f"{system.name}: the limits of {names[i]} cannot be held, because its rate is not "
                f"one of the velocities"
            )
        found.lower[where[0]], found.upper[where[0]] = lower[i], upper[i]
    return found


def scales(
    system: System, place: npt.NDArray[np.int64], weights: Mapping[str, float] | None
) -> npt.NDArray[np.float64]:
    """The length 1/√w in which each displacement is measured.

    Raises:
        ModelError: A coordinate is unknown, or its weight is not positive.
    """
    owner, names = system.name, [entry.name for entry in system.q]
    scale = np.ones(len(place))
    for name, weight in (weights or {}).items():
        where = np.flatnonzero(place == (names.index(name) if name in names else -2))
        if not len(where):
            known = ", ".join(names[i] for i in place if i >= 0)
            raise ModelError(f"{owner} has no coordinate {name} to weigh; it has {known}")
        if not (np.isfinite(weight) and weight > 0):
            raise ModelError(f"{owner}: the weight of {name} must be positive, not {weight!r}")
        scale[where[0]] = 1 / np.sqrt(weight)
    return scale
