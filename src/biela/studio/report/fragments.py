"""Pieces of pages: a title and some HTML, made so that what fails becomes words in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from math import floor, isfinite, log10
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.errors import BielaError

__all__ = [
    "Digits",
    "Fragment",
    "decimals",
    "fragment_style",
    "made",
    "number",
    "table",
    "trouble",
    "words",
]

#: Rows that a table on a page has, at most; more are counted.
_ROWS: Final = 60
#: Rows of tables that stay on one sheet of paper.
_SHORT: Final = 12
#: Decimals beyond which a number is written with an exponent.
_DECIMALS: Final = 9


@dataclass(frozen=True)
class Fragment:
    """A piece of a page.

    Attributes:
        title: Its heading, plain text.
        html: What follows: well-formed elements, which ask nothing of the network.
        failed: Whether it holds the reason why there is nothing else.
    """

    title: str
    html: str
    failed: bool = False

    def _repr_html_(self) -> str:
        return (
            f'<div class="biela"><style>{fragment_style()}</style>'
            f"<h3>{escape(self.title)}</h3>{self.html}</div>"
        )


@cache
def fragment_style() -> str:
    """The style of fragments, for elements inside of one of the class "biela"."""
    file = files("biela.studio.report").joinpath("fragments.css")
    return file.read_text(encoding="utf-8")


def made(title: str, maker: Callable[[], str]) -> Fragment:
    """The piece that a function makes; if biela has something against it, its words instead."""
    try:
        return Fragment(title, maker())
    except BielaError as error:
        return Fragment(title, trouble(str(error)), failed=True)
    except np.linalg.LinAlgError as error:  # of matrices that no analysis expects
        return Fragment(title, trouble(f"this cannot be computed: {error}"), failed=True)


def words(text: str, kind: str = "note") -> str:
    """A paragraph for every line of a text."""
    lines = [line for line in text.splitlines() if line.strip()]
    return "".join(f'<p class="{kind}">{escape(line)}</p>' for line in lines)


def trouble(text: str) -> str:
    """What went wrong, where the reader looks for what is missing."""
    return f'<div class="trouble" role="note">{words(text, "said")}</div>'


def number(value: float) -> str:
    """A number for people, five digits: a dash for one that is not known."""
    if not isfinite(value):
        return "–"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        text = np.format_float_positional(value, 5, unique=False, fractional=False, trim="-")
    else:
        text = f"{value:.5g}"
    return "0" if text == "-0" else text.replace("-", "−")


class Digits(float):
    """A number that a table shows with so many decimals, as its neighbours have them.

    >>> str(Digits(-0.05679, 3)), str(Digits(-1e-9, 3)), str(Digits(0.0, 3))
    ('−0.057', '0.000', '0')
    """

    decimals: int

    def __new__(cls, value: float, decimals: int) -> Digits:
        """A value and its decimals."""
        found = super().__new__(cls, value)
        found.decimals = decimals
        return found

    def __str__(self) -> str:
        if not isfinite(self) or not self or self.decimals > _DECIMALS:
            return number(float(self))
        text = f"{float(self):.{self.decimals}f}"
        if not text.strip("-0."):
            text = text.removeprefix("-")
        return text.replace("-", "−")


def decimals(values: npt.NDArray[np.float64]) -> int:
    """How many decimals values have so that the largest has five digits.

    >>> decimals(np.array([17.3, -0.1])), decimals(np.array([316241.7]))
    (3, 0)
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not (isfinite(largest) and largest > 0):
        return 0
    return max(0, 4 - floor(log10(largest)))


def table(heads: Sequence[str], rows: Iterable[Sequence[float | int | str]]) -> str:
    """A table; numbers stand to the right, and rows beyond many are counted only.

    Columns without any text are left out, and so is a head without any.
    """
    listed: list[Sequence[float | int | str]] = list(rows)
    kept = [k for k in range(len(heads)) if not listed or any(row[k] != "" for row in listed)]
    heads, listed = [heads[k] for k in kept], [[row[k] for k in kept] for row in listed]
    right = [
        bool(listed) and all(isinstance(row[k], int | float) for row in listed)
        for k in range(len(heads))
    ]
    head = "".join(
        f'<th scope="col"{_aligned(to_right)}>{escape(text)}</th>'
        for text, to_right in zip(heads, right, strict=True)
    )
    body = "".join(_row(row, right) for row in listed[:_ROWS])
    top = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    html = f"<table>{top}<tbody>{body}</tbody></table>"
    more = len(listed) - _ROWS
    kind = "wide short" if len(listed) <= _SHORT else "wide"
    return f'<div class="{kind}">{html}</div>' + (words(f"… {more:,} more") if more > 0 else "")


def _row(row: Sequence[float | int | str], right: Sequence[bool]) -> str:
    cells = (
        f"<td{_aligned(to_right)}>{_cell(value)}</td>"
        for value, to_right in zip(row, right, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cell(value: float | int | str) -> str:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Digits):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else number(value)


def _aligned(to_right: bool) -> str:
    return ' class="figure"' if to_right else ""
