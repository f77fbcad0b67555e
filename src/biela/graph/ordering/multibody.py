"""Orders of elimination for multibody systems that know bodies from joints.

The saddle-point matrix of a multibody system,

    [ M   Φᵀ ]      a few unknowns a body, a few multipliers a joint,
    [ Φ   0  ]

is eliminated without pivoting if the rows of Φ that are eliminated so far have full rank on the
unknowns that are, or lack it for good.  General orders make sure of it by letting each multiplier
wait for *all* unknowns it acts on.  That is more than it takes.  The rows of one joint are
independent on either of its bodies by itself.  So in a tree each joint may follow its child alone,
whose inertia is then carried over to the parent: that order is the recursion over articulated
bodies, and adds no edge between bodies.

A joint that leads to a body not yet eliminated is called open.  Let the joints of a spanning tree
follow their child, and every other one the bodies of the loop it closes, but for the topmost one.
Then the bodies that are eliminated hang together in pieces, and all open joints of a piece lead to
one and the same body L.  Joints do not notice a common motion of all they connect.  So if
a combination of rows vanishes on all bodies of a piece, it vanishes on L as well: what is dependent
among the rows eliminated so far is so in the whole system, and may be dropped.  The same holds if
only joints that are in no loop follow their child and the others wait for both their bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, integer_array
from biela.graph.connections import blocks as biconnected
from biela.graph.connections import breadth_first
from biela.graph.cost import FactorCost, symbolic_fill
from biela.graph.ordering.anchored_rows import AnchoredRows
from biela.graph.ordering.band import reverse_cuthill_mckee
from biela.graph.ordering.degree import minimum_degree, ordered_after

__all__ = ["MultibodyOrder", "deferred", "multibody_order"]

#: Rows and bodies they wait for, by edges of the graph, beyond which loops are too long.
WAITS = 2


@dataclass(frozen=True, eq=False)
class MultibodyOrder:
    """An order of elimination, and how it was found.

    Attributes:
        order: vertex `order[k]` is the k-th to be eliminated.
        strategy: which of the strategies it is.
        costs: the cost of each strategy that was tried.
    """

    order: Integers
    strategy: str
    costs: dict[str, FactorCost]

    @property
    def cost(self) -> FactorCost:
        """That of the order."""
        return self.costs[self.strategy]


def multibody_order(
    graph: Adjacency, bodies: ArrayLike, joints: ArrayLike, anchors: ArrayLike = ()
) -> MultibodyOrder:
    """The cheapest of several orders for the saddle-point matrix of a multibody system.

    - *late*: minimum degree, each multiplier after all unknowns it acts on;
    - *given*, *band*: the order of the numbers, and that of Cuthill & McKee backwards, with
      multipliers moved behind their unknowns (small systems are often given in a good order);
    - *bridges*: the same, but a joint in no loop follows its child only;
    - *tree*: every joint of a tree of shortest paths from the ground follows its child, each other
      one the loop it closes;
    - *trunk*: the same with a tree of shortest paths from a longest one, so that the loops of long
      and narrow nets are short;
    - *anchored*, *pairs*, *pins*: those of both trees in which rows with an anchor follow that
      alone, see `biela.graph.ordering.anchored_rows`.

    Args:
        graph: that of the matrix.
        bodies: for each vertex the number of the body whose unknown it is, -1 for multipliers.  In
            natural coordinates a point or a unit vector is a body.
        joints: for each vertex the number of the joint whose multiplier it is, -1 for unknowns.
            The rows of a joint must be independent on each of its bodies, as those of a joint
            between rigid bodies are; rows of which this is not known are joints of their own.
        anchors: pairs of a multiplier and an unknown, of entries that are numbers other than zero
            in every position, such as those of the centre of mass in the rows of a pin.

    Raises:
        ShapeError: a vertex is neither or both, a joint has rows for no body, or an anchor is no
            entry.
    """
    topology = _Topology(graph, integer_array("bodies", bodies), integer_array("joints", joints))
    late = topology.multipliers
    held = AnchoredRows(graph, topology.body, topology.joint, anchors)
    found = {"late": minimum_degree(graph, late)}
    found["given"] = deferred(graph, np.arange(graph.size), late)
    found["band"] = deferred(graph, reverse_cuthill_mckee(graph), late)
    found["bridges"] = ordered_after(graph, *topology.waits(topology.bridges))
    for name, tree in (("tree", topology.tree), ("trunk", topology.trunk_tree())):
        waits = topology.loop_waits(tree)
        if waits is not None:
            found[name] = ordered_after(graph, *waits)
            # without loops a joint that follows its whole child is never beaten
            if len(held) and (tree.child < 0).any():
                more = held.orders(tree.child, waits)
                found |= {f"{name}, {way}": order for way, order in more.items()}
    costs = {name: symbolic_fill(graph, order) for name, order in found.items()}
    best = min(costs, key=lambda name: costs[name].operations)
    return MultibodyOrder(found[best], best, costs)


def deferred(graph: Adjacency, order: Integers, late: ArrayLike) -> Integers:
    """An order with each late vertex moved back, just behind the last of its other neighbours.

    So any order can be used where multipliers must follow what they act on.
    """
    place = np.empty(graph.size, dtype=np.int64)
    place[order] = np.arange(graph.size)
    is_late = np.zeros(graph.size, dtype=np.bool_)
    is_late[integer_array("late", late)] = True
    ends = np.repeat(np.arange(graph.size), np.diff(graph.start))
    waits = is_late[ends] & ~is_late[graph.neighbours]
    key = place.copy()
    np.maximum.at(key, ends[waits], place[graph.neighbours[waits]])
    return np.lexsort((place, is_late, key))


@dataclass(frozen=True, eq=False)
class _Tree:
    """A spanning forest of bodies: parents, depths, and the child of each joint in it, or -1."""

    parent: Integers
    depth: Integers
    child: Integers


class _Topology:
    """Bodies and joints of a saddle-point matrix; the ground is the body after the last."""

    def __init__(self, graph: Adjacency, bodies: Integers, joints: Integers) -> None:
        for name, labels in (("bodies", bodies), ("joints", joints)):
            if len(labels) != graph.size:
                raise ShapeError(f"{len(labels)} {name} for {graph.size} vertices")
        wrong = np.flatnonzero((bodies >= 0) == (joints >= 0))
        if len(wrong):
            raise ShapeError(
                f"vertex {wrong[0]} should be either of a body or of a joint, not both or neither"
            )
        self.graph = graph
        self.body, self.joint = bodies, joints
        self.multipliers = np.flatnonzero(joints >= 0)
        self.count = int(bodies.max(initial=-1)) + 1
        ends = np.repeat(np.arange(graph.size), np.diff(graph.start))
        acts = (joints[ends] >= 0) & (bodies[graph.neighbours] >= 0)
        self._row, self._unknown = ends[acts], graph.neighbours[acts]
        # the bodies of each joint
        width = max(self.count, 1)
        pairs = np.unique(joints[self._row] * width + bodies[self._unknown])
        self._pair_joint, self._pair_body = pairs // width, pairs % width
        number = int(joints.max(initial=-1)) + 1
        degree = np.bincount(self._pair_joint, minlength=number)
        used = np.bincount(joints[self.multipliers], minlength=number) > 0
        if np.any(used & (degree == 0)):
            alone = int(np.flatnonzero(used & (degree == 0))[0])
            raise ShapeError(f"joint {alone} has multipliers that act on no body")
        self._edges(number, degree)
        self._unknowns = np.argsort(bodies, kind="stable")[len(self.multipliers) :]
        self._start = np.searchsorted(bodies[self._unknowns], np.arange(self.count + 1))

    def _edges(self, number: int, degree: Integers) -> None:
        """The graph of bodies: an edge a joint; one on several bodies is a loop through them."""
        first = np.full(number, self.count, dtype=np.int64)
        second = np.full(number, self.count, dtype=np.int64)
        at = np.searchsorted(self._pair_joint, np.arange(number))
        some, pair = degree >= 1, degree >= 2
        first[some] = self._pair_body[at[some]]
        second[pair] = self._pair_body[at[pair] + 1]
        self.many = degree > 2
        more = np.flatnonzero(self.many[self._pair_joint])
        self.edge_joint = np.concatenate([np.arange(number), self._pair_joint[more]])
        self.first = np.concatenate([first, first[self._pair_joint[more]]])
        self.second = np.concatenate([second, self._pair_body[more]])
        real = self.first != self.second
        self.edge_joint, self.first, self.second = (
            x[real] for x in (self.edge_joint, self.first, self.second)
        )
        self.tree = self._rooted(np.arange(len(self.first)))
        single, _ = biconnected(self.count + 1, self.first, self.second)
        is_bridge = np.zeros(number, dtype=np.bool_)
        is_bridge[self.edge_joint[single]] = True
        self.bridges = np.where(is_bridge & ~self.many, self.tree.child, -1)

    def _rooted(self, edges: Integers) -> _Tree:
        """The tree of shortest paths from the ground over some edges."""
        swap = np.arange(self.count + 1)
        swap[[0, self.count]] = self.count, 0  # walks begin at vertex 0
        forest = breadth_first(self.count + 1, swap[self.first[edges]], swap[self.second[edges]])
        parent = np.where(forest.parent >= 0, swap[forest.parent], -1)[swap]
        by = forest.edge[swap]
        child = np.full(len(self.many), -1, dtype=np.int64)
        reached = np.flatnonzero(by >= 0)
        joint = self.edge_joint[edges[by[reached]]]
        two = ~self.many[joint]
        child[joint[two]] = reached[two]
        return _Tree(parent, forest.depth[swap], child)

    def trunk_tree(self) -> _Tree:
        """A tree whose trunk is a longest path between bodies, and shortest paths from there."""
        inner = np.flatnonzero((self.first < self.count) & (self.second < self.count))
        a, b = self.first[inner], self.second[inner]
        if not len(inner):
            return self.tree
        end = 0
        for _ in range(2):
            swap = np.arange(self.count)
            swap[[0, end]] = end, 0
            forest = breadth_first(self.count, swap[a], swap[b])
            near = forest.order[: _first_tree(forest.parent, forest.order)]
            end = int(swap[near[-1]])
        trunk, edges = [end], []
        while forest.parent[swap[trunk[-1]]] >= 0:
            edges.append(int(inner[forest.edge[swap[trunk[-1]]]]))
            trunk.append(int(swap[forest.parent[swap[trunk[-1]]]]))
        # with the trunk as one vertex
        place = np.arange(self.count + 1) + 1
        place[trunk] = 0
        grown = breadth_first(self.count + 2, place[self.first], place[self.second])
        edges += grown.edge[grown.edge >= 0].tolist()
        return self._rooted(np.array(sorted(edges), dtype=np.int64))

    def waits(self, child: Integers) -> tuple[Integers, Integers]:
        """Each multiplier and the unknowns it waits for: of its child, or of all its bodies."""
        only = child[self.joint[self._row]]
        counts = (only < 0) | (only == self.body[self._unknown])
        rows = self.multipliers[child[self.joint[self.multipliers]] >= 0]
        # also what the row does not touch of its child: a body is eliminated as a whole
        more_rows, more_unknowns = self._all_of(rows, child[self.joint[rows]])
        return (
            np.concatenate([self._row[counts], more_rows]),
            np.concatenate([self._unknown[counts], more_unknowns]),
        )

    def _all_of(self, rows: Integers, bodies: Integers) -> tuple[Integers, Integers]:
        """Each row with all unknowns of its body."""
        sizes = np.diff(self._start)[bodies]
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(rows, sizes), self._unknowns[
            np.repeat(self._start[bodies], sizes) + offsets
        ]

    def loop_waits(self, tree: _Tree) -> tuple[Integers, Integers] | None:
        """The waits of a spanning tree, or None if its loops are too long to be waited for."""
        chords = np.flatnonzero(tree.child < 0)
        rows_of: dict[int, list[int]] = {}
        for row in self.multipliers[tree.child[self.joint[self.multipliers]] < 0].tolist():
            rows_of.setdefault(int(self.joint[row]), []).append(row)
        rows: list[int] = []
        bodies: list[int] = []
        parent, depth = tree.parent.tolist(), tree.depth.tolist()
        at = np.searchsorted(self._pair_joint, chords)
        end = np.searchsorted(self._pair_joint, chords + 1)
        for chord, a, b in zip(chords.tolist(), at.tolist(), end.tolist(), strict=True):
            ends = self._pair_body[a:b].tolist()
            if len(ends) == 1:
                ends.append(self.count)
            loop = _below_top(ends, parent, depth)
            loop.discard(self.count)
            for row in rows_of.get(chord, ()):
                rows += [row] * len(loop)
                bodies += loop
            if len(rows) > WAITS * len(self.graph.neighbours):
                return None
        first, second = self.waits(tree.child)
        more = self._all_of(np.array(rows, dtype=np.int64), np.array(bodies, dtype=np.int64))
        return np.concatenate([first, more[0]]), np.concatenate([second, more[1]])


def _first_tree(parent: Integers, order: Integers) -> int:
    """How many vertices the first tree of a forest has; they come first in its order."""
    roots = np.flatnonzero(parent[order] < 0)
    return int(roots[1]) if len(roots) > 1 else len(order)


def _below_top(ends: list[int], parent: list[int], depth: list[int]) -> set[int]:
    """The vertices of the paths in a tree between some vertices, less the one where they meet."""
    tips = set(ends)
    found: set[int] = set()
    while len(tips) > 1:
        deepest = max(tips, key=lambda v: depth[v])
        tips.discard(deepest)
        found.add(deepest)
        if parent[deepest] >= 0:  # otherwise they are in different trees
            tips.add(parent[deepest])
    return found
