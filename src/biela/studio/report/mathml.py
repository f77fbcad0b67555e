r"""Formulas on pages: the LaTeX that biela writes, as MathML, which browsers draw by themselves.

It knows what `biela.latex` and `biela.latex_listing` write — sums, products by juxtaposition,
fractions, roots, powers, indices, dots, functions and cases — and is no reader of LaTeX at large.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from biela.errors import BielaError

__all__ = ["formula", "matrix", "row"]

_TOKEN: Final = re.compile(r"\s+|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|.", re.DOTALL)
_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega varepsilon vartheta varphi varrho varsigma "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_LETTERS: Final = dict(zip(_NAMES.split(), "αβγδϵζηθικλμνξπρστυϕχψωεϑφϱςΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
_FUNCTIONS: Final = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "ln", "tanh", "min", "max")
_SIGNS: Final = {"cdot": "·", "le": "≤", "neq": "≠"}
_DOTS: Final = {"dot": "˙", "ddot": "¨"}
#: Says that a function is applied to what follows.
_APPLIED: Final = "<mo>&#8289;</mo>"
_THIN: Final = '<mspace width="0.17em"></mspace>'
#: Digits of a decimal number: a page is read, not computed with.
_DIGITS: Final = 5


def formula(*parts: str) -> str:
    """MathML of parts side by side, as a formula of its own line."""
    return f'<div class="formula"><math displaystyle="true">{"".join(parts)}</math></div>'


def matrix(cells: Sequence[Sequence[str]]) -> str:
    """MathML of a matrix in brackets, from LaTeX of its entries."""
    rows = "".join(
        f"<mtr>{''.join(f'<mtd>{row(cell)}</mtd>' for cell in cells_of_row)}</mtr>"
        for cells_of_row in cells
    )
    # brackets that grow need a font of mathematics, which not all machines have: the style has them
    return f'<mtable class="matrix">{rows}</mtable>'


def row(latex: str) -> str:
    """MathML of a text in LaTeX.

    Raises:
        BielaError: There is something in it that biela does not write.
    """
    reader = _Reader(latex)
    found = reader.row()
    reader.end()
    return found


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, latex: str) -> None:
        self._latex = latex
        self._tokens = _TOKEN.findall(latex)[::-1]
        self._skip()

    # ----------------------------------------------------------------------------- tokens

    def _skip(self) -> None:
        while self._tokens and self._tokens[-1].isspace():
            self._tokens.pop()

    def _next(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def _take(self, wanted: str = "") -> str:
        token = self._next()
        if not token or (wanted and token != wanted):
            raise self._unknown(token)
        self._tokens.pop()
        self._skip()
        return token

    def _unknown(self, token: str) -> BielaError:
        return BielaError(f"{token or 'the end'!r} is not expected in the formula {self._latex!r}")

    def end(self) -> None:
        """Refuse what is left over."""
        if self._tokens:
            raise self._unknown(self._next())

    # -------------------------------------------------------------------------------- rows

    def row(self) -> str:
        """Everything up to the end of a group."""
        parts: list[str] = []
        while self._next() not in ("", "}", r"\right", "&", r"\\", r"\end"):
            part = self._scripted()
            if parts and not parts[-1].endswith("</mo>") and not part.startswith("<mo>"):
                parts.append(_THIN)  # factors side by side
            parts.append(part)
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def _group(self) -> str:
        self._take("{")
        found = self.row()
        self._take("}")
        return found

    def _plain(self) -> str:
        """The text of a group, with its spaces."""
        self._take("{")
        text = ""
        while (token := self._next()) not in ("", "}"):
            self._tokens.pop()
            text += token.removeprefix("\\") if len(token) == 2 else token
        self._take("}")
        return text

    def _scripted(self) -> str:
        """A part with what stands below and above it."""
        base = self._part()
        below = above = ""
        while self._next() in ("_", "^"):
            if self._take() == "_":
                below = self._group()
            else:
                above = self._group()
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        if below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _part(self) -> str:
        token = self._next()
        if token == "{":
            return self._group()
        self._take()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{_number(token)}</mn>"
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        if token == "-":
            return "<mo>−</mo>"
        if token in "+=<,()|[]":
            return f"<mo>{escape(token)}</mo>"
        raise self._unknown(token)

    def _command(self, name: str) -> str:
        if name in _LETTERS:
            return f"<mi>{_LETTERS[name]}</mi>"
        if name in _FUNCTIONS:
            return self._call(name)
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>"
        if name in _DOTS:
            return f'<mover accent="true">{self._group()}<mo>{_DOTS[name]}</mo></mover>'
        if name == "operatorname":
            return self._call(self._plain())
        if name == "mathrm":
            return f'<mi mathvariant="normal">{escape(self._plain())}</mi>'
        if name == "text":
            return f"<mtext>{escape(self._plain())}&#160;</mtext>"
        if name == "frac":
            above = self._group()
            return f"<mfrac>{above}{self._group()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._group()}</msqrt>"
        if name == "left":
            return self._fenced()
        if name == "begin":
            return self._cases()
        raise self._unknown(f"\\{name}")

    def _call(self, name: str) -> str:
        """A function with its arguments: what stands above is the power of its value."""
        self._take(r"\left")
        return f"<mrow><mi>{escape(name)}</mi>{_APPLIED}{self._fenced()}</mrow>"

    def _fenced(self) -> str:
        opening = self._take()
        inside = self.row()
        self._take(r"\right")
        closing = self._take()
        left, right = (f"<mo>{escape(fence)}</mo>" for fence in (opening, closing))
        return f"<mrow>{left}{inside}{right}</mrow>"

    def _cases(self) -> str:
        if self._plain() != "cases":
            raise self._unknown(r"\begin")
        lines: list[list[str]] = [[]]
        while True:
            lines[-1].append(self.row())
            token = self._take()
            if token == r"\end":
                break
            if token == r"\\":
                lines.append([])
        self._plain()
        rows = "".join(
            f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in line)}</mtr>" for line in lines
        )
        return f'<mtable class="cases">{rows}</mtable>'


def _number(text: str) -> str:
    """A decimal with few digits, whole numbers as they are."""
    return text if "." not in text else f"{float(text):.{_DIGITS}g}"
