"""The contract of drivers: equations in which the time stands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import Element
from biela.model.joints.primitives import Row


@dataclass(frozen=True, kw_only=True)
class Driver(Element):
    """A motion that is imposed: each row removes a freedom."""

    category: ClassVar[str] = "driver"

    @property
    def removes(self) -> int:
        """How many freedoms it removes."""
        return 1

    @abstractmethod
    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """Its equations."""
