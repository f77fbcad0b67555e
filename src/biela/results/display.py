"""A scene as a list of four primitive things, which every renderer draws alike.

Lines, discs, paths and meshes keep their arrays in time; `view_matrix` turns their coordinates into
those of the picture: across, up, and toward the eye. The projection is orthographic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from biela.results.channels import Array
from biela.results.coarsening import coarser
from biela.results.dividing import divided
from biela.results.edges import Faces, normals_of
from biela.results.scene import PLANES, Scene
from biela.results.shapes import Box, Cylinder, Dot, Ground, Link, Polyhedron, Sphere, Trace
from biela.results.style import COLORS, INK

__all__ = [
    "AZIMUTH",
    "ELEVATION",
    "Disc",
    "Item",
    "Line",
    "Mesh",
    "Path",
    "items",
    "legend",
    "view_matrix",
]

#: Where the eye is for a scene in space: angles of the direction toward it, in radians.
AZIMUTH = np.radians(-60.0)
ELEVATION = np.radians(22.0)

_GROUND = "#7A7A7A"
#: Size of the mark of a fixed point, as a part of the scene's extent.
_GROUND_SIZE = 0.045
#: Longest edge of a face in space, of slender and of other bodies, likewise: faces are drawn from
#: the far ones to the near ones, and only small ones are either before or behind another.
_LONGEST = np.array([0.03, 0.12])
#: Of meshes with more faces than _FINE no detail below this part of the extent is drawn: about two
#: pixels of a picture of the usual size.
_FINE = 1000
_DETAIL = 0.004


@dataclass(frozen=True, eq=False)
class Line:
    """A polyline (k, n, 3), `width` in points; pins are marked on it, a closed one is filled."""

    points: Array
    color: str
    width: float
    pins: bool
    closed: bool = False
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Disc:
    """A point (k, 3) drawn as a disc: of `size` points across, or of `radius` metres."""

    points: Array
    color: str
    size: float = 0.0
    radius: float = 0.0
    hollow: bool = False


@dataclass(frozen=True, eq=False)
class Path:
    """Where a point (k, 3) has been in the last `tail` seconds, None for all the time."""

    points: Array
    color: str
    width: float
    tail: float | None


@dataclass(frozen=True, eq=False)
class Mesh:
    """A body: vertices (m, 3) in its own axes, faces, and its pose (k, 3), (k, 3, 3)."""

    position: Array
    rotation: Array
    vertices: Array
    faces: Faces
    color: str


Item: TypeAlias = Line | Disc | Path | Mesh


def view_matrix(view: str) -> Array:
    """Rows across, up and toward the eye, for a plane or for the usual look into space."""
    if view in PLANES:
        axes = np.eye(3)
        across, up = axes[PLANES[view][0]], axes[PLANES[view][1]]
        return np.array([across, up, np.cross(across, up)])
    ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    toward = np.array([ce * ca, ce * sa, se])
    across = np.array([-sa, ca, 0.0])
    return np.array([across, np.cross(toward, across), toward])


def items(scene: Scene) -> list[Item]:
    """What to draw, in the order in which a flat picture draws it: later ones cover earlier."""
    colors = _colors(scene)
    V = view_matrix(scene.view)
    listed: list[tuple[float, Item]] = []
    for shape in scene.shapes:
        color = colors[shape.name]
        match shape:
            case Link():
                own = _hex(shape.color, color)
                # what stands still lies behind what moves
                order = 0.5 if shape.name == "ground" else 4
                line = Line(shape.points, own, shape.width, shape.pins, shape.closed, shape.dashed)
                listed.append((order, line))
            case Dot():
                own = _hex(shape.color, color)
                listed.append((6, Disc(shape.points, own, shape.size, hollow=shape.hollow)))
            case Trace():
                own = _hex(shape.color, color)
                listed.append((5, Path(shape.points, own, shape.width, shape.tail)))
            case Sphere():
                own = _hex(shape.color, color)
                listed.append((3, Disc(shape.center, own, radius=shape.radius)))
            case Box() | Cylinder() | Polyhedron():
                own = _hex(shape.color, color)
                vertices, solid = _solid(shape, scene)
                size = float(np.ptp(vertices, axis=0).max())
                mesh = Mesh(shape.position, shape.rotation, vertices, solid, own)
                # in a plane small bodies lie on large ones
                listed.append((2 - size / (size + scene.extent), mesh))
            case Ground():
                size = shape.size or _GROUND_SIZE * scene.extent
                listed += [(0, item) for item in _ground(shape.point, size, V, scene.view)]
    return [item for _, item in sorted(listed, key=lambda entry: entry[0])]


def _solid(shape: Box | Cylinder | Polyhedron, scene: Scene) -> tuple[Array, Faces]:
    """The mesh of a body: without detail that no picture shows, in space with small faces."""
    if isinstance(shape, Polyhedron) and shape.is_fine(_FINE):
        given = np.asarray(shape.faces)
        normals = normals_of(shape.vertices[given])
        vertices, triangles, source = coarser(shape.vertices, given, _DETAIL * scene.extent)
        if scene.view in PLANES or _longest_edge(vertices[triangles]) <= _longest(vertices, scene):
            return vertices, Faces.of(vertices, triangles, normals[source])
        faces = triangles.tolist()
    else:
        vertices, faces = shape.mesh()
    if scene.view not in PLANES:
        vertices, faces = divided(vertices, faces, _longest(vertices, scene))
    return vertices, Faces.of(vertices, faces)


def _longest(vertices: Array, scene: Scene) -> float:
    """How long an edge of a body in space may be."""
    return float(np.clip(0.7 * _width(vertices), *_LONGEST * scene.extent))


def _longest_edge(corners: Array) -> float:
    """Of faces (f, n, 3)."""
    return float(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max(initial=0.0))


def _width(vertices: Array) -> float:
    """How wide a body is, the second of its lengths along its principal axes."""
    offsets = vertices - vertices.mean(axis=0)
    _, axes = np.linalg.eigh(offsets.T @ offsets)
    return float(np.sort(np.ptp(offsets @ axes, axis=0))[1])


def _ground(point: Array, size: float, V: Array, view: str) -> list[Item]:
    """A pyramid that stands below the point, and in a plane the hatching under it."""
    if view in PLANES:
        across, up, depth = V
    else:
        across, depth, up = np.eye(3)
    half, base = 0.6 * size, point - size * up
    corners = [
        base + half * (a * across + d * depth) for a, d in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    vertices = np.array([point, *corners]) - point
    faces = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [4, 3, 2, 1]]
    if np.linalg.det(np.array([across, depth, up])) < 0:
        faces = [face[::-1] for face in faces]
    solid = Faces.of(vertices, faces)
    marks: list[Item] = [Mesh(point[None], np.eye(3)[None], vertices, solid, _GROUND)]
    if view in PLANES:
        ends = np.array([base - 1.7 * half * across, base + 1.7 * half * across])
        marks.append(Line(ends[None], _GROUND, 1.2, pins=False))
        for place in np.linspace(-1.2, 1.7, 6):
            top = base + place * half * across
            stroke = np.array([top, top - 0.5 * half * (across + up)])
            marks.append(Line(stroke[None], _GROUND, 0.8, pins=False))
    return marks


def _colors(scene: Scene) -> dict[str, str]:
    """A colour for each name, in the order of their first appearance."""
    bodies, paths = _named(scene)
    palette = _palette(scene)
    if len(bodies) + len(paths) > len(palette):
        chosen = dict.fromkeys(paths, INK)  # bodies have the first choice
        paths = []
    else:
        chosen = {}
    chosen |= {name: palette[k % len(palette)] for k, name in enumerate([*bodies, *paths])}
    return {shape.name: chosen.get(_alike(shape.name), _GROUND) for shape in scene.shapes}


def legend(scene: Scene) -> dict[str, str]:
    """The colours of bodies and paths by name; empty where there are too many to tell apart."""
    bodies, paths = _named(scene)
    if len(bodies) > len(_palette(scene)):
        return {}
    colors = {_alike(name): color for name, color in _colors(scene).items()}
    return {name: colors[name] for name in (*bodies, *paths)}


def _palette(scene: Scene) -> list[str]:
    """The colours that nobody chose for a shape."""
    given = {_hex(s.color, "") for s in scene.shapes if not isinstance(s, Ground) and s.color}
    left = [color for color in COLORS if color.lower() not in given]
    return left or list(COLORS)


def _named(scene: Scene) -> tuple[list[str], list[str]]:
    """The names of bodies and of paths whose colours are chosen here, repeated parts once."""
    free = [s for s in scene.shapes if not isinstance(s, Ground) and not s.color]
    bodies = dict.fromkeys(
        _alike(s.name) for s in free if s.name != "ground" and not isinstance(s, Trace)
    )
    paths = dict.fromkeys(_alike(s.name) for s in free if isinstance(s, Trace))
    return list(bodies), [name for name in paths if name not in bodies]


def _alike(name: str) -> str:
    """Bodies of repeated parts have one colour: "leg[2].rod" is a "leg.rod"."""
    return re.sub(r"\[\d+\]", "", name)


def _hex(given: str, otherwise: str) -> str:
    """A colour as "#rrggbb".

    Raises:
        ResultsError: matplotlib does not know the colour.
    """
    from matplotlib.colors import to_hex

    from biela.errors import ResultsError

    try:
        return to_hex(given or otherwise)
    except ValueError as error:
        raise ResultsError(f"{given!r} is not a colour: give a name or #rrggbb") from error
