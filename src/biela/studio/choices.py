"""What a visitor may choose and change of a model, before anything is computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import biela as bl
from biela.studio.laws import LawChange, LawText, laws_of
from biela.studio.ranges import Range, around
from biela.studio.settings import settings_of

__all__ = ["Choices"]


class Choices:
    """The settings of one visitor, and how they change.

    Args:
        model: The model as it was written.

    Attributes:
        settings: What is chosen.
    """

    def __init__(self, model: bl.Model) -> None:
        self._first = model
        self.settings = settings_of(model)

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._first.name

    def choose(self, **changes: Any) -> None:
        """Change settings, by the names of `Settings`."""
        self.settings = replace(self.settings, **changes)

    def set_parameter(self, name: str, value: float) -> None:
        """Give a parameter another value, SI."""
        self.choose(parameters={**self.settings.parameters, name: float(value)})

    def set_law(self, name: str, change: LawChange) -> None:
        """Change the law of a driver."""
        self.choose(laws={**self.settings.laws, name: change})

    def set_start(self, name: str, value: float) -> None:
        """Begin with another value of a coordinate: the newest holds, older ones as they can."""
        self.choose(q=_newest(name, value, self.settings.q))

    def set_rate(self, name: str, value: float) -> None:
        """Begin with another velocity, likewise."""
        self.choose(v=_newest(name, value, self.settings.v))

    def set_input(self, name: str, value: float) -> None:
        """Give a motor another value of its input."""
        self.choose(inputs={**self.settings.inputs, name: float(value)})

    def reset(self) -> None:
        """Go back to the model as it was written; the analysis stays."""
        fresh = settings_of(self._first)
        self.settings = replace(fresh, analysis=self.settings.analysis)

    def parameters(self) -> list[Range]:
        """The parameters of the model with the values they have, and ranges for sliders."""
        model, changed, laws = self._first, self.settings.parameters, self.laws()
        led = {word for law in laws for word in re.findall(r"[^\W\d]\w*", law.text)}
        return [
            around(n, x, changed.get(n, x), model.parameter_units.get(n, ""), n in led)
            for n, x in model.parameters.items()
        ]

    def laws(self) -> list[LawText]:
        """The laws of the drivers, as they are written."""
        return laws_of(self._first)


def _newest(name: str, value: float, older: Mapping[str, float]) -> dict[str, float]:
    """Values in the order in which they hold: as many of the first ones as are free."""
    return {name: float(value), **{n: x for n, x in older.items() if n != name}}
