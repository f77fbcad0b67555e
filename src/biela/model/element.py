"""What joints, drivers, forces and sensors have in common: a name, a kind, described fields.

A class with a ``kind`` is known everywhere from the moment it is defined: in files, formulations
and analyses, by the table of its category.  Its fields say what they are, so that files are read
and checked, help is printed and schemas are published without a line of code a kind:

    length: Value = quantity("length", "distance between the two points")
"""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from biela.errors import BielaError, ModelError
from biela.given_files import text_of
from biela.model.quantities.values import Value
from biela.spelling import nearest

#: Makes a number in SI units of a value, given its dimension, with the parameters as they are.
Evaluate: TypeAlias = Callable[[Value, str], float]

#: The kinds of each category by name: filled as their classes are defined.
KINDS: Final[dict[str, dict[str, type[Element]]]] = {
    "joint": {},
    "driver": {},
    "force": {},
    "sensor": {},
}

#: What a field may hold besides a value of a physical dimension ("length", "angle" …).
SPECIAL: Final = ("marker", "body", "coordinate", "joint", "law", "text", "flag", "data")


def quantity(dimension: str, help: str, of: str = "any", **more: Any) -> Any:
    """A field that is a value of a dimension, or one of `SPECIAL`; ``default=…`` as usual.

    ``of`` is the dimension of the values of a law, where the kind tells it.
    """
    return field(metadata={"dimension": dimension, "help": help, "of": of}, **more)


@dataclass(frozen=True, kw_only=True)
class Element(ABC):
    """A named part of a model of some kind."""

    name: str

    category: ClassVar[str] = ""
    kind: ClassVar[str] = ""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            KINDS[cls.category][cls.kind] = cls

    @classmethod
    def settings(cls) -> Mapping[str, dataclasses.Field[Any]]:
        """Its own fields, each with a dimension and a word of help."""
        return {f.name: f for f in dataclasses.fields(cls) if "dimension" in f.metadata}

    @classmethod
    def markers(cls) -> list[str]:
        """The fields that are markers."""
        return [n for n, f in cls.settings().items() if f.metadata["dimension"] == "marker"]

    def check(self, number: Evaluate) -> None:  # noqa: B027 (most kinds take any value)
        """Refuse settings of a wrong sign or order, numbers and texts alike.

        A model calls it as the element enters, with the values that its parameters have then.

        Args:
            number: Makes a number of a value, given its dimension: `Model.number`.

        Raises:
            ModelError: A setting has a value that makes no sense, or none.
        """

    def number_of(self, number: Evaluate, setting: str) -> float | None:
        """A setting as a number; None if it is left out.

        Raises:
            ModelError: It has no value: a text that cannot be read, or is of another dimension.
        """
        value = getattr(self, setting)
        if value is None:
            return None
        try:
            return number(value, self.settings()[setting].metadata["dimension"])
        except BielaError as error:
            raise ModelError(f"{self.category} {self.name}: {setting}: {error}") from None

    def check_above_zero(self, number: Evaluate, setting: str, hint: str = "") -> None:
        """Refuse a setting that is given and not above zero.

        Raises:
            ModelError: It is zero or negative.
        """
        found = self.number_of(number, setting)
        if found is not None and not found > 0:
            raise self._wrong(setting, "above zero", hint)

    def check_not_negative(self, number: Evaluate, *settings: str) -> None:
        """Refuse settings below zero.

        Raises:
            ModelError: One of them is negative.
        """
        for setting in settings:
            found = self.number_of(number, setting)
            if found is not None and not found >= 0:
                raise self._wrong(setting, "zero or above")

    def check_not_zero(self, number: Evaluate, setting: str, hint: str) -> None:
        """Refuse a setting that is zero.

        Raises:
            ModelError: It is zero, or not a number.
        """
        found = self.number_of(number, setting)
        if found is not None and not abs(found) > 0:
            raise self._wrong(setting, "other than zero", hint)

    def _wrong(self, setting: str, wanted: str, hint: str = "") -> ModelError:
        given = getattr(self, setting)
        return ModelError(
            f"{self.category} {self.name}: {setting} ({self.settings()[setting].metadata['help']}) "
            f"must be {wanted}, not {given!r}{hint and '; '}{hint}"
        )


def kind_named(category: str, kind: str) -> type[Element]:
    """The class of a kind.

    Raises:
        ModelError: There is none; the message has the nearest names.
    """
    known = KINDS[category]
    plain = text_of(kind, ModelError, f"the kind of a {category}").replace("-", "_").lower()
    if plain not in known:
        raise ModelError(f"{kind!r} is not a kind of {category}{nearest(plain, sorted(known))}")
    return known[plain]


def plain_name(name: str) -> str:
    """A name with "_" for all that no name may have: letters, digits, _ and - stay.

    >>> plain_name("left leg/knee.1")
    'left_leg_knee_1'
    """
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)
