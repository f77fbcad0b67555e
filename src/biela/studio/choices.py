"""What a visitor may choose and change of a model, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from biela.studio.laws import LawChange
from biela.studio.settings import Settings

__all__ = ["Choices"]


class Choices:
    """The settings of one visitor, and how they change.

    Args:
        name: What the model is called.
        settings: Those that it asks for.

    Attributes:
        name: What the model is called.
        settings: What is chosen.
    """

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.settings = self._fresh = settings

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
        self.settings = replace(self._fresh, analysis=self.settings.analysis)


def _newest(name: str, value: float, older: Mapping[str, float]) -> dict[str, float]:
    """Values in the order in which they hold: as many of the first ones as are free."""
    return {name: float(value), **{n: x for n, x in older.items() if n != name}}
