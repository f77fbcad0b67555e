"""Results and pictures of a robot: configurations over time with the shapes of its bodies."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.recording import Recording
from biela.analysis.robots.recording import LoopedRecording
from biela.equations import System, formulate, spatial
from biela.equations.mechanism.drawing import drawn
from biela.errors import ShapeError
from biela.results import Results, RunStatistics

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]


def drawn_system(robot: Motions) -> System:
    """The equations of a robot, with the figures of its bodies."""
    model = robot.snapshot.flattened() if robot.snapshot.parts else robot.snapshot
    if getattr(robot, "constraints", ()):
        whole = copy.copy(model)
        whole.rotors = {**model.rotors, **robot._rotors}
        return formulate(whole)
    system = spatial.spatial_system(model, rotors=robot._rotors, elements=not robot.is_looped)
    values = robot.parameter_values
    system = replace(system, p=tuple(replace(p, value=values[p.name]) for p in system.p))
    return drawn(model, system)


def recorded(robot: Motions, t: Any, q: Any, v: Any, a: Any) -> Results:
    """See `Robot.results`."""
    times = np.ravel(np.asarray(t, dtype=float))
    count = len(times)
    wanted = (("q", q, robot.nq), ("v", v, robot.nv), ("a", a, robot.nv))
    found = {}
    for name, given, size in wanted:
        rows = np.zeros((count, size)) if given is None else np.asarray(given, dtype=float)
        if rows.shape != (count, size):
            raise ShapeError(
                f"{robot.name}: {name} has a row of {size} numbers for each of {count} times, not "
                f"the shape {rows.shape}"
            )
        found[name] = np.ascontiguousarray(rows)
    system = robot.kinematic_system
    p = np.array([entry.value for entry in system.p])
    u = np.zeros((count, len(system.u)))
    states = np.concatenate([found["q"], found["v"]], axis=1)
    kind = partial(LoopedRecording, robot) if robot.is_looped else Recording
    return kind(system, found, times, states, p, u).results(RunStatistics(), (), False)


def picture(robot: Motions, q: Floats, **options: Any) -> Any:
    """See `Robot.draw`."""
    rows = np.tile(robot.normalised(q), (2, 1))
    return recorded(robot, [0.0, 1.0], rows, None, None).draw(0.0, **options)
