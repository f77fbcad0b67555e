"""The distance of two orientations, or of two directions, as a vector along the axis of the turn.

Both are expressions without a place at which they break down: neither where nothing is turned, nor
at half a turn, where the axis must be read from the symmetric part of the matrix, and of two
opposite directions is any that is perpendicular.

For the vector e of a turn the derivative of e by the turn ω is not the unit matrix, but it has
e for an eigenvector: the gradient of |e|²/2 is e all the same (Bullo & Murray 1995, "Proportional
derivative control on the Euclidean group"; Solà et al. 2018, "A micro Lie theory", eq. 143-146).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from biela.atoms import Atom, atan2, both, maximum, select, sqrt

Triple: TypeAlias = tuple[Atom, Atom, Atom]
Rows: TypeAlias = Sequence[Sequence[Atom]]

#: Below this |sin θ|² the angle divided by its sine is a series.
_SMALL = 1e-8
#: Below this cosine the axis is read from the symmetric part.
_BACKWARDS = -0.5
#: Below this |sin θ|² two directions are parallel or opposite.
_PARALLEL = 1e-24


def dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Sequence[Atom], b: Sequence[Atom]) -> Triple:
    """Vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def times(R: Rows, a: Sequence[Atom]) -> Triple:
    """R a."""
    return dot(R[0], a), dot(R[1], a), dot(R[2], a)


def transposed(R: Rows) -> list[list[Atom]]:
    """Rᵀ."""
    return [[R[j][i] for j in range(3)] for i in range(3)]


def rotation_vector(R: Rows) -> Triple:
    """The vector θ n of a rotation matrix, with 0 <= θ <= π."""
    a = (
        (R[2][1] - R[1][2]) / 2,
        (R[0][2] - R[2][0]) / 2,
        (R[1][0] - R[0][1]) / 2,
    )
    cosine = (R[0][0] + R[1][1] + R[2][2] - 1) / 2
    square = dot(a, a)
    sine = sqrt(square)
    angle = atan2(sine, cosine)
    small = both(square < _SMALL, cosine > 0)
    factor = select(small, 1 + square / 6 + 3 * square * square / 40, angle / sine)
    # R + Rᵀ = 2 (cos θ + (1 - cos θ) n nᵀ): the column with the largest diagonal gives n
    columns = [
        [(R[i][j] + R[j][i]) / 2 - (cosine if i == j else 0) for i in range(3)] for j in range(3)
    ]
    first = columns[0][0] >= maximum(columns[1][1], columns[2][2])
    second = columns[1][1] >= columns[2][2]
    n = [
        select(first, columns[0][i], select(second, columns[1][i], columns[2][i]))
        for i in (0, 1, 2)
    ]
    length = angle / sqrt(dot(n, n))
    signed = select(dot(n, a) < 0, -length, length)
    backwards = cosine < _BACKWARDS
    x, y, z = (select(backwards, signed * n[i], factor * a[i]) for i in range(3))
    return x, y, z


def turn_between(start: Sequence[Atom], end: Sequence[Atom]) -> Triple:
    """The vector θ n of the shortest turn from one unit vector to another."""
    a = cross(start, end)
    cosine = dot(start, end)
    square = dot(a, a)
    sine = sqrt(square)
    angle = atan2(sine, cosine)
    small = both(square < _SMALL, cosine > 0)
    factor = select(small, 1 + square / 6 + 3 * square * square / 40, angle / sine)
    # any vector that is not along the end gives one perpendicular to it
    flat = end[0] * end[0] < 0.5
    one, none = end[0].workspace.atom(1), end[0].workspace.atom(0)
    helper = (select(flat, one, none), select(flat, none, one), none)
    aside = cross(end, helper)
    length = angle / sqrt(dot(aside, aside))
    opposite = both(square < _PARALLEL, cosine < 0)
    x, y, z = (select(opposite, length * aside[i], factor * a[i]) for i in range(3))
    return x, y, z
