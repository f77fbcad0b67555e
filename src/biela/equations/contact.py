"""Contact of two surfaces as an element of a symbolic system.

Each surface is a function r(s1, s2) of two surface coordinates, in the base of its solid and from
its point: splines, for instance, of a wheel and of a rail.  The contact point slides on both, so
four coordinates without inertia are added, and five equations hold:

    r_i - r_j = 0  (three),     n_j · t1_i = 0,     n_j · t2_i = 0,

with tangents t = ∂r/∂s and the normal n = t1 x t2 (Plaza 2015, appendix A.5; the two equations it
prints for the normals are identities, these are what is meant).

The multipliers of the three equations of coincidence are the force between the surfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from biela.atoms import Atom, diff, sqrt
from biela.equations.constraints import Constraint
from biela.equations.symbolic import SymbolicSystem
from biela.errors import ModelError
from biela.space import Point, Solid, Vector, velocity_in

#: Components in the base of a solid, from its point, as a function of two surface coordinates.
Shape = Callable[[Atom, Atom], Sequence[Atom | float]]


@dataclass(frozen=True)
class Surface:
    """A surface fixed in a solid."""

    solid: Solid
    shape: Shape


@dataclass(frozen=True)
class Contact:
    """What a contact has added to a system."""

    name: str
    first: Surface
    second: Surface
    coordinates: tuple[Atom, ...]
    constraints: tuple[Constraint, ...]
    #: The contact point on each surface.
    points: tuple[Point, Point]
    #: The normal of the second surface, not of unit length.
    normal: Vector

    def force(self) -> Vector:
        """The force of the second surface on the first: with M v' + Φ_vᵀ λ = Q it is -λ.

        The first three constraints hold the points together, first minus second.
        """
        space = self.points[0].space
        x, y, z = (c.multiplier for c in self.constraints[:3])
        return space.root.vector(-x, -y, -z)

    def slip(self) -> Vector:
        """The velocity of the first solid at the contact relative to the second."""
        inertial = self.points[0].space.inertial
        return velocity_in(inertial, self.points[0], self.first.solid) - velocity_in(
            inertial, self.points[1], self.second.solid
        )


def add_contact(system: SymbolicSystem, name: str, first: Surface, second: Surface) -> Contact:
    """Hold two surfaces in contact at one point."""
    if first.solid is second.solid:
        raise ModelError(f"contact {name}: both surfaces belong to solid {first.solid.name}")
    names = [f"{name}_{side}{k}" for side in ("i", "j") for k in (1, 2)]
    s = system.coordinates(names, inertia=False)
    points, tangents = [], []
    for surface, side, pair in ((first, "i", s[:2]), (second, "j", s[2:])):
        base = surface.solid.base
        components = [system.workspace.atom(c) for c in surface.shape(*pair)]
        if len(components) != 3:
            raise ModelError(
                f"contact {name}: the surface of {surface.solid.name} gives {len(components)} "
                f"components, not three"
            )
        points.append(surface.solid.point.offset(f"{name}_{side}", base.vector(*components)))
        tangents.append([base.vector(*(diff(c, x) for c in components)) for x in pair])
    normal = tangents[1][0].cross(tangents[1][1])
    closed = system.close(points[1], points[0], name=name)
    if len(closed) != 3:
        raise ModelError(
            f"contact {name}: the two surfaces touch everywhere along an axis of the ground; "
            f"constrain them directly"
        )
    rows = [normal.dot(tangent) for tangent in tangents[0]]
    aligned = system.constrain(*(row for row in rows if row.ref), name=name)
    return Contact(name, first, second, s, (*closed, *aligned), (points[0], points[1]), normal)


def add_friction(
    system: SymbolicSystem,
    contact: Contact,
    coefficient: Callable[[Atom], Atom],
    smooth: Atom | float,
) -> None:
    """Coulomb friction with a coefficient that depends on the speed of slip.

    The force -μ(|v|) N v/|v| acts on the first solid and its opposite on the second.  N is the size
    of the normal component of the contact force, from the multipliers, so the forces of the system
    depend on them; |v| is √(v² + ε²) with the speed ε = ``smooth``, which keeps the direction of
    slip defined at rest.
    """
    slip = contact.slip()
    speed = sqrt(slip.sum_of_squares() + system.workspace.atom(smooth) ** 2)
    pressed = abs(contact.force().dot(contact.normal)) / sqrt(contact.normal.norm2())
    drag = slip * (-(coefficient(speed) * pressed) / speed)
    system.wrench(contact.first.solid, force=drag, at=contact.points[0], name=contact.name)
    system.wrench(
        contact.second.solid, force=-drag, at=contact.points[1], name=f"{contact.name}_reaction"
    )
