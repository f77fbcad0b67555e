"""From the motion of groups to results: the coordinates of all bodies, then every channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.body_motion import planar_motion, spatial_motion
from biela.analysis.groups.held_spins import turned_back
from biela.analysis.groups.recorded_turns import GroupRecording
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.limits import LimitEnd, limit_ends
from biela.analysis.looped.motion import LoopedMotion
from biela.analysis.looped.results import channel_groups
from biela.analysis.looped.simulated_motion import SimulatedMotion
from biela.analysis.preparation import values
from biela.analysis.watch import Fault, Motion
from biela.equations import System
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.equations.formulate import formulate_later
from biela.equations.groups.placing import angle_in_plane
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Event, Results, RunStatistics

__all__ = ["GroupRun", "body_coordinates", "counted_coordinates", "group_results"]

Floats = npt.NDArray[np.float64]
#: Of large mechanisms the work of forces is found at one stored instant of so many, and at so
#: many at least.
_OFTEN: Final = 50
_FEWEST: Final = 9
#: Positions, velocities and accelerations at instants.
Readings: TypeAlias = tuple[Floats, Floats, Floats]


def group_results(
    motions: Sequence[GroupMotion],
    name: str,
    spent: float,
    model: Model | None = None,
    *,
    still: bool = False,
    judge: Callable[[Motion], Fault | None] | None = None,
    run: GroupRun | None = None,
    system: System | None = None,
) -> Results:
    """All channels of a motion that groups have found.

    Args:
        motions: In the order of time, each from where the one before it ends; of different solvers
            where the independent coordinates were changed.
        name: That of the formulation.
        spent: Seconds that it took.
        model: The one that is shown, if it is not that of the solver.
        still: Rods whose spin nothing determines are shown as inertia leaves them, without a spin;
            else as groups hold them, level.
        judge: Of a motion under forces, not one that drivers give, what is wrong with it.  That is
            told as an event.
        run: Of such a motion what its run has found besides: readings of all pieces, the instants
            that are shown, inputs and events; what is judged are all instants.
        system: The equations of bodies of the model that is shown, if they are known.
    """
    solver = motions[0].solver
    shown = solver.model if model is None else model
    if solver.large:
        system = None
    elif system is None:
        system = formulate_later(shown, "reference")
    counted = [] if system is None else counted_coordinates(shown, system)
    pieces = [body_coordinates(motion, counted, still=still) for motion in motions]
    if run is not None and run.readings:
        pieces = list(run.readings)
    first = [0] + [1 if run is None or not run.changed[k] else 0 for k in range(1, len(motions))]
    readings = pieces[0]
    for start, piece in zip(first[1:], pieces[1:], strict=True):
        turned = _turned_on(readings[0][-1], piece, solver)
        q, v, a = (
            np.concatenate([before, after[start:]])
            for before, after in zip(readings, turned, strict=True)
        )
        readings = q, v, a

    def joined(rows: Sequence[Any]) -> Any:
        return np.concatenate([part[k:] for k, part in zip(first, rows, strict=True)])

    t = joined([motion.t for motion in motions])
    kept = np.ones(len(t), dtype=bool) if run is None else joined(run.shown)
    if system is None:
        q, v, a = (part[kept] for part in readings)
        return _of_arrays(motions, t[kept], (q, v, a), name, spent, shown, judge)
    p = values(system, "parameter", system.p, solver.parameters)
    u = np.tile(values(system, "input", system.u, None), (len(t), 1))
    if run is not None and len(run.inputs):
        u = joined(run.inputs)
    rows_of = dict(zip("qva", readings, strict=True))
    whole = GroupRecording(solver, system, rows_of, t, np.zeros((len(t), 0)), p, u)
    recording = whole if kept.all() else whole.among(kept)
    error = recording.constraint_error()
    seen = [] if run is None else list(run.events)
    known = limit_ends(system, p)
    seen += whole.limit_events(known=() if run is None else run.known)
    if judge is not None:
        fault = judge(whole)
        seen += [fault.event] if fault is not None else []
    seen.sort(key=lambda event: event.time)
    found = _statistics(motions, t[kept], name, spent, error)
    if run is not None:
        found = replace(found, events=len(seen))
    return recording.results(found, seen, False, known=known)


@dataclass(frozen=True)
class GroupRun:
    """What a run of dynamics has found besides the motion, piece by piece of it.

    Attributes:
        shown: Which instants are shown.
        changed: Whether a piece begins with another state than that in which the one before ends.
        readings: Positions, velocities and accelerations; read from the motions where empty.
        inputs: What was held; the values of the model where empty.
        events: The events that were met.
        known: The ends of ranges of coordinates whose events are among these.
    """

    shown: Sequence[npt.NDArray[np.bool_]]
    changed: Sequence[bool]
    readings: Sequence[Readings] = ()
    inputs: Sequence[Floats] = ()
    events: Sequence[Event] = ()
    known: Sequence[LimitEnd] = ()


def _turned_on(last: Floats, piece: Readings, solver: GroupSolver) -> Readings:
    """Coordinates that go on from others: the same number of turns, and signs of quaternions."""
    q = piece[0].copy()
    count = solver.world.count
    if solver.model.plane is None:
        e, before = q[:, : 7 * count].reshape(len(q), count, 7)[:, :, 3:], last[: 7 * count]
        e *= np.where((e[0] * before.reshape(count, 7)[:, 3:]).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    else:
        angle = slice(2, 3 * count, 3)
        q[:, angle] += 2 * np.pi * np.round((last[angle] - q[0, angle]) / (2 * np.pi))
    return q, piece[1], piece[2]


def body_coordinates(
    motion: GroupMotion, counted: Sequence[str], *, still: bool = False
) -> Readings:
    """Positions, velocities and accelerations in reference-point coordinates.

    Those that count turns, or that poses do not tell, come after those of the bodies.  Rates are
    those of the poses, also of rods whose spin is held; ``still`` turns these back.
    """
    q, v, a = _bodies(motion.solver, motion, still)
    if not counted:
        return q, v, a
    found = [motion.joint(name) for name in counted]
    q, v, a = (
        np.concatenate([part, np.stack([f[:, k] for f in found], axis=1)], axis=1)
        for k, part in enumerate((q, v, a))
    )
    return q, v, a


def _bodies(solver: GroupSolver, motion: GroupMotion, still: bool = False) -> Readings:
    plane = solver.model.plane
    if plane is None:
        q, v, a = spatial_motion(*motion.body_rows)
        if still:
            turned_back(solver, motion.t, q, v, a)
        return q, v, a
    centre, turn = motion.body_rows
    first = angle_in_plane(plane, solver.poses.axes)
    q, v, a = planar_motion(plane, centre, turn, first)
    return q, v, a


def _statistics(
    motions: Sequence[GroupMotion], t: Floats, name: str, spent: float, error: float | None
) -> RunStatistics:
    more = motions[0].work()
    if len(motions) > 1:
        more["changes of independent coordinates"] = len(motions) - 1
    return RunStatistics(
        method=name,
        steps=len(t) - 1,
        iterations=sum(motion.newton_steps for motion in motions),
        time_simulated=float(t[-1] - t[0]),
        time_total=spent,
        time_integration=sum(motion.time_run for motion in motions),
        max_constraint_error=error,
        more=more,
    )


def counted_coordinates(model: Model, system: System | None = None) -> list[str]:
    """Names of the coordinates that equations of bodies have besides those of the bodies.

    ``system`` are these equations, if they are known.
    """
    if model.parts or body_count(model) > LARGE:
        return []
    found = formulate_later(model, "reference") if system is None else system
    width = 7 if model.plane is None else 3
    return [e.name for e in found.q[width * len(model.bodies) :]]


class _ArrayMotion:
    """The motion of arrays of parts, as results of large mechanisms take it."""

    def __init__(self, blocks: ReferenceBlocks, t: Floats, readings: Readings) -> None:
        self.blocks, self.t = blocks, t
        self._readings = readings

    @property
    def q(self) -> Floats:
        """Positions."""
        return self._readings[0]

    @property
    def v(self) -> Floats:
        """Velocities."""
        return self._readings[1]

    @property
    def a(self) -> Floats:
        """Accelerations."""
        return self._readings[2]

    @cached_property
    def _outputs(self) -> Floats:
        instants = zip(self.q, self.v, self.t, strict=True)
        return np.array([self.blocks.y(q, v, float(t)) for q, v, t in instants])

    def outputs(self) -> Floats:
        """What sensors read."""
        return self._outputs


def _of_arrays(
    motions: Sequence[GroupMotion],
    t: Floats,
    readings: Readings,
    name: str,
    spent: float,
    model: Model,
    judge: Callable[[Motion], Fault | None] | None,
) -> Results:
    blocks = reference_blocks(model, parameters=motions[0].solver.parameters)
    found = _ArrayMotion(blocks, t, readings)
    statistics = _statistics(motions, t, name, spent, None)
    fault = None
    # where turns are counted they are missing here
    if judge is not None and readings[0].shape[1] == blocks.nq:
        fault = judge(_seen(_ArrayAccount(blocks, t, readings)))
    events = [] if fault is None else [fault.event]
    return Results(model.name, t, channel_groups(found), {}, {}, statistics, None, events, False)


class _ArrayAccount(SimulatedMotion):
    """The motion of arrays of parts, as the watch sees it.

    The equations of motion are asked for the forces of drivers that move, and made for them only.
    """

    def __init__(
        self,
        blocks: ReferenceBlocks,
        t: Floats,
        readings: Readings,
        equations: LoopedMotion | None = None,
    ) -> None:
        self.blocks, self.t, self.u = blocks, t, np.array(blocks.input_values, dtype=float)
        self.q, self.v, self._a = readings
        if equations is None and blocks.law_count:
            equations = LoopedMotion(blocks, self.q[0])
        self._equations = equations
        if equations is not None:
            self.motion = equations

    def _instants(self) -> list[tuple[Floats, Floats]]:
        """Accelerations are known, and multipliers asked for one by one."""
        return [(a, np.zeros(0)) for a in self._a]

    def at(self, rows: npt.NDArray[np.intp]) -> _ArrayAccount:
        """The motion at some of its instants."""
        readings = self.q[rows], self.v[rows], self._a[rows]
        return _ArrayAccount(self.blocks, self.t[rows], readings, self._equations)


def _seen(motion: _ArrayAccount) -> _ArrayAccount:
    """A motion at so many of its instants that it costs little to find what forces do there."""
    count = len(motion.t)
    if motion.alone or count <= _FEWEST:
        return motion
    some = max(_FEWEST, count // _OFTEN)
    return motion.at(np.unique(np.linspace(0, count - 1, some).astype(np.intp)))
