"""What the closed forms of spatial dyads share: markers at positions, rods, names of sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from biela.atoms import Atom, maximum, minimum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.dyad import Dyad, Key
from biela.equations.groups.closed_forms.geometry import Sides
from biela.equations.groups.closed_forms.spatial_view import (
    SpatialFound,
    SpatialView,
    Three,
    cross,
    dot,
    minus,
)

__all__ = ["MEET", "TINY", "SpatialSolver", "carried_by", "inner", "seen_from"]

#: What a quotient is divided by at least.
TINY: Final = 1e-280
#: How well axes have to meet, or to be at right angles: as well as a start is assembled, and what
#: is missing is left to a step of Newton's method.
MEET: Final = 1e-7


def inner(a: Floats, b: Floats) -> Floats:
    """(n,) scalar products of rows."""
    found: Floats = np.einsum("ni,ni->n", a, b)
    return found


def carried_by(R: Floats, rows: Floats) -> Floats:
    """(n, 3) rows turned by rotations."""
    found: Floats = np.einsum("nij,nj->ni", R, rows)
    return found


def seen_from(R: Floats, rows: Floats) -> Floats:
    """(n, 3) rows turned back by rotations."""
    found: Floats = np.einsum("nji,nj->ni", R, rows)
    return found


class SpatialSolver:
    """What solvers of spatial dyads share."""

    def __init__(self, view: SpatialView, dyad: Dyad, poses: Poses, branch: Atom) -> None:
        self.view, self.dyad, self.poses, self.branch = view, dyad, poses, branch
        self.found = SpatialFound(view.derivation)
        self.number = view.derivation.column

    # ------------------------------------------------------------------------ parts

    def at(self, key: Key, poses: Poses | None = None) -> tuple[Floats, Floats]:
        """Point and axes of a marker at a position."""
        return (self.poses if poses is None else poses).of(self.view.marker(key).frames)

    def aligned(self, one: Key, other: Key, *, turned: bool = False) -> bool:
        """Whether two markers point the same way; all their axes, or z alone."""
        gap = np.swapaxes(self.at(one)[1], 1, 2) @ self.at(other)[1] - np.eye(3)
        # as well as a start is assembled; 1 - cos of an angle is half its square
        if turned:
            return bool(np.abs(gap[:, 2, 2]).max() < 1e-12)
        return bool(np.abs(gap).max() < 1e-6)

    def rod(self) -> tuple[Floats, Floats]:
        """The way from the first to the second joint of the first body, and its length."""
        way = self.view.local(self.dyad.b_first) - self.view.local(self.dyad.a_first)
        return way, np.linalg.norm(way, axis=1)

    def keep_rod(self, A: Three, B: Three, way: Floats, margin: Atom) -> Atom | None:
        """The first body is a rod: its ends are found, its direction, and how a cross turns it.

        The margin that is given back is that of the cross, if this is nearer to a dead point; None
        if there is a cross with an axis that is not at right angles to the rod.
        """
        dyad, view = self.dyad, self.view
        self.found.points += [
            (dyad.first, view.local(dyad.a_first), A),
            (dyad.first, view.local(dyad.b_first), B),
        ]
        self.found.bases[dyad.first] = [(way, minus(B, A))]
        if "U" not in dyad.letters:
            return margin
        at_first = dyad.letters[0] == "U"
        fork, own = (dyad.a_known, dyad.a_first) if at_first else (dyad.b_second, dyad.b_first)
        length = np.linalg.norm(way, axis=1)
        share = self.number("rod", 1.0 / length)
        w = [share * x for x in minus(B, A)]
        crossed = self.cross_axis(fork, own, (way / length[:, None], w))
        if crossed is None:
            return None
        directions, sine = crossed
        self.found.bases[dyad.first] += directions
        return minimum(margin, sine)

    def cross_axis(
        self,
        fork: Key,
        own: Key,
        along: tuple[Floats, Three],
        turn: tuple[Floats, Atom] | None = None,
    ) -> tuple[list[tuple[Floats, Three]], Atom] | None:
        """Two directions of a body at a universal joint: its axis of the cross, and one across.

        The axis is perpendicular to that in the fork and to a direction w of the body, the shaft:
        along f × w.  The square of the sine between these two is given as well, since the body may
        spin where it vanishes.

        Args:
            fork: The marker that is found already, or known.
            own: The marker of the body.
            along: The shaft, in the body and in the ground.
            turn: Where the shaft turns over with the branch: the sign at the start, and the branch.
        """
        x, y = (0, 1) if fork[1] == 0 else (1, 0)
        local = self.view.local_axis(own, y)
        rows, w = along
        if np.abs(inner(local, rows)).max() > MEET:
            return None
        f = self.found.marker_axis(*fork, "xyz"[x])
        u = cross(f, w)
        R = self.at(own)[1] @ np.swapaxes(self.view.marker(own).frames.axes, 1, 2)
        product = np.cross(self.at(fork)[1][:, :, x], carried_by(R, rows))
        side = inner(product, self.at(own)[1][:, :, y])
        now = 1.0 if turn is None else turn[0]
        sign = self.number("arm", np.where(side * now < 0, -1.0, 1.0))
        sine = dot(u, u)
        share = (sign if turn is None else sign * turn[1]) / sqrt(maximum(sine, TINY))
        g = [share * c for c in u]
        return [(local, g), (np.cross(rows, local), cross(w, g))], sine

    def sides(
        self, words: tuple[str, str], meaning: str, measure: Callable[[Poses], Floats]
    ) -> Sides:
        """The two branches, with the names of the joints."""
        keys = self.dyad.a_first, self.dyad.b_first, self.dyad.c_second
        names = tuple(self.view.derivation.cast.elements[key[0]].names for key in keys)
        return Sides(words, meaning, names, measure)
