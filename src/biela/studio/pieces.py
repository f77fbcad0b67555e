"""A scene as pieces for a renderer in space: rigid solids that are moved, and lines.

`biela.results` draws bodies without shapes as lines, joints of planar mechanisms as dots and the
ground as marks, in points of the paper.  Here they become bars, pins, balls and feet, of a part of
the size of the scene.  Every piece keeps its motion as arrays, a row an instant; solids of one body
share theirs, so that a renderer moves a body by one message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.results import Box, Cylinder, Dot, Ground, Link, Polyhedron, Scene, Sphere, Trace
from biela.results.orientation import euler_parameters
from biela.results.scene import PLANES, same_array
from biela.results.style import COLORS
from biela.studio.solids import Mesh, ball, bar, foot, plate, triangles
from biela.studio.turns import aligned, outlined

__all__ = [
    "Piece",
    "Role",
    "Solid",
    "Stroke",
    "Track",
    "Tracks",
    "alike",
    "between",
    "hues",
    "pieces",
]

Floats = npt.NDArray[np.float64]
Role: TypeAlias = str

#: Names that are no bodies.
_GROUND: Final = "ground"
_JOINTS: Final = "joints"
_INK: Final = "#2B2B2B"
_STEEL: Final = "#8A8F98"
#: Sizes as parts of the extent of the scene: a point of the paper, a pin, a foot.
_POINT: Final = 0.0022
_PIN: Final = (0.011, 0.034)
_FOOT: Final = 0.035
#: The radius of a bar, at least: less is no pixel where the whole of the scene is seen.
_HAIR: Final = 0.0022
#: Lines of the paper thinner than this are springs and lengths, no bodies.
_THIN: Final = 2.0


def between(rows: Floats, place: float) -> Floats:
    """The row at a place among rows, in a line between two of them; the last one beyond the end.

    >>> between(np.array([[0.0], [2.0], [6.0]]), 1.25)
    array([3.])
    """
    k = min(int(place), len(rows) - 1)
    rest = place - k
    if rest <= 0 or k + 1 >= len(rows):
        return np.asarray(rows[k])
    return np.asarray((1 - rest) * rows[k] + rest * rows[k + 1])


@dataclass(frozen=True, eq=False)
class Track:
    """The motion of a rigid thing: (k, 3) places and (k, 4) Euler parameters; k = 1 at rest.

    ``scale`` (k,) is along z, for a bar whose length changes; None for 1.
    """

    position: Floats
    wxyz: Floats
    scale: Floats | None = None

    @property
    def moves(self) -> bool:
        """Whether it is ever anywhere else."""
        return max(len(self.position), len(self.wxyz)) > 1

    def at(self, place: float) -> tuple[Floats, Floats]:
        """Place and Euler parameters at a place among the instants, between them in a line."""
        p = between(self.wxyz, place)
        return between(self.position, place), p / np.linalg.norm(p)

    def scale_at(self, place: float) -> float:
        """The length there."""
        return 1.0 if self.scale is None else float(between(self.scale, place))


class Tracks:
    """Many tracks that are moved together: one evaluation for all of them.

    Args:
        tracks: Each of one instant, or of as many as the others.
    """

    def __init__(self, tracks: Sequence[Track]) -> None:
        self._position = _stacked([track.position for track in tracks])
        self._wxyz = _stacked([track.wxyz for track in tracks])

    def at(self, place: float) -> tuple[Floats, Floats]:
        """Places (n, 3) and Euler parameters (n, 4) at a place among the instants."""
        p = between(self._wxyz, place)
        return between(self._position, place), p / np.linalg.norm(p, axis=1, keepdims=True)


def _stacked(rows: Sequence[Floats]) -> Floats:
    """Rows (k, m) of n things as (k, n, m), with what rests at every instant."""
    count = max((len(each) for each in rows), default=1)
    return np.stack([np.broadcast_to(each, (count, each.shape[1])) for each in rows], axis=1)


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh that moves.

    Attributes:
        name: Of the body, or of what it is a sign of.
        role: "body", "joint", "ground" or "sign".
        surface: Makes its mesh, in its own axes; who only moves it needs none.
        color: As "#rrggbb".
        track: Its motion.
        shaped: Whether it is a shape of the model, which may hide what is inside of it.
    """

    name: str
    role: Role
    surface: Callable[[], Mesh]
    color: str
    track: Track
    shaped: bool = False

    @cached_property
    def mesh(self) -> Mesh:
        """Its surface, in its own axes."""
        return self.surface()


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line through points (k, n, 3); ``width`` in pixels."""

    name: str
    role: Role
    points: Floats
    color: str
    width: float
    dashed: bool = False

    def segments(self, place: float) -> Floats:
        """Pairs of points at a place among the instants, (m, 2, 3)."""
        row = between(self.points, place)
        if self.dashed and len(row) == 2:
            row = row[0] + np.linspace(0.0, 1.0, 24)[:, None] * (row[1] - row[0])
            return np.stack([row[0::2], row[1::2]], axis=1)
        return np.stack([row[:-1], row[1:]], axis=1)


Piece: TypeAlias = Solid | Stroke


def pieces(
    scene: Scene, size: float | None = None, colours: Mapping[str, str] | None = None
) -> list[Piece]:
    """The pieces of a scene, always in the same order for scenes of one mechanism.

    Args:
        scene: What to show.
        size: Extent that signs are measured by, if not that of the scene.
        colours: Of bodies that have one of their own, as "#rrggbb".
    """
    return [*_Cutter(scene, size or scene.extent, colours or {})]


def alike(some: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Whether two lists are of the same surfaces: nodes of one can be moved by the other."""
    if len(some) != len(others):
        return False
    return all(_same(a, b) for a, b in zip(some, others, strict=True))


def _same(a: Piece, b: Piece) -> bool:
    if type(a) is not type(b) or (a.name, a.role, a.color) != (b.name, b.role, b.color):
        return False
    return not (isinstance(a, Solid) and isinstance(b, Solid)) or a.mesh.key == b.mesh.key


class _Cutter:
    """Makes pieces of shapes."""

    def __init__(self, scene: Scene, size: float, colours: Mapping[str, str]) -> None:
        self._scene, self._size = scene, size
        bodies = dict.fromkeys(
            s.name for s in scene.shapes if s.name not in (_GROUND, _JOINTS) and not _sign(s)
        )
        self._colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(bodies)}
        self._colors |= {**colours, _GROUND: _STEEL, _JOINTS: _INK}
        self._tracks: dict[object, Track] = {}
        normal = PLANES[scene.view][2] if scene.view in PLANES else 2
        self._normal: Floats = np.eye(3)[normal]
        #: Up in the plane of the mechanism, for feet.
        self._up = np.eye(3)[PLANES[scene.view][1]] if scene.view in PLANES else np.eye(3)[2]

    def __iter__(self) -> Iterator[Piece]:
        for shape in self._scene.shapes:
            color = self._colors.get(shape.name, _INK)
            role = {_GROUND: _GROUND, _JOINTS: "joint"}.get(shape.name, "body")
            match shape:
                case Polyhedron() | Box() | Cylinder():
                    track = self._posed(shape.position, shape.rotation)
                    yield Solid(shape.name, role, partial(_cut, shape), color, track, shaped=True)
                case Sphere():
                    track = Track(shape.center, _STILL)
                    made = partial(ball, shape.radius)
                    yield Solid(shape.name, role, made, color, track, shaped=True)
                case Dot():
                    yield self._dot(shape, role, color)
                case Link():
                    yield self._link(shape, role, color)
                case Ground():
                    mesh = partial(foot, _FOOT * self._size, self._up, self._normal)
                    yield Solid(_GROUND, _GROUND, mesh, _STEEL, Track(shape.point[None], _STILL))
                case Trace():
                    way = shape.points[None]
                    yield Stroke(shape.name, "sign", way, shape.color or COLORS[1], 2.0)

    def _posed(self, position: Floats, rotation: Floats) -> Track:
        """The track of a pose: one and the same for all shapes of a body."""
        key = (same_array(position), same_array(rotation))
        if key not in self._tracks:
            self._tracks[key] = Track(position, euler_parameters(rotation))
        return self._tracks[key]

    def _dot(self, dot: Dot, role: Role, color: str) -> Solid:
        """A hinge of the plane is a pin across it; any other dot is a ball."""
        if role == "joint" and dot.hollow:
            radius, length = (part * self._size for part in _PIN)
            ends = np.array([[-0.5], [0.5]]) * length * self._normal
            mesh = partial(bar, ends, radius)
        else:
            mesh = partial(ball, 0.75 * dot.size * _POINT * self._size)
        return Solid(dot.name, role, mesh, dot.color or color, Track(dot.points, _STILL))

    def _link(self, link: Link, role: Role, color: str) -> Piece:
        color = link.color if link.color.startswith("#") else color
        points, radius = link.points, 0.5 * link.width * _POINT * self._size
        radius = max(radius, _HAIR * self._scene.extent)
        if _sign(link):
            return Stroke(link.name, "sign", points, color, 2.5, link.dashed)
        if link.closed:
            middle, wxyz, outline = outlined(points)
            mesh = partial(plate, outline, radius)
            return Solid(link.name, role, mesh, color, Track(middle, wxyz))
        ends = points[:, [0, -1]]
        lengths, wxyz = aligned(ends[:, 1] - ends[:, 0])
        track = Track(ends.mean(axis=1), wxyz, lengths)
        return Solid(link.name, role, partial(bar, _UNIT, radius), color, track)


def _sign(shape: object) -> bool:
    """Whether a shape is a spring, a length or a way, and no body."""
    if isinstance(shape, Trace):
        return True
    return isinstance(shape, Link) and (shape.dashed or shape.width < _THIN)


def _cut(shape: Polyhedron | Box | Cylinder) -> Mesh:
    return triangles(*shape.mesh())


_STILL: Final = np.array([[1.0, 0.0, 0.0, 0.0]])
_UNIT: Final = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]])


def hues(color: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", 0 to 255.

    >>> hues("#0072B2")
    (0, 114, 178)
    """
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
