"""The walks of `biela.graph.walks`, compiled.  Import it inside functions: numba takes a moment."""

from __future__ import annotations

from numba import njit

from biela.graph import walks

__all__ = ["block_walk", "breadth_first_walk"]

breadth_first_walk = njit(
    "UniTuple(int64[::1], 4)(int64[::1], int64[::1], int64[::1])", cache=True
)(walks.breadth_first_walk)

block_walk = njit("int64[::1](int64[::1], int64[::1], int64[::1], int64)", cache=True)(
    walks.block_walk
)
