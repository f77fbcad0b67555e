"""What fronts have in common that the same straight-line code eliminates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

__all__ = ["COUNTED", "EXTRA", "NEAR", "PAIR", "Child", "FrontKind"]

#: Rows of a remainder beside those of the matrix: right-hand side, and two sums of magnitudes.
EXTRA = 3
#: A kept pivot below this part of what was accumulated in it has lost digits worth refining.
NEAR = 1e-4
#: Roles of a row: its pivot is judged by all magnitudes accumulated in it; it starts a pair.
COUNTED, PAIR = 1, 2


@dataclass(frozen=True)
class Child:
    """What a child passes on: the number in this front of its rows, and masks of them by column."""

    local: tuple[int, ...]
    masks: tuple[int, ...]


@dataclass(frozen=True)
class FrontKind:
    """What fronts of a kind have in common.

    `entries` are the places (row, column) of entries of the matrix, in the order of the list of
    their sources; `roles` are those of all rows; of two columns that are eliminated together the
    first has the role `PAIR`.
    """

    w: int
    h: int
    entries: tuple[tuple[int, int], ...]
    roles: tuple[int, ...]
    children: tuple[Child, ...]

    @property
    def m(self) -> int:
        """Number of rows."""
        return self.w + self.h

    @cached_property
    def masks(self) -> list[int]:
        """By column, a bit for each row that is not zero after elimination."""
        now = [0] * self.m
        for i, j in self.entries:
            now[j] |= 1 << i
        for child in self.children:
            for b, mask in enumerate(child.masks):
                for a in range(b, len(child.local)):
                    if mask >> a & 1:
                        now[child.local[b]] |= 1 << child.local[a]
        for columns in self.pivots:
            below = 0
            for j in columns:
                below |= now[j] | 1 << j
            for j in columns:
                now[j] = below >> j << j
            for i in range(columns[-1] + 1, self.m):
                if below >> i & 1:
                    now[i] |= below >> i << i
        return now

    @cached_property
    def pivots(self) -> list[list[int]]:
        """The columns that are eliminated together, one or two at a time."""
        found, j = [], 0
        while j < self.w:
            size = 2 if self.roles[j] & PAIR else 1
            found.append(list(range(j, j + size)))
            j += size
        return found

    @cached_property
    def panel(self) -> dict[tuple[int, int], int]:
        """Where the factors are kept: after two numbers a pivot, the columns without zeros."""
        found: dict[tuple[int, int], int] = {}
        for columns in self.pivots:
            for j in columns:
                for i in range(j, self.m):
                    if self.masks[j] >> i & 1:
                        found[i, j] = 2 * self.w + len(found)
        return found

    @property
    def room(self) -> int:
        """Numbers kept in the panel."""
        return 2 * self.w + len(self.panel)

    @property
    def operations(self) -> int:
        """How many multiplications the code of a front has, about."""
        count = 0
        for j in range(self.w):
            below = (self.masks[j] >> (j + 1)).bit_count()
            count += below * (below + 1) // 2 + 3 * below + 8
        return count
