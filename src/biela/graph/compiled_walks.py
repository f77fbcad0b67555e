"""The walks of `biela.graph.walks`, compiled.  Import it inside functions: numba takes a moment."""

from __future__ import annotations

from biela.graph import walks
from biela.jit import njit

__all__ = ["block_walk", "breadth_first_walk"]

breadth_first_walk = njit("UniTuple(int64[::1], 4)(int64[::1], int64[::1], int64[::1])")(
    walks.breadth_first_walk
)

block_walk = njit("int64[::1](int64[::1], int64[::1], int64[::1], int64)")(walks.block_walk)
