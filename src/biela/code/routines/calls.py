"""Arrays, and calls of mathematical functions, routines and kernels."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, Final

from biela.code.routines.scalars import INTRINSICS, Scalars
from biela.code.routines.sizes import Size, SizeSyntaxError
from biela.code.routines.types import ArrayType, KernelType, ScalarType, Type

__all__ = ["Expressions"]

INT, REAL = ScalarType.INT, ScalarType.REAL

_FUNCTIONS: Final[dict[Any, str]] = {getattr(math, name): name for name in INTRINSICS}
_SPECIAL: Final[tuple[Any, ...]] = (abs, min, max, int, float)


class Expressions(Scalars):
    """Checks all expressions of one routine."""

    # --- arrays -----------------------------------------------------------------------------------

    def element(self, node: ast.Subscript, context: ast.expr_context) -> ast.expr:
        """Check `x[i]` or `A[i, j]`."""
        name, kind = self._array_name(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) != len(kind.shape):
            self.source.fail(
                node, f"'{ast.unparse(node)}' does not name one element of '{name}', a {kind}"
            )
        checked = [self._index(index) for index in indices]
        inner = checked[0] if len(checked) == 1 else ast.Tuple(checked, ast.Load())
        new = ast.Subscript(ast.Name(name, ast.Load()), inner, context)
        if isinstance(context, ast.Store):
            self.written.add(name)
        return self.typed(new, kind.element, node)

    def array(self, node: ast.expr) -> tuple[ast.expr, ArrayType, str]:
        """Check an array passed on whole: `x`, a row `A[i]` or a part `x[a:b]`."""
        if isinstance(node, ast.Name):
            name, kind = self._array_name(node)
            return self.typed(ast.Name(name, ast.Load()), kind, node), kind, name
        if not isinstance(node, ast.Subscript):
            self.source.fail(
                node, f"'{ast.unparse(node)}' is not an array, a row A[i] or a part x[a:b]"
            )
        name, kind = self._array_name(node.value)
        inner: ast.expr
        if isinstance(node.slice, ast.Slice) and len(kind.shape) == 1 and node.slice.step is None:
            lower = node.slice.lower or ast.copy_location(ast.Constant(0), node)
            upper = node.slice.upper
            stop = self._size(upper) if upper else kind.shape[0]
            shape: tuple[Size, ...] = (stop - self._size(lower),)
            inner = ast.Slice(self._index(lower), self._index(upper) if upper else None)
        elif len(kind.shape) == 2 and not isinstance(node.slice, ast.Slice | ast.Tuple):
            shape = kind.shape[1:]
            inner = self._index(node.slice)
        else:
            self.source.fail(node, f"'{ast.unparse(node)}' is neither a row A[i] nor a part x[a:b]")
        part = ArrayType(kind.element, shape)
        new = ast.Subscript(ast.Name(name, ast.Load()), inner, ast.Load())
        return self.typed(new, part, node), part, name

    def _array_name(self, node: ast.expr) -> tuple[str, ArrayType]:
        kind = self.parameters.get(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(kind, ArrayType):
            self.source.fail(
                node,
                f"'{ast.unparse(node)}' is not an array argument; scratch arrays are arguments too",
            )
        assert isinstance(node, ast.Name)
        return node.id, kind

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.source.fail(
                node, f"index '{ast.unparse(node)}' counts from the end; write n - 1 and so on"
            )
        return self.integer(node)

    def _size(self, node: ast.expr) -> Size:
        """Size an integer expression stands for; what is no polynomial is a name of its own."""
        try:
            size = Size.of(node)
        except SizeSyntaxError:
            return Size.name(f"({ast.unparse(node)})")
        known = {name: Size.name(name) for name in size.names}
        for name in size.names - self.parameters.keys() - self.locals.keys() - set(self.loops):
            if isinstance(value := self.source.outer(ast.Name(name)), int):
                known[name] = Size.constant(value)
        return size.substitute(known)

    # --- calls ------------------------------------------------------------------------------------

    def call(self, node: ast.Call, alone: bool) -> ast.expr:
        """Check a call of math, a routine or a kernel.

        `alone` says that the call is a statement or the whole right side of one. A routine that
        writes arrays must be: C does not fix the order in which parts of an expression run.
        """
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.source.fail(node, "arguments are given by position")
        if isinstance(node.func, ast.Name):
            kind = self.parameters.get(node.func.id)
            if isinstance(kind, KernelType):
                self.source.fail(node, f"kernel '{node.func.id}' has no value; call it on its own")
        try:
            function = self.source.outer(node.func)
        except LookupError:
            self.source.fail(node, f"'{ast.unparse(node.func)}' is not known here")
        if getattr(function, "is_routine", False):
            return self._routine_call(node, function, alone)
        if function in _SPECIAL:
            return self._special(node, function)
        if function in _FUNCTIONS:
            wanted, result = INTRINSICS[_FUNCTIONS[function]]
            self._count(node, len(wanted))
            arguments = [
                self.converted(self.number(a), w) for a, w in zip(node.args, wanted, strict=True)
            ]
            return self.intrinsic(_FUNCTIONS[function], arguments, result, node)
        self.source.fail(
            node,
            f"'{ast.unparse(node.func)}' is neither a routine nor one of abs, min, max, int, float "
            f"and math's {', '.join(INTRINSICS)}",
        )

    def kernel_call(self, node: ast.Call, name: str, kernel: KernelType) -> ast.Call:
        """Check `f(x, p, y)` where `f` is a kernel."""
        sizes = (*kernel.inputs, *kernel.outputs)
        self._count(node, len(sizes))
        arguments: list[ast.expr] = []
        for position, (argument, size) in enumerate(zip(node.args, sizes, strict=True)):
            new, kind, array = self.array(argument)
            if kind.element is not REAL or kind.count != size:
                self.source.fail(
                    argument,
                    f"'{ast.unparse(argument)}' is a {kind}, but argument {position + 1} of "
                    f"kernel '{name}' has {size} reals",
                )
            if position >= len(kernel.inputs):
                self.written.add(array)
            arguments.append(new)
        call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
        self.callees[call] = kernel
        return ast.copy_location(call, node)

    def _routine_call(self, node: ast.Call, routine: Any, alone: bool) -> ast.expr:
        callee = routine.checked
        if callee.written and not alone:
            self.source.fail(
                node, f"'{routine.name}' writes arrays; assign its value to a name first"
            )
        self._count(node, len(callee.parameters))
        sizes = {
            p.name: self._size(argument)
            for p, argument in zip(callee.parameters, node.args, strict=True)
            if p.type is INT
        }
        arguments: list[ast.expr] = []
        for parameter, argument in zip(callee.parameters, node.args, strict=True):
            wanted = parameter.type
            if isinstance(wanted, ScalarType):
                arguments.append(self.converted(self.number(argument), wanted))
                continue
            found: Type | None
            if isinstance(wanted, ArrayType):
                shape = tuple(size.substitute(sizes) for size in wanted.shape)
                wanted = ArrayType(wanted.element, shape)
                new, found, array = self.array(argument)
                if parameter.name in callee.written:
                    self.written.add(array)
            else:
                wanted = KernelType(
                    tuple(size.substitute(sizes) for size in wanted.inputs),
                    tuple(size.substitute(sizes) for size in wanted.outputs),
                )
                name = argument.id if isinstance(argument, ast.Name) else ""
                found = self.parameters.get(name)
                new = self.typed(ast.Name(name, ast.Load()), wanted, argument)
            if found != wanted:
                self.source.fail(
                    argument,
                    f"argument '{parameter.name}' of '{routine.name}' is a {wanted} here, but "
                    f"'{ast.unparse(argument)}' is a {found or 'something else'}",
                )
            arguments.append(new)
        call = ast.Call(ast.Name(routine.name, ast.Load()), arguments, [])
        self.callees[call] = routine
        if callee.result is None:
            if not alone:
                self.source.fail(node, f"'{routine.name}' returns nothing")
            return ast.copy_location(call, node)
        return self.typed(call, callee.result, node)

    def _special(self, node: ast.Call, function: Callable[..., Any]) -> ast.expr:
        arguments = [self.number(argument) for argument in node.args]
        if function in (min, max):
            if len(arguments) < 2:
                self.source.fail(node, f"'{ast.unparse(node)}' needs two numbers")
            value = arguments[0]
            for other in arguments[1:]:
                a, b = self.common(value, other)
                value = self.intrinsic(function.__name__, [a, b], self.type_of(a), node)
            return value
        self._count(node, 1)
        results = {abs: self.type_of(arguments[0]), int: INT, float: REAL}
        return self.intrinsic(function.__name__, arguments, results[function], node)

    def _count(self, node: ast.Call, wanted: int) -> None:
        if len(node.args) != wanted:
            self.source.fail(
                node, f"'{ast.unparse(node.func)}' takes {wanted} arguments, not {len(node.args)}"
            )
