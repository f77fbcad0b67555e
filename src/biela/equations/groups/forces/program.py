"""Forces of all groups as looped programs: loads of bodies, then groups in the reverse order.

A state of a program in the lanes of the processor is an instant: all of them are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from biela.code.looped import STATUS, Clear, Program, Segment, Stage, Write
from biela.equations.blocks.block import Block, expanded
from biela.equations.blocks.populations import Integers
from biela.equations.groups.forces.loads import load_kernel, state_kernel
from biela.equations.groups.forces.workspace import ForceWorkspace

__all__ = ["ForceProgram", "Wanted"]

#: What a program gives: "multipliers", or "rows" J of all groups as numbers.
Wanted: TypeAlias = Literal["multipliers", "rows"]


class ForceProgram(ForceWorkspace):
    """The forces in the joints of a model, by groups; see `ForceWorkspace`."""

    # ------------------------------------------------------------------------- stages

    def program(self, wanted: Wanted = "multipliers") -> Program:
        """What gives the multipliers, or the rows and loads, of a motion that is there."""
        stages = [Clear(self.memory.first("status"), STATUS), *self._on_bodies()]
        if wanted == "rows":
            stages += [self._rows(c) for c in range(len(self.equations))]
            return Program(stages, self.row_memory.size, name="rows of groups")
        return self._after(stages, [Segment(k, 0, _count(s)) for k, s in enumerate(stages)])

    def with_kinematics(self) -> Program:
        """The motion and the multipliers in one run, where no other forces act than gravity."""
        kinematics = self.groups.program
        stages: list[Any] = [*kinematics.stages, *self._on_bodies()]
        first = len(kinematics.stages)
        tape = [Segment(first + k, 0, _count(s)) for k, s in enumerate(stages[first:])]
        return self._after(stages, [*kinematics._segments, *tape])

    def _on_bodies(self) -> list[Any]:
        """Stages that find the loads of bodies."""
        first = self.memory.first("V")
        stages: list[Any] = [Clear(first, self.memory.first("W") - first)]
        if self.applied:
            stages += [*self._states(), *self._force_stages()]
        return [*stages, *self._rotor_stages(), *self._loads()]

    def _after(self, stages: list[Any], tape: list[Segment]) -> Program:
        """Groups in the reverse order after other stages."""
        runs: list[tuple[int, int, Segment]] = []
        for c in range(len(self.equations)):
            level, order = self._order(c)
            together = int(np.bincount(level).max()) > 1
            stages.append(self._solution(c, order, together))
            starts = np.concatenate([[0], np.flatnonzero(np.diff(level)) + 1, [len(level)]])
            for a, b in pairwise(starts):
                segment = Segment(len(stages) - 1, int(a), int(b - a))
                runs.append((-int(level[a]), c, segment))
        tape += [segment for _, _, segment in sorted(runs, key=lambda run: run[:2])]
        return Program(stages, self.memory.size, tape=tape, name="forces of groups")

    def levels(self) -> Integers:
        """For each group how many groups, one on the other, it rests on."""
        structure = self.casts.structure
        found = np.zeros(len(structure.groups), dtype=np.int64)
        for number, members in enumerate(structure.levels):
            found[list(members)] = number
        return found

    def _order(self, c: int) -> tuple[Integers, Integers]:
        """The groups of a kind, highest levels first: their levels, and which ones."""
        level = self.levels()[self.kinds[c].groups]
        order = np.argsort(-level, kind="stable")
        return level[order], order

    def _solution(self, c: int, order: Integers, together: bool) -> Stage:
        e = self.equations[c]
        kernel = e.solution(f"forces_{c}")
        gather = {"h": self.symbols(e)[order], "W": self.load_places(e, True)[order]}
        scatter = {"lam": Write(self.memory.first(f"lam{c}") + order * len(e.rows))}
        if len(e.J[0]) > e.own:
            scatter["K"] = Write(self.load_places(e, False)[order], "add")
        p = kernel.parameters()
        return Stage(
            kernel.function,
            gather,
            scatter,
            None if p is None else p[order],
            independent=together,
            name=f"forces of group {e.cast.example.name}",
        )

    def _rows(self, c: int) -> Stage:
        e = self.equations[c]
        kernel = e.jacobian(f"rows_{c}")
        size = len(e.rows) * len(e.J[0])
        places = self.row_memory.first(f"J{c}") + size * np.arange(e.cast.count)
        return Stage(
            kernel.function,
            {"h": self.symbols(e)},
            {"J": Write(places)},
            kernel.parameters(),
            independent=True,
            name=f"rows of group {e.cast.example.name}",
        )

    def _motion(self, bodies: Integers, *rates: str) -> dict[str, Integers]:
        return {f"{rate}y": self.body_symbols([bodies], rate)[0] for rate in rates}

    def _parts(self) -> Iterator[tuple[bool, Integers]]:
        """The bodies, those whose spin is held apart."""
        free = np.setdiff1d(np.arange(self.bodies), self.spinning)
        yield from ((held, n) for held, n in ((False, free), (True, self.spinning)) if len(n))

    def _states(self) -> Iterator[Stage]:
        first, widths = self.memory.first, self.blocks.widths
        for held, n in self._parts():
            q, v = first("q") + widths[0] * n, first("v") + widths[1] * n
            yield Stage(
                state_kernel(self.plane, held),
                self._motion(n, "", "d"),
                {"q": Write(q), "v": Write(v)},
                self.axes if held else None,
                independent=True,
            )

    def _loads(self) -> Iterator[Stage]:
        rates = ("", "d", "dd") if self.plane is None else ("", "dd")
        for held, n in self._parts():
            gather = self._motion(n, *rates)
            if self.applied:
                gather["Q"] = self.memory.first("Q") + self.wide * n
            p = self.blocks.masses.parameters[n]
            yield Stage(
                load_kernel(self.plane, self.applied, held),
                gather,
                {"W": Write(self.memory.first("W") + self.wide * n)},
                np.concatenate([p, self.axes], axis=1) if held else p,
                independent=True,
            )

    def _force_stages(self) -> Iterator[Stage]:
        first = self.memory.first
        sources = {"q": first("q"), "v": first("v"), "Q": first("Q"), "V": first("V")}
        sources |= {"w": first("fw"), "dw": first("fdw"), "ddw": first("fddw")}
        sources |= {"t": first("t"), "u": first("u")}
        for block in self.blocks.forces:
            if len(block):
                yield self._force_stage(block, sources)

    def _force_stage(self, block: Block, sources: Mapping[str, int]) -> Stage:
        gather: dict[str, Integers] = {}
        for array in block.kernel.inputs:
            if array.name == "p":
                continue
            source, places = block.gather[array.name]
            if source == "lam":
                rows = self.rows_of_blocks[expanded(places, array.size)]
                gather[array.name] = self.memory.first("lam0") + rows
            else:
                gather[array.name] = sources[source] + places
        scatter = {
            name: Write(sources[target] + places, "add")
            for name, (target, places) in block.scatter.items()
        }
        p = block.parameters if any(a.name == "p" for a in block.kernel.inputs) else None
        return Stage(block.kernel, gather, scatter, p, independent=True, name=block.name)

    def _rotor_stages(self) -> Iterator[Stage]:
        """The inertia of rotors, along coordinates that count turns."""
        for reading in self.readings if self.blocks.rotors.any() else ():
            places = self.count_places("Qx", reading.names)
            inertia = self.blocks.rotors[places - self.memory.first("Qx")]
            turning = np.flatnonzero(inertia)
            if not len(turning):
                continue
            gather = {
                f"{d}h": np.concatenate(self.body_symbols(reading.bodies, d), axis=1)[turning]
                for d in ("", "d", "dd")
            }
            p = inertia[:, None]
            if (given := reading.parameters()) is not None:
                p = np.concatenate([given, p], axis=1)
            scatter = {"Qx": Write(places[turning], "add")}
            yield Stage(reading.inertia, gather, scatter, p[turning], independent=True)

    # ----------------------------------------------------- coordinates that count turns

    def reading_program(self) -> Program:
        """What reads x, up to whole turns, and dx."""
        stages: list[Any] = [Clear(self.memory.first("status"), STATUS)]
        for reading in self.readings:
            tables = [
                np.concatenate(self.body_symbols(reading.bodies, d), axis=1) for d in ("", "d")
            ]
            writes = {s: Write(self.count_places(s, reading.names)) for s in ("x", "dx")}
            gather = dict(zip(("h", "dh"), tables, strict=True))
            p = reading.parameters()
            stages.append(Stage(reading.function, gather, writes, p, independent=True))
        return Program(stages, self.memory.size, name="turns of joints")


def _count(stage: Any) -> int:
    """How many instances a stage has; clearing counts as none."""
    return stage.count if isinstance(stage, Stage) else 0
