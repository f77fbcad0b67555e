"""Numbers for symbols: the interpreted graph.

Slow and simple; it is the reference every compiled or exported form is compared with.  It takes
floats, NumPy arrays (element by element) and complex numbers.  With complex numbers, operations
that are not analytic follow the real part, so that a complex step gives a derivative
(Squire & Trapp, SIAM Review 40, 1998).
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.table import Table
from biela.errors import DomainError

_UFUNCS: dict[int, Any] = {
    op.SQRT: np.sqrt,
    op.SIN: np.sin,
    op.COS: np.cos,
    op.TAN: np.tan,
    op.ASIN: np.arcsin,
    op.ACOS: np.arccos,
    op.ATAN: np.arctan,
    op.EXP: np.exp,
    op.LOG: np.log,
    op.TANH: np.tanh,
}


def evaluate(expressions: Atom | Sequence[Atom], values: Mapping[Atom, Any]) -> Any:
    """The value of one expression, or the list of values of several.

    >>> from biela.atoms import Workspace, evaluate
    >>> ws = Workspace()
    >>> x = ws.symbol("x")
    >>> float(evaluate(x**2 + 1, {x: 3.0}))
    10.0
    """
    several = [expressions] if isinstance(expressions, Atom) else list(expressions)
    if not several:
        return []
    table = several[0].table
    given = {table.workspace.atom(symbol).ref: value for symbol, value in values.items()}
    result = evaluate_refs(table, [table.workspace.atom(e).ref for e in several], given)
    return result[0] if isinstance(expressions, Atom) else result


def evaluate_refs(table: Table, refs: Sequence[int], values: Mapping[int, Any]) -> list[Any]:
    """The values of references, given those of the symbols."""
    found: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for atom in table.live(refs):
            code = table.ops[atom]
            if code == op.CONSTANT:
                found[atom] = float(table.values[atom])
            elif code == op.SYMBOL:
                if atom not in values:
                    raise DomainError(f"no value is given for {table.symbols[atom].name}")
                found[atom] = _numeric(table.symbols[atom].name, values[atom])
            else:
                operands = [found[r] if r >= 0 else -found[-r] for r in table.operands(atom)]
                found[atom] = _apply(table, atom, code, operands)
    return [found[r] if r >= 0 else -found[-r] for r in refs]


def _apply(table: Table, atom: int, code: int, x: list[Any]) -> Any:
    if code == op.ADD:
        return x[0] + x[1]
    if code == op.MUL:
        return x[0] * x[1]
    if code == op.DIV:
        return x[0] / x[1]
    if code == op.POWER_INT:
        return x[0] ** table.right[atom]
    if code == op.POWER:
        return x[0] ** x[1]
    if code in _UFUNCS:
        return _UFUNCS[code](x[0])
    if code == op.ATAN2:
        return _atan2(x[0], x[1])
    if code == op.ABS:
        return np.where(np.real(x[0]) < 0, -x[0], x[0])[()]
    if code == op.SIGN:
        return np.sign(np.real(x[0]))
    if code == op.LESS:
        return np.where(np.real(x[0]) < np.real(x[1]), 1.0, 0.0)[()]
    if code == op.LESS_EQUAL:
        return np.where(np.real(x[0]) <= np.real(x[1]), 1.0, 0.0)[()]
    if code == op.MIN:
        return np.where(np.real(x[0]) < np.real(x[1]), x[0], x[1])[()]
    if code == op.MAX:
        return np.where(np.real(x[0]) > np.real(x[1]), x[0], x[1])[()]
    if code == op.SELECT:
        return np.where(np.real(x[0]) != 0, x[1], x[2])[()]
    if code == op.PIECEWISE:
        return _curve(table, table.right[atom], x[0])
    return _external(table, table.left[atom], x)


def _numeric(name: str, value: Any) -> Any:
    """A float, a complex number or an array of them; integers would wrap around."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise DomainError(
                f"the value of {name} is not a number that can be computed with but "
                f"{reprlib.repr(value)}"
            ) from None
    if array.dtype.kind not in "fciub":
        raise DomainError(f"the value of {name} is not a number but {value!r}")
    return array.astype(complex if array.dtype.kind == "c" else float)[()]


def _external(table: Table, index: int, x: list[Any]) -> Any:
    function = table.externals[index]
    real = [np.real(v) for v in x]
    value = np.vectorize(function, otypes=[float])(*real)[()]
    for k, v in enumerate(x):
        if np.iscomplexobj(v):
            partial = table.externals[table.external_partial(index, k)]
            slope = np.vectorize(partial, otypes=[float])(*real)[()]
            value = value + 1j * np.imag(v) * slope
    return value


def _atan2(y: Any, x: Any) -> Any:
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        angle = np.arctan2(np.real(y), np.real(x))
        y, x = np.asarray(y, complex), np.asarray(x, complex)
        slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
        return (angle + 1j * slope)[()]
    return np.arctan2(y, x)


def _curve(table: Table, index: int, x: Any) -> Any:
    curve = table.piecewise[index]
    value = np.vectorize(curve, otypes=[float])(np.real(x))[()]
    if np.iscomplexobj(x):
        slope = np.vectorize(curve.derivative(), otypes=[float])(np.real(x))[()]
        return value + 1j * np.imag(x) * slope
    return value
