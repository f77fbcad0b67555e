"""Force elements between two bodies: what each of them gets, and the energy that is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.errors import ModelError
from biela.space import (
    Base,
    Point,
    Solid,
    Space,
    Vector,
    Wrench,
    angular_velocity,
    derivative,
    position,
)

#: A point of a body; None in place of a solid is the ground.
End = tuple[Solid | None, Point]


@dataclass(frozen=True)
class Element:
    """A force element: its wrenches, and the potential energy of its springs."""

    wrenches: list[Wrench]
    potential: Atom


def spring(
    space: Space,
    name: str,
    ends: tuple[End, End],
    stiffness: Atom,
    length: Atom,
    damping: Atom,
    force: Atom,
) -> Element:
    """A spring, damper and actuator in the line between two points: k (l - l0) + c l' - f.

    A spring alone whose length l0 is the number 0 pulls by k times the gap, which needs no
    direction and so no division by l: it is regular where the points meet.
    """
    gap = position(ends[0][1], ends[1][1])
    if length.value == 0 and damping.value == 0 and force.value == 0:
        along, potential = gap * stiffness, stiffness * gap.norm2() / 2
    else:
        distance = gap.norm2() ** space.workspace.atom(0.5)
        pull = stiffness * (distance - length) - force + damping * space.time_rate(distance)
        along, potential = gap * (pull / distance), stiffness * (distance - length) ** 2 / 2
    wrenches = [
        Wrench(name, solid, point, along * sign, Vector(space, {}))
        for (solid, point), sign in zip(ends, (1, -1), strict=True)
        if solid is not None
    ]
    return Element(wrenches, potential)


def bushing(
    space: Space,
    name: str,
    ends: tuple[End, End],
    stiffness: Sequence[Atom],
    damping: Sequence[Atom],
    rest: Sequence[Atom],
    base: Base | None,
) -> Element:
    """Three springs and dampers along the axes of a base that is fixed in one of the bodies.

    With the gap x from the first point to the second, in that base, the first body is pulled by
    K (x - x0) + C x'.  Both forces go through the point of the body in which the base is *not*
    fixed: only so do they have the power -V' with V = ½ Σ k (x - x0)², and no couple is left over.

    Raises:
        ModelError: If the base is fixed in neither of the bodies.
    """
    (first, start), (second, end) = ends
    bases = [space.root if solid is None else solid.base for solid in (first, second)]
    axes = base or bases[0]
    if angular_velocity(bases[0], axes).is_zero:
        through = end
    elif angular_velocity(bases[1], axes).is_zero:
        through = start
    else:
        raise ModelError(
            f"bushing {name}: base {axes.name} must be fixed in one of its two bodies, and turns "
            f"against {bases[0].name} and {bases[1].name}"
        )
    gap = position(start, end)
    x = [u - u0 for u, u0 in zip(gap.components(axes), rest, strict=True)]
    rates = derivative(gap, axes, space.time_rate).components(axes)
    fx, fy, fz = (k * u + c * du for k, u, c, du in zip(stiffness, x, damping, rates, strict=True))
    pull = axes.vector(fx, fy, fz)
    wrenches = [
        Wrench(name, solid, through, force, Vector(space, {}))
        for solid, force in ((first, pull), (second, -pull))
        if solid is not None
    ]
    potential = space.workspace.atom(0)
    for k, u in zip(stiffness, x, strict=True):
        potential = potential + k * u**2 / 2
    return Element(wrenches, potential)
