"""One function a question: what the analyses of the studio compute, and say of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import ModelError, SimulationError
from biela.results import Results
from biela.studio.settings import Analysis, Settings

__all__ = ["Answer", "answer", "without_energies"]

Floats = npt.NDArray[np.float64]

#: Of a motion that is looked at, not kept.
_TOLERANCE = 1e-6
#: Stiffness along a motion (rad²/s²) that is none, beside the largest one; and energy (J).
_NEUTRAL, _ROUNDING = 1e-9, 1e-12
#: Instants of a motion, at most: a page has no use of more.
_MOST = 4000


@dataclass(frozen=True, eq=False)
class Answer:
    """What an analysis found.

    Attributes:
        note: A sentence or two on it.
        motion: The motion, of analyses that have one.
        q: The position, of those that do not.
        warning: Why a motion ended before its time, "" if it did not.
    """

    note: str
    motion: Results | None = None
    q: Floats | None = None
    warning: str = ""


def answer(system: bl.System, settings: Settings, model: bl.Model | None = None) -> Answer:
    """Ask an analysis.

    Args:
        system: The equations.
        settings: What is asked for.
        model: What the equations are of, where they have no masses: dynamics are then solved in
            loops, whose equations are ready much sooner than those of many bodies written out.

    A motion that cannot go on is an answer too, as far as it went, with the reason.

    Raises:
        BielaError: There is no answer; the message says why and what to do.
    """
    if settings.analysis is Analysis.EQUILIBRIUM:
        return _equilibrium(system, settings)
    if not (settings.duration > 0 and settings.step > 0):
        raise ModelError("the duration of a motion and its step must be above zero")
    if settings.duration / settings.step > _MOST:
        raise ModelError(
            f"{settings.duration:g} s in steps of {settings.step:g} s are more than {_MOST} "
            f"instants: take a longer step, or biela run, which writes files"
        )
    try:
        if settings.analysis is Analysis.KINEMATICS:
            motion, warning = _kinematics(system, settings), ""
        elif model is not None:
            motion, warning = _in_loops(model, settings), ""
        else:
            motion, warning = _dynamics(system, settings), ""
    except SimulationError as error:
        if not isinstance(error.results, Results) or len(error.results) < 2:
            raise
        motion = error.results
        warning = str(error).partition(" The results until then")[0]
    if motion.interrupted and not warning:
        if len(motion) < 2:
            raise ModelError(f"stopped at {motion.t[-1]:.3g} s, before there was a motion to show")
        warning = f"stopped at {motion.t[-1]:.3g} s of {settings.duration:g} s"
    return Answer(_told(system, motion), motion, warning=warning)


def without_energies(motion: Results) -> Results:
    """A motion of equations without masses: energies would be zero, which they are not."""
    kept = [name for name in motion.monitors if "energy" not in name]
    return Results(
        motion.name,
        motion.t,
        motion.groups,
        {name: partial(motion.__getitem__, name) for name in kept},
        {name: motion.unit(name) for name in kept},
        motion.statistics,
        motion.scene,
        motion.events,
        motion.interrupted,
    )


def _kinematics(system: bl.System, settings: Settings) -> Results:
    try:
        return bl.kinematics(
            system, settings.duration, step=_whole(settings), q=dict(settings.q) or None
        )
    except ModelError as error:
        said, undriven, _ = str(error).partition(" Add a drive for each")
        if not undriven:
            raise
        raise ModelError(
            f"{said} Kinematics needs a driver for every freedom: choose dynamics, or drag it"
        ) from error


def _dynamics(system: bl.System, settings: Settings) -> Results:
    return bl.Simulator(system).run(
        settings.duration,
        q=dict(settings.q) or None,
        v=dict(settings.v) or None,
        inputs=dict(settings.inputs) or None,
        output=_whole(settings),
        tolerance=_TOLERANCE,
        progress=False,
    )


def _in_loops(model: bl.Model, settings: Settings) -> Results:
    return bl.simulate(
        model,
        settings.duration,
        q=dict(settings.q) or None,
        v=dict(settings.v) or None,
        inputs=dict(settings.inputs) or None,
        output=_whole(settings),
        tolerance=_TOLERANCE,
        progress=False,
        engine="looped",
    )


def _whole(settings: Settings) -> float:
    """The step nearest to the one wanted of which there is a whole number in the duration."""
    return settings.duration / max(2, round(settings.duration / settings.step))


def _equilibrium(system: bl.System, settings: Settings) -> Answer:
    inputs = dict(settings.inputs) or None
    found = bl.equilibrium(system, dict(settings.q) or None, inputs=inputs)
    # slower than this is no oscillation: rounding of a mechanism that stays wherever it is put
    least = _NEUTRAL * max(1.0, float(np.abs(found.stiffness).max(initial=0.0)))
    neutral = len(found.stiffness) > 0 and np.abs(found.stiffness).min() <= least
    stable = not (found.stiffness < -least).any()
    parts = [f"{'neutral' if neutral and stable else found.stability} equilibrium"]
    if not len(found.stiffness):
        parts = ["all freedoms are driven: it rests where its drivers hold it, switch them off"]
    rising = found.stiffness[found.stiffness > least]
    if len(rising):
        parts.append(f"slowest frequency {np.sqrt(rising[0]) / (2 * np.pi):.3g} Hz")
    if np.isfinite(found.energy):
        energy = 0.0 if abs(found.energy) < _ROUNDING else found.energy
        parts.append(f"potential energy {energy:.4g} J")
    return Answer("; ".join(parts), q=np.asarray(found.q, dtype=float))


def _told(system: bl.System, motion: Results) -> str:
    """Size, cost and alarms of a motion."""
    parts = [f"{len(motion)} instants", f"{len(system.q)} coordinates"]
    statistics = motion.statistics
    if statistics is not None and statistics.max_constraint_error is not None:
        parts.append(f"joints closed to {statistics.max_constraint_error:.0e}")
    if statistics is not None and statistics.time_total:
        parts.append(f"computed in {1e3 * statistics.time_total:.0f} ms")
    alarms = [f"{event.name} at {event.time:.3g} s" for event in motion.events[:2]]
    if len(motion.events) > 2:
        alarms.append(f"{len(motion.events) - 2} more")
    return "; ".join([*parts, *alarms])
