"""What an order of elimination leads to: the elimination tree and the pattern of the factor.

The vertices of the graph are numbered in the order of their elimination; use
[`renumbered`][biela.graph.renumbered] for another order.
"""

from __future__ import annotations

from dataclasses import dataclass

from biela.graph.adjacency import Adjacency, Integers

__all__ = ["FactorPattern", "elimination_tree", "factor_pattern", "postorder", "update_targets"]


@dataclass(frozen=True)
class FactorPattern:
    """Places below the diagonal of the factor L, by columns.

    Those of column j are in the rows `rows[start[j]:start[j + 1]]`, in increasing order.
    """

    start: Integers
    rows: Integers

    @property
    def fill(self) -> int:
        """Number of places."""
        return len(self.rows)


def elimination_tree(graph: Adjacency) -> Integers:
    """The parent of each vertex in the elimination tree, -1 for a root.

    The parent of column j is the row of the first entry below the diagonal of column j of L: no
    other column depends on j before it does. Liu 1990, "The role of elimination trees in sparse
    factorization", SIAM J. Matrix Anal. Appl. 11.

    >>> from biela.graph import adjacency
    >>> elimination_tree(adjacency(4, [0, 1, 2], [2, 2, 3])).tolist()
    [2, 2, 3, -1]
    """
    from biela.graph.compiled import tree_parents

    parent: Integers = tree_parents(graph.start, graph.neighbours)
    return parent


def postorder(parent: Integers) -> Integers:
    """The vertices of a forest, children just before their parent; element k is the k-th vertex.

    A postorder of an elimination tree is an order of elimination with the same fill in which the
    columns that depend on each other are near in memory. It keeps every vertex after its
    descendants, so that late vertices stay late.
    """
    from biela.graph.compiled import forest_postorder

    order: Integers = forest_postorder(parent)
    return order


def factor_pattern(graph: Adjacency, parent: Integers) -> FactorPattern:
    """The pattern of L for a matrix with the pattern of the graph; `parent` is its tree.

    Row i of L holds the vertices on the paths in the tree from the earlier neighbours of i up
    towards i (Liu 1990). Entries that cancel by accident count as entries.
    """
    from biela.graph.compiled import factor_columns

    start, rows = factor_columns(graph.start, graph.neighbours, parent)
    return FactorPattern(start, rows)


def update_targets(pattern: FactorPattern) -> Integers:
    """Where right-looking elimination writes below the diagonal, in order.

    Column j changes, for each pair of its rows a > b, the place of row a in column b. The pairs are
    taken column by column, b in order, then a; a place is an index of `pattern.rows`.
    """
    from biela.graph.compiled import column_updates

    targets: Integers = column_updates(pattern.start, pattern.rows)
    return targets
