"""Functions that numba compiles, kept in the code cache.

They take the place of `numba.njit(cache=True)` and `numba.cfunc(cache=True)`. numba keeps its code
beside the source, or where `NUMBA_CACHE_DIR` says, as pickles that it loads whoever wrote them; a
damaged one ends the run, and it does not see that a function of another module has changed which
was compiled into this one. `biela.code_cache` looks after all of that.

Import it inside functions: numba takes a moment.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc

from biela.code_cache import enabled, read_object, write_object

__all__ = ["cfunc", "njit"]

_core: Any = numba.core  # numba carries no types
_Decorator = Callable[[Callable[..., Any]], Any]


def njit(signature: str | None = None, **options: Any) -> _Decorator:
    """`numba.njit`: compiled now for one signature, or for those it is called with."""

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(**options)(function)
        if _core.config.DISABLE_JIT:
            return dispatcher
        dispatcher._cache = _Stored("njit", function, options)
        if signature is not None:
            with _core.typeinfer.register_dispatcher(dispatcher):  # it may call itself
                dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    return compiled


def cfunc(signature: Any, **options: Any) -> _Decorator:
    """`numba.cfunc`: a function with the `address` of its machine code."""

    def compiled(function: Callable[..., Any]) -> Any:
        made: Any = CFunc(function, _core.sigutils.normalize_signature(signature), {}, options)
        made._cache = _Stored("cfunc", function, options)
        made.compile()
        return made

    return compiled


class _Stored(NullCache):
    """What numba asks for code before it compiles a function, and gives it to afterwards."""

    def __init__(self, kind: str, function: Any, options: dict[str, Any]) -> None:
        self._function, self._made_as = function, (kind, sorted(options.items()))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None if it is to be compiled."""
        if not enabled():
            return None
        target_context.refresh()
        data = read_object(self._key(sig, target_context.codegen()))
        if data is None:
            return None
        try:
            return _core.compiler.CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:  # whole, but it names what is no longer there: it is made again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code, unless addresses of this process are part of it.

        LLVM hands the machine code to numba in a call that swallows what is raised meanwhile, such
        as an interrupt or a lack of memory.  The function runs, but there is nothing to keep.
        """
        if enabled() and not data.library.has_dynamic_globals:
            try:
                content = _core.serialize.dumps(data._reduce())
            except RuntimeError:
                return
            write_object(self._key(sig, data.codegen), content)

    def _key(self, sig: Any, codegen: Any) -> str:
        function = self._function
        parts = (
            *(numba.__version__, sys.implementation.cache_tag, codegen.magic_tuple()),
            *(function.__module__, function.__qualname__, function.__code__.co_firstlineno),
            *(self._made_as, sig, _digest(function)),
        )
        return f"{function.__name__}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:40]}"


# --- what code depends on -------------------------------------------------------------------------


@functools.cache
def _digest(function: FunctionType) -> str:
    """A hash of the modules of a function and of all it calls, and of the constants they name."""
    found: dict[FunctionType, str] = {}
    ahead = [function]
    while ahead:
        one = ahead.pop()
        if one in found:
            continue
        constants = []
        for name, value in sorted(_named(one).items()):
            called = inspect.unwrap(value) if callable(value) else None
            if isinstance(value, int | float | complex | str | tuple):
                constants.append((name, value))
            elif isinstance(called, FunctionType) and called.__module__.startswith("biela"):
                ahead.append(called)
        found[one] = f"{_source(one.__module__)} {constants}"
    return hashlib.sha256("\n".join(sorted(found.values())).encode()).hexdigest()


def _named(function: FunctionType) -> dict[str, Any]:
    """What a function finds outside of itself, by name."""
    names: set[str] = set()
    ahead = [function.__code__]
    while ahead:
        code = ahead.pop()
        names.update(code.co_names, code.co_freevars)
        ahead += [c for c in code.co_consts if isinstance(c, CodeType)]
    around = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    return {name: around[name] for name in names if name in around}


@functools.cache
def _source(module: str) -> str:
    """A hash of the text of a module."""
    specification = sys.modules[module].__spec__
    loader: Any = specification and specification.loader
    return hashlib.sha256(loader.get_source(module).encode()).hexdigest()
