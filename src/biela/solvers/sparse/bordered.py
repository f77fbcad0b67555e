"""Repeated solutions of unsymmetric systems in bordered block triangular form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import BielaError, ShapeError, SingularityError
from biela.graph.adjacency import integer_array
from biela.solvers.sparse.trust import require_finite

__all__ = ["BorderedBlocks"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Blocks = Iterable[tuple[Sequence[int], Sequence[int]]]

#: Backward errors above this are refined, once.
REFINED_ABOVE = 1e-13


class BorderedBlocks:
    """Block elimination of sparse matrices in bordered block triangular form.

        [ T  B ] [x_T]   [b_T]        T block lower triangular,
        [ C  A ] [x_A] = [b_A]        B the border columns, C and A the band rows

    as an ordering of the dependent Jacobian Φ_q^d finds it. Diagonal blocks are inverted with
    pivoting inside each; the border is solved by its Schur complement. There may be more rows than
    columns (redundant constraints): the band is then solved by least squares, exact for consistent
    rows. Blocks that are singular in this position give rows and columns to the band and border for
    this factorisation. Where it is small and its blocks are of order three at most, the whole runs
    as straight-line native code.

    >>> solver = BorderedBlocks((2, 2), [0, 1, 1], [0, 0, 1], [([0], [0]), ([1], [1])])
    >>> solver.factor([2.0, 1.0, 4.0])
    >>> solver.solve([2.0, 9.0])
    array([1., 2.])

    Args:
        shape: rows and columns of the matrix.
        rows: row of each entry; entries at one place are added.
        columns: column of each entry.
        blocks: rows and columns of each diagonal block, in order of solution.
        border: columns that belong to no block.
        band: rows that belong to no block.
        spare: columns that may be demoted at a time.
        native: whether straight-line code may be made.

    Attributes:
        rank: number of independent columns, all of them, or None before a factorisation.
        demoted: columns that went to the border in the last factorisation.
        backward_error: max|r| / (max|A| max|x| + max|b|) of the last solution; for a transposed
            one too. With redundant rows that contradict each other it is the contradiction.
        inconsistency: length of what redundant rows leave of the last right-hand side.
        plan, addresses, work, state: what the routines of `bordered_routines` need.

    Raises:
        ShapeError: blocks, border and band do not cover the matrix once, or T is not triangular.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        rows: ArrayLike,
        columns: ArrayLike,
        blocks: Blocks,
        border: Sequence[int] = (),
        band: Sequence[int] = (),
        *,
        spare: int = 8,
        native: bool = True,
    ) -> None:
        self.shape = shape
        self.rows, self.columns = integer_array("rows", rows), integer_array("columns", columns)
        self.blocks = [([*map(int, r)], [*map(int, c)]) for r, c in blocks]
        self.border, self.band = [*map(int, border)], [*map(int, band)]
        self.native = native
        self._check()
        n = sum(len(c) for _, c in self.blocks)
        self.spare = min(spare, n)
        self._plan(n)
        m, k = shape
        self.state: Integers = np.zeros(
            2 + 2 * self.spare + max(len(self.band), len(self.border)) + self.spare, dtype=np.int64
        )
        self._A = np.zeros(len(self.rows))
        self._y = np.zeros(m + k + self.spare)
        self.rank: int | None = None
        self.demoted: Integers = np.zeros(0, dtype=np.int64)
        self.backward_error: float | None = None
        self.inconsistency = 0.0

    def factor(self, values: ArrayLike) -> None:
        """Factor the matrix with these values of its entries.

        Raises:
            ShapeError: not one value an entry.
            DomainError: a value that is not finite.
            SingularityError: the columns are not independent, or too many blocks are singular.
        """
        from biela.solvers.sparse import bordered_routines as routines

        A = self._checked("values", values, len(self._A))
        require_finite("BorderedBlocks", A, self.rows, self.columns)
        np.copyto(self._A, A)
        self.rank = None
        status = routines.bordered_factor(self.plan, self.addresses, self._A, self.work, self.state)
        n, order = int(self.plan[0]), self._column_order
        count = int(self.state[0])
        first = 2 + self.spare
        self.demoted = order[self.state[first : first + count]]
        if status == routines.TOO_MANY_DEMOTED:
            raise SingularityError(
                f"more than {self.spare} columns of singular diagonal blocks would go to the "
                "border; order the matrix by its values in this position, or give more spare"
            )
        if status == routines.SINGULAR:
            rank = n - count + int(self.state[1])
            raise SingularityError(
                f"the matrix has {self.shape[1]} columns and, to working precision, rank {rank}: "
                "choose other independent coordinates, or leave the singular position"
            )
        self.rank = self.shape[1]

    def solve(self, b: ArrayLike) -> Reals:
        """Solve for one right-hand side, a number a row, or for each column of several.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
        """
        return self._solutions(b, transposed=False)

    def solve_transposed(self, c: ArrayLike) -> Reals:
        """Solve Aᵀ y = c: multipliers, a number a row. With redundant rows one of the solutions.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
        """
        return self._solutions(c, transposed=True)

    def merged(self) -> BorderedBlocks:
        """The form in which blocks that were singular at the last factorisation join the next.

        It helps where a block is nearly singular: pivots are then looked for in both. It cannot
        where it is exactly singular, as the determinant of T is that of its blocks.
        """
        lost = set(self.demoted.tolist())
        joined: list[tuple[list[int], list[int]]] = []
        open_ = False
        for rows, columns in self.blocks:
            if open_:
                joined[-1] = ([*joined[-1][0], *rows], [*joined[-1][1], *columns])
            else:
                joined.append((rows, columns))
            open_ = bool(lost & set(columns))
        return BorderedBlocks(
            self.shape, self.rows, self.columns, joined, self.border, self.band, spare=self.spare
        )

    # --- inside -----------------------------------------------------------------------------------

    def _solutions(self, b: ArrayLike, transposed: bool) -> Reals:
        if self.rank is None:
            raise BielaError("BorderedBlocks: no matrix was factored; call factor first")
        size, result = self.shape[::-1] if transposed else self.shape
        b = np.asarray(b, dtype=np.float64)
        if b.ndim == 2:
            found = [self._solutions(column, transposed) for column in b.T]
            return np.stack(found, axis=1) if found else np.zeros((result, 0))
        b = self._checked("b", b, size)
        x = np.zeros(result)
        self._solve(b, x, transposed)
        rest = self.inconsistency
        r, error = self._residual(b, x, transposed)
        if error > REFINED_ABOVE:
            change = np.zeros(result)
            self._solve(r, change, transposed)
            _, better = self._residual(b, x + change, transposed)
            if better < error:
                x, error = x + change, better
        self.inconsistency = rest
        self.backward_error = error
        return x

    def _solve(self, b: Reals, x: Reals, transposed: bool) -> None:
        from biela.solvers.sparse import bordered_routines as routines

        factors = self._A, self.work, self.state
        if transposed:
            routines.bordered_solve_transposed(self.plan, *factors, b, x, self._y)
            self.inconsistency = 0.0
        else:
            self.inconsistency = routines.bordered_solve(
                self.plan, self.addresses, *factors, b, x, self._y
            )

    def _residual(self, b: Reals, x: Reals, transposed: bool) -> tuple[Reals, float]:
        to, of = (self.columns, self.rows) if transposed else (self.rows, self.columns)
        r = b - np.bincount(to, self._A * x[of], minlength=len(b))
        scale = np.abs(self._A).max(initial=0.0) * np.abs(x).max(initial=0.0)
        scale += np.abs(b).max(initial=0.0)
        largest = np.abs(r).max(initial=0.0)
        return r, float(largest / scale) if largest else 0.0

    def _check(self) -> None:
        m, n = self.shape
        rows = [*(i for r, _ in self.blocks for i in r), *self.band]
        columns = [*(j for _, c in self.blocks for j in c), *self.border]
        for name, found, count in (("row", rows, m), ("column", columns, n)):
            missing = set(range(count)) - set(found)
            if missing or len(found) != count:
                at = f"{name} {min(missing)} is missing" if missing else f"a {name} is there twice"
                raise ShapeError(
                    f"blocks, border and band hold each of the {count} {name}s once; {at}"
                )
        for r, c in self.blocks:
            if len(r) != len(c):
                raise ShapeError(f"a diagonal block has {len(r)} rows and {len(c)} columns")
        if len(self.rows) != len(self.columns):
            raise ShapeError(f"{len(self.rows)} rows and {len(self.columns)} columns of entries")
        for name, entries, count in (("row", self.rows, m), ("column", self.columns, n)):
            outside = entries[(entries < 0) | (entries >= count)]
            if len(outside):
                raise ShapeError(f"{name} {outside[0]} is outside of a matrix of {count} {name}s")

    def _plan(self, n: int) -> None:
        """Entries by row in block order, and where all is kept."""
        from biela.solvers.sparse.bordered_code import BlockEntries, compile_bordered
        from biela.solvers.sparse.bordered_schur import HEADER

        p, q = len(self.border), len(self.band)
        row_order = np.array([*(i for r, _ in self.blocks for i in r), *self.band], dtype=np.int64)
        column_order = np.array(
            [*(j for _, c in self.blocks for j in c), *self.border], dtype=np.int64
        )
        self._column_order = column_order
        row_place, column_place = np.argsort(row_order), np.argsort(column_order)
        rows, columns = row_place[self.rows], column_place[self.columns]
        bounds = np.cumsum([0, *(len(c) for _, c in self.blocks)])
        block = np.repeat(np.arange(len(self.blocks)), np.diff(bounds))
        inside = (rows < n) & (columns < n)
        above = np.flatnonzero(inside)[block[rows[inside]] < block[columns[inside]]]
        if len(above):
            e = above[0]
            raise ShapeError(
                f"entry ({self.rows[e]}, {self.columns[e]}) stands above the diagonal blocks; "
                "order the blocks, or put its column into the border"
            )
        order = np.lexsort((columns, rows))
        start = np.searchsorted(rows[order], np.arange(n + q + 1))
        inverses = np.cumsum([0, *(len(c) ** 2 for _, c in self.blocks)])
        wide = -(-(p + self.spare) // 4) * 4  # whole vectors
        W = int(inverses[-1])
        G = W + n * wide
        tau = G + (q + self.spare) * wide
        room = tau + 2 * wide
        parts = [bounds, inverses[:-1], start, columns[order], order, row_order, column_order]
        starts = len(HEADER) + np.cumsum([0, *(len(part) for part in parts)])
        counts = [n, p, q, len(self.blocks), self.spare]
        header = [*counts, *starts[:-1].tolist(), W, G, tau, room, wide]
        self.plan: Integers = np.concatenate([header, *parts]).astype(np.int64)
        self.work: Reals = np.zeros(room)
        entries = list(zip(columns[order].tolist(), order.tolist(), strict=True))
        form = BlockEntries(
            bounds.tolist(),
            p,
            [entries[a:b] for a, b in zip(start.tolist(), start.tolist()[1:], strict=False)],
            row_order.tolist(),
            column_order.tolist(),
            inverses[:-1].tolist(),
            *(W, G, tau, wide),
        )
        self._code, addresses = compile_bordered(form) if self.native else (None, ())
        self.addresses: Integers = np.array(addresses, dtype=np.int64)

    @staticmethod
    def _checked(name: str, values: ArrayLike, size: int) -> Reals:
        array: Any = np.ascontiguousarray(values, dtype=np.float64)
        if array.shape != (size,):
            raise ShapeError(
                f"BorderedBlocks: '{name}' has shape {array.shape} where ({size},) is needed"
            )
        return np.array(array) if not array.flags.writeable else array
