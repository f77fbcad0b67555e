"""Trees, loops and orderings: everything that is about integers.

Fill-reducing orderings, elimination trees and the patterns of sparse factors. Nothing here knows
what a body or an equation is: a graph is arrays of integers in, arrays of integers out.

May import numpy and numba, and no other package of biela. numba is loaded when something is first
computed, not on import.
"""

from __future__ import annotations

from biela.graph.adjacency import Adjacency, adjacency, renumbered
from biela.graph.connections import (
    Forest,
    blocks,
    breadth_first,
    bridges,
    components,
    loop_count,
)
from biela.graph.elimination import (
    FactorPattern,
    elimination_tree,
    factor_pattern,
    postorder,
    update_targets,
)
from biela.graph.loops import smallest_loops
from biela.graph.ordering import minimum_degree

__all__ = [
    "Adjacency",
    "FactorPattern",
    "Forest",
    "adjacency",
    "blocks",
    "breadth_first",
    "bridges",
    "components",
    "elimination_tree",
    "factor_pattern",
    "loop_count",
    "minimum_degree",
    "postorder",
    "renumbered",
    "smallest_loops",
    "update_targets",
]
