"""Writing model files: a model to TOML text that reads as the same model.

Numbers are written with all their digits and texts as they stand in the model.  What has its
default is left out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biela.doors import door
from biela.errors import FileError, ModelError
from biela.given_files import path_of
from biela.model.bodies import GROUND, Body, Inertia, weighed
from biela.model.element import Element
from biela.model.files.mesh_shape import FileMesh
from biela.model.files.toml_text import document_text
from biela.model.joints import Joint
from biela.model.joints.joint import BY_COORDINATE
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.meshes.files import stl_content
from biela.model.model import Model
from biela.model.orientation import IDENTITY, Orientation, along
from biela.model.parts.part import Part
from biela.model.quantities.values import SiText, Value
from biela.model.rotors import check_rotor_names, check_rotor_values
from biela.model.shapes import MeshShape, Shape
from biela.whole_files import write_files

#: Names the file of a mesh.
MeshFile = Callable[[str, MeshShape], dict[str, Any]]


def dumps(model: Model) -> str:
    """The text of a model file.

    Raises:
        ModelError: A mesh has no file (`save` makes one), or something cannot be written.
    """
    return document_text(_model(model, _named_mesh))


@door(ModelError)
def save(model: Model, path: str | Path) -> None:
    """Write a model file; meshes that have no file yet are written beside it.

    Args:
        model: The model.
        path: The file; one that is there is left as it is if the model cannot be written.

    Raises:
        ModelError: Something cannot be written, or could not be read again.
        FileError: The file cannot be written there.
    """
    file = path_of(path, FileError)
    written: dict[Path, str | bytes] = {}

    def mesh(body: str, shape: MeshShape) -> dict[str, Any]:
        if isinstance(shape, FileMesh) and shape.is_in(file.parent):
            return _named_mesh(body, shape)
        plain = "".join(c if c.isalnum() else "_" for c in body)
        name = f"{file.stem}_{plain}_{len(written) + 1}.stl"
        written[file.parent / name] = stl_content(shape.mesh, text=True)  # all digits
        return {"file": name}

    text = document_text(_model(model, mesh))
    write_files({**written, file: text}, FileError)


def _named_mesh(body: str, shape: MeshShape) -> dict[str, Any]:
    if not isinstance(shape, FileMesh):
        raise ModelError(
            f"body {body}: its mesh has no file to name in a text; use save, which writes one"
        )
    return {"file": shape.file} | ({"scale": shape.scale} if shape.scale != 1.0 else {})


# --- the model ------------------------------------------------------------------------------------


def _parameter(model: Model, name: str) -> Any:
    """The value of a parameter, with its unit if that is known, or the text that computes it."""
    if name in model.parameters.texts:
        return model.parameters.texts[name]
    value, unit = model.parameters[name], model.parameter_units.get(name, "")
    # a reciprocal such as 1/m is no unit that can stand after a number
    return f"{float(value)!r} {unit}" if unit and unit[0].isalpha() else value


def _model(model: Model, mesh: MeshFile) -> dict[str, Any]:
    data: dict[str, Any] = {"name": model.name}
    if model.description:
        data["description"] = model.description
    if model.plane:
        data["plane"] = model.plane
    data["gravity"] = list(model.gravity)
    data["parameters"] = {name: _parameter(model, name) for name in model.parameters}
    ground = _body(model, model.ground, mesh)
    data["bodies"] = {GROUND: ground} if ground else {}
    data["bodies"] |= {name: _body(model, body, mesh) for name, body in model.bodies.items()}
    data["parts"] = {name: _part(part, mesh) for name, part in model.parts.items()}
    for key, elements in (
        ("joints", model.joints),
        ("drivers", model.drivers),
        ("forces", model.forces),
        ("sensors", model.sensors),
    ):
        data[key] = {name: _element(model, element) for name, element in elements.items()}
    check_rotor_names(model)
    check_rotor_values(model)
    data["rotors"] = dict(model.rotors)
    data["run"] = dict(model.run)
    return {key: item for key, item in data.items() if item != {}}


def _body(model: Model, body: Body, mesh: MeshFile) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if body.points and _same(model, body.inertia, weighed(body.shapes, body.points)):
        data["points"] = [{"mass": mass, "position": list(at)} for mass, at in body.points]
    elif not _same(model, body.inertia, weighed(body.shapes)):
        data["mass"] = body.inertia.mass
        if body.inertia.com != (0.0, 0.0, 0.0):
            data["com"] = list(body.inertia.com)
        moments = list(body.inertia.moments)
        if any(isinstance(v, str) or v != 0.0 for v in moments):
            diagonal = moments[3:] == [0.0, 0.0, 0.0]
            data["inertia"] = moments[:3] if diagonal else moments
    if body.position is not None:
        data["position"] = list(body.position)
    if body.orientation is not None:
        data["orientation"] = _orientation(body.orientation)
    if body.shapes:
        data["shapes"] = [_shape(body.name, shape, mesh) for shape in body.shapes]
    if body.markers:
        data["markers"] = {name: _marker(marker) for name, marker in body.markers.items()}
    return data


def _same(model: Model, one: Inertia, other: Inertia) -> bool:
    """Whether two inertias are equal, for all parameters if they are texts."""
    pairs = list(zip(_entries(one), _entries(other), strict=True))
    if one == other or not any(isinstance(x, SiText) for pair in pairs for x in pair):
        return one == other
    if any(isinstance(a, str) != isinstance(b, str) for a, b in pairs):
        return False
    given = model.parameters.given
    for shift in (0.0, 1e-4):  # small, so that there still is such a mechanism
        near = {n: x * (1 + shift * (k % 7 + 1)) for k, (n, x) in enumerate(given.items())}
        known = model.parameters.changed(near)
        if not all(math.isclose(known.value(a), known.value(b), rel_tol=1e-9) for a, b in pairs):
            return False
    return True


def _entries(inertia: Inertia) -> tuple[Value, ...]:
    return inertia.mass, *inertia.com, *inertia.moments


def _orientation(orientation: Orientation) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if orientation.axes != IDENTITY or not orientation.turns:
        data["axes"] = [list(row) for row in orientation.axes]
    if orientation.turns:
        letters = "".join(letter for letter, _ in orientation.turns)
        data[letters] = [angle for _, angle in orientation.turns]
    return data


def _turned(orientation: Orientation) -> dict[str, Any]:
    """How a marker or shape is turned: by the letter of its axis, where that says it all."""
    if orientation == Orientation():
        return {}
    for axis in ("x", "y", "z", "-x", "-y", "-z"):
        if orientation == along("", axis):
            return {"axis": axis}
    return {"orientation": _orientation(orientation)}


def _marker(marker: Marker) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if marker.position != (0.0, 0.0, 0.0):
        data["position"] = list(marker.position)
    return data | _turned(marker.orientation)


def _shape(body: str, shape: Shape, mesh: MeshFile) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": shape.kind}
    if isinstance(shape, MeshShape):
        data |= mesh(body, shape)
    for item in dataclasses.fields(shape):
        value = getattr(shape, item.name)
        if item.name in ("mesh", "file", "scale") or value is None:
            continue
        if isinstance(value, Orientation):
            data["orientation"] = _orientation(value)
        elif item.name == "rotation":
            rows = tuple((float(a), float(b), float(c)) for a, b, c in np.asarray(value))
            data |= _turned(Orientation(rows))
        elif item.name != "position" or any(isinstance(x, str) or x for x in plain(value)):
            data[item.name] = plain(value)
    return data


# --- elements and parts -----------------------------------------------------------------------


def plain(value: Any) -> Any:
    """What a file can hold: laws as data, arrays as lists."""
    if isinstance(value, Law):
        return value.to_data()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _element(model: Model, element: Element) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": element.kind}
    for name, item in element.settings().items():
        value = getattr(element, name)
        if isinstance(value, Marker):
            data[name] = _place(model, value)
        elif value is not None and _differs(item, value):
            data[name] = plain(value)
    if isinstance(element, Joint):
        for name in BY_COORDINATE:
            if getattr(element, name):
                data[name] = plain(getattr(element, name))
    return data


def _place(model: Model, marker: Marker) -> str | dict[str, Any]:
    """The name of a marker; one made on a body of a part is written out where it is used."""
    if model.find_body(marker.body).markers.get(marker.name) == marker:
        return marker.label
    return {"body": marker.body, "name": marker.name} | _marker(marker)


def _differs(item: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a field is not at its default."""
    if item.default is not dataclasses.MISSING:
        return bool(plain(value) != plain(item.default))
    if item.default_factory is not dataclasses.MISSING:
        return bool(plain(value) != plain(item.default_factory()))
    return True


def _part(part: Part, mesh: MeshFile) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value, default in (
        ("count", part.count, None),
        ("position", list(part.position), [0.0] * 3),
        ("shift", list(part.shift), [0.0] * 3),
        ("on", part.on, GROUND),
        ("link", part.link, None),
    ):
        if value != default:
            data[key] = value
    if part.orientation != Orientation():
        data["orientation"] = _orientation(part.orientation)
    if part.parameters:
        data["parameters"] = plain({**part.parameters, **part.texts})
    if part.between:
        data["between"] = [
            {
                "kind": b.kind,
                "i": b.i,
                "j": b.j,
                "name": b.name,
                **({"settings": plain(b.settings)} if b.settings else {}),
            }
            for b in part.between
        ]
    return data | {"model": _model(part.model, mesh)}
