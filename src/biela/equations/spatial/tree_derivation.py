"""What elements of a model may ask a tree for while something is derived on it.

The part of `biela.model.derivation.Derivation` that is the same for rows of loops and for forces.
What one of them never has to answer is refused here, with the element that asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from biela.atoms import Atom, Workspace
from biela.errors import ModelError
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.quantities.values import Value
from biela.space import Vector

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


class TreeDerivation:
    """Numbers, laws and time of a tree; other questions are refused unless they are overridden."""

    def __init__(self, tree: SpatialTree) -> None:
        self._tree = tree

    @property
    def asking(self) -> str:
        """The element that is being derived, for messages."""
        return "an element"

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""
        return self._tree.workspace

    @property
    def time(self) -> Atom:
        """The time."""
        return self.workspace.time

    def number(self, value: Value, dimension: str) -> Atom:
        """A value as an expression."""
        return self.workspace.atom(self._tree.number(value, dimension))

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time."""
        return self._tree.law(law, dimension)

    # --------------------------------------------------------------------- what is refused

    def _refuse(self, what: str) -> NoReturn:
        raise ModelError(
            f"{self._tree.model.name}: {self.asking} {what}, which the recursions of a robot do "
            f"not offer; use formulate(model)"
        )

    def coordinate(self, name: str) -> Atom:
        """A coordinate of a joint."""
        self._refuse(f"asks for the coordinate {name}")

    def speed(self, name: str) -> Atom:
        """The rate of a coordinate."""
        self._refuse(f"asks for the rate of {name}")

    def reading(self, name: str) -> tuple[Atom, bool]:
        """A coordinate as it can be read."""
        self._refuse(f"reads {name}")

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate."""
        del target, rate
        self._refuse(f"drives {name}")

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """The force and moment of a joint."""
        self._refuse(f"depends on the reaction of joint {joint}")

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """A quantity given from outside."""
        del unit, value, dimension
        self._refuse(f"has the input {name}")

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force and a moment on a body."""
        del force, moment
        self._refuse(f"pushes at {marker.label}")

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed."""
        del rate, force
        self._refuse("pushes along a speed")

    def store(self, energy: Atom) -> None:
        """Potential energy."""
        del energy
        self._refuse("stores energy")

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """An output."""
        del value, unit, rate, turns
        self._refuse(f"measures {name}")

    def watch(self, name: str, expression: Atom) -> None:
        """An event."""
        del expression
        self._refuse(f"watches {name}")
