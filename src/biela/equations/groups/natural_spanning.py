"""What the directions of a body are written in: segments between its points, and unit vectors."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np

from biela.atoms import sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.natural_joints import NaturalDerivation
from biela.equations.groups.natural_orientation import Orientation, Span
from biela.equations.groups.natural_struts import Candidate, Struts
from biela.equations.groups.natural_vectors import Triple, cross, difference, dot, times
from biela.equations.groups.placing import upright_axis

__all__ = ["Spanning", "Third", "across_rows"]

#: The third vector of a body in space: the product of the two others, or one of its own.
Third: TypeAlias = Literal["product", "vector"]

#: Vectors are independent if the sine between them is above this, in all instances, and a segment
#: serves if it is not shorter than this part of its body.
_INDEPENDENT: Final = 0.1


class Spanning:
    """Finds vectors for orientations.

    Attributes:
        segments: Those that orientations are written in: body, first and second point.
        basis: The axes that an orientation is written in, by its identity.
        struts: Driven slides that are bars of given length.
    """

    def __init__(self, derivation: NaturalDerivation, poses: Poses, third: Third) -> None:
        self.derivation, self.cast = derivation, derivation.cast
        self.poses, self.third = poses, third
        self.segments: list[tuple[int, int, int]] = []
        self.basis: dict[int, list[int]] = {}
        self.struts = Struts(derivation, poses)

    def name(self, slot: int) -> str:
        """What a body is called in the first instance."""
        return self.cast.example.bodies_in_order[slot]

    def is_moving(self, v: Triple | None) -> bool:
        """Whether a vector depends on unknowns."""
        assert v is not None
        table = self.derivation.workspace.table
        live = set(table.live([x.ref for x in v]))
        return any(u.symbol.ref in live for u in self.derivation.unknowns)

    def candidates(
        self,
        o: Orientation,
        points: frozenset[int] = frozenset(),
        axes: frozenset[int] = frozenset(),
    ) -> list[Candidate]:
        """Vectors of an orientation that are known, or would be with some classes more."""
        d = self.derivation
        found: list[Candidate] = []
        for slot in o.turns:
            for k in d.axes.of(slot):
                if d.axes.root(k) in axes or d.spot_vector(k) is not None:
                    rows = o.seen(slot, d.axes.nodes[k].rows)
                    if d.plane is None or np.abs(rows[:, d.normal]).max() < 1e-9:
                        found.append(Candidate(rows, slot, (k,)))
            mine = [
                k
                for k in d.points.of(slot)
                if d.points.root(k) in points or d.spot_point(k) is not None
            ]
            if len(mine) > 1:
                found += self._segments_of(o, slot, mine)
        return found + self.struts.candidates(o, points)

    def _segments_of(self, o: Orientation, slot: int, mine: list[int]) -> list[Candidate]:
        """Segments from one point of a body to its others."""
        d = self.derivation
        size = self._size(slot)
        known = [k for k in mine if d.spot_point(k) is not None]
        first = min(known or mine, key=lambda k: bool(known) and self.is_moving(d.spot_point(k)))
        found = []
        for k in mine:
            if k == first:
                continue
            arm = d.points.nodes[k].rows - d.points.nodes[first].rows
            quality = float((np.linalg.norm(arm, axis=1) / size).min())
            if quality >= _INDEPENDENT:
                found.append(Candidate(o.seen(slot, arm), slot, (first, k), quality))
        return found

    def _size(self, slot: int) -> Floats:
        """The largest distance between joints of a body, (n,)."""
        d = self.derivation
        places = [
            d.in_plane(m.frames.place)
            for _, e in self.cast.joints()
            for m in e.markers
            if m.slot == slot
        ]
        size = np.full(self.cast.count, 1e-300)
        for n, a in enumerate(places):
            for b in places[n + 1 :]:
                size = np.maximum(size, np.linalg.norm(a - b, axis=1))
        return size

    def _is_unknown(self, c: Candidate) -> bool:
        d = self.derivation
        spots = d.points if len(c.ends) == 2 else d.axes
        found = [(d.spot_point if spots is d.points else d.spot_vector)(k) for k in c.ends]
        return any(v is None or self.is_moving(v) for v in found)

    def needs(self, o: Orientation) -> int:
        """How many vectors an orientation is written in."""
        return 1 if o.rod or self.derivation.plane is not None else 2

    def chosen(self, o: Orientation, found: list[Candidate]) -> list[Candidate]:
        """The vectors an orientation is written in: independent ones, known ones first."""
        ordered = sorted(found, key=lambda c: (self._is_unknown(c), -round(c.quality, 3)))
        if o.rod:
            line = self._line(o)
            ordered = [c for c in ordered if _sines(c.rows, line).max() < 1e-9]
        if not ordered:
            return []
        kept = [ordered[0]]
        if self.needs(o) == 1:
            return kept
        rest = [c for c in ordered[1:] if _sines(c.rows, kept[0].rows).min() >= _INDEPENDENT]
        if rest:
            lead = self._is_unknown(rest[0])
            alike = [c for c in rest if self._is_unknown(c) == lead]
            first = kept[0].rows
            worst = [float(_sines(c.rows, first).min()) * c.quality for c in alike]
            kept.append(alike[int(np.argmax(np.round(worst, 6)))])
        return kept

    def _line(self, o: Orientation) -> Floats:
        spin = next(s for s in self.cast.spins if s.slot in o.turns)
        return o.seen(spin.slot, spin.second - spin.first)

    def orient(self, o: Orientation) -> bool:
        """Write an orientation in vectors that are there, with the equations between them."""
        chosen = self.chosen(o, self.candidates(o))
        if len(chosen) < self.needs(o):
            return False
        d = self.derivation
        vectors: list[Triple] = []
        basis = self.basis.setdefault(id(o), [])
        for c in chosen:
            if len(c.ends) == 1:
                v = d.spot_vector(c.ends[0])
                assert v is not None
                basis.append(c.ends[0])
            else:
                first, second = c.ends
                a, b = d.spot_point(first), d.spot_point(second)
                assert a is not None and b is not None
                v = difference(b, a)
                if c.slide is not None:
                    vectors.append(self.struts.vector(c, o, v))
                    continue
                square = d.factor(np.square(c.rows).sum(axis=1))
                d.hold(f"{self.name(c.slot)}.length", dot(v, v) - square)
                self.segments.append((c.slot, first, second))
            vectors.append(v)
        o.span = self._span(o, chosen, vectors)
        return True

    def _span(self, o: Orientation, chosen: list[Candidate], vectors: list[Triple]) -> Span:
        if self.derivation.plane is not None:
            return self.plane_span(vectors[0], chosen[0].rows)
        if o.rod:
            return self._rod_span(o, chosen[0].rows, vectors[0])
        d = self.derivation
        (a, b), (v, w) = (c.rows for c in chosen), vectors
        name = self.name(min(o.turns))
        d.hold(f"{name}.angle", dot(v, w) - d.factor(np.einsum("ni,ni->n", a, b)))
        normal = np.cross(a, b)
        third = cross(v, w)
        if self.third == "vector" and self.is_moving(v) and self.is_moving(w):
            normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
            slot = min(o.turns)
            local = np.einsum("nji,nj->ni", o.turns[slot], normal)
            k = d.axes.add(slot, self.cast.bodies[:, slot], local, name)
            third = d.spot_unknowns(f"{name}.normal", d.axes.nodes[k], direction=True)
            d.along[d.axes.root(k)] = third
            self.basis[id(o)].append(k)
            d.hold(f"{name}.normal.unit", dot(third, third) - 1)
            d.hold(f"{name}.normal.first", dot(third, v))
            d.hold(f"{name}.normal.second", dot(third, w))
        return Span((v, w, third), np.linalg.inv(np.stack([a, b, normal], axis=2)))

    def plane_span(self, v: Triple, rows: Floats) -> Span:
        """A vector of the plane and the one across it."""
        d = self.derivation
        normal = np.zeros_like(rows)
        normal[:, d.normal] = 1.0
        A = np.stack([rows, d.perpendicular_rows(rows), normal], axis=2)
        ws = d.workspace
        unit = [ws.atom(float(k == d.normal)) for k in range(3)]
        # A⁻¹ by hand: its rows are those of A divided by their squares, without dust
        squares = np.square(A).sum(axis=1)
        inverse = np.swapaxes(A, 1, 2) / squares[:, :, None]
        return Span((v, d.perpendicular(v), (unit[0], unit[1], unit[2])), inverse)

    def _rod_span(self, o: Orientation, rows: Floats, v: Triple) -> Span:
        """The frame of a rod: level across its line, as it is at the start (see `hold_spin`)."""
        d = self.derivation
        slot = min(o.turns)
        _, R = self.poses.body(self.cast.bodies[:, slot])
        R = R @ np.swapaxes(o.turns[slot], 1, 2)
        along = np.einsum("nij,nj->ni", R, rows)
        upright = upright_axis(along / np.linalg.norm(along, axis=1, keepdims=True))[:, 2]
        level = np.cross(upright, along)
        level /= np.linalg.norm(level, axis=1, keepdims=True)
        across = np.einsum("nji,nj->ni", R, level)
        ws = d.workspace
        w = tuple(ws.atom(float(c)) for c in upright)
        raw = cross((w[0], w[1], w[2]), v)
        second = times(1 / sqrt(dot(raw, raw)), raw)
        A = np.stack([rows, across, np.cross(rows, across)], axis=2)
        return Span((v, second, cross(v, second)), np.linalg.inv(A))

    def private_axis(self, o: Orientation) -> int:
        """A direction of a body: that of a slide, of a cross, to another joint, or any across."""
        d = self.derivation
        slot = min(o.turns)
        there = [c.rows for c in self.chosen(o, self.candidates(o))]
        every = [*self._directions(o), *(across_rows(t)[0] for t in there)]
        rows = next(r for r in every if all(_sines(r, t).min() >= _INDEPENDENT for t in there))
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        local = np.einsum("nji,nj->ni", o.turns[slot], rows)
        return d.axes.add(slot, self.cast.bodies[:, slot], local, self.name(slot))

    def _directions(self, o: Orientation) -> list[Floats]:
        """Directions of an orientation that its joints use, and at last any."""
        d = self.derivation
        if o.rod:
            return [self._line(o)]
        found: list[Floats] = []
        arms: list[Floats] = []
        for _, element in self.cast.joints():
            for n, marker in enumerate(element.markers):
                if marker.slot not in o.turns:
                    continue
                axes = [o.seen(marker.slot, marker.frames.axes[:, :, k]) for k in range(3)]
                if element.joint.kind == "universal":
                    found.append(axes[n])
                elif "axis" in element.joint.shares or element.joint.kind == "point_on_line":
                    found.append(axes[2])
                for k in d.points.of(marker.slot):
                    arm = d.in_plane(marker.frames.place) - d.points.nodes[k].rows
                    arms.append(o.seen(marker.slot, arm))
        rest = [np.broadcast_to(np.eye(3)[k], (self.cast.count, 3)) for k in range(3)]
        if found or arms:
            rest += [np.cross(a, b) for a in (found or arms)[:1] for b in rest]
        every = [*found, *arms, *rest]
        if d.plane is not None:
            every = [r for r in every if np.abs(r[:, d.normal]).max() < 1e-9]
        return [r for r in every if np.linalg.norm(r, axis=1).min() > 1e-9]


def _sines(a: Floats, b: Floats) -> Floats:
    """The sines of the angles between rows of vectors."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    found: Floats = np.linalg.norm(np.cross(a, b), axis=1) / lengths
    return found


def across_rows(rows: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors across each of some."""
    other = np.eye(3)[np.abs(rows).argmin(axis=1)]
    first = np.cross(rows, other)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(rows, first)
    return first, second / np.linalg.norm(second, axis=1, keepdims=True)
