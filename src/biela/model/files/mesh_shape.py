"""A mesh shape that knows its file, so that it can be saved again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from biela.model.shapes import MeshShape


@dataclass(frozen=True, eq=False)
class FileMesh(MeshShape):
    """A mesh read from ``file`` with ``scale`` metres for one unit of it."""

    scale: float = 1.0

    # where the file was found: of this machine, so no part of the description
    _path: ClassVar[Path | None] = None

    def remember(self, path: Path) -> None:
        """Note where the file was found."""
        object.__setattr__(self, "_path", path.resolve())

    def is_in(self, folder: Path) -> bool:
        """Whether its file is found from a folder by its name."""
        return self._path is not None and (folder / self.file).resolve() == self._path
