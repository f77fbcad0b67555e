"""The tables of joints, drivers, forces and sensors, made from their kinds.

A kind says of each of its fields what it is (`biela.model.element.quantity`), and that is all that
a table for it needs.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, ClassVar

import pydantic
from pydantic import Discriminator, Field, Tag

from biela.model.element import Element
from biela.model.files import fields
from biela.model.files.fields import DirectionField, Flag, Text, triple_of, value_of
from biela.model.files.tables import PlaceField, Table, kind_field, table_tag
from biela.model.joints import Coordinate, Joint

#: Dimensions of coordinates, and of their rates, by their unit.
_DIMENSIONS = {"m": ("length", "velocity"), "rad": ("angle", "angular velocity")}

#: The types of fields that are no values of a physical dimension.
_SPECIAL: dict[str, Any] = {
    "marker": PlaceField,
    "body": fields.BodyName,
    "joint": fields.JointName,
    "coordinate": fields.CoordinateName,
    "law": fields.LawField,
    "text": Text,
    "flag": Flag,
    "data": fields.Data,
}


class ElementTable(Table):
    """A joint, driver, force or sensor of some kind."""

    element: ClassVar[type[Element]]

    kind: Any


@functools.cache
def element_table(cls: type[Element]) -> type[ElementTable]:
    """The table of a kind, out of its described fields."""
    made: dict[str, Any] = {"kind": kind_field(cls.kind, cls.__doc__)}
    if issubclass(cls, Joint):
        made |= _joint_fields(cls)
    for name, item in cls.settings().items():
        required = (
            item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        )
        # names of their own, so that no field can be that of a method of pydantic
        made[f"field_{name}"] = (
            _type(item),
            Field(... if required else None, alias=name, description=item.metadata["help"]),
        )
    title = f"{cls.category}_{cls.kind}"
    table = pydantic.create_model(title, __base__=ElementTable, __doc__=cls.__doc__, **made)
    table.element = cls
    return table


def _type(item: dataclasses.Field[Any]) -> Any:
    """The type of a field, by its dimension."""
    dimension = item.metadata["dimension"]
    if dimension == "data" and str(item.type).startswith(("Sequence", "tuple", "list")):
        return fields.Array
    return _SPECIAL.get(dimension) or value_of(dimension)


def _joint_fields(cls: type[Joint]) -> dict[str, Any]:
    """What joints have besides the fields of their kind."""
    numbers = [c for c in cls.coordinates if c.manifold == "line"]
    made: dict[str, Any] = {
        "at": (
            triple_of("length"),
            Field(None, description="place of the joint in the ground, with the bodies at start"),
        ),
        "axis": (DirectionField, Field(None, description="z axis of the markers made here")),
        "x_axis": (DirectionField, Field(None, description="x axis of the markers made here")),
    }
    alone = numbers[0] if len(cls.coordinates) == 1 and numbers else None
    for key, of, help in (
        ("start", _coordinate, "values of coordinates where a motion starts"),
        ("rates", _rate, "rates of coordinates where a motion starts"),
        ("limits", _limits, "lowest and highest values of coordinates"),
        ("velocity_limits", _rate, "largest rates of coordinates, either way"),
        ("effort_limits", _effort, "largest forces or torques along coordinates, either way"),
    ):
        if numbers:
            items: dict[str, Any] = {
                f"field_{c.name}": (of(c), Field(None, alias=c.name)) for c in numbers
            }
            table = pydantic.create_model(f"{cls.kind}_{key}", __base__=Table, **items)
            made[key] = _alone_or(table, alone and of(alone)), Field(None, description=help)
    return made


def _coordinate(coordinate: Coordinate) -> Any:
    return value_of(_DIMENSIONS.get(coordinate.unit, ("any", "any"))[0])


def _rate(coordinate: Coordinate) -> Any:
    return value_of(_DIMENSIONS.get(coordinate.unit, ("any", "any"))[1])


def _effort(coordinate: Coordinate) -> Any:
    return value_of({"m": "force", "rad": "torque"}.get(coordinate.unit, "any"))


def _limits(coordinate: Coordinate) -> Any:
    value = _coordinate(coordinate)
    return Annotated[tuple[value, value], pydantic.BeforeValidator(_two)]  # type: ignore[valid-type]


def _two(given: object) -> object:
    if not isinstance(given, list) or len(given) != 2:
        raise fields.fault(
            f"the lowest and the highest value are wanted, not {fields.shown_value(given)}"
        )
    return given


def _alone_or(table: type[Table], alone: Any) -> Any:
    """A table by coordinate, or one value alone for the only coordinate."""
    if alone is None:
        return table
    return Annotated[
        Annotated[table, Tag(":table")] | Annotated[alone, Tag(":name")],
        Discriminator(table_tag),
    ]
