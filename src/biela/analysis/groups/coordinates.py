"""The coordinates of groups by name, and other words that a solver of groups is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.natural import natural_group
from biela.equations.groups.reference_point import reference_point_group
from biela.equations.groups.relative import Angles, relative_group
from biela.errors import ModelError
from biela.spelling import nearest

__all__ = [
    "COORDINATES",
    "Coordinates",
    "check_kinds",
    "check_word",
    "chosen_coordinates",
    "placed_group",
]

#: The coordinates a group may have.
Coordinates: TypeAlias = Literal["natural", "mixed", "relative", "reference"]
COORDINATES: Final[tuple[Coordinates, ...]] = ("natural", "mixed", "relative", "reference")


def check_kinds(what: str, given: object, names: list[str], known: Sequence[str]) -> None:
    """Refuse a setting, of all groups or by the names of their kinds, that makes no sense.

    Raises:
        ModelError: The model has no such kind of group, or the word is none of those known.
    """
    by_kind = isinstance(given, Mapping)
    for name in given if isinstance(given, Mapping) else ():
        if name and name not in names:
            raise ModelError(
                f"{what} is given for groups {name!r}{nearest(str(name), dict.fromkeys(names))}"
            )
    for word in given.values() if isinstance(given, Mapping) else (given,):
        check_word(f"{what} of a group" if by_kind else what, word, known)


def check_word(what: str, given: object, known: Sequence[str]) -> None:
    """Refuse a word that is none of those known.

    Raises:
        ModelError: It is none of them; the message has them all.
    """
    if given not in known:
        *most, last = (repr(word) for word in known)
        raise ModelError(f"{what} must be {', '.join(most)} or {last}, not {given!r}")


def chosen_coordinates(
    coordinates: Coordinates | Mapping[str, Coordinates], cast: Cast
) -> Coordinates:
    """The coordinates of a kind.

    Raises:
        ModelError: There are none of that name.
    """
    if isinstance(coordinates, Mapping):
        name = cast.example.name
        coordinates = coordinates[name] if name in coordinates else coordinates.get("", "natural")
    check_word("coordinates", coordinates, COORDINATES)
    return coordinates


def placed_group(
    cast: Cast,
    coordinates: Coordinates | Mapping[str, Coordinates],
    poses: Poses,
    angles: Angles = "absolute",
) -> GroupDerivation:
    """The bodies of a kind placed by coordinates of that name."""
    way = chosen_coordinates(coordinates, cast)
    if way == "reference":
        return reference_point_group(cast, poses)
    if way == "relative" or cast.example.explicit:
        # one driven body is explicit: a function of its law
        return relative_group(cast, poses, angles)
    return natural_group(cast, poses, mixed=way == "mixed")
