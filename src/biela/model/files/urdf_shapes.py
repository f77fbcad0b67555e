"""The shapes of the links of a robot, and where the meshes among them are found.

A robot file may come from anybody: of the files it names only those are opened that lie in its own
folder, in the package around it, or in one that the caller gave.  A package is a folder above the
file that has the name of the package and says by a ``package.xml`` that it is one: any other folder
above is nobody's but the reader's, whatever name a file gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from biela.errors import ModelError
from biela.given_files import shown
from biela.model.files.mesh_shape import FileMesh
from biela.model.files.urdf_description import Geometry
from biela.model.files.xml_source import XmlSource
from biela.model.meshes.files import Meshes
from biela.model.meshes.mesh import Floats, Mesh
from biela.model.shapes import Box, Capsule, Cylinder, MeshShape, Shape, Sphere


@dataclass
class MeshPlaces:
    """Where meshes are looked for: the folder of the robot file, and packages by name."""

    folder: Path | None
    packages: Mapping[str, Path] = field(default_factory=dict)
    #: What was to be remarked of meshes that were read.
    notes: list[str] = field(default_factory=list)
    _meshes: Meshes = field(default_factory=Meshes)

    def file(self, name: str) -> Path:
        """The file of a name: ``package://…``, ``file://…`` or a path from the robot file.

        Raises:
            ModelError: It is not there, or outside of the folders that may be read.
        """
        try:
            return self._found(name)
        except (OSError, RuntimeError, ValueError) as error:  # too long, a null, links in a ring
            raise ModelError(f"{shown(name)} is no name of a file: {error}") from None

    def _found(self, name: str) -> Path:
        tried: list[Path] = []
        for root, rest in self._candidates(name):
            inside, found = root.resolve(), (root / rest).resolve()
            if not any(found.is_relative_to(r) for r in (inside, *self._roots())):
                raise ModelError(
                    f"the mesh {name!r} is outside of the folder of the robot: allow its folder "
                    'with packages={"name": folder}'
                )
            if found.is_file():
                return found
            tried.append(root)
        where = ", ".join(str(root) for root in tried) or "a text alone has no folder"
        package = name.removeprefix("package://").partition("/")[0]
        hint = f'; give packages={{"{package}": folder}}' if name.startswith("package://") else ""
        raise ModelError(f"the mesh {name!r} is not found ({where}){hint}")

    def mesh(self, path: Path, scale: Sequence[float]) -> tuple[Mesh, float | None]:
        """The mesh in a file, scaled, and the scale if it is one number; read once.

        Raises:
            ModelError: The file is of another kind, or faulty.
        """
        a, b, c = (float(x) for x in scale)
        one = a if a == b == c and a > 0 else None
        return self._meshes.mesh(path, (a, b, c), self.notes), one

    def short(self, path: Path) -> str:
        """A file as it is found from the folder of the robot, or its name alone."""
        own = None if self.folder is None else self.folder.resolve()
        if own is not None and path.is_relative_to(own):
            return path.relative_to(own).as_posix()
        return path.name

    def _roots(self) -> list[Path]:
        return [
            r.resolve() for r in (*self.packages.values(), *([self.folder] if self.folder else []))
        ]

    def _candidates(self, name: str) -> list[tuple[Path, str]]:
        """Folders and the paths in them that a name may mean, the likeliest first."""
        if name.startswith("package://"):
            package, _, rest = unquote(name.removeprefix("package://")).lstrip("/").partition("/")
            if package in self.packages:
                return [(self.packages[package], rest)]
            if self.folder is None:
                return []
            above = [f for f in self.folder.resolve().parents if _is_package(f, package)]
            own = self.folder.resolve()
            nearest = [own] if own.name == package else above[:1]
            return [*((f, rest) for f in nearest), (own / package, rest), (own, rest)]
        plain = unquote(name.removeprefix("file://")) if name.startswith("file://") else name
        roots = self._roots()
        if Path(plain).is_absolute():
            home = next((r for r in roots if Path(plain).resolve().is_relative_to(r)), self.folder)
            return [] if home is None else [(home, plain)]
        return [] if self.folder is None else [(self.folder.resolve(), plain)]


def _is_package(folder: Path, name: str) -> bool:
    return folder.name == name and (folder / "package.xml").is_file()


def shapes_of(
    source: XmlSource, geometries: Sequence[Geometry], places: MeshPlaces, pose: Floats
) -> list[Shape]:
    """Geometries of a link at a pose in a body, as shapes without mass.

    One that cannot be made is noted and left out.
    """
    found: list[Shape] = []
    for geometry in geometries:
        try:
            found.append(_shape(geometry, places, pose @ geometry.pose))
        except ModelError as error:
            source.note(geometry.line, str(error))
        while places.notes:
            source.note(geometry.line, places.notes.pop())
    return found


def _shape(geometry: Geometry, places: MeshPlaces, pose: Floats) -> Shape:
    p, R = pose[:3, 3], pose[:3, :3]
    if geometry.kind == "box":
        return Box(geometry.size, position=p, rotation=R)
    if geometry.kind == "sphere":
        return Sphere(geometry.size[0], position=p, rotation=R)
    if geometry.kind == "mesh":
        path = places.file(geometry.file)
        mesh, scale = places.mesh(path, geometry.size)
        return mesh_shape(places.short(path), path, mesh, scale, p, R)
    kind = {"cylinder": Cylinder, "capsule": Capsule}[geometry.kind]
    radius, length = geometry.size
    return kind(radius, length, position=p, rotation=R)


def mesh_shape(
    file: str,
    path: Path,
    mesh: Mesh,
    scale: float | None,
    position: Floats,
    rotation: Floats,
    **mass: float,
) -> Shape:
    """A mesh at a pose; it remembers its file if that has one scale."""
    if scale is None:
        return MeshShape(mesh, "", position=position, rotation=rotation, **mass)
    made = FileMesh(mesh, file, scale=scale, position=position, rotation=rotation, **mass)
    made.remember(path)
    return made
