"""The models that a visitor of the studio may open: those of one folder, and never a program.

Whoever sees the page can ask for a model by its name.  The name is looked up among the files that
were found when the studio started, so it cannot lead out of the folder; and files of Python are not
among them, since to read one is to run it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from biela.errors import ModelError, UnknownNameError
from biela.given_files import path_of
from biela.model.files.gallery import description, mechanisms
from biela.spelling import nearest
from biela.studio.source import FileSource, Source
from biela.studio.symbolic_source import SymbolicSource

__all__ = ["Shelf", "gallery"]

#: Endings of files that hold a model and no program; a table .csv may be anything.
ENDINGS: Final = (".toml", ".urdf", ".xml", ".mjcf")


@dataclass(frozen=True)
class Shelf:
    """Model files by the names that they are asked for with.

    Attributes:
        files: The files, in the order in which they are shown.
        given: A model that is not in a file, by its name.
    """

    files: Mapping[str, Path]
    given: Mapping[str, Source | SymbolicSource] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, what was given first."""
        return (*self.given, *(name for name in self.files if name not in self.given))

    def source(self, name: str) -> Source | SymbolicSource:
        """What is behind a name.

        Raises:
            UnknownNameError: Nothing is.
        """
        if name in self.given:
            return self.given[name]
        if name not in self.files:
            raise UnknownNameError(f"there is no mechanism {name!r}{nearest(name, self.names)}")
        return FileSource(self.files[name])

    def description(self, name: str) -> str:
        """What a model file says of itself, "" if nothing."""
        file = self.files.get(name)
        if file is None or file.suffix != ".toml":
            return ""
        return description(file)

    def with_given(self, name: str, source: Source | SymbolicSource) -> Shelf:
        """The same with a model in front."""
        return Shelf(self.files, {name: source, **self.given})


def gallery() -> Shelf:
    """The mechanisms that come with biela."""
    return Shelf(mechanisms())


def beside(path: str | Path) -> tuple[Shelf, str]:
    """The model files in the folder of one, and the name of that one among them.

    Raises:
        ModelError: It is not there, or is a program.
    """
    file = path_of(path, ModelError)
    if not file.exists():
        raise ModelError(f"{file} is not there: give a model file, or none for the gallery")
    if file.suffix.lower() == ".py":
        raise ModelError(
            f"{file} is a program, which to read is to run: if you trust it, say so "
            f"(biela studio {file} --trust), or make the model yourself and call bl.studio(model)"
        )
    if file.is_dir():  # the four text files of a thesis
        return Shelf({}, {file.resolve().name: FileSource(file)}), file.resolve().name
    if file.suffix.lower() not in ENDINGS:
        raise ModelError(
            f"{file} is no model file: its name should end in {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}"
        )
    files = {each.name: each for each in _models(file.parent)}
    files.setdefault(file.name, file)
    return Shelf(files), file.name


def _models(folder: Path) -> Iterator[Path]:
    """The model files of a folder; links out of it, and names that are no text, are left aside."""
    inside = os.path.realpath(folder)
    with suppress(OSError):  # a folder whose files may be opened but not listed
        for file in sorted(folder.iterdir()):
            kept = file.suffix.lower() in ENDINGS and _text(file.name) and os.path.isfile(file)
            # links in a ring lead nowhere, and are no files
            if kept and Path(os.path.realpath(file)).is_relative_to(inside):
                yield file


def _text(name: str) -> bool:
    """Whether a name can be sent to a page; bytes that are no UTF-8 come as half characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
