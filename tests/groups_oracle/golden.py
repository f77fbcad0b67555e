"""Reference figures of the structural groups: Miralles's thesis (2018) and what it implies.

The files of ``tests/data/groups`` hold one example each: its data (lengths, rates, guesses) and
tables with named columns, each saying whether it was printed by the source or computed.

| file | holds |
|---|---|
| e1_four_bar | 60 to 90 degrees by 5: points, rates, accelerations; the relative angles |
| e3_four_bar_chain | five instants of the second joint: exact, and the source's Cuadro 1 |
| e4_slider | a turn by 30 degrees: the source's table (three misprints corrected), ten decimals |
| e6_slider_fan | five instants: the source's Cuadros 3 and 4, and exact ones |
| e8_actuator | assembly of the linear actuator of a Stewart platform |
| timings | every table of seconds and speed-ups, by its number in the specification |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / "data" / "groups"


@dataclass(frozen=True)
class Table:
    """A table of figures: its origin in words, the names of its columns, the rows."""

    origin: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    #: what else the file says of it: ``mean``, ``corrected``
    notes: dict[str, Any]

    def column(self, name: str) -> Floats:
        """The figures of a column (nan where the table has none)."""
        k = self.columns.index(name)
        return np.array([row[k] for row in self.rows], dtype=float)

    def array(self, *names: str) -> Floats:
        """Rows × the columns so named; all of them without names."""
        return np.stack([self.column(name) for name in names or self.columns], axis=1)


@dataclass(frozen=True)
class Example:
    """The data of an example and its tables."""

    about: str
    data: dict[str, Any]
    tables: dict[str, Table]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]


@cache
def example(name: str) -> Example:
    """The example of a file of ``tests/data/groups``, such as ``e1_four_bar``."""
    stored = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    tables = {key: _table(entry) for key, entry in stored["tables"].items()}
    return Example(stored["about"], stored["data"], tables)


def _table(entry: dict[str, Any]) -> Table:
    known = ("origin", "columns", "rows")
    notes = {key: value for key, value in entry.items() if key not in known}
    rows = tuple(tuple(row) for row in entry["rows"])
    return Table(entry["origin"], tuple(entry["columns"]), rows, notes)
