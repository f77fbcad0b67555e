"""The notation of C99: literals, functions, elements, and the helper functions behind them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal

from biela.atoms import opcodes as op
from biela.atoms.infix import LEAF, SUM, Fragment, enclosed
from biela.atoms.numbers import Number
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.table import Table
from biela.code.arrays import ExpressionArray
from biela.code.targets.c99_names import RESERVED
from biela.code.targets.language import Language, wrapped
from biela.code.targets.names import FileNames
from biela.errors import ExportError

Real = Literal["double", "float"]
Order = Literal["column", "row"]

_TERNARY: Final = -1

_HELPERS: Final = {
    "biela_sign": """\
// -1, 0 or 1
static double biela_sign(double x) {
  return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x);
}
""",
    "biela_min": """\
// the second unless the first is smaller
static double biela_min(double a, double b) {
  return a < b ? a : b;
}
""",
    "biela_max": """\
// the second unless the first is larger
static double biela_max(double a, double b) {
  return a > b ? a : b;
}
""",
    "biela_curve": """\
// piecewise cubic: rows hold an origin and four coefficients, lowest power first
static double biela_curve(double x, int count, const double *breaks, const double (*rows)[5]) {
  // the row used is the number of breakpoints that are <= x, found by bisection
  int row = 0, step = 1;
  while (2*step <= count) {
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    if (row + step <= count && breaks[row + step - 1] <= x) {
      row += step;
    }
  }
  const double *c = rows[row];
  const double s = x - c[0];
  return ((c[4]*s + c[3])*s + c[2])*s + c[1];
}
""",
}


class C99(Language):
    """C in double or single precision, with matrices by column or by row."""

    comment = "//"
    end = ";"
    indent = "  "
    plain_scalars = False
    #: what a file includes, and the function that rounds down
    includes: ClassVar[tuple[str, ...]] = ("<math.h>",)
    floor: ClassVar[str] = "floor"
    reserved = RESERVED | _HELPERS.keys()
    helpers = _HELPERS
    functions = {  # noqa: RUF012 (a ClassVar of the base class)
        op.POWER: "pow",
        op.SQRT: "sqrt",
        op.SIN: "sin",
        op.COS: "cos",
        op.TAN: "tan",
        op.ASIN: "asin",
        op.ACOS: "acos",
        op.ATAN: "atan",
        op.ATAN2: "atan2",
        op.EXP: "exp",
        op.LOG: "log",
        op.TANH: "tanh",
        op.ABS: "fabs",
        op.SIGN: "biela_sign",
        op.MIN: "biela_min",
        op.MAX: "biela_max",
    }

    def __init__(
        self, file: FileNames, table: Table, real: Real = "double", order: Order = "column"
    ) -> None:
        super().__init__(file, table)
        self.real, self.order = real, order

    def number(self, value: Number) -> Fragment:
        """A literal of the type of all others."""
        return Fragment(literal(float(value), self.real), LEAF)

    def function(self, code: int, arguments: Sequence[Fragment]) -> Fragment:
        """Functions of <math.h> end in f for single precision."""
        name = self.functions[code]
        single = self.real == "float" and name not in self.helpers
        return self.call(f"{name}f" if single else name, arguments)

    def truth(self, condition: Fragment) -> Fragment:
        """1 or 0."""
        return self.select(condition, self.number(1), self.number(0))

    def holds(self, value: Fragment) -> Fragment:
        """The condition that a number is not zero."""
        test = super().holds(value)
        return test if self.real == "double" else Fragment(f"{test.text}f", *_rest(test))

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """The conditional operator."""
        parts = (enclosed(condition, 0), enclosed(a, SUM), enclosed(b, SUM))
        text = "{} ? {} : {}".format(*(p.text for p in parts))
        count = 1 + sum(p.operations for p in parts)
        return Fragment(text, _TERNARY, max(p.depth for p in parts), count)

    def index(self, array: ExpressionArray, position: int) -> int:
        """Where an entry is stored."""
        if self.order == "row" or len(array.shape) < 2:
            return position
        i, j = divmod(position, array.shape[1])
        return i + array.shape[0] * j

    def element(self, name: str, array: ExpressionArray, position: int) -> str:
        """An element counted from 0."""
        return f"{name}[{self.index(array, position)}]"

    def extent(self, name: str, array: ExpressionArray) -> str:
        """The array with its size and, for a matrix, its order."""
        if len(array.shape) < 2:
            return f"{name}[{array.size}]"
        rows, columns = array.shape
        place = f"i + {rows}*j" if self.order == "column" else f"{columns}*i + j"
        return f"{name}[{array.size}], {rows} x {columns}, (i, j) is {name}[{place}]"

    def declare(self, name: str, text: str) -> list[str]:
        """Every name is a constant."""
        return self.assign(f"const {self.real} {name}", text)


def _rest(fragment: Fragment) -> tuple[int, int, int]:
    return fragment.level, fragment.depth, fragment.operations


def literal(value: float, real: Real) -> str:
    """A number as C text; the shortest digits that give the same double."""
    if real == "double":
        return repr(value)
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        single = 0.0
    if single == 0.0 and value != 0.0:
        raise ExportError(f'{value!r} is outside the range of a float: export with real="double"')
    return f"{value!r}f"


def curve_text(name: str, curve: PiecewisePolynomial, real: Real, floor: str = "floor") -> str:
    """The definition of a spline or table as a function; ``floor`` rounds down to an integer."""
    n = len(curve.breaks)
    rows = []
    for origin, row in zip(curve.origins, curve.coefficients, strict=True):
        rows.append("    {" + ", ".join(literal(v, real) for v in (origin, *row)) + "},")
    breaks = ", ".join(literal(b, real) for b in curve.breaks)
    lines = [
        f"// {curve.name}: {n} breakpoints",
        f"static {real} {name}({real} x) {{",
        *wrapped(f"  static const {real} breaks[{n}] = {{{breaks}}};", "      "),
        f"  static const {real} rows[{n + 1}][5] = {{",
        *rows,
        "  };",
    ]
    x = "x"
    if curve.period:
        first, period = literal(curve.breaks[0], real), literal(curve.period, real)
        floor = floor if real == "double" else f"{floor}f"
        start = f"x - {first}" if curve.breaks[0] >= 0 else f"x + {first[1:]}"
        x = f"x - {period}*{floor}(({start})/{period})"
    return "\n".join([*lines, f"  return biela_curve({x}, {n}, breaks, rows);", "}", ""])


def helper_texts(called: set[str], real: Real, helpers: Mapping[str, str] = _HELPERS) -> list[str]:
    """The definitions of the helper functions that are called, and of those that these call."""
    found: set[str] = set()
    left = set(called)
    while left:
        name = left.pop()
        found.add(name)
        left |= {other for other in helpers if f"{other}(" in helpers[name]} - found
    texts = [text for name, text in helpers.items() if name in found]
    if real == "float":
        texts = [text.replace("double", "float").replace(".0", ".0f") for text in texts]
    return texts
