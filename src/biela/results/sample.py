"""Values of all channels at chosen times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array
from biela.results.interpolation import hermite, inside, linear

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["Sample"]


class Sample(Mapping[str, Array]):
    """Interpolated values by name, `s["theta1"]`, and by group, `s.q`.

    For a single time a channel is a number and a group an array (n,); for m times they are (m,)
    and (m, n). Each is computed when asked for.

    Attributes:
        t: the time, or the times.
    """

    def __init__(self, results: Results, times: Array) -> None:
        """Look at results at a time () or at times (m,); `Results.at` is the way to get here.

        Raises:
            ShapeError: the times have more than one axis.
            ResultsError: a time lies outside the stored interval.
        """
        if times.ndim > 1:
            raise ShapeError(f"times should have shape () or (m,); they have {times.shape}")
        self.t = times
        self._results = results
        self._times = inside(results.t, np.atleast_1d(times))

    def __getitem__(self, name: str) -> Array:
        """The channel of that name at the time or times.

        Raises:
            UnknownNameError: no channel is called so.
            ResultsError: it is an error of the run, which interpolated positions do not have.
        """
        r = self._results
        if self._is_error(name):
            raise ResultsError(
                f"{name!r} is that of the stored instants; positions between them have the error "
                f"of the interpolation. Simulate with a smaller output=… to have more of them"
            )
        values = r[name]
        rate = None if values is r.t else r.rate(name)
        if rate is None:
            column = linear(r.t, values, self._times)
        else:
            column = hermite(r.t, values, r[rate], self._times)
        result: Array = column if self.t.ndim else column[0]
        return result

    def __getattr__(self, group: str) -> Array:
        results = self.__dict__.get("_results")
        if results is None or group not in results.groups:
            raise AttributeError(f"no group {group!r} in this sample")
        columns = [self[f"{group}.{name}"] for name in results.groups[group].names]
        return np.stack(columns, axis=-1) if columns else np.empty((*self.t.shape, 0))

    def _is_error(self, name: str) -> bool:
        return name in self._results.monitors and name.endswith(" error")

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._results.names if not self._is_error(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        times = f"{self.t:g} s" if not self.t.ndim else f"{len(self.t)} times"
        return f"Sample({self._results.name!r} at {times}: {len(self)} channels)"
