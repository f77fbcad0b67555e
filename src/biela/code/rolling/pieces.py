"""The equal parts of a function in an order in which they can be computed.

A *piece* is a run of operations: single ones, or rows of a family, which become one loop.  Inside a
loop an operation may read what its own part has computed in the same loop; whatever else it reads
is there before.  Pieces are as long as that allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from biela.code.rolling.families import Family, families
from biela.code.schedule import Schedule

__all__ = ["Family", "Piece", "Rolled", "rolled"]

#: Functions of fewer operations fit into a cache as they are.
SHORT: Final = 1000
#: The part of the operations that loops have to save.
WORTH: Final = 0.25
#: Rows that are taken apart one by one; then all that are left are.
_TAKEN_APART: Final = 50


@dataclass(frozen=True)
class Piece:
    """Operations that are computed one after the other.

    Attributes:
        family: That of the rows, for a loop; None for single operations.
        atoms: The operations, or those of the first part of the family, in order.
    """

    family: Family | None
    atoms: tuple[int, ...]


@dataclass(frozen=True)
class Rolled:
    """A schedule in pieces.

    Attributes:
        pieces: What is computed, in order.
        lanes: For each atom that a loop computes, its atom in the first part, its part, and whether
            the loop computes it (1) or its opposite (-1).
    """

    schedule: Schedule
    pieces: tuple[Piece, ...]
    lanes: Mapping[int, tuple[int, int, int]]

    @property
    def written(self) -> int:
        """How many operations are written."""
        return sum(len(piece.atoms) for piece in self.pieces)


def rolled(schedule: Schedule) -> Rolled | None:
    """A schedule with loops over its equal parts; None where they would not save enough."""
    operations = schedule.operations
    if len(operations) < SHORT:
        return None
    found = families(schedule)
    if sum(f.saved for f in found) < WORTH * len(operations):
        return None
    order = _Order(schedule, found)
    pieces = tuple(order.pieces())
    made = Rolled(schedule, pieces, order.lanes)
    return made if made.written <= (1 - WORTH) * len(operations) else None


class _Order:
    """Puts the rows of families and the operations between them in order."""

    def __init__(self, schedule: Schedule, found: Sequence[Family]) -> None:
        self._schedule, self._families = schedule, found
        self._operations = set(schedule.operations)
        self.lanes: dict[int, tuple[int, int, int]] = {}
        self._rows: list[dict[int, tuple[int, ...]]] = []
        for family in found:
            self._rows.append({row[0]: row for row in family.rows})
            for row in family.rows:
                for lane, ref in enumerate(row):
                    self.lanes[abs(ref)] = row[0], lane, 1 if ref > 0 else -1
        self._single = [a for a in schedule.operations if a not in self.lanes]
        self._done: set[int] = set()
        self._taken_apart = 0

    def pieces(self) -> Iterator[Piece]:
        """The pieces, in order."""
        while self._single or any(self._rows):
            before = len(self._done)
            yield from self._singles()
            for number in range(len(self._families)):
                yield from self._loop(number)
            if len(self._done) == before:
                self._dissolve()

    def _singles(self) -> Iterator[Piece]:
        """All single operations that have what they read."""
        taken = []
        for atom in self._single:
            if all(self._is_there(r) for r in self._schedule.table.operands(atom)):
                taken.append(atom)
                self._done.add(atom)
        if taken:
            self._single = [a for a in self._single if a not in self._done]
            yield Piece(None, tuple(taken))

    def _is_there(self, ref: int) -> bool:
        atom = abs(ref)
        return atom in self._done or atom not in self._operations

    def _loop(self, number: int) -> Iterator[Piece]:
        """All rows of a family that have what they read, in the same loop or before it."""
        family, rows = self._families[number], self._rows[number]
        taken: dict[int, tuple[int, ...]] = {}
        for atom, row in rows.items():
            operands = [abs(r) for r in self._schedule.table.operands(atom)]
            if all(self._is_read(family, o, o in taken) for o in operands):
                taken[atom] = row
        if taken:
            for atom, row in taken.items():
                del rows[atom]
                self._done.update(abs(ref) for ref in row)
            yield Piece(family, tuple(taken))

    def _is_read(self, family: Family, operand: int, inside: bool) -> bool:
        return inside or all(self._is_there(r) for r in family.operands.get(operand, (operand,)))

    def _dissolve(self) -> None:
        """Take the row of the next operation apart: its parts depend on each other."""
        self._taken_apart += 1
        left = [(rows, row) for rows in self._rows for row in rows.values()]
        if self._taken_apart <= _TAKEN_APART:
            left = [min(left, key=lambda found: min(abs(ref) for ref in found[1]))]
        for rows, row in left:
            del rows[row[0]]
            for ref in row:
                del self.lanes[abs(ref)]
            self._single += [abs(ref) for ref in row]
        self._single.sort()
