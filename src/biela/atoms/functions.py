"""The functions of expressions.

Each takes expressions or plain numbers; of plain numbers alone it gives a plain float, so that
formulas can be tried with numbers first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.table import Table
from biela.errors import DomainError

Scalar = Atom | float | int


def _function(code: int, plain: Callable[[float], float]) -> Callable[[Scalar], Atom]:
    name = op.NAMES[code]

    def function(x: Scalar) -> Atom:
        if isinstance(x, Atom):
            return Atom(x.table, x.table.unary(code, x.ref))
        try:
            return plain(x)  # type: ignore[return-value]
        except (ValueError, OverflowError) as error:
            raise DomainError(f"{name}({x}): {error}") from None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(x)`` of an expression or a number."
    return function


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


sqrt = _function(op.SQRT, math.sqrt)
sin = _function(op.SIN, math.sin)
cos = _function(op.COS, math.cos)
tan = _function(op.TAN, math.tan)
asin = _function(op.ASIN, math.asin)
acos = _function(op.ACOS, math.acos)
atan = _function(op.ATAN, math.atan)
exp = _function(op.EXP, math.exp)
log = _function(op.LOG, math.log)
tanh = _function(op.TANH, math.tanh)
sign = _function(op.SIGN, _sign)


def _refs(*values: Scalar) -> tuple[Table | None, tuple[int, ...]]:
    """The table the values belong to and their references in it."""
    for value in values:
        if isinstance(value, Atom):
            ws = value.workspace
            return value.table, tuple(ws.atom(v).ref for v in values)
    return None, ()


def atan2(y: Scalar, x: Scalar) -> Atom:
    """The angle of the vector (x, y), between -pi and pi."""
    table, refs = _refs(y, x)
    if table is None:
        return math.atan2(y, x)  # type: ignore[arg-type, return-value]
    return Atom(table, table.atan2(*refs))


def minimum(a: Scalar, b: Scalar, *more: Scalar) -> Atom:
    """The smallest of the arguments."""
    return _fold(Table.minimum, min, a, b, *more)


def maximum(a: Scalar, b: Scalar, *more: Scalar) -> Atom:
    """The largest of the arguments."""
    return _fold(Table.maximum, max, a, b, *more)


def _fold(
    build: Callable[[Table, int, int], int], plain: Callable[..., float], *values: Scalar
) -> Atom:
    table, refs = _refs(*values)
    if table is None:
        return plain(values)  # type: ignore[return-value]
    result = refs[0]
    for ref in refs[1:]:
        result = build(table, result, ref)
    return Atom(table, result)


def select(condition: Scalar | bool, a: Scalar, b: Scalar) -> Atom:
    """``a`` where the condition holds (is not 0), else ``b``: the piece of a piecewise law.

    >>> from biela.atoms import Workspace, select
    >>> ws = Workspace()
    >>> x = ws.symbol("x")
    >>> select(x < 0, x**2, x)
    select(x < 0, x**2, x)
    """
    chosen, a, b = (int(x) if isinstance(x, (bool, np.bool_)) else x for x in (condition, a, b))
    table, refs = _refs(chosen, a, b)
    if table is None:
        return a if chosen else b  # type: ignore[return-value]
    return Atom(table, table.select(*refs))


def both(a: Scalar | bool, b: Scalar | bool) -> Atom:
    """The condition that both conditions hold."""
    return select(a, b, 0)


def either(a: Scalar | bool, b: Scalar | bool) -> Atom:
    """The condition that at least one of two conditions holds."""
    return select(a, 1, b)


def opposite(condition: Scalar | bool) -> Atom:
    """The condition that ``condition`` does not hold."""
    return select(condition, 0, 1)
