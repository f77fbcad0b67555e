"""Tables of numbers and words: as text, and for spreadsheets, Markdown and LaTeX."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from biela.errors import ResultsError, ShapeError
from biela.given_files import path_of
from biela.results.naming import unknown
from biela.results.units import labelled
from biela.whole_files import write_file

__all__ = ["Cell", "Table"]

Cell: TypeAlias = float | int | str

_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "θ": "theta",
    "λ": "lambda",
    "μ": "mu",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "varphi",
    "ψ": "psi",
    "ω": "omega",
    "Δ": "Delta",
    "Φ": "Phi",
    "Ω": "Omega",
}
#: What pdflatex does not read as it is.
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "−": "$-$",
    "⁻": "$^{-}$",
    **{character: "\\" + character for character in "&%$#_{}"},
    **{raised: f"$^{digit}$" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{letter: f"$\\{name}$" for letter, name in _GREEK.items()},
}


@dataclass(frozen=True)
class Table:
    """Rows of numbers and words under headings with units. Prints itself.

    >>> print(Table(("channel", "max"), ("", "m"), (("x", 0.25), ("height", -1.5))))
    channel  max [m]
    x           0.25
    height      -1.5

    Attributes:
        names: heading of each column.
        units: unit of each column, "" for words and pure numbers.
        rows: the cells.
        title: what the table shows.
        digits: how many a number is printed with; files of comma separated values have all.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    digits: int = 6

    def __post_init__(self) -> None:
        for what, row in (
            ("units", self.units),
            *((f"row {i}", r) for i, r in enumerate(self.rows)),
        ):
            if len(row) != len(self.names):
                raise ShapeError(f"{what}: {len(row)} entries for {len(self.names)} columns")

    @property
    def headings(self) -> tuple[str, ...]:
        """Name and unit of each column."""
        pairs = zip(self.names, self.units, strict=True)
        return tuple(labelled(name, unit) for name, unit in pairs)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> tuple[Cell, ...]:
        """The cells of a column.

        Raises:
            UnknownNameError: none is called so.
        """
        if name not in self.names:
            raise unknown(name, "column", self.names)
        column = self.names.index(name)
        return tuple(row[column] for row in self.rows)

    # --- as text ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return columns of equal width, numbers to the right."""
        cells = [self.headings, *(self._texts(row) for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.names))]
        left = [self._is_words(i) for i in range(len(self.names))]
        lines = [
            "  ".join(
                text.ljust(width) if words else text.rjust(width)
                for text, width, words in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, "", *lines] if self.title else lines)

    def to_markdown(self) -> str:
        """The table in Markdown (GitHub's)."""
        ends = [":---" if self._is_words(i) else "---:" for i in range(len(self.names))]
        rows = [self.headings, tuple(ends), *(self._texts(row) for row in self.rows)]
        lines = ["| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines] if self.title else lines) + "\n"

    def to_latex(self) -> str:
        """A `tabular` that needs no package."""
        form = "".join("l" if self._is_words(i) else "r" for i in range(len(self.names)))
        head = " & ".join(map(_latex, self.headings))
        body = [" & ".join(_latex_number(c) for c in self._texts(row)) for row in self.rows]
        lines = [f"\\begin{{tabular}}{{{form}}}", "\\hline", head + r" \\", "\\hline"]
        lines += [line + r" \\" for line in body] + ["\\hline", "\\end{tabular}"]
        return "\n".join([f"% {self.title}", *lines] if self.title else lines) + "\n"

    def to_csv(self) -> str:
        """Comma separated values with all digits."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.headings)
        writer.writerows(
            [float(c) if isinstance(c, float) else c for c in row] for row in self.rows
        )
        return text.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the table in the form its suffix says: .csv, .md, .tex or .txt; returns the path.

        Raises:
            ResultsError: the suffix is none of these, or the file cannot be written.
        """
        path = path_of(path, ResultsError)
        forms: dict[str, Callable[[], str]] = {
            ".csv": self.to_csv,
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".txt": lambda: f"{self}\n",
        }
        if path.suffix.lower() not in forms:
            raise ResultsError(f"{path}: the name should end in {', '.join(forms)}")
        return write_file(path, forms[path.suffix.lower()](), ResultsError)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in self.headings)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in self._texts(row))}</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<tr>{head}</tr>{body}</table>"

    def _is_words(self, column: int) -> bool:
        return any(isinstance(row[column], str) for row in self.rows)

    def _texts(self, row: Sequence[Cell]) -> tuple[str, ...]:
        return tuple(self._text(cell) for cell in row)

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell
        if isinstance(cell, int):
            return str(cell)
        return "–" if math.isnan(cell) else f"{cell + 0.0:.{self.digits}g}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_number(text: str) -> str:
    """A number with its exponent as a power, a word as it is."""
    try:
        float(text)
    except ValueError:
        return _latex(text)
    mantissa, e, exponent = text.partition("e")
    return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$" if e else f"${mantissa}$"
