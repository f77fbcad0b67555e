"""Forces in the joints of a driven mechanism, group after group in the reverse order.

The motion comes from the groups in their order; what each body then needs, W = Q - M v', is handed
from the last group to the first: the joints of a group hold its bodies, and what they rest on has
that much more to carry.  So the forces of n groups cost n small systems, at every instant.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.force_runs import ForceRuns
from biela.analysis.groups.joint_wrenches import Instants, JointWrenches
from biela.analysis.groups.multipliers import Multipliers
from biela.analysis.groups.runner import CACHE, GroupRunner
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.stored import Stored
from biela.analysis.joint_reactions import JointReactions
from biela.code.llvm.host import host_lanes
from biela.equations.blocks import reference_blocks
from biela.equations.groups.forces import ForceProgram
from biela.equations.groups.lowering import GroupProgram
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.spelling import nearest

__all__ = ["GroupForces"]

Floats = npt.NDArray[np.float64]

#: Moments about passive spins that nothing gives, as a part of all loads.
_MISSING: Final = 1e-6


class GroupForces:
    """The forces of a model by groups, ready to run.

    Args:
        solver: Its kinematics, with the motion of all bodies.
        inputs: Values of the inputs of forces, by name.

    Attributes:
        program: Rows and loads of the groups.
        names: The multipliers, "joint.row", in the order of reference-point coordinates.

    Raises:
        ModelError: The solver has no bodies, an input is unknown, or a coordinate that forces need
            cannot be read from the poses of bodies.
    """

    def __init__(self, solver: GroupSolver, inputs: Mapping[str, float] | None = None) -> None:
        if not solver.bodies:
            raise ModelError("forces need the motion of all bodies: GroupSolver(…, bodies=True)")
        self.solver = solver
        blocks = reference_blocks(solver.model, parameters=solver.parameters, t=solver.t)
        if list(blocks.bodies) != list(solver.world.names):
            raise ModelError(
                f"{solver.model.name}: some of its parts have to be written out; "
                f"give the model as model.flattened()"
            )
        first = len(solver.points)
        requests = solver.groups.request_places[first : first + len(solver.bodies)]
        places = np.concatenate(requests, axis=1)
        self.program = ForceProgram(solver.groups, blocks, places, solver.poses)
        self.names = tuple(blocks.rows)
        self.runs = ForceRuns(self.program, self._inputs(inputs or {}), solver.poses.coordinates)

    def _inputs(self, given: Mapping[str, float]) -> Floats:
        blocks = self.program.blocks
        found = np.array(blocks.input_values, dtype=float)
        names = list(blocks.inputs)
        for name, value in given.items():
            if name not in names:
                raise ModelError(
                    f"{self.solver.model.name} has no input {name!r}{nearest(name, names)}"
                )
            found[names.index(name)] = value
        return found

    # ------------------------------------------------------------ motion and forces at once

    @property
    def at_once(self) -> bool:
        """Whether motion and multipliers come from one run, with nothing stored between.

        So it is where only gravity acts, nothing is redundant and the workspace is not so large
        that it is run tile by tile; else multipliers are found from the motion in a second run.
        """
        small = self.solver.lanes == "groups" or 8 * host_lanes() * self.program.memory.size < CACHE
        return self.program.simple and self.runs.native and small

    def run(
        self, t: Floats, *, room: Floats | None = None, progress: bool | None = None
    ) -> tuple[GroupMotion, Multipliers]:
        """The motion at some instants, in order, and its multipliers.

        ``room`` is where both are stored, see `room`.

        Raises:
            DeadPointError: A group cannot pass; it names the time and the joints.
            ModelError: A passive spin would need a moment.
            SimulationError: A group cannot be assembled at the start, or not be followed from there
                to the first instant; or forces that depend on reactions do not settle.
        """
        if not self.at_once:
            motion = self.solver.run(t, room=room, progress=progress)
            return motion, self.of(motion)
        times = np.asarray(t, dtype=float)
        began = time.perf_counter(), time.process_time()
        runner = GroupRunner(self._together, self.solver.poses, self.solver.lanes)
        runner.begin(self.solver.t, float(times[0]), progress)
        ready = time.perf_counter(), time.process_time()
        stored: Stored = runner.run(times, self._stretches, progress, room)
        ended = time.perf_counter(), time.process_time()
        motion = GroupMotion(
            self.solver,
            stored,
            {},
            time_run=ended[0] - ready[0],
            cpu_run=ended[1] - ready[1],
            time_total=ended[0] - began[0],
        )
        size = 3 * self.solver.groups.memory.sizes["y"]
        order = [*self.program.rows_of_blocks.tolist(), *self.program.spin_rows]
        lam = stored.columns(size + np.array(order, dtype=np.int64))
        rows, spins = lam[:, : len(self.names)], lam[:, len(self.names) :]
        missing = self._missing(times, spins, rows)
        sure = np.broadcast_to(np.True_, rows.shape)
        return motion, Multipliers(times, self.names, rows, sure, missing, motion.time_run)

    @cached_property
    def _together(self) -> GroupProgram:
        """The groups with a program that finds forces as well."""
        found = copy(self.program.groups)
        found.program, found.memory = self.program.with_kinematics(), self.program.memory
        return found

    @property
    def _stretches(self) -> list[tuple[int, int]]:
        memory = self.program.memory
        rows = sum(memory.sizes[name] for name in self.program.multipliers)
        return [(memory.first("y"), 3 * memory.sizes["y"]), (memory.first("lam0"), rows)]

    def room(self, instants: int) -> Floats:
        """Memory for what a run of so many instants stores, to be used again and again."""
        if not self.at_once:
            return self.solver.room(instants)
        lanes = host_lanes() if self.solver.lanes == "instants" else 1
        kept = sum(length for _, length in self._stretches)
        found = np.empty((-(-instants // lanes), kept, lanes))
        found.fill(0.0)  # the system hands out pages when they are touched
        return found

    # --------------------------------------------------------------- forces of a motion

    def of(self, motion: GroupMotion) -> Multipliers:
        """The multipliers of a motion that the solver has found.

        Raises:
            ModelError: The motion has no bodies, or a passive spin would need a moment.
            SimulationError: Forces that depend on reactions do not settle.
        """
        began = time.perf_counter()
        lam, sure = self.runs.settled(motion.t, self._moved(motion))
        missing = self._missing(motion.t, lam[:, self.program.spin_rows], lam)
        order = self.program.rows_of_blocks
        if self.runs.native:
            sure = np.broadcast_to(np.True_, (len(lam), len(order)))
        else:
            sure = sure[:, order]
        spent = time.perf_counter() - began
        return Multipliers(motion.t, self.names, lam[:, order], sure, missing, spent)

    def _moved(self, motion: GroupMotion) -> Floats:
        """The motion of bodies, as it was stored where that can be."""
        stored, size = motion._stored, 3 * self.solver.groups.memory.sizes["y"]
        if motion._place:
            raise ModelError('forces need the motion of all bodies: run with store="all"')
        if motion._instants is None:
            return stored.rows[:, :size]
        return stored.columns(np.arange(size))[motion._instants]

    def _missing(self, t: Floats, spins: Floats, lam: Floats) -> Floats:
        """The largest moment that a passive spin would need.

        Raises:
            ModelError: It is more than rounding.
        """
        found: Floats = np.abs(spins).max(axis=1, initial=0.0)
        over = found > _MISSING * np.maximum(np.abs(lam).max(axis=1, initial=0.0), 1e-9)
        if over.any():
            k = int(np.argmax(over))
            row = self.program.spin_rows[int(np.argmax(np.abs(spins[k])))]
            body = self.program.row_names[row].removesuffix(".spin")
            raise ModelError(
                f"{self.solver.model.name}: at t = {t[k]:.6g} s a moment of {found[k]:.3g} N m "
                f"about the passive spin of {body} is missing: it would not keep from turning "
                f"about that axis; make it symmetric about it, or hold its turn by a joint "
                f"(universal in place of spherical)"
            )
        return found

    # ------------------------------------------------------------------ joint reactions

    def joint_reactions(self, motion: GroupMotion, axes: str = "ground") -> JointReactions:
        """Forces and moments in all joints, as `biela.joint_reactions` gives them.

        Args:
            motion: One that the solver has found.
            axes: "ground", or "marker" for the axes of each marker j.

        Raises:
            ModelError: The axes are others; or as `of`.
            SimulationError: Forces that depend on reactions do not settle.
        """
        if axes not in ("ground", "marker"):
            raise ModelError(f"axes are 'ground' or 'marker', not {axes!r}")
        model = self.solver.model
        whole = copy(model.flattened() if model.parts else model)
        whole.parameters = whole.parameters.changed(self.solver.parameters or {}, whole.name)
        joints = JointWrenches(self.program, whole)
        moved = self._moved(motion)
        given = self.runs.given(motion.t, moved)
        if self.program.loaded:
            given.append(self.runs.settled(motion.t, moved)[0])
        R = self._orientations(motion)
        found = []
        for part in self.runs.in_numbers(len(motion.t), given):
            spins = part.lam[:, self.program.spin_rows]
            self._missing(motion.t[part.some], spins, part.lam)
            at = Instants(part.J, part.lam, part.null, R[part.some])
            found.append(joints.wrenches(at, axes == "marker"))
        wrenches = np.concatenate([w for w, _ in found])
        sure = np.concatenate([s for _, s in found])
        return JointReactions(motion.t, joints.names, wrenches[..., :3], wrenches[..., 3:], sure)

    def _orientations(self, motion: GroupMotion) -> Floats:
        """The axes of all bodies, (instants, bodies, 3, 3)."""
        plane = self.solver.model.plane
        if plane is None:
            x, y = (rows[0] for rows in motion.body_rows[1:])
            return np.stack([x, y, np.cross(x, y)], axis=3)
        c, s = np.moveaxis(motion.body_rows[1][0], 2, 0)
        normal = "xyz".index(NORMAL[plane])
        a, b = (normal + 1) % 3, (normal + 2) % 3
        R = np.zeros((*c.shape, 3, 3))
        R[..., normal, normal] = 1.0
        R[..., a, a], R[..., b, b], R[..., b, a], R[..., a, b] = c, c, s, -s
        return R
