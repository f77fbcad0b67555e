"""Vectors that know their bases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from biela.atoms import Atom, diff, sparsity, substitute
from biela.atoms import opcodes as op
from biela.errors import DomainError
from biela.space.algebra import Parts, plus
from biela.space.bases import Base, keeps_along, path, project
from biela.space.rotations import Triple, triple

if TYPE_CHECKING:
    from biela.space.space import Space


class Vector:
    """A vector in space: a sum of parts, each with components in a base of its own.

    ``+``, ``-``, ``*`` by a scalar, `dot` and `cross` follow the algebra of the space;
    ``x``, ``y`` and ``z`` are components in the root base.
    """

    __slots__ = ("parts", "space")

    def __init__(self, space: Space, parts: Parts) -> None:
        self.space, self.parts = space, parts

    @staticmethod
    def of(space: Space, base: Base, components: Triple) -> Vector:
        """A vector from its components in one base, kept as given."""
        return Vector(space, {base: components} if any(x.ref for x in components) else {})

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left of it."""
        return not self.parts

    @property
    def base(self) -> Base:
        """The base of a vector in one part."""
        if len(self.parts) != 1:
            raise DomainError(
                f"a vector in {len(self.parts)} parts has no base of its own: use components(base)"
            )
        return next(iter(self.parts))

    def __add__(self, other: Vector) -> Vector:
        return self._new(self.space.algebra.add(self.parts, self._same(other).parts))

    def __neg__(self) -> Vector:
        return self._new({b: (-x, -y, -z) for b, (x, y, z) in self.parts.items()})

    def __sub__(self, other: Vector) -> Vector:
        return self + -self._same(other)

    def __mul__(self, factor: Atom | float) -> Vector:
        if hasattr(factor, "parts"):
            raise DomainError("vectors are multiplied by dot() or cross(), not by *")
        return self._new(self.space.algebra.scaled(self.space.workspace.atom(factor), self.parts))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Atom | float) -> Vector:
        return self * (1 / self.space.workspace.atom(divisor))

    def dot(self, other: Vector) -> Atom:
        """The scalar product."""
        zero = self.space.workspace.atom(0)
        return self.space.algebra.dot(zero, self.parts, self._same(other).parts)

    def cross(self, other: Vector) -> Vector:
        """The vector product."""
        return self._new(self.space.algebra.cross(self.parts, self._same(other).parts))

    def norm2(self) -> Atom:
        """The square of the length."""
        return self.dot(self)

    def sum_of_squares(self) -> Atom:
        """The square of the length, which rounding cannot make negative, for square roots.

        `norm2` multiplies parts in several bases as if these were orthonormal.  Where large parts
        nearly cancel, and Euler parameters between the steps of an integrator have not quite unit
        norm, its result may be below zero; this one adds the parts up in one base first.
        """
        if len(self.parts) <= 1:
            return self.norm2()
        x, y, z = self.components(self.space.root)
        return x**2 + y**2 + z**2

    # components

    def components(self, base: Base) -> Triple:
        """The components in a base, by the shorter of two ways.

        Either the parts are carried along the tree and added on the way, or each is turned at once,
        consecutive turns about one axis by the sum of their angles.
        """
        nested, direct = self._nested(base), self._direct(base)
        return direct if _operations(direct) < _operations(nested) else nested

    def _nested(self, base: Base) -> Triple:
        total = triple(self.space.workspace, (0, 0, 0))
        at: Base | None = None
        # the furthest part first, so that each turn is made once for all beyond it
        for start in sorted(self.parts, key=lambda b: -_distance(b, base)):
            part = self.parts[start]
            if at is None or not _on_the_way(at, start, base):
                if at is not None:
                    total = plus(project(total, at, base), project(part, start, base))
                    at = base
                    continue
                at, total = start, part
                continue
            total, at = plus(project(total, at, start), part), start
        return total if at is None else project(total, at, base)

    def _direct(self, base: Base) -> Triple:
        total = triple(self.space.workspace, (0, 0, 0))
        # from the tip inwards: derivatives by inner angles find the outer sums again
        for start, part in reversed(self.parts.items()):
            total = plus(total, project(part, start, base, merge=True))
        return total

    @property
    def x(self) -> Atom:
        """The first component in the root base."""
        return self.components(self.space.root)[0]

    @property
    def y(self) -> Atom:
        """The second component in the root base."""
        return self.components(self.space.root)[1]

    @property
    def z(self) -> Atom:
        """The third component in the root base."""
        return self.components(self.space.root)[2]

    # derivatives

    def map(self, function: Callable[[Atom], Atom], settle: bool = True) -> Vector:
        """The vector with a function applied to every component; see Algebra.settled."""
        parts = {b: (function(x), function(y), function(z)) for b, (x, y, z) in self.parts.items()}
        return self._new(self.space.algebra.settled(parts) if settle else parts)

    def diff(self, symbol: Atom) -> Vector:
        """The derivative of the components by a symbol, bases held.

        By a velocity this is a vector in its own right; by a coordinate not, since bases turn.
        """
        return self.map(lambda x: diff(x, symbol))

    def diff_by_each(self, symbols: Sequence[Atom]) -> list[Vector]:
        """The derivatives by several symbols, the columns of a Jacobian; most are often zero."""
        places = [(b, i) for b, part in self.parts.items() for i in range(3) if part[i].ref]
        atoms = [self.parts[b][i] for b, i in places]
        zero = self.space.workspace.atom(0)
        columns: dict[int, dict[Base, list[Atom]]] = {}
        for n, k in sparsity(atoms, symbols):
            base, i = places[n]
            column = columns.setdefault(k, {})
            column.setdefault(base, [zero] * 3)[i] = diff(atoms[n], symbols[k])
        settled = self.space.algebra.settled
        nothing = self._new({})
        found = [nothing] * len(symbols)
        for k, column in columns.items():
            found[k] = self._new(settled({b: (x, y, z) for b, (x, y, z) in column.items()}))
        return found

    def substitute(self, values: Mapping[Atom, Atom | float]) -> Vector:
        """The vector with symbols replaced in its components."""
        return self.map(lambda x: substitute(x, values))

    def gathered(self, base: Base) -> Vector:
        """The vector with parts moved to a base wherever that changes no component."""
        parts: Parts = {}
        for at, part in self.parts.items():
            to = base if keeps_along(part, at, base) else at
            parts[to] = plus(parts[to], part) if to in parts else part
        return self._new(parts)

    def __repr__(self) -> str:
        if not self.parts:
            return "Vector 0"
        spelled = (f"({x}, {y}, {z})_{b.name}" for b, (x, y, z) in self.parts.items())
        return f"Vector {' + '.join(spelled)}"

    def _new(self, parts: Parts) -> Vector:
        return Vector(self.space, parts)

    def _same(self, other: Vector) -> Vector:
        if not hasattr(other, "parts"):
            raise DomainError(f"{other!r} is not a vector: make one with base.vector(x, y, z)")
        if other.space is not self.space:
            raise DomainError(
                f"a vector of {self.space.name} and one of {other.space.name} cannot be joined"
            )
        return other


def triple_cross(u: Vector, v: Vector, w: Vector) -> Vector:
    """The product u x (v x w) by Lagrange's formula, v (u · w) - w (u · v).

    Vectors in parts stay in the bases of v and w, where two cross products would turn them twice
    (Plaza 2015, eq. 5.14).
    """
    return v * u.dot(w) - w * u.dot(v)


def total(space: Space, vectors: Sequence[Vector]) -> Vector:
    """The sum of vectors, in their order."""
    return Vector(space, space.algebra.sum([vector.parts for vector in vectors]))


def _operations(components: Triple) -> int:
    table = components[0].table
    return sum(table.ops[a] > op.SYMBOL for a in table.live(c.ref for c in components))


def _distance(a: Base, b: Base) -> int:
    return len(path(a, b))


def _on_the_way(start: Base, middle: Base, end: Base) -> bool:
    """Whether the path from ``start`` to ``end`` passes through ``middle``."""
    return _distance(start, middle) + _distance(middle, end) == _distance(start, end)
