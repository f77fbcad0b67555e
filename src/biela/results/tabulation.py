"""The methods of results that make tables: values at chosen times, extremes and means."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from biela.budgets import check_memory
from biela.errors import ResultsError
from biela.results.averages import mean, rms
from biela.results.tables import Table
from biela.results.units import shown

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["Tabulated"]

#: A number of a table, which is one of Python, takes the room of so many of an array.
_OF_A_NUMBER = 5


class Tabulated:
    """What results can be tabulated as."""

    def table(self, *names: str, at: ArrayLike | None = None, every: float | None = None) -> Table:
        """Values of channels, a row an instant; printed, or saved as .csv, .md, .tex or .txt.

        Args:
            names: names, groups ("q") or patterns ("theta*"); by default the coordinates.
            at: the times, interpolated where need be.
            every: or the step between them, from the first instant on; by default all instants.

        Raises:
            UnknownNameError: nothing is called so, or nothing matches.
            ResultsError: a time lies outside the stored interval, both `at` and `every` are given,
                or the step is not positive.
        """
        results = cast("Results", self)
        chosen = results.select(*(names or (("q",) if "q" in results.groups else results.names)))
        if at is not None and every is not None:
            raise ResultsError("give the times, at=…, or the step between them, every=…, not both")
        if every is not None:
            if not (np.isfinite(every) and every > 0):
                raise ResultsError(f"every = {every!r} s should be a positive number")
            span = float(results.t[-1] - results.t[0])
            check_memory(
                span / float(every) * (1 + len(chosen)) * _OF_A_NUMBER,
                f"every = {every!r} s: the table would take {{}}",
                "take a longer step",
                ResultsError,
            )
            at = results.t[0] + every * np.arange(int(np.floor(span / every * (1 + 1e-12))) + 1)
        if at is None:
            columns = [results.t, *(results[name] for name in chosen)]
        else:
            sample = results.at(np.atleast_1d(np.asarray(at, dtype=np.float64)))
            columns = [sample.t, *(sample[name] for name in chosen)]
        return Table(
            ("t", *chosen),
            ("s", *(results.unit(name) for name in chosen)),
            tuple(zip(*(column.tolist() for column in columns), strict=True)),
            results.name,
        )

    def describe(self, *names: str) -> Table:
        """Extremes with their times, mean and root mean square over time of channels.

        Means are over time, not over instants, which may be unequally far apart.

        Args:
            names: names, groups or patterns; by default the coordinates.

        Raises:
            UnknownNameError: nothing is called so, or nothing matches.
        """
        results = cast("Results", self)
        chosen = results.select(*(names or (("q",) if "q" in results.groups else results.names)))
        rows = []
        for name in chosen:
            y = results[name]
            known = np.flatnonzero(np.isfinite(y))
            if not len(known):
                rows.append((name, shown(results.unit(name)), *(np.nan,) * 6))
                continue
            low, high = known[np.argmin(y[known])], known[np.argmax(y[known])]
            rows.append(
                (
                    name,
                    shown(results.unit(name)),
                    float(y[low]),
                    float(results.t[low]),
                    float(y[high]),
                    float(results.t[high]),
                    mean(results.t, y),
                    rms(results.t, y),
                )
            )
        return Table(
            ("channel", "unit", "min", "time of min", "max", "time of max", "mean", "rms"),
            ("", "", "", "s", "", "s", "", ""),
            tuple(rows),
            results.name,
        )
