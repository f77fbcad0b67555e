"""The methods of results that write and read files; what they need is loaded when called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from biela.results.frames import FRAME_GROUPS

if TYPE_CHECKING:
    import pandas

    from biela.results.results import Results

__all__ = ["Stored"]


class Stored:
    """What results can be written to and read from."""

    def save(self, path: str | Path) -> Path:
        """Write everything to an .npz file, which `Results.load` reads; returns its path.

        Channels and scenes not computed yet are computed.

        Raises:
            ResultsError: the file cannot be written, or its name ends in something else.
        """
        from biela.results.files import save

        return save(cast("Results", self), path)

    @staticmethod
    def load(path: str | Path) -> Results:
        """Read what `save` wrote.

        Raises:
            ResultsError: the file cannot be read, or holds no results.
        """
        from biela.results.files import load

        return load(path)

    @staticmethod
    def from_csv(
        path: str | Path,
        time: str | None = "",
        names: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> Results:
        """Read a table of numbers under headings `name [unit]`: measured or published data.

        Args:
            path: of the file; values parted by commas, semicolons, tabs or blanks.
            time: heading of the times, without the unit; "" for the first column, None if there
                are none and only one column over another matters.
            names: what to call columns, by their headings: {"slider": "piston.x"}.
            units: units by the new names, where the headings have none; mm, deg, rpm and such are
                converted to SI units.

        Raises:
            ResultsError: the file cannot be read, or is no such table.
            UnknownNameError: there is no such column.
        """
        from biela.results.reference import read_csv

        return read_csv(path, time, names, units)

    def to_csv(self, path: str | Path, *names: str) -> Path:
        """Write channels as comma separated values with a heading of names and units.

        Args:
            path: of the file.
            names: names, groups or patterns; by default all channels but those of frames.

        Raises:
            ResultsError: the file cannot be written.
            UnknownNameError: nothing is called so.
        """
        from biela.results.files import to_csv

        results = cast("Results", self)
        return to_csv(results, path, _chosen(results, names))

    def to_pandas(self, *names: str) -> pandas.DataFrame:
        """Return a data frame with the time as index; the units are in its `attrs["units"]`.

        Args:
            names: names, groups or patterns; by default all channels but those of frames.

        Raises:
            ResultsError: pandas is not installed.
            UnknownNameError: nothing is called so.
        """
        from biela.results.files import to_pandas

        results = cast("Results", self)
        return to_pandas(results, _chosen(results, names))


def _chosen(results: Results, names: tuple[str, ...]) -> list[str]:
    # the 24 channels of every frame would bury the others
    groups = [group for group in results.groups if group not in FRAME_GROUPS]
    return results.select(*(names or (*groups, *results.monitors)))
