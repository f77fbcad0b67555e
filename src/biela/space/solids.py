"""Rigid solids, and the wrenches that act on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from biela.atoms import Atom, Kind
from biela.errors import DomainError
from biela.space.algebra import Toward
from biela.space.bases import Base
from biela.space.points import Frame, Point
from biela.space.tensors import Tensor
from biela.space.vectors import Vector


@dataclass(frozen=True, eq=False)
class Solid:
    """A rigid body: a frame fixed in it, and its mass seen from the point of that frame.

    ``first_moment`` is m r, with r from the point of the frame to the centre of mass; ``inertia``
    is about the point of the frame, which may be any point of the body.
    """

    name: str
    point: Point
    base: Base
    mass: Atom
    first_moment: Vector
    inertia: Tensor

    def __post_init__(self) -> None:
        if self.point.space is not self.base.space:
            raise DomainError(f"solid {self.name}: its point and its base belong to two systems")
        for what, base in [
            *(("inertia", base) for base in self.inertia.parts),
            *(("centre of mass", base) for base in self.first_moment.parts),
        ]:
            if base is not self.base:
                raise DomainError(
                    f"solid {self.name}: the {what} is given in base {base.name}, "
                    f"not in that of the solid, {self.base.name}"
                )
        table = self.mass.table
        for atom in table.live(x.ref for x in self.inertial_parameters):
            symbol = table.symbols.get(atom)
            if symbol is not None and symbol.kind not in (Kind.PARAMETER, Kind.FREE):
                raise DomainError(
                    f"solid {self.name}: its mass, centre or inertia depends on {symbol.name}, "
                    f"but a rigid body keeps them"
                )

    @property
    def inertial_parameters(self) -> list[Atom]:
        """Mass, first moment (3) and inertia (xx, yy, zz, xy, xz, yz) in the base of the solid."""
        I = self.inertia.components(self.base)
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        moment = self.first_moment.components(self.base)
        return [self.mass, *moment, *(I[a][b] for a, b in pairs)]

    @property
    def frame(self) -> Frame:
        """The frame fixed in the solid."""
        return Frame(self.point, self.base)

    def __repr__(self) -> str:
        return f"Solid {self.name}"


def point_inertia(base: Base, centre: Vector, first_moment: Vector) -> Tensor:
    """The inertia of a mass in its centre about the point of the frame: (r · mr) 1 - r mrᵀ."""
    if first_moment.is_zero:
        return base.inertia()
    (x, y, z), (mx, my, mz) = centre.components(base), first_moment.components(base)
    return base.inertia(
        xx=y * my + z * mz,
        yy=x * mx + z * mz,
        zz=x * mx + y * my,
        xy=-x * my,
        xz=-x * mz,
        yz=-y * mz,
    )


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force through a point and a moment, acting on a solid.

    ``toward`` says to which end of the base tree its sums and products are taken; None leaves it to
    the algebra in force.

    Raises:
        DomainError: If its parts belong to two systems or are not what they should be.
    """

    name: str
    solid: Solid
    point: Point
    force: Vector
    moment: Vector
    toward: Toward | None = field(default=None)

    def __post_init__(self) -> None:
        who = f"wrench {self.name} on {self.solid.name}"
        if not isinstance(self.point, Point):
            raise DomainError(f"{who}: it acts through a point, and {self.point!r} is none")
        if self.toward not in (None, *Toward):
            known = ", ".join(f"Toward.{member.name}" for member in Toward)
            raise DomainError(f"{who}: toward is one of {known} or None, not {self.toward!r}")
        space = self.solid.point.space
        for what, part in (("point", self.point), ("force", self.force), ("moment", self.moment)):
            if part.space is not space:
                raise DomainError(
                    f"{who}: its {what} belongs to {part.space.name}, the solid to {space.name}"
                )
