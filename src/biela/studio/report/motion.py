"""The motion that a report shows: what the model asks for, or else what its forces do."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

import biela as bl
from biela.errors import BielaError, ModelError
from biela.model.drivers import Rotary, Translational
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.model.sensors.joint import JointSensor
from biela.results import Channels, Results
from biela.studio.runs import answer
from biela.studio.settings import Analysis, Settings, settings_of
from biela.studio.topology import Describable

__all__ = [
    "Course",
    "course",
    "motor_coordinates",
    "settings_for",
    "thinned",
    "watched_system",
    "written_out",
]

#: Instants of a motion, at most: the paper has no use of more.
_MOST: Final = 2000


@dataclass(frozen=True, eq=False)
class Course:
    """A motion and how it came about.

    Attributes:
        system: The equations.
        motion: The results.
        analysis: What was computed.
        warning: Why it ended before its time, or why it is no kinematics; "" for neither.
    """

    system: bl.System
    motion: Results
    analysis: Analysis
    warning: str = ""


def settings_for(model: Describable, duration: float | None, step: float | None) -> Settings:
    """The settings of a model, with another duration or step if they are given.

    Raises:
        BielaError: The model asks for something that is no time.
    """
    if isinstance(model, bl.SymbolicSystem):
        found = Settings(Analysis.DYNAMICS, 5.0, 0.02)
    else:
        found = settings_of(model)
    if duration is not None:
        found = replace(found, duration=duration, step=duration / 250)
    if step is not None:
        found = replace(found, step=step)
    return replace(found, step=max(found.step, found.duration / _MOST))


def course(model: Describable, settings: Settings) -> Course:
    """The motion of a model: kinematics where it is driven, else by its forces.

    Raises:
        BielaError: It can be moved neither way; the message says why.
    """
    if isinstance(model, bl.SymbolicSystem):
        system = model.equations().system
    else:
        system = watched_system(model)
    said = ""
    if settings.analysis is Analysis.KINEMATICS:
        try:
            found = answer(system, settings)
            assert found.motion is not None
            return Course(system, found.motion, Analysis.KINEMATICS, found.warning)
        except BielaError as error:
            said = str(error)
        settings = replace(settings, analysis=Analysis.DYNAMICS)
    try:
        found = answer(system, settings)
    except BielaError as error:
        raise BielaError("\n".join(dict.fromkeys(filter(None, (said, str(error)))))) from error
    assert found.motion is not None
    told = f"{said} It moves by its forces here." if said else ""
    warning = " ".join(filter(None, (told, found.warning)))
    return Course(system, found.motion, Analysis.DYNAMICS, warning)


# --------------------------------------------------------------------------------- motors


def motor_coordinates(model: bl.Model) -> Mapping[str, str]:
    """The coordinate of each motor, "joint.coordinate": drivers of joints, and actuators.

    Those of parts are called like the instances: "leg[0].motor".
    """
    whole = written_out(model)
    found = {}
    for name, element in (*whole.drivers.items(), *whole.forces.items()):
        if isinstance(element, Rotary | Translational | Actuator):
            found[name] = _full(whole, element.coordinate)
    return found


def written_out(model: bl.Model) -> bl.Model:
    """The model with its parts written out, unless they are very many."""
    if not model.parts:
        return model
    with suppress(ModelError):  # too many to be named one by one
        return model.flattened()
    return model


def watched_system(model: bl.Model) -> bl.System:
    """The equations, with sensors of the coordinates of motors and of those it wants plotted.

    In joint coordinates those of joints that close loops are no channels otherwise.

    Raises:
        BielaError: They cannot be derived.
    """
    system = bl.formulate(model, "joint")
    there = {entry.name for entry in (*system.q, *system.v, *system.y)}
    plotted = (_full(model, name) for name in _plotted(model))
    names = [*motor_coordinates(model).values(), *(n for n in plotted if _is_read(model, n))]
    missing = [name for name in dict.fromkeys(names) if name not in there]
    if not missing:
        return system
    made = copy.copy(model)
    made.sensors = dict(model.sensors)
    for name in missing:  # with a dot, as no sensor of a user's can be called
        made.sensors[name] = JointSensor(name=name, coordinate=name)
    return bl.formulate(made, "joint")


def _plotted(model: bl.Model) -> Iterable[str]:
    wanted = model.run.get("plot", ())
    names = [wanted] if isinstance(wanted, str) else wanted
    return (
        [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else ()
    )


def _full(model: bl.Model, name: str) -> str:
    """A joint with one coordinate may stand for it: "A" for "A.angle"."""
    joint = model.joints.get(name)
    if isinstance(joint, Joint) and len(joint.coordinates) == 1:
        return f"{name}.{joint.coordinates[0].name}"
    return name


def _is_read(model: bl.Model, name: str) -> bool:
    owner, _, quantity = name.rpartition(".")
    joint = model.joints.get(owner)
    return isinstance(joint, Joint) and any(
        c.name == quantity and c.manifold == "line" for c in joint.coordinates
    )


# -------------------------------------------------------------------------------- instants


def thinned(motion: Results, most: int) -> Results:
    """The motion at every so manieth instant, the last one included."""
    if len(motion) <= most:
        return motion
    rows = np.unique(np.linspace(0, len(motion) - 1, most).round().astype(int))
    groups = {
        group: Channels(channels.names, np.array(motion[group])[rows], channels.units)
        for group, channels in motion.groups.items()
    }
    return Results(motion.name, motion.t[rows], groups)
