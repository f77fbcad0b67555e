"""Trees, loops and orderings: everything that is about integers.

Fill-reducing orderings, elimination trees and the patterns of sparse factors. Nothing here knows
what a body or an equation is: a graph is arrays of integers in, arrays of integers out. Orderings
are in `biela.graph.ordering`, one module an algorithm.

May import numpy and numba, and no other room of biela. numba is loaded when something is first
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
from biela.graph.cost import (
    FactorCost,
    dense_cost,
    eliminate,
    sparse_cost,
    sparse_lu_cost,
    symbolic_fill,
    symbolic_lu,
)
from biela.graph.elimination import (
    FactorPattern,
    elimination_tree,
    factor_pattern,
    postorder,
    update_targets,
)
from biela.graph.loops import smallest_loops
from biela.graph.matrices import (
    Digraph,
    adjacency_matrix,
    augmented_adjacency,
    graph_of,
    incidence_matrix,
)
from biela.graph.ordering import minimum_degree
from biela.graph.pattern import Pattern
from biela.graph.properties import (
    adjacent,
    connected_components,
    connectivity,
    degree,
    diameter,
    distance,
    eccentricity,
    is_clique,
    is_separator,
    levels,
    peripheral,
    pseudo_peripheral,
    reach,
    shortest_path,
    span,
    subgraph,
)

__all__ = [
    "Adjacency",
    "Digraph",
    "FactorCost",
    "FactorPattern",
    "Forest",
    "Pattern",
    "adjacency",
    "adjacency_matrix",
    "adjacent",
    "augmented_adjacency",
    "blocks",
    "breadth_first",
    "bridges",
    "components",
    "connected_components",
    "connectivity",
    "degree",
    "dense_cost",
    "diameter",
    "distance",
    "eccentricity",
    "eliminate",
    "elimination_tree",
    "factor_pattern",
    "graph_of",
    "incidence_matrix",
    "is_clique",
    "is_separator",
    "levels",
    "loop_count",
    "minimum_degree",
    "peripheral",
    "postorder",
    "pseudo_peripheral",
    "reach",
    "renumbered",
    "shortest_path",
    "smallest_loops",
    "span",
    "sparse_cost",
    "sparse_lu_cost",
    "subgraph",
    "symbolic_fill",
    "symbolic_lu",
    "update_targets",
]
