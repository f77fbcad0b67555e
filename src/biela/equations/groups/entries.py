"""A group whose linear equations are solved at run time: what has to be evaluated for that.

The equations stand in blocks of rows.  Kernels of a block give, of its unknowns, known numbers and
parameters,

    position        Φ and the entries of Φ_φ
    velocity        -Φ_h h'
    acceleration    -(Φ_h h'' + c)
    items           what later groups read, with two rates

*Generated*: all equations of the kind are one block.  *Assembled*: blocks are those of single
joints and bodies, blocks of one shape share their kernels, and no code belongs to a kind of group
(the automatic way of the source, TPA; see `assembled`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from biela.atoms import Atom, jacobian, substitute
from biela.code import Function
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.elimination import worth_unrolling
from biela.equations.groups.kernel import Convective, GroupEquations
from biela.equations.groups.symbols import Column, Known, Unknown
from biela.equations.groups.wanted import Wanted, component_atoms
from biela.errors import ModelError
from biela.space import Space
from biela.spelling import nearest

__all__ = [
    "ASSEMBLIES",
    "LINEAR_SOLVERS",
    "SPARSE_FROM",
    "Assembly",
    "Blocks",
    "LinearSolver",
    "RunTimeKernel",
    "chosen_solver",
    "generated_kernel",
    "item_functions",
    "row_functions",
]

#: How the linear equations of a group are solved.
LinearSolver: TypeAlias = Literal["auto", "unrolled", "dense", "sparse"]
LINEAR_SOLVERS: Final[tuple[LinearSolver, ...]] = ("auto", "unrolled", "dense", "sparse")
#: One kernel for a kind, or kernels of shapes of rows for all kinds.
Assembly: TypeAlias = Literal["auto", "generated", "assembled"]
ASSEMBLIES: Final[tuple[Assembly, ...]] = ("auto", "generated", "assembled")

#: From so many unknowns on sparse factors are faster than dense ones.  The source says about 60 of
#: MA27 and LAPACK; here they meet at 16 to 24 (`benchmarks/groups/solver_threshold.py`): chains of
#: dyads at 16, spatial mechanisms of the gallery at 20 to 24, random nets of bars at 16.
SPARSE_FROM: Final = 24
#: With more entries a row than this in the mean, sparse factors fill and lose.
_FULL_ROWS: Final = 10
#: Larger groups are not looked at for being written out.
_UNROLLED_UP_TO: Final = 256
#: Groups with more unknowns are assembled: they run as fast, but to derive and compile a chain of
#: 123 unknowns as a whole takes ten seconds, and half a second joint by joint.
ASSEMBLED_FROM: Final = 60


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of rows, or items, that share their kernels.

    Attributes:
        functions: Kernels by phase.
        x: (blocks, n) numbers of the unknowns they depend on.
        h: (blocks, n) numbers of what is known.
        p: (instances, blocks, n) parameters.
        rows: (blocks, n) numbers of their equations, or of their items.
        entries: (blocks, n) numbers of their entries of Φ_φ.
    """

    functions: Mapping[str, Function]
    x: Integers
    h: Integers
    p: Floats
    rows: Integers
    entries: Integers = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    @property
    def count(self) -> int:
        """How many blocks there are in a group."""
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class RunTimeKernel:
    """The equations of a kind, for factorisations at run time.

    Attributes:
        solver: "dense" or "sparse".
        assembly: "generated" or "assembled".
        row_blocks: What the equations are evaluated by.
        item_blocks: What is read of the group.
        unknowns: What x is.
        known: What h is.
        wanted: What y is.
        rows: Names of the equations.
        pattern: (2, entries) rows and columns of the entries of Φ_φ.
    """

    solver: Literal["dense", "sparse"]
    assembly: Literal["generated", "assembled"]
    row_blocks: tuple[Blocks, ...]
    item_blocks: tuple[Blocks, ...]
    unknowns: tuple[Unknown, ...]
    known: tuple[Known, ...]
    columns: tuple[Column, ...]
    wanted: tuple[Wanted, ...]
    rows: tuple[str, ...]
    pattern: Integers

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All kernels."""
        blocks = (*self.row_blocks, *self.item_blocks)
        return tuple(f for block in blocks for f in block.functions.values())


def chosen_solver(equations: GroupEquations, asked: str) -> Literal["unrolled", "dense", "sparse"]:
    """How a kind is solved: as asked, or as its size suggests.

    Raises:
        ModelError: There is no such solver.
    """
    if asked not in LINEAR_SOLVERS:
        raise ModelError(
            f"groups have no {asked!r} solver{nearest(asked, LINEAR_SOLVERS)}; it is one of "
            f"{', '.join(LINEAR_SOLVERS)}"
        )
    m = len(equations.x)
    if not m:
        return "unrolled"
    if asked != "auto":
        return asked
    if m <= _UNROLLED_UP_TO and worth_unrolling(jacobian(equations.Phi, equations.x).rows):
        return "unrolled"
    return "sparse" if m >= SPARSE_FROM and _mean_entries(equations) <= _FULL_ROWS else "dense"


def _mean_entries(equations: GroupEquations) -> float:
    """How many unknowns an equation depends on, in the mean."""
    table = equations.derivation.workspace.table
    moving = {x.ref for x in equations.x}
    found = [len(moving.intersection(table.live([e.ref]))) for e in equations.Phi]
    return sum(found) / len(found)


# ----------------------------------------------------------------------------- kernels


@dataclass(frozen=True, eq=False)
class Symbols:
    """What expressions depend on: unknowns, known numbers and parameters, in a space."""

    space: Space
    x: Sequence[Atom]
    h: Sequence[Atom]
    p: Sequence[Atom]

    def inputs(self, rates: int, known_rates: int) -> dict[str, list[Atom]]:
        """The arrays of a kernel that needs so many rates."""
        found: dict[str, list[Atom]] = {}
        for name, symbols, count in (("x", self.x, rates), ("h", self.h, known_rates)):
            if symbols:
                for d in range(count + 1):
                    found["d" * d + name] = [_rate(s, d) for s in symbols]
        if self.p:
            found["p"] = list(self.p)
        return found

    def convective(self, rates: Sequence[Atom], values: Sequence[Atom], way: str) -> list[Atom]:
        """Second derivatives of values without accelerations, given their rates."""
        if way == "rate":
            return [self.space.bias_rate(rate) for rate in rates]
        q = [*self.x, *self.h]
        found = []
        for value, rate in zip(values, rates, strict=True):
            total = rate * 0
            for j, row in enumerate(jacobian(jacobian([value], q).rows[0], q).rows):
                inner = total * 0
                for k, entry in enumerate(row):
                    if entry.ref:
                        inner = inner + entry * q[k].velocity
                total = total + inner * q[j].velocity
            found.append(total)
        return found


def _rate(symbol: Atom, order: int) -> Atom:
    return (symbol, symbol.velocity, symbol.acceleration)[order] if order else symbol


def row_functions(
    name: str, symbols: Symbols, Phi: Sequence[Atom], convective: Convective
) -> tuple[dict[str, Function], list[tuple[int, int]]]:
    """Kernels of rows, and where their entries of Φ_φ stand."""
    J = jacobian(Phi, symbols.x).rows
    pattern = [(i, j) for i, row in enumerate(J) for j, entry in enumerate(row) if entry.ref]
    rates = [symbols.space.time_rate(e) for e in Phi]
    still: dict[Atom, Atom | float] = {x.velocity: 0.0 for x in symbols.x}
    moved = substitute(rates, still)
    accelerating: dict[Atom, Atom | float] = {h.velocity: h.acceleration for h in symbols.h}
    shifted = substitute(moved, accelerating) if accelerating else moved
    c = symbols.convective(rates, Phi, convective)
    right = [-(a + b) for a, b in zip(shifted, c, strict=True)]
    outputs: dict[str, list[Atom]] = {"Phi": list(Phi)}
    if pattern:
        outputs["J"] = [J[i][j] for i, j in pattern]
    functions = {
        "position": Function(f"{name}_position", symbols.inputs(0, 0), outputs),
        "velocity": Function(
            f"{name}_velocity", symbols.inputs(0, 1), {"right": [-e for e in moved]}
        ),
        "acceleration": Function(f"{name}_acceleration", symbols.inputs(1, 2), {"right": right}),
    }
    return functions, pattern


def item_functions(name: str, symbols: Symbols, y: Sequence[Atom]) -> dict[str, Function]:
    """The kernel of items with two rates."""
    dy = [symbols.space.time_rate(a) for a in y]
    bias = [symbols.space.bias_rate(a) for a in dy]
    accelerating: dict[Atom, Atom | float] = {
        s.velocity: s.acceleration for s in (*symbols.x, *symbols.h)
    }
    ddy = substitute(dy, accelerating) if accelerating else dy
    ddy = [a + b for a, b in zip(ddy, bias, strict=True)]
    outputs = {"y": list(y), "dy": dy, "ddy": ddy}
    return {"items": Function(f"{name}_items", symbols.inputs(2, 2), outputs)}


def generated_kernel(
    equations: GroupEquations,
    name: str,
    wanted: Sequence[Wanted],
    solver: Literal["dense", "sparse"],
) -> RunTimeKernel:
    """All equations of a kind as one block."""
    derivation = equations.derivation
    known = equations.depends_on(wanted)
    y = [a for w in wanted for a in component_atoms(derivation, w)]
    table = derivation.workspace.table
    live = set(table.live([a.ref for a in (*equations.tested, *y)]))
    columns = tuple(c for c in derivation.columns if c.symbol.ref in live)
    symbols = Symbols(
        derivation.space, equations.x, [k.symbol for k in known], [c.symbol for c in columns]
    )
    functions, pattern = row_functions(name, symbols, equations.tested, equations.convective)
    everything: dict[str, Any] = {
        "x": np.arange(len(symbols.x))[None],
        "h": np.arange(len(known))[None],
        "p": _parameters(columns, derivation.cast.count),
    }
    rows = Blocks(
        functions=functions,
        rows=np.arange(len(equations.tested))[None],
        entries=np.arange(len(pattern))[None],
        **everything,
    )
    items = []
    if y:
        items.append(
            Blocks(
                functions=item_functions(name, symbols, y),
                rows=np.arange(len(y))[None],
                **everything,
            )
        )
    return RunTimeKernel(
        solver,
        "generated",
        (rows,),
        tuple(items),
        tuple(derivation.unknowns),
        known,
        columns,
        tuple(wanted),
        tuple(equations.tested_labels),
        np.array(pattern, dtype=np.int64).reshape(-1, 2).T.copy(),
    )


def _parameters(columns: Sequence[Column], count: int) -> Floats:
    values = [c.values for c in columns]
    rows = np.stack(values, axis=1) if values else np.zeros((count, 0))
    return np.asarray(rows[:, None, :], dtype=float)
