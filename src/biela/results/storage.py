"""The methods of results that write and read files; what they need is loaded when called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

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

    def to_csv(self, path: str | Path, *names: str) -> Path:
        """Write channels as comma separated values with a heading of names and units.

        Args:
            path: of the file.
            names: names, groups or patterns; all channels if none is given.

        Raises:
            ResultsError: the file cannot be written.
            UnknownNameError: nothing is called so.
        """
        from biela.results.files import to_csv

        results = cast("Results", self)
        return to_csv(results, path, results.select(*names) if names else list(results.names))

    def to_pandas(self, *names: str) -> pandas.DataFrame:
        """Return a data frame with the time as index; the units are in its `attrs["units"]`.

        Args:
            names: names, groups or patterns; all channels if none is given.

        Raises:
            ResultsError: pandas is not installed.
            UnknownNameError: nothing is called so.
        """
        from biela.results.files import to_pandas

        results = cast("Results", self)
        return to_pandas(results, results.select(*names) if names else list(results.names))
