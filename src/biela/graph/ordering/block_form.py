"""Rows and columns in an order that shows a block lower triangular matrix with a border.

[ T  B ]    T block lower triangular: only its diagonal blocks are factored
[ C  A ]    B the border columns, C and A the band rows
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.graph.adjacency import Integers
from biela.graph.pattern import Pattern

__all__ = ["Block", "BlockForm"]

#: Rows and columns of a diagonal block.
Block = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class BlockForm:
    """An order of the rows and columns of a pattern, in blocks.

    Attributes:
        blocks: rows and columns of each diagonal block, in the order in which they are solved.
        border: columns at the right edge.
        band: rows at the bottom.
    """

    blocks: tuple[Block, ...]
    border: tuple[int, ...] = ()
    band: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        blocks: Iterable[tuple[Sequence[int], Sequence[int]]],
        border: Iterable[int] = (),
        band: Iterable[int] = (),
    ) -> BlockForm:
        """The form with these blocks, from any sequences of integers."""
        plain = tuple((tuple(map(int, r)), tuple(map(int, c))) for r, c in blocks)
        return cls(plain, tuple(map(int, border)), tuple(map(int, band)))

    @cached_property
    def rows(self) -> Integers:
        """The order of the rows: those of the blocks, then the band."""
        return np.array([*(i for r, _ in self.blocks for i in r), *self.band], dtype=np.int64)

    @cached_property
    def columns(self) -> Integers:
        """The order of the columns: those of the blocks, then the border."""
        return np.array([*(j for _, c in self.blocks for j in c), *self.border], dtype=np.int64)

    @property
    def orders(self) -> dict[int, int]:
        """How many diagonal blocks there are of each order."""
        return dict(sorted(Counter(len(c) for _, c in self.blocks).items()))

    @property
    def bounds(self) -> Integers:
        """Where each diagonal block begins, and where the last one ends."""
        return np.cumsum([0, *(len(c) for _, c in self.blocks)])

    def permuted(self, pattern: Pattern) -> Pattern:
        """A pattern in this order."""
        return pattern.permuted(self.rows, self.columns)
