"""Equations of groups assembled from kernels of shapes of rows, which all groups share.

The rows of a joint, or of a body, are a block.  Blocks that are the same up to the names of their
symbols have one shape, and one set of kernels: in natural coordinates these come out as the
primitives of the source (distance of two points, length of a vector, dot product …), in
reference-point coordinates as one for each kind of joint.  Tables say which unknowns, known numbers
and parameters each block has.  A whole mechanism of hundreds of bodies is thus derived joint by
joint, and compiled in a dozen small kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np

from biela.atoms import Atom
from biela.atoms.substitute import transplant
from biela.code import Function
from biela.equations.blocks.populations import Floats
from biela.equations.groups.assembled_shapes import Shape, Shapes
from biela.equations.groups.entries import (
    Blocks,
    RunTimeKernel,
    Symbols,
    item_functions,
    row_functions,
)
from biela.equations.groups.kernel import Convective, GroupEquations
from biela.equations.groups.wanted import Wanted, component_atoms
from biela.equations.symbolic import SymbolicSystem

__all__ = ["assembled_kernel"]


def assembled_kernel(
    equations: GroupEquations, wanted: Sequence[Wanted], solver: Literal["dense", "sparse"]
) -> RunTimeKernel:
    """The equations of a kind in blocks of rows with shared kernels."""
    return _Assembler(equations, wanted).kernel(solver)


class _Assembler:
    def __init__(self, equations: GroupEquations, wanted: Sequence[Wanted]) -> None:
        derivation = equations.derivation
        self.equations, self.wanted, self.derivation = equations, wanted, derivation
        self.known = equations.depends_on(wanted)
        self.x = {u.symbol.ref: k for k, u in enumerate(derivation.unknowns)}
        self.h = {k.symbol.ref: n for n, k in enumerate(self.known)}
        self.p = {c.symbol.ref: c for c in derivation.columns}
        kinds = {ref: "x" for ref in self.x}
        kinds |= {ref: "h" for ref in self.h}
        kinds |= {ref: "p" for ref in self.p}
        self.shapes = Shapes(derivation.workspace.table, kinds)
        self.pattern: list[tuple[int, int]] = []

    def kernel(self, solver: Literal["dense", "sparse"]) -> RunTimeKernel:
        """All blocks."""
        equations = self.equations
        named = list(enumerate(equations.tested_labels))
        blocks = [[k for k, _ in rows] for _, rows in groupby(named, lambda row: _owner(row[1]))]
        row_blocks = self._gathered(
            [(rows, [equations.tested[k] for k in rows]) for rows in blocks], rows=True
        )
        items, first = [], 0
        for w in self.wanted:
            atoms = component_atoms(self.derivation, w)
            items.append((list(range(first, first + len(atoms))), atoms))
            first += len(atoms)
        item_blocks = self._gathered(items, rows=False)
        return RunTimeKernel(
            solver,
            "assembled",
            row_blocks,
            item_blocks,
            tuple(self.derivation.unknowns),
            self.known,
            tuple(self.derivation.columns),
            tuple(self.wanted),
            tuple(equations.tested_labels),
            np.array(self.pattern, dtype=np.int64).reshape(-1, 2).T.copy(),
        )

    def _gathered(
        self, blocks: Sequence[tuple[list[int], Sequence[Atom]]], rows: bool
    ) -> tuple[Blocks, ...]:
        """Blocks by shape."""
        found: dict[Shape, list[tuple[list[int], Shape]]] = {}
        for numbers, expressions in blocks:
            shape = self.shapes.of(expressions)
            found.setdefault(shape, []).append((numbers, shape))
        return tuple(self._blocks(shape, members, rows) for shape, members in found.items())

    def _blocks(
        self, shape: Shape, members: Sequence[tuple[list[int], Shape]], rows: bool
    ) -> Blocks:
        kinds = self.shapes.kinds
        if rows:
            functions, pattern = _row_kernels(shape, _kinds(shape, kinds), self._convective)
        else:
            functions, pattern = _item_kernels(shape, _kinds(shape, kinds))
        x, h, p, entries = [], [], [], []
        count = self.derivation.cast.count
        for numbers, member in members:
            refs = [s.ref for s in member.symbols]
            mine = [self.x[ref] for ref in refs if ref in self.x]
            x.append(mine)
            h.append([self.h[ref] for ref in refs if ref in self.h])
            p.append([self.p[ref].values for ref in refs if ref in self.p])
            entries.append(list(range(len(self.pattern), len(self.pattern) + len(pattern))))
            self.pattern += [(numbers[i], mine[j]) for i, j in pattern]
        parameters: Floats = np.array(p, dtype=float).reshape(len(members), -1, count)
        return Blocks(
            functions,
            np.array(x, dtype=np.int64).reshape(len(members), -1),
            np.array(h, dtype=np.int64).reshape(len(members), -1),
            np.ascontiguousarray(np.moveaxis(parameters, 2, 0)),
            np.array([numbers for numbers, _ in members], dtype=np.int64),
            np.array(entries, dtype=np.int64).reshape(len(members), -1),
        )

    @property
    def _convective(self) -> Convective:
        return self.equations.convective


def _owner(label: str) -> str:
    """The joint or body that a row belongs to."""
    return label.rpartition(".")[0] or label


def _kinds(shape: Shape, kinds: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(kinds[s.ref] for s in shape.symbols)


#: Kernels of the shapes met so far, for all groups of all models.
_known: dict[tuple[Any, ...], tuple[dict[str, Function], tuple[tuple[int, int], ...]]] = {}


def _row_kernels(
    shape: Shape, kinds: tuple[str, ...], convective: Convective
) -> tuple[dict[str, Function], tuple[tuple[int, int], ...]]:
    """Kernels of a shape of rows, and where its entries stand."""
    key = (shape.text, kinds, convective)
    if key not in _known:
        symbols, Phi = _copied(shape, kinds)
        functions, pattern = row_functions("rows", symbols, Phi, convective)
        _known[key] = functions, tuple(pattern)
    return _known[key]


def _item_kernels(
    shape: Shape, kinds: tuple[str, ...]
) -> tuple[dict[str, Function], tuple[tuple[int, int], ...]]:
    """The kernel of a shape of items."""
    key = (shape.text, kinds)
    if key not in _known:
        _known[key] = item_functions("items", *_copied(shape, kinds)), ()
    return _known[key]


def _copied(shape: Shape, kinds: tuple[str, ...]) -> tuple[Symbols, list[Atom]]:
    """The expressions of a shape in a workspace of their own."""
    system = SymbolicSystem("shape")
    own: dict[str, list[Atom]] = {"x": [], "h": [], "p": []}
    mapping: dict[int, int] = {}
    for symbol, kind in zip(shape.symbols, kinds, strict=True):
        name = f"{kind}{len(own[kind])}"
        make: Any = system.parameters if kind == "p" else system.coordinates
        (copy,) = make([name])
        own[kind].append(copy)
        mapping[symbol.ref] = copy.ref
    source = shape.expressions[0].table
    target = system.workspace.table
    refs = transplant(source, [e.ref for e in shape.expressions], target, mapping)
    symbols = Symbols(system.space, own["x"], own["h"], own["p"])
    return symbols, [Atom(target, ref) for ref in refs]
