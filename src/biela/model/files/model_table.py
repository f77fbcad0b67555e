"""The tables of a whole model file, of parts and of runs."""

from __future__ import annotations

from typing import Annotated, Any

import pydantic
from pydantic import Field

from biela.model.files import fields
from biela.model.files.body_tables import BodyTable
from biela.model.files.fields import Flag, OrientationField, Text, triple_of, value_of
from biela.model.files.tables import Table


def _whole(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise fields.fault(f"a whole number is wanted, not {fields.shown_value(given)}")
    return given


def _plane(given: object) -> object:
    if given not in ("xy", "xz", "yz"):
        raise fields.fault(f"the plane of a model is xy, xz or yz, not {fields.shown_value(given)}")
    return given


def _names(given: object) -> list[str]:
    """Several names; one alone needs no brackets."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        raise fields.fault(
            f'names of results are wanted, such as ["slider.x"], not {fields.shown_value(given)}'
        )
    return list(names)


_TEXT_SCHEMA = {"type": "string"}
Names = Annotated[
    Any,
    pydantic.PlainValidator(_names),
    pydantic.WithJsonSchema({"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA}]}),
]
WholeNumber = Annotated[
    Any, pydantic.PlainValidator(_whole), pydantic.WithJsonSchema({"type": "integer"})
]
Plane = Annotated[
    Any, pydantic.PlainValidator(_plane), pydantic.WithJsonSchema({"enum": ["xy", "xz", "yz"]})
]


class BetweenTable(Table):
    """A joint from each instance of a part to the next."""

    kind: Text = Field(description="kind of joint")
    i: Text = Field(description="body or marker of one instance")
    j: Text = Field(description="body or marker of the next one")
    name: Text = Field("between", description="its name, after that of the later instance")
    settings: fields.Data = Field({}, description="what the kind needs besides")


def _row(given: object, info: pydantic.ValidationInfo) -> Any:
    """One value for all instances, or an array with one for each."""
    known = fields.known_of(info)
    if isinstance(given, list):
        return [fields.checked_value(item, "any", known) for item in given]
    return fields.checked_value(given, "any", known)


_Row = Annotated[
    Any,
    pydantic.PlainValidator(_row),
    pydantic.WithJsonSchema(
        {"anyOf": [fields.VALUE_SCHEMA, {"type": "array", "items": fields.VALUE_SCHEMA}]}
    ),
]


def _raw(given: object) -> object:
    if not isinstance(given, dict):
        raise fields.fault(f"a table is wanted, not {fields.shown_value(given)}")
    return given


#: A model inside of a model, which is looked at by itself.
_RawTable = Annotated[
    Any, pydantic.PlainValidator(_raw), pydantic.WithJsonSchema({"type": "object"})
]


class PartTable(Table):
    """A model used in this one, once or many times."""

    file: Text = Field(None, description="model file in the folder of this one")
    model: _RawTable = Field(None, description="the model itself, in place of a file")
    count: WholeNumber = Field(None, description="how many there are")
    position: triple_of("length") = Field(  # type: ignore[valid-type]
        None, description="where its ground is"
    )
    orientation: OrientationField = Field(None, description="how it is turned")
    shift: triple_of("length") = Field(  # type: ignore[valid-type]
        None, description="from one instance to the next"
    )
    on: fields.BodyName = Field(None, description="body that takes the place of its ground")
    link: Text = Field(None, description="its body or marker that carries the next instance")
    between: list[BetweenTable] = Field([], description="joints from each instance to the next")
    parameters: dict[str, _Row] = Field(
        {}, description="its parameters that differ; arrays have one value for each instance"
    )


class RunTable(Table):
    """What ``biela run`` and ``biela kinematics`` use if nothing else is said."""

    duration: value_of("time") = Field(None, description="time to run")  # type: ignore[valid-type]
    step: value_of("time") = Field(None, description="time step")  # type: ignore[valid-type]
    output: value_of("time") = Field(  # type: ignore[valid-type]
        None, description="time between stored instants"
    )
    t: value_of("time") = Field(None, description="time at the start")  # type: ignore[valid-type]
    tolerance: value_of("none") = Field(  # type: ignore[valid-type]
        None, description="of positions or of an adaptive integrator"
    )
    end_point: Flag = Field(None, description="whether the last instant counts")
    coordinates: Text = Field(None, description="coordinates of the equations")
    formulation: Text = Field(None, description="how multipliers are treated")
    integrator: Text = Field(None, description="how motion is integrated")
    method: Text = Field(None, description="how positions are found")
    max_iterations: WholeNumber = Field(None, description="of a search for positions")
    through_dead_points: Flag = Field(
        None, description="whether a motion goes on where the driven coordinates turn back"
    )
    plot: Names = Field(None, description='results to plot, such as "slider.x"')
    against: Text = Field(None, description="result to plot them against, in place of the time")
    path: Names = Field(None, description="points whose paths are drawn")


class ModelTable(Table):
    """A whole file; elements and parts are looked at one by one."""

    name: Text = Field(description="what the model is called")
    description: Text = Field("", description="what it is")
    plane: Plane = Field(None, description="plane of a planar model")
    gravity: triple_of("acceleration") = Field(  # type: ignore[valid-type]
        None, description="acceleration of gravity in the axes of the ground"
    )
    parameters: dict[str, value_of("any")] = Field(  # type: ignore[valid-type]
        {}, description="named numbers, for use in texts"
    )
    bodies: dict[str, BodyTable] = Field({}, description="rigid bodies, by name")
    joints: dict[str, Any] = Field({}, description="joints and couplings, by name")
    drivers: dict[str, Any] = Field({}, description="motions that are imposed, by name")
    forces: dict[str, Any] = Field({}, description="forces, by name")
    sensors: dict[str, Any] = Field({}, description="what is measured, by name")
    parts: dict[str, Any] = Field({}, description="models used in this one, by name")
    rotors: dict[str, value_of("any")] = Field(  # type: ignore[valid-type]
        {}, description="inertia of rotors, reflected to the coordinates of joints, by joint"
    )
    run: RunTable = Field(None, description="what a run uses if nothing else is said")  # type: ignore[assignment]
