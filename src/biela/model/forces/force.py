"""The contract of forces: what pushes, pulls and brakes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import Element


@dataclass(frozen=True, kw_only=True)
class Force(Element):
    """A force element between two markers, or along the coordinate of a joint."""

    category: ClassVar[str] = "force"

    @abstractmethod
    def act(self, derivation: Derivation) -> None:
        """Say what acts on which marker, or along which speed, and what energy is stored."""

    @property
    def needs_reactions(self) -> tuple[str, ...]:
        """The joints whose reactions it depends on (friction under load)."""
        return ()
