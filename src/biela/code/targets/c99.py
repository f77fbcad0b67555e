"""C99: one header and one source for any number of functions.

Every function is ``void f(const double *in0, …, double *out0, …)``: one pointer a named array, a
scalar is an array of one.  There is no allocation, no recursion, no state, and no dependency but
<math.h>.  Matrices are stored column by column unless asked for otherwise, and every entry is
written.  A long function is cut into static ones that share an array on the stack.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, Literal

from biela.atoms import opcodes as op
from biela.atoms.infix import LEAF, SUM, Fragment, enclosed
from biela.atoms.numbers import Number
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.table import Table
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.parts import Part, cut
from biela.code.targets.c99_names import RESERVED
from biela.code.targets.description import describe, heading
from biela.code.targets.language import Draft, Language, wrapped
from biela.code.targets.names import FileNames
from biela.errors import ExportError

Real = Literal["double", "float"]
Order = Literal["column", "row"]

#: Assignments in one C function; beyond it compilers take longer than in proportion.
PART_SIZE: Final = 2000
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


# -------------------------------------------------------------------------------------- files


def source(function: Function, *, real: Real = "double", order: Order = "column") -> str:
    """One self-contained C text of a function: what the header says, then the code."""
    file = _File([function], function.name, real, order)
    return "\n".join(
        [*_comment(heading(function.name, [function])), "", "#include <math.h>", ""]
        + [*file.helpers(), *file.declarations(), *file.definitions()]
    )


def header_and_source(
    functions: Function | Sequence[Function],
    name: str | None = None,
    *,
    real: Real = "double",
    order: Order = "column",
) -> tuple[str, str]:
    """The texts of ``name.h`` and ``name.c`` with the functions."""
    several = [functions] if isinstance(functions, Function) else list(functions)
    name = name or several[0].name
    file = _File(several, name, real, order)
    guard = f"BIELA_{name.upper()}_H"
    how = "Outputs must not overlap inputs."
    if any(len(a.shape) == 2 for f in several for a in (*f.inputs, *f.outputs)):
        how += f" Matrices are stored {order} by {order}."
    header = [
        *_comment([*heading(f"{name}.h", several), "", how]),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *file.declarations(),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif  // {guard}",
        "",
    ]
    # helpers stand before the header, whose names their arguments could otherwise hide
    body = [*_comment(heading(f"{name}.c", several)), "", "#include <math.h>", ""]
    body += [*file.helpers(), f'#include "{name}.h"', "", *file.definitions()]
    return "\n".join(header), "\n".join(body)


class _File:
    """The functions of one file and what they share."""

    def __init__(self, functions: Sequence[Function], name: str, real: Real, order: Order) -> None:
        if real not in ("double", "float") or order not in ("column", "row"):
            raise ExportError(
                f'real={real!r}, order={order!r}: use "double" or "float", "column" or "row"'
            )
        self.real: Real = real
        self.names = FileNames(functions, C99.reserved, C99.spell)
        self.drafts = [Draft.make(f, C99(self.names, f.table, real, order)) for f in functions]

    def helpers(self) -> list[str]:
        """The static functions that the others call, and the curves."""
        called = {name for draft in self.drafts for name in draft.language.called}
        if self.names.curves:
            called.add("biela_curve")
        texts = [_HELPERS[name] for name in _HELPERS if name in called]
        if self.real == "float":
            texts = [t.replace("double", "float").replace(".0", ".0f") for t in texts]
        return texts + [self._curve(*named) for named in self.names.curves.values()]

    def _curve(self, name: str, curve: PiecewisePolynomial) -> str:
        real, n = self.real, len(curve.breaks)
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
            floor = "floor" if real == "double" else "floorf"
            start = f"x - {first}" if curve.breaks[0] >= 0 else f"x + {first[1:]}"
            x = f"x - {period}*{floor}(({start})/{period})"
        return "\n".join([*lines, f"  return biela_curve({x}, {n}, breaks, rows);", "}", ""])

    def declarations(self) -> list[str]:
        """The documented prototypes."""
        lines: list[str] = []
        for name, arity in self.names.externals.values():
            arguments = ", ".join([self.real] * arity)
            lines += ["// supplied by you", f"extern {self.real} {name}({arguments});", ""]
        for draft in self.drafts:
            lines += _comment([draft.names.function, *describe(draft)])
            lines += [*_end(self._head(draft, draft.names.function), ";"), ""]
        return lines

    def definitions(self) -> list[str]:
        """The functions."""
        lines: list[str] = []
        for draft in self.drafts:
            parts, slots = cut(draft.listing, PART_SIZE)
            if len(parts) == 1:
                lines += self._define(draft, draft.names.function, parts[0], "")
            else:
                lines += self._define_parts(draft, parts, slots)
        return lines

    def _define_parts(self, draft: Draft, parts: Sequence[Part], slots: int) -> list[str]:
        work, name = draft.names.fresh("w"), draft.names.function
        lines, calls = [], []
        arrays = ", ".join([*draft.names.arrays.values(), work])
        for number, part in enumerate(parts, start=1):
            inner = self.names.fresh(f"{name}_part{number}")
            lines += self._define(draft, inner, part, work)
            calls += wrapped(f"  {inner}({arrays});", "    ")
        head = _end(self._head(draft, name), " {")
        # one slot at least: C has no arrays of none
        return [*lines, *head, f"  {self.real} {work}[{max(slots, 1)}];", *calls, "}", ""]

    def _define(self, draft: Draft, name: str, part: Part, work: str) -> list[str]:
        unused = [
            f"  (void){draft.names.arrays[a.name]};"
            for k, a in enumerate((*draft.function.inputs, *draft.function.outputs))
            if not _is_used(part, a, k - len(draft.function.inputs))
        ]
        if work and not part.loads and not part.stores:
            unused.append(f"  (void){work};")
        head = self._head(draft, name, work)
        body = draft.body(_stored(draft, part), f"{work}[{{slot}}]")
        return [*_end(head, " {"), *unused, *body, "}", ""]

    def _head(self, draft: Draft, name: str, work: str = "") -> list[str]:
        names = draft.names.arrays
        parameters = [f"const {self.real} *{names[a.name]}" for a in draft.function.inputs]
        parameters += [f"{self.real} *{names[a.name]}" for a in draft.function.outputs]
        parameters += [f"{self.real} *{work}"] if work else []
        static = "static " if work else ""
        return wrapped(f"{static}void {name}({', '.join(parameters)})", "    ")


def _is_used(part: Part, array: ExpressionArray, output: int) -> bool:
    if output < 0:
        return any(ref in part.symbols for ref in array.refs)
    return any(entry.array == output for entry in part.entries)


def _stored(draft: Draft, part: Part) -> Part:
    """The part with its outputs in the order in which they lie in memory."""
    language = draft.language
    assert isinstance(language, C99)
    outputs = draft.function.outputs
    entries = sorted(
        part.entries, key=lambda e: (e.array, language.index(outputs[e.array], e.position))
    )
    return Part(part.statements, entries, part.symbols, part.loads, part.stores)


def _end(lines: list[str], text: str) -> list[str]:
    return [*lines[:-1], lines[-1] + text]


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"// {line}".rstrip() for line in lines]
