"""What the command line shows: tables of two columns, and figures in the units of people."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: Names beyond these are counted only.
_SHOWN = 12


def console(stderr: bool = False) -> Console:
    """Where to print: the present standard output, or error, so that it can be redirected.

    COLUMNS says how wide it is; rich would print nothing in 0, which says that it is not known.
    """
    unknown = not os.environ.get("COLUMNS", "1").strip().strip("0")
    width = shutil.get_terminal_size().columns if unknown else None
    return Console(highlight=False, soft_wrap=False, stderr=stderr, width=width)


def pairs(rows: Iterable[tuple[str, str]], indent: int = 2) -> Table:
    """Labels and texts, in two columns; texts are shown as they are."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(" " * indent + escape(label), escape(text))
    return table


def listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """The number of names, and the first of them."""
    if not names:
        return "none"
    more = f", … {len(names) - shown} more" if len(names) > shown else ""
    return f"{len(names)}: {', '.join(names[:shown])}{more}"


def duration(seconds: float) -> str:
    """A time with its unit.

    >>> duration(0.0123), duration(4.2e-7)
    ('12.3 ms', '420 ns')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def files(paths: Sequence[Path]) -> Table:
    """Files by their folders."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(f"{shown_path(path.parent)}/", []).append(path.name)
    return pairs((folder, ", ".join(names)) for folder, names in folders.items())


def shown_path(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
