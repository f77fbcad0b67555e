"""Springs and friction along the coordinates of joints: forces that only need q and v."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.forces.actuator import Actuator
from biela.model.laws.law import Law
from biela.model.quantities.values import Value

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


class CoordinateForces:
    """What the forces of a model push along each velocity, and the energy they store.

    Actuators are left out: the joint forces τ stand in their place.  A force between markers, or
    one that depends on time or on reactions, is refused.
    """

    def __init__(self, tree: SpatialTree) -> None:
        self._tree = tree
        self.workspace = tree.workspace
        zero = self.workspace.atom(0)
        self.pushed: list[Atom] = [zero] * len(tree.v)
        self.stored: Atom = zero
        self._numbers = {v.ref: k for k, v in enumerate(tree.v)}
        for force in tree.model.forces.values():
            if isinstance(force, Actuator):
                continue
            self._force = force
            force.act(self)

    # ------------------------------------------------- what elements ask for and say

    def number(self, value: Value, dimension: str) -> Atom:
        """A value as an expression."""
        return self.workspace.atom(self._tree.number(value, dimension))

    def unit(self, name: str) -> str:
        """The unit of a coordinate."""
        joint, _, part = self._full(name).rpartition(".")
        found = self._tree.model.joints[joint]
        return str(next(c.unit for c in found.coordinates if c.name == part))  # type: ignore[attr-defined]

    def coordinate(self, name: str) -> Atom:
        """A coordinate of a joint."""
        return self._tree.q[self._tree.scalars[self._full(name)][0]]

    def speed(self, name: str) -> Atom:
        """Its rate."""
        return self._tree.v[self._tree.velocity_number(name)]

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a velocity."""
        if rate.ref not in self._numbers:
            self._refuse()
        k = self._numbers[rate.ref]
        self.pushed[k] = self.pushed[k] + force

    def store(self, energy: Atom) -> None:
        """Energy of a spring."""
        self.stored = self.stored + energy

    def law(self, law: Law, dimension: str) -> Atom:
        """Laws of time are refused."""
        del law, dimension
        self._refuse()

    def watch(self, name: str, expression: Atom) -> None:
        """Events are of no interest here."""
        del name, expression

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _full(self, name: str) -> str:
        k = self._tree.velocity_number(name)
        return next(full for full, (_, j) in self._tree.scalars.items() if j == k)

    def _refuse(self) -> NoReturn:
        force = self._force
        raise ModelError(
            f"{self._tree.model.name}: force {force.name} ({force.kind}) is not a spring or "
            f"friction along a joint coordinate; give it as an external wrench on a frame, or use "
            f"formulate(model)"
        )
