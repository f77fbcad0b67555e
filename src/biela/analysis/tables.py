"""Reports as tables of plain text."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: the first column to the left, the others to the right.

    >>> print("\\n".join(table(("", "m", "a"), [("Phi", "12", "7")])))
          m  a
    Phi  12  7
    """
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return [line(head), *(line(row) for row in rows)]
