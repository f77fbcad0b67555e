"""Generalised forces by carrying forces and moments down the trees.

Virtual power asks for Σ v_j · F + ω_j · T over all solids.  The velocity of a point is a sum over
its links, v = Σ (r'_k + ω_k x r_k), and the angular velocity of a base a sum over the turns below
it.  Exchanging the sums, each link needs only the total force of what hangs beyond it, and each
turn only the total moment:

    Q_j = Σ_links (∂r'_k/∂q'_j) · F_beyond(k) + Σ_turns (∂ω_b/∂q'_j) · N_beyond(b),
    N_beyond(b) = Σ T of solids in b + Σ r_k x F_beyond(k) of links in b + Σ N_beyond of bases on b.

For a turn about an axis the last product is a single component.  This is the inward recursion of
Newton and Euler (Luh, Walker & Paul 1980) on a pair of trees instead of a chain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from biela.atoms import Atom
from biela.space import Base, Point, Space, Vector

_Place = TypeVar("_Place", Base, Point)
#: What a velocity does to a link or a turn: the coordinate and the direction.
_Effect = tuple[int, Vector]


class Loads:
    """Forces by the point they go through, and moments by the base of what they act on.

    Generalised forces go by the number of their coordinate: those of modes, which move no point
    alone.
    """

    def __init__(self) -> None:
        self.forces: dict[Point, Vector] = {}
        self.moments: dict[Base, Vector] = {}
        self.generalised: dict[int, Atom] = {}

    def add_force(self, point: Point, force: Vector) -> None:
        """Add a force through a point."""
        _add(self.forces, point, force)

    def add_moment(self, base: Base, moment: Vector) -> None:
        """Add a moment on whatever turns with a base."""
        _add(self.moments, base, moment)

    def add_generalised(self, coordinate: int, force: Atom) -> None:
        """Add a force that has power with one velocity only."""
        known = self.generalised.get(coordinate)
        self.generalised[coordinate] = force if known is None else known + force


class Branches:
    """The links and turns of a space, ready to carry loads."""

    def __init__(self, space: Space, velocities: Sequence[Atom]) -> None:
        self._space = space
        self._count = len(velocities)
        self._links: dict[Point, list[_Effect]] = {}
        self._turns: dict[Base, list[_Effect]] = {}
        for point in space.points.values():
            if point.parent is not None:
                rate = point.vector.map(space.time_rate)
                self._links[point] = _effects(rate, velocities)
        for base in space.bases.values():
            if base.parent is not None:
                omega = Vector.of(space, base, base.rotation.angular_velocity)
                self._turns[base] = _effects(omega, velocities)

    def generalised_forces(self, loads: Loads, rows: Collection[int] | None = None) -> list[Atom]:
        """Q_j for every coordinate j, or for those of ``rows`` and zero for the others."""
        space = self._space
        wanted = range(self._count) if rows is None else rows
        Q = [space.workspace.atom(0)] * self._count
        for j, force_j in loads.generalised.items():
            if j in wanted:
                Q[j] = force_j
        forces, moments = dict(loads.forces), dict(loads.moments)
        # points were made after their parents, so backwards every child comes first
        for point in reversed(space.points.values()):
            force = forces.get(point)
            if force is None or force.is_zero or point.parent is None:
                continue
            for j, direction in self._links[point]:
                if j in wanted:
                    Q[j] = Q[j] + direction.dot(force)
            for base, part in point.vector.parts.items():
                _add(moments, base, Vector.of(space, base, part).cross(force))
            _add(forces, point.parent, force)
        for base in reversed(space.bases.values()):
            moment = moments.get(base)
            if moment is None or moment.is_zero or base.parent is None:
                continue
            for j, axis in self._turns[base]:
                if j in wanted:
                    Q[j] = Q[j] + axis.dot(moment)
            _add(moments, base.parent, moment)
        return Q


def _effects(u: Vector, velocities: Sequence[Atom]) -> list[_Effect]:
    found = enumerate(u.diff_by_each(velocities))
    return [(j, direction) for j, direction in found if not direction.is_zero]


def _add(sums: dict[_Place, Vector], place: _Place, vector: Vector) -> None:
    sums[place] = sums[place] + vector if place in sums else vector
