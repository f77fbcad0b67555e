"""How a base is turned from the base before it.

A rotation knows three things: how components change across it, which components it leaves as they
are, and its angular velocity.  R takes components in the new base to components in the old one:
the columns of R are the axes of the new base written in the old one, {u}_old = R {u}_new.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.atoms import Atom, Workspace, cos, sin, time_derivative
from biela.errors import DomainError

#: Three components, a vector without its base.
Triple = tuple[Atom, Atom, Atom]
Matrix3 = tuple[Triple, Triple, Triple]


def two_products(a: Atom, b: Atom, c: Atom, d: Atom, sign: int) -> Atom:
    """The sum (sign 1) or difference (sign -1) of two products, a b ± c d.

    This is the innermost loop: it works on references, and most components in mechanics are zero.
    """
    table = a.table
    if not (c.ref and d.ref):
        return Atom(table, table.mul(a.ref, b.ref)) if a.ref and b.ref else a if not a.ref else b
    second = sign * table.mul(c.ref, d.ref)
    if a.ref and b.ref:
        second = table.add(table.mul(a.ref, b.ref), second)
    return Atom(table, second)


class Rotation(ABC):
    """A rotation between two neighbouring bases."""

    @abstractmethod
    def to_old(self, v: Triple) -> Triple:
        """Components in the old base, from those in the new one: R v."""

    @abstractmethod
    def to_new(self, v: Triple) -> Triple:
        """Components in the new base, from those in the old one: Rᵀ v."""

    @abstractmethod
    def keeps(self, v: Triple) -> bool:
        """Whether the components are the same in both bases, seen from the atoms alone."""

    @abstractmethod
    def keeps_tensor(self, T: Matrix3) -> bool:
        """The same for a 3x3 tensor."""

    @property
    @abstractmethod
    def angular_velocity(self) -> Triple:
        """Angular velocity of the new base seen from the old one, components in the new one."""

    @property
    @abstractmethod
    def matrix(self) -> Matrix3:
        """R, by rows."""


@dataclass(frozen=True)
class AxisRotation(Rotation):
    """A turn by an angle about one of the three axes."""

    axis: int
    angle: Atom

    @cached_property
    def _sin_cos(self) -> tuple[Atom, Atom]:
        return sin(self.angle), cos(self.angle)

    @cached_property
    def _across(self) -> tuple[int, int]:
        """The two other axes, in order."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3

    def to_old(self, v: Triple) -> Triple:
        """R v."""
        s, c = self._sin_cos
        i, j = self._across
        result = list(v)
        result[i] = two_products(c, v[i], s, v[j], -1)
        result[j] = two_products(s, v[i], c, v[j], 1)
        return result[0], result[1], result[2]

    def to_new(self, v: Triple) -> Triple:
        """Rᵀ v."""
        s, c = self._sin_cos
        i, j = self._across
        result = list(v)
        result[i] = two_products(c, v[i], s, v[j], 1)
        result[j] = two_products(c, v[j], s, v[i], -1)
        return result[0], result[1], result[2]

    def keeps(self, v: Triple) -> bool:
        """Whether the components stay the same."""
        i, j = self._across
        return not (v[i].ref or v[j].ref)

    def keeps_tensor(self, T: Matrix3) -> bool:
        """Whether the components of a tensor stay the same."""
        k, (i, j) = self.axis, self._across
        coupled = (T[i][k], T[j][k], T[k][i], T[k][j])
        return (
            not any(t.ref for t in coupled)
            and T[i][i].ref == T[j][j].ref
            and T[i][j].ref == -T[j][i].ref
        )

    @cached_property
    def angular_velocity(self) -> Triple:
        """Angular velocity, components in the new base."""
        rate = time_derivative(self.angle)
        zero = rate * 0
        result = [zero, zero, zero]
        result[self.axis] = rate
        return result[0], result[1], result[2]

    @cached_property
    def matrix(self) -> Matrix3:
        """R, by rows."""
        zero = self.angle * 0
        one = zero + 1
        x = self.to_old((one, zero, zero))
        y = self.to_old((zero, one, zero))
        z = self.to_old((zero, zero, one))
        return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


class MatrixRotation(Rotation):
    """A turn given by its matrix, and, if a better form is known, by its angular velocity."""

    def __init__(self, matrix: Matrix3, angular_velocity: Triple | None = None) -> None:
        self._matrix = matrix
        self._given = angular_velocity

    @property
    def matrix(self) -> Matrix3:
        """R, by rows."""
        return self._matrix

    def to_old(self, v: Triple) -> Triple:
        """R v."""
        a, b, c = (row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in self._matrix)
        return a, b, c

    def to_new(self, v: Triple) -> Triple:
        """Rᵀ v."""
        R = self._matrix
        a, b, c = (R[0][j] * v[0] + R[1][j] * v[1] + R[2][j] * v[2] for j in range(3))
        return a, b, c

    def keeps(self, v: Triple) -> bool:
        """Whether the components stay the same."""
        return not any(x.ref for x in v)

    def keeps_tensor(self, T: Matrix3) -> bool:
        """Whether the components of a tensor stay the same."""
        off = (T[0][1], T[0][2], T[1][0], T[1][2], T[2][0], T[2][1])
        isotropic = T[0][0].ref == T[1][1].ref == T[2][2].ref
        return isotropic and not any(t.ref for t in off)

    @cached_property
    def angular_velocity(self) -> Triple:
        """From the skew matrix Rᵀ R' (components in the new base)."""
        if self._given is not None:
            return self._given
        R = self._matrix
        columns = [[R[i][j] for i in range(3)] for j in range(3)]
        rates = [time_derivative(column) for column in columns]

        def entry(i: int, j: int) -> Atom:
            a, b = columns[i], rates[j]
            return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

        return entry(2, 1), entry(0, 2), entry(1, 0)


def about_vector(ws: Workspace, direction: Sequence[float], angle: Atom) -> MatrixRotation:
    """A turn by an angle about a fixed direction (Rodrigues): R = c 1 + s ũ + (1 - c) u uᵀ."""
    if any(isinstance(x, Atom) for x in direction):
        raise DomainError(
            "the direction of an axis must be three numbers: for one that moves use by_matrix, or "
            "turns about axes one after the other"
        )
    u = np.asarray(direction, dtype=float)
    length = float(np.linalg.norm(u))
    if u.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise DomainError(f"{direction!r} is not a direction: give three numbers, not all zero")
    x, y, z = (float(k) for k in u / length)
    s, c = sin(angle), cos(angle)
    skew = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    outer = [[a * b for b in (x, y, z)] for a in (x, y, z)]
    rows = [
        [c * (float(i == j) - outer[i][j]) + s * skew[i][j] + outer[i][j] for j in range(3)]
        for i in range(3)
    ]
    rate = time_derivative(angle)
    return MatrixRotation(matrix3(ws, rows), (rate * x, rate * y, rate * z))


def euler_parameters(
    ws: Workspace,
    e: Sequence[Atom],
    angular_velocity: Triple | None = None,
    homogeneous: bool = False,
) -> MatrixRotation:
    """The turn of a unit quaternion (e0, e1, e2, e3); the user keeps |e| = 1 by a constraint.

    ``homogeneous`` writes R = (e0² - e · e) 1 + 2 e eᵀ + 2 e0 ẽ, which is quadratic in the
    parameters: Newton's method takes fewer iterations where they are unknowns.

    Nikravesh, *Computer-Aided Analysis of Mechanical Systems* (1988), §6.2: ω = 2 L ė in the new
    base, unless the angular velocity is given there, and ė follows from it.
    """
    if len(e) != 4:
        raise DomainError(f"Euler parameters are four, not {len(e)}")
    e0, e1, e2, e3 = e
    rows = (
        [
            [e0**2 + e1**2 - e2**2 - e3**2, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
            [2 * (e1 * e2 + e0 * e3), e0**2 - e1**2 + e2**2 - e3**2, 2 * (e2 * e3 - e0 * e1)],
            [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0**2 - e1**2 - e2**2 + e3**2],
        ]
        if homogeneous
        else [
            [2 * (e0**2 + e1**2) - 1, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
            [2 * (e1 * e2 + e0 * e3), 2 * (e0**2 + e2**2) - 1, 2 * (e2 * e3 - e0 * e1)],
            [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 2 * (e0**2 + e3**2) - 1],
        ]
    )
    if angular_velocity is not None:
        return MatrixRotation(matrix3(ws, rows), angular_velocity)
    d0, d1, d2, d3 = time_derivative(list(e))
    omega = (
        2 * (e0 * d1 - e1 * d0 + e3 * d2 - e2 * d3),
        2 * (e0 * d2 - e2 * d0 + e1 * d3 - e3 * d1),
        2 * (e0 * d3 - e3 * d0 + e2 * d1 - e1 * d2),
    )
    return MatrixRotation(matrix3(ws, rows), omega)


def matrix3(ws: Workspace, rows: Sequence[Sequence[Atom | float]]) -> Matrix3:
    """Nine expressions or numbers as a matrix of atoms."""
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise DomainError("a matrix of three rows and three columns is needed")
    a, b, c = (triple(ws, row) for row in rows)
    return a, b, c


def triple(ws: Workspace, values: Sequence[Atom | float]) -> Triple:
    """Three expressions or numbers as atoms."""
    if len(values) != 3:
        raise DomainError(f"three components are needed, not {len(values)}")
    x, y, z = (ws.atom(value) for value in values)
    return x, y, z
