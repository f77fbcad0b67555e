"""The motion that a report shows: what the model asks for, or else what its forces do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import biela as bl
from biela.analysis.joint_channels import channel_name, measured_system
from biela.analysis.motor_duties import motor_coordinates
from biela.errors import BielaError
from biela.model.forces import Actuator
from biela.results import Results
from biela.studio.runs import answer
from biela.studio.settings import Analysis, Settings, settings_of
from biela.studio.topology import Describable

__all__ = [
    "Course",
    "course",
    "settings_for",
    "uncommanded",
    "watched_system",
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


def uncommanded(model: Describable) -> list[str]:
    """The actuators whose input is zero, as neither a law nor a value says otherwise."""
    if isinstance(model, bl.SymbolicSystem):
        return []
    whole = model.flattened() if model.parts else model
    return [
        name
        for name, force in whole.forces.items()
        if isinstance(force, Actuator) and force.law is None and not whole.number(force.value)
    ]


def watched_system(model: bl.Model) -> bl.System:
    """The equations, with sensors of the coordinates of motors and of those it wants plotted.

    Raises:
        BielaError: They cannot be derived.
    """
    plotted = [channel_name(model, name) for name in _plotted(model)]
    return measured_system(model, "joint", [*motor_coordinates(model).values(), *plotted])


def _plotted(model: bl.Model) -> Iterable[str]:
    wanted = model.run.get("plot", ())
    names = [wanted] if isinstance(wanted, str) else wanted
    return (
        [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else ()
    )
