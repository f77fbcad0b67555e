"""Why a run stopped: the time, the coordinate and the probable cause."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import dependent_rows
from biela.analysis.instant import Instant, unit_rows
from biela.analysis.recording import Recording
from biela.analysis.singularity import joints_of, weakest
from biela.equations import System
from biela.results import Results
from biela.solvers.integrators import MEANINGS, NOT_FINITE, STEP_TOO_SMALL

Floats = npt.NDArray[np.float64]

#: Rows whose smallest singular value is below this part of the largest are nearly dependent.
_SINGULAR: Final = 0.03


def explanation(
    system: System, status: int, results: Results, p: Floats, step: float | None = None
) -> str:
    """A sentence for the status with which an integrator stopped."""
    t = float(results.t[-1])
    q, v = results.q[-1], results.v[-1]
    state = {e.name: abs(x) for e, x in zip((*system.q, *system.v), (*q, *v), strict=True)}
    worst = max(state, key=lambda name: state[name] if np.isfinite(state[name]) else np.inf)
    grown = f"the largest entry of the state is {worst} = {state[worst]:.3g}"
    cause = _cause(system, results, p, step)
    if status == NOT_FINITE:
        what = "the state became infinite or not a number"
    elif status == STEP_TOO_SMALL:
        what = "the step became too small for the accuracy asked for"
    else:
        what = MEANINGS[status]
    return (
        f"{system.name}: {what} after t = {t:.6g} s ({grown}). {cause} The results until then are "
        f"in the attribute results of this error"
    )


def fastest(system: System, recording: Recording, k: int) -> str:
    """The velocity that changes most between two stored instants."""
    v = recording.readings()["v"]
    if not system.v:
        return ""
    usual = np.abs(v).max(axis=0) + 1e-12 * np.abs(v).max()
    changed = np.abs(v[k + 1] - v[k])
    part = np.divide(changed, usual, out=np.zeros_like(usual), where=usual > 0)
    return system.v[int(np.argmax(part))].name


def likely_cause(system: System, recording: Recording, p: Floats, adaptive: bool, k: int) -> str:
    """What may have made a motion wrong between two stored instants, and what to try."""
    found = recording.readings()
    if system.multipliers:
        instants = [
            np.atleast_2d(
                system.evaluate(
                    "Phi_v", found["q"][i], t=recording.t[i], u=recording.inputs[i], p=p
                )
            )
            for i in (k, k + 1)
        ]
        sizes = [np.linalg.svd(unit_rows(rows)[0], compute_uv=False) for rows in instants]
        ratios = np.concatenate([s / max(s[0], 1e-300) for s in sizes])
        if ((ratios > 1e-9) & (ratios < _SINGULAR)).any():
            rows = instants[int(np.argmin([s[s > 1e-9 * s[0]].min() for s in sizes]))]
            joints = ", ".join(joints_of(weakest(system, rows)[0])[:3])
            advice = (
                "Use a fixed step (step=1e-3) or a larger tolerance"
                if adaptive
                else "Use another step, or begin a little beside the position"
            )
            return (
                f"Likely cause: the mechanism left its branch in a singular position, where "
                f"{joints} become dependent. {advice}"
            )
        dependent = [system.multipliers[i] for i in dependent_rows(instants[0])]
        if dependent:
            joints = ", ".join(joints_of(dependent)[:3])
            return (
                f"Likely cause: constraints of {joints} depend on others, and the choice among "
                f"them failed. Take joints with more freedoms in their place (spherical or "
                f"cylindrical for revolute), other coordinates, or a shorter step"
            )
    a = found["a"] if "a" in found else np.zeros((len(recording.t), 1))
    usual = float(np.median(np.abs(np.diff(a, axis=0)).max(axis=1))) if len(a) > 2 else 0.0
    if float(np.abs(a[k + 1] - a[k]).max()) > 20 * usual > 0:
        return (
            "Likely cause: a force is stiff, or a law jumps there. Use integrator='radau' or a "
            "shorter step; model a jump as an event"
        )
    return "Likely cause: the equations and the energy of a force do not belong together, or " + (
        "the tolerance is too large. Use a smaller tolerance"
        if adaptive
        else "the step is too long. Use a shorter step"
    )


def energy_jump(
    system: System, results: Results, p: Floats, lam: Floats | None
) -> tuple[int, float] | None:
    """The number of the instant after which the energy jumps, and by how much; None if nowhere.

    The energy must change by the work of the forces that have no potential, and of constraints
    that move: a trapezoidal sum of their power over the stored instants.  Between instants that are
    far apart that may be wrong by as much as the power itself does in the meantime, which is then
    no jump.  Without the multipliers ``lam`` nothing is said of constraints that move.
    """
    if "energy" not in system or "power" not in system:
        return None
    count = len(results)
    columns = {
        "t": results.t,
        "q": results.q,
        "v": results.v,
        "u": results.u if system.u else np.zeros((count, 0)),
        "p": np.repeat(p[None], count, 0),
        "lam": np.zeros((count, len(system.multipliers))) if lam is None else lam,
    }

    def values(name: str) -> Any:
        function = system[name]
        return function.map(*(columns[a.name] for a in function.inputs))

    kinetic, potential = values("energy")
    power = np.asarray(values("power"))
    if system.multipliers:
        moving = np.asarray(values("beta"))
        if lam is None and moving.any():
            return None
        power = power - (columns["lam"] * moving).sum(axis=1)
    spacing = np.diff(results.t)
    missing = np.abs(np.diff(kinetic + potential) - spacing * (power[1:] + power[:-1]) / 2)
    around = np.pad(np.abs(power), 1, mode="edge")
    largest = np.max([around[:-3], around[1:-2], around[2:-1], around[3:]], axis=0)
    scale = float(kinetic.max()) + float(np.ptp(potential))
    jumps = np.flatnonzero(missing > 0.02 * scale + spacing * largest)
    return (int(jumps[0]), float(missing[jumps[0]])) if len(jumps) else None


def _cause(system: System, results: Results, p: Floats, step: float | None) -> str:
    bad = _not_finite(system, results, p, step)
    if bad:
        return (
            f"Probable cause: the acceleration of {bad} is not finite from there on; a force or "
            f"law divides by zero or leaves its domain."
        )
    if system.geometric and np.abs(results["constraint error"][-1]) > 1e-3:
        return (
            "Probable cause: the constraints are violated; use projections, or smaller steps, and "
            "look for a singular position."
        )
    if step is None:
        return (
            "Probable cause: the mechanism stands in a singular position, or a law jumps; try a "
            "fixed step (step=1e-3), a larger tolerance, or integrator='radau' for stiff forces."
        )
    return (
        "Probable cause: the step is too long for a stiff force; try integrator='radau', or a "
        "smaller step."
    )


def _not_finite(system: System, results: Results, p: Floats, step: float | None) -> str:
    """The velocity whose force is the first that is not finite at the end or soon after it."""
    t, q, v = float(results.t[-1]), results.q[-1], results.v[-1]
    given = {
        "p": p,
        "u": results.u[-1] if system.u else None,
        "lam": results.lam[-1] if system.multipliers else None,
    }
    instant = Instant(system, t, np.zeros(0) if given["u"] is None else given["u"], p)
    spacing = float(np.diff(results.t[-2:])[0]) if len(results.t) > 1 else 1e-3
    for later in (0.0, 1e-9 * max(1.0, abs(t)), 0.5 * (step or spacing), step or spacing):
        place = instant.moved(q, later * v)
        Q = np.asarray(system.evaluate("Q", place, v, t=t + later, **given))
        if not np.isfinite(Q).all():
            return system.v[int(np.argwhere(~np.isfinite(Q))[0][0])].name
    return ""
