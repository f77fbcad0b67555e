"""Springs and friction along the coordinates of joints: forces that only need q and v."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from biela.atoms import Atom, diff
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
        return self._tree.coordinates.value(self._full(name))[0]

    def speed(self, name: str) -> Atom:
        """Its rate."""
        value, k = self._tree.coordinates.value(self._full(name))
        return self._rate(value, k) * self._tree.v[k]

    def _rate(self, value: Atom, k: int) -> Atom:
        """By how much a coordinate changes with the one that leads it."""
        tree = self._tree
        return diff(value, next(tree.q[i] for i, j in tree.scalars.values() if j == k))

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a velocity."""
        moved = [ref for ref in self.workspace.table.live([rate.ref]) if ref in self._numbers]
        if len(moved) != 1:
            self._refuse()
        k = self._numbers[moved[0]]
        self.pushed[k] = self.pushed[k] + diff(rate, self._tree.v[k]) * force

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
        return self._tree.coordinate_name(name)

    def _refuse(self) -> NoReturn:
        force = self._force
        raise ModelError(
            f"{self._tree.model.name}: force {force.name} ({force.kind}) is not a spring or "
            f"friction along a joint coordinate; give it as an external wrench on a frame, or use "
            f"formulate(model)"
        )
