"""Routines printed as C99: no allocation, no recursion, no unbounded loop.

The text keeps the names, comments and order of operations of the Python source. Compiled without
contraction of products and sums (`-ffp-contract=off`) it gives the same bits as the routine in
process. Arrays are plain pointers, a matrix is row-major; what is not written to is `const`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from biela.code.routines.c99_declarations import assigns, declare
from biela.code.routines.c99_expressions import CExpressions, identifier, real_literal
from biela.code.routines.check import CheckedRoutine
from biela.code.routines.types import ArrayType, KernelType, Parameter, ScalarType
from biela.errors import ExportError

if TYPE_CHECKING:
    from biela.code.routines.language import Routine

__all__ = ["CStyle", "c_prototype", "c_text"]

_WIDTH: Final = 100

_HELPERS: Final = {
    "floor_div": """\
// integer quotient rounded down, for any signs
static {int} {prefix}floor_div({int} a, {int} b) {{
  {int} q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}}
""",
    "floor_mod": """\
// integer remainder with the sign of the divisor
static {int} {prefix}floor_mod({int} a, {int} b) {{
  {int} r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}}
""",
    # the first unless the second is smaller (larger): Python's rule, which settles nan and -0
    "real_min": """\
static {real} {prefix}real_min({real} a, {real} b) {{ return b < a ? b : a; }}
""",
    "real_max": """\
static {real} {prefix}real_max({real} a, {real} b) {{ return b > a ? b : a; }}
""",
    "int_min": """\
static {int} {prefix}int_min({int} a, {int} b) {{ return b < a ? b : a; }}
""",
    "int_max": """\
static {int} {prefix}int_max({int} a, {int} b) {{ return b > a ? b : a; }}
""",
    "int_abs": """\
static {int} {prefix}int_abs({int} a) {{ return a < 0 ? -a : a; }}
""",
}


@dataclass(frozen=True)
class CStyle:
    """Choices for the printed C: type of the reals and integers, prefix of all function names."""

    real: Literal["double", "float"] = "double"
    integer: str = "int64_t"
    prefix: str = ""


def c_text(routines: Iterable[Routine[..., Any]], style: CStyle | None = None) -> str:
    """Return one C99 source with the routines; those they call come before them, as `static`."""
    style = style or CStyle()
    roots = list(routines)
    ordered: dict[Routine[..., Any], None] = {}

    def visit(routine: Routine[..., Any]) -> None:
        if routine not in ordered:
            for callee in routine.checked.routines:
                visit(callee)
            ordered[routine] = None

    for root in roots:
        visit(root)
    by_name: dict[str, Routine[..., Any]] = {}
    constants: dict[str, int | float] = {}
    for routine in ordered:
        other = by_name.setdefault(routine.name, routine)
        if other is not routine:
            raise ExportError(f"two routines are called '{routine.name}'; rename one of them")
        for name, value in routine.checked.constants.items():
            if constants.setdefault(name, value) != value:
                raise ExportError(
                    f"constant '{name}' is {constants[name]} in one routine and {value} in "
                    f"'{routine.name}'; rename one of them"
                )
    functions = [_Function(r.checked, style) for r in ordered]
    bodies = [
        function.text(static=routine not in roots)
        for routine, function in zip(ordered, functions, strict=True)
    ]
    used = set().union(*(function.helpers for function in functions)) if functions else set()
    parts = ["#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"]
    if constants:
        parts.append("".join(_constant(name, constants[name], style) for name in sorted(constants)))
    parts += [
        text.format(real=style.real, int=style.integer, prefix=style.prefix)
        for name, text in _HELPERS.items()
        if name in used
    ]
    return "\n".join(parts + bodies)


def c_prototype(routine: Routine[..., Any], style: CStyle | None = None) -> str:
    """Return the declaration of a routine, for a header."""
    return _Function(routine.checked, style or CStyle()).head() + ";\n"


def _constant(name: str, value: int | float, style: CStyle) -> str:
    name = style.prefix + identifier(name)
    if isinstance(value, int):
        if abs(value) < 2**31:
            return f"enum {{ {name} = {value} }};\n"
        return f"static const {style.integer} {name} = {value};\n"
    return f"static const {style.real} {name} = {real_literal(value, style.real)};\n"


class _Function(CExpressions):
    """One routine as a C function."""

    def __init__(self, checked: CheckedRoutine, style: CStyle) -> None:
        super().__init__(checked, style.real, style.integer, style.prefix)
        self.source = checked.source
        self.lines: list[str] = []
        self.declared: dict[ast.stmt, list[str]] = {}
        declare(checked.tree.body, set(checked.locals), self.declared)

    def head(self) -> str:
        """The function up to its body."""
        checked = self.checked
        result = "void" if checked.result is None else self.type_name(checked.result)
        parameters = [self._parameter(p) for p in checked.parameters]
        start = f"{result} {self.prefix}{checked.tree.name}("
        if len(start) + len(", ".join(parameters)) <= _WIDTH - 10:
            return start + (", ".join(parameters) or "void") + ")"
        rows = [""]
        for text in parameters:
            if len(rows[-1]) + len(text) > _WIDTH - 8:
                rows.append("")
            rows[-1] += text + ", "
        return start + "\n    " + "\n    ".join(row.rstrip() for row in rows).rstrip(",") + ")"

    def text(self, static: bool) -> str:
        """The whole function with its docstring as a comment."""
        checked = self.checked
        self.lines = [f"// {line}".rstrip() for line in self.source.docstring.split("\n")]
        if not self.source.docstring:
            self.lines = []
        self.lines.append(("static " if static else "") + self.head() + " {")
        used = {n.id for s in checked.tree.body for n in ast.walk(s) if isinstance(n, ast.Name)}
        used |= self.strides(checked.tree)
        for p in checked.parameters:
            if p.name not in used:
                self.lines.append(f"  (void){identifier(p.name)};")
        self._block(checked.tree.body, 1, self._body_start())
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def _body_start(self) -> int:
        """Last line of the head and docstring; comments after it belong to the body."""
        first = self.source.tree.body[0]
        if self.source.docstring:
            return first.end_lineno or first.lineno
        returns = self.source.tree.returns
        return returns.end_lineno or returns.lineno if returns else first.lineno - 1

    def _parameter(self, p: Parameter) -> str:
        name = identifier(p.name)
        match p.type:
            case ScalarType():
                return f"{self.type_name(p.type)} {name}"
            case ArrayType(element=element):
                constant = "" if p.name in self.checked.written else "const "
                return f"{constant}{self.type_name(element)} *{name}"
            case KernelType(inputs=inputs, outputs=outputs):
                arrays = [f"const {self.real} *"] * len(inputs) + [f"{self.real} *"] * len(outputs)
                return f"void (*{name})({', '.join(arrays)})"

    # --- statements -------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], level: int, previous: int) -> None:
        """Print statements; `previous` is the line of the source that came before them."""
        for position, statement in enumerate(body):
            self._comments(previous, statement.lineno, level, gap=position > 0)
            self._declare(statement, level)
            self._statement(statement, level)
            previous = statement.end_lineno or statement.lineno

    def _comments(self, after: int, before: int, level: int, gap: bool) -> None:
        comments = self.source.comments
        own = [k for k in range(after + 1, before) if k in comments and comments[k][1]]
        if gap and any(self.source.is_blank(k) for k in range(after + 1, before)):
            self.lines.append("")
        self.lines += [f"{'  ' * level}// {comments[k][0]}" for k in own]

    def _declare(self, statement: ast.stmt, level: int) -> None:
        for name in self.declared.get(statement, []):
            if not assigns(statement, name):
                kind = self.type_name(self.checked.locals[name])
                self.lines.append(f"{'  ' * level}{kind} {identifier(name)};")

    def _line(self, level: int, text: str, at: int) -> None:
        comment = self.source.comments.get(at)
        trailing = f"  // {comment[0]}" if comment and not comment[1] else ""
        self.lines.append("  " * level + text + trailing)

    def _statement(self, node: ast.stmt, level: int) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                fresh = isinstance(target, ast.Name) and target.id in self.declared.get(node, ())
                kind = f"{self.type_name(self.scalar_type(target))} " if fresh else ""
                text = f"{kind}{self.print(target)} = {self.print(value)};"
                self._line(level, text, node.lineno)
            case ast.AugAssign(target=target, op=operator, value=value):
                sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}[type(operator)]
                self._line(level, f"{self.print(target)} {sign} {self.print(value)};", node.lineno)
            case ast.Expr(value=value):
                self._line(level, f"{self.print(value)};", node.lineno)
            case ast.Return(value=None):
                self._line(level, "return;", node.lineno)
            case ast.Return(value=ast.expr() as value):
                self._line(level, f"return {self.print(value)};", node.lineno)
            case ast.Break():
                self._line(level, "break;", node.lineno)
            case ast.Continue():
                self._line(level, "continue;", node.lineno)
            case ast.For(body=body):
                self._line(level, self._for_head(node), node.lineno)
                self._block(body, level + 1, node.iter.end_lineno or node.lineno)
                self.lines.append("  " * level + "}")
            case ast.If():
                self._if(node, level, "if")

    def _for_head(self, node: ast.For) -> str:
        name = self.print(node.target)
        assert isinstance(node.iter, ast.Call)
        bounds = node.iter.args
        start = self.print(bounds[0]) if len(bounds) > 1 else "0"
        stop = self.print(bounds[1] if len(bounds) > 1 else bounds[0], above="comparison")
        step = ast.literal_eval(bounds[2]) if len(bounds) > 2 else 1
        sign = "<" if step > 0 else ">"
        move = {1: f"{name}++", -1: f"{name}--"}.get(
            step, f"{name} {'+' if step > 0 else '-'}= {abs(step)}"
        )
        return f"for ({self.integer} {name} = {start}; {name} {sign} {stop}; {move}) {{"

    def _if(self, node: ast.If, level: int, word: str, previous: int = 0) -> None:
        self._line(level, f"{word} ({self.print(node.test)}) {{", node.lineno)
        if previous:
            # C has no place for a comment between } and else: it opens the block instead
            self._comments(previous, node.lineno, level + 1, gap=False)
        self._block(node.body, level + 1, node.test.end_lineno or node.lineno)
        last = node.body[-1].end_lineno or node.body[-1].lineno
        match node.orelse:
            case []:
                self.lines.append("  " * level + "}")
            case [ast.If() as inner] if inner not in self.declared:
                self._if(inner, level, "} else if", last)
            case orelse:
                self.lines.append("  " * level + "} else {")
                self._block(orelse, level + 1, last)
                self.lines.append("  " * level + "}")
