"""Records of a tape that solve with `biela.solvers.sparse.BlockLDLT`, compiled by numba.

``void code(double *w, int64 first, int64 count, double **arguments)``, with the pointers

    0   (int64) lengths of plan and addresses, of W, number of entries, of unknowns, and the first
        places in w of K, b, x, b_2, x_2 and the rank
    1   plan (int32),   2   addresses (int64),   3   W,   4   room for 2 n numbers,
    5   dropped (int64),   6   report,   7   (int64) whether each unknown is a multiplier
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from biela.code.routines.in_process import generated_module
from biela.jit import cfunc
from biela.solvers.ldlt import DROP_TOLERANCE
from biela.solvers.sparse.block_routines import block_ldlt_factor_solve, block_ldlt_solve

__all__ = ["factor_solve", "solve_twice"]

_numba: Any = numba  # it carries no types
carray: Any = _numba.carray
#: What the code of the records refers to.
_NAMES = ("np", "carray", "DROP_TOLERANCE", "block_ldlt_factor_solve", "block_ldlt_solve")


@cache
def factor_solve() -> Any:
    """The code of K x = b by new factors, as a numba.cfunc."""
    return _compiled(_factor_solve)


@cache
def solve_twice() -> Any:
    """The code of K x = b and K x_2 = b_2 with the factors there are, as a numba.cfunc."""
    return _compiled(_solve_twice)


def _compiled(function: Callable[..., None]) -> Any:
    text = f"@compiled\n{inspect.getsource(function)}"
    integer, double = _numba.types.int64, _numba.types.CPointer(_numba.types.float64)
    signature = _numba.types.void(double, integer, integer, _numba.types.CPointer(double))
    scope = {
        "compiled": cfunc(signature, error_model="numpy"),
        **{name: globals()[name] for name in (*_NAMES, "Any")},
    }
    name = function.__name__
    return getattr(generated_module(f"general{name}", text, scope), name)


def _factor_solve(w: Any, first: int, count: int, arguments: Any) -> None:
    """K x = b by new factors."""
    sizes = carray(arguments[0], 11).view(np.int64)
    plan = carray(arguments[1], (sizes[0] + 1) // 2).view(np.int32)
    addresses = carray(arguments[2], sizes[1]).view(np.int64)
    W = carray(arguments[3], sizes[2])
    entries, n = sizes[3], sizes[4]
    whole = carray(w, sizes[10] + 1)
    A = whole[sizes[5] : sizes[5] + entries]
    b = whole[sizes[6] : sizes[6] + n]
    x = whole[sizes[7] : sizes[7] + n]
    r = carray(arguments[4], 2 * n)
    dropped = carray(arguments[5], n).view(np.int64)
    report = carray(arguments[6], 3)
    whole[sizes[10]] = block_ldlt_factor_solve(
        plan, addresses, A, b, DROP_TOLERANCE, -1, W, x, r, dropped, report
    )
    late = carray(arguments[7], n).view(np.int64)
    for k in range(n):
        if dropped[k] != 0 and late[k] == 0:
            # only multipliers may be left out: without this unknown x is wrong, and is to show it
            x[k] = np.nan


def _solve_twice(w: Any, first: int, count: int, arguments: Any) -> None:
    """K x = b and K x_2 = b_2 with the factors there are."""
    sizes = carray(arguments[0], 11).view(np.int64)
    plan = carray(arguments[1], (sizes[0] + 1) // 2).view(np.int32)
    addresses = carray(arguments[2], sizes[1]).view(np.int64)
    W = carray(arguments[3], sizes[2])
    n = sizes[4]
    whole = carray(w, sizes[10] + 1)
    for side in range(2):
        b, x = sizes[6 + 2 * side], sizes[7 + 2 * side]
        whole[x : x + n] = whole[b : b + n]
        block_ldlt_solve(plan, addresses, W, whole[x : x + n])
