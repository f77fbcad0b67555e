"""From the motion of groups to results: the coordinates of all bodies, then every channel."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.analysis.divergence import energy_jump
from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.body_motion import planar_motion, spatial_motion
from biela.analysis.groups.held_spins import turned_back, without_spins
from biela.analysis.groups.motion_events import motion_events
from biela.analysis.groups.recorded_turns import GroupRecording
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.looped.results import channel_groups
from biela.analysis.preparation import values
from biela.equations import System, formulate
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.equations.groups.placing import angle_in_plane
from biela.errors import DeadPointError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Results, RunStatistics

__all__ = ["counted_coordinates", "group_results"]

Floats = npt.NDArray[np.float64]


def group_results(
    solver: GroupSolver,
    motion: GroupMotion,
    name: str,
    spent: float,
    model: Model | None = None,
    *,
    free: bool = False,
) -> Results:
    """All channels of a motion that groups have found.

    ``name`` is that of the formulation; ``model`` the one that is shown, if it is not that of the
    solver.  ``free`` is a motion under forces, not one that drivers give: events of small models
    are looked for, rods that do not spin are shown so, and the energy does not jump.

    Raises:
        DeadPointError: It does; the results until then are in it.
    """
    q, v, a = _bodies(solver, motion, free)
    shown = solver.model if model is None else model
    if solver.large:
        return _of_arrays(solver, motion, (q, v, a), name, spent, shown)
    system = formulate(shown, "reference")
    p = values(system, "parameter", system.p, solver.parameters)
    u = np.tile(values(system, "input", system.u, None), (len(motion.t), 1))
    if len(system.q) > q.shape[1]:
        q, v, a = _with_counted(system, motion, (q, v, a))
    readings = {"q": q, "v": v, "a": a}
    states = np.zeros((len(motion.t), 0))
    recording = GroupRecording(solver, system, readings, motion.t, states, p, u)
    error = recording.constraint_error()
    seen = motion_events(system, motion.t, q, v, u, p) if free else []
    found = recording.results(_statistics(motion, name, spent, error), seen, False)
    if free:
        _check_energy(system, found, p)
    return found


def _check_energy(system: System, results: Results, p: Floats) -> None:
    """Refuse a motion that was thrown onto another branch at a dead point between two steps."""
    jump = energy_jump(system, results, p, None)
    if jump is None:
        return
    k, size = jump
    before, after = float(results.t[k]), float(results.t[k + 1])
    raise DeadPointError(
        f"{system.name}: the energy jumps by {size:.3g} J between t = {before:.6g} s and "
        f"{after:.6g} s: a step went across a dead point, where two branches meet. Take shorter "
        f"steps, or other independent coordinates. The results until then are in the attribute "
        f"results of this error",
        results.between(results.t[0], before),
    )


def _bodies(
    solver: GroupSolver, motion: GroupMotion, free: bool = False
) -> tuple[Floats, Floats, Floats]:
    plane = solver.model.plane
    if plane is None:
        q, v, a = spatial_motion(*motion.body_rows)
        if free:
            turned_back(solver, motion.t, q, v, a)
        else:
            without_spins(solver, q, v, a)
        return q, v, a
    centre, turn = motion.body_rows
    first = angle_in_plane(plane, solver.poses.axes)
    q, v, a = planar_motion(plane, centre, turn, first)
    return q, v, a


def _statistics(motion: GroupMotion, name: str, spent: float, error: float | None) -> RunStatistics:
    return RunStatistics(
        method=name,
        steps=len(motion.t) - 1,
        iterations=motion.newton_steps,
        time_simulated=float(motion.t[-1] - motion.t[0]),
        time_total=spent,
        time_integration=motion.time_run,
        max_constraint_error=error,
        more=motion.work(),
    )


def _with_counted(
    system: System, motion: GroupMotion, readings: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Add the coordinates that count turns, or that poses do not tell: groups have found them."""
    count = readings[0].shape[1]
    found = [motion.joint(e.name) for e in system.q[count:]]
    q, v, a = (
        np.concatenate([part, np.stack([f[:, k] for f in found], axis=1)], axis=1)
        for k, part in enumerate(readings)
    )
    return q, v, a


def counted_coordinates(model: Model) -> list[str]:
    """Names of the coordinates that equations of bodies have besides those of the bodies."""
    if model.parts or body_count(model) > LARGE:
        return []
    system = formulate(model, "reference")
    width = 7 if model.plane is None else 3
    return [e.name for e in system.q[width * len(model.bodies) :]]


class _ArrayMotion:
    """The motion of arrays of parts, as results of large mechanisms take it."""

    def __init__(
        self, blocks: ReferenceBlocks, t: Floats, readings: tuple[Floats, Floats, Floats]
    ) -> None:
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
    solver: GroupSolver,
    motion: GroupMotion,
    readings: tuple[Floats, Floats, Floats],
    name: str,
    spent: float,
    model: Model,
) -> Results:
    blocks = reference_blocks(model, parameters=solver.parameters)
    found = _ArrayMotion(blocks, motion.t, readings)
    statistics = _statistics(motion, name, spent, None)
    return Results(model.name, motion.t, channel_groups(found), {}, {}, statistics, None, (), False)
