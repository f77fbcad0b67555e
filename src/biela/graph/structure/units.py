"""Units on nodes: which part of a set of equations is determined, and in which order it is solved.

A *node* has so many unknowns, its capacity; a *unit* is an equation that contains unknowns of some
nodes.  If every unit can be given to one of its nodes, its head, so that each node gets as many as
it has unknowns, the equations are as many as the unknowns in every part.  Arrows from the other
nodes of a unit to its head then say what has to be known first; nodes on a common cycle are solved
together.  Which of several assignments was found makes no difference: two of them differ by arrows
of cycles turned round, and cycles stay within their strong component.

What is left over falls into two parts (Dulmage & Mendelsohn 1958): an over-determined one, which
rests on nothing else, and an under-determined one, on which nothing else rests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biela.errors import ShapeError
from biela.graph.adjacency import Integers

__all__ = ["Assignment", "Condensation", "Units", "assigned", "condensed"]


@dataclass(frozen=True, eq=False)
class Units:
    """Units, each with the nodes it contains.

    Attributes:
        capacity: (nodes,) how many unknowns each node has.
        start: (units + 1,) where the nodes of each unit begin in ``entries``.
        entries: The nodes, unit after unit, each once.
    """

    capacity: Integers
    start: Integers
    entries: Integers

    def __post_init__(self) -> None:
        if len(self.entries) and not 0 <= self.entries.min() <= self.entries.max() < self.nodes:
            raise ShapeError(f"a unit contains a node that is not one of the {self.nodes}")

    @classmethod
    def of(cls, capacity: Integers | list[int], touched: list[list[int]]) -> Units:
        """Units given as lists of their nodes.

        >>> Units.of([1, 1], [[0], [0, 1]]).count
        2
        """
        plain = [list(dict.fromkeys(nodes)) for nodes in touched]
        start = np.cumsum([0, *(len(nodes) for nodes in plain)]).astype(np.int64)
        entries = np.array([node for nodes in plain for node in nodes], dtype=np.int64)
        return cls(np.asarray(capacity, dtype=np.int64), start, entries)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.capacity)

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.start) - 1

    @cached_property
    def of_entries(self) -> Integers:
        """The unit of each entry."""
        return np.repeat(np.arange(self.count, dtype=np.int64), np.diff(self.start))

    @cached_property
    def by_node(self) -> tuple[Integers, Integers]:
        """Where the units of each node begin, and the units, node after node."""
        order = np.argsort(self.entries, kind="stable")
        start = np.zeros(self.nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.entries, minlength=self.nodes), out=start[1:])
        return start, np.ascontiguousarray(self.of_entries[order])


@dataclass(frozen=True, eq=False)
class Assignment:
    """A head for as many units as possible.

    Attributes:
        units: What was assigned.
        head: (units,) the node each was given to; -1 for units that are too many.
        over: (nodes,) whether a node belongs to the over-determined part.
        under: (nodes,) whether a node belongs to the under-determined part.
    """

    units: Units
    head: Integers
    over: NDArray[np.bool_]
    under: NDArray[np.bool_]

    @property
    def spare(self) -> Integers:
        """Units that are too many."""
        return np.flatnonzero(self.head < 0)

    @property
    def missing(self) -> int:
        """How many units are missing."""
        return int(self.units.capacity.sum()) - int(np.count_nonzero(self.head >= 0))


def assigned(units: Units) -> Assignment:
    """Give as many units as possible to a node each, by augmenting paths.

    >>> found = assigned(Units.of([3, 3], [[0]] * 3 + [[0, 1]] * 2 + [[1]]))
    >>> found.head.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    from biela.graph.ordering.compiled_matching import reachable_rows
    from biela.graph.structure import compiled_units as compiled

    start, own = units.by_node
    first = compiled.first_heads(units.start, units.entries, start, own, units.capacity)
    head = compiled.augment(units.start, units.entries, units.capacity, first)
    over = compiled.over_determined(units.start, units.entries, head, units.nodes)
    # nodes with room, and those that could pass a unit on towards one of them
    spare = units.capacity - np.bincount(head[head >= 0], minlength=units.nodes)
    under = reachable_rows(start, own, head, spare > 0)
    return Assignment(units, head, over, under)


@dataclass(frozen=True, eq=False)
class Condensation:
    """Sets of nodes that are solved together, in solution order.

    Attributes:
        part: (nodes,) the number of the set of each node.
        level: (sets,) the longest way to each set from those that rest on nothing.
        start: (sets + 1,) where the sets that rest on each begin in ``ahead``.
        ahead: Those sets, each once.
    """

    part: Integers
    level: Integers
    start: Integers
    ahead: Integers

    @property
    def count(self) -> int:
        """Number of sets."""
        return len(self.level)

    def before(self) -> list[list[int]]:
        """For each set those it rests on directly, in order."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for k in range(self.count):
            for after in self.ahead[self.start[k] : self.start[k + 1]].tolist():
                found[after].append(k)
        return found


def condensed(
    nodes: int, tails: Integers, heads: Integers, rank: Integers | None = None
) -> Condensation:
    """The strong components of a digraph, each after those that lead to it.

    Where several may come next it is the one with the node of lowest rank, the number of the node
    if none is given (Tarjan 1972; Kahn 1962 with a heap).

    >>> found = condensed(3, np.array([2, 0, 1]), np.array([0, 1, 0]))
    >>> found.part.tolist()
    [1, 1, 0]
    """
    from biela.graph.ordering.compiled_matching import strong_components
    from biela.graph.structure import compiled_digraphs as compiled

    every = np.arange(nodes, dtype=np.int64)
    inside = np.ones(nodes, dtype=np.bool_)
    component, count = strong_components(*_successors(nodes, tails, heads), every, inside)
    a, b = component[tails], component[heads]
    keys = np.unique((a * count + b)[a != b]) if count else np.zeros(0, dtype=np.int64)
    start, ahead = _successors(count, keys // max(count, 1), keys % max(count, 1))
    lowest = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(lowest, component, every if rank is None else rank)
    order = compiled.topological(start, ahead, lowest)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    start, ahead = _successors(count, place[keys // max(count, 1)], place[keys % max(count, 1)])
    level = compiled.levels_of(start, ahead, np.arange(count, dtype=np.int64))
    return Condensation(place[component], level, start, ahead)


def _successors(nodes: int, tails: Integers, heads: Integers) -> tuple[Integers, Integers]:
    order = np.lexsort((heads, tails))
    start = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=nodes), out=start[1:])
    return start, np.ascontiguousarray(heads[order], dtype=np.int64)
