"""Matrices without repetition as stages of a looped program: one group, a general sparse solver.

The vectors are those of `FrontStages`, with entries and unknowns in the order in which they are
given, so that programs need not know which of the two eliminates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.looped import Call, Memory, Segment, Stage
from biela.solvers.fronts.analysis import Fronts
from biela.solvers.sparse import BlockLDLT, SymmetricPattern

Integers = NDArray[np.int64]


class GeneralStages:
    """What solves with a matrix of any pattern.

    Args:
        rows: Row of each entry.
        columns: Column of each entry; one triangle is given.
        late: Which unknowns are multipliers.
        values: Typical values of the entries.
        blocks: Sizes of groups of unknowns that follow each other and belong together.

    Attributes:
        fronts: All unknowns as one group.
        kinds: Nothing: no code is made for kinds.
        sizes: How long the vectors of the workspace are.
    """

    def __init__(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        late: ArrayLike,
        values: ArrayLike,
        blocks: ArrayLike,
    ) -> None:
        first, second = np.asarray(rows), np.asarray(columns)
        lates = np.flatnonzero(np.asarray(late))
        n = len(np.asarray(late))
        pattern = SymmetricPattern(n, first, second)
        self._late = np.asarray(late, dtype=np.int64)
        self._solver = BlockLDLT(pattern, lates, values=values, blocks=blocks)
        whole = np.array([0, n]), np.array([0, len(first)])
        order = np.arange(n), np.arange(len(first))
        one = np.zeros(1, dtype=np.int64)
        self.fronts = Fronts(*order, (), one, *whole, ((),), ((),), ())
        self.kinds: tuple[Any, ...] = ()
        sizes = {"K": len(first), **{name: n for name in ("b", "x", "b_2", "x_2")}, "rank": 1}
        self.sizes: dict[str, int] = sizes

    # ------------------------------------------------------------------------------ tape

    def tape(self, first_stage: int, begin: int = 0, end: int | None = None) -> list[Segment]:
        """The one group."""
        return [Segment(first_stage, 0, 1)]

    def outward_tape(self, first_stage: int) -> list[Segment]:
        """Nothing: solutions are found at once."""
        return []

    # ---------------------------------------------------------------------------- stages

    def factor_and_inward(self, memory: Memory) -> list[Stage | Call]:
        """From K and b to x."""
        from biela.solvers.fronts.general_code import factor_solve

        return [self._call(factor_solve(), memory, ("x", "rank"))]

    def inward_twice(self, memory: Memory) -> list[Stage | Call]:
        """From both right-hand sides to both solutions, with the last factors."""
        from biela.solvers.fronts.general_code import solve_twice

        return [self._call(solve_twice(), memory, ("x", "x_2"))]

    def outward(self, memory: Memory) -> list[Stage | Call]:
        """Nothing."""
        return []

    def outward_twice(self, memory: Memory) -> list[Stage | Call]:
        """Nothing."""
        return []

    def dependent(self, memory: Memory, w: NDArray[np.float64]) -> int:
        """How many multipliers were dropped in the last factorisation."""
        return len(self.fronts.place) - int(memory.view(w, "rank")[0])

    def _call(self, code: Any, memory: Memory, written: tuple[str, ...]) -> Call:
        solver = self._solver
        n, entries = solver.size, self.sizes["K"]
        plan = np.zeros(-(-len(solver.plan) // 2) * 2, dtype=np.int32)  # whole words
        plan[: len(solver.plan)] = solver.plan
        vectors = ("K", "b", "x", "b_2", "x_2", "rank")
        lengths = [len(solver.plan), len(solver.addresses), len(solver.work), entries, n]
        arrays = (
            np.array([*lengths, *(memory.first(name) for name in vectors)], dtype=np.int64),
            plan,
            np.array(solver.addresses, dtype=np.int64),
            solver.work,
            np.zeros(2 * n),
            np.zeros(n, dtype=np.int64),
            np.zeros(3),
            self._late,
        )
        table = np.array([array.ctypes.data for array in arrays], dtype=np.int64)
        return Call(
            code.address,
            table.ctypes.data,
            tuple((memory.first(name), memory.sizes[name]) for name in written),
            (solver, code, arrays, table),
        )
