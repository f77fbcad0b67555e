"""Mesh files: STL, in text or binary, Wavefront OBJ, and COLLADA.

The first two do not say in which unit they are written: drawings in millimetres want
``scale=0.001``.
Vertices that are equal become one. The sense of the triangles is that of the order of their
vertices; the normals in a file are not looked at, since programs disagree about them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from biela.budgets import CUTTING, LARGEST, REPEATED_TRIANGLES, within
from biela.errors import ModelError
from biela.given_files import bytes_of, path_of
from biela.model.meshes.collada import read_collada
from biela.model.meshes.mesh import Mesh
from biela.model.meshes.polygons import cutting_steps, triangulated
from biela.whole_files import write_file

__all__ = ["Meshes", "read_mesh", "stl_content", "write_stl"]

_HEADER = 80
#: A triangle of binary STL: normal, three vertices, and two bytes that mean nothing.
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
#: The axes of the plane across each axis, in the order in which they turn about it.
_PLANES = ((1, 2), (2, 0), (0, 1))
#: Corners of a face up to which its cutting is as good as nothing.
_SMALL = 8
_TRIANGLE = ((0, 1, 2),)


def read_mesh(path: str | Path, scale: float = 1.0, notes: list[str] | None = None) -> Mesh:
    """The mesh in an STL, OBJ or COLLADA (.dae) file.

    A closed surface whose triangles face inward is turned.

    Args:
        path: The file; its ending says what it is.
        scale: Metres of one unit of the file: 0.001 for millimetres.
        notes: A list to which a remark is added if the triangles were turned.

    Raises:
        ModelError: The file is not there, is of another kind, or is faulty; with the line.
    """
    file = path_of(path, ModelError)
    if not (math.isfinite(scale) and scale > 0):
        raise ModelError(f"{file}: the scale of a mesh must be positive, not {scale!r}")
    ending = file.suffix.lower()
    if ending not in (".stl", ".obj", ".dae"):
        raise ModelError(
            f"{file}: meshes are read from .stl, .obj and .dae files, not {ending or 'this'}"
        )
    content = bytes_of(file, ModelError)
    if ending == ".obj":
        read = _obj
    elif ending == ".dae":
        read = read_collada
    else:
        read = _binary_stl if _is_binary(content) else _text_stl
    try:
        welded = read(file, content).scaled(scale).welded(0.0)
    except ModelError as error:
        named = str(error).startswith(str(file))  # a mesh does not know its file
        raise error if named else ModelError(f"{file}: {error}") from None
    if not (welded.is_closed and welded.volume < 0):
        return welded
    if notes is not None:
        notes.append(f"{file.name}: its triangles face inward and were turned")
    return welded.flipped()


@dataclass
class Meshes:
    """Reads the mesh files of one model, each once, however many bodies have it and how large."""

    _read: dict[Path, Mesh | ModelError] = field(default_factory=dict)
    _scaled: dict[tuple[Path, tuple[float, ...]], Mesh] = field(default_factory=dict)

    def mesh(
        self,
        path: Path,
        scale: float | tuple[float, float, float] = 1.0,
        notes: list[str] | None = None,
    ) -> Mesh:
        """The mesh in a file, times a scale or one for each axis; see `read_mesh`.

        Raises:
            ModelError: As of `read_mesh`, or copies in other sizes are more than the limit.
        """
        if path not in self._read:
            try:
                self._read[path] = read_mesh(path, 1.0, notes)
            except ModelError as error:
                self._read[path] = error
        whole = self._read[path]
        if isinstance(whole, ModelError):
            raise ModelError(str(whole))
        factors = tuple(float(factor) for factor in np.broadcast_to(scale, 3))
        if factors == (1.0, 1.0, 1.0):
            return whole
        if (path, factors) not in self._scaled:
            more = sum(len(mesh.triangles) for mesh in self._scaled.values())
            within(
                REPEATED_TRIANGLES,
                more + len(whole.triangles),
                f"{path}: copies of meshes in other sizes would have {{}} triangles",
                "use fewer sizes",
            )
            self._scaled[path, factors] = whole.scaled(factors)
        return self._scaled[path, factors]


def write_stl(mesh: Mesh, path: str | Path, *, text: bool = False, scale: float = 1.0) -> None:
    """Write a mesh as STL: binary, or text with ``text=True``.

    Binary STL keeps seven digits, text all of them.

    Args:
        mesh: The mesh.
        path: The file to write.
        text: Whether to write text.
        scale: Units of the file in a metre: 1000 for millimetres.

    Raises:
        ModelError: The file cannot be written.
    """
    write_file(path, stl_content(mesh, text=text, scale=scale), ModelError)


def stl_content(mesh: Mesh, *, text: bool, scale: float = 1.0) -> bytes:
    """What `write_stl` writes."""
    corners = mesh.vertices[mesh.triangles] * scale
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    if not text:
        records = np.zeros(len(corners), dtype=_RECORD)
        records["normal"], records["corners"] = normals, corners
        header = b"binary STL".ljust(_HEADER)
        return header + struct.pack("<I", len(corners)) + records.tobytes()
    lines = ["solid biela"]
    for normal, triangle in zip(normals.tolist(), corners.tolist(), strict=True):
        lines.append(f"facet normal {_numbers(normal)}")
        lines.append(" outer loop")
        lines += [f"  vertex {_numbers(corner)}" for corner in triangle]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid biela", ""]).encode("ascii")


def _numbers(values: list[float]) -> str:
    return " ".join(repr(v) for v in values)


def _fault(file: Path, line: int, message: str) -> ModelError:
    return ModelError(f"{file}:{line}: {message}")


def _floats(file: Path, line: int, words: list[str]) -> list[float]:
    try:
        values = [float(word) for word in words[:3]]
    except ValueError:
        values = []
    if len(values) != 3 or not all(abs(value) <= LARGEST for value in values):
        raise _fault(file, line, f"a vertex is three finite numbers, not {' '.join(words)!r}")
    return values


# --- STL --------------------------------------------------------------------------------------


def _is_binary(content: bytes) -> bool:
    # the word "solid" opens text files, and the header of some binary ones: the length decides
    if len(content) >= _HEADER + 4:
        (count,) = struct.unpack_from("<I", content, _HEADER)
        if len(content) == _HEADER + 4 + count * _RECORD.itemsize:
            return True
    return content.lstrip()[:5].lower() != b"solid"


def _binary_stl(file: Path, content: bytes) -> Mesh:
    start = _HEADER + 4
    if len(content) < start:
        raise ModelError(f"{file}: {len(content)} bytes are no STL file")
    (count,) = struct.unpack_from("<I", content, _HEADER)
    there = (len(content) - start) // _RECORD.itemsize
    if there < count:
        raise ModelError(
            f"{file}: the header tells of {count} triangles, and there are bytes for {there} only: "
            "the file is cut off, or is no STL"
        )
    if not count:
        raise ModelError(f"{file}: there are no triangles in it")
    records = np.frombuffer(content, dtype=_RECORD, count=count, offset=start)
    with np.errstate(invalid="ignore"):  # of signalling NaNs
        corners = records["corners"].astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(corners).all(axis=(1, 2)))
    if len(wrong):
        raise ModelError(f"{file}: triangle {wrong[0] + 1} has coordinates that are not finite")
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def _text_stl(file: Path, content: bytes) -> Mesh:
    corners: list[list[float]] = []
    in_loop, number = -1, 0
    for number, raw in enumerate(content.decode("latin-1").splitlines(), start=1):
        words = raw.split()
        keyword = words[0].lower() if words else ""
        if keyword == "outer":
            if in_loop >= 0:
                raise _fault(file, number, 'an "outer loop" within another')
            in_loop = 0
        elif keyword == "vertex":
            if in_loop < 0:
                raise _fault(file, number, 'a vertex outside of "outer loop"')
            corners.append(_floats(file, number, words[1:]))
            in_loop += 1
        elif keyword == "endloop":
            if in_loop != 3:
                raise _fault(file, number, f"a triangle with {max(in_loop, 0)} vertices")
            in_loop = -1
        elif keyword not in ("", "solid", "facet", "endfacet", "endsolid", "color"):
            raise _fault(file, number, f"{words[0]!r} is no word of an STL file")
    if in_loop >= 0:
        raise _fault(file, number, "the file ends within a triangle")
    if not corners:
        raise ModelError(f"{file}: there are no triangles in it")
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3))


# --- OBJ --------------------------------------------------------------------------------------


def _obj(file: Path, content: bytes) -> Mesh:
    vertices: list[list[float]] = []
    faces: list[tuple[int, list[int]]] = []
    begun: list[str] = []
    for number, raw in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
        line = raw.partition("#")[0].rstrip()
        begun.append(line.removesuffix("\\"))
        if line.endswith("\\"):
            continue
        words = " ".join(begun).split()
        begun.clear()
        if not words:
            continue
        if words[0] == "v":
            vertices.append(_floats(file, number, words[1:]))
        elif words[0] == "f":
            faces.append((number, [_vertex(file, number, w, len(vertices)) for w in words[1:]]))
    if not faces:
        raise ModelError(f"{file}: there are no faces in it")
    seen: list[list[tuple[float, float]]] = []
    steps = 0
    for number, face in faces:
        if len(face) < 3:
            raise _fault(file, number, f"a face with {len(face)} vertices")
        if max(face) >= len(vertices):
            there = f"there are {len(vertices)} only"
            raise _fault(file, number, f"a face with vertex {max(face) + 1}, and {there}")
        seen.append(_flat([vertices[k] for k in face]))
        steps += cutting_steps(np.array(seen[-1])) if len(face) > _SMALL else 0
    within(
        CUTTING,
        steps,
        f"{file}: to cut its faces into triangles would take {{}} comparisons",
        "export it in triangles",
    )
    triangles = [
        (face[i], face[j], face[k])
        for (_, face), flat in zip(faces, seen, strict=True)
        for i, j, k in (triangulated(flat) if len(face) > 3 else _TRIANGLE)
    ]
    return Mesh(vertices, np.array(triangles))


def _vertex(file: Path, line: int, word: str, count: int) -> int:
    """The number of a vertex out of 7, 7/2, 7//3 or 7/2/3; negative ones count from the last."""
    try:
        number = int(word.partition("/")[0])
    except ValueError:
        number = 0
    index = number - 1 if number > 0 else count + number
    if not number or index < 0:
        raise _fault(file, line, f"{word!r} is no vertex of a face")
    return index


def _flat(corners: list[list[float]]) -> list[tuple[float, float]]:
    """The corners of a face as seen along its mean normal (Newell's method)."""
    x, y, z = corners[0]
    near = [(a - x, b - y, c - z) for a, b, c in corners]
    normal = [0.0, 0.0, 0.0]
    for p, q in pairwise([*near, near[0]]):
        for k, (i, j) in enumerate(_PLANES):
            normal[k] += p[i] * q[j] - p[j] * q[i]
    # along the axis that the normal is nearest to, from the side on which it is
    along = max(range(3), key=lambda k: abs(normal[k]))
    i, j = _PLANES[along] if normal[along] >= 0 else _PLANES[along][::-1]
    return [(p[i], p[j]) for p in near]
