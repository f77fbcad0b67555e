"""A layout in the making: its points, vectors and relative coordinates.

The first part of `Layout`; constraints, forces and bodies follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from biela.atoms import Atom, Workspace, evaluate
from biela.equations.mechanism.placement import identifier
from biela.equations.natural.entities import (
    Entity,
    NaturalPoint,
    NaturalVector,
    RelativeCoordinate,
)
from biela.equations.natural.kinds import Instance
from biela.equations.natural.linear_masses import NaturalSystem
from biela.errors import ModelError

#: The axes of a plane and its normal.
PLANES = {"": "xyz", "xy": "xyz", "xz": "xzy", "yz": "yzx"}

#: What is shorter than this has no direction.
NO_LENGTH: Final = 1e-12

Made = TypeVar("Made", bound=Entity)


class Drafting:
    """Points, vectors and relative coordinates."""

    def __init__(self, name: str, plane: str = "", source: NaturalSystem | None = None) -> None:
        if plane not in PLANES:
            raise ModelError(f"{name}: {plane!r} is not a plane; use xy, xz, yz, or none")
        self.name, self.plane = name, plane
        #: The symbolic system that it is written in: add outputs, events and forces of your own.
        self.source = NaturalSystem(name) if source is None else source
        self.entities: dict[str, Entity] = {}
        self.instances: list[Instance] = []
        #: Names of the coordinates as people know them, by those of their symbols.
        self.names: dict[str, str] = {}
        self._written: set[tuple[object, ...]] = set()
        self._owners: set[str] = set()

    @property
    def dimension(self) -> int:
        """Components of a point."""
        return 2 if self.plane else 3

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""
        return self.source.workspace

    # ------------------------------------------------------------------------ entities

    def point(
        self, name: str, position: Sequence[Atom | float], fixed: bool | str = False
    ) -> NaturalPoint:
        """A point: where it starts, and whether it, or which of its components, are fixed.

        In the plane its two components are those along the axes of the plane.
        """
        return self._vectorial(NaturalPoint, name, position, fixed, "m")

    def vector(
        self, name: str, direction: Sequence[Atom | float], fixed: bool | str = False
    ) -> NaturalVector:
        """A vector, in general of unit length; its length is that at the start.

        Raises:
            ModelError: It is zero.
        """
        if len(direction) and all(
            abs(self.value(self.workspace.atom(x))) < NO_LENGTH for x in direction
        ):
            raise ModelError(f"{self.name}: vector {name} is zero, and has no direction")
        return self._vectorial(NaturalVector, name, direction, fixed, "")

    def component(self, entity: Entity, axis: str) -> int:
        """The number of a component by its axis; 0 of a relative coordinate.

        Raises:
            ModelError: It has no such component.
        """
        axes = PLANES[self.plane][: self.dimension]
        if isinstance(entity, RelativeCoordinate):
            return 0
        if len(axis) != 1 or axis not in axes:
            raise ModelError(
                f"{self.name}: {entity.name} has the components {', '.join(axes)}, not {axis!r}"
            )
        return axes.index(axis)

    def relative(
        self, name: str, value: float, unit: str = "rad", fixed: bool = False
    ) -> RelativeCoordinate:
        """An angle ("rad") or distance ("m") that starts at a value, or is fixed at it."""
        self._check_name(name)
        (made,) = self._components(name, [""], [value], [fixed], unit, inertia=False)
        entity = RelativeCoordinate(name, (made,), (self.value(made, value),))
        self.entities[name] = entity
        return entity

    def _vectorial(
        self,
        cls: type[Made],
        name: str,
        given: Sequence[Atom | float],
        fixed: bool | str,
        unit: str,
    ) -> Made:
        self._check_name(name)
        if len(given) != self.dimension:
            raise ModelError(
                f"{self.name}: {name} has {len(given)} components, and {self.dimension} are needed"
            )
        axes = PLANES[self.plane][: self.dimension]
        held = [fixed if isinstance(fixed, bool) else axis in fixed for axis in axes]
        made = self._components(name, list(axes), given, held, unit)
        start = tuple(self.value(x, value) for x, value in zip(made, given, strict=True))
        entity = cls(name, tuple(made), start)
        self.entities[name] = entity
        return entity

    def _components(
        self,
        name: str,
        axes: Sequence[str],
        given: Sequence[Atom | float],
        fixed: Sequence[bool],
        unit: str,
        inertia: bool = True,
    ) -> list[Atom]:
        found = []
        for axis, value, held in zip(axes, given, fixed, strict=True):
            if held:
                found.append(self.workspace.atom(value))
                continue
            full = f"{name}.{axis}" if axis else name
            symbol = self._free(identifier(full))
            (q,) = self.source.coordinates([symbol], inertia=inertia)
            self.names[symbol], self.names[q.velocity.name] = full, f"{full}_rate"
            self.source.units[symbol] = unit
            self.source.start({q: self.value(self.workspace.atom(value))})
            found.append(q)
        return found

    def _free(self, symbol: str) -> str:
        """A name for a symbol that nobody has used."""
        found, k = symbol, 1
        while found in self.workspace or found == self.source.time.name:
            k += 1
            found = f"{symbol}_{k}"
        return found

    def value(self, expression: Atom, start: Atom | float | None = None) -> float:
        """The number of an expression of the parameters."""
        atom = self.workspace.atom(expression if start is None else start)
        if atom.value is not None:
            return float(atom.value)
        return float(evaluate(atom, dict(self.source.parameter_values)))

    def _check_name(self, name: str) -> None:
        if name in self.entities:
            raise ModelError(f"{self.name}: two things are called {name}")

    def write_once(self, *key: object) -> bool:
        """Whether something is asked for the first time: equations are written once."""
        if key in self._written:
            return False
        self._written.add(key)
        return True
