"""Tensors that know their bases: inertias, products of them, skew forms of vectors.

As a vector is, a tensor is kept as a sum of parts, each in the base where its components are
simplest (Plaza 2015, §5.3).  Two operands meet on the path between their bases, and whichever keeps
its components on the way goes for nothing: an inertia that is the same about its axis is never
turned about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from biela.atoms import Atom
from biela.errors import DomainError
from biela.space.algebra import Algebra, Parts, plus
from biela.space.bases import Base, keeps_along, path, project, turns
from biela.space.rotations import Matrix3, Triple, matrix3
from biela.space.vectors import Vector

if TYPE_CHECKING:
    from biela.space.space import Space

#: The parts of a tensor by base, in the order in which the bases were made.
TensorParts = dict[Base, Matrix3]


class Tensor:
    """A tensor in space: a sum of parts, each with components in a base of its own.

    ``+``, ``-``, ``*`` by a scalar, ``T @ S``, ``T @ v`` and ``v @ T`` follow the algebra of the
    space.
    """

    __slots__ = ("parts", "space")

    def __init__(self, space: Space, parts: TensorParts) -> None:
        self.space, self.parts = space, parts

    @staticmethod
    def of(space: Space, base: Base, components: Matrix3) -> Tensor:
        """A tensor from its components in one base, kept as given."""
        return Tensor(space, {} if _is_zero(components) else {base: components})

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left of it."""
        return not self.parts

    @property
    def base(self) -> Base:
        """The base of a tensor in one part.

        Raises:
            DomainError: If it has several parts, or none.
        """
        if len(self.parts) != 1:
            raise DomainError(
                f"a tensor in {len(self.parts)} parts has no base of its own: use components(base)"
            )
        return next(iter(self.parts))

    @property
    def transposed(self) -> Tensor:
        """The tensor with rows and columns exchanged."""
        return Tensor(self.space, {b: _transposed(T) for b, T in self.parts.items()})

    def components(self, base: Base) -> Matrix3:
        """The components in a base, by rows."""
        total = matrix3(self.space.workspace, [[0] * 3] * 3)
        for start, part in self.parts.items():
            total = _sum(total, project_tensor(part, start, base))
        return total

    def gathered(self, base: Base) -> Tensor:
        """The tensor with parts moved to a base wherever that changes no component."""
        parts: TensorParts = {}
        for at, part in self.parts.items():
            _add(parts, base if _carried(part, at, base) is base else at, part)
        return Tensor(self.space, parts)

    def __add__(self, other: Tensor) -> Tensor:
        theirs = self._same(other).parts
        if not self.parts or not theirs:
            return self if self.parts else other
        algebra = self.space.algebra
        if not algebra.extended:
            (a, T), (b, S) = _single(algebra, self.parts), _single(algebra, theirs)
            base = algebra.meeting_base(a, b)
            return self._settled({base: _sum(_to(algebra, T, a, base), _to(algebra, S, b, base))})
        total = dict(self.parts)
        for b, S in theirs.items():
            _add(total, b, S)
        return self._settled(total)

    def __neg__(self) -> Tensor:
        minus = self.space.workspace.atom(-1)
        return Tensor(self.space, {b: _scaled(minus, T) for b, T in self.parts.items()})

    def __sub__(self, other: Tensor) -> Tensor:
        return self + -self._same(other)

    def __mul__(self, factor: Atom | float) -> Tensor:
        if hasattr(factor, "parts"):
            raise DomainError("tensors are multiplied with vectors and tensors by @, not by *")
        scalar = self.space.workspace.atom(factor)
        return self._settled({b: _scaled(scalar, T) for b, T in self.parts.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Atom | float) -> Tensor:
        return self * (1 / self.space.workspace.atom(divisor))

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...

    @overload
    def __matmul__(self, other: Tensor) -> Tensor: ...

    def __matmul__(self, other: Vector | Tensor) -> Vector | Tensor:
        """The tensor times a vector, or times a tensor."""
        algebra = self.space.algebra
        if isinstance(other, Vector):
            self._check_space(other)
            return Vector(self.space, _applied(algebra, self.parts, other.parts))
        return self._settled(_product(algebra, self.parts, self._same(other).parts))

    def __rmatmul__(self, u: Vector) -> Vector:
        """A vector times the tensor."""
        return self.transposed @ u

    def __repr__(self) -> str:
        if not self.parts:
            return "Tensor 0"
        spelled = (
            f"[{'; '.join(', '.join(map(repr, row)) for row in T)}]_{b.name}"
            for b, T in self.parts.items()
        )
        return f"Tensor {' + '.join(spelled)}"

    def _settled(self, parts: TensorParts) -> Tensor:
        """Parts without zeros, each lowered while its components stay the same, in order."""
        total: TensorParts = {}
        for base in sorted(parts, key=lambda b: -b.depth):
            T = parts[base]
            while (
                self.space.algebra.extended
                and base.parent is not None
                and base.rotation.keeps_tensor(T)
            ):
                base = base.parent
            _add(total, base, T)
        ordered = sorted(total, key=lambda b: b.index)
        return Tensor(self.space, {b: total[b] for b in ordered if not _is_zero(total[b])})

    def _same(self, other: Tensor) -> Tensor:
        if not isinstance(other, Tensor):
            raise DomainError(f"{other!r} is not a tensor: make one with base.tensor(rows)")
        self._check_space(other)
        return other

    def _check_space(self, other: Vector | Tensor) -> None:
        if other.space is not self.space:
            raise DomainError(
                f"a tensor of {self.space.name} and a {type(other).__name__.lower()} of "
                f"{other.space.name} cannot be joined"
            )


def skew(u: Vector) -> Tensor:
    """The tensor ũ with ũ v = u x v, part by part."""
    zero = u.space.workspace.atom(0)
    parts = {b: _skew(zero, part) for b, part in u.parts.items()}
    return Tensor(u.space, parts)


def project_tensor(T: Matrix3, start: Base, end: Base, merge: bool = False) -> Matrix3:
    """Components in ``end`` from components in ``start``, R T Rᵀ an edge at a time."""
    for rotation, up in turns(start, end, merge).turns if start is not end else ():
        if rotation.keeps_tensor(T):
            continue
        turn = rotation.to_new if up else rotation.to_old
        if _is_skew(T):  # R ũ Rᵀ is the skew form of R u
            T = _skew(T[0][0], turn((T[2][1], T[0][2], T[1][0])))
            continue
        symmetric = _transposed(T) == T
        a, b, c = (turn(column) for column in _transposed(T))
        a, b, c = (turn(row) for row in _transposed((a, b, c)))
        # a symmetric tensor stays so atom for atom: the upper triangle is used twice
        T = ((a[0], a[1], a[2]), (a[1], b[1], b[2]), (a[2], b[2], c[2])) if symmetric else (a, b, c)
    return T


# ------------------------------------------------------------------------------ products


def _applied(algebra: Algebra, tensor: TensorParts, u: Parts) -> Parts:
    """T u: each part of u goes to the nearest base in which the part of T is as it is."""
    if not algebra.extended and tensor and u:
        tensor, u = dict([_single(algebra, tensor)]), dict([algebra.single(u)])
    total: Parts = {}
    for at, T in tensor.items():
        for start, part in u.items():
            base = at
            if algebra.extended and not keeps_along(part, start, at):
                base = _carried(T, at, start)
            y = _times(T, project(part, start, base, algebra.merge))
            total[base] = plus(total[base], y) if base in total else y
    return algebra.settled(total)


def _product(algebra: Algebra, left: TensorParts, right: TensorParts) -> TensorParts:
    """T S, the sum of the products of parts, each in a base between theirs."""
    if not algebra.extended and left and right:
        left, right = dict([_single(algebra, left)]), dict([_single(algebra, right)])
    total: TensorParts = {}
    for a, T in left.items():
        for b, S in right.items():
            base = _meeting(algebra, a, T, b, S)
            X, Y = _to(algebra, T, a, base), _to(algebra, S, b, base)
            columns = _transposed(Y)
            # X times each column of Y gives the product by columns
            x, y, z = (_times(X, column) for column in columns)
            _add(total, base, _transposed((x, y, z)))
    return total


def _meeting(algebra: Algebra, a: Base, T: Matrix3, b: Base, S: Matrix3) -> Base:
    """Where two parts meet: what keeps its components comes nearer for nothing."""
    if not algebra.extended:
        return algebra.meeting_base(a, b)
    near_b = _carried(T, a, b)
    if len(path(near_b, b)) <= len(path(_carried(S, b, a), b)):
        return near_b  # S comes as far as that, or further
    return algebra.meeting_base(near_b, _carried(S, b, a))


def _carried(T: Matrix3, start: Base, end: Base) -> Base:
    """The last base on the way in which the components are still the same."""
    at = start
    for base, up in path(start, end):
        if not base.rotation.keeps_tensor(T):
            break
        at = base if up or base.parent is None else base.parent
    return at


def _single(algebra: Algebra, parts: TensorParts) -> tuple[Base, Matrix3]:
    """A tensor in one base: the deepest part is brought to the others one by one."""
    (base, total), *others = sorted(parts.items(), key=lambda item: -item[0].depth)
    for other, part in others:
        meeting = algebra.meeting_base(base, other)
        total = _sum(_to(algebra, total, base, meeting), _to(algebra, part, other, meeting))
        base = meeting
    return base, total


def _to(algebra: Algebra, T: Matrix3, start: Base, end: Base) -> Matrix3:
    return project_tensor(T, start, end, algebra.merge)


# ------------------------------------------------------------------------------ components


def _add(parts: TensorParts, base: Base, T: Matrix3) -> None:
    parts[base] = _sum(parts[base], T) if base in parts else T


def _sum(T: Matrix3, S: Matrix3) -> Matrix3:
    return plus(T[0], S[0]), plus(T[1], S[1]), plus(T[2], S[2])


def _scaled(factor: Atom, T: Matrix3) -> Matrix3:
    a, b, c = ((factor * x, factor * y, factor * z) for x, y, z in T)
    return a, b, c


def _times(T: Matrix3, v: Triple) -> Triple:
    a, b, c = (row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in T)
    return a, b, c


def _transposed(T: Sequence[Triple]) -> Matrix3:
    a, b, c = T
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


def _skew(zero: Atom, u: Triple) -> Matrix3:
    x, y, z = u
    return (zero, -z, y), (z, zero, -x), (-y, x, zero)


def _is_skew(T: Matrix3) -> bool:
    return all(T[i][j].ref == -T[j][i].ref for i in range(3) for j in range(i + 1))


def _is_zero(T: Matrix3) -> bool:
    return not any(x.ref for row in T for x in row)
