"""Tapes of programs: which runs of which stages follow each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.code import Function
from biela.code.looped import Call, Clear, Segment, Stage
from biela.solvers.fronts import FrontStages, GeneralStages

Integers = npt.NDArray[np.int64]

#: So many groups are evaluated and eliminated before the next ones.
TILE = 64


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The stages of an evaluation of the accelerations."""

    laws: list[Stage | Clear | Call]
    evaluated: list[tuple[Stage, Integers]]
    inward: Sequence[Stage | Call]
    outward: Sequence[Stage | Call]


class Tape:
    """Stages, and the segments of them that are run."""

    def __init__(self) -> None:
        self.stages: list[Stage | Clear | Call] = []
        self.segments: list[Segment] = []

    def add(self, stages: Sequence[Stage | Clear | Call]) -> int:
        """Add stages, if they are not there yet; returns the number of the first."""
        for k in range(len(self.stages) - len(stages) + 1):
            if stages and all(a is b for a, b in zip(self.stages[k:], stages, strict=False)):
                return k
        self.stages += stages
        return len(self.stages) - len(stages)

    def whole(self, stages: Sequence[Stage | Clear | Call]) -> None:
        """Run stages as a whole."""
        at = self.add(stages)
        self.segments += [Segment(at + k, 0, stage.count) for k, stage in enumerate(stages)]

    def by_tiles(
        self,
        evaluated: Sequence[tuple[Stage, Integers]],
        eliminated: Sequence[Stage | Call],
        fronts: FrontStages | GeneralStages,
    ) -> None:
        """Evaluate what some groups need and eliminate them, before others are looked at.

        The entries are then used while they are still in the fastest memory.
        """
        at = self.add([stage for stage, _ in evaluated])
        front = self.add(eliminated)
        count = len(fronts.fronts.kind)
        done = [0] * len(evaluated)
        for begin in range(0, count, TILE):
            end = min(begin + TILE, count)
            for k, (stage, groups) in enumerate(evaluated):
                last = stage.count if end == count else int(np.searchsorted(groups, end))
                if last > done[k]:
                    self.segments.append(Segment(at + k, done[k], last - done[k]))
                    done[k] = last
            self.segments += fronts.tape(front, begin, end)


def reduced(kernel: Function, kept: Mapping[str, Sequence[int]]) -> tuple[Function, Integers]:
    """The kernel with the outputs that are ``kept``, and without what it does not read for them.

    Returns the parameters that it does read, too.
    """
    outputs = {
        a.name: [Atom(kernel.table, a.refs[k]) for k in kept[a.name]]
        for a in kernel.outputs
        if kept.get(a.name)
    }
    live = set(kernel.table.live([atom.ref for atoms in outputs.values() for atom in atoms]))
    inputs: dict[str, list[Atom]] = {}
    columns: list[int] = []
    for array in kernel.inputs:
        read = [k for k, ref in enumerate(array.refs) if ref in live]
        if array.name == "p":
            columns = read
            inputs["p"] = [Atom(kernel.table, array.refs[k]) for k in read]
        elif read:
            inputs[array.name] = [Atom(kernel.table, ref) for ref in array.refs]
    inputs = {name: atoms for name, atoms in inputs.items() if atoms}
    if not inputs:  # numbers: they have to be mapped over something all the same
        array = kernel.inputs[0]
        inputs[array.name] = [Atom(kernel.table, ref) for ref in array.refs]
        columns = list(range(array.size)) if array.name == "p" else []
    return Function(kernel.name, inputs, outputs), np.array(columns, dtype=np.int64)
