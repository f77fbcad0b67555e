"""The handle people write formulas with."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.atoms import opcodes as op
from biela.atoms.numbers import Number
from biela.atoms.symbols import Kind, Symbol
from biela.atoms.table import Table
from biela.errors import DomainError, WorkspaceError

if TYPE_CHECKING:
    from biela.atoms.workspace import Workspace


class Atom:
    """An expression: a signed reference into a table of atoms.

    Arithmetic with ``+ - * / **`` and the functions of `biela.atoms` make new atoms, or find
    the ones that are already there.  ``==`` asks whether two handles are the same expression;
    ``<`` and ``<=`` make conditions for `biela.atoms.select`.

    >>> from biela.atoms import Workspace
    >>> ws = Workspace()
    >>> x, y = ws.symbols("x y")
    >>> (x - y) == -(y - x)
    True
    """

    __slots__ = ("ref", "table")

    def __init__(self, table: Table, ref: int) -> None:
        self.table = table
        self.ref = ref

    # The two most frequent operators are written out: a call saved is a tenth of a microsecond.

    def __add__(self, other: Operand) -> Atom:
        table = self.table
        if other.__class__ is Atom and other.table is table:
            return Atom(table, table.add(self.ref, other.ref))
        right = self._coerce(other)
        return NotImplemented if right is None else Atom(table, table.add(self.ref, right))

    def __mul__(self, other: Operand) -> Atom:
        table = self.table
        if other.__class__ is Atom and other.table is table:
            return Atom(table, table.mul(self.ref, other.ref))
        right = self._coerce(other)
        return NotImplemented if right is None else Atom(table, table.mul(self.ref, right))

    __radd__ = __add__
    __rmul__ = __mul__

    def __sub__(self, other: Operand) -> Atom:
        table = self.table
        if other.__class__ is Atom and other.table is table:
            return Atom(table, table.add(self.ref, -other.ref))
        right = self._coerce(other)
        return NotImplemented if right is None else Atom(table, table.add(self.ref, -right))

    def __rsub__(self, other: Operand) -> Atom:
        left = self._coerce(other)
        return NotImplemented if left is None else Atom(self.table, self.table.sub(left, self.ref))

    def __truediv__(self, other: Operand) -> Atom:
        right = self._coerce(other)
        if right is None:
            return NotImplemented
        return Atom(self.table, self.table.div(self.ref, right))

    def __rtruediv__(self, other: Operand) -> Atom:
        left = self._coerce(other)
        return NotImplemented if left is None else Atom(self.table, self.table.div(left, self.ref))

    def __pow__(self, other: Operand) -> Atom:
        right = self._coerce(other)
        if right is None:
            return NotImplemented
        return Atom(self.table, self.table.power(self.ref, right))

    def __rpow__(self, other: Operand) -> Atom:
        base = self._coerce(other)
        if base is None:
            return NotImplemented
        return Atom(self.table, self.table.power(base, self.ref))

    def __neg__(self) -> Atom:
        return Atom(self.table, -self.ref)

    def __pos__(self) -> Atom:
        return self

    def __abs__(self) -> Atom:
        return Atom(self.table, self.table.unary(op.ABS, self.ref))

    # Conditions.

    def __lt__(self, other: Operand) -> Atom:
        return self._compare(self.table.less, self.ref, self._coerce(other))

    def __le__(self, other: Operand) -> Atom:
        return self._compare(self.table.less_equal, self.ref, self._coerce(other))

    def __gt__(self, other: Operand) -> Atom:
        return self._compare(self.table.less, self._coerce(other), self.ref)

    def __ge__(self, other: Operand) -> Atom:
        return self._compare(self.table.less_equal, self._coerce(other), self.ref)

    def _compare(
        self, build: Callable[[int, int], int], left: int | None, right: int | None
    ) -> Atom:
        if left is None or right is None:
            return NotImplemented  # type: ignore[no-any-return]
        return Atom(self.table, build(left, right))

    def __bool__(self) -> bool:
        value = self.value
        if value is None:
            raise DomainError(
                f"{self!r} has no truth value: whether it is zero depends on its symbols. "
                f"For a law with cases use select(condition, a, b)"
            )
        return value != 0

    # Identity.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Atom):
            return self.table is other.table and self.ref == other.ref
        value = self.value
        return value is not None and bool(value == other)

    def __hash__(self) -> int:
        value = self.value
        return hash(value) if value is not None else hash((id(self.table), self.ref))

    # What it is.

    @property
    def workspace(self) -> Workspace:
        """The workspace the expression belongs to."""
        return self.table.workspace

    @property
    def value(self) -> Number | None:
        """The number, if the expression is one; else None."""
        return self.table.value(self.ref)

    @property
    def is_symbol(self) -> bool:
        """Whether the expression is a symbol, without a sign."""
        return self.ref > 0 and self.table.ops[self.ref] == op.SYMBOL

    @property
    def name(self) -> str:
        """The name of a symbol."""
        return self._symbol().name

    @property
    def kind(self) -> Kind:
        """The kind of a symbol."""
        return self._symbol().kind

    @property
    def velocity(self) -> Atom:
        """The velocity symbol of a coordinate."""
        return self._rate(Kind.COORDINATE, "velocity")

    @property
    def acceleration(self) -> Atom:
        """The acceleration symbol of a coordinate or of a velocity."""
        if self._symbol().kind is Kind.COORDINATE:
            return self.velocity.acceleration
        return self._rate(Kind.VELOCITY, "acceleration")

    def _symbol(self) -> Symbol:
        if not self.is_symbol:
            raise DomainError(f"{self!r} is not a symbol")
        return self.table.symbols[self.ref]

    def _rate(self, kind: Kind, what: str) -> Atom:
        symbol = self._symbol()
        if symbol.kind is not kind or not symbol.rate:
            raise DomainError(
                f"{symbol.name} is a {symbol.kind.name.lower()}: it has no {what} symbol"
            )
        if symbol.rate not in self.table.symbols:
            raise DomainError(
                f"{symbol.name} has no {what} symbol: its rate is an expression, "
                f"time_derivative({symbol.name})"
            )
        return Atom(self.table, symbol.rate)

    def __repr__(self) -> str:
        return self.table.text(self.ref)

    def _repr_latex_(self) -> str:
        from biela.atoms.latex import latex

        return f"$\\displaystyle {latex(self)}$"

    def __reduce__(self) -> tuple[Any, ...]:
        return _handle, (self.workspace, self.ref)

    def _coerce(self, other: object) -> int | None:
        """The reference of the other operand; None if it is nothing an expression can hold."""
        kind = other.__class__
        if kind is float or kind is int:
            known = self.table.numbers.get(other)
            return self.table.constant(other) if known is None else known
        if isinstance(other, Atom):
            if other.table is not self.table:
                raise WorkspaceError(
                    f"{self!r} belongs to workspace {self.table.name} and {other!r} to "
                    f"{'another ' if self.table.name == other.table.name else ''}"
                    f"{other.table.name}: expressions of two workspaces cannot be mixed; "
                    f"copy one over with Function.inline"
                )
            return other.ref
        if isinstance(other, str):
            raise DomainError(f"{other!r} is text: turn it into an expression with workspace.parse")
        if isinstance(other, complex):
            raise DomainError(f"{other!r} is complex: expressions are real")
        if isinstance(other, (Real, np.generic)):
            return self.table.constant(other)
        if isinstance(other, np.ndarray) and other.shape == ():
            return self.table.constant(other.item())
        return None  # vectors, arrays and the like have their own operators


#: What an operator accepts beside an atom.
Operand = Atom | Number | Any


def _handle(workspace: Workspace, ref: int) -> Atom:
    return Atom(workspace.table, ref)
