"""Inverse dynamics: the inputs and reactions that a motion needs.

Forces are linear in the inputs, Q = Q₀ + B u.  With the projector P = 1 - Φ_v⁺ Φ_v on the motions
that the constraints allow,

    P B u = P (M v' - Q₀),     Φ_vᵀ λ = Q₀ + B u - M v',

solved for the smallest u and then the smallest λ.  A motion that drives impose needs no inputs:
minus the multipliers of the drives are the driving forces.  All instants are treated together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant
from biela.analysis.preparation import Model, Values, as_system, values, with_values
from biela.analysis.reach import drive_rows
from biela.analysis.recording import Recording
from biela.analysis.unrolled import Unrolled, derivatives
from biela.code import Function
from biela.doors import door
from biela.equations import System
from biela.errors import ModelError, ShapeError
from biela.results import Event, Results, RunStatistics
from biela.singular_values import pinv

Floats = npt.NDArray[np.float64]

#: Singular values below this part of the largest one are zero.
_CUT = 1e-10
#: How far the part of an input that a motion determines may be from one.
_SURE = 1e-8
#: Rounds for forces that depend on multipliers, such as friction.
_ROUNDS = 30
#: Part of what they could be missed by that constraints may be missed by.
_KEPT = 1e-3


@dataclass(frozen=True)
class Motion:
    """A motion: instants (k,), positions (k, nq), velocities and accelerations (k, nv)."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True)
class Requirement:
    """Inputs (k, nu) and multipliers (k, m) of a motion, and what forces are still missing.

    ``determinate`` (k, nu) tells which inputs the motion determines: of the others, which act on
    what constraints hold too, or together on one freedom, these are the smallest.  ``beyond``
    (k, nu) tells where an input is more than its actuator gives.
    """

    u: Floats
    lam: Floats
    missing: Floats
    scale: Floats
    determinate: npt.NDArray[np.bool_]
    beyond: npt.NDArray[np.bool_]


@door(ModelError)
def inverse_dynamics(
    model: Model,
    motion: Results | tuple[Any, Any, Any, Any],
    *,
    unknown: Sequence[str] | None = None,
    parameters: Values = None,
    inputs: Values = None,
    tolerance: float = 1e-6,
) -> Results:
    """The inputs that produce a motion, with the reactions.

    Args:
        model: What moves.
        motion: Results with q, v and a (of a kinematic simulation, say), or the arrays t, q, v, a.
        unknown: Names of the inputs to be found; all of them if not given.
        parameters: Values other than those of the model.
        inputs: Values of the inputs that are known.
        tolerance: Part of the forces that may be left over before the motion is called impossible;
            if it is larger than a thousandth, also the part by which constraints may be missed.

    Returns:
        The motion with the groups u and lam, and the monitors "missing force", what the inputs
        cannot give, and "indeterminate inputs", how many inputs the motion does not determine:
        those of actuators on coordinates that constraints or drivers hold, or of several actuators
        on one freedom.  They are the smallest ones, and named in the statistics.  An input is what
        the motion requires also where that is more than the limit of its actuator; an event tells
        the first instant of that.

    Raises:
        ModelError: The motion does not fulfil the constraints of the model, the inputs are not
            enough to produce it, or act non-linearly.
        ShapeError: The arrays do not fit the model.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    course = _motion(system, motion)
    found = required(system, course, p, u, chosen_inputs(system, unknown))
    _check_closed(system, course, p, found.u, max(_KEPT, tolerance))
    _check_finite(system, course, found)
    _check_enough(system, course, found, tolerance)
    readings = {"q": course.q, "v": course.v, "a": course.a}
    if system.multipliers:
        readings["lam"] = found.lam
    recording = Recording(system, readings, course.t, np.zeros((len(course.t), 0)), p, found.u)
    unsure = ~found.determinate
    named = [system.u[i].name for i in np.flatnonzero(unsure.any(axis=0))]
    statistics = RunStatistics(
        method="inverse dynamics",
        more={"indeterminate inputs, the smallest": ", ".join(named)} if named else {},
        time_total=time.perf_counter() - began,
        max_constraint_error=recording.constraint_error(),
    )
    missing = np.abs(found.missing).max(axis=1, initial=0.0)
    monitors: dict[str, tuple[Callable[[], Floats], str]] = {
        "missing force": (lambda: missing, ""),
        "indeterminate inputs": (lambda: unsure.sum(axis=1).astype(float), ""),
    }
    beyond = [(int(np.argmax(found.beyond[:, i])), i) for i in np.flatnonzero(found.beyond.any(0))]
    events = [
        Event(float(course.t[k]), f"{system.u[i].name} exceeds the limit of its actuator")
        for k, i in sorted(beyond)
    ]
    return recording.results(statistics, events, False, monitors)


def required(
    system: System, motion: Motion, p: Floats, u: Floats, unknown: Sequence[int]
) -> Requirement:
    """Inputs and multipliers of a motion, the best that can be done."""
    k, n, m = len(motion.t), len(system.v), len(system.multipliers)
    held = np.repeat(u[None], k, 0)
    given = {"t": motion.t, "q": motion.q, "v": motion.v, "p": np.repeat(p[None], k, 0)}

    def evaluate(function: Function, **more: Floats) -> Floats:
        every = given | more
        return np.asarray(function.walk_map(*(every[a.name] for a in function.inputs)))

    inertial = np.einsum("kij,kj->ki", evaluate(system["M"], u=held).reshape(k, n, n), motion.a)
    rows = evaluate(system["Phi_v"], u=held).reshape(k, m, n) if m else np.zeros((k, 0, n))
    inverse = pinv(rows, rcond=_CUT) if m else np.zeros((k, n, 0))
    P = np.eye(n) - inverse @ rows
    loaded = m > 0 and any(a.name == "lam" for a in system["Q"].inputs)
    slope = input_slopes(system, unknown)
    lam = np.zeros((k, m))
    held[:, list(unknown)] = 0.0
    total, missing = held.copy(), np.zeros((k, n))
    Q, applied = np.zeros((k, n)), np.zeros((k, n))
    determinate, beyond = np.ones(held.shape, dtype=bool), np.zeros(held.shape, dtype=bool)
    for _ in range(_ROUNDS if loaded else 1):
        before = lam
        Q = evaluate(system["Q"], u=held, lam=lam).reshape(k, n)
        applied = Q
        needed = np.einsum("kij,kj->ki", P, inertial - Q)
        missing = needed
        if slope is not None:
            B = evaluate(slope, u=held, lam=lam).reshape(k, n, len(unknown))
            PB = P @ B
            # where the drives leave no freedom, P B is rounding only and moves nothing
            PB[np.abs(PB).max(axis=(1, 2)) <= _CUT * np.abs(B).max()] = 0.0
            inputs_of = pinv(PB, rcond=_CUT)
            found = np.einsum("kij,kj->ki", inputs_of, needed)
            # an input is determinate if no other values of the inputs push the motion alike
            kept = np.einsum("kij,kji->ki", inputs_of, PB)
            determinate[:, list(unknown)] = kept > 1 - _SURE
            total = held.copy()
            total[:, list(unknown)] = found
            missing = needed - np.einsum("kij,kj->ki", PB, found)
            Q = Q + np.einsum("kij,kj->ki", B, found)
            there = evaluate(slope, u=total, lam=lam).reshape(B.shape)
            beyond[:, list(unknown)] = (B != 0).any(axis=1) & ~(there != 0).any(axis=1)
        lam = np.einsum("kji,kj->ki", inverse, Q - inertial)
        if np.abs(lam - before).max(initial=0.0) <= 1e-12 * np.abs(lam).max(initial=0.0):
            break
    scale = sum(np.abs(part).max(axis=1, initial=0.0) for part in (inertial, applied, Q))
    return Requirement(total, lam, missing, np.asarray(scale), determinate, beyond)


def input_slopes(system: System, unknown: Sequence[int]) -> Function | None:
    """∂Q/∂u for some of the inputs, None without any.

    Actuators with a limit are linear up to it: the slope is that there, or zero beyond.

    Raises:
        ModelError: The forces are not linear in them.
    """
    if not unknown:
        return None
    unrolled = Unrolled(system)
    symbols = [unrolled.u[i] for i in unknown]
    B = derivatives(list(unrolled("Q")), symbols)
    bends = derivatives([e for row in B for e in row], symbols)
    live = set(unrolled.workspace.table.live(e.ref for row in bends for e in row))
    live |= {s.ref for j, s in enumerate(symbols) if any(row[j].value != 0 for row in bends)}
    for symbol, i in zip(symbols, unknown, strict=True):
        if symbol.ref in live:
            raise ModelError(
                f"{system.name}: the forces are not linear in the input {system.u[i].name}; "
                f"give it a value and leave it out of the unknown ones"
            )
    inputs: dict[str, Any] = {
        "t": unrolled.t,
        "q": unrolled.q,
        "v": unrolled.v,
        "u": unrolled.u,
        "p": unrolled.p,
    }
    more = {"lam": unrolled.lam} if unrolled.lam else {}
    return Function("input_slopes", inputs | more, {"B": B})


def chosen_inputs(system: System, names: Sequence[str] | None) -> list[int]:
    """Places of inputs by name; all without names.

    Raises:
        ModelError: An input is unknown.
    """
    known = [e.name for e in system.u]
    if names is None:
        return list(range(len(known)))
    for name in names:
        if name not in known:
            raise ModelError(f"{system.name} has no input {name}; it has {', '.join(known)}")
    return [known.index(name) for name in names]


def _motion(system: System, given: Results | tuple[Any, Any, Any, Any]) -> Motion:
    parts: tuple[Any, Any, Any, Any]
    if isinstance(given, Results):
        for group, entries in (("q", system.q), ("v", system.v)):
            names = tuple(given.groups[group].names) if group in given.groups else ()
            if names != tuple(e.name for e in entries):
                raise ModelError(
                    f"{system.name}: the motion is not one of this model: its {group} are "
                    f"{', '.join(names) or 'none'}"
                )
        if "a" not in given.groups:
            raise ModelError(f"{system.name}: the motion has no accelerations; results need a")
        parts = (given.t, given.q, given.v, given.a)
    else:
        parts = given
    t = np.atleast_1d(np.asarray(parts[0], dtype=float))
    arrays = [np.atleast_2d(np.asarray(part, dtype=float)) for part in parts[1:]]
    for name, array, size in zip(
        "qva", arrays, (len(system.q), len(system.v), len(system.v)), strict=True
    ):
        if array.shape != (len(t), size):
            raise ShapeError(
                f"{system.name}: {name} of the motion has shape {array.shape}, and should have "
                f"{(len(t), size)}, a row an instant"
            )
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ModelError(f"{system.name}: {name} is not finite at t = {t[row]:g} s")
    return Motion(t, *arrays)


def _check_closed(system: System, motion: Motion, p: Floats, u: Floats, part: float) -> None:
    """See that joints hold along a motion that somebody gave; drives only say what is asked for.

    Raises:
        ModelError: It contradicts them in position, velocity or acceleration.
    """
    readings = {"q": motion.q, "v": motion.v, "a": motion.a}
    along = Recording(system, readings, motion.t, np.zeros((len(motion.t), 0)), p, u)
    joints = np.ones(len(system.multipliers), dtype=bool)
    instant = Instant(system, float(motion.t[0]), u[0], p)
    joints[: system.geometric] = ~drive_rows(instant, motion.q[0])
    miss = along.first_miss(part, joints)
    if miss is not None:
        raise ModelError(
            f"{system.name}: the motion given is not one of this model: "
            f"{miss.said(system, motion.t)}. Take the motion from kinematics or simulate with the "
            f"same parameters, or a larger tolerance if it was measured"
        )


def _check_finite(system: System, motion: Motion, found: Requirement) -> None:
    """See that all forces are numbers.

    Raises:
        ModelError: One is not; it names the time.
    """
    lost = ~(np.isfinite(found.u).all(axis=1) & np.isfinite(found.lam).all(axis=1))
    if lost.any():
        k = int(np.argmax(lost))
        raise ModelError(
            f"{system.name}: the forces are not finite at t = {motion.t[k]:.6g} s; look at the "
            f"laws of forces and inputs there"
        )


def _check_enough(system: System, motion: Motion, found: Requirement, tolerance: float) -> None:
    scale = np.maximum(found.scale, 1e-9 * found.scale.max(initial=0.0))
    over = np.abs(found.missing) > tolerance * scale[:, None]
    if not over.any():
        return
    k = int(np.argmax(over.any(axis=1)))
    i = int(np.argmax(np.abs(found.missing[k])))
    inputs = ", ".join(e.name for e in system.u) or "none"
    raise ModelError(
        f"{system.name}: the inputs ({inputs}) cannot produce this motion: at "
        f"t = {motion.t[k]:.6g} s a force of {found.missing[k, i]:.3g} along {system.v[i].name} "
        f"is missing; add an input that acts there, or drive a coordinate"
    )
