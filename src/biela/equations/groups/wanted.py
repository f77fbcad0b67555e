"""What is wanted of the bodies of a group: points, directions, angles and coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.items import ItemKind
from biela.equations.reference_point import NORMAL

__all__ = ["Wanted", "component_atoms"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """An item of a body of the group.

    Attributes:
        kind: What it is.
        slot: The body; of a coordinate the element.
        number: Which one of this kind on this body.
        local: (n, 3) the point or direction in the frame of the body, for all instances.
        coordinate: Name of the coordinate of a joint.
    """

    kind: ItemKind
    slot: int
    number: int = 0
    local: Floats | None = None
    coordinate: str = ""


def component_atoms(derivation: GroupDerivation, wanted: Wanted) -> list[Atom]:
    """The components of an item in the ground."""
    return derivation.remembered(wanted, lambda: _components(derivation, wanted))


def _components(derivation: GroupDerivation, wanted: Wanted) -> list[Atom]:
    if wanted.kind == "coordinate":
        return [derivation.coordinates[wanted.slot, wanted.coordinate]]
    plane = derivation.plane
    axes = plane or "xyz"
    if wanted.kind == "turn":
        assert plane is not None
        return derivation.turn_of(wanted.slot, NORMAL[plane])
    assert wanted.local is not None
    name = f"{wanted.kind}{wanted.slot}_{wanted.number}_"
    found = derivation.components_of(wanted.slot, name, wanted.local, wanted.kind == "point")
    return [found["xyz".index(axis)] for axis in axes]
