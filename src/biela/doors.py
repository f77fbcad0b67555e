"""Public functions that answer arguments of the wrong kind in words.

Arguments are judged where they are read, not before: numbers come as arrays, texts with units and
values by name.  If that ends in an error of Python or numpy, the arguments are compared with what
the signature says, and the first that does not fit is named: one that nothing takes, and where
there is none, one that some functions take and others do not, such as 2.0 for a whole number or a
set for a sequence.  An error with arguments that all fit is a mistake of biela, and is left as it
is.
"""

from __future__ import annotations

import inspect
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from itertools import islice
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import BielaError

__all__ = ["door", "doors"]

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type)
#: Whole numbers beyond this are no count of anything.
_MOST = 2**63 - 1
#: Whole numbers from 0, wherever they are arguments.
_FROM_ZERO = ("restarts", "seed")
#: Methods with names of Python that people call in other words.
_CALLED = ("__init__", "__getitem__", "__call__", "__contains__")
#: Items of a sequence that are compared with what they should be.
_LOOKED_AT = 10_000
#: Entries of an array that are looked at at a time.
_BLOCK = 1 << 16


def door(error: type[BielaError], who: str = "") -> Callable[[_F], _F]:
    """Make a function refuse arguments that are not what its signature says.

    >>> @door(BielaError)
    ... def half(x: float) -> float:
    ...     return x / 2
    >>> half([1])
    Traceback (most recent call last):
    ...
    biela.errors.BielaError: half: x is a finite number, not [1]

    Args:
        error: The class of the error.
        who: What the function is called in messages; by its own name without it.
    """

    def decorated(function: _F) -> _F:
        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except BielaError:
                raise
            except Exception as wrong:
                said = _misfit(function, arguments, named, who, leniently=True)
                said = said or _misfit(function, arguments, named, who, leniently=False)
                if not said and isinstance(wrong, MemoryError):
                    name = who or function.__qualname__
                    said = f"{name}: there is not enough memory ({wrong}): ask for less at a time"
                if not said:
                    raise
                raise error(said) from wrong

        return cast("_F", call)

    return decorated


def doors(error: type[BielaError]) -> Callable[[_C], _C]:
    """Make all public methods of a class, inherited ones too, doors; and how one is made."""

    def decorated(cls: _C) -> _C:
        for name in dir(cls):
            if name.startswith("_") and name not in _CALLED:
                continue
            found = inspect.getattr_static(cls, name)
            opened = door(error, f"{cls.__name__}.{name}".removesuffix(".__init__"))
            if isinstance(found, staticmethod | classmethod):
                setattr(cls, name, type(found)(opened(found.__func__)))
            elif inspect.isfunction(found):
                setattr(cls, name, opened(found))
        return cls

    return decorated


def _misfit(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    named: dict[str, Any],
    who: str,
    leniently: bool,
) -> str:
    """What to say of the first argument that does not fit; "" if all do.

    ``leniently`` lets pass what some functions take and others do not.
    """
    signature = inspect.signature(function)
    try:
        given = signature.bind(*arguments, **named).arguments
    except TypeError:
        return ""  # Python has said so
    who = who or function.__qualname__.removesuffix(".__init__").rpartition(".<locals>.")[2]
    for name, value in given.items():
        hint = _hint(function, name)
        kind = signature.parameters[name].kind
        several = kind is inspect.Parameter.VAR_POSITIONAL
        if kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for one in value if several else (value,):
            if not _fits(one, hint, leniently):
                return f"{who}: {name} is {_wanted(hint)}, not {_shown(one)}"
            if name in _FROM_ZERO and not leniently and isinstance(one, Integral) and one < 0:
                return f"{who}: {name} is a whole number from 0, not {_shown(one)}"
    return ""


def _hint(function: Callable[..., Any], name: str) -> Any:
    """The type of an argument; Any if it has none, or one that only type checkers import."""
    one = types.SimpleNamespace(__annotations__={name: function.__annotations__.get(name, Any)})
    try:
        return typing.get_type_hints(one, function.__globals__)[name]
    except NameError:
        return Any


def _fits(value: Any, hint: Any, leniently: bool = False) -> bool:
    """Whether a value is what a type says; whatever fits one that says nothing."""
    if hint is Any:
        return True
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is ArrayLike:
        return _is_array(value, leniently)
    if hint is np.ndarray or origin is np.ndarray:
        return _is_array(value, leniently) and (leniently or np.ndim(value) > 0)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one, leniently) for one in _alternatives(inside))
    if origin is typing.Literal:
        return isinstance(value, str | int | None) and value in inside
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return _is_number(value, leniently)
    if hint is int:
        return _is_whole(value, leniently)
    if hint is bool:
        return leniently or isinstance(value, bool | np.bool_)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            _fits(k, inside[0], leniently) and _fits(v, inside[1], leniently)
            for k, v in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Sequence) and isinstance(value, str | bytes):
        return False
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if not isinstance(value, Sequence) and not _is_row(value):
            return leniently and isinstance(value, Iterable) and not isinstance(value, np.ndarray)
        if origin is not tuple or Ellipsis in inside:
            return all(_fits(v, inside[0], leniently) for v in islice(value, _LOOKED_AT))
        return len(value) == len(inside) and all(
            _fits(v, one, leniently) for v, one in zip(value, inside, strict=True)
        )
    if hint is str and leniently:
        return isinstance(value, str | PathLike)
    if origin is not None:
        return not isinstance(origin, type) or isinstance(value, origin)
    if typing.is_typeddict(hint) or getattr(hint, "_is_protocol", False):
        return True
    return isinstance(value, hint) if isinstance(hint, type) else True


def _alternatives(inside: Sequence[Any]) -> list[Any]:
    """The types of a union; arrays, which are a union of many, are one of them."""
    arrays = typing.get_args(ArrayLike)
    if not set(arrays) <= set(inside):
        return list(inside)
    return [ArrayLike, *(one for one in inside if one not in arrays)]


def _is_row(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _is_whole(value: Any, leniently: bool) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if leniently and isinstance(value, float | np.floating | bool):
        return float(value).is_integer()
    return type(value) is not bool and isinstance(value, Integral) and abs(int(value)) <= _MOST


def _is_number(value: Any, leniently: bool) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        if leniently:
            float(value)  # also of a text or an infinity
            return not isinstance(value, np.ndarray)
        # numpy takes no other kinds of numbers, such as fractions
        known = isinstance(value, int | float | np.integer | np.floating)
        return known and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_array(value: Any, leniently: bool) -> bool:
    if isinstance(value, str | bytes) and not leniently:
        return False
    if isinstance(value, np.ndarray):  # a view may repeat few numbers many times
        value = value[tuple(slice(None if step else 1) for step in value.strides)]
    try:
        array = np.asarray(value, dtype=float)
        return leniently or _is_finite(array)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return False


def _is_finite(array: np.ndarray) -> bool:
    """Whether all entries are finite, block by block: views may be larger than the memory."""
    if not array.size:
        return True
    rows = np.nditer(array, flags=["external_loop", "buffered"], buffersize=_BLOCK)
    return all(bool(np.isfinite(row).all()) for row in rows)


def _wanted(hint: Any) -> str:
    """What a type asks for, in words."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is ArrayLike or hint is np.ndarray or origin is np.ndarray:
        return "an array of finite numbers"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_wanted, _alternatives(inside))))
    if origin is typing.Literal:
        return "one of " + ", ".join(map(repr, inside))
    plain = {float: "a finite number", int: "a whole number", str: "a text", Path: "a path"}
    if hint in plain:
        return plain[hint]
    if hint is None or hint is type(None):
        return "None"
    if hint is bool:
        return "True or False"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping of names to values, each {_wanted(inside[1])}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a sequence, each item {_wanted(inside[0])}"
    return getattr(hint, "__name__", "something else")


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:  # whatever the object of a caller does
        return f"a {type(value).__name__}"
