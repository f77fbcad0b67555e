"""Vectors of all links in one frame: that of the first link with mass on the way to each.

Where every joint meets every joint before it, vectors carried from link to link cost as many
turns as there are pairs; taken to one frame, each is turned once and a pair is a scalar product.
The first link with mass is the base of a floating robot, so that its position and attitude do not
enter, and the first link of an arm.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom
from biela.equations.spatial.links import Link
from biela.equations.spatial.motion import to_child
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Pose, Scalar, cross, inward, plus, times, zero


class OneFrame:
    """The frames in which the links of a tree are seen.

    Attributes:
        root: For each link the first one with mass on the way to it, itself included; -1 where
            there is none.
    """

    def __init__(self, tree: SpatialTree) -> None:
        self._tree = tree
        self.root: list[int] = []
        self._poses: list[Pose] = []
        for k, link in enumerate(tree.links):
            root = self.root[link.parent] if link.parent >= 0 else -1
            if root < 0 and not all(zero(x) for row in link.inertia for x in row):
                root = k
            self.root.append(root)
            apart = root not in (-1, k)
            self._poses.append(_after(link, self._poses[link.parent]) if apart else Pose.at())

    def force(self, k: int, x: Sequence[Scalar]) -> list[Scalar]:
        """A force [moment; force] at link k, seen in the frame of its root."""
        R, p = self._poses[k].R, self._poses[k].p
        force = times(R, x[3:])
        return [*plus(times(R, x[:3]), cross(p, force)), *force]

    def turned(self, k: int, x: Sequence[Scalar]) -> list[Scalar]:
        """The components of a vector in link k along the axes of its root."""
        return times(self._poses[k].R, x)

    def motion(self, k: int, x: Sequence[Scalar], root: int) -> list[Scalar]:
        """A motion [angular; linear] at link k, seen in the frame of a root after or before it."""
        if self.root[k] == root:
            R, p = self._poses[k].R, self._poses[k].p
            angular = times(R, x[:3])
            return [*angular, *plus(times(R, x[3:]), cross(p, angular))]
        way = self._tree.path(root)
        for i in way[way.index(k) + 1 :]:
            x = to_child(self._tree.links[i], x)
        return list(x)


def _after(link: Link, before: Pose) -> Pose:
    p = plus(before.p, times(before.R, link.place.p))
    rows = [inward(link.before, row) for row in before.R]
    if link.step.slides:
        p = plus(p, times(rows, link.step.way))
    return Pose([inward(link.step.turn, row) for row in rows], p)


def size(tree: SpatialTree, matrices: Sequence[Sequence[Sequence[Scalar]]]) -> int:
    """How many atoms some matrices need."""
    refs = [x.ref for rows in matrices for row in rows for x in row if isinstance(x, Atom)]
    return len(tree.workspace.table.live(refs))
