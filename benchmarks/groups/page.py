"""Where the page of structural groups stands, and what its sections look like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "groups-tables.md"
IMAGES = DOCS / "images"
#: Of the source's figures.
DOTS: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 4, "clip_on": False}


def section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], text: str = "") -> str:
    """A heading, a table and a remark."""
    lines = [f"## {title}", "", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *([text, ""] if text else [])])


def picture(name: str, text: str) -> str:
    """A picture of the page."""
    return f"![{text}](images/groups-{name}.png)\n"
