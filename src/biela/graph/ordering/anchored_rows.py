"""Rows that follow one unknown of the child of their joint, instead of all of them.

In the rows of a pin, r_i + A_i s_i - r_j - A_j s_j = 0, the places r of the centres of mass have
factors ±1 whatever the position.  Such an entry is called an *anchor* of its row.  If each of the
anchored rows of a joint has an anchor of its own in the child, on which the others do not act, then

* the rows of the joints of a tree that are eliminated so far, each after its anchor, are a
  triangular matrix on the anchors, taken from the leaves to the root, with the anchors in the
  diagonal: they are always independent;
* a body of which only anchors are eliminated so far hands no force on that it does not get: if all
  that hangs on it is balanced, so is the row that holds it.

So what `biela.graph.ordering.multibody` says of whole bodies still holds.  An anchor and its row
are a pivot of order two, by which a place is replaced by the angles that it follows from: what is
left of a chain of pins are its angles, and the rows where loops close.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, adjacency, integer_array
from biela.graph.ordering.band import sloan
from biela.graph.ordering.degree import ordered_after

__all__ = ["AnchoredRows"]


class AnchoredRows:
    """The anchors of a saddle-point matrix.

    Args:
        graph: that of the matrix.
        bodies: for each vertex the body whose unknown it is, or -1.
        joints: for each vertex the joint whose multiplier it is, or -1.
        anchors: pairs of a row and an unknown, (k, 2): entries that never vanish.  Those on whose
            unknown another row of the same joint acts are left out.

    Raises:
        ShapeError: an anchor is no entry of a row.
    """

    def __init__(
        self, graph: Adjacency, bodies: Integers, joints: Integers, anchors: ArrayLike
    ) -> None:
        self.graph, self.body, self.joint = graph, bodies, joints
        pairs = np.asarray(anchors, dtype=np.int64).reshape(-1, 2)
        row, unknown = integer_array("rows", pairs[:, 0]), integer_array("unknowns", pairs[:, 1])
        ends = np.repeat(np.arange(graph.size), np.diff(graph.start))
        entries = ends * graph.size + graph.neighbours
        inside = (row >= 0) & (row < graph.size) & (unknown >= 0) & (unknown < graph.size)
        right = inside & np.isin(row * graph.size + unknown, entries)
        right[right] = (joints[row[right]] >= 0) & (bodies[unknown[right]] >= 0)
        if not right.all():
            wrong = pairs[int(np.flatnonzero(~right)[0])].tolist()
            raise ShapeError(f"anchor {wrong} is no entry of a row by an unknown")
        # how many rows of each joint act on each unknown
        acts = (joints[ends] >= 0) & (bodies[graph.neighbours] >= 0)
        touched = joints[ends[acts]] * graph.size + graph.neighbours[acts]
        which, times = np.unique(touched, return_counts=True)
        key = joints[row] * graph.size + unknown
        alone = times[np.searchsorted(which, key)] == 1 if len(key) else np.zeros(0, dtype=bool)
        row, unknown = row[alone], unknown[alone]
        self._width = int(bodies.max(initial=-1)) + 2
        keys, first = np.unique(row * self._width + bodies[unknown], return_index=True)
        self._keys, self._unknown = keys, unknown[first]

    def __len__(self) -> int:
        return len(self._keys)

    def of(self, rows: Integers, child: Integers) -> Integers:
        """The anchor of each row in the child of its joint, -1 where there is none."""
        body = child[self.joint[rows]]
        key = rows * self._width + np.maximum(body, 0)
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where((body >= 0) & (self._keys[at] == key), self._unknown[at], -1)

    def orders(self, child: Integers, waits: tuple[Integers, Integers]) -> dict[str, Integers]:
        """Orders with a tree whose joints follow their child, and each other row what it waits for.

        - *anchored*: minimum degree;
        - *pairs*: an anchor and its row are one vertex, and these are walked through in the order
          of Sloan 1986, from one end of the mechanism to the other;
        - *pins*: all anchors and rows of a joint are one vertex, by minimum degree.
        """
        rows, unknowns = waits
        anchor = self.of(rows, child)
        kept = (anchor < 0) | (anchor == unknowns)
        rows, unknowns, anchor = rows[kept], unknowns[kept], anchor[kept]
        found = {"anchored": ordered_after(self.graph, rows, unknowns)}
        held = np.flatnonzero(anchor >= 0)
        pair = np.arange(self.graph.size)
        pair[rows[held]] = anchor[held]
        pin = pair.copy()
        # of each joint the first of its anchors
        joint = self.joint[rows[held]]
        first = np.full(int(self.joint.max(initial=-1)) + 1, self.graph.size, dtype=np.int64)
        np.minimum.at(first, joint, anchor[held])
        pin[rows[held]] = pin[anchor[held]] = first[joint]
        found["pairs"] = self._walked(pair, rows, unknowns)
        found["pins"] = self._by_degree(pin, rows, unknowns)
        return found

    def _walked(self, label: Integers, rows: Integers, unknowns: Integers) -> Integers:
        label, merged = self._merged(label)
        place = np.empty(merged.size, dtype=np.int64)
        place[sloan(merged)] = np.arange(merged.size)
        key, own = place[label], label[rows] != label[unknowns]
        np.maximum.at(key, rows[own], place[label[unknowns[own]]])
        waiting = np.zeros(self.graph.size, dtype=np.bool_)
        waiting[rows[own]] = True
        return np.lexsort((self.joint >= 0, place[label], waiting, key))

    def _by_degree(self, label: Integers, rows: Integers, unknowns: Integers) -> Integers:
        label, merged = self._merged(label)
        first, second = label[rows], label[unknowns]
        own = first != second
        place = np.empty(merged.size, dtype=np.int64)
        place[ordered_after(merged, first[own], second[own])] = np.arange(merged.size)
        return np.lexsort((self.joint >= 0, place[label]))

    def _merged(self, label: Integers) -> tuple[Integers, Adjacency]:
        """Labels from 0 on, and the graph in which vertices of one label are one."""
        _, label = np.unique(label, return_inverse=True)
        size = int(label.max(initial=-1)) + 1
        ends = label[np.repeat(np.arange(self.graph.size), np.diff(self.graph.start))]
        others = label[self.graph.neighbours]
        key = np.unique((ends * size + others)[ends < others])
        return label, adjacency(size, key // size, key % size)
