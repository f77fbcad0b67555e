"""Models with the changes of a visitor, and their equations, which are derived once for each."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import biela as bl
from biela.model.bodies import Inertia
from biela.model.parts.flattening import body_count
from biela.studio.laws import with_laws, without_drivers
from biela.studio.posing import Poser
from biela.studio.settings import Analysis, Settings
from biela.studio.source import Source

__all__ = ["Builder", "Built", "is_weighed", "without_masses"]

#: Bodies up to which equations of motion are written out.  A chain of 30 is ready after 19 s and
#: then runs in 0.3 s; solved in loops one of 50 answers after 10 s, and again after 8 s.
_WRITTEN_OUT: Final = 30
#: Bodies up to which equations of motion are derived for questions that only need positions: their
#: share grows with the cube of the bodies, and for a chain of 50 it is nine tenths.
_WEIGHED: Final = 20


@dataclass(frozen=True, eq=False)
class Built:
    """A model with its settings, and its equations.

    Attributes:
        key: The settings that it was made of.
        model: The model.
        poser: Positions in the coordinates of its joints.
        weighed: Whether the equations have the masses; else there are no energies.
    """

    key: Any
    model: bl.Model
    poser: Poser
    weighed: bool = True


class Builder:
    """Builds the model of a source as settings want it.

    Args:
        source: Where the model comes from.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._last: Built | None = None

    @cached_property
    def _count(self) -> int:
        return body_count(self._source.model({}))

    def built(self, settings: Settings) -> Built:
        """The model and equations of settings; the same as long as nothing changes them.

        Raises:
            BielaError: They make no model.
        """
        key = (dict(settings.parameters), dict(settings.laws), settings.driven)
        last = self._last
        weighed = settings.analysis is Analysis.EQUILIBRIUM or (
            settings.analysis is Analysis.DYNAMICS and self._count <= _WRITTEN_OUT
        )
        if last is not None and last.key == key and (last.weighed or not weighed):
            return last
        model = with_laws(self._source.model(settings.parameters), settings.laws)
        if not settings.driven:
            model = without_drivers(model)
        weighed = weighed or is_weighed(model)
        equations = bl.formulate(model if weighed else without_masses(model), "joint")
        self._last = Built(key, model, Poser(equations), weighed)
        return self._last


def is_weighed(model: bl.Model) -> bool:
    """Whether a model is so small that masses stay in equations of positions."""
    return body_count(model) <= _WEIGHED


def without_masses(model: bl.Model) -> bl.Model:
    """The model, flattened, with bodies that have no masses; what moves it is the same."""
    made = copy.copy(model.flattened() if model.parts else model)
    made.bodies = {name: replace(body, inertia=Inertia()) for name, body in made.bodies.items()}
    return made
