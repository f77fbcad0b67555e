"""What a visitor of the studio has chosen: the analysis, and what differs from the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import biela as bl
from biela.errors import ModelError
from biela.studio.laws import LawChange

__all__ = ["Analysis", "Settings", "settings_of"]


class Analysis(StrEnum):
    """The questions that can be asked."""

    KINEMATICS = "kinematics"
    DYNAMICS = "dynamics"
    EQUILIBRIUM = "equilibrium"
    INVERSE_KINEMATICS = "inverse kinematics"

    @property
    def moves(self) -> bool:
        """Whether its answer is a motion; else it is a position."""
        return self in (Analysis.KINEMATICS, Analysis.DYNAMICS)


@dataclass(frozen=True)
class Settings:
    """The choices of one visitor; each change makes new ones.

    Attributes:
        analysis: What to compute.
        duration: Of a motion (s).
        step: Between instants that are kept (s).
        driven: Whether the drivers act; without them the mechanism is left to its forces.
        parameters: Values that differ from those of the model, SI.
        laws: Changes of laws, by name.
        q: Start values of coordinates that differ from those of the model.
        v: Likewise, of velocities.
        inputs: Values of motors that are given from outside, likewise.
    """

    analysis: Analysis = Analysis.KINEMATICS
    duration: float = 5.0
    step: float = 0.01
    driven: bool = True
    parameters: Mapping[str, float] = field(default_factory=dict)
    laws: Mapping[str, LawChange] = field(default_factory=dict)
    q: Mapping[str, float] = field(default_factory=dict)
    v: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, float] = field(default_factory=dict)


def settings_of(model: bl.Model) -> Settings:
    """The settings that a model asks for: times of its table ``[run]``, kinematics if driven."""
    analysis = Analysis.KINEMATICS if model.drivers else Analysis.DYNAMICS
    duration = _time(model, "duration", 5.0)
    return Settings(analysis, duration, _time(model, "step", duration / 250))


def _time(model: bl.Model, key: str, default: float) -> float:
    given = model.run.get(key)
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ModelError(f"{model.name}: run.{key} is {given!r}, which is no time")
    return model.number(given if isinstance(given, str) else float(given), "time")
