"""Rows of equations with a factor of two: squares of lengths differentiate to 2 (C - B).

Half of such a row has the same solution and saves the doublings; a power of two rounds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom
from biela.atoms import opcodes as op
from biela.atoms.table import Table

__all__ = ["half", "halved_rows", "halves"]


def half(atom: Atom) -> Atom | None:
    """Half of an expression, if all its terms have an even number as a factor; else None.

    >>> from biela.atoms import Workspace
    >>> x, y = Workspace().symbols("x y")
    >>> half(2 * x * y - 6 * x)
    x*y - 3*x
    >>> half(2 * x + y) is None
    True
    """
    found = _half(atom.table, abs(atom.ref), {})
    return None if found is None else Atom(atom.table, found if atom.ref >= 0 else -found)


def _half(table: Table, atom: int, known: dict[int, int | None]) -> int | None:
    if atom not in known:
        known[atom] = _half_of(table, atom, known)
    return known[atom]


def _half_of(table: Table, atom: int, known: dict[int, int | None]) -> int | None:
    code = table.ops[atom]
    if code == op.CONSTANT:
        value = table.values[atom]
        even = isinstance(value, int) and value % 2 == 0
        return table.constant(value // 2) if even else None
    if code not in (op.ADD, op.MUL):
        return None
    operands = [table.left[atom], table.right[atom]]
    for k, ref in enumerate(operands):
        found = _half(table, abs(ref), known)
        if found is not None:
            operands[k] = found if ref >= 0 else -found
            if code == op.MUL:
                return table.mul(*operands)
        elif code == op.ADD:
            return None
    return table.add(*operands) if code == op.ADD else None


def halved_rows(J: Sequence[Sequence[Atom]]) -> tuple[list[list[Atom]], list[bool]]:
    """A matrix with those of its rows halved that lose a factor, and which these are.

    More rows than columns stay as they are: in a least squares sense a factor is a weight.
    """
    if J and len(J) != len(J[0]):
        return [list(row) for row in J], [False] * len(J)
    rows: list[list[Atom]] = []
    which: list[bool] = []
    for row in J:
        found = [half(entry) for entry in row]
        known = [entry for entry in found if entry is not None]
        which.append(len(known) == len(row))
        rows.append(known if which[-1] else list(row))
    return rows, which


def halves(values: Sequence[Atom], which: Sequence[bool]) -> list[Atom]:
    """Values of rows, of those that are halved the half."""
    found = []
    for value, is_halved in zip(values, which, strict=True):
        less = half(value) if is_halved else value
        found.append(0.5 * value if less is None else less)
    return found
