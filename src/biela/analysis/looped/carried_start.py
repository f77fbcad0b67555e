"""Where large mechanisms start: as small ones do, assembled along their joints.

A mechanism of few bodies is assembled whole in joint coordinates; of an array of parts each
prototype is, once for every set of its parameters, as if its ground did not move.  Loops that close
in two ways then close as they do in all other coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import numpy as np
import numpy.typing as npt

from biela.analysis.one_start import WHOLE, start_position, start_state
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.populations import Population
from biela.equations.blocks.world import World
from biela.equations.formulate import formulate_later
from biela.errors import AssemblyError, BielaError, SingularityError
from biela.model import Model
from biela.model.joints import Joint
from biela.model.parts.flattening import body_count

Floats = npt.NDArray[np.float64]
#: Poses of bodies seen from the ground of their instance, by part and body.
Relative = dict[str, dict[str, Floats]]

#: Sets of parameters up to which the instances of a part are assembled along their joints.
SETS = 200


def carried_state(
    model: Model,
    blocks: ReferenceBlocks,
    q: Mapping[str, float] | None,
    v: Mapping[str, float] | None,
    t: float,
    parameters: Mapping[str, float] | None,
) -> tuple[Floats, Floats] | None:
    """The start of a mechanism of few bodies; None if it is larger, or not found along joints.

    Raises:
        AssemblyError: No position has the values named.
        SingularityError: No motion goes through a singular position with the velocities named.
    """
    if body_count(model) > WHOLE:
        return None
    try:
        system = formulate_later(_with(model, parameters), "reference")
        u, p = system.inputs, system.parameters
        place, speed = start_state(system, q, v, t=t, u=u, p=p)
    except SingularityError:
        raise  # no motion starts so, whatever the equations
    except AssemblyError:
        if q:
            raise
        return None
    except BielaError:
        return None  # the looped equations say why, in their own words
    known = dict(zip((e.name for e in system.q), place, strict=True))
    rates = dict(zip((e.name for e in system.v), speed, strict=True))
    start = blocks.start.copy()
    for k, name in enumerate(blocks.coordinate_names):
        start[k] = known.get(name, start[k])
    found = np.array([rates.get(name, 0.0) for name in blocks.velocity_names], dtype=float)
    return start, found


def prototype_poses(model: Model, parameters: Mapping[str, float] | None, t: float) -> Relative:
    """Poses of the bodies of those parts that can be assembled so, seen from their ground."""
    found: Relative = {}
    if not model.parts or body_count(model) <= WHOLE:
        return found
    world = World(model, parameters)
    for name, population in world.parts.items():
        poses = _assembled(population, t)
        if poses is not None:
            found[name] = poses
    return found


def _assembled(population: Population, t: float) -> dict[str, Floats] | None:
    """The bodies of all instances of a prototype; None if there are no loops, or too many sets."""
    model, names = population.prototype, list(population.prototype.parameters)
    if len(model.bodies) > WHOLE or not _closes(model):
        return None
    columns = [
        np.broadcast_to(np.asarray(population.parameters[n], dtype=float), (population.count,))
        for n in names
    ]
    rows = np.stack(columns, axis=1) if columns else np.zeros((population.count, 0))
    sets, which = np.unique(rows, axis=0, return_inverse=True)
    if len(sets) > SETS:
        return None
    try:
        system = formulate_later(model)
        order = [names.index(entry.name) for entry in system.p]
        u = system.inputs
        poses = []
        for row in sets:
            p = row[order]
            q, _ = start_position(system, None, t, u, p)
            poses.append(np.asarray(system.evaluate("poses", q, t=t, u=u, p=p)))
    except BielaError:
        return None  # bodies hang on what is outside of the part
    found = {}
    for name in model.bodies:
        at = np.array(poses)[which.reshape(-1), system.frames.index(name)]
        T = np.tile(np.eye(4), (population.count, 1, 1))
        T[:, :3, 3], T[:, :3, :3] = at[:, :3], at[:, 3:].reshape(-1, 3, 3)
        found[name] = T
    return found


def _closes(model: Model) -> bool:
    """Whether joints hold more than a tree does, so that there is something to assemble."""
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    return len(joints) > len(model.bodies)


def _with(model: Model, parameters: Mapping[str, float] | None) -> Model:
    found = copy(model)
    found.parameters = model.parameters.changed(parameters or {}, model.name)
    return found
