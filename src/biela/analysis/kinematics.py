"""Kinematic simulation: the motion that drives impose, without forces.

*Without integration*, for constraints on positions: at every instant the position by Newton's
method, velocity and acceleration by linear solves (`positioning`).  *With integration*, where
constraints hold for velocities only (rolling) or where freedoms are driven by their accelerations:

    [ Φ_v ]      [ γ ]
    [ S   ] v' = [ f(t) ],     q' = N v,

with projections of the position on the geometric rows and of the velocity on all rows after each
step (Plaza 2015, §2.2.4, figs 2.1 to 2.3).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import (
    closing_velocity,
    contradiction,
    dependent_rows,
    velocity_equations,
)
from biela.analysis.driven_motion import Found, Plan, integrated, positioned
from biela.analysis.driving import Law, driven
from biela.analysis.engine_choice import looped_model, with_drivers, with_start
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.idle import IdleFreedom, held, idle_freedoms
from biela.analysis.instant import Instant, Motions, motions, unit_rows
from biela.analysis.law_faults import names_laws
from biela.analysis.looped.kinematics import looped_kinematics
from biela.analysis.one_start import start_state
from biela.analysis.position_method import PositionMethod, as_method
from biela.analysis.preparation import Model, Values, as_system, numbers, values, with_values
from biela.analysis.redundant_motion import Measure, Objective, as_objective, redundant
from biela.analysis.sampling import sampling
from biela.analysis.singularity import Alarms, singularities
from biela.doors import door
from biela.equations import System
from biela.equations.positions import own_velocities
from biela.errors import ModelError, SimulationError, SingularityError
from biela.model import Model as Described
from biela.results import Results, RunStatistics

Floats = npt.NDArray[np.float64]

#: Condition number of Φ_v above which a position is reported as singular.
_CONDITION_LIMIT: Final = 1e6
#: Part of what they could be missed by that constraints may be missed by.
_KEPT: Final = 1e-4


@names_laws
@door(ModelError)
def kinematics(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    drives: Mapping[str, Law] | None = None,
    accelerations: Mapping[str, Law] | None = None,
    q: Values = None,
    v: Values = None,
    t: float = 0.0,
    output: float | None = None,
    end_point: bool = True,
    parameters: Values = None,
    inputs: Values = None,
    integrate: bool | None = None,
    integrator: str | None = None,
    method: str | PositionMethod = "newton",
    through_dead_points: bool = False,
    objective: str | Measure | Objective | None = None,
    tolerance: float = 1e-10,
    condition_limit: float = _CONDITION_LIMIT,
    determinant_limits: tuple[float, float] | None = None,
    engine: str | None = None,
    formulation: str | None = None,
) -> Results:
    """The motion of a mechanism all of whose freedoms are driven.

    Args:
        model: The mechanism; constraints that depend on time drive it already.
        duration: Time to simulate, s.
        step: Time between instants, s.
        drives: Laws of further coordinates, velocities or outputs by name, such as
            ``{"theta": "2*t + 0.1*sin(3*t)"}``; see `driving.driven`.
        accelerations: Laws of accelerations, by the names of coordinates or velocities; these need
            integration.
        q: First guess of the position at the start, by name or in order: the branch.
        v: Velocities at the start, where drives leave them open (integration only).
        t: Start time, s.
        output: Time between stored instants, s (default: the step).
        end_point: Whether the instant ``t + duration`` is stored too.
        parameters: Values other than those of the model.
        inputs: Likewise.
        integrate: Whether to integrate; None does so only where it must be.
        integrator: Fixed-step method of the integration, "rk4" if none is named.
        method: How positions are found: "newton", "damped", "transpose" or "quasi_newton", or a
            `PositionMethod` with their options, among them the end of the iterations and the
            prediction that they start from.
        through_dead_points: Whether to follow the curve of positions by its length where a drive
            turns back at a dead point; velocities and accelerations there come from both sides.
        objective: For fewer drives than freedoms: what the free motion increases, such as
            "manipulability", see `redundant_motion`.
        tolerance: Largest constraint error of an instant that is accepted (m, rad).
        condition_limit: Condition number of Φ_v above which a position is reported as singular.
        determinant_limits: Magnitudes of the determinant of a square Φ_v below and above which it
            is reported, such as (1e-6, 1000.0); it depends on units and lengths, so None is usual.
        engine: "unrolled", or "looped" for large mechanisms, see `looped_kinematics`; None chooses
            by the number of bodies.
        formulation: By structural groups or whole, by name: "natural groups", "relative groups",
            "global sparse" … or "auto", see `group_kinematics`; it needs a Model of bodies.

    Returns:
        Channels q, v, a and the outputs, and the monitors "condition" and "smallest singular value"
        of the Jacobian, the "determinant" of a square one and its sign, and the "objective".
        Events tell where the mechanism passes near a singular position, with the joints that lose
        their grip and what they leave free, and where the sign of the determinant changes, which
        is a change of branch.

    Raises:
        ModelError: Freedoms are left that nothing drives, or an argument makes no sense.
        AssemblyError: The mechanism cannot be assembled at the start.
        SingularityError: The start is a singular position.
        SimulationError: The mechanism cannot go on; it names the time and the constraints, and
            holds the results until then.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    instants = sampling(duration, step, t=t, output=output)
    unusual = {
        "accelerations": accelerations,
        "v": v,
        "inputs": inputs,
        "integrate": integrate,
        "method": method != "newton",
        "through_dead_points": through_dead_points,
        "objective": objective,
        "integrator": integrator,
        "condition_limit": condition_limit != _CONDITION_LIMIT,
        "determinant_limits": determinant_limits,
        "q in order": q is not None and not isinstance(q, Mapping),
        "parameters in order": parameters is not None and not isinstance(parameters, Mapping),
    }
    if formulation is not None:
        grouped = _model_of_groups(model, drives or {}, {**unusual, "engine": engine})
        grouped, guessed = with_start(grouped, numbers(q))
        return group_kinematics(
            grouped,
            duration,
            step=step,
            formulation=formulation,
            t=t,
            output=output,
            end_point=end_point,
            parameters=numbers(parameters),
            q=guessed,
            tolerance=tolerance,
        )
    large = looped_model(engine, model, drives or {}, unusual)
    if large is not None:
        large, guessed = with_start(large, numbers(q))
        return looped_kinematics(
            large,
            duration,
            step=step,
            q=guessed,
            t=t,
            output=output,
            end_point=end_point,
            parameters=numbers(parameters),
            tolerance=tolerance,
        )
    system = driven(as_system(model), drives or {})
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    by_velocity = len(system.multipliers) > system.geometric
    if integrate is None:
        integrate = bool(accelerations) or by_velocity
    if objective is None and not integrate and (accelerations or by_velocity):
        raise ModelError(
            f"{system.name}: {'accelerations are driven' if accelerations else 'some constraints'}"
            f"{'' if accelerations else ' hold for velocities only'}; integrate=True is needed"
        )
    way = "objective" if objective is not None else "integrate" if integrate else "positions"
    _check_used(
        system.name,
        way,
        {
            "integrator": integrator is not None,
            "v": v is not None,
            "method": method != "newton",
            "through_dead_points": through_dead_points,
        },
    )
    place, speed = start_state(system, q, v, t=t, u=u, p=p)
    driving = _selection(system, accelerations or {})
    idle: Sequence[IdleFreedom] = ()
    if objective is None:
        instant = Instant(system, t, u, p)
        idle = _check_driven(instant, place, driving)
        if idle:
            system = held(instant, place, idle)
            asked = velocity_equations(system, place, t, u, p, conditions=False)
            speed = closing_velocity(system, asked.rows, asked.right, speed, {})
    # positions, velocities, accelerations, and the rows of the constraints
    instants.check_memory(3 * len(system.v) + len(system.multipliers) * len(system.v))
    plan = Plan(system, float(t), step, instants.steps, instants.stride, p, u, tolerance)
    if objective is not None:
        if accelerations:
            raise ModelError(
                f"{system.name}: with an objective, give no accelerations: the free motion follows "
                f"from it"
            )
        found = redundant(plan, place, as_objective(objective))
    elif integrate:
        laws = accelerations or {}
        found = integrated(plan, place, speed, driving, laws, integrator or "rk4")
    else:
        found = positioned(plan, place, as_method(method), through_dead_points)
    if idle:
        found.statistics["more"] = _held(idle)
    alarms = Alarms(condition_limit, determinant_limits)
    return _results(plan, found, end_point, alarms, time.perf_counter() - began)


#: What each way to a motion does not use, and what it is.
_UNUSED: Final = {
    "positions": (("integrator", "v"), "positions are solved for, not integrated"),
    "integrate": (("method", "through_dead_points"), "the motion is integrated, not solved for"),
    "objective": (
        ("integrator", "v", "method", "through_dead_points"),
        "the motion follows from the objective",
    ),
}


def _check_used(who: str, way: str, given: Mapping[str, bool]) -> None:
    """Refuse arguments that a way to the motion does not use.

    Raises:
        ModelError: It names them.
    """
    names, why = _UNUSED[way]
    wrong = [name for name in names if given[name]]
    if wrong:
        raise ModelError(f"{who}: {why}: {', '.join(wrong)} would do nothing; leave it out")


def _model_of_groups(
    model: Model, drives: Mapping[str, Law], unusual: Mapping[str, object]
) -> Described:
    """The model for kinematics by groups, with the drives as drivers."""
    if not isinstance(model, Described):
        raise ModelError("formulations by groups take a Model, of bodies and joints")
    given = [name for name, value in unusual.items() if value]
    if given:
        raise ModelError(
            f"{model.name}: kinematics by groups does not know {', '.join(given)}; leave it out, "
            f"or leave out the formulation"
        )
    return with_drivers(model, drives)


def _held(idle: Sequence[IdleFreedom]) -> dict[str, str]:
    """What the statistics say of idle freedoms that are held, by the bodies that they move."""
    told: dict[str, str] = {}
    for one in idle:
        label = f"held, {' with '.join(one.bodies)}"
        told[label] = f"{told[label]}; {one}" if label in told else str(one)
    return told


# --- what is driven -------------------------------------------------------------------------------


def _selection(system: System, laws: Mapping[str, Law]) -> list[int]:
    """Places of the velocities whose accelerations are driven."""
    names = {e.name: k for k, e in enumerate(system.v)}
    own = zip(system.q, own_velocities(system), strict=True)
    by_coordinate = {e.name: k for e, k in own if k >= 0}
    for name in laws:
        if name not in names and name not in by_coordinate:
            raise ModelError(
                f"{system.name} has no coordinate or velocity {name} whose acceleration could be "
                f"driven; it has {', '.join([*by_coordinate, *names])}"
            )
    return [names[name] if name in names else by_coordinate[name] for name in laws]


def _check_driven(instant: Instant, q: Floats, driving: Sequence[int]) -> Sequence[IdleFreedom]:
    """Refuse freedoms that nothing drives, and a start in a singular position.

    Idle freedoms that nothing drives are returned, to be held.
    """
    system = instant.system
    picked = np.eye(len(system.v))[list(driving)]

    def rows(place: Floats) -> Floats:
        return np.concatenate([instant.Phi_v(place), picked])

    here = motions(rows(q))
    if not here.mobility:
        return ()
    left = _left_free(instant, q, picked, here)
    idle = [one for one in idle_freedoms(instant, q) if not np.abs(picked @ one.z).any()]
    if left and left == len(idle) == here.mobility:
        return idle
    if left:
        R = here.R
        order = np.argsort(-np.linalg.norm(R, axis=1))[: max(left, 3)]
        moving = ", ".join(system.v[i].name for i in order if np.linalg.norm(R[i]) > 1e-6)
        hold = f". What is idle is held: {'; '.join(map(str, idle))}" if idle else ""
        raise ModelError(
            f"{system.name}: {left} degree{'s' if left > 1 else ''} of freedom "
            f"{'are' if left > 1 else 'is'} not driven; these velocities are still free: {moving}. "
            f"Add a drive for each: drives={{…: law}}, or accelerations={{…: law}}{hold}"
        )
    names = [*system.multipliers, *(f"acceleration of {system.v[i].name}" for i in driving)]
    dependent = ", ".join(names[i] for i in dependent_rows(unit_rows(rows(q))[0]))
    raise SingularityError(
        f"{system.name}: the start at t = {instant.t:g} s is a singular position, in which "
        f"{dependent} depends on the other constraints; start from another one"
    )


def _left_free(instant: Instant, q: Floats, picked: Floats, here: Motions) -> int:
    """Freedoms that are left near a position with freedoms: none, if it is only singular."""
    system, n = instant.system, len(instant.system.v)
    random = np.random.default_rng(0)
    few = n - len(system.multipliers) - len(picked)
    if few > 0:
        return few
    # a little later and along the constraints, beside which redundant rows seem to be independent;
    # at a singular position a displacement leads nowhere, and is undone
    later = Instant(system, instant.t + 1e-3, instant.u, instant.p)
    found = []
    for _ in range(6):
        delta = here.R @ random.normal(size=here.mobility)
        displaced = later.moved(q, 1e-2 * delta / np.linalg.norm(delta))
        place = later.assembled(displaced)
        if place is None or np.linalg.norm(place - q) < 0.3 * np.linalg.norm(displaced - q):
            continue
        found.append(motions(np.concatenate([later.Phi_v(place), picked])).mobility)
    return min(found, default=0)


# --- results --------------------------------------------------------------------------------------


def _results(plan: Plan, found: Found, end_point: bool, alarms: Alarms, spent: float) -> Results:
    system, readings = plan.system, found.readings
    count = len(readings["q"])
    whole = (plan.steps // plan.stride) + 1
    on_end = plan.steps % plan.stride == 0
    if not end_point and count == whole and on_end:
        count -= 1
        readings = {name: part[:count] for name, part in readings.items()}
    recording = plan.recording(readings)
    t = recording.t
    rows = found.rows
    if rows is None and system.multipliers:
        rows = np.asarray(recording.evaluate("Phi_v"), dtype=float)
    events, more = singularities(system, t, rows[:count], alarms) if rows is not None else ([], {})
    failure = found.failure
    miss = None
    if rows is not None and not failure:
        miss = recording.first_miss(_KEPT, rows=rows[:count], instants=_regular(rows[:count]))
    if miss is not None and rows is not None:
        of = rows[miss.instant][: len(miss.missed)]
        conflict = contradiction(system.multipliers, of, miss.missed)
        failure = f"{miss.said(system, t)}{': ' if conflict else ''}{conflict}"
    for name, monitor in found.monitors.items():
        more[name] = (partial(_kept, monitor, count), "")
    statistics = RunStatistics(
        steps=plan.steps,
        time_simulated=float(t[-1] - t[0]),
        time_total=spent,
        max_constraint_error=recording.constraint_error(),
        **found.statistics,
    )
    results = recording.results(statistics, events, bool(failure), more)
    if failure:
        if miss is not None:
            results = results.between(t[0], t[max(miss.instant - 1, 0)])
        raise SimulationError(
            f"{system.name}: after t = {results.t[-1]:.6g} s {failure}. The results until then are "
            f"in the attribute results of this error",
            results,
        )
    return results


def _regular(rows: Floats) -> npt.NDArray[np.bool_]:
    """The instants at which Φ_v is not singular; all, if it is so at every one of them."""
    rank = min(rows.shape[1:])
    s = np.linalg.svd(rows, compute_uv=False)
    found = np.asarray(s[:, rank - 1] * _CONDITION_LIMIT > s[:, 0])
    return found if found.any() else np.ones(len(rows), dtype=bool)


def _kept(monitor: Floats, count: int) -> Floats:
    """The part of a monitor that is stored."""
    return monitor[:count]
