"""Places of a workspace as C expressions of the number k of an instance.

Places that are the same for all instances, or a multiple of k, are written as such; of the others
there is a table ``at``, and what lies a fixed way behind a column of it needs none of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import numpy as np

from biela.code.looped.stage import Integers

__all__ = ["PlaceTable", "table_text"]

_WIDTH: Final = 98


class PlaceTable:
    """Collects places, one for every instance, and gives the expressions of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.columns: list[Integers] = []

    def expression(self, places: Integers) -> str:
        """What stands for the places in C."""
        first = int(places[0])
        steps = np.diff(places)
        if not steps.size or not steps.any():
            return str(first)
        if (steps == steps[0]).all():
            return _sum("k" if steps[0] == 1 else f"{int(steps[0])}*k", first)
        for number, column in enumerate(self.columns):
            apart = places - column
            if (apart == apart[0]).all():
                return _sum(f"at[{number}]", int(apart[0]))
        self.columns.append(places)
        return f"at[{len(self.columns) - 1}]"

    def text(self, name: str, notes: Sequence[str]) -> str:
        """The table, with a note for each instance; nothing if none is needed."""
        if not self.columns:
            return ""
        rows = np.stack(self.columns, axis=1)
        texts = [[str(int(entry)) for entry in row] for row in rows]
        return table_text(f"static const int {name}", texts, notes)


def table_text(head: str, rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """A table of C, a row with its note for each instance."""
    lines = [f"{head}[{len(rows)}][{len(rows[0])}] = {{"]
    for row, note in zip(rows, notes, strict=True):
        parts = textwrap.wrap("{" + ", ".join(row) + "},", _WIDTH - 4)
        last = f"  {parts[-1]}"
        if len(last) + len(note) + 5 > _WIDTH:
            lines += [f"  // {line}" for line in textwrap.wrap(note, _WIDTH - 5)]
        elif note:
            parts[-1] += f"  // {note}"
        lines += [f"  {parts[0]}", *(f"    {part}" for part in parts[1:])]
    return "\n".join([*lines, "};", ""])


def _sum(text: str, number: int) -> str:
    if not number:
        return text
    return f"{text} + {number}" if number > 0 else f"{text} - {-number}"
