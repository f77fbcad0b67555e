"""Expressions of a checked routine as C99 text."""

from __future__ import annotations

import ast
import math
from typing import Final, Literal

from biela.code.routines.check import CheckedRoutine
from biela.code.routines.sizes import Size
from biela.code.routines.types import ArrayType, KernelType, ScalarType

__all__ = ["CExpressions", "identifier", "real_literal"]

_RESERVED: Final = frozenset(
    [
        *("auto", "bool", "case", "char", "const", "default", "do", "double", "enum", "extern"),
        *("false", "float", "goto", "inline", "int", "long", "main", "register", "restrict"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef", "union"),
        *("unsigned", "void", "volatile", "while", "fabs"),
        *("floor_div", "floor_mod", "real_min", "real_max", "int_min", "int_max", "int_abs"),
    ]
)
# how tightly each operator binds in C, for the parentheses
_LEVELS: Final = {
    "lowest": 0,
    "select": 1,
    "or": 2,
    "and": 3,
    "comparison": 4,
    "sum": 5,
    "product": 6,
    "unary": 7,
    "atom": 8,
}
Level = Literal["lowest", "select", "or", "and", "comparison", "sum", "product", "unary", "atom"]
_BINARY: Final[dict[type[ast.operator], tuple[str, Level]]] = {
    ast.Add: (" + ", "sum"),
    ast.Sub: (" - ", "sum"),
    ast.Mult: ("*", "product"),
    ast.Div: ("/", "product"),
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def identifier(name: str) -> str:
    """Return a name that C allows: reserved ones get an underscore."""
    return name + "_" if name in _RESERVED else name


def real_literal(value: float, real: str) -> str:
    """Return a number as C text; the shortest digits that give the same double."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) + ("f" if real == "float" else "")


class CExpressions:
    """Prints the expressions of one routine; notes the helper functions they need."""

    def __init__(self, checked: CheckedRoutine, real: str, integer: str, prefix: str) -> None:
        self.checked = checked
        self.real = real
        self.integer = integer
        self.prefix = prefix
        self.suffix = "f" if real == "float" else ""
        self.helpers: set[str] = set()
        self.shapes = {p.name: p.type for p in checked.parameters}

    def type_name(self, kind: ScalarType) -> str:
        """The C name of a scalar type."""
        names = {ScalarType.INT: self.integer, ScalarType.REAL: self.real}
        return names.get(kind, "bool")

    def scalar_type(self, node: ast.expr) -> ScalarType:
        """Type of a checked scalar expression."""
        kind = self.checked.types[node]
        assert isinstance(kind, ScalarType)
        return kind

    def print(self, node: ast.expr, above: Level = "lowest") -> str:
        """Return C text that binds tighter than `above`, or is in parentheses."""
        text, level = self._print(node)
        return text if _LEVELS[level] > _LEVELS[above] else f"({text})"

    def strides(self, tree: ast.AST) -> set[str]:
        """Names that appear in C only, as the row length of a matrix."""
        found: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                kind = self.shapes[node.value.id]
                if isinstance(kind, ArrayType) and len(kind.shape) == 2:
                    found |= kind.shape[1].names
        return found

    def _print(self, node: ast.expr) -> tuple[str, Level]:
        match node:
            case ast.Constant(value=value):
                return self._number(value), "atom"
            case ast.Name(id=name):
                constant = name in self.checked.constants
                return (self.prefix if constant else "") + identifier(name), "atom"
            case ast.Subscript():
                return self._subscript(node)
            case ast.UnaryOp(op=operator, operand=operand):
                sign = {ast.Not: "!", ast.USub: "-", ast.UAdd: "+"}[type(operator)]
                return sign + self.print(operand, "unary"), "unary"
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operator, right=right):
                helper = "floor_div" if isinstance(operator, ast.FloorDiv) else "floor_mod"
                self.helpers.add(helper)
                return f"{self.prefix}{helper}({self.print(left)}, {self.print(right)})", "atom"
            case ast.BinOp(left=left, op=operator, right=right):
                sign, level = _BINARY[type(operator)]
                below: Level = "comparison" if level == "sum" else "sum"
                return self.print(left, below) + sign + self.print(right, level), level
            case ast.Compare(left=left, ops=[test], comparators=[right]):
                # `sum` on both sides would do for C; a comparison is never an operand of another
                sign = _COMPARE[type(test)]
                a, b = self.print(left, "comparison"), self.print(right, "comparison")
                return f"{a} {sign} {b}", "comparison"
            case ast.BoolOp(op=joint, values=values):
                if isinstance(joint, ast.And):
                    return " && ".join(self.print(v, "and") for v in values), "and"
                # && inside || is put in parentheses, as compilers ask for
                return " || ".join(self.print(v, "and") for v in values), "or"
            case ast.IfExp(test=test_, body=body, orelse=orelse):
                a, b = self.print(body, "select"), self.print(orelse, "select")
                return f"{self.print(test_, 'select')} ? {a} : {b}", "select"
            case ast.Call():
                return self._call(node)
        raise AssertionError(f"unchecked expression {ast.dump(node)}")

    def _number(self, value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return real_literal(value, self.real) if isinstance(value, float) else str(value)

    def _subscript(self, node: ast.Subscript) -> tuple[str, Level]:
        assert isinstance(node.value, ast.Name)
        name = identifier(node.value.id)
        kind = self.shapes[node.value.id]
        assert isinstance(kind, ArrayType)
        index = node.slice
        if isinstance(index, ast.Slice):
            lower = self.print(index.lower, "sum") if index.lower else "0"
            return (name, "atom") if lower == "0" else (f"{name} + {lower}", "sum")
        if len(kind.shape) == 1:
            return f"{name}[{self.print(index)}]", "atom"
        if isinstance(index, ast.Tuple):
            row, column = index.elts
            return f"{name}[{self._row(row, kind.shape[1], column)}]", "atom"
        start = self._row(index, kind.shape[1], None)
        return (name, "atom") if start == "0" else (f"{name} + {start}", "sum")

    def _row(self, row: ast.expr, stride: Size, column: ast.expr | None) -> str:
        """Offset `row*stride + column`."""
        width = str(stride)
        if len(stride.terms) > 1:
            width = f"({width})"
        match row:
            case ast.Constant(value=0):
                start = ""
            case ast.Constant(value=1):
                start = width
            case _:
                start = f"{self.print(row, 'sum')}*{width}"
        if column is None:
            return start or "0"
        return f"{start} + {self.print(column, 'comparison')}" if start else self.print(column)

    def _call(self, node: ast.Call) -> tuple[str, Level]:
        callee = self.checked.callees[node]
        assert isinstance(node.func, ast.Name)
        if isinstance(callee, str):
            return self._intrinsic(callee, node)
        name = identifier(node.func.id)
        if not isinstance(callee, KernelType):
            name = self.prefix + name
        return f"{name}({', '.join(self.print(a) for a in node.args)})", "atom"

    def _intrinsic(self, name: str, node: ast.Call) -> tuple[str, Level]:
        kind = self.scalar_type(node.args[0])
        if name in ("int", "float"):
            wanted = ScalarType.INT if name == "int" else ScalarType.REAL
            if kind is wanted:
                return self._print(node.args[0])
            return f"({self.type_name(wanted)}){self.print(node.args[0], 'product')}", "unary"
        arguments = ", ".join(self.print(a) for a in node.args)
        integer = kind is ScalarType.INT
        if name in ("min", "max") or (name == "abs" and integer):
            helper = f"{'int' if integer else 'real'}_{name}"
            self.helpers.add(helper)
            return f"{self.prefix}{helper}({arguments})", "atom"
        if name == "abs":
            return f"fabs{self.suffix}({arguments})", "atom"
        if name in ("floor", "ceil"):
            return f"({self.integer}){name}{self.suffix}({arguments})", "unary"
        if name in ("isfinite", "isnan"):
            return f"{name}({arguments})", "atom"
        return f"{name}{self.suffix}({arguments})", "atom"
