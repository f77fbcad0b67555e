"""Reference-point equations of large mechanisms, as blocks.

Kernels are derived a kind at a time; the equations are evaluated by loops over their instances, and
their Jacobian is sparse: at most twelve entries a row for two bodies, and one for each coordinate
that counts turns.  The same rows on the same markers as `biela.equations.reference_point`; an array
of parts stays a prototype and rows of parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from biela.equations.blocks.block import Block
from biela.equations.blocks.builder import Builder
from biela.equations.blocks.casting import JointUse
from biela.equations.blocks.kernels import body_kernel
from biela.equations.blocks.populations import Floats, NotVectorisedError, Population
from biela.equations.blocks.reference_blocks import ReferenceBlocks
from biela.equations.blocks.start import Relative, quaternions, start_poses
from biela.equations.blocks.world import World
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.model import Model
from biela.model.element import Element
from biela.model.joints import Coupling, Joint

__all__ = ["ReferenceBlocks", "reference_blocks"]


def reference_blocks(
    model: Model,
    *,
    parameters: Mapping[str, float] | None = None,
    t: float = 0.0,
    start: Relative | None = None,
) -> ReferenceBlocks:
    """The equations of a model as blocks.

    Arrays of parts are not written out, unless they use something that has to be.

    Args:
        model: Bodies, joints, drivers, forces and sensors.
        parameters: Values of parameters other than those of the model.
        t: The time of the start: driven joints start where their drivers are then.
        start: Where bodies of parts start, seen from the ground of their instance: poses
            (instances, 4, 4) by part and body.

    Raises:
        ModelError: The model cannot be.
    """
    if not model.bodies and not model.parts:
        raise ModelError(f"{model.name} has no bodies: add one with body(…)")
    _try_parts(model)
    try:
        return _built(World(model, parameters), t, start)
    except NotVectorisedError:
        return _built(World(model.flattened(), parameters), t, None)


def _try_parts(model: Model) -> None:
    """Let flattening refuse what cannot be, on two instances of each array."""
    if not model.parts:
        return
    for part in model.parts.values():
        if part.count is None:
            continue
        trial = type(model)(model.name, gravity=model.gravity, plane=model.plane)
        trial.parameters = model.parameters.copy()
        rows = {n: v[:2] if isinstance(v, np.ndarray) else v for n, v in part.parameters.items()}
        on = part.on if part.on == "ground" or part.on in model.bodies else "ground"
        trial.bodies = {on: model.bodies[on]} if on in model.bodies else {}
        trial.parts[part.name] = replace(
            part, count=min(2, part.count), on=on, parameters=rows, texts={}
        )
        trial.flattened()


def _built(world: World, t: float, known: Relative | None) -> ReferenceBlocks:
    poses = start_poses(world, t, known)
    plane = world.model.plane
    centres = poses[:, :3, 3] + np.einsum("nij,nj->ni", poses[:, :3, :3], world.centres)
    across = centres[:, "xyz".index(NORMAL[plane])] if plane else np.zeros(world.count)
    builder = Builder(world, across)
    for number, group in enumerate(_elements(world)):
        if number == 2:  # joints and couplings are there: what comes may read these coordinates
            builder.add_rotors()
        for population, element in group:
            for casting in builder.caster.cast(population, element):
                builder.add(casting)
        if _is_joints(group):
            for part, joint, i, j, later in world.between():
                own = world.parts[part.name]
                for casting in builder.caster.cast(own, joint, later, {"i": i, "j": j}):
                    builder.add(casting)
    builder.parameter_rows.check_fixed(builder.groups.values())
    builder.number_rows()
    entries = builder.entries
    masses = _masses(world)
    outputs = builder.blocks("output")
    start = np.concatenate([_bodies_start(plane, centres, poses), np.zeros(len(builder.extra))])
    blocks = ReferenceBlocks(
        name=world.model.name,
        plane=plane,
        world=world,
        extra=builder.extra,
        rotors=builder.rotors(),
        rows=builder.row_names,
        positions=builder.blocks("position"),
        velocities=builder.blocks("velocity"),
        accelerations=builder.blocks("acceleration"),
        gaps=builder.blocks("gap"),
        dynamics=builder.blocks("dynamics"),
        rates_of_rows=builder.blocks("rate"),
        forces=builder.blocks("force"),
        sensors=outputs,
        watched=builder.blocks("event"),
        laws=builder.laws.blocks(),
        law_count=builder.laws.size,
        masses=masses,
        start=start,
        across=across,
        indices=np.concatenate(entries, axis=1) if entries else np.zeros((2, 0), dtype=np.int64),
        inputs=builder.inputs,
        input_values=np.array(builder.input_values),
        outputs=builder.outputs,
        output_units=tuple(builder.output_units),
        events=builder.events,
    )
    place = builder.widths[0] * world.count
    for use, coordinate, missing in builder.counted_uses:
        places = builder.counted[(id(use.population), use.joint.name, coordinate)][missing]
        start[place + places] = _counted_start(world, use, coordinate, poses)[missing]
    return blocks


Group = list[tuple[Population, Element]]


def _elements(world: World) -> Iterable[Group]:
    """Joints, couplings, drivers, forces and sensors, in the order in which they are derived."""
    models = [(p, p.prototype) for p in world.populations]
    yield [(p, e) for p, m in models for e in m.joints.values() if isinstance(e, Joint)]
    yield [(p, e) for p, m in models for e in m.joints.values() if isinstance(e, Coupling)]
    yield [(p, e) for p, m in models for e in m.drivers.values()]
    yield [(p, e) for p, m in models for e in m.forces.values()]
    yield [(p, e) for p, m in models for e in m.sensors.values()]


def _is_joints(group: Sequence[tuple[Population, Element]]) -> bool:
    return bool(group) and isinstance(group[0][1], Joint)


def _masses(world: World) -> Block:
    """The bodies by themselves."""
    count, plane = world.count, world.model.plane
    p = np.zeros((count, 10))
    p[:, 7:] = world.host.rows(world.model.gravity, "acceleration")
    for population in world.populations:
        for name, body in population.prototype.bodies.items():
            at = population.bodies(name)
            p[at, 0] = population.value(body.inertia.mass, "mass")
            p[at, 1:7] = population.rows(body.inertia.moments, "inertia")
    nq, nv = (7, 6) if plane is None else (3, 3)
    q, v = nq * np.arange(count), nv * np.arange(count)
    return Block(
        "bodies",
        body_kernel(plane),
        p,
        {"q": ("q", q), "v": ("v", v)},
        {"Q": ("Q", v), "rates": ("rates", q)},
    )


def _bodies_start(plane: str | None, centres: Floats, poses: Floats) -> Floats:
    if plane is None:
        return np.concatenate([centres, quaternions(poses[:, :3, :3])], axis=1).ravel()
    normal = "xyz".index(NORMAL[plane])
    a, b = (normal + 1) % 3, (normal + 2) % 3
    angle = np.arctan2(poses[:, b, a], poses[:, a, a])
    moving = [centres[:, "xyz".index(axis)] for axis in plane]
    return np.stack([*moving, angle], axis=1).ravel()


def _counted_start(world: World, use: JointUse, coordinate: str, poses: Floats) -> Floats:
    """A coordinate where a motion starts: given, else read from the poses, else zero."""
    population, joint = use.population, use.joint
    (declared,) = (c for c in joint.coordinates if c.name == coordinate)
    given = joint.start.get(coordinate)
    if given is not None:
        dimension = {"rad": "angle", "m": "length"}.get(declared.unit, "any")
        return np.broadcast_to(population.value(given, dimension), (population.count,))
    if declared.reading is None:
        return np.zeros(population.count)
    ends = []
    for marker in (joint.i, joint.j):
        frames = world.frames(population, marker)
        T = np.tile(np.eye(4), (population.count, 1, 1))
        free = frames.body >= 0
        T[free] = poses[frames.body[free]]
        T[:, :3, 3] += np.einsum("nij,nj->ni", T[:, :3, :3], frames.place)
        T[:, :3, :3] = T[:, :3, :3] @ frames.axes
        ends.append(T)
    between = np.linalg.inv(ends[0]) @ ends[1]
    return np.array([declared.reading.number(T) for T in between])
