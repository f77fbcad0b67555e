"""The tables of bodies and their shapes."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, ClassVar, get_type_hints

import pydantic
from pydantic import Discriminator, Field, Tag

from biela.model.files import fields
from biela.model.files.fields import (
    DirectionField,
    InertiaField,
    OrientationField,
    Text,
    triple_of,
    value_of,
)
from biela.model.files.names import Known
from biela.model.files.tables import TAG, MarkerTable, Table, kind_field
from biela.model.quantities.units import evaluate
from biela.model.shapes import SHAPES, MeshShape, Shape


class PointTable(Table):
    """A point mass."""

    mass: value_of("mass") = Field(description="its mass")  # type: ignore[valid-type]
    position: triple_of("length") = Field(description="its place")  # type: ignore[valid-type]


class ShapeTable(Table):
    """What all shapes have."""

    shape: ClassVar[type[Shape]]

    kind: Any
    position: triple_of("length") = Field(None, description="own origin")  # type: ignore[valid-type]
    axis: DirectionField = Field(None, description="own z axis")
    x_axis: DirectionField = Field(None, description="own x axis")
    orientation: OrientationField = Field(None, description="how it is turned, in place of axes")
    density: value_of("density") = Field(None, description="kg/m³")  # type: ignore[valid-type]
    mass: value_of("mass") = Field(  # type: ignore[valid-type]
        None, description="kg, in place of a density"
    )


def _lengths(given: object, info: pydantic.ValidationInfo) -> Any:
    """Lengths in arrays of any depth."""
    if isinstance(given, list) and given:
        return [_lengths(item, info) for item in given]
    return fields.checked_value(given, "length", fields.known_of(info))


_Lengths = Annotated[
    Any, pydantic.PlainValidator(_lengths), pydantic.WithJsonSchema({"type": "array"})
]


@functools.cache
def shape_table(shape: type[Shape]) -> type[ShapeTable]:
    """The table of a kind of shape; a mesh is read from a file."""
    made: dict[str, Any] = {"kind": kind_field(shape.kind, shape.__doc__)}
    if issubclass(shape, MeshShape):
        made["file"] = Text, Field(description="an STL or OBJ file in the folder of the model")
        made["scale"] = _Scale, Field(1.0, description='unit of the file, such as "mm"')
    else:
        hints = get_type_hints(shape)
        for item in dataclasses.fields(shape):
            if item.name in ("position", "rotation", "density", "mass"):
                continue
            kind = value_of("length") if hints[item.name] is Any else _Lengths
            required = item.default is dataclasses.MISSING
            made[item.name] = kind, Field(... if required else None)
    table = pydantic.create_model(f"{shape.__name__}Table", __base__=ShapeTable, **made)
    table.shape = shape
    return table


def _scale(given: object) -> float:
    text = f"1 {given}" if isinstance(given, str) and given.isidentifier() else given
    found = fields.checked_value(text, "length", Known())
    return evaluate(found, {}, "length")


_Scale = Annotated[
    Any, pydantic.PlainValidator(_scale), pydantic.WithJsonSchema(fields.VALUE_SCHEMA)
]


def _shape_tag(given: object) -> str | None:
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind is None and isinstance(given, dict) and "mesh" in given:
        return ":mesh"
    return None if kind is None else f"{TAG}{kind}"


def _mesh_short(given: object) -> object:
    """``mesh = "rod.stl"`` says kind and file in one."""
    if isinstance(given, dict) and "mesh" in given and "kind" not in given:
        rest = {key: item for key, item in given.items() if key != "mesh"}
        return {"kind": "mesh", "file": given["mesh"], **rest}
    return given


@functools.cache
def shape_field() -> Any:
    """The type of a shape of any kind."""
    tables = [Annotated[shape_table(s), Tag(f"{TAG}{kind}")] for kind, s in SHAPES.items()]
    union = functools.reduce(lambda a, b: a | b, tables[1:], tables[0])
    return Annotated[union, Discriminator(_shape_tag), pydantic.BeforeValidator(_mesh_short)]


class BodyTable(Table):
    """A rigid body."""

    mass: value_of("mass") = Field(  # type: ignore[valid-type]
        None, description="its mass; else that of shapes and points"
    )
    com: triple_of("length") = Field(None, description="centre of mass")  # type: ignore[valid-type]
    inertia: InertiaField = Field(
        None, description="about the centre of mass: three moments, six or 3 x 3"
    )
    position: triple_of("length") = Field(  # type: ignore[valid-type]
        None, description="where its frame starts"
    )
    orientation: OrientationField = Field(None, description="how it is turned at the start")
    shapes: list[shape_field()] = Field(  # type: ignore[valid-type]
        [], description="solids it consists of, drawn too"
    )
    points: list[PointTable] = Field([], description="point masses it consists of")
    markers: dict[str, MarkerTable] = Field({}, description="frames fixed in it, by name")
