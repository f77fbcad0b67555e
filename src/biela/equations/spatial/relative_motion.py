"""The motion of one link seen from another, by the shortest way over their common ancestor."""

from __future__ import annotations

from functools import cached_property

from biela.equations.spatial.links import Link
from biela.equations.spatial.motion import Velocity, velocities
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    UNIT,
    Matrix,
    Pose,
    Scalar,
    Triple,
    cross,
    inward,
    minus,
    plus,
    times,
    transposed,
    zero,
)


class LinkMotions:
    """Poses and velocities of links; the ground is link -1."""

    def __init__(self, tree: SpatialTree) -> None:
        self.tree = tree
        self._poses: dict[tuple[int, int], Pose] = {}
        self._turns: dict[tuple[int, int], Matrix] = {}

    def ancestor(self, a: int, b: int) -> int:
        """The last link that is before both."""
        before = [-1, *self.tree.path(a)]
        return next(k for k in reversed([-1, *self.tree.path(b)]) if k in before)

    def between(self, a: int, b: int) -> frozenset[int]:
        """The links of the loop that a joint between two links closes."""
        return frozenset(self._below(a, self.ancestor(a, b))) | frozenset(
            self._below(b, self.ancestor(a, b))
        )

    def freedoms(self, a: int, b: int) -> int:
        """How many freedoms link a has from the common ancestor on."""
        return sum(len(self.tree.links[k].v) for k in self._below(a, self.ancestor(a, b)))

    def turn(self, a: int, b: int) -> Matrix:
        """R_aᵀ R_b: components along a, of those along b."""
        if (a, b) not in self._turns:
            above = self.ancestor(a, b)
            columns = transposed(self._pose(above, b).R)
            for k in self._below(a, above):
                columns = [inward(self.tree.links[k].turns, column) for column in columns]
            self._turns[a, b] = transposed(columns)
            self._turns[b, a] = [list(column) for column in columns]
        return self._turns[a, b]

    def place(self, a: int, b: int) -> Triple:
        """From the origin of a to that of b, along the axes of a."""
        above = self.ancestor(a, b)
        way = minus(self._pose(above, b).p, self._pose(above, a).p)
        for k in self._below(a, above):
            way = inward(self.tree.links[k].turns, way)
        return way

    def omega(self, k: int) -> Triple:
        """Its angular velocity, along its axes."""
        return [0.0, 0.0, 0.0] if k < 0 else self._velocities[k].omega

    def velocity(self, k: int) -> Triple:
        """The velocity of its origin, along its axes."""
        return [0.0, 0.0, 0.0] if k < 0 else self._velocities[k].v

    def centripetal(self, k: int, s: Triple) -> Triple:
        """ω × (ω × s), along its axes."""
        if k < 0 or all(map(zero, s)):
            return [0.0, 0.0, 0.0]
        omega = self.omega(k)
        return cross(omega, cross(omega, s))

    @cached_property
    def _velocities(self) -> list[Velocity]:
        return velocities(self.tree, self.tree.v)

    def _below(self, k: int, above: int) -> list[int]:
        """The links from one before to k, that one left out."""
        path = self.tree.path(k)
        return path if above < 0 else path[path.index(above) + 1 :]

    def _pose(self, above: int, k: int) -> Pose:
        """Link k seen from one before it."""
        if k == above:
            return Pose(UNIT, [0.0, 0.0, 0.0])
        if (above, k) not in self._poses:
            link = self.tree.links[k]
            self._poses[above, k] = _after(self._pose(above, link.parent), link)
        return self._poses[above, k]


def _after(before: Pose, link: Link) -> Pose:
    """The pose of a link, of that of its parent."""
    p: list[Scalar] = plus(before.p, times(before.R, link.place.p))
    rows = [inward(link.before, row) for row in before.R]
    if link.step.slides:
        p = plus(p, times(rows, link.step.way))
    return Pose([inward(link.step.turn, row) for row in rows], p)
