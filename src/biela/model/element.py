"""What joints, drivers, forces and sensors have in common: a name, a kind, described fields.

A class with a ``kind`` is known everywhere from the moment it is defined: in files, formulations
and analyses, by the table of its category.  Its fields say what they are, so that files are read
and checked, help is printed and schemas are published without a line of code a kind:

    length: Value = quantity("length", "distance between the two points")
"""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, ClassVar, Final

from biela.errors import ModelError

#: The kinds of each category by name: filled as their classes are defined.
KINDS: Final[dict[str, dict[str, type[Element]]]] = {
    "joint": {},
    "driver": {},
    "force": {},
    "sensor": {},
}

#: What a field may hold besides a value of a physical dimension ("length", "angle" …).
SPECIAL: Final = ("marker", "body", "coordinate", "joint", "law", "text", "flag", "data")


def quantity(dimension: str, help: str, **more: Any) -> Any:
    """A field that is a value of a dimension, or one of `SPECIAL`; ``default=…`` as usual."""
    return field(metadata={"dimension": dimension, "help": help}, **more)


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


def kind_named(category: str, kind: str) -> type[Element]:
    """The class of a kind.

    Raises:
        ModelError: There is none; the message has the nearest names.
    """
    known = KINDS[category]
    plain = kind.replace("-", "_").lower()
    if plain not in known:
        raise ModelError(f"{kind!r} is not a kind of {category}{nearest(plain, sorted(known))}")
    return known[plain]


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or those there are."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(names[:20])}" if names else ""
