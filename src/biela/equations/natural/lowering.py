"""A layout as blocks: kind by kind, its instances as rows of places and parameters.

One kernel for all instances of a kind whose parts have the same free components.  Its inputs are
the free components x and their rates v, the time, and as parameters p those of the kind and the
fixed components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from biela.atoms import Atom, evaluate, jacobian
from biela.atoms import Kind as Symbol
from biela.code import Function
from biela.equations.blocks.block import Block, Integers
from biela.equations.constraints import levels
from biela.equations.natural.entities import Floats, RelativeCoordinate, is_coordinate
from biela.equations.natural.kinds import Instance, Kind
from biela.equations.natural.layout import Layout
from biela.equations.natural.natural_blocks import NaturalBlocks
from biela.equations.natural.pushes import Push
from biela.equations.symbolic import SymbolicSystem
from biela.errors import ModelError

#: A kind, which components of its parts are free, and how many parameters it has.
Key: TypeAlias = tuple[Kind, tuple[tuple[bool, ...], ...], int]


@dataclass(frozen=True, eq=False)
class Kernel:
    """The functions of a kind, and where its entries of Φ_q are.

    Attributes:
        functions: Of (t, x, v, p), each with the one output it is named after.
        entries: Row and number of the free component of each entry.
        rows: How many rows it has: those that depend on free components.
        kept: Which of the rows of the kind they are.
    """

    functions: tuple[Function, ...]
    entries: tuple[tuple[int, int], ...]
    rows: int
    kept: tuple[int, ...]


@lru_cache(maxsize=1024)
def kernel(kind: Kind, free: tuple[tuple[bool, ...], ...], parameters: int) -> Kernel:
    """Derive the kernel of a kind."""
    scratch = SymbolicSystem("kernel")
    count = sum(flag for part in free for flag in part)
    x = list(scratch.coordinates([f"x{k}" for k in range(count)])) if count else []
    fixed = sum(len(part) for part in free) - count
    p = [scratch.workspace.parameter(f"p{k}") for k in range(parameters + fixed)]
    moving, constant = iter(x), iter(p[parameters:])
    parts = [[next(moving) if flag else next(constant) for flag in part] for part in free]
    written = kind.rows(parts, p[:parameters], scratch.time)
    table, places = scratch.workspace.table, {a.ref for a in x}
    kept = [k for k, row in enumerate(written) if places & set(table.live([row.ref]))]
    rows = [written[k] for k in kept]
    if not rows:
        return Kernel((), (), 0, ())
    found = levels(scratch.space, rows, [None] * len(rows), [], x, scratch.v)
    entries = [(i, j) for i, row in enumerate(found.Phi_q) for j, e in enumerate(row) if e.ref]
    outputs: dict[str, list[Atom]] = {
        "Phi": found.Phi,
        "Phi_q": [found.Phi_q[i][j] for i, j in entries],
        "beta": found.beta,
        "gamma": found.gamma,
    }
    arrays: dict[str, Any] = {"t": [scratch.time], "x": x, "v": scratch.v}
    if p:
        arrays["p"] = p
    name = type(kind).__name__.lower()
    functions = tuple(
        Function(f"{name}_{what}", arrays, {what: value})
        for what, value in outputs.items()
        if any(e.ref for e in value)
    )
    return Kernel(functions, tuple(entries), len(rows), tuple(kept))


def blocks(layout: Layout) -> NaturalBlocks:
    """The blocks of a layout.

    Raises:
        ModelError: Something acts in it that has no kernel: a wrench, or a force with inputs.
    """
    source = layout.source
    if source.wrenches:
        raise ModelError(
            f"{layout.name}: wrenches on solids have no blocks; use the forces of the layout "
            f"(spring, motor, force, strut), or its system()"
        )
    columns = {q.ref: k for k, q in enumerate(source.q)}
    groups: dict[Key, list[Instance]] = {}
    for instance in layout.instances:
        key = (
            instance.kind,
            tuple(part.free for part in instance.parts),
            len(instance.parameters),
        )
        groups.setdefault(key, []).append(instance)
    made: list[Block] = []
    names: list[str] = []
    closure: set[int] = set()
    indices: list[Integers] = []
    entries = 0
    for key, instances in groups.items():
        found = kernel(*key)
        if not found.rows:
            continue
        x = np.array([_places(instance, columns) for instance in instances], dtype=np.int64)
        first = len(names) + found.rows * np.arange(len(instances))
        labels = key[0].labels(layout.dimension)
        for k, instance in enumerate(instances):
            names += [f"{instance.owner}.{labels[n]}" for n in found.kept]
            if instance.closure:
                closure |= set(range(int(first[k]), int(first[k]) + found.rows))
        row, slot = np.array(found.entries).T
        indices.append(np.stack([(first[:, None] + row).ravel(), x[:, slot].ravel()]))
        at = entries + len(found.entries) * np.arange(len(instances))
        entries += len(found.entries) * len(instances)
        numbers = np.array([_numbers(layout, instance) for instance in instances])
        for function in found.functions:
            (output,) = function.outputs
            where = at if output.name == "Phi_q" else first
            made.append(_block(function, numbers, x, {output.name: (output.name, where)}))
    made += _forces(layout, columns)
    M = source.constant_mass()
    at_zero = dict(source.parameter_values)
    mass = [
        (i, j, float(evaluate(entry, at_zero)))
        for i, row_of_M in enumerate(M)
        for j, entry in enumerate(row_of_M)
        if entry.ref
    ]
    weight = np.array([float(evaluate(e, at_zero)) for e in source.weight()])
    by_ref = {
        q.ref: value
        for entity in layout.entities.values()
        for q, value in zip(entity.components, entity.start, strict=True)
    }
    return NaturalBlocks(
        layout.name,
        [layout.names.get(q.name, q.name) for q in source.q],
        names,
        np.array([by_ref.get(q.ref, 0.0) for q in source.q]),
        tuple(made),
        np.concatenate(indices, axis=1) if indices else np.zeros((2, 0), dtype=np.int64),
        (
            np.array([i for i, _, _ in mass], dtype=np.int64),
            np.array([j for _, j, _ in mass], dtype=np.int64),
            np.array([value for _, _, value in mass]),
        ),
        weight,
        frozenset(
            columns[e.components[0].ref]
            for e in layout.entities.values()
            if isinstance(e, RelativeCoordinate) and e.free[0]
        ),
        frozenset(closure),
    )


def _block(
    function: Function, numbers: Floats, x: Integers, scatter: dict[str, tuple[str, Integers]]
) -> Block:
    count = len(x)
    gather = {"t": ("t", np.zeros(count, dtype=np.int64)), "x": ("q", x), "v": ("v", x)}
    return Block(function.name, function, numbers, gather, scatter)


def _places(instance: Instance, columns: dict[int, int]) -> list[int]:
    """The columns of the free components of an instance."""
    return [
        columns[c.ref]
        for part in instance.parts
        for c, free in zip(part.components, part.free, strict=True)
        if free
    ]


def _numbers(layout: Layout, instance: Instance) -> list[float]:
    """The parameters of an instance, and its fixed components."""
    fixed = [
        c
        for part in instance.parts
        for c, free in zip(part.components, part.free, strict=True)
        if not free
    ]
    return [layout.value(p) for p in (*instance.parameters, *fixed)]


# --------------------------------------------------------------------------------- forces


def _forces(layout: Layout, columns: dict[int, int]) -> list[Block]:
    groups: dict[tuple[str, int, tuple[bool, ...]], list[Push]] = {}
    known = {id(push.made[1]): push for push in layout.pushes if push.law is not None}
    made = []
    for speed, force in layout.source.pushes:
        push = known.get(id(force))
        if push is None:
            made.append(_single(layout, columns, speed, force))
            continue
        free = tuple(is_coordinate(c) for c in push.on)
        groups.setdefault((push.kind, len(push.numbers), free), []).append(push)
    for (_, _, free), pushes in groups.items():
        function = _force_kernel(pushes[0], free)
        x = np.array(
            [[columns[c.ref] for c, f in zip(p.on, free, strict=True) if f] for p in pushes],
            dtype=np.int64,
        )
        rows = [
            [layout.value(n) for n in p.numbers]
            + [layout.value(c) for c, f in zip(p.on, free, strict=True) if not f]
            for p in pushes
        ]
        made.append(_block(function, np.array(rows), x, {"Q": ("Q", x)}))
    return made


def _single(layout: Layout, columns: dict[int, int], speed: Atom, force: Atom) -> Block:
    """A force that is an expression of its own: a kernel with one instance."""
    source = layout.source
    table = source.workspace.table
    slopes = jacobian([speed], source.v).rows[0]
    at = [k for k, slope in enumerate(slopes) if slope.ref]
    Q = [slopes[k] * force for k in at]
    live = set(table.live(e.ref for e in Q))
    unknown = [table.symbols[r] for r in live if r in table.symbols]
    inputs = [symbol.name for symbol in unknown if symbol.kind is Symbol.INPUT]
    if inputs:
        raise ModelError(
            f"{layout.name}: a force depends on the input {inputs[0]}, and blocks have no inputs; "
            f"use system()"
        )
    arrays: dict[str, Any] = {"t": [source.time]}
    gather: dict[str, tuple[str, Integers]] = {"t": ("t", np.zeros(1, dtype=np.int64))}
    for name, vector, symbols in (("x", "q", source.q), ("v", "v", source.v)):
        places = [k for k, symbol in enumerate(symbols) if symbol.ref in live]
        if places:
            arrays[name] = [symbols[k] for k in places]
            gather[name] = vector, np.array([places], dtype=np.int64)
    p = [symbol for symbol in source.parameter_values if symbol.ref in live]
    if p:
        arrays["p"] = p
    numbers = np.array([[source.parameter_values[symbol] for symbol in p]]).reshape(1, len(p))
    function = Function("force", arrays, {"Q": Q})
    return Block("force", function, numbers, gather, {"Q": ("Q", np.array([at]))})


def _force_kernel(push: Push, free: Sequence[bool]) -> Function:
    """Force times slope of the speed, for the free components of a push."""
    scratch = SymbolicSystem("force")
    x = scratch.coordinates([f"x{k}" for k in range(sum(free))])
    count = len(push.numbers)
    p = [scratch.workspace.parameter(f"p{k}") for k in range(count + len(free) - sum(free))]
    moving, constant = iter(x), iter(p[count:])
    on = [next(moving) if flag else next(constant) for flag in free]
    assert push.law is not None
    speed, force, _ = push.law(scratch, on, p[:count])
    scratch.push(speed, force)
    zero = scratch.workspace.atom(0)
    Q = scratch.with_pushes([zero] * len(x))
    arrays: dict[str, Any] = {"t": [scratch.time], "x": list(x), "v": scratch.v, "p": p}
    return Function(f"{push.kind}_force", arrays, {"Q": Q})
