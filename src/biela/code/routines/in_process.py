"""Routines run in process: compiled by numba, with or without the disk cache.

The canonical form of a routine is written as a Python module into the cache directory, under a name
that holds the hash of its text and of the routines it calls. numba's own cache lies beside it. A
routine is thus compiled again when, and only when, it or something it calls has changed; numba
alone would not see a change in a callee.

This module imports numba only inside functions: it takes tenths of a second.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from biela.code.cache import cache_directory
from biela.code.routines.check import CheckedRoutine
from biela.code.routines.scalars import INTRINSICS
from biela.code.routines.types import ArrayType, KernelType, ScalarType, Type

if TYPE_CHECKING:
    from biela.code.routines.language import Routine

__all__ = ["compile_routine", "digest", "plain_python", "stored_module"]

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
    return stored_module(f"{routine.name}_{digest(routine)}", _text(routine), tools | callees)


def stored_module(name: str, text: str, scope: dict[str, Any]) -> ModuleType:
    """Run the text of a module that lies in the cache directory, so that numba caches it too.

    The name must change with all that the code depends on, `digest` of routines included.
    """
    path = _stored(name, text)
    specification = importlib.util.spec_from_file_location(f"biela_routines.{name}", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    vars(module).update(scope)
    # numba's cache finds the module of a function by name
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module


def _stored(name: str, text: str) -> Path:
    """Path of the module's file, written if it is not there; a private place if it cannot be."""
    for directory in (cache_directory("routines"), _private_directory):
        folder = directory if isinstance(directory, Path) else directory()
        path = folder / f"{name}.py"
        try:
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                return path
            folder.mkdir(parents=True, exist_ok=True)
            # a complete file appears at once, whatever other processes do
            descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)
            return path
        except OSError as error:
            failure = error
    raise failure


@cache
def _private_directory() -> Path:
    return Path(tempfile.mkdtemp(prefix="biela-routines-"))


# --- numba ----------------------------------------------------------------------------------------


def _njit(signature: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile with the floating-point rules of C: no reordering, division by zero gives inf."""
    import numba

    decorator: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.njit(
        signature, cache=True, nogil=True, error_model="numpy", fastmath=False
    )
    return decorator


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
