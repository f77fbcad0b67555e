"""Legs between two known points: a ball or a cross at each end, and a slide along the way.

The slide is along d = C - A.  At a cross the leg is turned so that its own axis of the cross is
perpendicular to that of the fork f and to the slide w: along f × w.
"""

from __future__ import annotations

import numpy as np

from biela.atoms import Atom, maximum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.spatial_solver import (
    SpatialSolver,
    carried_by,
    inner,
    seen_from,
)
from biela.equations.groups.closed_forms.spatial_view import (
    Three,
    cross,
    dot,
    minus,
)

__all__ = ["LegSolver"]

#: What a quotient is divided by at least.
TINY = 1e-280
_MEET = 1e-9


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
        start = np.sum((self.at(dyad.c_known)[0] - self.at(dyad.a_known)[0]) ** 2, axis=1)
        if not (start > 0).all():
            return None
        margin = dd * self.number("way2", 1.0 / start)
        bodies = ((dyad.first, dyad.b_first), (dyad.second, dyad.b_second))
        directions: list[tuple[Floats, Three]] = [(np.tile([0.0, 0.0, 1.0], (len(start), 1)), w)]
        if "U" in dyad.letters:
            crossed = self._cross_axis(w)
            if crossed is None:
                return None
            across, margin = crossed
            directions += across
        for slot, key in bodies:
            axes = view.marker(key).frames.axes
            self.found.bases[slot] = [(carried_by(axes, rows), world) for rows, world in directions]
        self.found.points += [
            (dyad.first, view.local(dyad.a_first), A),
            (dyad.second, view.local(dyad.c_second), C),
        ]

        def along(poses: Poses) -> Floats:
            gap = self.at(dyad.c_known, poses)[0] - self.at(dyad.a_known, poses)[0]
            return inner(self.at(dyad.b_first, poses)[1][:, :, 2], gap)

        meaning = "the slide of {1} points {side} the way from {0} to {2}"
        sides = self.sides(("along", "against"), meaning, along)
        return Geometry(self.found, margin, sides)

    def _in_line(self) -> bool:
        """Whether the slide of a leg leads through both its ends."""
        dyad, view = self.dyad, self.view
        for end, slide in ((dyad.a_first, dyad.b_first), (dyad.c_second, dyad.b_second)):
            way = view.local(end) - view.local(slide)
            aside = np.cross(view.local_axis(slide), way)
            if np.abs(aside).max() > _MEET * (1e-3 + np.abs(way).max()):
                return False
        return True

    def _cross_axis(self, w: Three) -> tuple[list[tuple[Floats, Three]], Atom] | None:
        """The axis of a universal joint in the leg, and one across; seen from its slide.

        It is perpendicular to the axis in the other fork, and to the slide; the square of the sine
        between these two is given as well, since the leg may spin where it vanishes.
        """
        dyad, view = self.dyad, self.view
        first = dyad.letters[0] == "U"
        known, own = (dyad.a_known, dyad.a_first) if first else (dyad.c_known, dyad.c_second)
        slide = dyad.b_first if first else dyad.b_second
        fork, arm = (0, 1) if known[1] == 0 else (1, 0)
        local = seen_from(view.marker(slide).frames.axes, view.local_axis(own, arm))
        if np.abs(local[:, 2]).max() > _MEET:
            return None
        f = view.known_axes(known)[fork]
        u = cross(f, w)
        (_, Rk), (_, Ro) = self.at(known), self.at(own)
        product = np.cross(Rk[:, :, fork], self.at(slide)[1][:, :, 2])
        side = inner(product, Ro[:, :, arm])
        # the way of the slide turns over with the branch, and the product with it
        now = self._along_now()
        sign = self.number("arm", np.where(side * now < 0, -1.0, 1.0)) * self.branch
        sine = dot(u, u)
        share = sign / sqrt(maximum(sine, TINY))
        g = [share * x for x in u]
        z = np.tile([0.0, 0.0, 1.0], (len(local), 1))
        return [(local, g), (np.cross(z, local), cross(w, g))], sine

    def _along_now(self) -> Floats:
        dyad = self.dyad
        gap = self.at(dyad.c_known)[0] - self.at(dyad.a_known)[0]
        return inner(self.at(dyad.b_first)[1][:, :, 2], gap)
