"""A row of the table of results, and the table."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

_HEAD = ("what", "measured", "target", "ratio", "ok?")


@dataclass(frozen=True)
class Row:
    """One result.

    ``ratio`` is ours divided by the peer's, both measured in this run; None where there is no
    peer.  ``ok`` is None for a row that is only informative.
    """

    what: str
    measured: str
    target: str = ""
    ratio: float | None = None
    ok: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of the five columns."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        verdict = {True: "yes", False: "NO", None: ""}[self.ok]
        return self.what, self.measured, self.target, ratio, verdict


def against(what: str, ours: float, peer: float, limit: float, measured: str) -> Row:
    """A row whose target is a ratio to a peer."""
    ratio = ours / peer
    return Row(what, measured, f"ratio ≤ {limit:g}", ratio, ratio <= limit)


def below(
    what: str, value: float, limit: float, unit: str, note: str = "", ratio: float | None = None
) -> Row:
    """A row whose target is a number of its own."""
    return Row(what, f"{value:.3g} {unit}{note}", f"≤ {limit:g} {unit}", ratio, value <= limit)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table with aligned columns."""
    cells = [_HEAD, *(row.cells for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(_HEAD))]
    lines = [
        "| " + " | ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines) + "\n"


def summary(rows: Sequence[Row]) -> str:
    """How many targets are met."""
    judged = [row for row in rows if row.ok is not None]
    return f"{sum(bool(row.ok) for row in judged)} of {len(judged)} targets met"


def page(rows: Sequence[Row], quick: bool) -> str:
    """The Markdown page of a run."""
    host = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return (
        f"# Benchmarks{' (quick)' if quick else ''}\n\n{host}. Times are minima of many short "
        f"bursts; ratios are ours divided by the peer's, measured alternately.\n\n"
        f"{table(rows)}\n{summary(rows)}.\n"
    )
