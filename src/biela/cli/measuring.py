"""Coordinates of joints as channels, whichever coordinates the equations have.

In joint coordinates those of joints that close loops are no channels, in reference coordinates none
is: sensors for those that are asked for make them so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import biela as bl
from biela.cli.models import Described, system_of
from biela.model.joints import Joint
from biela.model.sensors.joint import JointSensor

_RATE = "_rate"


def full_name(model: Described, name: str) -> str:
    """The name of a channel; a joint with one coordinate may stand for it: "A" for "A.angle"."""
    joint = model.joints.get(name) if isinstance(model, bl.Model) else None
    if isinstance(joint, Joint) and len(joint.coordinates) == 1:
        return f"{name}.{joint.coordinates[0].name}"
    return name


def measured_system(model: Described, coordinates: str | None, names: Iterable[str]) -> bl.System:
    """The equations of a model, with outputs for coordinates of joints among the names.

    Raises:
        ModelError: The equations cannot be derived.
    """
    system = system_of(model, coordinates)
    if not isinstance(model, bl.Model):
        return system
    there = {entry.name for entry in (*system.q, *system.v, *system.y)}
    missing = {_coordinate(model, name) for name in names if name not in there} - {""} - there
    if not missing:
        return system
    watched = copy.copy(model)  # the sensors are ours, the rest is shared
    watched.sensors = dict(model.sensors)
    for name in sorted(missing):  # with a dot, as no sensor of the user's can be called
        watched.sensors[name] = JointSensor(name=name, coordinate=name)
    return system_of(watched, coordinates)


def _coordinate(model: bl.Model, name: str) -> str:
    """The coordinate "joint.coordinate" that a name means, itself or its rate; else ""."""
    for text in (name, name.removesuffix(_RATE)):
        owner, _, coordinate = text.rpartition(".")
        joint = model.joints.get(owner)
        if isinstance(joint, Joint) and any(
            c.name == coordinate and c.manifold == "line" for c in joint.coordinates
        ):
            return text
    return ""
