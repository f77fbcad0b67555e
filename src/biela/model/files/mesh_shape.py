"""A mesh shape that knows its file, so that it can be saved again."""

from __future__ import annotations

from dataclasses import dataclass

from biela.model.shapes import MeshShape


@dataclass(frozen=True, eq=False)
class FileMesh(MeshShape):
    """A mesh read from ``file`` with ``scale`` metres for one unit of it."""

    scale: float = 1.0
