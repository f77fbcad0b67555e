"""Data from elsewhere — measured, published, or of another program — as results."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from math import pi
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.given_files import path_of, text_in
from biela.results.channels import Array, Channels
from biela.results.naming import unknown
from biela.results.results import Results
from biela.results.units import shown

__all__ = ["read_csv", "reference_data"]

#: What data may come in: the factor to SI units, and the unit they become.
_TO_SI = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "µm": (1e-6, "m"),
    "in": (0.0254, "m"),
    "mm/s": (1e-3, "m/s"),
    "mm/s²": (1e-3, "m/s²"),
    "deg": (pi / 180, "rad"),
    "°": (pi / 180, "rad"),
    "deg/s": (pi / 180, "rad/s"),
    "°/s": (pi / 180, "rad/s"),
    "deg/s²": (pi / 180, "rad/s²"),
    "°/s²": (pi / 180, "rad/s²"),
    "rpm": (2 * pi / 60, "rad/s"),
    "kN": (1e3, "N"),
    "N·mm": (1e-3, "N·m"),
    "kN·m": (1e3, "N·m"),
    "kW": (1e3, "W"),
    "ms": (1e-3, "s"),
    "min": (60.0, "s"),
}
#: The end of a heading with a unit: `name [unit]` or `name (unit)`.
_UNIT = {"]": "[", ")": "("}


def reference_data(
    t: ArrayLike,
    values: Mapping[str, ArrayLike],
    units: Mapping[str, str] | None = None,
    name: str = "reference",
) -> Results:
    """Arrays (k,) by the names of the channels to compare with, as results.

    Units other than those of SI, such as mm, deg or rpm, are converted.

    >>> r = reference_data([0, 1], {"x": [5, 8]}, {"x": "mm"})
    >>> r["x"].tolist(), r.unit("x")
    ([0.005, 0.008], 'm')

    Raises:
        ShapeError: the arrays differ in length.
        ResultsError: the times do not ascend.
        UnknownNameError: a unit is given for none of them.
    """
    units = dict(units or {})
    for key in units:
        if key not in values:
            raise unknown(key, "channel", values)
    times = np.asarray(t, dtype=np.float64)
    columns, names_of_units = [], []
    for key, given in values.items():
        column = np.asarray(given, dtype=np.float64)
        if column.shape != times.shape:
            raise ShapeError(f"{key!r} has shape {column.shape}, the times have {times.shape}")
        factor, unit = _TO_SI.get(shown(units.get(key, "")), (1.0, units.get(key, "")))
        columns.append(factor * column)
        names_of_units.append(unit)
    table = np.stack(columns, axis=1) if columns else np.empty((len(times), 0))
    return Results(name, times, {"y": Channels(list(values), table, names_of_units)})


def read_csv(
    path: str | Path,
    time: str | None = "",
    names: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Results:
    """Read a table of numbers under headings `name [unit]`, as results.

    Values are parted by commas, semicolons, tabs or blanks; with other marks than commas, a decimal
    comma is understood. Lines that begin with # are left out, and an empty field is not a number.

    Args:
        path: of the file.
        time: heading of the times, without the unit; "" for the first column, None if there are
            none and only one column over another matters.
        names: what to call columns, by their headings without units: {"slider": "piston.x"}.
        units: units by the new names, where the headings have none; SI units result.

    Raises:
        ResultsError: the file cannot be read, or is no such table.
        UnknownNameError: there is no such column.
    """
    path = path_of(path, ResultsError)
    headings, table = _read(path)
    plain, told = zip(*map(_name_and_unit, headings), strict=True)
    for column in () if names is None else names:
        if column not in plain:
            raise unknown(column, "column", plain)
    times: Array = np.arange(len(table), dtype=np.float64)
    skip = -1
    if time is not None:
        if time and time not in plain:
            raise unknown(time, "column", plain)
        skip = plain.index(time) if time else 0
        times = _TO_SI.get(shown(told[skip]), (1.0, ""))[0] * table[:, skip]
    kept = [i for i in range(len(plain)) if i != skip]
    called = {i: (names or {}).get(plain[i], plain[i]) for i in kept}
    if len(set(called.values())) < len(kept):
        raise ResultsError(f"{path}: two columns have one name: {', '.join(called.values())}")
    known = {called[i]: told[i] for i in kept if told[i]}
    try:
        values = {called[i]: table[:, i] for i in kept}
        return reference_data(times, values, {**known, **(units or {})}, path.stem)
    except ResultsError as error:
        raise ResultsError(f"{path}: {error}") from error


def _name_and_unit(heading: str) -> tuple[str, str]:
    """The name in `name [unit]`, `name (unit)` or `name`, and the unit."""
    text = heading.strip()
    end = text[-1:]
    begin = _UNIT.get(end)
    # brackets that were closed before belong to the name
    at = text.find(begin, text.rfind(end, 0, -1) + 1) if begin else -1
    return (text, "") if at < 0 else (text[:at].rstrip(), text[at + 1 : -1].strip())


def _read(path: Path) -> tuple[Sequence[str], Array]:
    """The headings and the numbers of a file."""
    try:
        return _parted(path)
    except csv.Error as error:  # a field beyond its limit
        raise ResultsError(f"{path}: {error}") from error


def _parted(path: Path) -> tuple[Sequence[str], Array]:
    text = text_in(path, ResultsError)
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise ResultsError(f"{path}: there should be a line of headings and lines of numbers")
    mark = next((m for m in ";\t," if m in lines[0][1]), None)
    rows = []
    headings: Sequence[str] = _fields(lines[0][1], mark)
    for number, line in islice(lines, 1, None):
        fields = _fields(line, mark)
        if len(fields) != len(headings):
            raise ResultsError(
                f"{path}:{number}: {len(fields)} values under {len(headings)} headings"
            )
        try:
            rows.append([_number(field, mark) for field in fields])
        except ValueError as error:
            raise ResultsError(f"{path}:{number}: {error}") from error
    if all(_is_number(text, mark) for text in headings):
        raise ResultsError(f"{path}: the first line should have the headings, not numbers")
    return headings, np.array(rows, dtype=np.float64)


def _fields(line: str, mark: str | None) -> list[str]:
    return next(csv.reader([line], delimiter=mark)) if mark else line.split()


def _number(text: str, mark: str | None) -> float:
    text = text.strip()
    if mark != ",":
        text = text.replace(",", ".")
    return float(text) if text else float("nan")


def _is_number(text: str, mark: str | None) -> bool:
    try:
        _number(text, mark)
    except ValueError:
        return False
    return True
