"""With what a motion begins: real values, limits of joints, and how far motors can be turned up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import biela as bl
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.results import Results
from biela.studio.ranges import Range, input_range

__all__ = ["coordinates_at", "input_ranges", "limits_of", "rates_at"]


def coordinates_at(motion: Results, row: int = 0) -> dict[str, float]:
    """The coordinates of joints at an instant of a motion, the first one if nothing is said.

    A motion in other coordinates has those of all joints beside its own, one in the coordinates of
    joints has those that it does without.
    """
    return {**_row(motion, "joints", row), **_row(motion, "q", row)}


def rates_at(motion: Results, row: int = 0) -> dict[str, float]:
    """Their rates, likewise."""
    return {**_row(motion, "joints", row), **_row(motion, "v", row)}


def _row(motion: Results, group: str, row: int) -> dict[str, float]:
    if group not in motion.groups:
        return {}
    values = np.asarray(motion[group])[row]
    return dict(zip(motion.groups[group].names, values.tolist(), strict=True))


def limits_of(model: bl.Model) -> dict[str, tuple[float, float]]:
    """Lowest and highest values of coordinates that have some, by "joint.coordinate"."""
    whole = model.flattened() if model.parts else model
    return {
        f"{joint.name}.{name}": (whole.number(low), whole.number(high))
        for joint in whole.joints.values()
        if isinstance(joint, Joint)
        for name, (low, high) in joint.limits.items()
    }


def input_ranges(
    model: bl.Model, system: bl.System, given: Mapping[str, float], size: float
) -> list[Range]:
    """The inputs of motors: up to their limits, or what would lift the whole mechanism.

    Args:
        model: Which has the motors.
        system: Its equations, which have the inputs.
        given: Values other than those of the model.
        size: Of the mechanism (m).
    """
    whole = model.flattened() if model.parts else model
    gravity = float(np.linalg.norm([whole.number(g) for g in whole.gravity])) or 1.0
    weight = gravity * sum(whole.number(b.inertia.mass, "mass") for b in whole.bodies.values())
    found = []
    for entry in system.u:
        motor = whole.forces.get(entry.name)
        limit = motor.limit if isinstance(motor, Actuator) else None
        enough = {"N m": weight * size, "N": weight}.get(entry.unit, 1.0)
        span = whole.number(limit) if limit is not None else max(enough, 2 * abs(entry.value))
        value = given.get(entry.name, entry.value)
        found.append(input_range(entry.name, value, span or 1.0, entry.unit))
    return found
