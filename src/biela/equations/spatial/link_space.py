"""The links of a tree as bases and points of a `biela.space.Space`.

Forces between markers are written on pairs of markers; with the poses and velocities of the
links from their recursions, a marker is a constant turn and offset away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biela.atoms import Atom
from biela.equations.spatial.motion import poses, velocities
from biela.equations.spatial.turning import UNIT, Pose, Scalar, zero
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.values import Value
from biela.space import Base, Space
from biela.space.rotations import MatrixRotation, matrix3, triple

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


class LinkSpace:
    """Markers of the bodies of a tree as places; each link is made when it is first asked for."""

    def __init__(self, tree: SpatialTree) -> None:
        self._tree = tree
        self.space = Space(tree.workspace)
        self._links: dict[int, Place] = {-1: Place(self.space.origin, self.space.root)}
        self._places: dict[Marker, Place] = {}

    def number(self, value: Value, dimension: str) -> Atom:
        """A value as an expression."""
        return self.space.workspace.atom(self._tree.number(value, dimension))

    def place(self, marker: Marker) -> Place:
        """A marker: its point and its base."""
        if marker not in self._places:
            k, pose = self._tree.marker(marker)
            self._places[marker] = self._fixed(self.link(k), pose, f"m{len(self._places)}")
        return self._places[marker]

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers."""
        return Pair(self.place(i), self.place(j), self.number)

    def link(self, k: int) -> Place:
        """A link: its origin and its axes."""
        if len(self._links) == 1 and k >= 0:
            self._make()
        return self._links[k]

    def _make(self) -> None:
        tree, space, ws = self._tree, self.space, self.space.workspace
        found = zip(poses(tree), velocities(tree, tree.v), strict=True)
        for k, (pose, moving) in enumerate(found):
            turn = MatrixRotation(matrix3(ws, pose.R), triple(ws, moving.omega))
            base = Base(space, f"link{k}", space.root, turn)
            point = space.origin.offset(f"link{k}", space.root.vector(*pose.p))
            # known by its recursion, in place of the derivative of its position
            space.memory[space.root, point] = base.vector(*moving.v)
            self._links[k] = Place(point, base)

    def _fixed(self, link: Place, pose: Pose, name: str) -> Place:
        point, base = link.point, link.base
        if not all(map(zero, pose.p)):
            point = point.offset(name, base.vector(*pose.p))
        if not _same(pose.R):
            base = base.by_matrix(name, pose.R)
        return Place(point, base)


def _same(R: list[list[Scalar]]) -> bool:
    return all(
        isinstance(x, float) and x == e
        for row, unit in zip(R, UNIT, strict=True)
        for x, e in zip(row, unit, strict=True)
    )
