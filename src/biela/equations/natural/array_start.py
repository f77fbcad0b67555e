"""Where an array of parts starts, in natural coordinates.

Points and vectors are where the bodies that they stand on are; relative coordinates as they are
given, or as they are read from the bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom, evaluate
from biela.equations.blocks.populations import Integers, Population
from biela.equations.blocks.start import start_poses
from biela.equations.blocks.world import World
from biela.equations.natural.entities import Floats, NaturalPoint
from biela.equations.natural.placed import NaturalDerivation
from biela.model.joints import Joint
from biela.model.parts.part import Part

#: A coordinate: its name written out, the instance it is of there, all instances like it, columns.
Coordinate = tuple[str, int, Integers, Integers]


def array_start(
    world: World, part: Part, derivation: NaturalDerivation, coordinates: Sequence[Coordinate]
) -> Floats:
    """The start of all coordinates of a model that is an array of a part."""
    population = world.parts[part.name]
    poses = start_poses(world, 0.0)
    found = np.zeros(sum(len(columns) for _, _, _, columns in coordinates))
    axes = {axis: k for k, axis in enumerate("xyz")}
    known: dict[tuple[str, int], Floats] = {}
    for name, cell, instances, columns in coordinates:
        entity, _, axis = name.rpartition(".")
        if entity not in derivation.stands or axis not in axes:
            found[columns] = _relative(world, population, poses, name, instances)
            continue
        if (entity, cell) not in known:
            point = isinstance(derivation.layout.entities[entity], NaturalPoint)
            body, at = derivation.stands[entity]
            known[entity, cell] = _standing(
                derivation, population, poses, body, at, cell, instances, point
            )
        found[columns] = known[entity, cell][:, axes[axis]]
    return found


def _standing(
    derivation: NaturalDerivation,
    population: Population,
    poses: Floats,
    body: str,
    at: Sequence[Atom],
    cell: int,
    instances: Integers,
    point: bool,
) -> Floats:
    """The places, or directions, of something on a body of each instance."""
    own, _, local = body.partition("].")
    there = instances + (int(own.rpartition("[")[2]) - cell)
    T = poses[population.bodies(local)[there]]
    place = np.stack([_numbers(derivation, population, x, cell, instances) for x in at], axis=1)
    found = np.einsum("nij,nj->ni", T[:, :3, :3], place)
    return np.asarray(found + T[:, :3, 3] if point else found)


def _numbers(
    derivation: NaturalDerivation, population: Population, x: Atom, cell: int, instances: Integers
) -> Floats:
    """An expression of parameters for each instance."""
    if x.value is not None:
        return np.full(len(instances), float(x.value))
    values: dict[Atom, Floats | float] = {}
    for symbol, number in derivation.system.parameter_values.items():
        values[symbol] = number
        for name, rows in population.parameters.items():
            for own in range(cell - 1, cell + 2):
                if isinstance(rows, np.ndarray) and symbol.name.endswith(f"_{own}_{name}"):
                    inside = np.clip(instances + (own - cell), 0, len(rows) - 1)
                    values[symbol] = rows[inside]
    return np.broadcast_to(np.asarray(evaluate(x, values), dtype=float), len(instances))


def _relative(
    world: World, population: Population, poses: Floats, name: str, instances: Integers
) -> Floats:
    """The coordinate of a joint of each instance."""
    _, _, local = name.partition("].")
    joint_name, _, coordinate = local.rpartition(".")
    joint = population.prototype.joints[joint_name]
    assert isinstance(joint, Joint)
    declared = next(c for c in joint.coordinates if c.name == coordinate)
    given = joint.start.get(coordinate)
    if given is not None:
        dimension = {"rad": "angle", "m": "length"}.get(declared.unit, "any")
        every = np.broadcast_to(population.value(given, dimension), (population.count,))
        return np.asarray(every[instances])
    if declared.reading is None:
        return np.zeros(len(instances))
    ends = []
    for marker in (joint.i, joint.j):
        frames = world.frames(population, marker).at(instances)
        T = np.tile(np.eye(4), (len(instances), 1, 1))
        free = frames.body >= 0
        T[free] = poses[frames.body[free]]
        T[:, :3, 3] += np.einsum("nij,nj->ni", T[:, :3, :3], frames.place)
        T[:, :3, :3] = T[:, :3, :3] @ frames.axes
        ends.append(T)
    between = np.linalg.inv(ends[0]) @ ends[1]
    return np.array([declared.reading.number(T) for T in between])
