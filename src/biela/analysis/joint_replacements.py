"""Joints that remove less, with which no constraint is redundant and all freedoms stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from biela.analysis.array_freedoms import undriven
from biela.analysis.few_instances import few_instances
from biela.analysis.mobility import Mobility, mobility
from biela.errors import BielaError
from biela.model import Model
from biela.model.element import Element
from biela.model.joints import Joint
from biela.model.topology.planarity import Plane
from biela.model.topology.topology import Topology

__all__ = ["coordinates_of", "joint_of", "replacements", "uses"]

#: Bodies up to which replacements are tried out.
_TRIED: Final = 12
#: How many, as each takes some tenths of a second.
_TRIES: Final = 8
#: Joints that remove so many freedoms, to be tried in place of one that removes too many.
_INSTEAD: Final = {
    4: ("cylindrical", "universal"),
    3: ("spherical", "planar"),
    2: ("point_on_line", "parallel_axes"),
    1: ("in_plane",),
}


def replacements(model: Model, rank: Mobility, plane: Plane | None) -> tuple[str, ...]:
    """Other joints with which no row is redundant and all freedoms stay, tried out.

    The rows that are too many may go from any joint of the loop: first from the one in which they
    were found, then from those that close loops; never from one whose coordinate somebody uses.
    """
    if not rank.redundant or len(model.bodies) > _TRIED:
        return ()
    topology = Topology.of(model)
    used = coordinates_of(model.drivers.values(), model.forces.values(), model.joints.values())
    swaps: list[str] = []
    tries = 0
    while rank.redundant:
        name = joint_of(rank.redundant[0])
        excess = sum(joint_of(row) == name for row in rank.redundant)
        around = [joint for loop in topology.smallest_loops if name in loop for joint in loop]
        names = [name, *sorted(around, key=lambda joint: joint not in topology.cut)]
        names = [one for one in dict.fromkeys(names) if not uses(used, one)]
        for one, kind in _swaps(model, names, excess):
            tries += 1
            if tries > _TRIES:
                return ()
            trial = _with_joint(model, one, kind)
            try:
                found = mobility(undriven(trial))
            except BielaError:
                continue
            fewer = len(rank.redundant) - len(found.redundant)
            if found.by_rank == rank.by_rank and fewer == excess:
                swaps.append(f"{one.name} ({one.kind}) by a joint {kind}")
                model, rank = trial, found
                break
        else:
            return ()
    planar = f", or declares the {plane.name} plane" if plane is not None and plane.name else ""
    return (f"nothing is redundant if one replaces {' and '.join(swaps)}{planar}",)


def _swaps(model: Model, names: Iterable[str], excess: int) -> Iterator[tuple[Joint, str]]:
    """Joints, and kinds that remove so many freedoms less."""
    for name in names:
        joint = model.joints.get(name)
        if isinstance(joint, Joint):
            for kind in _INSTEAD.get(joint.removes - excess, ()):
                yield joint, kind


def _with_joint(model: Model, joint: Joint, kind: str) -> Model:
    """A copy without forces and the like, and with a joint of another kind."""
    copy = few_instances(model).model
    del copy.joints[joint.name]
    copy.joint(kind, joint.name, joint.i, joint.j)
    # the order decides which rows are called redundant: keep it
    copy.joints = {name: copy.joints[name] for name in model.joints}
    return copy


def coordinates_of(*elements: Iterable[Element]) -> set[str]:
    """The coordinates that elements are written in."""
    return {
        str(getattr(element, name))
        for table in elements
        for element in table
        for name, field in element.settings().items()
        if field.metadata["dimension"] == "coordinate"
    }


def uses(coordinates: Iterable[str], joint: str) -> bool:
    """Whether one of the coordinates is of the joint."""
    return any(text == joint or text.startswith(f"{joint}.") for text in coordinates)


def joint_of(row: str) -> str:
    """The joint of a row "cell[0].A.axis_xz": labels of rows have no dot."""
    return row.rpartition(".")[0] or row
