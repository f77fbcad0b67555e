"""The contract of sensors: what is measured."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import Element


@dataclass(frozen=True, kw_only=True)
class Sensor(Element):
    """A quantity, or a few, that become outputs of the system."""

    category: ClassVar[str] = "sensor"

    @property
    def needs_reactions(self) -> tuple[str, ...]:
        """The joints whose reactions it measures."""
        return ()

    @abstractmethod
    def read(self, derivation: Derivation) -> None:
        """Say what is measured, by `Derivation.measure`."""
