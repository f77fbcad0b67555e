"""Arrays of parts in natural coordinates: a few instances are derived, and the rest follows them.

A prototype that is repeated, along a chain, beside each other or joined to the next, has the same
equations in every instance but the first and the last ones: those of instance k are those of
instance k - 1 with all coordinates, parameters and places in the ground one instance further.
Seven instances are written out and laid out in natural coordinates, points shared at the links
among them.  The first two and the last two stand for themselves; the one in the middle is the
kernel of all others, after it has been compared with its neighbours at random values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from biela.atoms import Atom, evaluate
from biela.code import Function
from biela.equations.blocks.block import Block, Integers
from biela.equations.natural.array_start import array_start
from biela.equations.natural.natural_blocks import NaturalBlocks
from biela.equations.natural.written_out import ENDS, MIDDLE, WRITTEN_OUT, WrittenOut
from biela.equations.virtual_power import FOR_FORCES
from biela.errors import ModelError
from biela.model import Model


def array_blocks(model: Model) -> NaturalBlocks:
    """The equations of a model that is one long array of a part.

    Raises:
        ModelError: It has other bodies, inputs or velocity equations, or fewer instances than are
            written out, or its instances differ by more than their parameters.
    """
    return _Array(model).blocks()


class _Array(WrittenOut):
    """An array that is made into blocks."""

    def blocks(self) -> NaturalBlocks:
        """All of it."""
        levels = self.source.constraints()
        M, Q = self.source.mass_and_forces(FOR_FORCES[0])
        self._compare(levels, Q, M)
        column0, row0 = self.first(self.columns), self.first(self.rows)
        made: list[Block] = []
        indices: list[Integers] = []
        masses: list[tuple[Any, Any, Any]] = []
        entries = 0
        for cell, instances in self.groups():
            own, mine = self.of_cell(self.rows, cell), self.of_cell(self.columns, cell)
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
            at_column = [self.column(j, cell, instances, column0) for _, j in places]
            indices.append(np.stack([np.stack(at_row, 1).ravel(), np.stack(at_column, 1).ravel()]))
            for j in mine:
                for k, entry in enumerate(M[j]):
                    if entry.ref:
                        value = evaluate(entry, self.parameters([entry], cell, instances))
                        masses.append(
                            (
                                self.column(j, cell, instances, column0),
                                self.column(k, cell, instances, column0),
                                np.broadcast_to(np.asarray(value, dtype=float), len(instances)),
                            )
                        )
        columns, rows = self.names(self.columns), self.names(self.rows)
        relative = {
            name
            for name in (self.derivation.names[q.name] for q in self.source.q)
            if name not in self._natural
        }
        return NaturalBlocks(
            self.model.name,
            columns,
            rows,
            array_start(self.world, self.part, self.derivation, self._start_groups(column0)),
            tuple(made),
            np.concatenate(indices, axis=1),
            tuple(np.concatenate([m[n] for m in masses]) for n in range(3)),  # type: ignore[arg-type]
            np.zeros(len(columns)),
            frozenset(
                int(k)
                for cell, instances in self.groups()
                for j in self.of_cell(self.columns, cell)
                if self.derivation.names[self.source.q[j].name] in relative
                for k in self.column(j, cell, instances, column0)
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
                self.column(j, cell, instances, column0),
            )
            for cell, instances in self.groups()
            for j in self.of_cell(self.columns, cell)
        ]

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
                found = [self.column(j, cell, instances, column0) for j in numbers]
                gather[name] = vector, np.stack(found, axis=1)
        rows = np.zeros((len(instances), 0))
        if p:
            arrays["p"] = p
            values = self.values(p, cell, instances)
            rows = np.stack([np.broadcast_to(x, len(instances)) for x in values], axis=1)
        kernel = Function(f"cell_{what}", arrays, {what: list(expressions)})
        return Block(f"{self.part.name} {what}", kernel, rows, gather, {what: (what, first)})

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
                if symbol.name in self.derivation.grounds:
                    own, marker, axis = self.derivation.grounds[symbol.name]
                    name = f"{marker} {axis}"
                at[symbol] = drawn("p", own - shift, name)
            return at

        found = []
        for cell in range(ENDS, WRITTEN_OUT - ENDS):
            own, mine = self.of_cell(self.rows, cell), self.of_cell(self.columns, cell)
            known = [self.rows[i][1] for i in own] + [self.columns[j][1] for j in mine]
            names = [re.sub(r"\[[^]]*\]", "", name) for name in known]
            at = values(cell - MIDDLE)
            expressions = [levels.Phi[i] for i in own] + [levels.gamma[i] for i in own]
            expressions += [Q[j] for j in mine] + [_momentum(M[j], self.source.v) for j in mine]
            found.append((names, np.array(evaluate(expressions, at))))
        for names, numbers in found:
            same = names == found[0][0] and np.allclose(numbers, found[0][1], 1e-9, 1e-9)
            if not same:
                raise ModelError(
                    f"{self.model.name}: the instances of {self.part.name} differ by more than "
                    f"their parameters and places; write them out: formulate(model, 'natural')"
                )


def _momentum(row: Sequence[Atom], v: Sequence[Atom]) -> Atom:
    """A row of M times the velocities."""
    total = row[0] * v[0]
    for entry, rate in zip(row[1:], v[1:], strict=True):
        total = total + entry * rate
    return total


__all__ = ["array_blocks"]
