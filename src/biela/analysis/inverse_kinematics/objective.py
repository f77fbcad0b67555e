"""What to do with the freedoms that the targets leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.search import Aim, Bounds
from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]
Objective: TypeAlias = Literal["closest", "middle"] | Mapping[str, float] | None

#: The weight of a coordinate of which nothing is wanted: it stays near its start.
_FAINT = 1e-6


@dataclass(frozen=True, eq=False)
class Preference:
    """Wanted values of coordinates, nan for those of the start, and 1/√w of each displacement."""

    place: npt.NDArray[np.int64]
    wanted: Floats
    length: Floats

    def aim(self, start: Floats) -> Aim:
        """The wanted values for each start."""
        own = np.where(self.place >= 0, start[:, np.maximum(self.place, 0)], 0.0)
        centres = np.where(np.isnan(self.wanted), own, self.wanted)
        return Aim(np.ascontiguousarray(centres), self.length)


def preference(
    system: System, limits: Bounds, objective: Objective, scale: Floats
) -> Preference | None:
    """The meaning of an objective.

    Raises:
        ModelError: There is no such objective, or no such coordinate.
    """
    if objective is None:
        return None
    place = limits.place
    wanted = np.full(len(place), np.nan)
    if isinstance(objective, Mapping):
        names = [entry.name for entry in system.q]
        length = np.full(len(place), 1 / np.sqrt(_FAINT))
        for name, value in objective.items():
            where = np.flatnonzero(place == (names.index(name) if name in names else -2))
            if not len(where):
                known = ", ".join(names[i] for i in place if i >= 0)
                raise ModelError(
                    f"{system.name}: there is no coordinate {name} to prefer a value of; there "
                    f"are {known}"
                )
            wanted[where[0]], length[where[0]] = float(value), scale[where[0]]
        if not np.isfinite(wanted[~np.isnan(wanted)]).all():
            raise ModelError(f"{system.name}: the values preferred must be finite: {objective}")
        return Preference(place, wanted, length)
    if objective == "closest":
        return Preference(place, wanted, scale.copy())
    if objective == "middle":
        limited = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        if not limited.any():
            raise ModelError(
                f'{system.name}: objective="middle" needs coordinates with limits, and none has'
            )
        half = np.where(limited, limits.upper - limits.lower, 0.0) / 2
        wanted[limited] = limits.lower[limited] + half[limited]
        faint = float(half[limited].mean()) / np.sqrt(_FAINT)
        return Preference(place, wanted, np.where(limited & (half > 0), half, faint))
    raise ModelError(
        f'{system.name}: objective is "closest", "middle", or values by name, not {objective!r}'
    )
