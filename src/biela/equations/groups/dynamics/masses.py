"""Masses of all bodies of a model as arrays."""

from __future__ import annotations

import numpy as np

from biela.equations.blocks.populations import Floats, Integers
from biela.equations.blocks.world import World
from biela.equations.groups.dynamics.kernel import BodyMasses

__all__ = ["masses_of"]


def masses_of(world: World) -> tuple[Floats, Floats, Floats]:
    """Mass (bodies,), inertia (bodies, 3, 3) about the centre of mass, gravity (3,)."""
    mass, inertia = np.zeros(world.count), np.zeros((world.count, 3, 3))
    for population in world.populations:
        for name, body in population.prototype.bodies.items():
            numbers = population.bodies(name)
            mass[numbers] = population.rows([body.inertia.mass], "mass")[:, 0]
            rows = population.rows(body.inertia.moments, "inertia")
            for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
                inertia[numbers, i, j] = inertia[numbers, j, i] = rows[:, k]
    gravity = np.array([world.host.value(g, "acceleration") for g in world.model.gravity])
    return mass, inertia, gravity.astype(float).reshape(3)


def of_slot(
    world: World, numbers: Integers, mass: Floats, inertia: Floats, gravity: Floats
) -> BodyMasses:
    """Those of some bodies."""
    m = mass[numbers]
    return BodyMasses(m, world.centres[numbers], inertia[numbers], m[:, None] * gravity)
