"""Columns of numbers over time, each with a name and a unit, and the events between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ResultsError, ShapeError
from biela.given_files import text_of

__all__ = ["Channels", "Event"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """Something that happened at one instant: a contact, a switch, a limit reached.

    Attributes:
        time: when, in seconds.
        name: what, as the model calls it.
        direction: sign of the change of the function that crossed zero; 0 if it does not matter.
    """

    time: float
    name: str
    direction: int = 0


class Channels:
    """A group of channels, such as all coordinates: `values` is (k, n), a row an instant.

    The values may be given as a function of no arguments; it is called when they are first asked
    for, and what it returns is kept.

    Attributes:
        names: name of each column.
        units: unit of each column, such as "rad/s"; "" for a pure number.
        rates: name of the channel that is the time derivative of each column, "" where there is
            none. None leaves it to the convention of `Results`: v are the rates of q, and a those
            of v, where there are as many of them and their units agree. Give it where the
            convention is wrong: the angular velocity of a body is not the rate of its Euler angles.
        angles: whether each column is an angle known up to whole turns, as `atan2` gives it;
            `Results` adds the turns, so that it does not jump. Empty where none is.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: ArrayLike | Callable[[], ArrayLike],
        units: Sequence[str] = (),
        rates: Sequence[str] | None = None,
        angles: Sequence[bool] = (),
    ) -> None:
        """Name the columns of `values`.

        Raises:
            ResultsError: two columns have one name, or what is said of them differs in number.
            ShapeError: `values` is not (k, n) with one column a name.
        """
        if isinstance(names, str) or isinstance(units, str) or isinstance(rates, str):
            raise ResultsError("names, units and rates are sequences with one text a column")
        self.names = tuple(names)
        self.units = tuple(units) if units else ("",) * len(self.names)
        self.rates = None if rates is None else tuple(rates)
        self.angles = tuple(bool(angle) for angle in angles)
        for text in (*self.names, *self.units, *(self.rates or ())):
            text_of(text, ResultsError, "the name, unit or rate of a channel")
        told = (("units", self.units), ("rates", self.rates), ("angles", self.angles or None))
        for what, given in told:
            if given is not None and len(given) != len(self.names):
                raise ResultsError(
                    f"{len(given)} {what} for {len(self.names)} channels {_few(self.names)}: "
                    f"give one for each"
                )
        if len(set(self.names)) < len(self.names):
            twice = Counter(self.names).most_common(1)[0][0]
            raise ResultsError(f"more than one channel is called {twice!r}: rename one")
        self._values: Array | None = None
        self._source: Callable[[], ArrayLike] | None = None
        if callable(values):
            self._source = values
        else:
            self._values = self._checked(values)

    @property
    def evaluated(self) -> bool:
        """Whether the values are at hand, so that asking for them costs nothing."""
        return self._values is not None

    @property
    def values(self) -> Array:
        """The (k, n) array, read-only; computed on first use."""
        if self._values is None:
            assert self._source is not None
            self._values = self._checked(self._source())
            self._source = None  # it may hold much that is no longer needed
        return self._values

    def holding(self, values: ArrayLike | Callable[[], ArrayLike]) -> Channels:
        """The same channels with other values."""
        return Channels(self.names, values, self.units, self.rates, self.angles)

    def _checked(self, values: ArrayLike) -> Array:
        array = read_only(values)
        if array.ndim != 2 or array.shape[1] != len(self.names):
            raise ShapeError(
                f"the values of channels {_few(self.names)} should have shape "
                f"(k, {len(self.names)}), a row an instant; they have {array.shape}"
            )
        return array

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        state = "" if self.evaluated else ", not computed yet"
        return f"Channels({_few(self.names)}{state})"


def read_only(values: ArrayLike) -> Array:
    """The values as an array of float64 that cannot be written through; not copied if it is one."""
    array = np.asarray(values, dtype=np.float64).view()
    array.flags.writeable = False
    return array


def instants(t: ArrayLike) -> Array:
    """The times as an ascending array (k,) that nothing else changes.

    Raises:
        ShapeError: they are not (k,) with k > 0.
        ResultsError: they are not finite or do not ascend.
    """
    times = read_only(np.array(t, dtype=np.float64))
    if times.ndim != 1 or not len(times):
        raise ShapeError(
            f"t should have shape (k,) with at least one instant; it has {times.shape}"
        )
    if not np.isfinite(times).all():
        raise ResultsError(f"t[{np.flatnonzero(~np.isfinite(times))[0]}] is not a finite number")
    falls = np.flatnonzero(np.diff(times) < 0)
    if len(falls):
        i = int(falls[0])
        raise ResultsError(
            f"times must ascend, but t[{i + 1}] = {times[i + 1]:g} s comes after {times[i]:g} s"
        )
    return times


def as_column(
    name: str, values: ArrayLike | Callable[[], ArrayLike]
) -> ArrayLike | Callable[[], ArrayLike]:
    """Values (k,) as (k, 1), now or when they are computed.

    Raises:
        ShapeError: they are not (k,).
    """

    def column(given: ArrayLike) -> Array:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 1:
            raise ShapeError(f"the monitor {name!r} should have shape (k,); it has {array.shape}")
        return array[:, None]

    return (lambda: column(values())) if callable(values) else column(values)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"({shown}, … {names[-1]})" if len(names) > 5 else f"({', '.join(names)})"
