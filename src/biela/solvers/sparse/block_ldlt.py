"""Repeated solutions of saddle-point systems in small dense blocks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import BielaError, ShapeError
from biela.graph.adjacency import integer_array
from biela.solvers.ldlt import DROP_TOLERANCE
from biela.solvers.sparse.independence import Constraints, examine
from biela.solvers.sparse.pattern import SymmetricPattern
from biela.solvers.sparse.trust import (
    LARGEST_ERROR,
    contradicted,
    redundant,
    refuse_inaccurate,
    refuse_vanished,
    require_finite,
)

__all__ = ["BlockLDLT"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

_CURE = (
    "give `values` in which the diagonals of unknowns without inertia are zero, so that each is "
    "paired with a constraint, and name the multipliers in `late`"
)


_NONE: Integers = np.zeros(0, dtype=np.int64)


class BlockLDLT:
    """LDLᵀ by fronts of symmetric matrices with one pattern: fast, for systems of any size.

    The matrix is positive definite or a saddle point, [[M, Φᵀ], [Φ, 0]] in any order of its rows.
    Analysis is done once; each factorisation then runs through straight-line native code, one piece
    for each kind of front that the structure repeats. Redundant rows are dropped as in
    `SparseLDLT`, and named. Rows are never exchanged: where another pivot vanishes, or digits are
    lost, a solution that does not fulfil all equations is refused.

    >>> pattern = SymmetricPattern(3, [0, 1, 2, 2], [0, 1, 0, 1])  # two masses and a rod
    >>> solver = BlockLDLT(pattern, late=[2])
    >>> solver.factor([1.0, 3.0, 1.0, -1.0])
    3
    >>> solver.solve([4.0, 0.0, 0.0])
    array([1., 1., 3.])

    Args:
        pattern: the entries, in the order in which `factor` gets their values.
        late: rows to eliminate after all the unknowns they act on: the multipliers.
        blocks: sizes of groups of successive unknowns that belong together (3 for a planar body, 2
            for its revolute). The order is then found for groups, which is faster and as good.
        values: typical values of the entries. Unknowns whose diagonal is zero in them count as
            without inertia, beside those that have no diagonal entry at all, and are paired with
            the constraint in which they weigh most.
        tolerance: part of its accumulated magnitude below which a pivot is dropped; in doubt the
            limit moves into the nearest wide gap, see `drop_threshold`.
        sweeps: at most so many refinement sweeps, and only where the backward error exceeds 1e-13
            or something was dropped or nearly was (then two); -1 does not look at the error.
        scaled: equilibrate first. It changes no digit of a factorisation; it avoids overflow where
            units are extreme.
        kinds: at most so many kinds of fronts get native code of their own, those with most work
            first. Each takes 20 to 400 ms to compile; with 0 the analysis is quickest, and the
            solution several times slower.

    Attributes:
        order: unknown `order[k]` is the k-th to be eliminated.
        pairs: unknowns without inertia and the constraint each is eliminated with.
        rank: number of pivots kept: the rank of the matrix if all dropped rows are late.
        dropped: rows dropped. A late one is redundant; another is an unknown that neither inertia
            nor its constraint in `pairs` determines, and late ones beside it may be needed.
        threshold: the limit for dropping by pivots. Where some are small, the rows behind them
            are examined, see `biela.solvers.sparse.independence`, and others may be dropped.
        gap: how many times further from depending on others the rows kept are than those dropped;
            than rounding, where none was dropped. Infinite if no pivot is small, 0 if it would
            have been too much work to find out.
        doubtful: rows of which the gap is too small to tell whether they are redundant; where
            there are any, the rank is a choice.
        contradicted: dropped rows that the last solution does not fulfil.
        backward_error: max|r| / (max|K| max|x| + max|b|) of the last solution, over the rows that
            were not dropped; over all rows where one that is not late was dropped.
        plan, addresses, work: what the routines of `biela.solvers.sparse` need; see there.
    """

    def __init__(
        self,
        pattern: SymmetricPattern,
        late: ArrayLike = (),
        *,
        blocks: ArrayLike | None = None,
        values: ArrayLike | None = None,
        tolerance: float = DROP_TOLERANCE,
        sweeps: int = 3,
        scaled: bool = False,
        kinds: int = 24,
    ) -> None:
        from biela.solvers.sparse.block_plan import block_plan

        if values is not None:
            values = self._checked("values", values, len(pattern.rows))
            require_finite("BlockLDLT", values, pattern.rows, pattern.columns)
        analysis = block_plan(pattern, late, blocks, values, kinds)
        n = pattern.size
        self.pattern = pattern
        self.tolerance = tolerance
        self.sweeps = sweeps
        self.scaled = scaled
        self.analysis = analysis
        self.plan, self.addresses = analysis.plan, analysis.addresses
        self.order, self.pairs = analysis.order, analysis.pairs
        self.work: Reals = np.zeros(analysis.room)
        self.rank: int | None = None
        self.threshold = tolerance
        self.dropped: Integers = np.zeros(0, dtype=np.int64)
        self.backward_error: float | None = None
        self._A = np.zeros(len(pattern.rows))
        self._x, self._r = np.zeros(n), np.zeros(2 * n)
        self._zero = np.zeros(n)
        self._flags = np.zeros(n, dtype=np.int64)
        self._report = np.zeros(3)
        self._scale = np.ones(n)
        self._late = np.zeros(n, dtype=np.bool_)
        self._late[integer_array("late", late)] = True
        self._vanished: Integers = np.zeros(0, dtype=np.int64)
        self.gap = np.inf
        self.doubtful: Integers = np.zeros(0, dtype=np.int64)
        self._last: tuple[Reals, Reals, Reals] | None = None

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.pattern.size

    @property
    def fill(self) -> int:
        """Numbers kept in L and D, zeros of merged fronts included."""
        return self.analysis.fill

    @property
    def contradicted(self) -> Integers:
        """Dropped rows that the last solution does not fulfil: they contradict the others.

        By more than 1e-8 of what was added up in them.
        """
        if self._last is None:
            return _NONE
        return np.intersect1d(contradicted(self.pattern, self._A, *self._last), self.dropped)

    def factor(self, values: ArrayLike) -> int:
        """Factor the matrix with these values of its entries; return its rank.

        Raises:
            ShapeError: not one value an entry of the pattern.
            DomainError: a value that is not finite.
        """
        self._take(values)
        self._factor(self._zero, -1)
        self._examine()
        assert self.rank is not None
        return self.rank

    def factor_solve(self, values: ArrayLike, b: ArrayLike) -> Reals:
        """Factor and solve for one right-hand side, in one pass; faster than one after the other.

        Raises:
            ShapeError: not one value an entry of the pattern, or b of another size.
            DomainError: a value that is not finite.
            SingularityError: as for `solve`.
        """
        b = self._checked("b", b, self.size)
        self._take(values)
        if self.scaled:
            b = b * self._scale
        self._factor(b, self.sweeps)
        if self._examine():
            x, error = self._solved(b)
        else:
            x, error = self._x.copy(), float(self._report[1])
        self._judge(b, x, error)
        return x * self._scale if self.scaled else x

    def solve(self, b: ArrayLike) -> Reals:
        """Solve for one right-hand side, or for each column of a matrix of them.

        The unknowns of dropped rows are 0.

        Raises:
            BielaError: nothing was factored yet.
            ShapeError: a right-hand side of another size.
            SingularityError: a pivot that is not late vanished and the right-hand side is not
                consistent without it, or the backward error stays above 1e-8.
        """
        if self.rank is None:
            raise BielaError("BlockLDLT.solve: no matrix was factored yet; call factor first")
        b = np.asarray(b, dtype=np.float64)
        if b.ndim == 2:
            columns = [self.solve(column) for column in b.T]
            return np.stack(columns, axis=1) if columns else np.zeros((self.size, 0))
        b = self._checked("b", b, self.size)
        if self.scaled:
            b = b * self._scale
        x, error = self._solved(b)
        self._judge(b, x, error)
        return x * self._scale if self.scaled else x

    def residual(self, b: ArrayLike, x: ArrayLike) -> Reals:
        """B - K x. In the dropped rows it tells by how much they contradict the others."""
        b, x = self._checked("b", b, self.size), self._checked("x", x, self.size)
        if self.scaled:
            b, x = b * self._scale, x / self._scale
        r, _ = self._residual(b, x)
        return r / self._scale if self.scaled else r

    @cached_property
    def _constraints(self) -> Constraints:
        return Constraints(self.pattern, self._late, self.pairs.ravel())

    # --- inside -----------------------------------------------------------------------------------

    def _take(self, values: ArrayLike) -> None:
        A = self._checked("values", values, len(self._A))
        require_finite("BlockLDLT", A, self.pattern.rows, self.pattern.columns)
        np.copyto(self._A, A)
        if self.scaled:
            from biela.solvers.sparse.scalar_ldlt import sparse_equilibrate

            i, j, n = self.pattern.rows, self.pattern.columns, self.size
            sparse_equilibrate.compiled(n, len(i), i, j, self._A, self._scale, self._r[:n])
            self._A *= self._scale[i]
            self._A *= self._scale[j]

    def _solved(self, b: Reals) -> tuple[Reals, float]:
        """A solution with the last factors, and its backward error; -1 if nobody looks."""
        from biela.solvers.sparse import block_routines

        x, code = b.copy(), (self.plan, self.addresses)
        block_routines.block_ldlt_solve(*code, self.work, x)
        if self.sweeps < 0:
            return x, -1.0
        error = block_routines.block_ldlt_refine(
            *(*code, self._A, b, len(self.dropped), self._flags, self.sweeps),
            *(int(self._report[2]), self.work, x, self._r),
        )
        return x, error

    def _factor(self, b: Reals, sweeps: int) -> None:
        from biela.solvers.sparse.block_routines import block_ldlt_factor_solve

        self.rank = block_ldlt_factor_solve(
            self.plan,
            self.addresses,
            self._A,
            b,
            self.tolerance,
            sweeps,
            self.work,
            self._x,
            self._r,
            self._flags,
            self._report,
        )
        self.threshold = float(self._report[0])
        if self.rank < self.size:
            self.dropped = np.flatnonzero(self._flags)
        else:
            self.dropped = _NONE
        self._last = None
        self._vanished = self.dropped[~self._late[self.dropped]] if len(self.dropped) else _NONE

    def _examine(self) -> bool:
        """Look at the rows behind small pivots; whether others were dropped and factored without.

        Where an unknown has vanished that is no multiplier, the solution is judged instead.
        """
        self.gap, self.doubtful = np.inf, _NONE
        if not self._report[2] or len(self._vanished):
            return False
        from biela.solvers.sparse import block_routines

        A, factored = self._A, self._A
        flags = self._flags if len(self.dropped) else np.zeros(self.size, dtype=np.int64)
        code, ratios = (self.plan, self.addresses), np.zeros(self.size)
        block_routines.block_ldlt_ratios(self.plan, self.work, ratios)

        def eliminate(A: Reals, tolerance: float) -> Reals:
            nonlocal factored, flags
            factored, flags, found = A, np.zeros(self.size, dtype=np.int64), np.zeros(self.size)
            block_routines.block_ldlt_factor(*code, A, self._zero, tolerance, self.work, self._x)
            block_routines.block_ldlt_dropped(self.plan, self.work, tolerance, flags)
            block_routines.block_ldlt_ratios(self.plan, self.work, found)
            return found

        def solve(b: Reals) -> Reals:
            x = b.copy()
            block_routines.block_ldlt_solve(*code, self.work, x)
            block_routines.block_ldlt_refine(
                *(*code, factored, b, 1, flags, 1, 1, self.work, x, self._r)
            )
            return x

        constraints = self._constraints
        constraints.take(A)
        found = examine(
            *(constraints, A, ratios, flags != 0, self.tolerance),
            *(4.0 * self.fill, eliminate, solve),
        )
        self.gap, self.doubtful = found.gap, found.doubtful
        if found.dropped is None:
            return False
        redundant = np.zeros(self.size, dtype=np.bool_)
        redundant[found.dropped] = True
        eliminate(constraints.without(A, redundant), 0.0)
        self._flags[:] = flags
        self.dropped = np.flatnonzero(flags)
        self.rank = self.size - len(self.dropped)
        self._vanished = self.dropped[~self._late[self.dropped]]
        return True

    def _judge(self, b: Reals, x: Reals, error: float) -> None:
        """Keep the backward error, -1 if nobody looked; refuse what does not solve the system."""
        self._last = None
        if len(self.dropped):
            r, whole = self._residual(b, x)
            self._last = b.copy(), x.copy(), r.copy()
            if len(self._vanished):
                # without that unknown a constraint may seem redundant which is not: all rows count
                error = whole if error >= 0.0 else error
                wrong = contradicted(self.pattern, self._A, b, x, r)
                if len(wrong):
                    refuse_vanished("BlockLDLT", self._vanished, wrong, _CURE)
            elif whole > LARGEST_ERROR and not self._redundant():
                wrong = contradicted(self.pattern, self._A, b, x, r)
                refuse_vanished("BlockLDLT", self.dropped, wrong, _CURE)
        if error > LARGEST_ERROR:
            r, _ = self._residual(b, x)
            r[self.dropped] = 0.0
            worst = np.flatnonzero(np.abs(r) >= 0.5 * np.abs(r).max())
            refuse_inaccurate("BlockLDLT", error, worst, _CURE)
        self.backward_error = error if self.sweeps >= 0 else None

    def _redundant(self) -> bool:
        from biela.solvers.sparse.block_routines import block_ldlt_solve

        def solve(x: Reals) -> Reals:
            block_ldlt_solve(self.plan, self.addresses, self.work, x)
            return x

        return redundant(self.pattern, self._A, self._late, self.dropped, solve)

    def _residual(self, b: Reals, x: Reals) -> tuple[Reals, float]:
        """The residual and the backward error over all rows; where it is scaled, scaled."""
        from biela.solvers.sparse.block_routines import block_ldlt_residual

        r = np.zeros(self.size)
        code = self.plan, self.addresses
        return r, block_ldlt_residual(*code, self._A, b, x, 0, self._flags, self.work, r)

    @staticmethod
    def _checked(name: str, values: ArrayLike, size: int) -> Reals:
        array: Any = np.ascontiguousarray(values, dtype=np.float64)
        if array.shape != (size,):
            raise ShapeError(
                f"BlockLDLT: '{name}' has shape {array.shape} where ({size},) is needed"
            )
        return np.array(array) if not array.flags.writeable else array
