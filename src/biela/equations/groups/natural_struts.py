"""Driven slides between two points: bars whose length is given, such as hydraulic cylinders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.natural_joints import NaturalDerivation
from biela.equations.groups.natural_orientation import Orientation
from biela.equations.groups.natural_vectors import Triple, dot, times

__all__ = ["Candidate", "Struts"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A vector that an orientation may be written in.

    Attributes:
        rows: (n, 3) in the frame of the reference.
        slot: The body it is seen at.
        ends: Two spots, of a segment; one of an axis.
        quality: Its length as a part of the size of the body, for a segment.
        slide: A driven slide between the ends, along which the vector is then.
    """

    rows: Floats
    slot: int
    ends: tuple[int, ...]
    quality: float = 1.0
    slide: int | None = None


class Struts:
    """Driven slides as bars of given length.

    Attributes:
        slides: Their displacements, which are asked for when they are used.
    """

    def __init__(self, derivation: NaturalDerivation, poses: Poses) -> None:
        self.derivation, self.cast, self.poses = derivation, derivation.cast, poses
        self.slides: dict[int, Callable[[], Atom]] = {}

    def candidates(self, o: Orientation, points: frozenset[int]) -> list[Candidate]:
        """Vectors along slides of an orientation, between points that are known or would be."""
        return [c for number in self.slides for c in self._of_slide(number, o, points)]

    def _of_slide(self, number: int, o: Orientation, points: frozenset[int]) -> Iterator[Candidate]:
        """From a point before a driven slide to one beyond it: a bar of given length.

        In space only where both are on the axis.
        """
        d = self.derivation
        i, j = self.cast.elements[number].markers
        if number in d.kept_ways or i.slot not in o.turns or j.slot not in o.turns:
            return
        z = o.seen(i.slot, i.frames.axes[:, :, 2])
        for a, b in product(d.points.of(i.slot), d.points.of(j.slot)):
            if any(d.spot_point(k) is None and d.points.root(k) not in points for k in (a, b)):
                continue
            ends = [d.rows_of(d.points.nodes[k], direction=False)(self.poses) for k in (a, b)]
            if np.linalg.norm(ends[1] - ends[0], axis=1).min() < 1e-6:
                continue
            if d.plane is not None or _on_line(z, self._offset(number, o, (a, b))):
                yield Candidate(z, i.slot, (a, b), 0.0, number)
                return

    def _offset(self, number: int, o: Orientation, ends: tuple[int, ...]) -> Floats:
        """The way between two points on both sides of a slide that is at zero."""
        d = self.derivation
        i, j = self.cast.elements[number].markers
        first, second = (d.points.nodes[k].rows for k in ends)
        near = o.seen(i.slot, d.in_plane(i.frames.place) - first)
        found: Floats = near + o.seen(j.slot, second - d.in_plane(j.frames.place))
        return found

    def vector(self, c: Candidate, o: Orientation, gap: Triple) -> Triple:
        """The unit vector along a driven slide, from the gap between its ends.

        With the offset k and the displacement s the gap is a = k + s z in the bodies:
        |gap|² = |a|², and in a plane u = gap ā / |a|² with complex numbers.
        """
        d = self.derivation
        assert c.slide is not None
        s = self.slides[c.slide]()
        d.kept_ways.add(c.slide)
        # a marker of j may be turned by half a turn, and then s still counts along z of i
        offset = self._offset(c.slide, o, c.ends)
        along = d.factor(np.einsum("ni,ni->n", offset, c.rows)) + s
        square, across = along * along, d.workspace.atom(0)
        if d.plane is not None:
            across = d.factor(np.einsum("ni,ni->n", offset, d.perpendicular_rows(c.rows)))
            square = square + across * across
        d.hold(f"{self.cast.elements[c.slide].label}.length", dot(gap, gap) - square)
        if not across.ref:
            return times(1 / along, gap)
        terms = [(along / square, gap), (-across / square, d.perpendicular(gap))]
        return d.combined(terms)


def _on_line(z: Floats, offset: Floats) -> bool:
    """Whether ways are along an axis in all instances."""
    return bool(np.abs(np.cross(z, offset)).max() < 1e-12)
