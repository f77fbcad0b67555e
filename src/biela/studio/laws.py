"""The laws of drivers, as texts that can be written anew, and stretched and shifted by sliders."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import biela as bl
from biela.errors import BielaError, ModelError
from biela.model.laws.law import Constant, Formula, Law, law_from

__all__ = ["LawChange", "LawText", "laws_of", "with_laws"]


@dataclass(frozen=True)
class LawText:
    """A law of a driver.

    Attributes:
        name: "driver.setting", or the name of the driver if it has one law only.
        driver: Name of the driver.
        setting: Its field.
        text: The law as it is written; "" for one of a table or a profile, which is no text.
        help: What it is.
        unit: Its unit, "rad" or "m".
    """

    name: str
    driver: str
    setting: str
    text: str
    help: str
    unit: str


@dataclass(frozen=True)
class LawChange:
    """What is made of a law f(t): factor · f(t) + shift, or of another text in its place."""

    text: str = ""
    factor: float = 1.0
    shift: float = 0.0

    def of(self, law: Law) -> Law:
        """The changed law.

        Raises:
            BielaError: The text is no law, or the law is no text that could be stretched.
        """
        plain = self.text.strip() or _text(law)
        if self.factor == 1.0 and self.shift == 0.0:
            return law_from(plain) if self.text.strip() else law
        if not plain:
            raise ModelError("a law of a table or profile cannot be stretched: write a formula")
        return law_from(f"{self.factor!r}*({plain}) + {self.shift!r}")


def laws_of(model: bl.Model) -> list[LawText]:
    """The laws of all drivers of a model."""
    found = []
    for driver in model.drivers.values():
        laws = {
            name: (getattr(driver, name), field.metadata["help"])
            for name, field in driver.settings().items()
            if field.metadata["dimension"] == "law" and getattr(driver, name) is not None
        }
        for setting, (law, help) in laws.items():
            name = driver.name if len(laws) == 1 else f"{driver.name}.{setting}"
            turns = driver.kind in ("rotary", "orientation")
            unit = "rad" if turns else "m"
            found.append(LawText(name, driver.name, setting, _text(law), help, unit))
    return found


def with_laws(model: bl.Model, changes: Mapping[str, LawChange]) -> bl.Model:
    """The model with other laws, by the names of `laws_of`; the one given is not changed.

    Raises:
        ModelError: A text is no law; the message names the driver.
    """
    if not changes:
        return model
    made, known = _copied(model), {law.name: law for law in laws_of(model)}
    for name, change in changes.items():
        place = known[name]
        driver: Any = made.drivers[place.driver]
        try:
            law = change.of(getattr(driver, place.setting))
        except BielaError as error:
            raise ModelError(f"driver {name}: {error}") from error
        made.drivers[place.driver] = replace(driver, **{place.setting: law})
    return made


def without_drivers(model: bl.Model) -> bl.Model:
    """The model with its motors taken off."""
    made = _copied(model)
    made.drivers = {}
    return made


def _copied(model: bl.Model) -> bl.Model:
    made = copy(model)
    made.drivers = dict(model.drivers)
    return made


def _text(law: Law) -> str:
    if isinstance(law, Formula):
        return law.text
    return f"{law.number:g}" if isinstance(law, Constant) else ""
