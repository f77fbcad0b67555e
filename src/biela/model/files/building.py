"""Tables that have been checked, made a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biela.errors import BielaError, FileError, ModelError
from biela.model.bodies import GROUND, Body
from biela.model.coordinate_names import full_name
from biela.model.files.body_tables import BodyTable, ShapeTable
from biela.model.files.element_tables import ElementTable
from biela.model.files.faults import Fault
from biela.model.files.fields import message_of
from biela.model.files.folder import Folder
from biela.model.files.lines import KeyPath
from biela.model.files.mesh_shape import FileMesh
from biela.model.files.model_table import ModelTable, PartTable
from biela.model.files.tables import FrameTable, PlaceTable, Table
from biela.model.markers import Marker
from biela.model.meshes.files import Meshes
from biela.model.model import Model
from biela.model.orientation import Orientation, along
from biela.model.placing import matrix
from biela.model.quantities.units import parameters_of
from biela.model.quantities.values import Value
from biela.model.shapes import MeshShape, Shape
from biela.spelling import nearest

Elements = Mapping[tuple[str, str], ElementTable | None]
_KEYS = {"joint": "joints", "driver": "drivers", "force": "forces", "sensor": "sensors"}
_WHO = re.compile(r"\A(?:body|joint|driver|force|sensor|part) [^\s:]+(?: \([\w ]+\))?: ")


class Builder:
    """Builds one model and keeps what does not fit together, by its place in the file.

    Args:
        table: The file.
        folder: Where the files that it names are.
        path: Where the model stands in the file: () or that of a part.
        prototype: Makes the model of a part, from a file or from its table.
    """

    def __init__(
        self,
        table: ModelTable,
        folder: Folder,
        path: KeyPath,
        prototype: Callable[[Path | Mapping[str, Any], KeyPath], Model],
    ) -> None:
        self.table, self.folder, self.path, self.prototype = table, folder, path, prototype
        self.faults: list[Fault] = []
        self._meshes = Meshes()
        self.model: Model

    @contextmanager
    def _at(self, *path: str | int) -> Iterator[None]:
        """Notes what goes wrong at a place of the file."""
        try:
            yield
        except FileError:
            raise
        except BielaError as error:
            message = message_of(error).removeprefix(f"{self.table.name}: ")
            # the path says already which body or joint it is
            self.faults.append(Fault((*self.path, *path), _WHO.sub("", message)))

    def build(self, elements: Elements, parts: Mapping[str, PartTable | None]) -> Model | None:
        """The model, or None if something does not fit together."""
        table = self.table
        with self._at():
            self.model = Model(table.name, gravity=table.gravity, plane=table.plane)
        if self.faults:
            return None
        self.model.description = table.description
        for name, value in table.parameters.items():
            with self._at("parameters", name):
                later = [n for n in parameters_of(value) if n not in self.model.parameters]
                if any(n in table.parameters for n in later):
                    raise ModelError(
                        f"it needs {later[0]}, which is given further down: put it first"
                    )
                self.model.parameter(name, value)
        if self.faults:  # nothing can be computed without them
            return None
        for name, body in table.bodies.items():
            self._body(name, body)
        if self.faults:  # joints would only miss bodies
            return None
        for name, part in parts.items():
            assert part is not None
            with self._at("parts", name):
                self._part(name, part)
        for (category, name), element in elements.items():
            assert element is not None
            with self._at(_KEYS[category], name):
                self._element(category, name, element)
        for name, inertia in table.rotors.items():
            with self._at("rotors", name):
                self._rotor(name, inertia)
        if table.run is not None:
            self.model.run = table.run.given()
        return None if self.faults else self.model

    def _rotor(self, name: str, inertia: Value) -> None:
        if full_name(self.model, name) is None and not self.model.parts:
            raise ModelError(f"there is no joint {name!r}{nearest(name, self.model.joints)}")
        number = self.model.number(inertia)
        if not number >= 0:
            raise ModelError(f"the inertia of a rotor is zero or more, not {inertia!r}")
        self.model.rotors[name] = inertia if parameters_of(inertia) else number

    # ----------------------------------------------------------------------- bodies

    def _body(self, name: str, table: BodyTable) -> None:
        given = table.given()
        markers = given.pop("markers", {})
        shapes = []
        for k, shape in enumerate(given.pop("shapes", ())):
            with self._at("bodies", name, "shapes", k):
                shapes.append(self._shape(shape))
        with self._at("bodies", name):
            if name == GROUND:
                if given:
                    raise ModelError(
                        f"the ground has markers and shapes only, no {', '.join(given)}"
                    )
                self.model.ground.shapes = tuple(shapes)
            else:
                given["points"] = [
                    (self._kept(p.mass, "mass"), [self._kept(x, "length") for x in p.position])
                    for p in given.pop("points", ())
                ]
                self.model.body(name, shapes=shapes, **given)
            body = self.model.find_body(name)
            for marker, frame in markers.items():
                with self._at("bodies", name, "markers", marker):
                    if not marker or "." in marker:
                        raise ModelError(f"a marker cannot be called {marker!r}")
                    body.keep(self._marker(body, marker, frame))

    def _marker(self, body: Body, name: str, frame: FrameTable) -> Marker:
        return Marker(body.name, name, frame.position, self._orientation(frame) or Orientation())

    def _orientation(self, frame: FrameTable | ShapeTable) -> Orientation | None:
        """How something is turned; None if nothing is said."""
        if frame.axis is None and frame.x_axis is None:
            found: Orientation | None = frame.orientation
            return found
        if frame.orientation is not None:
            raise ModelError("it is turned by axes and by an orientation; choose one")
        return along("this frame", "z" if frame.axis is None else frame.axis, frame.x_axis)

    def _shape(self, table: ShapeTable) -> Shape:
        given = table.given()
        turned = self._orientation(table)
        settings: dict[str, Any] = {}
        if turned is not None:
            settings["rotation"] = turned
            if not any(parameters_of(angle) for _, angle in turned.turns):
                settings["rotation"] = matrix(self.model, turned)
        for key in ("density", "mass"):
            if key in given:
                settings[key] = self._kept(given[key], key)
        for key, value in given.items():
            if key not in ("kind", "axis", "x_axis", "orientation", "density", "mass"):
                settings[key] = value if key in ("file", "scale") else self._lengths(value)
        if issubclass(table.shape, MeshShape):
            path = self.folder.file(settings["file"])
            made = FileMesh(mesh=self._meshes.mesh(path, settings.get("scale", 1.0)), **settings)
            made.remember(path)
            return made
        made_of = table.shape(**settings)
        made_of.measured(self.model.number)  # refuses what is none
        return made_of

    def _lengths(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._lengths(item) for item in value]
        return self._kept(value, "length")

    def _kept(self, value: Value, dimension: str) -> Value:
        """A number, or a text that has parameters in it."""
        number = self.model.number(value, dimension)
        return value if parameters_of(value) else number

    # --------------------------------------------------------------------- elements

    def _element(self, category: str, name: str, table: ElementTable) -> None:
        given = {key: self._settled(item) for key, item in table.given().items()}
        kind = table.element.kind
        del given["kind"]
        if category == "joint":
            self.model.joint(kind, name, **given)
        else:
            add = {"driver": self.model.driver, "force": self.model.force}
            add.get(category, self.model.sensor)(kind, name, **given)

    def _settled(self, item: Any) -> Any:
        if isinstance(item, PlaceTable):
            return self._marker(self.model.find_body(item.body), item.name, item)
        return item.given() if isinstance(item, Table) else item

    # ------------------------------------------------------------------------ parts

    def _part(self, name: str, table: PartTable) -> None:
        given = table.given()
        if ("file" in given) == ("model" in given):
            raise ModelError("a part has a file, or a model written out; one of both")
        path = (*self.path, "parts", name, "model")
        inner = given.pop("model", None)
        source = self.folder.file(given.pop("file")) if inner is None else inner
        prototype = self.prototype(source, path)
        given["between"] = [
            (b.kind, b.i, b.j, {**b.settings, "name": b.name}) for b in given.pop("between", ())
        ]
        self.model.part(name, prototype, given.pop("count", None), **given)
