"""Patterns of sparse symmetric matrices, and the limit between small pivots and rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError

__all__ = ["SymmetricPattern", "drop_threshold"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SymmetricPattern:
    """Which entries of a symmetric matrix are given, and in which order.

    Entry k stands at (`rows[k]`, `columns[k]`) and, off the diagonal, mirrored too: each pair is
    given in one triangle only, whichever. Entries at the same place are added, as in assembly.

    Raises:
        ShapeError: an index outside the matrix, or one pair given in both triangles.
    """

    size: int
    rows: Integers
    columns: Integers

    def __post_init__(self) -> None:
        rows, columns = (np.array(v, dtype=np.int64).ravel() for v in (self.rows, self.columns))
        if len(rows) != len(columns):
            raise ShapeError(f"{len(rows)} rows and {len(columns)} columns of entries given")
        for what, indices in (("row", rows), ("column", columns)):
            outside = indices[(indices < 0) | (indices >= self.size)]
            if len(outside):
                raise ShapeError(
                    f"{what} {outside[0]} is outside of a matrix of {self.size} rows and columns"
                )
        lower = (rows * self.size + columns)[rows > columns]
        upper = (columns * self.size + rows)[rows < columns]
        both = np.intersect1d(lower, upper)
        if len(both):
            i, j = divmod(int(both[0]), self.size)
            raise ShapeError(
                f"entries ({i}, {j}) and ({j}, {i}) are both given; the matrix is symmetric, give "
                "one triangle only"
            )
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)

    @staticmethod
    def saddle_point(M: ArrayLike, Phi: ArrayLike) -> SymmetricPattern:
        """The pattern of [[M, Φᵀ], [Φ, 0]] from the non-zeros of M, lower triangle, and of Φ."""
        M, Phi = np.asarray(M), np.asarray(Phi)
        rows, columns = np.nonzero(np.tril(M))
        constraint, unknown = np.nonzero(Phi)
        n = len(M)
        return SymmetricPattern(
            n + len(Phi),
            np.concatenate([rows, constraint + n]),
            np.concatenate([columns, unknown]),
        )

    def dense(self, values: ArrayLike) -> Reals:
        """The whole matrix, for small ones."""
        A = np.zeros((self.size, self.size))
        np.add.at(A, (self.rows, self.columns), values)
        off = self.rows != self.columns
        np.add.at(A, (self.columns[off], self.rows[off]), np.asarray(values)[off])
        return A


def drop_threshold(ratios: Reals, tolerance: float) -> float:
    """The limit below which pivots are rounding: at least `tolerance`, and above all of a kind.

    Rounding grows along a chain. Redundant rows of forty spatial four-bars leave pivots from 1e-17
    up to 2e-11 of what was accumulated in them, without a gap, while the next one is 1e-3. So what
    follows the dropped ones within a decade is taken for rounding too, up to 1e4 tolerance, and the
    limit is the middle (of the logarithms) of the gap above. Where there is no gap of two decades,
    near a singular position, or where nothing is below `tolerance`, it stays `tolerance`.

    >>> drop_threshold(np.array([3e-16, 4e-13, 2e-12, 8e-12, 4e-3]), 1e-12) > 8e-12
    True
    >>> drop_threshold(np.array([2e-11, 4e-3]), 1e-12)
    1e-12
    """
    rising = np.sort(ratios)
    dropped = int(np.searchsorted(rising, tolerance, side="right"))
    if dropped == 0:
        return tolerance
    top = tolerance
    above = 1.0
    for ratio in rising[dropped:].tolist():
        if ratio > 10 * top:
            above = ratio
            break
        top = ratio
    if top > 1e4 * tolerance or above < 100 * top:
        return tolerance
    return min(float(np.sqrt(top * above)), 1e4 * tolerance)
