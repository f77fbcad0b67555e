"""The coordinates of groups, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.natural import natural_group
from biela.equations.groups.reference_point import reference_point_group
from biela.equations.groups.relative import Angles, relative_group
from biela.errors import ModelError
from biela.model.element import nearest

__all__ = ["COORDINATES", "Coordinates", "check_kinds", "chosen_coordinates", "placed_group"]

#: The coordinates a group may have.
Coordinates: TypeAlias = Literal["natural", "mixed", "relative", "reference"]
COORDINATES: Final[tuple[str, ...]] = ("natural", "mixed", "relative", "reference")


def check_kinds(what: str, given: object, names: list[str]) -> None:
    """Refuse settings for kinds of groups that the model does not have.

    Raises:
        ModelError: There are some.
    """
    if isinstance(given, Mapping):
        odd = [name for name in given if name and name not in names]
        if odd:
            raise ModelError(
                f"{what} are given for groups {odd[0]!r}{nearest(odd[0], names)}; the model has "
                f"{', '.join(dict.fromkeys(names))}"
            )


def chosen_coordinates(
    coordinates: Coordinates | Mapping[str, Coordinates], cast: Cast
) -> Coordinates:
    """The coordinates of a kind.

    Raises:
        ModelError: There are none of that name.
    """
    if isinstance(coordinates, str):
        found: Any = coordinates
    else:
        found = coordinates.get(cast.example.name, coordinates.get("", "natural"))
    if found not in COORDINATES:
        raise ModelError(
            f"groups have no {found!r} coordinates{nearest(str(found), COORDINATES)}; they "
            f"have {', '.join(COORDINATES)}"
        )
    return found  # type: ignore[no-any-return]


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
