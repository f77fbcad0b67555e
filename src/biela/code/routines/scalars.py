"""Types of expressions, and their one canonical form.

Each expression of a routine is rebuilt so that Python, numba and C cannot read it differently:
integers used as reals become `float(i)`, `x**3` becomes `x*x*x`, `a < b < c` becomes
`a < b and b < c`. The printers then only print.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

from biela.code.routines.source import Source
from biela.code.routines.types import KernelType, ScalarType, Type

if TYPE_CHECKING:
    from biela.code.routines.language import Routine

__all__ = ["INTRINSICS", "Scalars"]

INT, REAL, BOOL = ScalarType.INT, ScalarType.REAL, ScalarType.BOOL

# name in the canonical form: types of the arguments and of the result. `math.hypot` is not here:
# CPython computes it by its own algorithm, not by that of the C library. numba has no `fmod`.
INTRINSICS: Final[dict[str, tuple[tuple[ScalarType, ...], ScalarType]]] = {
    **{
        name: ((REAL,), REAL)
        for name in (
            *("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("sinh", "cosh", "tanh"),
        )
    },
    **{name: ((REAL, REAL), REAL) for name in ("atan2", "copysign", "pow")},
    **{name: ((REAL,), INT) for name in ("floor", "ceil")},
    **{name: ((REAL,), BOOL) for name in ("isfinite", "isnan")},
}
_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_COMPARISONS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


class Scalars(ABC):
    """Checks expressions of one routine that have one value, and gathers what they use."""

    def __init__(self, source: Source, parameters: dict[str, Type]) -> None:
        self.source = source
        self.parameters = parameters
        self.locals: dict[str, ScalarType] = {}
        self.assigned: set[str] = set()
        self.loops: list[str] = []
        self.types: dict[ast.expr, Type] = {}
        self.callees: dict[ast.Call, Routine[..., Any] | KernelType | str] = {}
        self.constants: dict[str, int | float] = {}
        self.written: set[str] = set()

    # --- scalars ----------------------------------------------------------------------------------

    def scalar(self, node: ast.expr) -> ast.expr:
        """Check an expression whose value is one number or one truth value."""
        match node:
            case ast.Constant(value=bool(value)):
                return self.typed(ast.Constant(value), BOOL, node)
            case ast.Constant(value=int(value)):
                return self.typed(ast.Constant(value), INT, node)
            case ast.Constant(value=float(value)):
                return self.typed(ast.Constant(value), REAL, node)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.Subscript():
                return self.element(node, ast.Load())
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                new = ast.UnaryOp(ast.Not(), self.condition(operand))
                return self.typed(new, BOOL, node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                inner = self.number(operand)
                return self.typed(ast.UnaryOp(sign, inner), self.type_of(inner), node)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.binary(node, self.scalar(left), operator, right)
            case ast.BoolOp(op=operator, values=values):
                return self.typed(
                    ast.BoolOp(operator, [self.condition(v) for v in values]), BOOL, node
                )
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                a, b = self.common(self.number(body), self.number(orelse))
                return self.typed(ast.IfExp(self.condition(test), a, b), self.type_of(a), node)
            case ast.Call():
                return self.call(node, alone=False)
        self.source.fail(
            node,
            f"'{ast.unparse(node)}' is not in the language; write it with numbers, elements of "
            "arrays, arithmetic, comparisons and functions of math",
        )

    def type_of(self, node: ast.expr) -> ScalarType:
        """Type of a checked scalar expression."""
        kind = self.types[node]
        assert isinstance(kind, ScalarType)
        return kind

    def number(self, node: ast.expr) -> ast.expr:
        """Check an expression that is `Int` or `Real`."""
        new = self.scalar(node)
        if self.type_of(new) is BOOL:
            self.source.fail(node, f"'{ast.unparse(node)}' is a condition, not a number")
        return new

    def converted(self, new: ast.expr, wanted: ScalarType) -> ast.expr:
        """Convert a checked expression to the type wanted there: `Int` to `Real` only."""
        found = self.type_of(new)
        if found is wanted:
            return new
        if (found, wanted) == (INT, REAL):
            return self._real(new)
        hint = {INT: "write int(...) or floor(...)", BOOL: "write a comparison"}.get(wanted, "")
        self.source.fail(
            new,
            f"'{ast.unparse(new)}' is {found.value} where {wanted.value} is needed"
            + (f"; {hint}" if hint else ""),
        )

    def integer(self, node: ast.expr) -> ast.expr:
        """Check an expression that is `Int`."""
        return self.converted(self.scalar(node), INT)

    def condition(self, node: ast.expr) -> ast.expr:
        """Check an expression that is true or false."""
        return self.converted(self.scalar(node), BOOL)

    def binary(
        self, node: ast.AST, left: ast.expr, operator: ast.operator, right: ast.expr
    ) -> ast.expr:
        """Check `left operator right`, where `left` is checked already."""
        text = ast.unparse(node)
        if isinstance(operator, ast.Pow):
            return self._power(node, left, right)
        if not isinstance(operator, _ARITHMETIC):
            self.source.fail(node, f"the operator in '{text}' is not in the language")
        b = self.number(right)
        if self.type_of(left) is BOOL:
            self.source.fail(node, f"'{text}' computes with a condition")
        if isinstance(operator, ast.Div):
            return self.typed(
                ast.BinOp(self.converted(left, REAL), operator, self.converted(b, REAL)), REAL, node
            )
        a, b = self.common(left, b)
        kind = self.type_of(a)
        if isinstance(operator, ast.FloorDiv | ast.Mod) and kind is REAL:
            self.source.fail(
                node, f"'{text}' is for Int only; write floor(x / y) or x - y*floor(x / y)"
            )
        return self.typed(ast.BinOp(a, operator, b), kind, node)

    def _power(self, node: ast.AST, base: ast.expr, exponent: ast.expr) -> ast.expr:
        power = exponent.value if isinstance(exponent, ast.Constant) else None
        if not (isinstance(power, int) and 2 <= power <= 4):
            self.source.fail(
                node,
                f"'{ast.unparse(node)}': only the powers 2, 3 and 4 are products; write sqrt(x), "
                "1/x or pow(x, y)",
            )
        product = base
        for _ in range(power - 1):
            product = self.typed(ast.BinOp(product, ast.Mult(), base), self.type_of(base), node)
        return product

    def _compare(self, node: ast.Compare) -> ast.expr:
        operands = [self.number(operand) for operand in (node.left, *node.comparators)]
        tests: list[ast.expr] = []
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if not isinstance(operator, _COMPARISONS):
                self.source.fail(node, f"the comparison in '{ast.unparse(node)}' is not of numbers")
            a, b = self.common(left, right)
            tests.append(self.typed(ast.Compare(a, [operator], [b]), BOOL, node))
        if len(tests) == 1:
            return tests[0]
        return self.typed(ast.BoolOp(ast.And(), tests), BOOL, node)

    def _name(self, node: ast.Name | ast.Attribute) -> ast.expr:
        if isinstance(node, ast.Name):
            kind = self.parameters.get(node.id) or self.locals.get(node.id)
            if node.id in self.loops:
                return self.typed(ast.Name(node.id, ast.Load()), INT, node)
            if isinstance(kind, ScalarType):
                if node.id not in self.assigned:
                    self.source.fail(
                        node,
                        f"'{node.id}' may be read before it has a value; assign it before the "
                        "`if` or `for`",
                    )
                return self.typed(ast.Name(node.id, ast.Load()), kind, node)
            if kind is not None:
                self.source.fail(node, f"'{node.id}' is a {kind}, not a number")
        try:
            value = self.source.outer(node)
        except LookupError:
            self.source.fail(
                node,
                f"'{ast.unparse(node)}' is not known here; a loop variable lives in its loop only",
            )
        if type(value) not in (int, float):
            self.source.fail(
                node,
                f"'{ast.unparse(node)}' is a {type(value).__name__}; only integers and floats may "
                "come from outside a routine, the rest are arguments",
            )
        kind = INT if isinstance(value, int) else REAL
        if isinstance(node, ast.Attribute):
            return self.typed(ast.Constant(value), kind, node)
        self.constants[node.id] = value
        return self.typed(ast.Name(node.id, ast.Load()), kind, node)

    def common(self, a: ast.expr, b: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Bring two checked numbers to one type."""
        if self.type_of(a) is self.type_of(b):
            return a, b
        return self.converted(a, REAL), self.converted(b, REAL)

    def _real(self, new: ast.expr) -> ast.expr:
        match new:
            case ast.Constant(value=int(value)):
                return self.typed(ast.Constant(float(value)), REAL, new)
            case ast.UnaryOp(op=sign, operand=ast.Constant() as operand):
                return self.typed(ast.UnaryOp(sign, self._real(operand)), REAL, new)
        return self.intrinsic("float", [new], REAL, new)

    def intrinsic(
        self, name: str, arguments: list[ast.expr], result: ScalarType, node: ast.expr
    ) -> ast.expr:
        """Build the call of a function every backend has."""
        call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
        self.callees[call] = name
        return self.typed(call, result, node)

    def typed(self, new: ast.expr, kind: Type, old: ast.AST) -> ast.expr:
        """Give a new node its type, and the place of the node it stands for."""
        self.types[new] = kind
        return ast.copy_location(new, old)

    @abstractmethod
    def element(self, node: ast.Subscript, context: ast.expr_context) -> ast.expr:
        """Check `x[i]` or `A[i, j]`."""

    @abstractmethod
    def call(self, node: ast.Call, alone: bool) -> ast.expr:
        """Check a call that has a value."""
