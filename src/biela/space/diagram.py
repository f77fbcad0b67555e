"""Base and point trees as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from biela.space.bases import Base
from biela.space.points import Point
from biela.space.rotations import AxisRotation
from biela.space.space import Space

N = TypeVar("N", Base, Point)


def base_tree(space: Space) -> str:
    """The bases, each with the turn that makes it.

    >>> from biela.atoms import Workspace
    >>> ws = Workspace()
    >>> space = Space(ws)
    >>> arm = space.root.rotated("arm", "z", ws.coordinate("q1"))
    >>> print(base_tree(space))
    xyz
    └─ arm: about z by q1
    """
    children: dict[Base | None, list[Base]] = {}
    for base in space.bases.values():
        children.setdefault(base.parent, []).append(base)
    return _drawn(space.root, children, _spelled_base)


def point_tree(space: Space) -> str:
    """The points, each with the vector that leads to it."""
    children: dict[Point | None, list[Point]] = {}
    for point in space.points.values():
        children.setdefault(point.parent, []).append(point)
    return _drawn(space.origin, children, _spelled_point)


def _spelled_base(base: Base) -> str:
    if base.parent is None:
        return base.name
    rotation = base.rotation
    if isinstance(rotation, AxisRotation):
        return f"{base.name}: about {'xyz'[rotation.axis]} by {rotation.angle}"
    return f"{base.name}: by a matrix"


def _spelled_point(point: Point) -> str:
    if point.parent is None:
        return point.name
    return f"{point.name}: {repr(point.vector).removeprefix('Vector ')}"


def _drawn(root: N, children: Mapping[N | None, Sequence[N]], spelled: Callable[[N], str]) -> str:
    lines: list[str] = []
    stack: list[tuple[N, str, str]] = [(root, "", "")]
    while stack:
        node, lead, indent = stack.pop()
        lines.append(lead + spelled(node))
        below = children.get(node, ())
        for k in range(len(below) - 1, -1, -1):
            last = k == len(below) - 1
            stack.append(
                (below[k], indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))
            )
    return "\n".join(lines)
