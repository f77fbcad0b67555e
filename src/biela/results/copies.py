"""The methods of results that make other results of them: a part, or more channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array, Channels
from biela.results.interpolation import rounding
from biela.results.naming import unknown
from biela.results.scene import Scene

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["Copied"]


class Copied:
    """What other results can be made of results."""

    def between(self, start: float, end: float) -> Results:
        """The part with start <= t <= end, at the stored instants; statistics stay the run's.

        Raises:
            ResultsError: no stored instant lies there.
        """
        whole = cast("Results", self)
        t = whole.t
        slack = rounding(t)
        rows = np.flatnonzero((t >= start - slack) & (t <= end + slack))
        if not len(rows):
            raise ResultsError(
                f"no stored instant lies between {start:g} s and {end:g} s; "
                f"there are {len(t)} from {t[0]:g} s to {t[-1]:g} s"
            )
        part = slice(int(rows[0]), int(rows[-1]) + 1)

        def scene_part() -> Scene:
            scene = whole.scene
            assert scene is not None
            return scene.part(part)

        return type(whole)(
            whole.name,
            t[part],
            {g: c.holding(partial(_rows, whole, c, part)) for g, c in whole.groups.items()},
            *_monitors(whole, part),
            whole.statistics,
            None if whole._scene is None else scene_part,
            [event for event in whole.events if start <= event.time <= end],
            whole.interrupted,
        )

    def with_channels(
        self, values: Mapping[str, ArrayLike], units: Mapping[str, str] | None = None
    ) -> Results:
        """The same results with channels that were computed from them, in the group "derived".

        >>> from biela.results import Results
        >>> t = np.linspace(0, 1, 5)
        >>> r = Results("r", t, {}).with_channels({"tip": np.ones((5, 3)), "s": t**2}, {"tip": "m"})
        >>> r.names, r.unit("tip.x")
        (('tip.x', 'tip.y', 'tip.z', 's'), 'm')

        Args:
            values: (k,) by name, or (k, 3) for the three channels name.x, name.y and name.z.
            units: by the same names.

        Raises:
            ShapeError: values have another shape.
            ResultsError: a name is taken in that group.
            UnknownNameError: a unit is given for none of them.
        """
        whole = cast("Results", self)
        group = _derived(len(whole.t), values, units or {}, whole.groups.get("derived"))
        return type(whole)(
            whole.name,
            whole.t,
            {**whole.groups, "derived": group},
            *_monitors(whole, slice(None)),
            whole.statistics,
            whole._scene,
            whole.events,
            whole.interrupted,
        )


def _monitors(
    whole: Results, rows: slice
) -> tuple[dict[str, Callable[[], ArrayLike]], dict[str, str]]:
    """Values of the monitors, when they are asked for, and their units."""
    kept = whole._monitors.items()
    values = {key: partial(_rows, whole, c, (rows, 0)) for key, c in kept}
    return dict(values), {key: c.units[0] for key, c in kept}


def _rows(whole: Results, channels: Channels, rows: slice | tuple[slice, int]) -> Array:
    return whole._values(channels)[rows]


def _derived(
    count: int, values: Mapping[str, ArrayLike], units: Mapping[str, str], before: Channels | None
) -> Channels:
    """A group of channels of `count` instants, after those that are there already.

    Raises:
        ShapeError: values are neither (k,) nor (k, 3).
        ResultsError: two channels have one name.
        UnknownNameError: a unit is given for none of them.
    """
    names: list[str] = list(before.names) if before else []
    shown: list[str] = list(before.units) if before else []
    columns: list[Array] = [before.values] if before else []
    for name, given in values.items():
        array = np.asarray(given, dtype=np.float64)
        if array.shape not in ((count,), (count, 3)):
            raise ShapeError(
                f"{name!r} should have shape ({count},) or ({count}, 3); it has {array.shape}"
            )
        parts = [name] if array.ndim == 1 else [f"{name}.{axis}" for axis in "xyz"]
        names += parts
        shown += [units.get(name, "")] * len(parts)
        columns.append(array.reshape(count, -1))
    for name in units:
        if name not in values:
            raise unknown(name, "channel", values)
    return Channels(names, np.hstack(columns) if columns else np.empty((count, 0)), shown)
