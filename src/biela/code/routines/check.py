"""The rules of the routine language, and the checked form that the printers read.

A checked routine has no unbounded loop, no recursion and no allocation; every name has one type and
a value before it is read; every array passed on has the size the receiver states.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from biela.code.routines.calls import Expressions
from biela.code.routines.scalars import INTRINSICS
from biela.code.routines.signature import read_signature, size_names
from biela.code.routines.source import Source, read_source
from biela.code.routines.types import KernelType, Parameter, ScalarType, Type

if TYPE_CHECKING:
    from biela.code.routines.language import Routine

__all__ = ["CheckedRoutine", "check"]

INT, REAL = ScalarType.INT, ScalarType.REAL
RESERVED_NAMES = {
    *INTRINSICS,
    "abs",
    "min",
    "max",
    "int",
    "float",
    "range",
    "call_kernel",
    "compiled",
}


@dataclass(frozen=True)
class CheckedRoutine:
    """A routine in canonical form.

    Attributes:
        source: the text it was read from.
        parameters: its arguments in order.
        result: type of its value, or `None`.
        tree: canonical syntax tree, without annotations and docstring.
        types: type of every expression of `tree`.
        callees: what every call in `tree` calls: a routine, a kernel or a named function.
        locals: types of the local numbers, loop variables apart.
        constants: numbers found outside the routine.
        written: names of the array arguments that are written to.
        routines: the routines called, each once.
    """

    source: Source = field(repr=False)
    parameters: tuple[Parameter, ...]
    result: ScalarType | None
    tree: ast.FunctionDef = field(repr=False)
    types: Mapping[ast.expr, Type] = field(repr=False)
    callees: Mapping[ast.Call, Routine[..., Any] | KernelType | str] = field(repr=False)
    locals: Mapping[str, ScalarType]
    constants: Mapping[str, int | float]
    written: frozenset[str]

    @property
    def routines(self) -> tuple[Routine[..., Any], ...]:
        """The routines called directly, in order of appearance."""
        found = [c for c in self.callees.values() if not isinstance(c, KernelType | str)]
        return tuple(dict.fromkeys(found))


def check(function: Callable[..., Any], shapes: Mapping[str, str]) -> CheckedRoutine:
    """Check a function against the rules; raise `RoutineError` at the first broken one."""
    source = read_source(function)
    parameters, result = read_signature(source, shapes)
    statements = Statements(source, parameters, result)
    body = source.tree.body[1:] if inspect.getdoc(function) else source.tree.body
    new_body, falls_through = statements.block(body)
    for name in sorted(statements.names & RESERVED_NAMES):
        source.fail(source.tree, f"'{name}' is the name of a function; call the variable otherwise")
    if falls_through and result is not None:
        source.fail(source.tree, f"not every path returns a {result.value}")
    tree = ast.FunctionDef(
        name=source.tree.name,
        args=ast.arguments([], [ast.arg(p.name) for p in parameters], None, [], [], None, []),
        body=new_body or [ast.Pass()],
        decorator_list=[],
    )
    ast.fix_missing_locations(ast.copy_location(tree, source.tree))
    return CheckedRoutine(
        source,
        parameters,
        result,
        tree,
        statements.types,
        statements.callees,
        statements.locals,
        statements.constants,
        frozenset(statements.written),
    )


class Statements(Expressions):
    """Checks the statements of one routine and rebuilds them in canonical form."""

    def __init__(
        self, source: Source, parameters: tuple[Parameter, ...], result: ScalarType | None
    ) -> None:
        super().__init__(source, {p.name: p.type for p in parameters})
        self.result = result
        self.assigned = {p.name for p in parameters if isinstance(p.type, ScalarType)}
        self.loop_names: set[str] = set()
        self.fixed = size_names(parameters)

    @property
    def names(self) -> set[str]:
        """All names the routine gives to its own things."""
        return self.parameters.keys() | self.locals.keys() | self.loop_names

    def block(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], bool]:
        """Check statements in order; tell whether execution can go on after them."""
        checked: list[ast.stmt] = []
        falls_through = True
        for statement in body:
            if not falls_through:
                self.source.fail(statement, "this statement can never run")
            new, falls_through = self._statement(statement)
            checked.append(ast.copy_location(new, statement))
        return checked, falls_through

    def _statement(self, node: ast.stmt) -> tuple[ast.stmt, bool]:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
                return self._assign(node, target, self._value(value)), True
            case ast.AugAssign():
                return self._update(node), True
            case ast.Expr(value=ast.Call() as call):
                return ast.Expr(self._call_statement(call)), True
            case ast.For():
                return self._for(node), True
            case ast.If():
                return self._if(node)
            case ast.Return():
                return self._return(node), False
            case ast.Break() | ast.Continue():
                return node, False
            case ast.Pass():
                return node, True
            case ast.While():
                advice = "`while` has no bound; write `for k in range(limit)` with a `break`"
            case ast.Assign() | ast.AnnAssign():
                advice = "assign one name or element a statement: `x = value`"
            case _:
                advice = (
                    "not in the language: a routine has assignments, `for ... in range`, `if`, "
                    "`break`, `continue`, `return` and calls"
                )
        self.source.fail(node, f"{ast.unparse(node).splitlines()[0]!r}: {advice}")

    def _value(self, node: ast.expr) -> ast.expr:
        return self.call(node, alone=True) if isinstance(node, ast.Call) else self.scalar(node)

    def _call_statement(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name):
            kernel = self.parameters.get(node.func.id)
            if isinstance(kernel, KernelType):
                return self.kernel_call(node, node.func.id, kernel)
        return self.call(node, alone=True)

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> ast.stmt:
        if value not in self.types:
            self.source.fail(node, f"'{ast.unparse(value)}' has no value")
        if isinstance(target, ast.Subscript):
            element = self.element(target, ast.Store())
            return ast.Assign([element], self.converted(value, self.type_of(element)))
        assert isinstance(target, ast.Name)
        name = target.id
        old = self._assignable(node, name)
        kind = self.type_of(value)
        if old is INT and kind is REAL:
            self.source.fail(
                node, f"'{name}' began as Int and becomes Real here; begin it as 0.0 or float(...)"
            )
        if old is not None:
            value = self.converted(value, old)
        else:
            self.locals[name] = kind
        self.assigned.add(name)
        stored = self.typed(ast.Name(name, ast.Store()), self.type_of(value), target)
        return ast.Assign([stored], value)

    def _assignable(self, node: ast.stmt, name: str) -> ScalarType | None:
        old = self.parameters.get(name) or self.locals.get(name)
        if name in self.fixed:
            self.source.fail(node, f"'{name}' is the size of an array and cannot change")
        if name in self.loop_names:
            self.source.fail(node, f"'{name}' is a loop variable and cannot be assigned")
        if not (old is None or isinstance(old, ScalarType)):
            self.source.fail(node, f"'{name}' is a {old}; write its elements one by one in a loop")
        return old

    def _update(self, node: ast.AugAssign) -> ast.stmt:
        loaded: ast.expr
        match node.target:
            case ast.Subscript(value=value, slice=index):
                loaded = ast.Subscript(value, index, ast.Load())
            case ast.Name(id=name):
                loaded = ast.Name(name, ast.Load())
            case _:
                self.source.fail(node, "update one name or one element of an array")
        old = self.scalar(ast.copy_location(loaded, node.target))
        new = self._assign(node, node.target, self.binary(node, old, node.op, node.value))
        assert isinstance(new, ast.Assign)
        # += and so on where C has the same; the rest, such as **=, in full
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            value = new.value
            assert isinstance(value, ast.BinOp)
            return ast.AugAssign(new.targets[0], node.op, value.right)  # type: ignore[arg-type]  # a name or an element
        return new

    def _for(self, node: ast.For) -> ast.stmt:
        match node:
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]),
                orelse=[],
            ) if 1 <= len(bounds) <= 3:
                pass
            case _:
                self.source.fail(node, "write `for i in range(...)`, without `else`")
        if name in self.parameters or name in self.locals or name in self.loops:
            self.source.fail(node, f"'{name}' is in use; give the loop a variable of its own")
        checked = [self.integer(bound) for bound in bounds]
        if len(bounds) == 3 and not _is_step(bounds[2]):
            self.source.fail(bounds[2], "the step of a range is a number such as 1, 2 or -1")
        before, self.assigned = self.assigned, set(self.assigned)
        written, self.written = self.written, set()
        self.loops.append(name)
        self.loop_names.add(name)
        body, _ = self.block(node.body)
        self.loops.pop()
        # Python reads the bounds once, C before every turn
        read = {inner.id for b in checked for inner in ast.walk(b) if isinstance(inner, ast.Name)}
        changed = read & (_assigned_names(node.body) | self.written)
        if changed:
            self.source.fail(
                node, f"the range depends on '{min(changed)}', which changes inside the loop"
            )
        self.assigned, self.written = before, self.written | written
        variable = self.typed(ast.Name(name, ast.Store()), INT, node.target)
        span = ast.Call(ast.Name("range", ast.Load()), checked, [])
        return ast.For(variable, span, body, [])

    def _if(self, node: ast.If) -> tuple[ast.stmt, bool]:
        test = self.condition(node.test)
        before = set(self.assigned)
        body, body_falls = self.block(node.body)
        after_body, self.assigned = self.assigned, set(before)
        orelse, orelse_falls = self.block(node.orelse)
        if body_falls and orelse_falls:
            self.assigned &= after_body
        elif body_falls:
            self.assigned = after_body
        return ast.If(test, body, orelse), body_falls or orelse_falls

    def _return(self, node: ast.Return) -> ast.stmt:
        if node.value is None or self.result is None:
            if node.value is not None or self.result is not None:
                self.source.fail(node, "the value returned does not agree with the annotation")
            return ast.Return(None)
        return ast.Return(self.converted(self._value(node.value), self.result))


def _assigned_names(body: list[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _is_step(node: ast.expr) -> bool:
    match node:
        case (
            ast.Constant(value=int(value))
            | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value)))
        ):
            return value != 0
    return False
