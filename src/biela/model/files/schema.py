"""The JSON Schema of model files: editors complete and check with it while one types.

A line ``#:schema path/or/address/model.schema.json`` at the top of a file tells Taplo and Even
Better TOML where it is.  It knows the kinds that are defined when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from biela.model.element import KINDS
from biela.model.files.body_tables import shape_table
from biela.model.files.element_tables import element_table
from biela.model.files.fields import (
    DirectionField,
    InertiaField,
    OrientationField,
    triple_of,
    value_of,
)
from biela.model.files.model_table import ModelTable, PartTable
from biela.model.shapes import MeshShape

_KEYS = {"joint": "joints", "driver": "drivers", "force": "forces", "sensor": "sensors"}
#: What many tables have, said once.
_SHARED = {
    "direction": DirectionField,
    "inertia": InertiaField,
    "lengths": triple_of("length"),
    "orientation": OrientationField,
    "value": value_of("any"),
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12), with all kinds of elements that are defined."""
    tables = {
        category: [element_table(kinds[name]) for name in sorted(kinds)]
        for category, kinds in KINDS.items()
    }
    models: list[type[BaseModel]] = [
        ModelTable,
        PartTable,
        *(table for group in tables.values() for table in group),
    ]
    places, whole = models_json_schema([(model, "validation") for model in models])
    definitions = whole["$defs"]
    root = definitions.pop(places[ModelTable, "validation"]["$ref"].rpartition("/")[2])
    for category, key in _KEYS.items():
        kinds = [places[table, "validation"] for table in tables[category]]
        root["properties"][key]["additionalProperties"] = {"oneOf": kinds}
    part = places[PartTable, "validation"]
    root["properties"]["parts"]["additionalProperties"] = part
    inner = definitions[part["$ref"].rpartition("/")[2]]["properties"]
    inner["model"] = {"$ref": "#", "description": inner["model"]["description"]}
    _add_short_mesh(definitions)
    shared = {name: TypeAdapter(kind).json_schema() for name, kind in _SHARED.items()}
    found: dict[str, Any] = _cleaned({**root, "$defs": dict(sorted(definitions.items()))}, shared)
    found["$defs"] |= {name: _cleaned(part, {}) for name, part in shared.items()}
    return {
        "$schema": _DIALECT,
        "title": "biela model",
        "description": "A mechanism or robot; values are numbers in SI units or texts with units.",
        **{key: item for key, item in found.items() if key not in ("title", "description")},
    }


def _add_short_mesh(definitions: dict[str, Any]) -> None:
    """A mesh may be given as ``mesh = "rod.stl"`` alone."""
    name = shape_table(MeshShape).__name__
    long = definitions[name]
    rest = {k: item for k, item in long["properties"].items() if k not in ("kind", "file")}
    short = {**long, "properties": {"mesh": long["properties"]["file"], **rest}}
    definitions[f"{name}Short"] = {**short, "required": ["mesh"]}
    shapes = definitions["BodyTable"]["properties"]["shapes"]["items"]["oneOf"]
    shapes.append({"$ref": f"#/$defs/{name}Short"})


def _cleaned(data: Any, shared: Mapping[str, Any]) -> Any:
    """Without titles that repeat names, defaults that only mean "not given", and repetitions."""
    if isinstance(data, list):
        return [_cleaned(item, shared) for item in data]
    if not isinstance(data, dict):
        return data
    plain = {
        key: item
        for key, item in data.items()
        if not (key == "title" and isinstance(item, str))
        and not (key == "default" and (item is None or item in ([], {}, "")))
    }
    bare = {key: item for key, item in plain.items() if key != "description"}
    for name, part in shared.items():
        if bare == part:
            described = {"description": plain["description"]} if "description" in plain else {}
            return {"$ref": f"#/$defs/{name}", **described}
    return {key: _kept(key, item, shared) for key, item in plain.items()}


def _kept(key: str, item: Any, shared: Mapping[str, Any]) -> Any:
    if key in ("properties", "$defs", "patternProperties"):  # here the keys are names
        return {name: _cleaned(inner, shared) for name, inner in item.items()}
    return _cleaned(item, shared)
