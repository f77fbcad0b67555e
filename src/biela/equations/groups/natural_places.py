"""Points and directions of bodies as linear expressions of basic points and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.groups.cast import Cast, Owner, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.items import Item
from biela.equations.groups.natural_orientation import Orientation, Span
from biela.equations.groups.natural_spots import Spot, Spots
from biela.equations.groups.natural_vectors import Triple, added, cleaned_rows, times
from biela.equations.reference_point import NORMAL
from biela.model.joints.primitives import Row
from biela.model.pair import Place
from biela.space import Vector

__all__ = ["NaturalPlaces"]


class NaturalPlaces(GroupDerivation):
    """Where the bodies of a group are, in natural coordinates.

    Attributes:
        points: Places of bodies; those of a class are one point.
        axes: Directions of bodies; those of a class are one unit vector.
        at: The points of classes.
        along: The vectors of classes.
        orientation: Of each body.
        anchors: For each body a point of it, and where that is in its frame.
    """

    def __init__(self, cast: Cast, poses: Poses | None = None) -> None:
        super().__init__(cast, poses)
        self.points, self.axes = Spots(), Spots()
        self.at: dict[int, Triple] = {}
        self.along: dict[int, Triple] = {}
        self.orientation: dict[int, Orientation] = {}
        self.anchors: dict[int, tuple[Triple, Floats]] = {}
        self._factors: dict[bytes, Atom] = {}
        #: Directions of known bodies that have been asked for: bodies, rows, and what they are.
        self._directions: list[tuple[Integers, Floats, Triple]] = []

    # ------------------------------------------------------------------------- plane

    @property
    def normal(self) -> int:
        """The axis across the plane of a planar group."""
        assert self.plane is not None
        return "xyz".index(NORMAL[self.plane])

    def perpendicular(self, v: Triple) -> Triple:
        """A vector of the plane turned by a right angle about the normal."""
        k = self.normal
        a, b = (k + 1) % 3, (k + 2) % 3
        found = [self.workspace.atom(0)] * 3
        found[a], found[b] = -v[b], v[a]
        return found[0], found[1], found[2]

    def perpendicular_rows(self, rows: Floats) -> Floats:
        """The same for numbers (n, 3)."""
        normal = np.zeros(3)
        normal[self.normal] = 1.0
        found: Floats = np.cross(normal, rows) + 0.0
        return found

    # ------------------------------------------------------------------------ numbers

    def factor(self, values: Floats) -> Atom:
        """A parameter; the same values have one symbol."""
        cleaned = cleaned_rows(values)
        key = cleaned.tobytes()
        if key not in self._factors:
            self._factors[key] = self.column("g", cleaned)
        return self._factors[key]

    def spot_unknowns(self, name: str, spot: Spot, *, direction: bool) -> Triple:
        """A point or a direction as unknowns: two in a plane, else three."""
        place = self.rows_of(spot, direction=direction)

        def component(k: int) -> Callable[[Poses], Floats]:
            return lambda poses: place(poses)[:, k]

        found = [self.workspace.atom(0)] * 3
        for axis in self.plane or "xyz":
            k = "xyz".index(axis)
            found[k] = self.unknown(f"{name}.{axis}", component(k))
        return found[0], found[1], found[2]

    def rows_of(self, spot: Spot, *, direction: bool) -> Callable[[Poses], Floats]:
        """Where a point, or a direction, of a body is at a position."""

        def found(poses: Poses) -> Floats:
            if not direction:
                return poses.of(spot.frames)[0]
            axes: Floats = np.einsum("nij,nj->ni", poses.body(spot.body)[1], spot.rows)
            return axes

        return found

    def hold(self, label: str, value: Atom) -> None:
        """Add an equation of the coordinates."""
        nothing = Vector(self.space, {})
        self.further.append(Row(label, value, None, nothing, nothing))

    # -------------------------------------------------------------------- directions

    def direction(self, slot: int, rows: Floats) -> Triple:
        """A vector (n, 3) in the frame of a body of the group."""
        for k in self.axes.of(slot):
            if self.axes.root(k) in self.along and self.axes.nodes[k].is_at(
                slot, self.cast.bodies[:, slot], rows
            ):
                return self.along[self.axes.root(k)]
        orientation = self.orientation[slot]
        seen = orientation.seen(slot, rows)
        if orientation.span is not None:
            return self.spanned(orientation.span, seen)
        assert orientation.known is not None
        return self.known_direction(orientation.known.body, seen)

    def spanned(self, span: Span, seen: Floats) -> Triple:
        """V A⁻¹ l."""
        xi = np.einsum("nij,nj->ni", span.inverse, seen)
        return self.combined([(self.factor(xi[:, k]), span.V[k]) for k in range(3)])

    def combined(self, terms: Sequence[tuple[Atom, Triple]]) -> Triple:
        """A sum of vectors times numbers."""
        total = [self.workspace.atom(0)] * 3
        for factor, v in terms:
            if factor.ref:
                total = [t + factor * x if x.ref else t for t, x in zip(total, v, strict=True)]
        return total[0], total[1], total[2]

    def known_direction(self, body: Integers, rows: Floats) -> Triple:
        """A vector in the frame of a known body, or of the ground."""
        if (body < 0).all():
            x, y, z = (self.factor(rows[:, k]) for k in range(3))
            return x, y, z
        rows = cleaned_rows(rows)
        if self.plane is not None:
            return self._known_in_plane(body, rows)
        if not rows.any():
            zero = self.workspace.atom(0)
            return zero, zero, zero
        for known, direction, v in self._directions:
            if not np.array_equal(known, body):
                continue
            share = np.einsum("ni,ni->n", rows, direction) / np.square(direction).sum(axis=1)
            if np.abs(rows - share[:, None] * direction).max() < 1e-14:
                return times(self.factor(share), v)
        item = Item("axis", body, rows)
        x, y, z = (self.given(item, k) for k in range(3))
        self._directions.append((body, rows, (x, y, z)))
        return x, y, z

    def _known_in_plane(self, body: Integers, rows: Floats) -> Triple:
        """One direction of each known body is asked for; all others are written in it."""
        across = self.in_plane(rows)
        base = next((d for d in self._directions if np.array_equal(d[0], body)), None)
        if base is None and np.linalg.norm(across, axis=1).min() > 0:
            unit = cleaned_rows(across / np.linalg.norm(across, axis=1, keepdims=True))
            u = self._known_triple("axis", body, unit)
            base = (body, unit, (u[0], u[1], u[2]))
            self._directions.append(base)
        terms: list[tuple[Atom, Triple]] = []
        if base is not None:
            _, unit, v = base
            along = np.einsum("ni,ni->n", rows, unit)
            other = np.einsum("ni,ni->n", rows, self.perpendicular_rows(unit))
            terms = [(self.factor(along), v), (self.factor(other), self.perpendicular(v))]
        found = list(self.combined(terms))
        found[self.normal] = self.factor(rows[:, self.normal])
        return found[0], found[1], found[2]

    # ------------------------------------------------------------------------ points

    def spot_point(self, k: int) -> Triple | None:
        """The point of a spot, if it is known where it is."""
        root = self.points.root(k)
        if root not in self.at:
            outside = [s for s in self.points.members(root) if not s.moves]
            if outside:
                self.at[root] = self.known_point(outside[0].frames)
        return self.at.get(root)

    def spot_vector(self, k: int) -> Triple | None:
        """The vector of a spot, if it is known."""
        root = self.axes.root(k)
        if root not in self.along:
            outside = [s for s in self.axes.members(root) if not s.moves]
            if outside:
                self.along[root] = self.known_direction(outside[0].body, outside[0].rows)
        return self.along.get(root)

    def known_point(self, frames: Frames) -> Triple:
        """A point of a known body, or of the ground."""
        if (frames.body < 0).all():
            rows = self.in_plane(frames.place)
            x, y, z = (self.factor(rows[:, k]) for k in range(3))
            return x, y, z
        key = ("point", frames.body.tobytes(), frames.place.tobytes())
        x, y, z = self.remembered(
            key, lambda: self._known_triple("point", frames.body, frames.place)
        )
        return x, y, z

    def point(self, slot: int, rows: Floats) -> Triple:
        """A point (n, 3) of a body of the group."""
        rows = self.in_plane(rows)
        body = self.cast.bodies[:, slot]
        for k in self.points.of(slot):
            found = self.spot_point(k) if self.points.nodes[k].is_at(slot, body, rows) else None
            if found is not None:
                return found
        base, at = self.anchors[slot]
        arm = rows - at
        if not cleaned_rows(arm).any():
            return base
        return added(base, self.direction(slot, arm))

    # ---------------------------------------------------------- what a derivation gives

    def placed(self, name: str, slot: int, frames: Frames) -> Place:
        """A frame on a body, in all instances."""
        if slot >= 0:
            r = self.point(slot, frames.place)
            axes = [self.direction(slot, frames.axes[:, :, k]) for k in range(3)]
        else:
            r = self.known_point(frames)
            axes = [self.known_direction(frames.body, frames.axes[:, :, k]) for k in range(3)]
        place = self._place(name, r, axes)
        return Place(self._lifted(place.point, name, frames), place.base)

    def _place(self, name: str, r: Triple, axes: Sequence[Triple]) -> Place:
        root = self.system.base
        matrix = [[axes[column][row] for column in range(3)] for row in range(3)]
        point = self.system.origin.offset(self.fresh(name), root.vector(*r))
        return Place(point, root.by_matrix(self.fresh(name), matrix))

    def components_of(self, slot: int, name: str, rows: Floats, point: bool) -> Sequence[Atom]:
        """A point or a direction of a body of the group in the ground, from its own frame."""
        del name
        return self.point(slot, rows) if point else self.direction(slot, rows)

    def put_all(self) -> None:
        """Place all bodies, each by its own frame moved to its anchor."""
        identity = np.broadcast_to(np.eye(3), (self.cast.count, 3, 3))
        for slot, (r, at) in self.anchors.items():
            axes = [self.direction(slot, identity[:, :, k]) for k in range(3)]
            name = self.cast.example.bodies_in_order[slot]
            self.put(slot, self._place(name, r, axes), (at, identity))

    def side_rank(self, slot: int) -> int:
        """How simple the directions of a body are: the ground, known ones, those that are not."""
        if slot == Owner.GROUND:
            return 0
        if slot == Owner.KNOWN:
            return 1
        return 2 if self.orientation[slot].known is not None else 3
