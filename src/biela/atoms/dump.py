"""A workspace as readable text, and back.

The problem: a derivation is to be stored, compared and read by other programs, and come back
exactly: the same atoms under the same references, in the same order, so that the text of a loaded
workspace is again the same text.  One line holds one thing, in the order of the table:

    biela atoms 1
    workspace "pendulum"
    curve drag 0.0 2               name, period, number of breakpoints
    breaks 0.0 1.0
    origins 0.0 0.0 1.0
    piece 0.0 0.0 0.0 0.0          constant, linear, quadratic and cubic coefficient; n + 1 lines
    function tyre 2 1=tyre_d1      name, arity, the partials that have a name
    2 symbol theta coordinate 3    name, kind, and its rate: a symbol, or of a coordinate any atom
    3 symbol dtheta velocity 4
    4 symbol ddtheta acceleration 0
    5 constant 1/3                 integers and fractions exact, floats to the last digit
    6 add 2 -3                     signed references of the operands
    7 power_int 2 3                base, exponent
    8 piecewise 2 0                operand, number of the curve
    9 external 0 2 3               number of the function, arguments
    end 10

Atoms 0 and 1 are the numbers zero and one of every table and are not written.  What functions
outside biela do is not stored; give it back with ``workspace.bind``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.external import ExternalFunction
from biela.atoms.numbers import Number, number
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.symbols import Kind, Symbol, checked_name
from biela.atoms.table import Table
from biela.atoms.workspace import Workspace
from biela.errors import BielaError, DomainError, ParseError
from biela.given_files import text_of

#: How every dump begins.
HEADER: Final = "biela atoms"
_VERSION: Final = 1


def dump(workspace: Workspace) -> str:
    """The whole table of a workspace as text; see the module for its form."""
    table = workspace.table
    lines = [f"{HEADER} {_VERSION}", f"workspace {json.dumps(table.name)}"]
    for curve in table.piecewise:
        lines.append(f"curve {curve.name} {float(curve.period)!r} {len(curve.breaks)}")
        lines.append(_row("breaks", curve.breaks))
        lines.append(_row("origins", curve.origins))
        lines += [_row("piece", row) for row in curve.coefficients]
    for function in table.externals:
        partials = [f"{k + 1}={p.name}" for k, p in sorted(function.partials.items())]
        lines.append(" ".join(["function", function.name, str(function.arity), *partials]))
    names, left, right = op.NAMES, table.left, table.right
    for atom, code in enumerate(table.ops):
        if code in _TWO_FIELDS:
            lines.append(f"{atom} {names[code]} {left[atom]} {right[atom]}")
        elif code in op.UNARY:
            lines.append(f"{atom} {names[code]} {left[atom]}")
        elif code == op.SYMBOL:
            symbol = table.symbols[atom]
            lines.append(f"{atom} symbol {symbol.name} {symbol.kind.name.lower()} {symbol.rate}")
        elif code == op.CONSTANT:
            if atom > 1:
                lines.append(f"{atom} constant {_number_text(table.values[atom])}")
        else:
            operands = " ".join(map(str, table.operand_lists[right[atom]]))
            lines.append(f"{atom} {names[code]} {left[atom]} {operands}")
    lines.append(f"end {len(table)}\n")
    return "\n".join(lines)


def load(text: str) -> Workspace:
    """The workspace that `dump` wrote.

    >>> from biela.atoms import Workspace
    >>> ws = Workspace("two")
    >>> x, y = ws.symbols("x y")
    >>> expression = x * y + 1
    >>> again = load(dump(ws))
    >>> again["x"] * again["y"] + 1
    1 + x*y
    >>> len(again) == len(ws)
    True

    Raises:
        ParseError: If a line is not what it should be; it names the line.
    """
    reader = _Reader(text_of(text, DomainError, "what dump gave and load takes"))
    try:
        return reader.workspace()
    except ParseError:
        raise
    except (BielaError, ValueError, KeyError, ArithmeticError) as error:
        raise reader.error(f"this line cannot be read: {error}") from None


#: Operations whose ``left`` and ``right`` say everything.
_TWO_FIELDS: Final = op.BINARY | op.UNARY_WITH_NUMBER


def _row(word: str, values: tuple[float, ...]) -> str:
    return " ".join([word, *(repr(float(value)) for value in values)])


def _number_text(value: Number) -> str:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return repr(value)


# ------------------------------------------------------------------------------ loading


class _Reader:
    """Reads the lines one by one and knows where it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.at = -1
        self.ops = bytearray((op.CONSTANT, op.CONSTANT))
        self.left, self.right = [0, 0], [0, 0]
        self.operand_lists: list[tuple[int, ...]] = []
        self.values: dict[int, Number] = {0: 0, 1: 1}
        self.symbols: dict[int, Symbol] = {}
        self.piecewise: list[PiecewisePolynomial] = []
        self.externals: list[tuple[str, int, dict[int, str]]] = []
        #: A table of the functions alone, which knows the names it has to refuse.
        self.names_of_functions = Table()
        self.numbers: set[Number] = {0, 1}
        self.names: set[str] = set()
        self.bodies: set[str] = set()
        self.symbol_lines: list[int] = []

    def error(self, message: str) -> ParseError:
        start = sum(len(line) + 1 for line in self.lines[: self.at])
        return ParseError(message, self.text, start)

    def next(self) -> str:
        self.at += 1
        if self.at >= len(self.lines):
            raise self.error("the text ends before its line 'end'")
        return self.lines[self.at]

    def fields(self, word: str, count: int) -> list[str]:
        """The fields of the next line, which must begin with ``word``."""
        first, *rest = self.next().split(" ")
        if first != word or len(rest) != count:
            raise self.error(f"a line '{word}' with {count} fields should stand here")
        return rest

    def workspace(self) -> Workspace:
        if self.next() != f"{HEADER} {_VERSION}":
            raise self.error(f"the first line should be '{HEADER} {_VERSION}'")
        word, _, name = self.next().partition(" ")
        if word != "workspace" or not name.startswith('"'):
            raise self.error("the line of the workspace should stand here, its name in quotes")
        workspace = Workspace(json.loads(name))
        line = self.next()
        while line.startswith("curve "):
            self._curve(line)
            line = self.next()
        while line.startswith("function "):
            self._function(line)
            line = self.next()
        while not line.startswith("end "):
            self._atom(line)
            line = self.next()
        if int(line[4:]) != len(self.ops):
            raise self.error(f"{len(self.ops)} atoms were read, not {line[4:]}")
        if any(self.lines[self.at + 1 :]):
            self.at += 1
            raise self.error("the text goes on after its line 'end'")
        self._link_rates()
        workspace.table.restore(
            ops=self.ops,
            left=self.left,
            right=self.right,
            operand_lists=self.operand_lists,
            values=self.values,
            symbols=self.symbols,
            piecewise=self.piecewise,
            externals=self.externals,
        )
        return workspace

    # Functions given by data.

    def _curve(self, line: str) -> None:
        _, name, period, count = line.split(" ")
        n = int(count)
        breaks = self._floats("breaks", n)
        if not breaks or any(a >= b for a, b in pairwise(breaks)):
            raise self.error("breakpoints must increase, and there is at least one")
        origins = self._floats("origins", n + 1)
        pieces = []
        for _ in range(n + 1):
            c0, c1, c2, c3 = self._floats("piece", 4)
            pieces.append((c0, c1, c2, c3))
        curve = PiecewisePolynomial(
            checked_name(name), breaks, origins, tuple(pieces), float(period)
        )
        if self.names_of_functions.add_piecewise(curve) != len(self.piecewise):
            raise self.error("this curve is already in the table")
        self.piecewise.append(curve)

    def _floats(self, word: str, count: int) -> tuple[float, ...]:
        values = tuple(float(field) for field in self.fields(word, count))
        if not all(map(isfinite, values)):
            raise self.error("every number must be finite")
        return values

    def _function(self, line: str) -> None:
        _, name, arity, *partials = line.split(" ")
        function = ExternalFunction(name, int(arity))
        named: dict[int, str] = {}
        for partial in partials:
            k, _, partial_name = partial.partition("=")
            if not 1 <= int(k) <= function.arity:
                raise self.error(f"{name} has no argument {k}")
            named[int(k) - 1] = checked_name(partial_name)
        if self.names_of_functions.add_external(function) != len(self.externals):
            raise self.error("this function is already in the table")
        self.externals.append((name, function.arity, named))

    # Atoms.

    def _atom(self, line: str) -> None:
        place, _, body = line.partition(" ")
        atom = len(self.ops)
        if place != str(atom):
            raise self.error(f"the line of atom {atom} should stand here")
        if body in self.bodies:
            raise self.error("this atom is already in the table")
        self.bodies.add(body)
        word, *fields = body.split(" ")
        code = op.CODES.get(word)
        if code is None:
            raise self.error(f"{word!r} is not an operation")
        left = right = 0
        if code == op.CONSTANT:
            self._constant(atom, fields)
        elif code == op.SYMBOL:
            self._symbol(atom, fields)
        else:
            left, *rest = map(int, fields)
            operands = self._operands(code, left, rest)
            if not all(-atom < ref < atom for ref in operands):
                raise self.error("an operand must be an earlier atom")
            if not _FORM.get(code, _any)(left, rest):
                raise self.error("the operands are not in the order or signs of the table")
            if code == op.SELECT or code == op.EXTERNAL:
                right = len(self.operand_lists)
                self.operand_lists.append(tuple(rest))
            elif rest:
                right = rest[0]
        self.ops.append(code)
        self.left.append(left)
        self.right.append(right)

    def _operands(self, code: int, left: int, rest: list[int]) -> list[int]:
        """The references among the fields, their number checked."""
        if code == op.EXTERNAL:
            if left not in range(len(self.externals)) or len(rest) != self.externals[left][1]:
                raise self.error("the function or its number of arguments is wrong")
            return rest
        wanted = 0 if code in op.UNARY else 2 if code == op.SELECT else 1
        if len(rest) != wanted:
            raise self.error(f"{op.NAMES[code]} takes {wanted + 1} fields")
        if code == op.PIECEWISE and rest[0] not in range(len(self.piecewise)):
            raise self.error(f"there is no curve {rest[0]}")
        return [left] if code in op.UNARY_WITH_NUMBER else [left, *rest]

    def _constant(self, atom: int, fields: list[str]) -> None:
        (text,) = fields
        top, slash, bottom = text.partition("/")
        value: Number
        if slash:
            value = number(Fraction(int(top), int(bottom)))
        else:
            value = number(int(text) if text.isdigit() else float(text))
        if value <= 0 or value in self.numbers:
            raise self.error("a constant is a new positive number")
        self.numbers.add(value)
        self.values[atom] = value

    def _symbol(self, atom: int, fields: list[str]) -> None:
        name, kind, rate = fields
        if name in self.names:
            raise self.error(f"{name} is already a symbol")
        self.names.add(name)
        self.symbols[atom] = Symbol(checked_name(name), Kind[kind.upper()], int(rate))
        self.symbol_lines.append(self.at)

    def _link_rates(self) -> None:
        """A rate is an atom of its own, but may stand later than what it is the rate of."""
        for at, (ref, symbol) in zip(self.symbol_lines, self.symbols.items(), strict=True):
            if not symbol.rate:
                continue
            if symbol.kind is Kind.COORDINATE and self._is_expression(abs(symbol.rate)):
                continue
            rate = self.symbols.get(symbol.rate)
            if rate is None or rate.rate_of:
                self.at = at
                wrong = "is not a symbol" if rate is None else "is that of another symbol"
                raise self.error(f"the rate {symbol.rate} {wrong}")
            rate.rate_of = ref

    def _is_expression(self, atom: int) -> bool:
        """Whether an atom is made of others."""
        return atom < len(self.ops) and self.ops[atom] not in (op.CONSTANT, op.SYMBOL)


Form = Callable[[int, list[int]], bool]


def _any(left: int, rest: list[int]) -> bool:
    return True


def _positive(left: int, rest: list[int]) -> bool:
    return left > 1


#: In which order and with which signs an operation keeps its operands; see the table.
_FORM: Final[dict[int, Form]] = {
    op.ADD: lambda left, rest: 0 < left < abs(rest[0]),
    op.MUL: lambda left, rest: 1 < left < rest[0],
    op.DIV: lambda left, rest: left > 0 and rest[0] > 1,
    op.POWER_INT: lambda left, rest: left > 1 and rest[0] > 1,
    op.SELECT: lambda left, rest: left > 1 and rest[0] >= 0,
    **dict.fromkeys(op.ODD | op.EVEN, _positive),
}
