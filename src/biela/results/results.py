"""The results of an analysis: named channels over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from biela.doors import doors
from biela.errors import BielaError, ResultsError, ShapeError
from biela.given_files import text_of
from biela.results.channels import Array, Channels, Event, as_column, instants, read_only
from biela.results.copies import Copied
from biela.results.frames import FRAME_GROUPS, Framed
from biela.results.naming import alias, keys, selected, unknown
from biela.results.orientation import unwrap_by_rate
from biela.results.pictures import Pictures
from biela.results.sample import Sample
from biela.results.scene import Scene
from biela.results.statistics import RunStatistics
from biela.results.storage import Stored
from biela.results.tabulation import Tabulated
from biela.results.units import is_rate, shown

__all__ = ["Results"]

#: The group whose columns are the time derivatives of another's, where their units agree.
_RATES = {"q": "v", "v": "a"}


class _MissingGroupError(BielaError, AttributeError):
    """A group these results do not have; an AttributeError, so that `hasattr` works."""


@doors(ResultsError)
class Results(Pictures, Framed, Tabulated, Copied, Stored):
    """Channels over time, in groups, with what else is known of the run.

    A group is an attribute that holds a (k, n) array, a channel is found by its name:

    >>> t = np.linspace(0, 1, 5)
    >>> angle = Channels(["theta"], t[:, None] ** 2, ["rad"])
    >>> rate = Channels(["theta'"], 2 * t[:, None], ["rad/s"])
    >>> r = Results("pendulum", t, {"q": angle, "v": rate})
    >>> r.q.shape, float(r["theta"].max()), r.unit("theta'")
    ((5, 1), 1.0, 'rad/s')

    The usual groups are q (coordinates), v (velocities), a (accelerations), lam (multipliers),
    u (inputs) and y (outputs), and poses, twists and frame_accelerations, which `frame` reads.
    Monitors are single channels that judge the run, such as the energy. A name that occurs in two
    groups belongs to the first; `group.name` finds any.

    Attributes:
        name: of the run or the model.
        t: the k stored instants, in seconds, ascending; twice the same one where something jumps.
        groups: the channels by group.
        events: what happened, by time.
        statistics: what the run cost, if that is known.
        interrupted: whether the run ended before its time; what it had reached is here.
    """

    # groups, by __getattr__; those that these results have
    q: Array
    v: Array
    a: Array
    lam: Array
    u: Array
    y: Array

    def __init__(
        self,
        name: str,
        t: ArrayLike,
        groups: Mapping[str, Channels],
        monitors: Mapping[str, ArrayLike | Callable[[], ArrayLike]] | None = None,
        units: Mapping[str, str] | None = None,
        statistics: RunStatistics | None = None,
        scene: Scene | Callable[[], Scene] | None = None,
        events: Sequence[Event] = (),
        interrupted: bool = False,
    ) -> None:
        """Put results together.

        Args:
            name: of the run or the model; the title of figures.
            t: the instants, (k,).
            groups: the channels, each group with values (k, n) or a function that computes them.
            monitors: further channels (k,) by name, or functions that compute them.
            units: units of monitors by name.
            statistics: what the run cost.
            scene: the shapes to draw, at the same instants; or a function that makes it.
            events: what happened, and when.
            interrupted: whether the run ended before its time.

        Raises:
            ShapeError: the times or values do not have the shapes above.
            ResultsError: times are not ascending, names clash, or a group cannot be called so.
            UnknownNameError: a unit or a rate names a channel that does not exist.
        """
        self.name = text_of(name, ResultsError, "the name of results")
        self.t = instants(t)
        for group in groups:
            text_of(group, ResultsError, "the name of a group of channels")
            if not group.isidentifier() or hasattr(type(self), group) or group in _TAKEN:
                raise ResultsError(
                    f"a group cannot be called {group!r}: it must be an identifier and none of the "
                    f"attributes of Results"
                )
        self.groups: Mapping[str, Channels] = MappingProxyType(dict(groups))
        units = dict(units or {})
        self._monitors = {
            key: Channels([key], as_column(key, values), [units.pop(key, "")], [""])
            for key, values in (monitors or {}).items()
        }
        if units:
            raise unknown(next(iter(units)), "monitor", self._monitors)
        self._places = keys({g: c.names for g, c in self.groups.items()}, self._monitors)
        self._continuous: dict[str, Array] = {}
        for channels in [*self.groups.values(), *self._monitors.values()]:
            if channels.evaluated:
                self._stored(channels)
            for rate in filter(None, channels.rates or ()):
                self._key(rate)  # must be there
        self.statistics = statistics
        for event in events:
            text_of(event.name, ResultsError, "the name of an event")
        self.events = tuple(sorted(events, key=lambda event: event.time))
        self.interrupted = interrupted
        self._scene = scene
        if isinstance(scene, Scene):
            self._scene = _fitting(scene, len(self.t))

    # --- access -----------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every channel: by group, then the monitors."""
        return tuple(self._places)

    @property
    def monitors(self) -> tuple[str, ...]:
        """The names of the monitors."""
        return tuple(self._monitors)

    @property
    def scene(self) -> Scene | None:
        """The shapes to draw; made on first use if a function was given."""
        if self._scene is not None and not isinstance(self._scene, Scene):
            try:
                made = self._scene()
            except AttributeError as error:  # which would send Python to __getattr__
                raise ResultsError(f"the scene cannot be made: {error}") from error
            self._scene = _fitting(made, len(self.t))
        return self._scene

    @scene.setter
    def scene(self, scene: Scene | None) -> None:
        self._scene = None if scene is None else _fitting(scene, len(self.t))

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Array:
        """The channel of that name, (k,), or the group, (k, n); "t" is the time.

        A channel goes before a group, and before the time, of the same name.

        Raises:
            UnknownNameError: no channel is called so.
        """
        if name == "t" and name not in self._places:
            return self.t
        if name in self.groups and name not in self._places:
            return self._values(self.groups[name])
        channels, column = self._channel(name)
        return self._values(channels)[:, column]

    def __getattr__(self, name: str) -> Array:
        groups = self.__dict__.get("groups", {})
        if name not in groups:
            raise _MissingGroupError(
                f"these results have no attribute and no group {name!r}; the groups are "
                f"{', '.join(groups) or 'none'}, and single channels are found as r['name']"
            )
        return self._values(groups[name])

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.groups})

    def unit(self, name: str) -> str:
        """The unit of a channel, "" for a pure number.

        Raises:
            UnknownNameError: no channel is called so.
        """
        if name == "t" and name not in self._places:
            return "s"
        channels, column = self._channel(name)
        return channels.units[column]

    def rate(self, name: str) -> str | None:
        """The name of the channel that is the time derivative of this one, if there is one.

        Raises:
            UnknownNameError: no channel is called so.
        """
        channels, column = self._channel(name)
        if channels.rates is not None:
            rate = channels.rates[column]
            return self._key(rate) if rate else None
        group = self._places[self._key(name)][0]
        rates = self.groups.get(_RATES.get(group, ""))
        if rates is None or len(rates) != len(channels):
            return None
        if not is_rate(rates.units[column], channels.units[column]):
            return None
        return self._key(f"{_RATES[group]}.{rates.names[column]}")

    def select(self, *patterns: str) -> list[str]:
        """Names of the channels meant by names, groups ("q") or patterns ("theta*").

        A pattern means the many channels of frames only if it matches no others.

        Raises:
            UnknownNameError: nothing is called so, or nothing matches.
        """
        groups = {group: channels.names for group, channels in self.groups.items()}
        return selected(patterns, self._places, groups, FRAME_GROUPS)

    # --- times ------------------------------------------------------------------------------------

    def at(self, time: ArrayLike) -> Sample:
        """Values at a time, or at each of several, between the stored ones where need be.

        Cubic where the rate of a channel is known (see `rate`), straight lines elsewhere.

        Raises:
            ResultsError: a time lies outside the stored interval.
        """
        return Sample(self, np.asarray(time, dtype=np.float64))

    # --- text -------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from biela.results.summary import text

        return text(self)

    def _repr_html_(self) -> str:
        from biela.results.summary import html

        return html(self)

    # --- inside -----------------------------------------------------------------------------------

    def _key(self, name: str) -> str:
        return alias(name, self._places, {g: c.names for g, c in self.groups.items()})

    def _channel(self, name: str) -> tuple[Channels, int]:
        key = self._key(name)
        group, column = self._places[key]
        return (self.groups[group] if group else self._monitors[key]), column

    def _values(self, channels: Channels) -> Array:
        """The values, angles without jumps."""
        if not any(channels.angles):
            return self._stored(channels)
        group = next(name for name, other in self.groups.items() if other is channels)
        if group not in self._continuous:
            values = self._stored(channels).copy()
            for column in np.flatnonzero(channels.angles):
                rate = self.rate(f"{group}.{channels.names[column]}")
                period = 360.0 if shown(channels.units[column]) in ("deg", "°") else 2 * np.pi
                slope = np.zeros(len(self.t))
                if rate is not None:
                    source, place = self._channel(rate)
                    slope = self._stored(source)[:, place]
                values[:, column] = unwrap_by_rate(values[:, column], slope, self.t, period)
            self._continuous[group] = read_only(values)
        return self._continuous[group]

    def _stored(self, channels: Channels) -> Array:
        values = channels.values
        if len(values) != len(self.t):
            raise ShapeError(
                f"channels {', '.join(channels.names[:4])}{', …' if len(channels) > 4 else ''} of "
                f"{self.name!r} have {len(values)} rows for {len(self.t)} instants"
            )
        return values


#: Attributes of an instance, which a group may not hide.
_TAKEN = {"name", "t", "groups", "events", "statistics", "interrupted"}


def _fitting(scene: Scene, count: int) -> Scene:
    if scene.count not in (1, count):
        raise ShapeError(f"the scene has {scene.count} instants where the results have {count}")
    return scene
