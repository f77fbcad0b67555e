"""Orders of elimination with little fill: minimum degree.

Eliminating a vertex joins all its neighbours to each other; in a matrix those joins are entries of
the factor that the matrix has not. The order decides how many there are, and finding the best one
is NP-complete (Yannakakis 1981). Minimum degree eliminates next a vertex with the fewest neighbours
(Tinney & Walker 1967, after Markowitz 1957).

Saddle-point matrices need more than little fill: a multiplier has a zero on the diagonal, and its
pivot is only good once the unknowns it acts on are eliminated. Such vertices are called *late*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, integer_array
from biela.graph.pattern import Pattern

__all__ = [
    "exact_minimum_degree",
    "minimum_degree",
    "minimum_degree_after",
    "minimum_degree_by_level",
]


def minimum_degree(graph: Adjacency, late: ArrayLike = ()) -> Integers:
    """An order of elimination by approximate minimum degree; element k is the k-th vertex.

    Each vertex of `late` comes after all its neighbours that are not late; apart from that it is
    chosen by its degree like the others. With M positive definite and Φ of full row rank, and the
    rows of Φ late, each leading block of the reordered saddle-point matrix

        [ M   Φᵀ ]
        [ Φ   0  ]

    is itself of that form and regular, so that LDLᵀ needs no pivoting.

    The graph of what is left is kept as a quotient graph: an eliminated vertex stays as an
    *element*, the list of the vertices it joined, and swallows the elements it touches. Vertices
    with the same neighbours are one from then on, those whose neighbours are all joined already go
    at once, storage never exceeds that of the graph, and the degree is the upper bound of Amestoy,
    Davis & Duff 1996, "An approximate minimum degree ordering algorithm", SIAM J. Matrix Anal.
    Appl. 17. The result depends on the graph only.

    >>> from biela.graph import adjacency
    >>> star = adjacency(4, [0, 0, 0], [1, 2, 3])
    >>> minimum_degree(star).tolist()
    [1, 2, 0, 3]
    >>> minimum_degree(star, late=[1, 2, 3]).tolist()
    [0, 1, 2, 3]

    Raises:
        ShapeError: a late vertex is not in the graph.
    """
    rows = _vertices(graph, "late", late)
    level = np.zeros(graph.size, dtype=np.int64)
    level[rows] = 1
    return minimum_degree_by_level(graph, level)


def minimum_degree_by_level(graph: Adjacency, level: Integers) -> Integers:
    """The same with several levels: a vertex comes after all its neighbours of lower ones."""
    ends = np.repeat(np.arange(graph.size), np.diff(graph.start))
    waits = level[ends] > level[graph.neighbours]
    return ordered_after(graph, ends[waits], graph.neighbours[waits])


def minimum_degree_after(graph: Adjacency, waiting: ArrayLike, awaited: ArrayLike) -> Integers:
    """The same with any precedence: vertex `waiting[k]` comes after vertex `awaited[k]`.

    >>> from biela.graph import adjacency
    >>> minimum_degree_after(adjacency(3, [0, 1], [1, 2]), [0], [2]).tolist()
    [2, 1, 0]

    Raises:
        ShapeError: a vertex is not in the graph, or vertices wait for each other.
    """
    a, b = _vertices(graph, "waiting", waiting), _vertices(graph, "awaited", awaited)
    if a.shape != b.shape:
        raise ShapeError(f"{len(a)} vertices wait and {len(b)} are awaited")
    _check_acyclic(graph.size, a, b)
    return ordered_after(graph, a, b)


def exact_minimum_degree(graph: Adjacency) -> Integers:
    """An order of elimination by true degrees; of equal vertices the lowest goes first.

    On the same quotient graph, but the degree of every vertex that is touched is counted anew. The
    measure for the approximation, and affordable up to some ten thousand vertices.

    >>> from biela.graph import adjacency
    >>> exact_minimum_degree(adjacency(4, [0, 0, 0], [1, 2, 3])).tolist()
    [1, 2, 0, 3]
    """
    from biela.graph.ordering.compiled_exact_degree import exact_degree_order

    order: Integers = exact_degree_order(graph.start, graph.neighbours)
    return order


def ordered_after(graph: Adjacency, waiting: Integers, awaited: Integers) -> Integers:
    """The order of `minimum_degree_after`, for precedences that are known to have no cycle."""
    from biela.graph.ordering.compiled_degree import approximate_degree_order

    released = Pattern.of_entries(graph.size, graph.size, awaited, waiting)
    order: Integers = approximate_degree_order(
        graph.start, graph.neighbours, released.start, released.entries
    )
    return order


def _vertices(graph: Adjacency, name: str, values: ArrayLike) -> Integers:
    found = integer_array(name, values)
    outside = found[(found < 0) | (found >= graph.size)]
    if len(outside):
        raise ShapeError(f"{name} vertex {outside[0]} is not one of the {graph.size} of the graph")
    return found


def _check_acyclic(size: int, waiting: Integers, awaited: Integers) -> None:
    after = Pattern.of_entries(size, size, awaited, waiting)
    left = np.bincount(after.entries, minlength=size)
    ready = np.flatnonzero(left == 0).tolist()
    done = 0
    while ready:
        v = ready.pop()
        done += 1
        for w in after.row(v).tolist():
            left[w] -= 1
            if left[w] == 0:
                ready.append(w)
    if done < size:
        raise ShapeError(f"vertex {int(np.flatnonzero(left)[0])} waits for itself by way of others")
