"""Derivatives of shared expressions along one direction: by a symbol, by several, by time.

All work on the table of atoms, once per atom, and give atoms: nothing is expanded, nothing
recurses.  The rate of every atom is found from the rates of its operands (forward accumulation,
Griewank & Walther, *Evaluating Derivatives*, 2008, ch. 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import overload

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.partials import partials
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.atoms.workspace import Workspace
from biela.errors import DomainError, WorkspaceError


def diff(expression: Atom, symbol: Atom) -> Atom:
    """The partial derivative of an expression by a symbol.

    >>> from biela.atoms import Workspace, diff, sin
    >>> ws = Workspace()
    >>> x, y = ws.symbols("x y")
    >>> diff(x * sin(y), y)
    x*cos(y)
    """
    table = expression.table
    seed = symbol_ref(table, symbol)
    known = table.derivatives.setdefault(((seed, 1),), {})
    sweep_forward(table, [expression.ref], {seed: 1}, known)
    return Atom(table, rate_of_ref(known, expression.ref))


class Direction:
    """Derivatives along one direction, sum of df/ds_k * d_k, each remembered.

    >>> from biela.atoms import Direction, Workspace, sin
    >>> ws = Workspace()
    >>> x, y = ws.symbols("x y")
    >>> Direction(ws, {x: y})(sin(x))
    y*cos(x)
    """

    def __init__(self, workspace: Workspace, rates: Mapping[Atom, Atom | float]) -> None:
        self._table = workspace.table
        self._seeds = _seeds(self._table, rates)
        self._known = self._table.derivatives.setdefault(tuple(sorted(self._seeds.items())), {})

    def __call__(self, expression: Atom) -> Atom:
        """The derivative of an expression."""
        sweep_forward(self._table, [expression.ref], self._seeds, self._known)
        return Atom(self._table, rate_of_ref(self._known, expression.ref))


def directional(expressions: Sequence[Atom], direction: Mapping[Atom, Atom | float]) -> list[Atom]:
    """The derivative of each expression along a direction: sum of df/ds_k * d_k."""
    if not expressions:
        return []
    table = common_table(expressions)
    seeds = _seeds(table, direction)
    rates = table.derivatives.setdefault(tuple(sorted(seeds.items())), {})
    sweep_forward(table, [e.ref for e in expressions], seeds, rates)
    return [Atom(table, rate_of_ref(rates, e.ref)) for e in expressions]


@overload
def time_derivative(
    expressions: Atom, rates: Mapping[Atom, Atom | float] | None = None
) -> Atom: ...


@overload
def time_derivative(
    expressions: Sequence[Atom], rates: Mapping[Atom, Atom | float] | None = None
) -> list[Atom]: ...


def time_derivative(
    expressions: Atom | Sequence[Atom], rates: Mapping[Atom, Atom | float] | None = None
) -> Atom | list[Atom]:
    """The total time derivative: df/dq q' + df/dq' q'' + df/dt.

    Coordinates and velocities know their rates, parameters have none.  An input, an acceleration
    or an unknown needs its rate in ``rates``.
    """
    several = [expressions] if isinstance(expressions, Atom) else list(expressions)
    if not several:
        return []
    table = common_table(several)
    direction: dict[Atom, Atom | float] = dict(rates or {})
    for atom in table.live(e.ref for e in several):
        symbol = table.symbols.get(atom)
        handle = Atom(table, atom)
        if symbol is None or handle in direction:
            continue
        if symbol.rate:
            direction[handle] = Atom(table, symbol.rate)
        elif symbol.kind is Kind.TIME:
            direction[handle] = 1
        elif symbol.kind not in (Kind.PARAMETER, Kind.FREE):
            raise DomainError(
                f"the expression depends on {symbol.name}, an {symbol.kind.name.lower()} without "
                f"a rate: give time_derivative(…, rates={{{symbol.name}: …}})"
            )
    result = directional(several, direction)
    return result[0] if isinstance(expressions, Atom) else result


# ------------------------------------------------------------------------------ sweeps


def sweep_forward(
    table: Table, refs: Iterable[int], seeds: Mapping[int, int], rates: dict[int, int]
) -> None:
    """Complete ``rates`` (atom -> its rate, 0 included) for all that the references depend on.

    What ``rates`` already holds is not computed again: that is the memory of `diff`.
    """
    for atom in table.missing(refs, rates):
        code = table.ops[atom]
        if code <= op.SYMBOL:
            rates[atom] = seeds.get(atom, 0)
            continue
        rates[atom] = rate_of_atom(table, atom, code, rates)


def rate_of_atom(table: Table, atom: int, code: int, rates: Mapping[int, int]) -> int:
    """The rate of one atom from those of its operands."""
    left, right = table.left[atom], table.right[atom]
    if code == op.ADD:
        return table.add(rates[left], rate_of_ref(rates, right))
    if code == op.MUL:
        a, b = rates[left], rates[right]
        if not a:
            return table.mul(left, b) if b else 0
        return table.add(table.mul(a, right), table.mul(left, b)) if b else table.mul(a, right)
    operands = table.operands(atom)
    if not any(rates[abs(r)] for r in operands):
        return 0
    if code == op.SELECT:
        yes, no = operands[1], operands[2]
        return table.select(left, rate_of_ref(rates, yes), rate_of_ref(rates, no))
    if code == op.MIN or code == op.MAX:
        first = table.less(left, right) if code == op.MIN else table.less(right, left)
        return table.select(first, rate_of_ref(rates, left), rate_of_ref(rates, right))
    total = 0
    for operand, partial in partials(table, atom, lambda r: bool(rates[abs(r)])):
        rate = rate_of_ref(rates, operand)
        if rate:
            total = table.add(total, table.mul(partial, rate))
    return total


def rate_of_ref(rates: Mapping[int, int], ref: int) -> int:
    """The rate of a signed reference, from those of the atoms."""
    return rates[ref] if ref >= 0 else -rates[-ref]


def _seeds(table: Table, rates: Mapping[Atom, Atom | float]) -> dict[int, int]:
    ws = table.workspace
    return {symbol_ref(table, symbol): ws.atom(rate).ref for symbol, rate in rates.items()}


def symbol_ref(table: Table, symbol: Atom) -> int:
    """The reference of a symbol of the table; anything else is refused."""
    if not getattr(symbol, "is_symbol", False):
        raise DomainError(f"derivatives are taken by symbols; {symbol!r} is not one")
    if symbol.table is not table:
        raise WorkspaceError(
            f"the symbol {symbol!r} belongs to workspace {symbol.table.name}, "
            f"the expression to {table.name}"
        )
    return symbol.ref


def common_table(expressions: Sequence[Atom]) -> Table:
    """The table all expressions belong to; two of them are refused."""
    table = expressions[0].table
    for e in expressions:
        table.workspace.atom(e)
    return table
