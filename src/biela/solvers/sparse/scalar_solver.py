"""Repeated solutions of sparse symmetric systems whose pattern never changes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import BielaError, ShapeError
from biela.graph import (
    adjacency,
    elimination_tree,
    factor_pattern,
    minimum_degree,
    postorder,
    renumbered,
    update_targets,
)
from biela.graph.adjacency import integer_array
from biela.solvers.ldlt import DROP_TOLERANCE
from biela.solvers.sparse.independence import Constraints, examine
from biela.solvers.sparse.pattern import SymmetricPattern, drop_threshold
from biela.solvers.sparse.scalar_ldlt import (
    sparse_equilibrate,
    sparse_ldlt_factor,
    sparse_ldlt_refine,
    sparse_ldlt_residual,
    sparse_ldlt_solve,
)
from biela.solvers.sparse.trust import (
    LARGEST_ERROR,
    contradicted,
    redundant,
    refuse_inaccurate,
    refuse_vanished,
)

__all__ = ["NEARLY_DROPPED", "SparseLDLT"]

#: A kept pivot below this part of what was accumulated in it has lost digits worth refining.
NEARLY_DROPPED = 1e-4
#: Backward errors up to here are rounding, and not refined.
ROUNDING = 8 * float(np.finfo(float).eps)
_PASSES = 3
_CURE = (
    "name the multipliers in `late`, and give unknowns without inertia to `BlockLDLT`, which pairs "
    "each with a constraint"
)

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


_NONE: Integers = np.zeros(0, dtype=np.int64)


class SparseLDLT:
    """LDLᵀ of symmetric matrices with one pattern, with multipliers and redundant rows.

    Order, pattern of L and schedule are prepared once. `late` names the rows that must wait for
    their unknowns: the multipliers of a saddle-point matrix. Rows whose pivot is rounding only are
    dropped, see [`sparse_ldlt_factor`][biela.solvers.sparse_ldlt_factor].

    >>> pattern = SymmetricPattern(3, [0, 1, 2, 2], [0, 1, 0, 1])  # two masses and a rod
    >>> solver = SparseLDLT(pattern, late=[2])
    >>> solver.factor([1.0, 3.0, 1.0, -1.0])
    3
    >>> solver.solve([4.0, 0.0, 0.0])
    array([1., 1., 3.])

    Args:
        pattern: the entries, in the order in which `factor` gets their values.
        late: rows to eliminate after all their neighbours that are not late.
        tolerance: part of its accumulated magnitude below which a pivot is dropped; in doubt the
            limit moves into the nearest wide gap, see `drop_threshold`.
        sweeps: at most so many refinement sweeps where something was dropped or nearly was.
        scaled: equilibrate first. It changes no digit of the result; it avoids overflow where
            units are extreme.

    Attributes:
        order: row `order[k]` is the k-th to be eliminated.
        rank: number of pivots kept: the rank of the matrix if all dropped rows are late.
        dropped: rows dropped. A late one is redundant. One that is not late had nothing on its
            diagonal: an unknown without inertia. Late ones beside it may be needed.
        threshold: the limit for dropping by pivots. Where some are small, the rows behind them
            are examined, see `biela.solvers.sparse.independence`, and others may be dropped.
        gap: how many times further from depending on others the rows kept are than those dropped;
            than rounding, where none was dropped. Infinite if no pivot is small, 0 if it would
            have been too much work to find out, nan if the rows were not examined.
        doubtful: rows of which the gap is too small to tell whether they are redundant; where
            there are any, the rank is a choice.
        contradicted: dropped rows that the last solution does not fulfil.
        backward_error: that of the last solution, or None where it was not refined. Over the rows
            that were not dropped; over all where one that is not late was dropped.
    """

    def __init__(
        self,
        pattern: SymmetricPattern,
        late: ArrayLike = (),
        *,
        tolerance: float = DROP_TOLERANCE,
        sweeps: int = 3,
        scaled: bool = False,
    ) -> None:
        self.pattern = pattern
        self.tolerance = tolerance
        self.sweeps = sweeps
        self.scaled = scaled
        n = pattern.size
        graph = adjacency(n, pattern.rows, pattern.columns)
        order = minimum_degree(graph, late)
        order = order[postorder(elimination_tree(renumbered(graph, order)))]
        new = renumbered(graph, order)
        L = factor_pattern(new, elimination_tree(new))
        self.order: Integers = order
        self.start, self.rows = L.start, L.rows
        self.targets: Integers = update_targets(L) + n
        self.scatter: Integers = self._places()
        self._late = np.zeros(n, dtype=np.bool_)
        self._late[integer_array("late", late)] = True
        self._vanished: Integers = np.zeros(0, dtype=np.int64)
        self._A = np.zeros(len(pattern.rows))
        self._LD = np.zeros(n + L.fill)
        self._ratios = np.zeros(n)
        self._flags = np.zeros(n, dtype=np.int64)
        self._scale = np.ones(n)
        self._r, self._y = np.zeros(n), np.zeros(n)
        self.rank: int | None = None
        self.threshold = tolerance
        self.dropped: Integers = np.zeros(0, dtype=np.int64)
        self.backward_error: float | None = None
        self.gap = np.inf
        self.doubtful: Integers = np.zeros(0, dtype=np.int64)
        self._last: tuple[Reals, Reals, Reals] | None = None

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.pattern.size

    @property
    def fill(self) -> int:
        """Number of places below the diagonal of L."""
        return len(self.rows)

    @property
    def ratios(self) -> Reals:
        """Magnitude of each pivot as a part of what was accumulated in it, by row of the matrix."""
        ratios = np.empty(self.size)
        ratios[self.order] = self._ratios
        return ratios

    @property
    def contradicted(self) -> Integers:
        """Dropped rows that the last solution does not fulfil: they contradict the others.

        By more than 1e-8 of what was added up in them.
        """
        if self._last is None:
            return _NONE
        return np.intersect1d(contradicted(self.pattern, self._A, *self._last), self.dropped)

    def factor(self, values: ArrayLike, *, examined: bool = True) -> int:
        """Factor the matrix with these values of its entries; return its rank.

        Where pivots are small, the rows behind them are examined. ``examined=False`` leaves that
        out where the rows are known to be independent: pivots alone decide then, and `gap` is nan.

        Raises:
            ShapeError: not one value an entry of the pattern.
        """
        A = self._checked("values", values, len(self._A))
        np.copyto(self._A, A)
        first, second = self.pattern.rows, self.pattern.columns
        n, entries = self.size, len(self._A)
        self.threshold = self.tolerance
        if self.scaled:
            sparse_equilibrate.compiled(n, entries, first, second, self._A, self._scale, self._y)
            self._A *= self._scale[first]
            self._A *= self._scale[second]
        rank = self._eliminate(self.tolerance)
        small = self._ratios[self._ratios < NEARLY_DROPPED]
        for _ in range(_PASSES):
            # what is dropped leaves its rounding to the rows that follow: look again
            limit = drop_threshold(small, self.threshold)
            if np.count_nonzero(small <= limit) == n - rank:
                break
            self.threshold = limit
            rank = self._eliminate(limit)
            small = self._ratios[self._ratios < NEARLY_DROPPED]
        self._last = None
        self._count(rank)
        self._refines = self.sweeps > 0 and len(small) > 0
        self.gap = np.inf if examined or not len(small) else np.nan
        self.doubtful = _NONE
        if examined and len(small) and not len(self._vanished) and np.isfinite(self._A).all():
            self._examine()
        assert self.rank is not None
        return self.rank

    def solve(self, b: ArrayLike) -> Reals:
        """Solve for one right-hand side, or for each column of a matrix of them.

        The unknowns of dropped rows are 0. The solution is refined where something was dropped or
        nearly was or the backward error exceeds 1e-8, and only as long as it falls. What is not
        finite in the matrix or right-hand side gives nan.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
            SingularityError: a pivot that is not late vanished and the right-hand side is not
                consistent without it, or the backward error stays above 1e-8.
        """
        if self.rank is None:
            raise BielaError("SparseLDLT.solve: no matrix was factored yet; call factor first")
        b = np.asarray(b, dtype=np.float64)
        if b.ndim == 2:
            columns = [self.solve(column) for column in b.T]
            return np.stack(columns, axis=1) if columns else np.zeros((self.size, 0))
        b = self._checked("b", b, self.size)
        if self.scaled:
            b = b * self._scale
        x = b.copy()
        L = self.start, self.rows, self.order
        sparse_ldlt_solve.compiled(self.size, self.fill, *L, self._LD, x, self._y)
        self.backward_error = None
        if self._refines:
            self._refine(b, x)
        self._judge(b, x)
        return x * self._scale if self.scaled else x

    def residual(self, b: ArrayLike, x: ArrayLike) -> Reals:
        """B - A x. In the dropped rows it tells by how much they contradict the others."""
        b, x = self._checked("b", b, self.size), self._checked("x", x, self.size)
        if self.scaled:
            b, x = b * self._scale, x / self._scale
        self._residual(b, x)
        return self._r / self._scale if self.scaled else self._r.copy()

    def c(
        self,
        name: str = "ldlt",
        real: Literal["double", "float"] = "double",
        integer: str = "int32_t",
        sweeps: int = 1,
    ) -> str:
        """Return factorisation and solution as C99 for this pattern, with its schedule as tables.

        `int name_factor(name_state *s, const double *A)` returns the rank, and
        `double name_solve(name_state *s, const double *b, double *x)` the backward error after
        exactly `sweeps` sweeps of refinement. There is no scaling: it would not change the digits.
        The limit for dropping is the `threshold` of the last factorisation in process; pivots alone
        decide, with fixed work. Behind nearly dependent rows a redundant one may then be kept: its
        multiplier means nothing, and contradictory right-hand sides make it grow.
        """
        from biela.solvers.sparse.scalar_c import sparse_ldlt_c

        return sparse_ldlt_c(self, name, real, integer, sweeps)

    @cached_property
    def _constraints(self) -> Constraints:
        return Constraints(self.pattern, self._late, np.zeros(0, dtype=np.int64))

    # --- inside -----------------------------------------------------------------------------------

    def _eliminate(self, tolerance: float, values: Reals | None = None) -> int:
        A = self._A if values is None else values
        schedule = self.start, self.rows, self.order, self.targets, self.scatter
        sizes = self.size, self.fill, len(self._A), len(self.targets)
        out = self._LD, self._y, self._ratios, self._flags
        return int(sparse_ldlt_factor.compiled(*sizes, *schedule, A, tolerance, *out))

    def _count(self, rank: int) -> None:
        self.rank = rank
        self.dropped = np.flatnonzero(self._flags)
        self._vanished = self.dropped[~self._late[self.dropped]] if len(self.dropped) else _NONE

    def _examine(self) -> None:
        """Look at the rows behind small pivots, and factor without those that are redundant."""
        A = factored = self._A
        L = self.start, self.rows, self.order
        entries = self.pattern.rows, self.pattern.columns

        def eliminate(values: Reals, tolerance: float) -> Reals:
            nonlocal factored
            factored = values
            self._count(self._eliminate(tolerance, values))
            return self.ratios

        def solve(b: Reals) -> Reals:
            x = b.copy()
            sparse_ldlt_solve.compiled(self.size, self.fill, *L, self._LD, x, self._y)
            sparse_ldlt_refine.compiled(
                *(self.size, self.fill, len(A), 1, *L, *entries, factored, self._flags, self._LD),
                *(b, x, self._r, self._y),
            )
            return x

        constraints = self._constraints
        constraints.take(A)
        found = examine(
            *(constraints, A, self.ratios, self._flags != 0, self.tolerance),
            *(4.0 * self.fill, eliminate, solve),
        )
        self.gap, self.doubtful = found.gap, found.doubtful
        if found.dropped is not None:
            redundant = np.zeros(self.size, dtype=np.bool_)
            redundant[found.dropped] = True
            eliminate(constraints.without(A, redundant), 0.0)

    def _refine(self, b: Reals, x: Reals) -> None:
        error = self._residual(b, x)
        for _ in range(self.sweeps):
            if error <= ROUNDING:
                break
            better = x.copy()
            new = sparse_ldlt_refine.compiled(
                self.size,
                self.fill,
                len(self._A),
                1,
                *(self.start, self.rows, self.order, self.pattern.rows, self.pattern.columns),
                *(self._A, self._flags, self._LD, b, better, self._r, self._y),
            )
            if not new < error:
                break
            error = new
            x[:] = better
        self.backward_error = error

    def _judge(self, b: Reals, x: Reals) -> None:
        """Refuse what does not solve the system; let what is not finite be seen."""
        error = self._residual(b, x)
        self._last = None
        if not np.isfinite(self._r).all():
            x[:] = np.nan
            return
        if len(self.dropped):
            self._last = b.copy(), x.copy(), self._r.copy()
        if error > LARGEST_ERROR and not self._refines and self.sweeps > 0:
            self._refine(b, x)
            error = self._residual(b, x)
        if len(self._vanished):
            # without that unknown a constraint may seem redundant which is not: all rows count
            wrong = contradicted(self.pattern, self._A, b, x, self._r)
            if len(wrong):
                refuse_vanished("SparseLDLT", self._vanished, wrong, _CURE)
            if self.backward_error is not None:
                self.backward_error = self._residual(b, x, np.zeros_like(self._flags))
            return
        if not error > LARGEST_ERROR and not len(self.dropped):
            return
        whole = np.abs(self._A).max(initial=0.0) * np.abs(x).max(initial=0.0)
        whole += np.abs(b).max(initial=0.0)
        wrong = np.flatnonzero(np.abs(self._r) > LARGEST_ERROR * whole)
        if self._flags[wrong].any() and not self._redundant():
            refuse_vanished("SparseLDLT", self.dropped, wrong, _CURE)
        wrong = wrong[self._flags[wrong] == 0]
        if len(wrong):
            left = np.abs(self._r[wrong]).max() / whole
            refuse_inaccurate("SparseLDLT", left, wrong, _CURE)

    def _redundant(self) -> bool:
        def solve(x: Reals) -> Reals:
            L = self.start, self.rows, self.order
            sparse_ldlt_solve.compiled(self.size, self.fill, *L, self._LD, x, self._y)
            return x

        return redundant(self.pattern, self._A, self._late, self.dropped, solve)

    def _residual(self, b: Reals, x: Reals, left_out: Integers | None = None) -> float:
        entries = len(self._A), self.pattern.rows, self.pattern.columns, self._A
        flags = self._flags if left_out is None else left_out
        error: float = sparse_ldlt_residual.compiled(
            self.size, *entries, flags, b, x, self._r, self._y
        )
        return error

    def _places(self) -> Integers:
        """Place in `LD` of each entry: the pivots come first, then L by columns."""
        n = self.size
        place = np.empty(n, dtype=np.int64)
        place[self.order] = np.arange(n)
        i, j = place[self.pattern.rows], place[self.pattern.columns]
        row, column = np.maximum(i, j), np.minimum(i, j)
        keys = np.repeat(np.arange(n), np.diff(self.start)) * n + self.rows
        return np.where(row == column, row, n + np.searchsorted(keys, column * n + row))

    def _checked(self, name: str, values: ArrayLike, size: int) -> Reals:
        array: Any = np.ascontiguousarray(values, dtype=np.float64)
        if array.shape != (size,):
            raise ShapeError(
                f"SparseLDLT: '{name}' has shape {array.shape} where ({size},) is needed"
            )
        return np.array(array) if not array.flags.writeable else array
