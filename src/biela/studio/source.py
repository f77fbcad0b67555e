"""Where a model comes from, and how it comes again with other values of its parameters."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import biela as bl
from biela.analysis.robots.robot import Robot
from biela.errors import ModelError
from biela.model.quantities.values import Value
from biela.studio.materials import colours_of

__all__ = ["FileSource", "ModelSource", "Source", "source_of"]


class Source(Protocol):
    """Something that gives a model for values of its parameters."""

    def model(self, parameters: Mapping[str, Value]) -> bl.Model:
        """The model, with these parameters changed; one that may be changed by who asked.

        Raises:
            BielaError: There is no such parameter, or no model can be made.
        """


@dataclass(frozen=True, eq=False)
class ModelSource:
    """A model that a program made."""

    given: bl.Model

    def model(self, parameters: Mapping[str, Value]) -> bl.Model:
        """A copy with other parameters.

        Raises:
            ModelError: There is no such parameter, or no such mechanism.
        """
        return self.given.with_parameters(parameters) if parameters else copy.copy(self.given)


@dataclass(frozen=True, eq=False)
class FileSource:
    """A model file."""

    path: Path

    def model(self, parameters: Mapping[str, Value]) -> bl.Model:
        """The model of the file, with other parameters.

        Raises:
            FileError: The file has mistakes.
            ModelError: There is no such parameter, or no such mechanism.
        """
        return ModelSource(self._first).model(parameters)

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
