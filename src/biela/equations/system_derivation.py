"""What derivations on a symbolic system have in common: where their symbols, points and time are.

The base of implementations of `biela.model.derivation.Derivation`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from biela.atoms import Atom, Workspace
from biela.equations.symbolic import SymbolicSystem
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.values import Value
from biela.space import Space

__all__ = ["SystemDerivation"]


class SystemDerivation(ABC):
    """Equations in the making on a symbolic system."""

    def __init__(self, system: SymbolicSystem) -> None:
        self.system = system

    @property
    def space(self) -> Space:
        """Where points and bases live."""
        return self.system.space

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""
        return self.system.workspace

    @property
    def time(self) -> Atom:
        """The time."""
        return self.system.time

    @abstractmethod
    def number(self, value: Value, dimension: str) -> Atom:
        """A value: a constant, or an expression of parameters."""

    @abstractmethod
    def place(self, marker: Marker) -> Place:
        """A marker: its point and its base."""

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers."""
        return Pair(self.place(i), self.place(j), self.number)
