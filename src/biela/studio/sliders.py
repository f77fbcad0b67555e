"""The sliders of a mechanism on the table: what they show, and how far they go."""

from __future__ import annotations

import re
from abc import abstractmethod
from contextlib import suppress

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError
from biela.studio.building import Built
from biela.studio.laws import LawText, laws_of
from biela.studio.ranges import Range, around, entry_ranges
from biela.studio.settings import settings_of
from biela.studio.starting import coordinates_at, input_ranges, limits_of, rates_at
from biela.studio.table import Table

__all__ = ["Sliders"]

Floats = npt.NDArray[np.float64]


class Sliders(Table):
    """Ranges of what a visitor may move; who has the mechanism says where it is.

    Args:
        model: The model as it was written.
    """

    def __init__(self, model: bl.Model) -> None:
        super().__init__(model.name, settings_of(model))
        self._first = model

    @abstractmethod
    def _build(self) -> Built:
        """The model and equations of the settings."""

    @abstractmethod
    def position(self) -> Floats:
        """The position that is shown, in the coordinates of the joints."""

    def parameters(self) -> list[Range]:
        """The parameters of the model with the values they have, and ranges for sliders."""
        model, changed, laws = self._first, self.settings.parameters, self.laws()
        led = {word for law in laws for word in re.findall(r"[^\W\d]\w*", law.text)}
        now = {**model.parameters, **changed}
        with suppress(BielaError):  # which the analysis tells
            now = dict(model.parameters.changed(changed))
        units = model.parameter_units
        return [
            around(n, x, now.get(n, x), units.get(n, ""), n in led)
            for n, x in model.parameters.items()
        ]

    def laws(self) -> list[LawText]:
        """The laws of the drivers, as they are written."""
        return laws_of(self._first)

    def starts(self) -> list[Range]:
        """The coordinates with the values that the motion really begins with.

        Raises:
            BielaError: The equations cannot be derived.
        """
        wanted = self.settings.q if self.error else {}  # which could not be had
        real = {} if self.motion is None else coordinates_at(self.motion)
        return self._positions({**real, **wanted})

    def jogs(self) -> list[Range]:
        """The coordinates with the values that they have in the position shown.

        Raises:
            BielaError: The equations cannot be derived.
        """
        return self._positions(
            dict(zip(self._build().poser.names, self.position().tolist(), strict=True))
        )

    def _positions(self, given: dict[str, float]) -> list[Range]:
        found = [e for e in self._build().poser.system.q if e.unit in ("rad", "m")]
        return entry_ranges(found, given, self.size, limits_of(self._build().model))

    def inputs(self) -> list[Range]:
        """The inputs of motors, which dynamics takes.

        Raises:
            BielaError: The equations cannot be derived.
        """
        built = self._build()
        given = self.settings.inputs
        return input_ranges(built.model, built.poser.system, given, self.size)

    def rates(self) -> list[Range]:
        """The velocities that a motion begins with.

        Raises:
            BielaError: The equations cannot be derived.
        """
        wanted = self.settings.v if self.error else {}
        real = {} if self.motion is None else rates_at(self.motion)
        return entry_ranges(self._build().poser.system.v, {**real, **wanted}, self.size)
