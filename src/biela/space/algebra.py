"""In which base, and in which order, vectors are added and multiplied.

The components of a result do not depend on it, the number of operations does.  An algebra is the
choice of three things:

- ``toward``: two operands on one branch meet in the upper base (``LEAF``, the thesis's *UP*) or in
  the lower one (``ROOT``, *DOWN*); operands on different branches meet in their common ancestor.
- ``extended``: a vector is kept as a sum of parts, each in the base where its components are
  simplest, and parts are brought together only in products, on the path between their bases.  So
  no part is ever turned forth and back, and sin² + cos² never arises (Plaza 2015, ch. 5).
- ``merge``: consecutive turns about one axis are made as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce

from biela.atoms import Atom
from biela.space.bases import Base, keeps_along, project
from biela.space.rotations import Triple, two_products
from biela.space.tree import common_ancestor

#: The parts of a vector by base, in the order in which the bases were made.
Parts = dict[Base, Triple]


class Toward(Enum):
    """To which end of the base tree operations are taken."""

    LEAF = "leaf"  # the thesis's gravity UP
    ROOT = "root"  # the thesis's gravity DOWN


@dataclass(frozen=True)
class Algebra:
    """Rules for operations on vectors; see the module."""

    toward: Toward = Toward.ROOT
    extended: bool = True
    merge: bool = False

    def meeting_base(self, a: Base, b: Base) -> Base:
        """The base in which operands of two bases meet."""
        shared = common_ancestor(a, b)
        if shared is not a and shared is not b:
            return shared
        upper = b if shared is a else a
        return upper if self.toward is Toward.LEAF else shared

    def add(self, u: Parts, v: Parts) -> Parts:
        """The sum u + v.  A zero operand has no base and asks for no change of base."""
        if not u or not v:
            return v or u
        if self.extended:
            total = dict(u)
            for base, part in v.items():
                total[base] = plus(total[base], part) if base in total else part
            return self.settled(total)
        (a, x), (b, y) = self.single(u), self.single(v)
        base = self.meeting_base(a, b)
        return self.settled(
            {base: plus(project(x, a, base, self.merge), project(y, b, base, self.merge))}
        )

    def sum(self, vectors: Sequence[Parts]) -> Parts:
        """The sum of several vectors, in their order."""
        terms = [parts for parts in vectors if parts]
        if len(terms) < 2:
            return terms[0] if terms else {}
        if not self.extended:
            return reduce(self.add, terms)
        total = dict(terms[0])
        for parts in terms[1:]:
            for base, part in parts.items():
                total[base] = plus(total[base], part) if base in total else part
        return self.settled(total)

    def scaled(self, factor: Atom, u: Parts) -> Parts:
        """The vector times a factor."""
        return self.settled({b: (factor * x, factor * y, factor * z) for b, (x, y, z) in u.items()})

    def dot(self, zero: Atom, u: Parts, v: Parts) -> Atom:
        """The scalar product u · v."""
        table = zero.table
        total = 0
        for a, x in u.items():
            for b, y in v.items():
                _, p, q = self._together(a, x, b, y)
                # zeros are frequent, and skipping them here is several times cheaper
                for s, t in zip(p, q, strict=True):
                    if s.ref and t.ref:
                        total = table.add(total, table.mul(s.ref, t.ref))
        return Atom(table, total)

    def cross(self, u: Parts, v: Parts) -> Parts:
        """The vector product u x v; that of two parts belongs to the base where it was formed."""
        total: Parts = {}
        for a, x in u.items():
            for b, y in v.items():
                base, p, q = self._together(a, x, b, y)
                product = (
                    two_products(p[1], q[2], p[2], q[1], -1),
                    two_products(p[2], q[0], p[0], q[2], -1),
                    two_products(p[0], q[1], p[1], q[0], -1),
                )
                total[base] = plus(total[base], product) if base in total else product
        return self.settled(total)

    def single(self, parts: Parts) -> tuple[Base, Triple]:
        """A vector in one base; several parts are added in the order of this algebra."""
        ordered = sorted(parts.items(), key=lambda item: item[0].depth)
        if self.toward is Toward.ROOT:
            ordered.reverse()
        base, total = ordered[0]
        for other, part in ordered[1:]:
            meeting = self.meeting_base(base, other)
            total = plus(
                project(total, base, meeting, self.merge), project(part, other, meeting, self.merge)
            )
            base = meeting
        return base, total

    def settled(self, parts: Parts) -> Parts:
        """Parts without zeros, each lowered while its components stay the same, in order."""
        if self._is_settled(parts):
            return parts
        total: Parts = {}
        for base in sorted(parts, key=lambda b: -b.depth):
            part = parts[base]
            if is_zero(part):
                continue
            if self.extended:
                while base.parent is not None and base.keeps(part):
                    base = base.parent
            total[base] = plus(total[base], part) if base in total else part
        return {
            base: total[base]
            for base in sorted(total, key=lambda b: b.index)
            if not is_zero(total[base])
        }

    def _is_settled(self, parts: Parts) -> bool:
        """Whether nothing is to be done, which is the rule."""
        last = -1
        for base, part in parts.items():
            if base.index < last or is_zero(part) or (self.extended and base.keeps(part)):
                return False
            last = base.index
        return True

    def _together(self, a: Base, x: Triple, b: Base, y: Triple) -> tuple[Base, Triple, Triple]:
        """Two parts in one base; what keeps its components goes to the other for nothing."""
        if a is b:
            return a, x, y
        if self.extended:
            if keeps_along(x, a, b):
                return b, x, y
            if keeps_along(y, b, a):
                return a, x, y
        base = self.meeting_base(a, b)
        return base, project(x, a, base, self.merge), project(y, b, base, self.merge)


def plus(a: Triple, b: Triple) -> Triple:
    """The sum of components in one base."""
    (x, y, z), (u, v, w) = a, b
    return (
        (x + u if u.ref else x) if x.ref else u,
        (y + v if v.ref else y) if y.ref else v,
        (z + w if w.ref else z) if z.ref else w,
    )


def is_zero(part: Triple) -> bool:
    """Whether all components are zero."""
    return not (part[0].ref or part[1].ref or part[2].ref)
