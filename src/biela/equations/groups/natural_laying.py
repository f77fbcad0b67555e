"""Which points and vectors of a group are basic, and which follow from them.

What is known spreads first: a body whose orientation and one point are known gives all its other
points and axes as expressions; a driven pin gives the orientation of the body beyond it, a driven
slide its place.  Where nothing follows any more, the point or vector that completes most bodies
becomes unknown, and so on until all bodies are placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.natural_joints import NaturalDerivation
from biela.equations.groups.natural_orientation import holds_orientation, orientations
from biela.equations.groups.natural_spanning import Spanning, Third, across_rows
from biela.equations.groups.natural_spots import Spots
from biela.equations.groups.natural_transport import Transport
from biela.equations.groups.natural_vectors import added, difference, dot

__all__ = ["Laying"]


class Laying:
    """Lays out the natural coordinates of a group.

    Attributes:
        derivation: With all bodies placed, and the equations of the coordinates themselves.
    """

    def __init__(self, cast: Cast, poses: Poses, third: Third) -> None:
        self.cast = cast
        self.derivation = NaturalDerivation(cast, poses)
        self.orientations = orientations(cast, poses)
        for orientation in self.orientations:
            for slot in orientation.turns:
                self.derivation.orientation[slot] = orientation
        self.spanning = Spanning(self.derivation, poses, third)
        self.transport = Transport(self.derivation, poses, self.spanning)
        self._settled_axes: set[int] = set()
        self._spread: set[int] = set()
        self._share()
        self.spanning.struts.slides = {
            key[0]: partial(self.transport.law, key)
            for key in self.transport.driven
            if key[0] in self.derivation.kept_turns
        }
        while not self._done():
            if not self._advance():
                self._introduce()
        while self._advance():
            pass
        self.derivation.put_all()

    def _done(self) -> bool:
        return len(self.derivation.anchors) == self.cast.size

    # ------------------------------------------------------------------------ sharing

    def _share(self) -> None:
        d = self.derivation
        for number, element in self.cast.joints():
            i, j = element.markers
            if holds_orientation(element) and self._one_orientation(number):
                d.kept_turns.add(number)
            if "point" in element.joint.shares:
                spots = [
                    d.points.add(m.slot, m.frames.body, d.in_plane(m.frames.place), element.label)
                    for m in (i, j)
                ]
                if d.points.merge(*spots):
                    d.shared_points.add(number)
            turns = "axis" in element.joint.shares and not holds_orientation(element)
            if d.plane is None and turns and not self.transport.gives_turn(number):
                signs = self.transport.signs(number)
                spots = [
                    d.axes.add(i.slot, i.frames.body, i.frames.axes[:, :, 2], element.label),
                    d.axes.add(
                        j.slot, j.frames.body, signs * j.frames.axes[:, :, 2], element.label
                    ),
                ]
                if d.axes.merge(*spots):
                    d.shared_axes.add(number)

    def _one_orientation(self, number: int) -> bool:
        """Whether the bodies of a joint belong to one orientation, of which one may be known."""
        i, j = self.cast.elements[number].markers
        of = self.derivation.orientation
        if i.slot >= 0 and j.slot >= 0:
            return of[i.slot] is of[j.slot]
        moving, still = (i, j) if i.slot >= 0 else (j, i)
        known = of[moving.slot].known
        return known is not None and np.array_equal(known.body, still.frames.body)

    # ---------------------------------------------------------------------- spreading

    def _advance(self) -> bool:
        """Let what is known spread by one step."""
        return (
            any([self._settle_axes(slot) for slot in range(self.cast.size)])
            or any([self._anchor(slot) for slot in range(self.cast.size)])
            or any(
                self.transport.carry(key, partial(self.transport.law, key))
                for key in self.transport.driven
            )
            or any(self.spanning.orient(o) for o in self.orientations if not o.complete)
        )

    def _anchor(self, slot: int) -> bool:
        """Place a body whose orientation and one point are known."""
        d = self.derivation
        if slot in self._spread or not d.orientation[slot].complete:
            return False
        if slot in d.anchors:  # by a slide
            self._spread_points(slot, set())
            return True
        mine = [k for k in d.points.of(slot) if d.spot_point(k) is not None]
        if not mine:
            return False
        first = min(mine, key=lambda k: self._anchor_rank(slot, k))
        point = d.spot_point(first)
        assert point is not None
        d.anchors[slot] = point, d.points.nodes[first].rows
        self._spread_points(slot, {first})
        return True

    def _anchor_rank(self, slot: int, k: int) -> tuple[bool, bool]:
        starts = any((slot, k) == segment[:2] for segment in self.spanning.segments)
        return not starts, self.spanning.is_moving(self.derivation.spot_point(k))

    def _spread_points(self, slot: int, joined: set[int]) -> None:
        """Give the other points of a placed body, or hold them where they are given already."""
        d = self.derivation
        self._spread.add(slot)
        point, at = d.anchors[slot]
        for owner, start, end in self.spanning.segments:
            if owner == slot and start in joined:
                joined.add(end)
        for k in d.points.of(slot):
            if k in joined:
                continue
            spot = d.points.nodes[k]
            found = added(point, d.direction(slot, spot.rows - at))
            there = d.spot_point(k)
            if there is None:
                d.at[d.points.root(k)] = found
                continue
            gap = difference(found, there)
            name = self.cast.example.bodies_in_order[slot]
            for axis in d.plane or "xyz":
                d.hold(f"{name}.{spot.name}.{axis}", gap["xyz".index(axis)])

    def _settle_axes(self, slot: int) -> bool:
        """Give the axes of a body whose orientation is known, or hold those given already."""
        d = self.derivation
        orientation = d.orientation[slot]
        if not orientation.complete or slot in self._settled_axes:
            return False
        self._settled_axes.add(slot)
        changed = False
        for k in d.axes.of(slot):
            if k in self.spanning.basis.get(id(orientation), ()):
                continue
            spot = d.axes.nodes[k]
            there = d.spot_vector(k)
            if there is None:
                d.along[d.axes.root(k)] = d.direction(slot, spot.rows)
                changed = True
                continue
            for n, across in enumerate(across_rows(spot.rows)):
                value = dot(d.direction(slot, across), there)
                d.hold(f"{self.spanning.name(slot)}.{spot.name}.across{n + 1}", value)
        return changed

    # ----------------------------------------------------------------------- unknowns

    def _introduce(self) -> None:
        """Make the point or vector unknown that completes most bodies.

        Of equal ones a point is taken before an axis, and what joints share before what one body
        has alone; the coordinate of a joint that couplings name before all of them, since it is
        one unknown.
        """
        d = self.derivation
        for key in self.transport.coupled:
            if self.transport.carry(key, None):
                self.transport.carry(key, partial(d.joint_unknown, *key))
                return
        options: list[tuple[float, Spots, Callable[[], int]]] = []
        nothing: frozenset[int] = frozenset()
        for root, members in d.points.classes():
            if d.spot_point(root) is None and any(s.moves for s in members):
                gain = self._gain(frozenset({root}), nothing)
                options.append((gain, d.points, partial(int, root)))
        for root, members in d.axes.classes():
            if d.spot_vector(root) is None and any(s.moves for s in members):
                gain = self._gain(nothing, frozenset({root}))
                options.append((gain, d.axes, partial(int, root)))
        options += self._private()
        _, spots, chosen = max(options, key=lambda option: option[0])
        self._make_unknown(spots, chosen())

    def _make_unknown(self, spots: Spots, root: int) -> None:
        d = self.derivation
        spot = next(s for s in spots.members(root) if s.moves)
        if spots is d.points:
            d.at[root] = d.spot_unknowns(spot.name, spot, direction=False)
            return
        v = d.spot_unknowns(f"{spot.name}.axis", spot, direction=True)
        d.along[root] = v
        d.hold(f"{spot.name}.axis.unit", dot(v, v) - 1)

    def _gain(self, points: frozenset[int], axes: frozenset[int]) -> float:
        """How much an unknown would complete."""
        d = self.derivation
        total = 0.0
        touched = {s.slot for root in points for s in d.points.members(root)}
        touched |= {s.slot for root in axes for s in d.axes.members(root)}
        for o in self.orientations:
            if o.complete or not touched & set(o.turns):
                continue
            before = len(self.spanning.chosen(o, self.spanning.candidates(o)))
            after = len(self.spanning.chosen(o, self.spanning.candidates(o, points, axes)))
            total += 1.0 if after == self.spanning.needs(o) else 0.25 * (after - before)
        for slot in sorted(s for s in touched if s >= 0):
            if slot in d.anchors or not any(d.points.root(k) in points for k in d.points.of(slot)):
                continue
            if not any(d.spot_point(k) is not None for k in d.points.of(slot)):
                total += 1.0 if d.orientation[slot].complete else 0.1
        return total

    def _private(self) -> Iterator[tuple[float, Spots, Callable[[], int]]]:
        """Points and vectors of one body alone."""
        d = self.derivation
        for slot in range(self.cast.size):
            if slot not in d.anchors and not d.points.of(slot):
                gain = 1.0 if d.orientation[slot].complete else 0.1
                yield gain, d.points, partial(self._private_point, slot)
        for o in self.orientations:
            if not o.complete:
                last = len(
                    self.spanning.chosen(o, self.spanning.candidates(o))
                ) + 1 == self.spanning.needs(o)
                yield 1.0 if last else 0.25, d.axes, partial(self.spanning.private_axis, o)

    def _private_point(self, slot: int) -> int:
        d = self.derivation
        place = np.zeros((self.cast.count, 3))
        for _, element in self.cast.joints():
            mine = [m for m in element.markers if m.slot == slot]
            if mine:
                place = d.in_plane(mine[0].frames.place)
                break
        return d.points.add(slot, self.cast.bodies[:, slot], place, self.spanning.name(slot))
