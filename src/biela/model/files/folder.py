"""The folder of a model file, out of which nothing is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from biela.errors import ModelError


@dataclass(frozen=True)
class Folder:
    """Where the files named in a model file are looked for; None: nowhere.

    A model may come from anybody: it must not make its reader open other files than those that
    came with it.  So names are relative, stay inside, and are followed through links first.
    """

    path: Path | None = None

    def file(self, name: str) -> Path:
        """The file of a name.

        Raises:
            ModelError: It is outside of the folder, not there, or no name of a file at all.
        """
        if self.path is None:
            raise ModelError(
                f"the file {name!r} cannot be found from a text alone: load the model from a file"
            )
        plain = name.replace("\\", "/")
        absolute = PurePosixPath(plain).is_absolute() or PureWindowsPath(name).drive
        inside = self.path.resolve()
        try:
            found = (inside / plain).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a null byte, links in a ring
            raise ModelError(f"{name!r} is no name of a file: {error}") from None
        if absolute or not found.is_relative_to(inside):
            raise ModelError(
                f"{name!r} is outside of the folder of the model: put the file beside it, or in a "
                "folder below"
            )
        if not os.path.isfile(found):  # Path.is_file raises for a name that is too long
            raise ModelError(f"there is no file {name!r} in {self.path}")
        return found
