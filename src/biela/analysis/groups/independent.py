"""The independent coordinates of a model, taken as if they were driven, and where they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE, with_drivers
from biela.analysis.groups.finding import structural_groups
from biela.analysis.groups.poses import poses_of
from biela.analysis.groups.starting import across_plane, assembled_blocks
from biela.analysis.looped.start import first_state, first_velocity
from biela.analysis.one_start import start_state
from biela.analysis.preparation import values
from biela.equations import formulate
from biela.equations.blocks import reference_blocks
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.groups.structure import Structure
from biela.errors import ModelError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.model.sensors.joint import JointSensor

__all__ = ["Independent", "independent_coordinates"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Independent:
    """A model whose independent coordinates are drivers, at its start.

    Attributes:
        model: With these drivers.
        structure: Its groups.
        names: The coordinates, "joint.coordinate".
        drivers: The names of their drivers, in order.
        z: Their values at the start.
        dz: Their rates.
        poses: Where all bodies are.
    """

    model: Model
    structure: Structure
    names: tuple[str, ...]
    drivers: tuple[str, ...]
    z: Floats
    dz: Floats
    poses: Poses


def independent_coordinates(
    model: Model,
    names: Sequence[str] | str = "auto",
    *,
    q: Mapping[str, float] | None = None,
    v: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> Independent:
    """Choose independent coordinates, and find where they start.

    Raises:
        ModelError: They are not as many as there are freedoms, or a name is not known.
        AssemblyError: The model cannot be assembled.
    """
    if isinstance(names, str) and names != "auto":
        names = [names]
    if not isinstance(names, str):
        freedoms = structural_groups(model, parameters=parameters, t=t).freedoms
        if len(names) != len(freedoms):
            raise ModelError(
                f"{model.name} has {len(freedoms)} freedom{'s' * (len(freedoms) != 1)} that no "
                f"driver gives; {len(names)} independent coordinates are named: "
                f"{', '.join(names) or 'none'}"
            )
    found = structural_groups(model, independent=names, parameters=parameters, t=t)
    chosen = tuple(found.independent)
    if not found.determined:
        raise ModelError(
            f"{model.name}: the independent coordinates {', '.join(chosen) or '(none)'} do not "
            f"determine the motion of all bodies; {found.wanting()}. Bodies that are free, or "
            f"turn in balls, have no joint coordinate to integrate: use simulate(model)"
        )
    if not chosen:
        raise ModelError(f"{model.name} has no freedom that is not driven; use group_kinematics")
    poses, z, dz = _start(model, chosen, q, v, t, parameters)
    # laws that differ, so that each has a place of its own; their values come from the integrator
    laws = {name: f"{float(z[k])!r} + {k + 1}*(t - {float(t)!r})" for k, name in enumerate(chosen)}
    driven = with_drivers(model, laws)
    structure = structural_groups(driven, parameters=parameters, t=t)
    drivers = tuple(f"drive {name}" for name in chosen)
    return Independent(driven, structure, chosen, drivers, z, dz, poses)


def _start(
    model: Model,
    names: Sequence[str],
    q: Mapping[str, float] | None,
    v: Mapping[str, float] | None,
    t: float,
    parameters: Mapping[str, float] | None,
) -> tuple[Poses, Floats, Floats]:
    """Poses, values and rates of the independent coordinates where a motion starts."""
    read = copy(model)
    read.sensors = dict(model.sensors)
    mine = [f"independent {k}" for k in range(len(names))]
    for sensor, name in zip(mine, names, strict=True):
        read.sensors[sensor] = JointSensor(name=sensor, coordinate=name)
    world = World(read, parameters)
    if model.parts or body_count(model) > LARGE:
        # the start is that of the model itself: what is read might change how it is assembled
        blocks, guess, speed = first_state(model, q, v, t, parameters)
        place = assembled_blocks(blocks, guess, t)
        if speed is None:
            speed = first_velocity(model, blocks, place, t, v, parameters)
        reading = reference_blocks(read, parameters=parameters, t=t)
        outputs = dict(zip(reading.outputs, reading.y(place, speed, t), strict=True))
        extra = dict(zip(blocks.extra, place[len(place) - len(blocks.extra) :], strict=True))
        poses = poses_of(world, place, extra, blocks.across)
    else:
        system = formulate(model, "reference")
        p = values(system, "parameter", system.p, parameters)
        u = values(system, "input", system.u, None)
        place, speed = start_state(system, q, v, t=t, u=u, p=p)
        system = formulate(read, "reference")
        given = {"t": np.array([t]), "q": place, "v": speed, "u": u, "p": p}
        function = system["outputs"]
        y = np.asarray(function(*(given[a.name] for a in function.inputs))).ravel()
        outputs = dict(zip((e.name for e in system.y), y, strict=True))
        known = {e.name: float(x) for e, x in zip(system.q, place, strict=True)}
        poses = poses_of(world, place, known, across_plane(model, world))
    z = np.array([float(outputs[name]) for name in mine])
    dz = np.array([float(outputs[f"{name}_rate"]) for name in mine])
    return poses, z, dz
