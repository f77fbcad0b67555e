"""The trees of a symbolic model on a page: bases by their turns, points by their vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import biela as bl

__all__ = ["Trees"]


class Trees:
    """Bases and points of a symbolic model as nested lists."""

    def __init__(self, model: bl.SymbolicSystem) -> None:
        self._space = model.space

    def bases(self) -> str:
        """The bases, each below the one that it is turned from."""
        return _tree(self._space.bases.values(), _turn)

    def points(self) -> str:
        """The points, each below the one from which a vector leads to it."""
        return _tree(self._space.points.values(), _way)


def _turn(base: Any) -> str:
    rotation = base.rotation
    if hasattr(rotation, "angle"):
        return f"about {'xyz'[rotation.axis]} by {rotation.angle}"
    return "by a matrix"


def _way(point: Any) -> str:
    return repr(point.vector).removeprefix("Vector ")


def _tree(nodes: Iterable[Any], spelled: Callable[[Any], str]) -> str:
    children: dict[Any, list[Any]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)

    def drawn(node: Any) -> str:
        how = "" if node.parent is None else f": {escape(spelled(node))}"
        below = "".join(map(drawn, children.get(node, ())))
        inner = f"<ul>{below}</ul>" if below else ""
        return f"<li><b>{escape(node.name)}</b>{how}{inner}</li>"

    return f'<ul class="tree">{"".join(map(drawn, children.get(None, ())))}</ul>'
