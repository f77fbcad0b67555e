"""What the C text of a solver of groups is made of: stages, drivers, laws and the start.

The workspace is that of the run in process, with the values and two rates of every driver behind
it: drivers whose laws are alike share one there, and a controller may give them different ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.runner import GroupRunner
from biela.analysis.groups.solver import GroupSolver
from biela.code.looped import Clear, Solve
from biela.code.looped.stage import Segment
from biela.equations.blocks.block import Block
from biela.equations.groups.cast import Cast
from biela.equations.groups.lowering import GroupProgram
from biela.errors import ExportError

__all__ = ["Driven", "GroupParts", "Kind", "group_parts"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Driven:
    """A number that a driver prescribes: who, and which of the laws of the model it follows."""

    name: str
    law: int


@dataclass(frozen=True, eq=False)
class Kind:
    """The groups of a kind.

    Attributes:
        stage: What solves them.
        cast: What they are.
        order: Which instance of the cast each instance of the stage is.
        unknowns: Names of the unknowns of the first one.
        closed: Whether positions are those of a closed form, which one step polishes.
    """

    stage: Solve
    cast: Cast
    order: Integers
    unknowns: tuple[str, ...]
    closed: bool


@dataclass(frozen=True, eq=False)
class GroupParts:
    """All of a solver.

    Attributes:
        solver: What is written.
        groups: Its program, with what is asked for.
        kinds: The kinds of groups.
        segments: What is solved one after the other; stages are numbers of kinds.
        drivers: Whose values stand behind the workspace.
        laws: What evaluates the laws of the model.
        start: The workspace at the start, up to the last place that the first instant reads.
    """

    solver: GroupSolver
    groups: GroupProgram
    kinds: tuple[Kind, ...]
    segments: tuple[Segment, ...]
    drivers: tuple[Driven, ...]
    laws: tuple[Block, ...]
    start: Floats

    @property
    def size(self) -> int:
        """Numbers of the workspace."""
        return self.groups.memory.size + 3 * len(self.drivers)


def group_parts(solver: GroupSolver, groups: GroupProgram) -> GroupParts:
    """Collect what a program of groups is made of.

    Raises:
        ExportError: It has parts that are no groups.
        SimulationError: A group cannot be assembled at the start.
    """
    stages = [s for s in groups.program.stages if not isinstance(s, Clear)]
    kinds = []
    for c, stage in enumerate(stages):
        if not isinstance(stage, Solve):
            raise ExportError(
                f"{solver.model.name}: a group is too large to be written out as C99; choose a "
                f"formulation by groups, or other coordinates"
            )
        unknowns = tuple(u.name for u in groups.kernels[c].unknowns)
        closed = groups.closed[c] is not None
        kinds.append(Kind(stage, solver.casts.casts[c], groups.orders[c], unknowns, closed))
    numbers = {id(s): k for k, s in enumerate(stages)}
    segments = [
        replace(s, stage=numbers[id(groups.program.stages[s.stage])])
        for s in groups.program.segments
        if id(groups.program.stages[s.stage]) in numbers
    ]
    drivers, kinds = _with_drivers(solver, groups, kinds)
    # kinds of which nothing is read are not written
    written = [c for c, kind in enumerate(kinds) if kind.stage.count]
    segments = [replace(s, stage=written.index(s.stage)) for s in segments]
    kinds = [kinds[c] for c in written]
    return GroupParts(
        solver,
        groups,
        tuple(kinds),
        tuple(segments),
        tuple(drivers),
        solver.casts.laws.blocks(),
        _start(solver, groups),
    )


def _start(solver: GroupSolver, groups: GroupProgram) -> Floats:
    """Unknowns, their rates, signs and branches at the start."""
    runner = GroupRunner(groups, solver.poses, "groups")
    runner.assemble(solver.t)
    found: Floats = runner.w.reshape(groups.memory.size, -1)[:, 0]
    # unknowns that are items themselves stand among these
    carried = np.flatnonzero(groups.program.carried)
    return found[: max([groups.memory.first("y"), *(carried[-1:] + 1)])].copy()


# ------------------------------------------------------------------------------- drivers


def _with_drivers(
    solver: GroupSolver, groups: GroupProgram, kinds: Sequence[Kind]
) -> tuple[list[Driven], list[Kind]]:
    """All numbers that drivers prescribe, and the kinds that read them from where they stand."""
    found: list[tuple[tuple[int, str, int], Driven, tuple[int, int, int]]] = []
    rank = {name: k for k, name in enumerate(solver.model.drivers)}
    for c, kind in enumerate(kinds):
        for column, known in enumerate(groups.kernels[c].known):
            if known.item.kind != "law":
                continue
            for k, (owner, number) in enumerate(_owners(groups, c, known.symbol.ref, kind.cast)):
                name = f"{owner}[{number}]" if number else owner
                driven = Driven(name, int(known.item.body[k]))
                found.append(((rank.get(owner, len(rank)), owner, number), driven, (c, k, column)))
    found.sort(key=lambda entry: entry[0])
    several = {d.name.removesuffix("[1]") for _, d, _ in found if d.name.endswith("[1]")}
    drivers = [Driven(f"{d.name}[0]", d.law) if d.name in several else d for _, d, _ in found]
    size = groups.memory.size
    moved: list[dict[str, Any]] = [dict(kind.stage.gather) for kind in kinds]
    for rate, name in enumerate(("h", "dh", "ddh")):
        for c, kind in enumerate(kinds):
            if name in kind.stage.gather:
                moved[c][name] = np.array(_every(kind.stage, name))
        for number, (_, _, (c, k, column)) in enumerate(found):
            row = int(np.flatnonzero(kinds[c].order == k)[0])
            moved[c][name][row, column] = size + rate * len(found) + number
    stages = [replace(kind.stage, gather=m) for kind, m in zip(kinds, moved, strict=True)]
    return drivers, [replace(k, stage=s) for k, s in zip(kinds, stages, strict=True)]


def _owners(groups: GroupProgram, c: int, symbol: int, cast: Cast) -> Iterator[tuple[str, int]]:
    """For each instance the driver that a symbol is the law of, and which of its laws."""
    laws = groups.equations[c].derivation.laws
    places = [key for key, atom in laws.items() if atom.ref == symbol]
    for k in range(cast.count):
        if places:
            element, number = places[0]
            yield cast.elements[element].names[k], number
        else:
            group = groups.casts.structure.groups[int(cast.groups[k])]
            yield " ".join(group.drivers) or "law", 0


def _every(stage: Solve, name: str) -> Integers:
    places = np.asarray(stage.gather[name], dtype=np.int64)
    if places.ndim == 2:
        return places
    size = next(a.size for a in stage.inputs if a.name == name)
    return np.asarray(places[:, None] + np.arange(size))
