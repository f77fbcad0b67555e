"""The dependent columns of a Jacobian, reordered into blocks with a border, as kernels.

The order is found once, on the pattern, before a run (`biela.graph.ordering.rb3`); each
factorisation then works block by block (`biela.solvers.sparse.bordered`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.routines.bound import Bound, addresses_of, pointers
from biela.code.routines.in_process import generated_module
from biela.graph.ordering import BlockForm, BlockValues, rb3
from biela.graph.pattern import Pattern
from biela.solvers.sparse.bordered import BorderedBlocks

__all__ = ["BlockKernels"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FACTOR, SOLVE, TRANSPOSED = range(3)
#: The arrays of a table, each with its length.
_ARRAYS: Final = ("plan", "addresses", "A", "work", "state", "y", "take")


class BlockKernels:
    """Kernels that factor the square matrix of the dependent columns and solve with it.

    Args:
        rows: row of each entry of the Jacobian among the rows kept; negative for others.
        columns: column of each entry among the dependent ones; negative for others.
        size: number of the rows kept and of dependent columns.
        values: numbers of the entries in a position, by which singular blocks are avoided.

    Attributes:
        form: blocks, border and band.
        factor: `nz -> 1`: from the entries of the Jacobian; gives 0, or else if it is singular.
        solve: `size -> size`.
        transposed: `size -> size`.
    """

    def __init__(self, rows: ArrayLike, columns: ArrayLike, size: int, values: Floats) -> None:
        i, j = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        take = np.flatnonzero((i >= 0) & (j >= 0))
        pattern = Pattern.of_entries(size, size, i[take], j[take])
        dense = np.zeros((size, size))
        dense[i[take], j[take]] = values[take]
        self.form: BlockForm = rb3(pattern, values=BlockValues.of_matrices(pattern, dense))
        self._blocks = BorderedBlocks(
            (size, size), i[take], j[take], self.form.blocks, self.form.border, self.form.band
        )
        b = self._blocks
        room = np.zeros(2 * size + b.spare)
        arrays = (b.plan, b.addresses, np.zeros(len(take)), b.work, b.state, room, take)
        self.factor, self.solve, self.transposed = (
            Bound(
                _entry().address,
                2,
                np.array([what, size, *addresses_of(arrays)], dtype=np.int64),
                [b, arrays],
            )
            for what in (FACTOR, SOLVE, TRANSPOSED)
        )


@cache
def _entry() -> Any:
    """``void entry(in, out, table)`` for the three kernels, as a numba.cfunc."""
    import numba

    from biela.jit import cfunc
    from biela.solvers.sparse import bordered_routines as routines

    kinds: Any = numba  # numba carries no types
    integers_at, reals_at = pointers()
    doubles = kinds.types.CPointer(kinds.types.float64)
    signature = kinds.types.void(doubles, doubles, kinds.types.int64)
    scope = {
        "carray": kinds.carray,
        "integers_at": integers_at,
        "reals_at": reals_at,
        "compiled": cfunc(signature, error_model="numpy"),
        "bordered_factor": routines.bordered_factor,
        "bordered_solve": routines.bordered_solve,
        "bordered_solve_transposed": routines.bordered_solve_transposed,
    }
    return generated_module("bordered_entry", _source(), scope).entry


def _source() -> str:
    lines = ["@compiled", "def entry(given, found, address):"]
    lines.append(f"    table = carray(integers_at(address), {2 + 2 * len(_ARRAYS)})")
    lines.append("    n = table[1]")
    for k, name in enumerate(_ARRAYS):
        kind = "reals_at" if name in ("A", "work", "y") else "integers_at"
        lines.append(f"    {name} = carray({kind}(table[{2 + 2 * k}]), (table[{3 + 2 * k}],))")
    lines += [
        f"    if table[0] == {FACTOR}:",
        "        for e in range(len(take)):",
        "            A[e] = given[take[e]]",
        "        found[0] = bordered_factor(plan, addresses, A, work, state)",
        f"    elif table[0] == {SOLVE}:",
        "        b, x = carray(given, (n,)), carray(found, (n,))",
        "        bordered_solve(plan, addresses, A, work, state, b, x, y)",
        "    else:",
        "        b, x = carray(given, (n,)), carray(found, (n,))",
        "        bordered_solve_transposed(plan, A, work, state, b, x, y)",
    ]
    return "\n".join(lines) + "\n"
