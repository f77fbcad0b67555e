"""Where a model comes from, and how it comes again with other values of its parameters."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import biela as bl
from biela.analysis.robots.robot import Robot
from biela.errors import ModelError
from biela.model.element import nearest
from biela.model.files.reading import loads
from biela.model.files.toml_text import document_text
from biela.studio.materials import colours_of

__all__ = ["FileSource", "ModelSource", "Source", "source_of"]


class Source(Protocol):
    """Something that gives a model for values of its parameters."""

    def model(self, parameters: Mapping[str, float]) -> bl.Model:
        """The model, with these parameters changed; one that may be changed by who asked.

        Raises:
            BielaError: There is no such parameter, or no model can be made.
        """


@dataclass(frozen=True, eq=False)
class ModelSource:
    """A model that a program made.

    What is written in texts follows the parameters; shapes, which are numbers by now, do not.
    """

    given: bl.Model

    def model(self, parameters: Mapping[str, float]) -> bl.Model:
        """A copy with other parameters.

        Raises:
            ModelError: There is no such parameter.
        """
        made = copy.copy(self.given)
        _check(made, parameters)
        made.parameters = {**made.parameters, **parameters}
        return made


@dataclass(frozen=True, eq=False)
class FileSource:
    """A model file; of a .toml shapes and masses follow the parameters too."""

    path: Path

    def model(self, parameters: Mapping[str, float]) -> bl.Model:
        """The model of the file, read again where parameters differ.

        Raises:
            FileError: The file has mistakes.
            ModelError: There is no such parameter.
        """
        _check(self._first, parameters)
        if not parameters:
            return copy.copy(self._first)
        if self._document is None:
            return ModelSource(self._first).model(parameters)
        document = {**self._document}
        document["parameters"] = {**document.get("parameters", {}), **parameters}
        made = loads(document_text(document), name=self.path.name, folder=self.path.parent)
        made.parameter_units = {**self._first.parameter_units}  # the new values are in SI units
        return made

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """Colours of bodies, as far as the file gives them.

        Raises:
            FileError: It cannot be read.
        """
        return colours_of(self.path) if self.path.is_file() else {}

    @cached_property
    def _first(self) -> bl.Model:
        loaded = bl.load(self.path)
        if isinstance(loaded, Robot):
            loaded = loaded.model
        if not isinstance(loaded, bl.Model):
            raise ModelError(f"{self.path.name} holds no model of bodies and joints")
        return loaded

    @cached_property
    def _document(self) -> dict[str, Any] | None:
        """The tables of a model file; None of other files, and of tables of robots."""
        if self.path.suffix.lower() != ".toml":
            return None
        document = tomllib.loads(self.path.read_text(encoding="utf-8-sig"))
        return document if "bodies" in document or "parts" in document else None


def source_of(model: object) -> Source:
    """The source of what a program gives.

    Raises:
        ModelError: It is no model of bodies and joints.
    """
    if isinstance(model, Robot):
        model = model.model
    if isinstance(model, bl.Model):
        return ModelSource(model)
    name = getattr(model, "name", "")
    raise ModelError(
        f"the studio shows models of bodies and joints, and systems of symbols, and "
        f"{name or repr(model)} is a {type(model).__name__}; of other systems "
        f"bl.simulate(…).animate(…) makes a page"
    )


def _check(model: bl.Model, parameters: Mapping[str, float]) -> None:
    for name in parameters:
        if name not in model.parameters:
            raise ModelError(
                f"{model.name} has no parameter {name!r}{nearest(name, model.parameters)}"
            )
