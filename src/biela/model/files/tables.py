"""Tables of model files as pydantic models: what they have in common, and frames.

A table refuses keys that it does not know; each mistake is said in our own words, and all of them
are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pydantic
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic_core import InitErrorDetails

from biela.model.files import fields
from biela.model.files.fields import DirectionField, OrientationField, PlaceName, triple_of
from biela.model.shapes import SHAPES
from biela.spelling import nearest

#: Marks a part of a place that is not in the file, such as the kind of a union.
TAG = ":"


class Table(BaseModel):
    """A table: it refuses keys that it does not know, and says what it knows.

    Every fault is reported, each in our own words.
    """

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _every_fault(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        if not isinstance(data, dict):
            raise fields.fault(f"a table is wanted, not {fields.shown_value(data)}")
        known = {item.alias or name: item for name, item in cls.model_fields.items()}
        found = [
            _details(f"unknown key {key!r}{nearest(key, known)}", (key,))
            for key in data
            if key not in known
        ]
        try:
            made = handler(data)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                help = known[str(item["loc"][0])].description if item["loc"] else None
                found.append(_details(_said(dict(item), help), item["loc"]))
        if found:
            raise ValidationError.from_exception_data(cls.__name__, found)
        return made

    def given(self) -> dict[str, Any]:
        """The keys that are in the file, with what goes into the model."""
        return {
            item.alias or name: getattr(self, name)
            for name, item in type(self).model_fields.items()
            if name in self.model_fields_set
        }


def _details(message: str, place: tuple[int | str, ...]) -> InitErrorDetails:
    return InitErrorDetails(type=fields.fault(message), loc=place, input=None)


def _said(error: dict[str, Any], help: str | None) -> str:
    """What pydantic found, in our words."""
    kind, given = error["type"], fields.shown_value(error["input"])
    if kind == "biela":
        return str(error["msg"])
    if kind == "missing":
        return f"it is missing{f' ({help})' if help else ''}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(error["ctx"].get("tag", "")).removeprefix(TAG)
        said = f"{tag!r} is not a kind of shape" if tag else "its kind is missing"
        return f"{said}{nearest(tag, SHAPES)}"
    wanted = {
        "list_type": "an array",
        "tuple_type": "an array",
        "dict_type": "a table",
        "model_type": "a table",
        "string_type": "a text",
        "int_type": "a whole number",
        "bool_type": "true or false",
    }
    if kind in wanted:
        return f"{wanted[kind]} is wanted, not {given}"
    return f"{error['msg']}, not {given}"


def kind_field(name: str, about: str | None) -> Any:
    """The key ``kind`` of a table that is chosen by it."""
    description = (about or "").strip().partition("\n")[0]
    return Annotated[
        Any, pydantic.WithJsonSchema({"const": name, "description": description})
    ], Field(alias="kind")


class FrameTable(Table):
    """Where a marker is, and how it is turned."""

    position: triple_of("length") = Field(  # type: ignore[valid-type]
        (0.0, 0.0, 0.0), description="place from the frame of the body"
    )
    axis: DirectionField = Field(None, description="its z axis, the axis of a joint there")
    x_axis: DirectionField = Field(None, description="its x axis, from which angles count")
    orientation: OrientationField = Field(None, description="how it is turned, in place of axes")


class MarkerTable(FrameTable):
    """A named frame fixed in a body."""


class PlaceTable(FrameTable):
    """A frame fixed in a body, where it is used; it is called after what it is for."""

    body: fields.BodyName = Field(description="the body it is on")
    name: fields.Text = Field("", description="its name, if it needs one of its own")


def table_tag(given: object) -> str:
    """Tells a table from a name or value."""
    return ":table" if isinstance(given, dict) else ":name"


#: A body, "body.marker", or a table.
PlaceField = Annotated[
    Annotated[PlaceName, Tag(":name")] | Annotated[PlaceTable, Tag(":table")],
    Discriminator(table_tag),
]
