"""A small matrix of atoms, with what is known of the size of its entries.

A pivot may be fixed before any number is known only where what is divided by it cannot be large.
So every entry has a bound: the size of a number, 1 for a sine, infinite for a symbol.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.atoms import opcodes as op
from biela.atoms.table import Table
from biela.graph import Pattern

__all__ = ["Entries", "Matrix", "magnitude"]

Entries = list[list[Atom]]

#: How deep an expression is looked into for the bound of its size.
_DEPTH = 12


@dataclass(frozen=True)
class Matrix:
    """Entries and bounds of their size, row by row; rows without columns are kept.

    ``rows`` and ``columns`` say which of the original matrix they come from; ``turned`` that its
    columns have become the rows.
    """

    entries: Entries
    bounds: list[list[float]]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    turned: bool = False

    @classmethod
    def of(cls, J: Sequence[Sequence[Atom]]) -> Matrix:
        """The matrix of given atoms."""
        entries = [list(row) for row in J]
        bounds = [[magnitude(a) for a in row] for row in entries]
        return cls(entries, bounds, tuple(range(len(J))), tuple(range(len(J[0]))))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows), len(self.columns)

    @property
    def zero(self) -> Atom:
        """The number 0 of the workspace."""
        return self.entries[0][0] * 0

    @property
    def pattern(self) -> Pattern:
        """The places that are not identically zero."""
        return Pattern.of_rows([_places(row) for row in self.entries], len(self.columns))

    def row_places(self) -> list[list[int]]:
        """For each row the columns where it is not identically zero."""
        return [_places(row) for row in self.entries]

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """The rows and columns of these numbers."""
        return Matrix(
            [[self.entries[i][j] for j in columns] for i in rows],
            [[self.bounds[i][j] for j in columns] for i in rows],
            tuple(self.rows[i] for i in rows),
            tuple(self.columns[j] for j in columns),
            self.turned,
        )

    def without(self, row: int, column: int) -> Matrix:
        """The matrix without a row and a column."""
        return self.part(
            [i for i in range(len(self.rows)) if i != row],
            [j for j in range(len(self.columns)) if j != column],
        )

    @property
    def transposed(self) -> Matrix:
        """Columns as rows and rows as columns."""
        return Matrix(
            [list(column) for column in zip(*self.entries, strict=True)],
            [list(column) for column in zip(*self.bounds, strict=True)],
            self.columns,
            self.rows,
            not self.turned,
        )


def _places(row: Sequence[Atom]) -> list[int]:
    return [j for j, a in enumerate(row) if a.ref]


def magnitude(atom: Atom) -> float:
    """A bound of the absolute value, whatever the symbols are; infinite where none is seen.

    >>> from biela.atoms import Workspace, sin
    >>> x = Workspace().symbol("x")
    >>> magnitude(2 * sin(x) - 1)
    3.0
    """
    return _bound(atom.table, abs(atom.ref), _DEPTH)


def _bound(table: Table, atom: int, depth: int) -> float:
    code = table.ops[atom]
    if code == op.CONSTANT:
        return abs(float(table.values[atom]))
    if code in (op.SIN, op.COS, op.TANH, op.SIGN):
        return 1.0
    if not depth or code not in (op.ADD, op.MUL, op.POWER_INT):
        return math.inf
    left = _bound(table, abs(table.left[atom]), depth - 1)
    if code == op.POWER_INT:
        return left ** table.right[atom] if left < 1e3 else math.inf
    if math.isinf(left):
        return left
    right = _bound(table, abs(table.right[atom]), depth - 1)
    return left + right if code == op.ADD else left * right
