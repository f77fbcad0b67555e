"""The independent coordinates of a model, taken as if they were driven, and where they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.beginning import Beginning
from biela.analysis.groups.choosing import further_drives
from biela.analysis.groups.drives import (
    Drive,
    driven_model,
    joint_drive,
    named_drive,
)
from biela.analysis.groups.finding import (
    Study,
    chosen_structure,
    plain_structure,
    structural_groups,
)
from biela.analysis.groups.spinning import spinning_rods
from biela.analysis.preparation import with_values
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics import StateCoordinates
from biela.equations.groups.freedom_drivers import SpinDriver
from biela.equations.groups.structure import Structure
from biela.errors import ModelError
from biela.model import Model
from biela.model.drivers.joint_driver import JointDriver

__all__ = ["Independent", "independent_coordinates"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Independent:
    """A model whose independent coordinates are drivers, at its start.

    Attributes:
        model: With these drivers.
        structure: Its groups.
        names: The coordinates: "joint.coordinate", or as `biela.analysis.groups.drives` calls
            them; numbers first, then rotations.
        drivers: The names of their drivers, in order.
        coordinates: How many numbers and rotations there are.
        z: Their values at the start; of a rotation a unit quaternion.
        dz: Their rates; of a rotation the angular velocity.
        poses: Where all bodies are.
        drives: What stands for the coordinates.
    """

    model: Model
    structure: Structure
    names: tuple[str, ...]
    drivers: tuple[str, ...]
    coordinates: StateCoordinates
    z: Floats
    dz: Floats
    poses: Poses
    drives: tuple[Drive, ...]

    @property
    def anywhere(self) -> bool:
        """Whether the coordinates are the same from every start: spins count from theirs."""
        spins = [d for d in self.drives if isinstance(d.driver, SpinDriver)]
        return self.model.plane is not None or not spins

    def at(self, begun: Beginning) -> Independent:
        """The same coordinates at another start."""
        begun.read([d.name for d in self.drives if isinstance(d.driver, JointDriver)])
        z, dz = _values(begun, self.drives)
        return replace(self, z=z, dz=dz, poses=begun.poses)


def independent_coordinates(
    model: Model,
    names: Sequence[str] | str = "auto",
    *,
    q: Mapping[str, float] | None = None,
    v: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    state: tuple[Floats, Floats] | None = None,
) -> Independent:
    """Choose independent coordinates, and find where they start.

    ``state`` is that of a motion that goes on, as in `Beginning`.

    Raises:
        ModelError: They are not as many as there are freedoms, or a name is not known.
        AssemblyError: The model cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    if isinstance(names, str) and names != "auto":
        names = [names]
    begun = Beginning(model, q, v, t, parameters, state)
    chosen = (
        _chosen(model, begun, t, parameters)
        if isinstance(names, str)
        else _named(model, names, t, parameters)
    )
    begun.read([drive.name for drive in chosen if isinstance(drive.driver, JointDriver)])
    driven, structure = _driven(model, chosen, begun, t, parameters)
    spins: list[Drive] = []
    if any(table.example.locked for table in structure.tables.values()):
        casts = Casts(World(driven, parameters), structure)
        spins = spinning_rods(casts, begun.poses, begun.twists)
    if spins:
        chosen = [*chosen, *spins]
        driven, structure = _driven(model, chosen, begun, t, parameters)
    if not chosen:
        raise ModelError(f"{model.name} has no freedom that is not driven: use kinematics")
    ordered = _ordered(chosen)
    z, dz = _values(begun, ordered)
    rotations = sum(drive.rotation for drive in ordered)
    return Independent(
        driven,
        structure,
        tuple(drive.name for drive in ordered),
        tuple(drive.driver.name for drive in ordered),
        StateCoordinates(len(ordered) - rotations, rotations),
        z,
        dz,
        begun.poses,
        tuple(ordered),
    )


def _values(begun: Beginning, drives: Sequence[Drive]) -> tuple[Floats, Floats]:
    """Values and rates of independent coordinates, one after the other."""
    found = [begun.of(drive) for drive in drives]
    z, dz = zip(*found, strict=True)
    return np.concatenate(z), np.concatenate(dz)


def _ordered(drives: Sequence[Drive]) -> list[Drive]:
    """Numbers first, then rotations."""
    return sorted(drives, key=lambda drive: drive.rotation)


def _named(
    model: Model, names: Sequence[Any], t: float, parameters: Mapping[str, float] | None
) -> list[Drive]:
    """The drives of coordinates that somebody names; spins of rods come by themselves."""
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise ModelError(
            f"{model.name}: independent coordinates are given by name, as 'joint.angle', not as "
            f"{wrong[0]!r}"
        )
    spins = {f"{body}.spin" for body in model.bodies if body not in model.joints}
    found = [named_drive(model, name) for name in names if name not in spins]
    freedoms = len(structural_groups(model, parameters=parameters, t=t).freedoms)
    given = sum(drive.freedoms for drive in found)
    if given > freedoms and any(drive.rotation for drive in found):
        # the ball of a rod gives its spin too, which is else no freedom that wants a driver
        loose = structural_groups(model, passive="report", parameters=parameters, t=t)
        freedoms = min(given, len(loose.freedoms))
    if given != freedoms:
        raise ModelError(
            f"{model.name} has {freedoms} freedom{'s' * (freedoms != 1)} that no driver gives; "
            f"{given} independent coordinates are named: {', '.join(names) or 'none'}"
        )
    return found


def _chosen(
    model: Model, begun: Beginning, t: float, parameters: Mapping[str, float] | None
) -> list[Drive]:
    """The drives that split the model best: numbers of joints, rotations where they must be."""
    study = Study(model, parameters, t)
    found = chosen_structure(study)
    if found.determined:
        return [joint_drive(model, name) for name in found.independent]
    more = further_drives(study, plain_structure(study))
    # held where they start, so that numbers of joints can be chosen for the rest
    held = driven_model(model, more, begun.laws(more))
    rest = structural_groups(held, independent="auto", parameters=parameters, t=t)
    return [*(joint_drive(model, name) for name in rest.independent), *more]


def _driven(
    model: Model,
    drives: Sequence[Drive],
    begun: Beginning,
    t: float,
    parameters: Mapping[str, float] | None,
) -> tuple[Model, Structure]:
    """The model with its independent coordinates driven, and its groups.

    Raises:
        ModelError: They do not determine the motion.
    """
    driven = driven_model(model, drives, begun.laws(drives))
    structure = structural_groups(driven, parameters=parameters, t=t)
    if not structure.determined:
        called = ", ".join(drive.name for drive in drives)
        apart = "simulate model.flattened(), whose parts are written out, " if model.parts else ""
        raise ModelError(
            f"{model.name}: the independent coordinates {called or '(none)'} do not determine the "
            f"motion of all bodies; {structure.wanting()}. Name others, independent=[…], {apart}"
            f"or use simulate(model)"
        )
    return driven, structure
