"""How regular diagonal blocks are, by the numbers of a Jacobian at one or more positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.graph.adjacency import Integers
from biela.graph.pattern import Pattern

__all__ = ["BlockValues"]

#: Choices of rows or columns that are tried for one block.
_TRIED = 200


class BlockValues:
    """Numbers of the entries of a pattern, to choose blocks by.

    A pattern holds every entry that can be different from zero; at a given position some are zero,
    and a block that is regular by its pattern may be singular by its numbers.  Rows are scaled by
    their greatest number, so that the choice does not depend on units.

    Args:
        pattern: the entries.
        values: a number an entry, in the order of `pattern.entries`; or several rows of them, one a
            position.
        tolerance: least singular value below which a block is nearly singular.

    Raises:
        ShapeError: not one number an entry.
    """

    def __init__(self, pattern: Pattern, values: ArrayLike, tolerance: float = 1e-3) -> None:
        numbers = np.atleast_2d(np.asarray(values, dtype=np.float64))
        if numbers.ndim != 2 or numbers.shape[1] != pattern.nnz or not len(numbers):
            raise ShapeError(
                f"values of shape {np.shape(values)} do not give each of the {pattern.nnz} entries "
                f"a number"
            )
        self.pattern = pattern
        self.tolerance = tolerance
        scale = np.zeros((len(numbers), pattern.rows))
        for sample, row in zip(scale, np.abs(numbers), strict=True):
            np.maximum.at(sample, pattern.entry_rows, row)
        self.values = numbers / np.where(scale > 0, scale, 1.0)[:, pattern.entry_rows]

    @classmethod
    def of_matrices(
        cls, pattern: Pattern, matrices: ArrayLike, tolerance: float = 1e-3
    ) -> BlockValues:
        """The values in a dense matrix, or in several of one shape.

        Raises:
            ShapeError: the matrices have another shape than the pattern.
        """
        arrays = np.asarray(matrices, dtype=np.float64)
        if arrays.shape[-2:] != pattern.shape:
            raise ShapeError(f"matrices {arrays.shape} are not of the shape {pattern.shape}")
        return cls(pattern, arrays[..., pattern.entry_rows, pattern.entries], tolerance)

    def part(self, rows: Integers, columns: Integers) -> BlockValues:
        """Those of some rows and columns, in that order; rows stay scaled as they are."""
        inner = self.pattern.permuted(rows, columns)
        width = max(self.pattern.columns, 1)
        keys = self.pattern.entry_rows * width + self.pattern.entries
        wanted = rows[inner.entry_rows] * width + columns[inner.entries]
        found = BlockValues(inner, np.zeros((1, inner.nnz)), self.tolerance)
        found.values = self.values[:, np.searchsorted(keys, wanted)]
        return found

    def least_singular_value(self, rows: Sequence[int], columns: Sequence[int]) -> float:
        """The least singular value of a block, over all positions; its rows are scaled."""
        blocks = self._block(rows, columns)
        if blocks.shape[1:] == (1, 1):
            return float(np.abs(blocks).min())
        return float(np.linalg.svd(blocks, compute_uv=False)[:, -1].min())

    def best_rows(self, rows: Sequence[int], columns: Sequence[int]) -> list[int] | None:
        """As many rows as columns that make the best block; None if all are nearly singular."""
        best, chosen = self.tolerance, None
        for some in islice(combinations(rows, len(columns)), _TRIED):
            value = self.least_singular_value(some, columns)
            if value > best:
                best, chosen = value, list(some)
        return chosen

    def best_block(
        self, rows: Sequence[int], columns: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """The largest block that is not nearly singular, and of those the best."""
        for q in range(min(len(rows), len(columns)), 0, -1):
            best, chosen = self.tolerance, None
            for r in islice(combinations(rows, q), _TRIED):
                for c in islice(combinations(columns, q), _TRIED):
                    value = self.least_singular_value(r, c)
                    if value > best:
                        best, chosen = value, (list(r), list(c))
            if chosen is not None:
                return chosen
        return [], []

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> NDArray[np.float64]:
        blocks = np.zeros((len(self.values), len(rows), len(columns)))
        start, entries = self.pattern.start, self.pattern.entries
        for a, i in enumerate(rows):
            here = entries[start[i] : start[i + 1]]
            for b, c in enumerate(columns):
                k = int(np.searchsorted(here, c))
                if k < len(here) and here[k] == c:
                    blocks[:, a, b] = self.values[:, start[i] + k]
        return blocks
