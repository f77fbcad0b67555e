"""Groups of a kind that are solved by factorisations at run time, as a stage of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from biela.code.looped import Call
from biela.code.routines.bound import Bound
from biela.graph import (
    adjacency,
    elimination_tree,
    factor_pattern,
    minimum_degree,
    postorder,
    renumbered,
)
from biela.solvers.group_newton import group_newton
from biela.solvers.group_newton_dense import dense_jacobian_factor, dense_jacobian_solve
from biela.solvers.group_newton_entry import (
    bound_kernel,
    run_tape_address,
    stage_entry,
    table_of,
    tapes_of,
)
from biela.solvers.group_newton_factors import (
    ANALYSES,
    sparse_jacobian_factor,
    sparse_jacobian_solve,
)

__all__ = ["GroupNewton", "Linear", "NewtonCall", "NewtonOptions", "NewtonPlaces"]

Integers = NDArray[np.int64]
Records: TypeAlias = Sequence[tuple[int, int, int, int]]
#: How the linear equations are solved.
Linear: TypeAlias = Literal["dense", "sparse"]


@dataclass(frozen=True)
class NewtonOptions:
    """Bounds of the iteration, as those of `biela.code.looped.Solve`."""

    tolerance: float = 1e-10
    iterations: int = 20
    polish: int = 0
    fixed: int | None = None


@dataclass(frozen=True)
class NewtonPlaces:
    """First places in the workspace of one instance.

    Attributes:
        last: Unknowns at the instant before, with two rates; they become those of this one.
        tau: Time since.
        gauge: Sign of the determinant.
        work: Room of `GroupNewton.room` places: iterate and two rates (m each), Φ and right-hand
            sides (r each), the entries, and two more.
        status: Label of what failed, how, and steps.
    """

    last: tuple[int, int, int]
    tau: int
    gauge: int
    work: int
    status: int


@dataclass(frozen=True, eq=False)
class NewtonCall(Call):
    """Groups of a kind as native code, which takes them one after the other."""

    #: A run of them may be joined with the next.
    independent: bool = False


class GroupNewton:
    """Instances of a kind of group with one pattern of Φ_φ.

    Args:
        shape: Rows and columns of Φ_φ, at least as many rows.
        rows: Row of each entry.
        columns: Column of each entry; no two entries at one place.
        linear: "dense", or "sparse" factors.
        options: Bounds of the iteration.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        rows: Integers,
        columns: Integers,
        linear: Linear,
        options: NewtonOptions,
    ) -> None:
        self.r, self.m = shape
        self.e = len(rows)
        self.rows = np.array(rows, dtype=np.int64)
        self.columns = np.array(columns, dtype=np.int64)
        self.linear, self.options = linear, options
        self._states: list[Integers] = []
        self._pattern = self._analysed() if linear == "sparse" else {}

    @staticmethod
    def room(r: int, m: int, entries: int) -> int:
        """How many places the work of an instance takes."""
        return 3 * m + 2 * r + entries + 2

    @property
    def analyses(self) -> int:
        """How often sparse pivots were looked for, over all instances."""
        return sum(int(state[ANALYSES]) for state in self._states)

    def _analysed(self) -> dict[str, Any]:
        """The order of the columns, the matrix by columns, and room for any choice of pivots.

        L and U of every choice of pivots have their places among those of the orthogonal factors
        of the matrix: U in that of the Cholesky factor of AᵀA, column k of L in the rows that are
        left of the subtree of k (George & Ng 1987, SIAM J. Sci. Stat. Comput. 8).
        """
        r, m = self.r, self.m
        by_row: list[list[int]] = [[] for _ in range(r)]
        for i, j in zip(self.rows.tolist(), self.columns.tolist(), strict=True):
            by_row[i].append(j)
        pairs = {(a, b) for js in by_row for a in js for b in js if a < b}
        first, second = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
        graph = adjacency(m, first, second)
        order = minimum_degree(graph, ())
        order = order[postorder(elimination_tree(renumbered(graph, order)))]
        new = renumbered(graph, order)
        parent = elimination_tree(new)
        step = np.empty(m, dtype=np.int64)
        step[order] = np.arange(m)
        left = np.zeros(m, dtype=np.int64)
        for js in by_row:
            if js:
                left[min(step[j] for j in js)] += 1
        for k in range(m):
            if parent[k] >= 0:
                left[parent[k]] += max(int(left[k]) - 1, 0)
        take = np.lexsort((self.rows, self.columns))
        start = np.searchsorted(self.columns[take], np.arange(m + 1)).astype(np.int64)
        return {
            "column_start": start,
            "row_of": self.rows[take],
            "take": take.astype(np.int64),
            "order": np.array(order, dtype=np.int64),
            "row_counts": np.bincount(self.rows, minlength=r).astype(np.int64),
            "nl": int(np.maximum(left - 1, 0).sum()) + 1,
            "nu": factor_pattern(new, parent).fill + 1,
        }

    # ------------------------------------------------------------------------ kernels

    def linear_kernels(self) -> tuple[Bound, Bound]:
        """Kernels that factor and solve for one instance, see `group_newton`."""
        return self._dense() if self.linear == "dense" else self._sparse()

    def _dense(self) -> tuple[Bound, Bound]:
        r, m, e = self.r, self.m, self.e
        # with rows to spare the first factorisation, of no rows, asks for a choice
        chosen = np.full(r, -1, dtype=np.int64) if r > m else np.arange(r, dtype=np.int64)
        values = {
            "r": r, "m": m, "e": e, "rows": self.rows, "columns": self.columns,
            "chosen": chosen, "state": np.array([1, 0, 0], dtype=np.int64),
            "previous": np.zeros(e), "A": np.zeros((m, m)), "B": np.zeros((r, m)),
            "pivots": np.zeros(m, dtype=np.int64), "weakest": np.zeros(1),
        }  # fmt: skip
        factor = bound_kernel(dense_jacobian_factor, values, (e + 2, 1))
        return factor, bound_kernel(dense_jacobian_solve, values, (r, m))

    def _sparse(self) -> tuple[Bound, Bound]:
        r, m, e = self.r, self.m, self.e
        nl, nu = self._pattern["nl"], self._pattern["nu"]
        state = np.array([1, 0, 0, 0, 0, 0], dtype=np.int64)
        self._states.append(state)
        reals = {
            "V": e,
            "previous": e,
            "L": nl,
            "U": nu,
            "D": m,
            "x": r,
            "work": r,
            "y": m,
            "correction": m,
        }
        integers = {
            "chosen": r, "pivot_row": m, "step_of": r, "L_start": m + 1, "L_row": nl,
            "U_start": m + 1, "U_step": nu, "mark": r, "stack": r, "at": r, "reached": r,
        }  # fmt: skip
        values: dict[str, Any] = {"r": r, "m": m, "e": e, "state": state, **self._pattern}
        values |= {name: np.zeros(size) for name, size in reals.items()}
        values |= {name: np.zeros(size, dtype=np.int64) for name, size in integers.items()}
        factor = bound_kernel(sparse_jacobian_factor, values, (e + 2, 1))
        return factor, bound_kernel(sparse_jacobian_solve, values, (r, m))

    # -------------------------------------------------------------------------- stage

    def stage(
        self,
        size: int,
        tapes: Sequence[Sequence[Records]],
        places: Sequence[NewtonPlaces],
        labels: Sequence[int],
        written: tuple[tuple[int, int], ...],
        kept: Any,
    ) -> NewtonCall:
        """The instances as a stage of a program.

        Args:
            size: Of the workspace.
            tapes: For each instance the records of four phases: Φ and the entries; what is right of
                velocity; of acceleration; and what is read of the group.
            places: For each instance where its numbers stand.
            labels: What is written where an instance fails.
            written: Parts of the workspace that the stage writes.
            kept: What the records refer to.
        """
        r, m, e = self.r, self.m, self.e
        options, tables, alive = self.options, [], []
        for phases, place, label in zip(tapes, places, labels, strict=True):
            factor, solve = self.linear_kernels()
            tape = tapes_of(phases)
            work = place.work
            starts = [work, work + m, work + 2 * m, work + 3 * m, work + 3 * m + r]
            numbers = [*place.last, place.tau, place.gauge, *starts, work + 3 * m + 2 * r]
            values: Mapping[str, Any] = {
                "size": size, "words": tape.shape[1], "m": m, "r": r, "e": e,
                "iterations": options.iterations, "polish": options.polish,
                "fixed": -1 if options.fixed is None else options.fixed, "label": label,
                "tolerance": options.tolerance, "run": run_tape_address(),
                "factor": factor.address, "solve": solve.address, "tapes": tape,
                "places": np.array([*numbers, place.status], dtype=np.int64),
                "sign": np.zeros(1),
            }  # fmt: skip
            table, owners = table_of(group_newton, values, 1)
            tables.append(table)
            alive += [factor, solve, owners]
        entry = stage_entry(group_newton)
        addresses = np.array([t.ctypes.data for t in tables], dtype=np.int64)
        return NewtonCall(
            entry.address,
            addresses.ctypes.data,
            written,
            (self, entry, tables, addresses, alive, kept),
            len(tables),
        )
