"""Legs between two known points: a ball or a cross at each end, and a slide along the way.

The slide is along d = C - A.  At a cross the leg is turned so that its own axis of the cross is
perpendicular to that of the fork f and to the slide w: along f × w.
"""

from __future__ import annotations

import numpy as np

from biela.atoms import maximum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.spatial_solver import (
    MEET,
    TINY,
    SpatialSolver,
    carried_by,
    inner,
    seen_from,
)
from biela.equations.groups.closed_forms.spatial_view import (
    dot,
    minus,
)

__all__ = ["LegSolver"]


class LegSolver(SpatialSolver):
    """Legs that are as long as they must be."""

    def leg(self) -> Geometry | None:
        """A leg; None if its slide does not lead through both ends."""
        dyad, view = self.dyad, self.view
        if not self.aligned(dyad.b_first, dyad.b_second) or not self._in_line():
            return None
        A, C = view.known(dyad.a_known), view.known(dyad.c_known)
        d = minus(C, A)
        dd = dot(d, d)
        share = self.branch / sqrt(maximum(dd, TINY))
        w = [share * x for x in d]
        start = np.sum(self._way(self.poses) ** 2, axis=1)
        if not (start > 0).all():
            return None
        margin = dd * self.number("way2", 1.0 / start)
        at_first = dyad.letters[0] == "U"
        ends = [
            (dyad.first, dyad.b_first, dyad.a_known, dyad.a_first),
            (dyad.second, dyad.b_second, dyad.c_known, dyad.c_second),
        ]
        slot, slide, fork, own = ends[0 if at_first else 1]
        base = [(view.local_axis(slide), w)]
        if "U" in dyad.letters:
            now = inner(self.at(slide)[1][:, :, 2], self._way(self.poses))
            crossed = self.cross_axis(fork, own, base[0], (now, self.branch))
            if crossed is None:
                return None
            base, margin = base + crossed[0], crossed[1]
        self.found.bases[slot] = base
        # both halves are turned alike, as the markers of their slide are
        other, other_slide, _, _ = ends[1 if at_first else 0]
        here, there = (view.marker(key).frames.axes for key in (slide, other_slide))
        self.found.bases[other] = [
            (carried_by(there, seen_from(here, rows)), world) for rows, world in base
        ]
        self.found.points += [
            (dyad.first, view.local(dyad.a_first), A),
            (dyad.second, view.local(dyad.c_second), C),
        ]

        def along(poses: Poses) -> Floats:
            return inner(self.at(dyad.b_first, poses)[1][:, :, 2], self._way(poses))

        meaning = "the slide of {1} points {side} the way from {0} to {2}"
        sides = self.sides(("along", "against"), meaning, along)
        return Geometry(self.found, margin, sides)

    def _in_line(self) -> bool:
        """Whether the slide of a leg leads through both its ends."""
        dyad, view = self.dyad, self.view
        for end, slide in ((dyad.a_first, dyad.b_first), (dyad.c_second, dyad.b_second)):
            way = view.local(end) - view.local(slide)
            aside = np.cross(view.local_axis(slide), way)
            if np.abs(aside).max() > MEET * (1e-3 + np.abs(way).max()):
                return False
        return True

    def _way(self, poses: Poses) -> Floats:
        """From one end to the other."""
        return self.at(self.dyad.c_known, poses)[0] - self.at(self.dyad.a_known, poses)[0]
