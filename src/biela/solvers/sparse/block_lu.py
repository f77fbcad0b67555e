"""Static-pattern LU of square unsymmetric matrices without a bordered block form worth having."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import BielaError, ShapeError, SingularityError
from biela.graph.adjacency import integer_array
from biela.solvers.sparse.block_ldlt import BlockLDLT
from biela.solvers.sparse.pattern import SymmetricPattern
from biela.solvers.sparse.trust import require_finite

__all__ = ["BlockLU"]

Reals = NDArray[np.float64]


class BlockLU:
    """LU of square matrices with one pattern, ordered once; for A and its transpose at once.

    The symmetric matrix

        [ 0  Aᵀ ] [x]   [c]
        [ A  0  ] [y] = [b]

    has A x = b and Aᵀ y = c in it. Eliminated in pairs (column, row), with the pivots [[0, a], [a,
    0]] that a matching of large entries chose, its LDLᵀ is the LU of A without row exchanges, by
    the fronts of `BlockLDLT`. Pivots are thus those of the first values; later ones that cancel are
    refused, and every solution is refined if its backward error asks for it, and refused if it does
    not fall below 1e-8.

    >>> solver = BlockLU(2, [0, 0, 1], [0, 1, 0], [2.0, 1.0, 4.0])
    >>> solver.factor([2.0, 1.0, 4.0])
    >>> solver.solve([4.0, 4.0])
    array([1., 2.])

    Args:
        size: rows and columns of the matrix.
        rows: row of each entry; entries at one place are added.
        columns: column of each entry.
        values: typical values of the entries, by which pivots are chosen.
        kinds: as for `BlockLDLT`.

    Attributes:
        backward_error: max|r| / (max|A| max|x| + max|b|) of the last solution.

    Raises:
        ShapeError: an entry outside of the matrix, or no value for each.
        DomainError: a value that is not finite.
        SingularityError: the pattern has no pivot for some column, whatever the values.
    """

    def __init__(
        self,
        size: int,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        kinds: int = 24,
    ) -> None:
        i, j = integer_array("rows", rows), integer_array("columns", columns)
        if np.any((i < 0) | (i >= size)) or np.any((j < 0) | (j >= size)):
            raise ShapeError(f"an entry is outside of a matrix of {size} rows and columns")
        self.size = size
        self.rows, self.columns = i, j
        values = self._checked(values)
        self.symmetric = BlockLDLT(
            SymmetricPattern(2 * size, i + size, j),
            range(size, 2 * size),
            values=values,
            kinds=kinds,
        )
        if len(self.symmetric.pairs) < size:
            alone = np.setdiff1d(np.arange(size), self.symmetric.pairs[:, 0])
            raise SingularityError(
                f"the matrix is singular by its pattern: no row is left for column {alone[0]}"
            )
        self.backward_error: float | None = None

    def factor(self, values: ArrayLike) -> None:
        """Factor the matrix with these values of its entries.

        Raises:
            ShapeError: not one value an entry.
            DomainError: a value that is not finite.
            SingularityError: a pivot has cancelled; the columns are not independent, or others
                should have been chosen: make another solver with these values.
        """
        rank = self.symmetric.factor(self._checked(values))
        if rank < 2 * self.size:
            self.symmetric.rank = None
            raise SingularityError(
                f"{(2 * self.size - rank + 1) // 2} of the pivots of this order are zero: the "
                "matrix is singular, or a solver made with these values would order it otherwise"
            )

    def solve(self, b: ArrayLike) -> Reals:
        """Solve A x = b for one right-hand side, or for each column of several.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
            SingularityError: the backward error stays above 1e-8: make another solver with these
                values.
        """
        return self._part(b, first=False)

    def solve_transposed(self, c: ArrayLike) -> Reals:
        """Solve Aᵀ y = c likewise.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
            SingularityError: the backward error stays above 1e-8: make another solver with these
                values.
        """
        return self._part(c, first=True)

    def _part(self, right: ArrayLike, first: bool) -> Reals:
        """A solution with its right-hand side in the first or second half of the whole."""
        if self.symmetric.rank is None:
            raise BielaError("BlockLU: no matrix was factored yet; call factor first")
        n = self.size
        right = np.asarray(right, dtype=np.float64)
        if right.shape[:1] != (n,) or right.ndim > 2:
            raise ShapeError(f"BlockLU: 'b' has shape {right.shape} where ({n},) is needed")
        whole = np.zeros((2 * n, *right.shape[1:]))
        whole[:n] = right if first else 0.0
        whole[n:] = 0.0 if first else right
        try:
            x = self.symmetric.solve(whole)
        except SingularityError:
            raise SingularityError(
                "BlockLU: the pivots of this order lose too many digits, the backward error stays "
                "above 1e-8 after refinement; make another solver with these values"
            ) from None
        self.backward_error = self.symmetric.backward_error
        return np.array(x[n:] if first else x[:n])

    def _checked(self, values: ArrayLike) -> Reals:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != self.rows.shape:
            raise ShapeError(
                f"BlockLU: 'values' has shape {array.shape} where {self.rows.shape} is needed"
            )
        require_finite("BlockLU", array, self.rows, self.columns)
        return array
