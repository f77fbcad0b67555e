"""Orders of elimination with little fill.

Eliminating a vertex joins all its neighbours to each other; in a matrix those joins are entries of
the factor that the matrix has not. The order decides how many there are, and finding the best one
is NP-complete. Minimum degree eliminates next a vertex with the fewest neighbours.

Saddle-point matrices need more than little fill: a multiplier has a zero on the diagonal, and its
pivot is only good once all the unknowns it acts on are eliminated. Such vertices are called *late*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, integer_array

__all__ = ["minimum_degree"]


def minimum_degree(graph: Adjacency, late: ArrayLike = ()) -> Integers:
    """An order of elimination by approximate minimum degree; element k is the k-th vertex.

    Each vertex of `late` comes after all its neighbours that are not late; apart from that it is
    chosen by its degree like the others. With M positive definite and Φ of full row rank, and the
    rows of Φ late, each leading block of the reordered saddle-point matrix

        [ M   Φᵀ ]
        [ Φ   0  ]

    is itself of that form and regular, so that LDLᵀ needs no pivoting.

    The graph of what is left is kept as a quotient graph: an eliminated vertex stays as an
    *element*, the list of the vertices it joined, and swallows the elements it touches. Storage
    never exceeds that of the graph, and the degree is the upper bound of Amestoy, Davis & Duff
    1996, "An approximate minimum degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17. The
    result depends on the graph only.

    >>> from biela.graph import adjacency
    >>> star = adjacency(4, [0, 0, 0], [1, 2, 3])
    >>> minimum_degree(star).tolist()
    [1, 2, 0, 3]
    >>> minimum_degree(star, late=[1, 2, 3]).tolist()
    [0, 3, 2, 1]

    Raises:
        ShapeError: a late vertex is not in the graph.
    """
    from biela.graph.compiled import minimum_degree_order

    rows = integer_array("late", late)
    outside = rows[(rows < 0) | (rows >= graph.size)]
    if len(outside):
        raise ShapeError(f"late vertex {outside[0]} is not one of the {graph.size} of the graph")
    is_late = np.zeros(graph.size, dtype=np.bool_)
    is_late[rows] = True
    order: Integers = minimum_degree_order(graph.start, graph.neighbours, is_late)
    return order
