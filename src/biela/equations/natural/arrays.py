"""Arrays of parts in natural coordinates: a few instances are derived, and the rest follows them.

A prototype that is repeated along a chain, each instance on the one before, has the same equations
in every instance but the first and the last ones: those of instance k are those of instance k - 1
with all coordinates and parameters one instance further.  Seven instances are written out and laid
out in natural coordinates, points shared at the links among them.  The first two and the last two
stand for themselves; the one in the middle is the kernel of all others, after it has been compared
with its neighbours at random values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from biela.atoms import Atom, evaluate
from biela.code import Function
from biela.equations.blocks.block import Block, Integers
from biela.equations.elements import derive_elements
from biela.equations.natural.array_start import array_start
from biela.equations.natural.instance_names import InstanceNames
from biela.equations.natural.linear_masses import NaturalSystem
from biela.equations.natural.natural_blocks import NaturalBlocks
from biela.equations.natural.placed import NaturalDerivation, placed
from biela.equations.virtual_power import FOR_FORCES
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Coupling, Joint
from biela.model.parts.part import Part, plain_parameters

#: So many instances are written out; so many at each end stand for themselves.
WRITTEN_OUT: Final = 7
ENDS: Final = 2
_MIDDLE: Final = 3


def array_blocks(model: Model) -> NaturalBlocks:
    """The equations of a model that is one long array of a part.

    Raises:
        ModelError: It has other bodies, inputs or velocity equations, or fewer instances than are
            written out, or its instances differ by more than their parameters.
    """
    return _Array(model).blocks()


class _Array:
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
        self.derivation = _derived(self.small.flattened())
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
        small.parameters = dict(self.model.parameters)
        small.parts[self.part.name] = replace(self.part, count=WRITTEN_OUT, parameters=rows)
        return small

    # ------------------------------------------------------------------- what there is

    @cached_property
    def _small_part(self) -> Part:
        return self.small.parts[self.part.name]

    @cached_property
    def parameter_cells(self) -> dict[str, tuple[int, str]]:
        """The instance and the name in the prototype of each parameter of an instance."""
        plain = list(plain_parameters(self.part.model))
        return {
            name: (cell, own)
            for cell in range(WRITTEN_OUT)
            for name, own in zip(self._small_part.parameter_values(cell), plain, strict=True)
        }

    def cell(self, name: str) -> tuple[int, str]:
        """The instance of a name, and the name with instances counted from that one.

        Raises:
            ModelError: It is not of an instance.
        """
        pattern = re.compile(rf"(?<={re.escape(self.part.name)})\[(\d+)\]")
        found = pattern.search(name)
        if found is None:
            raise ModelError(f"{self.model.name}: {name} is of no instance of {self.part.name}")
        own = int(found[1])
        return own, pattern.sub(lambda other: f"[{int(other[1]) - own:+d}]", name)

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

    def _of_cell(self, entries: Sequence[tuple[int, str]], cell: int) -> list[int]:
        return [k for k, (own, _) in enumerate(entries) if own == cell]

    def _first(self, entries: Sequence[tuple[int, str]]) -> Integers:
        """The first number of each instance of the whole."""
        sizes = np.full(self.count, len(self._of_cell(entries, _MIDDLE)))
        for k in range(ENDS):
            sizes[k] = len(self._of_cell(entries, k))
            sizes[self.count - 1 - k] = len(self._of_cell(entries, WRITTEN_OUT - 1 - k))
        return np.concatenate([[0], np.cumsum(sizes)])

    def _groups(self) -> list[tuple[int, Integers]]:
        """Each written-out instance that stands for some, and for which ones."""
        last = self.count - WRITTEN_OUT
        ends = [(k, np.array([k])) for k in range(ENDS)]
        middle = (_MIDDLE, np.arange(ENDS, self.count - ENDS))
        tail = [(k, np.array([last + k])) for k in range(WRITTEN_OUT - ENDS, WRITTEN_OUT)]
        return [*ends, middle, *tail]

    # --------------------------------------------------------------------- what it makes

    def blocks(self) -> NaturalBlocks:
        """All of it."""
        levels = self.source.constraints()
        M, Q = self.source.mass_and_forces(FOR_FORCES[0])
        self._compare(levels, Q, M)
        column0, row0 = self._first(self.columns), self._first(self.rows)
        made: list[Block] = []
        indices: list[Integers] = []
        masses: list[tuple[Any, Any, Any]] = []
        entries = 0
        for cell, instances in self._groups():
            own, mine = self._of_cell(self.rows, cell), self._of_cell(self.columns, cell)
            places = [(i, j) for i in own for j, e in enumerate(levels.Phi_q[i]) if e.ref]
            row_of = {i: k for k, i in enumerate(own)}
            outputs = {
                "Phi": ([levels.Phi[i] for i in own], row0[instances]),
                "beta": ([levels.beta[i] for i in own], row0[instances]),
                "gamma": ([levels.gamma[i] for i in own], row0[instances]),
                "Q": ([Q[j] for j in mine], column0[instances]),
                "Phi_q": (
                    [levels.Phi_q[i][j] for i, j in places],
                    entries + len(places) * np.arange(len(instances)),
                ),
            }
            for what, (expressions, first) in outputs.items():
                if any(e.ref for e in expressions):
                    made.append(self._block(what, expressions, cell, instances, first, column0))
            entries += len(places) * len(instances)
            at_row = [row0[instances] + row_of[i] for i, _ in places]
            at_column = [self._column(j, cell, instances, column0) for _, j in places]
            indices.append(np.stack([np.stack(at_row, 1).ravel(), np.stack(at_column, 1).ravel()]))
            for j in mine:
                for k, entry in enumerate(M[j]):
                    if entry.ref:
                        value = evaluate(entry, self._parameters([entry], cell, instances))
                        masses.append(
                            (
                                self._column(j, cell, instances, column0),
                                self._column(k, cell, instances, column0),
                                np.broadcast_to(np.asarray(value, dtype=float), len(instances)),
                            )
                        )
        columns, rows = self._names(self.columns), self._names(self.rows)
        relative = {
            name
            for name in (self.derivation.names[q.name] for q in self.source.q)
            if name not in self._natural
        }
        return NaturalBlocks(
            self.model.name,
            columns,
            rows,
            array_start(self.model, self.part, self.derivation, self._start_groups(column0)),
            tuple(made),
            np.concatenate(indices, axis=1),
            tuple(np.concatenate([m[n] for m in masses]) for n in range(3)),  # type: ignore[arg-type]
            np.zeros(len(columns)),
            frozenset(
                int(k)
                for cell, instances in self._groups()
                for j in self._of_cell(self.columns, cell)
                if self.derivation.names[self.source.q[j].name] in relative
                for k in self._column(j, cell, instances, column0)
            ),
            frozenset(),
        )

    @cached_property
    def _natural(self) -> set[str]:
        """Names of the coordinates that are components of points and vectors."""
        return set(self.derivation.layout.names.values())

    def _start_groups(self, column0: Integers) -> list[tuple[str, int, Integers, Integers]]:
        """For each coordinate: its name, its instance written out, all of them, their columns."""
        return [
            (
                self.derivation.names[self.source.q[j].name],
                cell,
                instances,
                self._column(j, cell, instances, column0),
            )
            for cell, instances in self._groups()
            for j in self._of_cell(self.columns, cell)
        ]

    def _column(self, j: int, cell: int, instances: Integers, column0: Integers) -> Integers:
        """The columns of a coordinate that is written out, seen from instances like ``cell``."""
        own, _ = self.columns[j]
        there = instances + (own - cell)
        local = self._of_cell(self.columns, own).index(j)
        return np.asarray(column0[there] + local)

    def _block(
        self,
        what: str,
        expressions: Sequence[Atom],
        cell: int,
        instances: Integers,
        first: Integers,
        column0: Integers,
    ) -> Block:
        source = self.source
        table = source.workspace.table
        live = set(table.live(e.ref for e in expressions))
        x = [j for j, q in enumerate(source.q) if q.ref in live]
        v = [j for j, q in enumerate(source.v) if q.ref in live]
        p = [symbol for symbol in source.parameter_values if symbol.ref in live]
        arrays: dict[str, Any] = {"t": [source.time]}
        gather: dict[str, tuple[str, Integers]] = {
            "t": ("t", np.zeros(len(instances), dtype=np.int64))
        }
        for name, vector, numbers, symbols in (("x", "q", x, source.q), ("v", "v", v, source.v)):
            if numbers:
                arrays[name] = [symbols[j] for j in numbers]
                found = [self._column(j, cell, instances, column0) for j in numbers]
                gather[name] = vector, np.stack(found, axis=1)
        rows = np.zeros((len(instances), 0))
        if p:
            arrays["p"] = p
            values = self._values(p, cell, instances)
            rows = np.stack([np.broadcast_to(x, len(instances)) for x in values], axis=1)
        kernel = Function(f"cell_{what}", arrays, {what: list(expressions)})
        return Block(f"{self.part.name} {what}", kernel, rows, gather, {what: (what, first)})

    def _values(self, symbols: Sequence[Atom], cell: int, instances: Integers) -> list[Any]:
        """The values of parameters for instances like ``cell``: numbers, or rows."""
        found: list[Any] = []
        for symbol in symbols:
            if symbol.name not in self.parameter_cells:
                found.append(self.model.parameters[symbol.name])
                continue
            own, name = self.parameter_cells[symbol.name]
            given = self.part.parameters.get(name)
            if isinstance(given, np.ndarray):
                found.append(given[instances + (own - cell)].astype(float))
            else:
                found.append(float(self.source.parameter_values[symbol]))
        return found

    def _parameters(
        self, expressions: Sequence[Atom], cell: int, instances: Integers
    ) -> dict[Atom, Any]:
        live = set(self.source.workspace.table.live(e.ref for e in expressions))
        symbols = [s for s in self.source.parameter_values if s.ref in live]
        return dict(zip(symbols, self._values(symbols, cell, instances), strict=True))

    def _names(self, entries: Sequence[tuple[int, str]]) -> InstanceNames:
        return InstanceNames(
            [
                (int(instances[0]), len(instances), [entries[k][1] for k in own])
                for cell, instances in self._groups()
                if (own := self._of_cell(entries, cell))
            ]
        )

    # ------------------------------------------------------------------------ comparison

    def _compare(self, levels: Any, Q: Sequence[Atom], M: Sequence[Sequence[Atom]]) -> None:
        """Refuse instances that are not the same: their equations at random values differ."""
        random = np.random.default_rng(0)
        draws: dict[tuple[str, int, str], float] = {}

        def drawn(what: str, cell: int, rest: str) -> float:
            return draws.setdefault((what, cell, rest), float(random.uniform(0.5, 1.5)))

        def values(shift: int) -> dict[Atom, float]:
            at: dict[Atom, float] = {self.source.time: 0.3}
            for (cell, rest), q in zip(self.columns, self.source.q, strict=True):
                at[q] = drawn("q", cell - shift, rest)
                at[q.velocity] = drawn("v", cell - shift, rest)
            for symbol in self.source.parameter_values:
                own, name = self.parameter_cells.get(symbol.name, (shift, symbol.name))
                at[symbol] = drawn("p", own - shift, name)
            return at

        found = []
        for cell in range(ENDS, WRITTEN_OUT - ENDS):
            own, mine = self._of_cell(self.rows, cell), self._of_cell(self.columns, cell)
            names = [self.rows[i][1] for i in own] + [self.columns[j][1] for j in mine]
            at = values(cell - _MIDDLE)
            expressions = [levels.Phi[i] for i in own] + [levels.gamma[i] for i in own]
            expressions += [Q[j] for j in mine] + [M[j][j] for j in mine]
            found.append((names, np.array(evaluate(expressions, at))))
        for names, numbers in found:
            same = names == found[0][0] and np.allclose(numbers, found[0][1], 1e-9, 1e-9)
            if not same:
                raise ModelError(
                    f"{self.model.name}: the instances of {self.part.name} differ by more than "
                    f"their parameters (places in the ground, for instance); write them out: "
                    f"formulate(model, 'natural')"
                )


def _derived(model: Model) -> NaturalDerivation:
    """The equations of a written-out model, as `biela.equations.formulate` derives them."""
    derivation = placed(model)
    for joint in model.joints.values():
        if isinstance(joint, Coupling):
            derivation.hold_coupling(joint)
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            for name in joint.limits:
                derivation.as_coordinate(f"{joint.name}.{name}")
    derive_elements(derivation)
    return derivation


__all__ = ["WRITTEN_OUT", "array_blocks"]
