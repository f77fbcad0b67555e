"""Turning components from one frame to another, cheaply: elementary turns and poses.

A rotation between the frames of two links is kept as a product of elementary turns, so that a
vector costs 4 multiplications a turn in place of 9, quarter turns cost nothing, and a symmetric
matrix costs 8 in place of 54.  All entries are atoms or numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias

from biela.atoms import Atom

Scalar: TypeAlias = Atom | float
Triple: TypeAlias = list[Scalar]
Matrix: TypeAlias = list[list[Scalar]]

#: Entries of rotations and lengths below this are the dust of rounding.
DUST = 2e-15
_PLAIN: Final = frozenset((0.0, 1.0, -1.0))
_ONLY_FLOATS: Final = {float}


def zero(x: Scalar) -> bool:
    """Whether it is the number 0."""
    return x.ref == 0 if isinstance(x, Atom) else x == 0


def plus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The sum of two vectors."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The difference of two vectors."""
    return [x - y for x, y in zip(a, b, strict=True)]


def scaled(a: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
    """A vector times a number."""
    return [x * factor for x in a]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The scalar product of two vectors of any length."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        # `zero` written out: this is the inner loop of every derivation
        if (x.ref if isinstance(x, Atom) else x) and (y.ref if isinstance(y, Atom) else y):
            total = total + x * y
    return total


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Triple:
    """The vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(M: Matrix, x: Sequence[Scalar]) -> list[Scalar]:
    """M x."""
    return [dot(row, x) for row in M]


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]


def are_numbers(M: Sequence[Sequence[Scalar]]) -> bool:
    """Whether all entries are plain numbers; long chains have thousands of such matrices."""
    return set(map(type, chain.from_iterable(M))) == _ONLY_FLOATS


def transposed(M: Matrix) -> Matrix:
    """Mᵀ."""
    return [list(row) for row in zip(*M, strict=True)]


def skew(a: Sequence[Scalar]) -> Matrix:
    """The matrix of a ×."""
    return [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]


@dataclass(frozen=True, eq=False)
class AxisTurn:
    """A turn about axis 0, 1 or 2 by an angle with cosine c and sine s."""

    axis: int
    c: Scalar
    s: Scalar

    @property
    def idle(self) -> bool:
        """Whether it does nothing."""
        return self.free and self.c == 1

    @property
    def free(self) -> bool:
        """Whether it is a number of quarter turns, which cost nothing."""
        return isinstance(self.c, float) and self.c in (0.0, 1.0, -1.0)

    @property
    def matrix(self) -> Matrix:
        """R."""
        return transposed([self.outward(e) for e in UNIT])

    def outward(self, x: Sequence[Scalar]) -> Triple:
        """R x: components before the turn, of those after it."""
        return self._turned(x, self.s)

    def inward(self, x: Sequence[Scalar]) -> Triple:
        """Rᵀ x: components after the turn, of those before it."""
        return self._turned(x, -self.s)

    def _turned(self, x: Sequence[Scalar], s: Scalar) -> Triple:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        y = list(x)
        y[i] = self.c * x[i] - s * x[j]
        y[j] = s * x[i] + self.c * x[j]
        return y

    def tensor(self, B: Matrix, symmetric: bool = False) -> Matrix:
        """R B Rᵀ in 12 multiplications, or 8 if B is symmetric.

        With w = s (B_ii - B_jj) + c (B_ij + B_ji) the block across the axis becomes
        B_ii - s w, B_jj + s w, c w - B_ji, c w - B_ij.
        """
        if self.free:
            half = [self.outward(column) for column in zip(*B, strict=True)]
            return [self.outward(row) for row in zip(*half, strict=True)]
        k = self.axis
        i, j, s, c = (k + 1) % 3, (k + 2) % 3, self.s, self.c
        w = s * (B[i][i] - B[j][j]) + c * (B[i][j] + B[j][i])
        sw, cw = s * w, c * w
        T: Matrix = [list(row) for row in B]
        T[i][i], T[j][j] = B[i][i] - sw, B[j][j] + sw
        T[i][j], T[j][i] = cw - B[j][i], cw - B[i][j]
        T[i][k], T[j][k] = c * B[i][k] - s * B[j][k], s * B[i][k] + c * B[j][k]
        if symmetric:
            T[k][i], T[k][j] = T[i][k], T[j][k]
        else:
            T[k][i], T[k][j] = c * B[k][i] - s * B[k][j], s * B[k][i] + c * B[k][j]
        return T


@dataclass(frozen=True, eq=False)
class MatrixTurn:
    """A turn by a matrix R."""

    matrix: Matrix

    def outward(self, x: Sequence[Scalar]) -> Triple:
        """R x."""
        return times(self.matrix, x)

    def inward(self, x: Sequence[Scalar]) -> Triple:
        """Rᵀ x."""
        return times(transposed(self.matrix), x)

    def tensor(self, B: Matrix, symmetric: bool = False) -> Matrix:
        """R B Rᵀ."""
        half = product(self.matrix, B)
        if not symmetric:
            return product(half, transposed(self.matrix))
        upper = [[dot(half[i], self.matrix[j]) for j in range(i, 3)] for i in range(3)]
        return [[upper[min(i, j)][abs(i - j)] for j in range(3)] for i in range(3)]


Turn: TypeAlias = AxisTurn | MatrixTurn
UNIT: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def outward(turns: Sequence[Turn], x: Sequence[Scalar]) -> Triple:
    """R₁ R₂ … x."""
    y = list(x)
    for turn in reversed(turns):
        y = turn.outward(y)
    return y


def inward(turns: Sequence[Turn], x: Sequence[Scalar]) -> Triple:
    """(R₁ R₂ …)ᵀ x."""
    y = list(x)
    for turn in turns:
        y = turn.inward(y)
    return y


def tensor_outward(turns: Sequence[Turn], B: Matrix, symmetric: bool = False) -> Matrix:
    """(R₁ R₂ …) B (R₁ R₂ …)ᵀ."""
    for turn in reversed(turns):
        B = turn.tensor(B, symmetric)
    return B


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame seen from another that it is fixed to: its axes, the columns of R, and its place."""

    R: Matrix
    p: Triple

    @classmethod
    def at(cls, *p: Scalar) -> Pose:
        """A translation."""
        return cls(UNIT, list(p) or [0.0, 0.0, 0.0])

    @property
    def is_number(self) -> bool:
        """Whether it depends on no parameter."""
        rows = (*self.R, self.p)
        return self._is_plain or not any(isinstance(x, Atom) for row in rows for x in row)

    @cached_property
    def _is_plain(self) -> bool:
        return are_numbers((*self.R, self.p))

    def __matmul__(self, other: Pose) -> Pose:
        """The frame that is at ``other`` in this one."""
        if self._is_plain and other._is_plain:
            return _composed(self, other)
        R = [[_clean(x) for x in row] for row in product(self.R, other.R)]
        return Pose(R, [_clean(x) for x in plus(self.p, times(self.R, other.p))])

    def ahead(self, p: Sequence[Scalar]) -> Pose:
        """The frame moved along its own axes, not turned."""
        return Pose(self.R, [_clean(x) for x in plus(self.p, times(self.R, p))])

    def inverse(self) -> Pose:
        """The frame of departure seen from here."""
        back = transposed(self.R)
        return Pose(back, [-x for x in times(back, self.p)])


def _composed(first: Any, second: Any) -> Pose:
    """The product of two poses of numbers: the same sums without asking each for what it is."""
    (a, b, c), (d, e, f), (g, h, i) = second.R
    x, y, z = second.p
    R, p = [], []
    for (r, s, t), o in zip(first.R, first.p, strict=True):
        R.append(_dusted((r * a + s * d + t * g, r * b + s * e + t * h, r * c + s * f + t * i)))
        p.append(o + (r * x + s * y + t * z))
    found = Pose(R, _dusted(p))
    found.__dict__["_is_plain"] = True  # known here, and asked for often
    return found


def _dusted(row: Sequence[float]) -> list[Scalar]:
    """`_clean` of numbers; adding zero takes the sign of a zero away."""
    return [x + 0.0 if x in _PLAIN else _clean(x) for x in row]


def _clean(x: Scalar) -> Scalar:
    """A number without dust on 0, 1 and -1."""
    if isinstance(x, Atom):
        return float(x.value) if x.value is not None else x
    size = abs(x)
    if size < DUST:
        return 0.0
    return math.copysign(1.0, x) if abs(size - 1.0) < DUST else float(x)


def about_z(angle: float) -> Pose:
    """A turn about z by a number."""
    c, s = _clean(math.cos(angle)), _clean(math.sin(angle))
    return Pose([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0, 0.0])


def zxz(R: Matrix) -> tuple[float, float, float]:
    """Angles of R = Rz(γ) Rx(α) Rz(θ), numbers; γ is 0 where it may be, else in (-π/2, π/2]."""
    (r00, r01, r02), (r10, r11, r12), (_, _, r22) = ([float(x) for x in row] for row in R)  # type: ignore[arg-type]
    size = math.hypot(r02, r12)
    if size < DUST:
        sign = math.copysign(1.0, r22)
        return 0.0, 0.0 if sign > 0 else math.pi, math.atan2(-r01, r00)
    gamma, alpha = math.atan2(r02, -r12), math.atan2(size, r22)
    if not -math.pi / 2 + 1e-12 < gamma <= math.pi / 2 + 1e-12:
        gamma, alpha = gamma - math.copysign(math.pi, gamma), -alpha
    # from what is left when γ and α are undone: near α = 0 only γ + θ is well known
    c, s = math.cos(gamma), math.sin(gamma)
    return gamma, alpha, math.atan2(-(c * r01 + s * r11), c * r00 + s * r10)


def turns_of(R: Matrix) -> tuple[Turn, ...]:
    """The cheapest product of turns for a constant R."""
    if any(isinstance(x, Atom) for row in R for x in row):
        return (MatrixTurn(R),)
    found = []
    for axis, angle in zip((2, 0, 2), zxz(R), strict=True):
        turn = AxisTurn(axis, _clean(math.cos(angle)), _clean(math.sin(angle)))
        if not turn.idle:
            found.append(turn)
    if sum(not turn.free for turn in found) > 2:
        return (MatrixTurn(R),)
    return tuple(found)
