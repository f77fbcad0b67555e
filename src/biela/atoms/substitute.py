"""Substitution, in one walk over the atoms and without expanding them.

The same walk copies expressions from one workspace to another: that is a substitution whose result
is built in a different table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.external import ExternalFunction
from biela.atoms.table import Table
from biela.errors import DomainError, WorkspaceError


@overload
def substitute(expressions: Atom, values: Mapping[Atom, Atom | float]) -> Atom: ...


@overload
def substitute(expressions: Sequence[Atom], values: Mapping[Atom, Atom | float]) -> list[Atom]: ...


def substitute(
    expressions: Atom | Sequence[Atom], values: Mapping[Atom, Atom | float]
) -> Atom | list[Atom]:
    """Replace symbols by expressions or numbers, all of them at once.

    >>> from biela.atoms import Workspace, substitute
    >>> ws = Workspace()
    >>> x, y = ws.symbols("x y")
    >>> substitute(x + 2 * y, {x: y, y: x})
    y + 2*x
    """
    several = [expressions] if isinstance(expressions, Atom) else list(expressions)
    if not several:
        return []
    table = several[0].table
    mapping: dict[int, int] = {}
    for symbol, value in values.items():
        if not getattr(symbol, "is_symbol", False):
            raise DomainError(f"only symbols can be substituted; {symbol!r} is not one")
        mapping[table.workspace.atom(symbol).ref] = table.workspace.atom(value).ref
    refs = replace(table, [table.workspace.atom(e).ref for e in several], mapping)
    result = [Atom(table, ref) for ref in refs]
    return result[0] if isinstance(expressions, Atom) else result


def replace(table: Table, refs: Sequence[int], mapping: Mapping[int, int]) -> list[int]:
    """Replace atoms (any, not only symbols) by references; unchanged atoms stay themselves."""
    new = table.substitutions.setdefault(tuple(sorted(mapping.items())), dict(mapping))
    for atom in table.missing(refs, new):
        operands = table.operands(atom)
        moved = [new[r] if r >= 0 else -new[-r] for r in operands]
        if all(a == b for a, b in zip(operands, moved, strict=True)):
            new[atom] = atom
        else:
            new[atom] = table.rebuild(table.ops[atom], moved, table.payload(atom))
    return [new[r] if r >= 0 else -new[-r] for r in refs]


def transplant(
    source: Table, refs: Sequence[int], target: Table, mapping: Mapping[int, int]
) -> list[int]:
    """Copy expressions into another table; ``mapping`` gives the new reference of each symbol.

    The mapping may also name inner atoms, which are then not copied but replaced.
    """
    new: dict[int, int] = dict(mapping)
    for atom in source.missing(refs, new):
        code = source.ops[atom]
        if code == op.CONSTANT:
            new[atom] = target.constant(source.values[atom])
        elif code == op.SYMBOL:
            raise WorkspaceError(
                f"the symbol {source.symbols[atom].name} of workspace {source.name} has no "
                f"counterpart in workspace {target.name}"
            )
        else:
            payload = source.payload(atom)
            if code == op.PIECEWISE:
                payload = target.add_piecewise(source.piecewise[payload])
            elif code == op.EXTERNAL:
                function = source.externals[payload]
                payload = target.add_external(ExternalFunction(function.name, function.arity))
                target.externals[payload].adopt(function)
            operands = [new[r] if r >= 0 else -new[-r] for r in source.operands(atom)]
            new[atom] = target.rebuild(code, operands, payload)
    return [new[r] if r >= 0 else -new[-r] for r in refs]
