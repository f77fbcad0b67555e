"""Rods between two balls, one of them on a body that slides or turns on a known one.

Either ball may be a cross (U) whose own axis is at right angles to the rod.

A, B and C are the joints from the first known body to the last, a is the length of the rod.

    SSP  sphere and line:    B = Q + s w,  s = -w·r ± √(a² - |w × r|²),  r = Q - A
    SSR  sphere and circle:  Re(g ē) = c,  e = g (c ± i √(|g|² - c²)) / |g|²

with w along the slide and Q where B is when it is at zero; e = cos θ + i sin θ the turn of the
hinge, ζ and β the complex numbers of A and B across it, g = ζ β̄ and 2 c = |β|² + |ζ|² +
(difference of heights)² - a²: the equation p cos θ + q sin θ = c of the textbooks.
"""

from __future__ import annotations

import numpy as np

from biela.atoms import maximum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Owner, Poses
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.spatial_solver import (
    TINY,
    SpatialSolver,
    carried_by,
    inner,
    seen_from,
)
from biela.equations.groups.closed_forms.spatial_view import (
    Three,
    combined,
    cross,
    dot,
    minus,
    plus,
)

__all__ = ["RodSolver"]


class RodSolver(SpatialSolver):
    """Rods between two balls."""

    def with_slider(self) -> Geometry | None:
        """The body slides: SSP."""
        dyad, view = self.dyad, self.view
        way, a = self.rod()
        if not self.aligned(dyad.c_known, dyad.c_second) or not (a > 0).all():
            return None
        A = view.known(dyad.a_known)
        axes = view.known_axes(dyad.c_known)
        own = view.marker(dyad.c_second).frames.axes
        self.found.bases[dyad.second] = [(own[:, :, k], axes[k]) for k in range(3)]
        w = axes[2]
        pin = view.local(dyad.b_second) - view.local(dyad.c_second)
        if view.marker(dyad.c_known).slot == Owner.GROUND:
            at, turn = self.at(dyad.c_known)
            Q: Three = view.columns("rail", at + carried_by(turn, seen_from(own, pin)))
        else:
            Q = plus(view.known(dyad.c_known), self.found.direction(dyad.second, pin))
        r = minus(Q, A)
        aside = cross(w, r)
        root = self.number("arm2", a * a) - dot(aside, aside)
        s = self.branch * sqrt(maximum(root, 0)) - dot(w, r)
        AB = combined([view.derivation.workspace.atom(1.0), s], [r, w])
        B = plus(A, AB)
        self.found.points.append((dyad.second, view.local(dyad.b_second), B))
        margin = self.keep_rod(A, B, way, root * self.number("across", 1.0 / (a * a)))
        if margin is None:
            return None

        def ahead(poses: Poses) -> Floats:
            gap = self.at(dyad.b_second, poses)[0] - self.at(dyad.a_known, poses)[0]
            return inner(self.at(dyad.c_known, poses)[1][:, :, 2], gap)

        meaning = "{1} is {side} of {0} along the slide of {2}"
        sides = self.sides(("ahead", "behind"), meaning, ahead)
        return Geometry(self.found, margin, sides)

    def with_hinge(self) -> Geometry | None:
        """The body turns: SSR."""
        dyad, view = self.dyad, self.view
        way, a = self.rod()
        own = view.marker(dyad.c_second).frames
        pin = view.local(dyad.b_second) - own.place
        bx, by, bz = np.einsum("nji,nj->in", own.axes, pin)
        radius = bx * bx + by * by
        if not self.aligned(dyad.c_known, dyad.c_second, turned=True):
            return None
        if not (a > 0).all() or not (radius > 0).all():
            return None
        A, K = view.known(dyad.a_known), view.known(dyad.c_known)
        X, Y, Z = view.known_axes(dyad.c_known)
        KA = minus(A, K)
        zeta, height = Arrow(dot(KA, X), dot(KA, Y)), dot(KA, Z) - self.number("height", bz)
        g = zeta.turned(Arrow(self.number("bx", bx), self.number("by", -by)))
        c = 0.5 * (zeta.square + height * height + self.number("arms", radius - a * a))
        gg = g.square
        root = gg - c * c
        share = 1.0 / maximum(gg, TINY)
        e = g.turned(Arrow(c, self.branch * sqrt(maximum(root, 0)))) * share
        x, y = combined([e.x, e.y], [X, Y]), combined([e.x, -e.y], [Y, X])
        self.found.bases[dyad.second] = [
            (own.axes[:, :, k], axis) for k, axis in enumerate((x, y, Z))
        ]
        self.found.points.append((dyad.second, own.place, K))
        B = plus(K, self.found.direction(dyad.second, pin))
        self.found.points.append((dyad.second, view.local(dyad.b_second), B))
        margin = self.keep_rod(A, B, way, root * share)
        if margin is None:
            return None

        def turned(poses: Poses) -> Floats:
            K, R = self.at(dyad.c_known, poses)
            to_A, to_B = (self.at(k, poses)[0] - K for k in (dyad.a_known, dyad.b_second))
            return inner(R[:, :, 2], np.cross(to_A, to_B))

        meaning = "seen against the axis of {2}, {1} is to the {side} of the way to {0}"
        sides = self.sides(("left", "right"), meaning, turned)
        return Geometry(self.found, margin, sides)
