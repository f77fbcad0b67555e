"""The groups of a model at one instant: their program with a workspace, and what it tells.

All lanes of the processor have a column of the workspace each.  Here they are alike; a run of many
instants has one instant in each.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.block_runs import Native
from biela.analysis.groups.laws import Laws
from biela.analysis.groups.stored import aligned_zeros
from biela.code.llvm.host import host_lanes
from biela.code.looped import Failure
from biela.equations.groups.cast import Poses
from biela.equations.groups.group import Group
from biela.equations.groups.lowering import RATES, GroupProgram
from biela.errors import SimulationError
from biela.solvers.block_sequence import run_blocks

__all__ = ["GroupWorkspace", "Lanes", "dead_point"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: What shares the lanes of the processor.
Lanes: TypeAlias = Literal["instants", "groups"]


class GroupWorkspace:
    """A program of groups with a workspace.

    Args:
        groups: The program.
        poses: Where the model is at the start.
        lanes: What shares the lanes of the processor.

    Attributes:
        groups: The program.
        lanes: Columns of the workspace.
        lanes_of: What shares the lanes of the processor.
        laws: Of the drivers.
        w: The workspace, (places, lanes) in one row.
        t: The instant it is at.
        steps: Steps of Newton's method that were taken, one number.
        driven: Places of what is given before a run, in ``w``: three numbers that tell how far
            rows are that items are written to, then in all lanes the time since the last instant,
            and laws.
    """

    def __init__(self, groups: GroupProgram, poses: Poses, lanes: Lanes) -> None:
        self.groups, self.lanes_of = groups, lanes
        self.lanes = W = host_lanes() if lanes == "instants" else 1
        memory, program = groups.memory, groups.program
        self._program = Native(program.states_address if lanes == "instants" else program.address)
        self.w = aligned_zeros(memory.size, W)
        self._status = memory.first("status") * W
        self.laws = Laws(groups.casts.laws)
        names = ("tau", "w", "dw", "ddw")
        places = np.concatenate([memory.places(name) for name in names])
        far = memory.first("shift") * W + np.arange(3)
        in_lanes = (places[:, None] * W + np.arange(W)).ravel()
        self.driven: Integers = np.concatenate([far, in_lanes])
        self.steps = np.zeros(1)
        self.t = 0.0
        groups.write_start(self.w.reshape(-1, W), poses)

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.groups.casts.world.model.name

    # ---------------------------------------------------------------------- one instant

    def assemble(self, t: float) -> None:
        """Solve all groups at the first instant, from the position of the start.

        Raises:
            SimulationError: A group cannot be assembled.
        """
        # the signs of determinants are not known before: the first run finds them
        self.attempt(t, 0.0)
        if not self.attempt(t, 0.0):
            raise SimulationError(f"{self.model}: at the start, t = {t:g} s, {self.what_failed()}")
        self.t = t

    def attempt(self, t: float, since: float) -> bool:
        """Solve all groups at an instant, from the state of some time before; whether they are."""
        given = np.concatenate([[since], self.laws.at(np.array([t]))[0]])
        self.w[self.driven] = np.concatenate([np.zeros(3), np.repeat(given, self.lanes)])
        nothing = np.zeros(0, dtype=np.int64)
        done = run_blocks(
            len(self.w), 1, 0, 0, 0, self.lanes, self._status, self._program, self.w,
            np.zeros((1, 0)), nothing, np.zeros((1, 0)), nothing, nothing, self.steps,
        )  # fmt: skip
        return bool(done)

    # -------------------------------------------------------------------- what it tells

    @cached_property
    def solved_kinds(self) -> list[int]:
        """Kinds that have unknowns."""
        return [c for c, kernel in enumerate(self.groups.kernels) if kernel.unknowns]

    @cached_property
    def unknowns(self) -> dict[int, list[Integers]]:
        """Places of the unknowns of a kind and of their two rates, (instances, unknowns) each."""
        return {
            c: [self.groups.unknown_places(c, rate) for rate in RATES] for c in self.solved_kinds
        }

    @cached_property
    def gauges(self) -> Integers:
        """Where the determinants of groups stand."""
        memory, kernels = self.groups.memory, self.groups.kernels
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(memory.places(f"gauge{c}") for c in range(len(kernels)))])

    @cached_property
    def solved_groups(self) -> Integers:
        """Which groups these are."""
        none = np.zeros(0, dtype=np.int64)
        kinds = zip(self.groups.kinds, self.groups.kernels, strict=True)
        return np.concatenate([none, *(cast.groups for cast, k in kinds if k.unknowns)])

    def determinants(self) -> Floats:
        """Of all groups that have unknowns, in the first lane."""
        found: Floats = self.w.reshape(-1, self.lanes)[self.gauges, 0]
        return found

    def note_dead_point(self, group: int) -> None:
        """Note that a group is at a dead point."""
        self.w[self._status] = float(group + 1)
        self.w[self._status + self.lanes] = float(Failure.NOT_POSITIVE)

    def what_failed(self) -> str:
        """Which group was not solved in the first lane, and how, in words."""
        group = self.groups.casts.structure.groups[int(self.w[self._status]) - 1]
        how = Failure(int(self.w[self._status + self.lanes]))
        joints = ", ".join(j for j in group.joints if j not in group.drivers)
        who = f"group {group.name} ({', '.join(group.bodies)}; joints {joints})"
        if how is Failure.NOT_POSITIVE:
            return (
                f"{who} is at a dead point, {dead_point(group)}; or an angle is half a turn from "
                f"what its driver says"
            )
        if how is Failure.NOT_FINITE:
            return f"{who} has no solution: the iterations leave all bounds"
        said = ""
        if len(group.drivers) > 1:
            said = f", or its drivers {', '.join(group.drivers)} contradict each other"
        return (
            f"{who} cannot be assembled: its joints do not reach each other, or it is at a dead "
            f"point, {dead_point(group)}{said}"
        )


def dead_point(group: Group) -> str:
    """What a dead point of a group is, in words: of three hinges it is seen at once."""
    hinges = "its three joints in line, " if group.name == "RRR" else ""
    return f"{hinges}where two of its branches meet"
