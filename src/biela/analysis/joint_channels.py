"""Coordinates of joints as channels, whichever coordinates the equations have.

In joint coordinates those of joints that close loops are no channels, in reference coordinates none
is: sensors for those that are asked for make them so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Final

from biela.equations import System, formulate
from biela.model import Model
from biela.model.joints import Joint
from biela.model.sensors.joint import JointSensor

__all__ = ["channel_name", "measured_system"]

_RATE: Final = "_rate"


def channel_name(model: Model, name: str) -> str:
    """The name of a channel; a joint with one coordinate may stand for it: "A" for "A.angle"."""
    joint = _joint(model, name)
    if joint is not None and len(joint.coordinates) == 1:
        return f"{name}.{joint.coordinates[0].name}"
    return name


def measured_system(model: Model, coordinates: str, names: Iterable[str]) -> System:
    """The equations of a model, with outputs for coordinates of joints among the names.

    Args:
        model: Bodies and joints; those of parts are called "leg[0].knee.angle".
        coordinates: Of the equations, as for `formulate`.
        names: Of channels; rates stand for their coordinates, and other names are left alone.

    Raises:
        BielaError: The equations cannot be derived.
    """
    system = formulate(model, coordinates)
    there = {entry.name for entry in (*system.q, *system.v, *system.y)}
    missing = {_coordinate(model, name) for name in names if name not in there} - {""} - there
    if not missing:
        return system
    watched = copy.copy(model)  # the sensors are ours, the rest is shared
    watched.sensors = dict(model.sensors)
    for name in sorted(missing):  # with a dot, as no sensor of the user's can be called
        watched.sensors[name] = JointSensor(name=name, coordinate=name)
    return formulate(watched, coordinates)


def _coordinate(model: Model, name: str) -> str:
    """The coordinate "joint.coordinate" that a name means, itself or its rate; else ""."""
    for text in (name, name.removesuffix(_RATE)):
        owner, _, coordinate = text.rpartition(".")
        joint = _joint(model, owner)
        if joint is not None and any(
            c.name == coordinate and c.manifold == "line" for c in joint.coordinates
        ):
            return text
    return ""


def _joint(model: Model, name: str) -> Joint | None:
    """The joint of that name, of the model or of a part of it."""
    while name not in model.joints:
        instance, _, name = name.partition(".")
        part = model.parts.get(instance.partition("[")[0])
        if part is None or not name:
            return None
        model = part.model
    joint = model.joints[name]
    return joint if isinstance(joint, Joint) else None
