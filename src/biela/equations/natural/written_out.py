"""The few instances of an array that are written out, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.block import Integers
from biela.equations.blocks.world import World
from biela.equations.elements import derive_elements
from biela.equations.mechanism.placement import identifier
from biela.equations.natural.entities import Floats
from biela.equations.natural.instance_names import InstanceNames
from biela.equations.natural.linear_masses import NaturalSystem
from biela.equations.natural.placed import NaturalDerivation, lay_out
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Coupling, Joint
from biela.model.markers import Marker
from biela.model.parts.part import Part

#: So many instances are written out; so many at each end stand for themselves.
WRITTEN_OUT: Final = 7
ENDS: Final = 2
MIDDLE: Final = 3
#: Equations of an instance contain coordinates of those so near to it.
_NEAR: Final = 2


class WrittenOut:
    """An array of a part, by some of its instances.

    Raises:
        ModelError: It cannot be; see `biela.equations.natural.arrays.array_blocks`.
    """

    def __init__(self, model: Model) -> None:
        parts = [part for part in model.parts.values() if part.count is not None]
        if len(parts) != 1 or len(model.parts) != 1 or model.bodies or model.joints:
            raise ModelError(
                f"{model.name}: arrays of natural coordinates are of one part with a count, and of "
                f"nothing else; use formulate(model, 'natural')"
            )
        self.model, (self.part,) = model, parts
        self.count = self.part.size
        if self.count < WRITTEN_OUT:
            raise ModelError(
                f"{model.name}: {self.count} instances are written out: formulate(model, 'natural')"
            )
        self.small = self._small()
        self.derivation = InArray(self.small.flattened(), self.part.name)
        derived(self.derivation)
        source = self.derivation.system
        assert isinstance(source, NaturalSystem)
        self.source = source
        if self.derivation.input_units or any(not c.geometric for c in source.constraint_list):
            raise ModelError(
                f"{model.name}: arrays have no inputs and no velocity equations in natural "
                f"coordinates yet; use formulate(model, 'natural')"
            )

    def _small(self) -> Model:
        kept = [*range(WRITTEN_OUT - ENDS), *range(self.count - ENDS, self.count)]
        rows = {
            name: np.asarray(value)[kept] if isinstance(value, np.ndarray) else value
            for name, value in self.part.parameters.items()
        }
        small = type(self.model)(
            self.model.name, gravity=self.model.gravity, plane=self.model.plane
        )
        small.parameters = self.model.parameters.copy()
        small.parts[self.part.name] = replace(
            self.part, count=WRITTEN_OUT, parameters=rows, texts={}
        )
        return small

    # ------------------------------------------------------------------- what there is

    @cached_property
    def _small_part(self) -> Part:
        return self.small.parts[self.part.name]

    @cached_property
    def parameter_cells(self) -> dict[str, tuple[int, str]]:
        """Instance, and name in the prototype, of each parameter that differs between instances."""
        differing = [n for n, v in self.part.parameters.items() if isinstance(v, np.ndarray)]
        return {
            self._small_part.parameter_names(cell)[name]: (cell, name)
            for cell in range(WRITTEN_OUT)
            for name in differing
        }

    @cached_property
    def world(self) -> World:
        """All bodies of the whole array."""
        return World(self.model)

    def _ground(self, marker: str) -> Floats:
        """Where a marker on the ground of the prototype is, for each instance (n, 3)."""
        population = self.world.parts[self.part.name]
        return population.frames(population.prototype.ground.markers[marker]).place

    def cell(self, name: str) -> tuple[int, str]:
        """The instance of a name, and the name with instances near it counted from it.

        Raises:
            ModelError: It is not of an instance.
        """
        pattern = re.compile(rf"(?<={re.escape(self.part.name)})\[(\d+)\]")
        found = pattern.search(name)
        if found is None:
            raise ModelError(f"{self.model.name}: {name} is of no instance of {self.part.name}")
        own = int(found[1])

        def counted(other: re.Match[str]) -> str:
            gap = int(other[1]) - own
            return f"[{gap:+d}]" if abs(gap) <= _NEAR else other[0]

        return own, pattern.sub(counted, name)

    @cached_property
    def columns(self) -> list[tuple[int, str]]:
        """Instance and name of each coordinate that is written out."""
        names = self.derivation.names
        return [self.cell(names[q.name]) for q in self.source.q]

    @cached_property
    def rows(self) -> list[tuple[int, str]]:
        """The same of each constraint."""
        names = self.derivation.names
        return [self.cell(names[c.name]) for c in self.source.constraint_list]

    def of_cell(self, entries: Sequence[tuple[int, str]], cell: int) -> list[int]:
        """The numbers of those that are of an instance written out."""
        return [k for k, (own, _) in enumerate(entries) if own == cell]

    def first(self, entries: Sequence[tuple[int, str]]) -> Integers:
        """The first number of each instance of the whole."""
        sizes = np.full(self.count, len(self.of_cell(entries, MIDDLE)))
        for k in range(ENDS):
            sizes[k] = len(self.of_cell(entries, k))
            sizes[self.count - 1 - k] = len(self.of_cell(entries, WRITTEN_OUT - 1 - k))
        return np.concatenate([[0], np.cumsum(sizes)])

    def groups(self) -> list[tuple[int, Integers]]:
        """Each written-out instance that stands for some, and for which ones."""
        last = self.count - WRITTEN_OUT
        ends = [(k, np.array([k])) for k in range(ENDS)]
        middle = (MIDDLE, np.arange(ENDS, self.count - ENDS))
        tail = [(k, np.array([last + k])) for k in range(WRITTEN_OUT - ENDS, WRITTEN_OUT)]
        return [*ends, middle, *tail]

    def column(self, j: int, cell: int, instances: Integers, column0: Integers) -> Integers:
        """The columns of a coordinate that is written out, seen from instances like ``cell``."""
        own, name = self.columns[j]
        if cell == MIDDLE and abs(own - cell) > _NEAR:
            raise ModelError(
                f"{self.model.name}: {name} is shared by all instances of {self.part.name}; write "
                f"them out: formulate(model, 'natural')"
            )
        there = instances + (own - cell)
        local = self.of_cell(self.columns, own).index(j)
        return np.asarray(column0[there] + local)

    def values(self, symbols: Sequence[Atom], cell: int, instances: Integers) -> list[Any]:
        """The values of parameters for instances like ``cell``: numbers, or rows."""
        found: list[Any] = []
        for symbol in symbols:
            if symbol.name in self.derivation.grounds:
                own, marker, axis = self.derivation.grounds[symbol.name]
                found.append(self._ground(marker)[instances + (own - cell), axis])
                continue
            if symbol.name not in self.parameter_cells:
                found.append(float(self.source.parameter_values[symbol]))
                continue
            own, name = self.parameter_cells[symbol.name]
            rows = np.asarray(self.part.parameters[name], dtype=float)
            found.append(rows[instances + (own - cell)])
        return found

    def parameters(
        self, expressions: Sequence[Atom], cell: int, instances: Integers
    ) -> dict[Atom, Any]:
        """The values of the parameters of expressions, for instances like ``cell``."""
        live = set(self.source.workspace.table.live(e.ref for e in expressions))
        symbols = [s for s in self.source.parameter_values if s.ref in live]
        return dict(zip(symbols, self.values(symbols, cell, instances), strict=True))

    def names(self, entries: Sequence[tuple[int, str]]) -> InstanceNames:
        """The names of all instances."""
        return InstanceNames(
            [
                (int(instances[0]), len(instances), [entries[k][1] for k in own])
                for cell, instances in self.groups()
                if (own := self.of_cell(entries, cell))
            ]
        )


class InArray(NaturalDerivation):
    """A derivation in which places in the ground of an instance are parameters of it."""

    def __init__(self, model: Model, part: str) -> None:
        self._of_instance = re.compile(rf"{re.escape(part)}\[(\d+)\]_(.+)")
        #: Instance, marker of the prototype and axis of each of these parameters, by name.
        self.grounds: dict[str, tuple[int, str, int]] = {}
        self._positions: dict[Marker, tuple[Atom, Atom, Atom]] = {}
        super().__init__(model)

    def position_of(self, marker: Marker) -> tuple[Atom, Atom, Atom]:
        """The place of a marker in the frame of its body."""
        found = self._of_instance.fullmatch(marker.name) if marker.body == GROUND else None
        if found is None:
            return super().position_of(marker)
        if marker not in self._positions:
            at = list(super().position_of(marker))
            for k, axis in enumerate("xyz"):
                if axis in (self.model.plane or "xyz"):
                    name = f"{identifier(marker.label)}_{axis}"
                    number = self.model.number(marker.position[k], "length")
                    (at[k],) = self.system.parameters(**{name: number})
                    self.grounds[name] = int(found[1]), found[2], k
            self._positions[marker] = at[0], at[1], at[2]
        return self._positions[marker]


def derived(derivation: NaturalDerivation) -> NaturalDerivation:
    """The equations of a written-out model, as `biela.equations.formulate` derives them.

    Without relative coordinates for what is given at the start: bodies are placed by it.
    """
    model = lay_out(derivation).model
    for joint in model.joints.values():
        if isinstance(joint, Coupling):
            derivation.hold_coupling(joint)
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            for name in joint.limits:
                derivation.as_coordinate(f"{joint.name}.{name}")
    derive_elements(derivation)
    return derivation
