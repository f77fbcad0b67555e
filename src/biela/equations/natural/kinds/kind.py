"""The contract of the kinds of constraints between natural coordinates.

A kind is the structure of an equation: it holds no numbers and no entities, so that all instances
of one kind share one kernel.  Its rows are written once, on the components of its parts and on
parameters; derivatives and patterns follow from the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.natural.entities import Entity

#: The components of each part.
Parts: TypeAlias = Sequence[Sequence[Atom]]


@dataclass(frozen=True)
class Kind(ABC):
    """The structure of an equation; frozen and comparable, one kernel for all that are equal."""

    @abstractmethod
    def labels(self, dimension: int) -> tuple[str, ...]:
        """A name for each row, in the plane (2) or in space (3)."""

    @abstractmethod
    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """The expressions that are held at zero."""

    def side(self, x: Parts, p: Sequence[Atom], t: Atom) -> Atom | None:
        """Positive at the root that is meant; None where the rows have no other."""
        del x, p, t
        return None


@dataclass(frozen=True, eq=False)
class Instance:
    """A constraint of a layout.

    Attributes:
        kind: Its structure.
        parts: The entities that it ties together, each once.
        parameters: Its numbers, or expressions of the parameters of the layout.
        owner: Whose rows these are: "owner.label".
        closure: Whether it closes a loop: the hint CLO to the orderings.
    """

    kind: Kind
    parts: tuple[Entity, ...]
    parameters: tuple[Atom, ...]
    owner: str
    closure: bool = False
