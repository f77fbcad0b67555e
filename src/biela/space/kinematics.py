"""Kinematic operators: rotation, position, velocity and acceleration between any two places.

Each walks one tree an edge at a time, always in the same order, so that what two results share is
made of the same atoms.  Places on different branches are joined through their common ancestor.
Plaza 2015, §4.3, with the composition of accelerations complete (its eq. 2.10 lacks the term of the
angular acceleration).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from biela.atoms import Atom
from biela.space.algebra import Toward
from biela.space.bases import Base
from biela.space.points import Frame, Point
from biela.space.rotations import Matrix3, Triple, matrix3
from biela.space.space import Space
from biela.space.tree import branch, common_ancestor
from biela.space.vectors import Vector, total

if TYPE_CHECKING:
    from biela.space.solids import Solid

#: Turns an expression into its rate: full time derivative, or the part without accelerations.
Rate = Callable[[Atom], Atom]


def rotation_matrix(a: Base, b: Base) -> Matrix3:
    """R with {u}_a = R {u}_b: multiplied upwards, and transposed for the way back."""
    meeting = common_ancestor(a, b)
    if meeting is b:
        return _transposed(_upwards(b, a))
    upper = _upwards(meeting, b)
    return upper if meeting is a else _product(_transposed(_upwards(meeting, a)), upper)


def position(start: Point, end: Point) -> Vector:
    """The vector from one point to another."""
    meeting = common_ancestor(start, end)
    there = _chained(start.space, [p.vector for p in branch(meeting, end)])
    return there - _chained(start.space, [p.vector for p in branch(meeting, start)])


def angular_velocity(observer: Base, base: Base) -> Vector:
    """The angular velocity of a base seen from another."""
    memory = base.space.memory
    known = memory.get((observer, base))
    if known is None:
        meeting = common_ancestor(observer, base)
        known = _chained(base.space, [_turning(b) for b in branch(meeting, base)])
        known = known - _chained(base.space, [_turning(b) for b in branch(meeting, observer)])
        memory[observer, base] = known
    return known


def derivative(u: Vector, observer: Base, rate: Rate) -> Vector:
    """The time derivative of a vector seen from a base.

    Part by part: the derivative of the components in their base, and ω x u for the turning of that
    base (Plaza 2015, eq. 5.15).
    """
    terms = [u.map(rate)]
    for base, part in u.parts.items():
        omega = angular_velocity(observer, base)
        terms.append(omega.cross(Vector.of(u.space, base, part)))
    return total(u.space, terms)


def velocity(frame: Frame, point: Point) -> Vector:
    """The velocity of a point seen from a frame.

    A sum along the points: each link brings the derivative of its vector.
    """
    space = point.space
    meeting = common_ancestor(frame.point, point)

    def links(end: Point) -> list[Vector]:
        return [_link_rate(frame.base, p) for p in branch(meeting, end)]

    return _chained(space, links(point)) - _chained(space, links(frame.point))


def velocity_in(frame: Frame, point: Point, solid: Solid) -> Vector:
    """The velocity a point would have if it belonged to a solid: v + ω x r."""
    omega = angular_velocity(frame.base, solid.base)
    return velocity(frame, solid.point) + omega.cross(position(solid.point, point))


def angular_acceleration(observer: Base, base: Base) -> Vector:
    """The angular acceleration of a base seen from another."""
    return derivative(angular_velocity(observer, base), observer, base.space.time_rate)


def acceleration(frame: Frame, point: Point) -> Vector:
    """The acceleration of a point seen from a frame."""
    return derivative(velocity(frame, point), frame.base, point.space.time_rate)


def acceleration_in(frame: Frame, point: Point, solid: Solid) -> Vector:
    """The acceleration a point would have if it belonged to a solid: a + α x r + ω x (ω x r)."""
    r = position(solid.point, point)
    omega = angular_velocity(frame.base, solid.base)
    alpha = angular_acceleration(frame.base, solid.base)
    return acceleration(frame, solid.point) + alpha.cross(r) + omega.cross(omega.cross(r))


# ------------------------------------------------------------------------------ walks


def _chained(space: Space, vectors: Sequence[Vector]) -> Vector:
    """The sum of vectors along a branch, from the root outwards or from the leaf inwards."""
    return total(space, vectors if space.algebra.toward is Toward.LEAF else vectors[::-1])


def _link_rate(observer: Base, point: Point) -> Vector:
    """The derivative of the vector from the point before."""
    memory = point.space.memory
    known = memory.get((observer, point))
    if known is None:
        known = derivative(point.vector, observer, point.space.time_rate)
        memory[observer, point] = known
    return known


def _turning(base: Base) -> Vector:
    """The angular velocity of a base seen from the one before it."""
    omega = Vector.of(base.space, base, base.rotation.angular_velocity)
    return Vector(base.space, base.space.algebra.settled(omega.parts))


def _upwards(low: Base, high: Base) -> Matrix3:
    bases = branch(low, high)
    if not bases:
        return matrix3(low.space.workspace, [[int(i == j) for j in range(3)] for i in range(3)])
    product = bases[0].rotation.matrix
    for base in bases[1:]:
        product = _product(product, base.rotation.matrix)
    return product


def _product(A: Matrix3, B: Matrix3) -> Matrix3:
    a, b, c = (_row_times(row, B) for row in A)
    return a, b, c


def _row_times(row: Triple, B: Matrix3) -> Triple:
    a, b, c = (row[0] * B[0][j] + row[1] * B[1][j] + row[2] * B[2][j] for j in range(3))
    return a, b, c


def _transposed(A: Matrix3) -> Matrix3:
    a, b, c = ((A[0][j], A[1][j], A[2][j]) for j in range(3))
    return a, b, c
