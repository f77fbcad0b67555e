"""What the closed forms of spatial dyads share: markers at positions, rods, names of sides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.dyad import Dyad, Key
from biela.equations.groups.closed_forms.geometry import Sides
from biela.equations.groups.closed_forms.spatial_view import (
    SpatialFound,
    SpatialView,
    Three,
    minus,
)

__all__ = ["SpatialSolver", "carried_by", "inner", "seen_from"]


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
        return bool(np.abs(gap[:, 2, 2] if turned else gap).max() < 1e-6)

    def rod(self) -> tuple[Floats, Floats]:
        """The way from the first to the second joint of the first body, and its length."""
        way = self.view.local(self.dyad.b_first) - self.view.local(self.dyad.a_first)
        return way, np.linalg.norm(way, axis=1)

    def keep_rod(self, A: Three, B: Three, way: Floats) -> None:
        """The first body is a rod: its ends are found, and its direction."""
        dyad, view = self.dyad, self.view
        self.found.points += [
            (dyad.first, view.local(dyad.a_first), A),
            (dyad.first, view.local(dyad.b_first), B),
        ]
        self.found.bases[dyad.first] = [(way, minus(B, A))]

    def sides(
        self, words: tuple[str, str], meaning: str, measure: Callable[[Poses], Floats]
    ) -> Sides:
        """The two branches, with the names of the joints."""
        keys = self.dyad.a_first, self.dyad.b_first, self.dyad.c_second
        names = tuple(self.view.derivation.cast.elements[key[0]].names for key in keys)
        return Sides(words, meaning, names, measure)
