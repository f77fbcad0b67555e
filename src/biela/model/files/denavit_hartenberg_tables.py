"""Denavit–Hartenberg tables in files: comma separated values, or a table of a TOML file.

    a, alpha, d, theta, kind                [denavit_hartenberg]
    0, 90 deg, 0.66, 0, revolute            convention = "modified"
    432 mm, 0, 0, 0,                        rows = [{ a = 0, alpha = "90 deg", d = 1, theta = 0 }]
    0, 0, 0.1, 0, prismatic                 masses = [2.0]

In a CSV file further columns may be ``mass``, ``lower``, ``upper``, ``velocity`` and ``effort``; a
cell may be empty.  A first line "# modified" says the convention.  In TOML the other keys are the
arguments of `from_dh`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Final

from biela.errors import BielaError, FileError
from biela.given_files import path_of, text_in
from biela.model.denavit_hartenberg import from_dh
from biela.model.files.reading import parsed
from biela.model.model import Model

TABLE: Final = "denavit_hartenberg"
_GEOMETRY: Final = ("a", "alpha", "d", "theta")
_MORE: Final = ("kind", "mass", "lower", "upper", "velocity", "effort")
_KEYS: Final = (
    "rows", "convention", "masses", "coms", "inertias", "limits", "velocity_limits",
    "effort_limits", "gravity",
)  # fmt: skip


def load_dh(path: str | Path) -> Model:
    """The model of a serial robot by its table of Denavit–Hartenberg parameters.

    Raises:
        FileError: The file cannot be read, or has mistakes; with the line where there is one.
    """
    file = path_of(path, FileError)
    text = text_in(file, FileError)
    settings = _toml(file, text) if file.suffix.lower() == ".toml" else _csv(file, text)
    try:
        return from_dh(**settings)
    except BielaError as error:
        raise FileError(f"{file}: {error}") from None


def _toml(file: Path, text: str) -> dict[str, Any]:
    document = parsed(text, str(file))
    table = document.pop(TABLE, None)
    name = document.pop("name", file.stem)
    if not isinstance(table, dict) or "rows" not in table:
        raise FileError(f"{file}: a table [{TABLE}] with rows = [...] is wanted")
    for key in document:
        raise FileError(f"{file}: {key!r} is nothing that a file with [{TABLE}] has beside a name")
    for key in table:
        if key not in _KEYS:
            raise FileError(f"{file}: [{TABLE}] has no {key!r}; it has {', '.join(_KEYS)}")
    if not isinstance(name, str):
        raise FileError(f"{file}: the name is a text, not {name!r}")
    for key, value in table.items():
        if key != "convention" and not isinstance(value, list):
            raise FileError(f"{file}: [{TABLE}] {key} is an array, not {value!r}")
    if "limits" in table:  # an empty array stands for no limits
        table["limits"] = [pair if pair != [] else None for pair in table["limits"]]
    return {"name": name, **table}


def _csv(file: Path, text: str) -> dict[str, Any]:
    lines = text.splitlines()
    settings: dict[str, Any] = {"name": file.stem}
    rows: list[dict[str, Any]] = []
    head: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            word = line.strip("# \t").lower()
            if word in ("standard", "modified"):
                settings["convention"] = word
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line]), [])]
        except csv.Error as error:  # a cell beyond its limit
            raise FileError(f"{file}:{number}: {error}") from None
        if not any(cells):
            continue
        if not head:
            head = cells
            unknown = [cell for cell in head if cell not in (*_GEOMETRY, *_MORE)]
            if unknown or not set(_GEOMETRY) <= set(head):
                raise FileError(
                    f"{file}:{number}: the headings are a, alpha, d, theta and perhaps "
                    f"{', '.join(_MORE)}; not {', '.join(head)}"
                )
            continue
        if len(cells) > len(head):
            raise FileError(f"{file}:{number}: {len(cells)} cells below {len(head)} headings")
        row = {key: _value(cell) for key, cell in zip(head, cells, strict=False) if cell}
        missing = [key for key in _GEOMETRY if key not in row]
        if missing:
            raise FileError(f"{file}:{number}: {', '.join(missing)} is not given")
        rows.append(row)
    settings["rows"] = [{k: r[k] for k in (*_GEOMETRY, "kind") if k in r} for r in rows]
    if any("mass" in row for row in rows):
        settings["masses"] = [row.get("mass", 0.0) for row in rows]
    if any("lower" in row or "upper" in row for row in rows):
        settings["limits"] = [_pair(file, k, row) for k, row in enumerate(rows, 1)]
    for key in ("velocity", "effort"):
        if any(key in row for row in rows):
            settings[f"{key}_limits"] = [row.get(key) for row in rows]
    return settings


def _pair(file: Path, number: int, row: dict[str, Any]) -> tuple[Any, Any] | None:
    if ("lower" in row) != ("upper" in row):
        raise FileError(f"{file}: joint {number} has one limit only: give lower and upper, or none")
    return (row["lower"], row["upper"]) if "lower" in row else None


def _value(cell: str) -> float | str:
    """A number, or a text with a unit."""
    try:
        return float(cell)
    except ValueError:
        return cell
