"""Geoms of MJCF as shapes with their mass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from biela.errors import ModelError
from biela.model.files.mjcf_attributes import Defaults, Settings, z_towards
from biela.model.files.urdf_shapes import MeshPlaces, mesh_shape
from biela.model.files.xml_source import Floats, Xml, XmlSource
from biela.model.placing import posed
from biela.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from biela.spelling import nearest

#: Geoms without a volume: things of the world, to be touched.
_ENDLESS = ("plane", "hfield", "sdf")
_TYPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", *_ENDLESS)
#: How many sizes each has, and how many where fromto gives the length.
_SIZES = {"sphere": (1, 1), "capsule": (2, 1), "cylinder": (2, 1), "box": (3, 1),
          "ellipsoid": (3, 1)}  # fmt: skip
_WATER = 1000.0


@dataclass
class Geoms:
    """Makes shapes of geoms, with the meshes among the assets of the file."""

    source: XmlSource
    settings: Settings
    places: MeshPlaces
    meshes: dict[str, Xml]

    @classmethod
    def of(cls, source: XmlSource, root: Xml, settings: Settings, defaults: Defaults) -> Geoms:
        """With the assets of a file."""
        meshes: dict[str, Xml] = {}
        for asset in root.all("asset"):
            for given in asset.all("mesh"):
                mesh = defaults.completed(source, given, "main")
                file = mesh.attributes.get("file", "")
                meshes[mesh.attributes.get("name", PurePosixPath(file).stem)] = mesh
                for key in ("refpos", "refquat", "vertex", "builtin"):
                    if key in mesh.attributes:
                        source.note(mesh, f"<mesh> {key} is not read")
        return cls(source, settings, MeshPlaces(source.folder), meshes)

    def shape(self, geom: Xml, frame: Floats, weighed: bool) -> Shape | None:
        """A geom at a frame in a body; ``weighed`` if it is to give the body mass."""
        source, attributes = self.source, geom.attributes
        default = "mesh" if "mesh" in attributes else "sphere"
        kind = source.choice(geom, "type", default, _TYPES)
        if kind in _ENDLESS:
            source.note(geom, f"a geom of the type {kind} is left out")
            return None
        mass: dict[str, float] = {}
        if weighed and "mass" in attributes:
            mass["mass"] = source.number(geom, "mass")
        elif weighed:
            mass["density"] = source.number(geom, "density", _WATER)
        if weighed and attributes.get("shellinertia") == "true":
            source.note(geom, "shellinertia: the geom is taken as solid")
        try:
            if kind == "mesh":
                return self._mesh(geom, frame @ self.settings.pose(source, geom), mass)
            if "mesh" in attributes:
                source.note(geom, f"a {kind} fitted to a mesh is left out")
                return None
            return self._solid(geom, kind, frame, mass)
        except ModelError as error:
            (source.fault if weighed else source.note)(geom, str(error))
            return None

    def _solid(self, geom: Xml, kind: str, frame: Floats, mass: dict[str, float]) -> Shape:
        source = self.source
        spans = "fromto" in geom.attributes and kind != "sphere"
        wanted = _SIZES[kind][spans]
        counts = range(wanted, 4)  # a size of a default class may have more than is used
        size = source.numbers(geom, "size", (0.0,) * wanted, counts=counts)[:wanted]
        if not geom.attributes.get("size", "").strip():
            source.fault(geom, f"a {kind} needs {wanted} numbers in size=…")
            size = np.ones(wanted)
        pose = self.settings.pose(source, geom)
        if spans:
            ends = source.numbers(geom, "fromto", (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)).reshape(2, 3)
            way = ends[0] - ends[1]
            half = float(np.linalg.norm(way)) / 2
            if not half:
                raise ModelError("fromto ends where it starts")
            pose = posed([float(x) for x in ends.mean(axis=0)], z_towards(way))
            size = np.array([size[0], half] if kind in ("capsule", "cylinder")
                            else [size[0], size[0], half])  # fmt: skip
        pose = frame @ pose
        p, R = pose[:3, 3], pose[:3, :3]
        if kind == "sphere":
            return Sphere(float(size[0]), position=p, rotation=R, **mass)
        if kind == "box":
            return Box(2 * size, position=p, rotation=R, **mass)
        if kind == "ellipsoid":
            return Ellipsoid(size, position=p, rotation=R, **mass)
        made = {"cylinder": Cylinder, "capsule": Capsule}[kind]
        return made(float(size[0]), 2 * float(size[1]), position=p, rotation=R, **mass)

    def _mesh(self, geom: Xml, pose: Floats, mass: dict[str, float]) -> Shape:
        name = geom.attributes.get("mesh", "")
        if name not in self.meshes:
            raise ModelError(f"there is no mesh {name!r}{nearest(name, self.meshes)}")
        asset = self.meshes[name]
        file = asset.attributes.get("file", "")
        if not file:
            raise ModelError(f"the mesh {name!r} has no file")
        scale = self.source.numbers(asset, "scale", (1.0, 1.0, 1.0))
        path = self.places.file((Path(self.settings.meshdir) / file).as_posix())
        mesh, one = self.places.mesh(path, list(scale))
        while self.places.notes:
            self.source.note(geom, self.places.notes.pop())
        return mesh_shape(
            self.places.short(path), path, mesh, one, pose[:3, 3], pose[:3, :3], **mass
        )
