"""Routines run in process, compiled by numba.

The canonical form of a routine is the text of a Python module, under a name that holds the hash of
the text and of the routines it calls. `biela.jit` keeps what numba makes of it.

This module imports numba only inside functions: it takes tenths of a second.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib.util
import math
import sys
from collections.abc import Callable
from functools import cache
from importlib.abc import InspectLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from biela.code.routines.check import CheckedRoutine
from biela.code.routines.scalars import INTRINSICS
from biela.code.routines.types import ArrayType, KernelType, ScalarType, Type

if TYPE_CHECKING:
    from biela.code.routines.language import Routine

__all__ = ["compile_routine", "digest", "generated_module", "plain_python"]

_FORMAT: Final = 1  # raise it when the meaning of the generated modules changes
_SIGNATURES: Final = {ScalarType.INT: "int64", ScalarType.REAL: "float64"}


def compile_routine(routine: Routine[..., Any]) -> Callable[..., Any]:
    """Return the routine as a numba function with one explicit signature.

    Kernels are passed as integer addresses. Arguments are not checked.
    """
    module = _module(routine)
    function: Callable[..., Any] = getattr(module, routine.name)
    return function


def plain_python(routine: Routine[..., Any]) -> Callable[..., Any]:
    """Return the canonical form as a Python function that a debugger can step through."""
    checked = routine.checked
    tree = ast.fix_missing_locations(ast.Module([checked.tree], []))
    scope: dict[str, Any] = {name: getattr(math, name) for name in INTRINSICS}
    scope |= checked.constants
    scope |= {callee.name: callee.python for callee in checked.routines}
    exec(compile(tree, checked.source.file, "exec"), scope)
    function: Callable[..., Any] = scope[routine.name]
    function.__doc__ = checked.source.function.__doc__
    return function


# --- the generated module -------------------------------------------------------------------------


class _AddressCalls(ast.NodeTransformer):
    """Rewrites `f(x, y)` as `call_kernel(f, x, y)` where `f` is a kernel."""

    def __init__(self, kernels: frozenset[str]) -> None:
        self.kernels = kernels

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.kernels:
            return ast.Call(ast.Name("call_kernel", ast.Load()), [node.func, *node.args], [])
        return node


@cache
def _text(routine: Routine[..., Any]) -> str:
    """Text of the generated module; `compiled`, `call_kernel` and the callees are put in later."""
    checked = routine.checked
    kernels = frozenset(p.name for p in checked.parameters if isinstance(p.type, KernelType))
    tree = _AddressCalls(kernels).visit(copy.deepcopy(checked.tree))
    lines = [
        f"# made by biela from routine {checked.source.function.__module__}.{routine.name}",
        f"# format {_FORMAT}",
        *(f"# calls {callee.name} {digest(callee)}" for callee in checked.routines),
        f"from math import {', '.join(INTRINSICS)}",
        *(f"{name} = {value!r}" for name, value in checked.constants.items()),
        f"@compiled({_signature(checked)!r})",
        ast.unparse(ast.fix_missing_locations(tree)),
    ]
    return "\n".join(lines) + "\n"


@cache
def digest(routine: Routine[..., Any]) -> str:
    """A hash of a routine and of all that it calls."""
    return hashlib.sha256(_text(routine).encode()).hexdigest()[:16]


def _signature(checked: CheckedRoutine) -> str:
    result = "void" if checked.result is None else _SIGNATURES[checked.result]
    return f"{result}({', '.join(_numba_type(p.type) for p in checked.parameters)})"


def _numba_type(kind: Type) -> str:
    match kind:
        case ScalarType():
            return _SIGNATURES[kind]
        case ArrayType(element=element, shape=shape):
            return _SIGNATURES[element] + ("[::1]" if len(shape) == 1 else "[:, ::1]")
        case KernelType():
            return "int64"


def _module(routine: Routine[..., Any]) -> ModuleType:
    tools = {"compiled": _njit, "call_kernel": _call_kernel()}
    callees = {c.name: c.compiled for c in routine.checked.routines}
    return generated_module(f"{routine.name}_{digest(routine)}", _text(routine), tools | callees)


def generated_module(name: str, text: str, scope: dict[str, Any]) -> ModuleType:
    """Run the text of a module, with some names put into it, and return the module.

    No two texts may have the same name.
    """
    specification = importlib.util.spec_from_loader(f"biela_routines.{name}", _Text(text))
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    vars(module).update(scope)
    # numba finds the module of stored code by name
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module


class _Text(InspectLoader):
    """Loads a module that has no file."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        return self._text


# --- numba ----------------------------------------------------------------------------------------


def _njit(signature: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile with the floating-point rules of C: no reordering, division by zero gives inf."""
    from biela.jit import njit

    return njit(signature, nogil=True, error_model="numpy", fastmath=False)


@cache
def _call_kernel() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def call_kernel(typingctx: Any, address: Any, *arrays: Any) -> Any:
        """Call the machine code at `address` with one pointer an array."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number, packed = values
            pointers = [
                context.make_array(kind)(context, builder, builder.extract_value(packed, k)).data
                for k, kind in enumerate(arrays)
            ]
            prototype = ir.FunctionType(ir.VoidType(), [p.type for p in pointers])
            builder.call(builder.inttoptr(number, prototype.as_pointer()), pointers)
            return context.get_dummy_value()

        packed_type: Any = types.StarArgTuple  # numba carries no types
        return types.void(address, packed_type(arrays)), generate

    return call_kernel
