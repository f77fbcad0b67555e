"""Motions of long robots: nothing is written out, and no step is in Python.

The right-hand side is the recursion of articulated bodies, link after link
(`biela.equations.spatial.looped`); the integrators are those of all simulations.  The cost of a
step grows with the number of joints.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.divergence import fastest
from biela.analysis.plan import Plan, closer
from biela.analysis.preparation import number, values
from biela.analysis.progress import Progress
from biela.analysis.robots.recording import LoopedRecording
from biela.analysis.stepping import Stepper, followed, statistics
from biela.analysis.watch import Account, Means, check_watch, energy_fault
from biela.errors import ModelError, SimulationError
from biela.model.forces import Actuator, Stop
from biela.results import Results
from biela.solvers.integrators import FINISHED, Problem
from biela.solvers.integrators.fixed_step import METHODS, FixedStep
from biela.solvers.integrators.variable_step import ADAPTIVE_METHODS

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]

#: The energy is looked at every so many steps, at so many instants at least.
_OFTEN, _FEWEST = 50, 9
#: Instants at which an interval is seen that is run once more.
_SEEN = 20
#: Native calls are about this long, so that an interrupt is answered soon.
_CHUNK_SECONDS = 0.1


def looped_robot_simulation(
    robot: Motions,
    duration: float,
    *,
    integrator: str | None = None,
    q: Any = None,
    v: Any = None,
    t: float = 0.0,
    step: float | None = None,
    output: float | None = None,
    tolerance: float = 1e-8,
    inputs: Any = None,
    progress: bool | None = None,
    watch: str = "error",
    **others: Any,
) -> Results:
    """The motion of a long robot under constant joint forces.

    Args:
        robot: A tree whose dynamics are looped.
        duration: Time to simulate, s.
        integrator: As of `biela.simulate`: "rk4" if a step is given, else "dormand_prince".
        q: Start positions, by name or in order; those of the model if not given.
        v: Start velocities, likewise.
        t: Start time, s.
        step: Step of a fixed-step method, s.
        output: Time between stored instants, s.
        tolerance: Relative tolerance of adaptive methods.
        inputs: Joint forces, by "tau.joint" or in order; zero if not given.
        progress: Whether to show a bar; None shows it on a terminal for long runs.
        watch: What to do where the energy goes wrong by more than the tolerance or the step
            explains: "error" raises one; "event" goes on, and lists it.
        **others: Options that are for robots written out.

    Returns:
        Channels q, v, a and u, the poses of frames, and the energies.

    Raises:
        ModelError: An argument makes no sense, or is for robots written out only.
        SimulationError: The run diverges, or the motion is wrong; it holds the results until then.
    """
    began = time.perf_counter()
    system = robot.kinematic_system
    watch = check_watch(system.name, watch)
    if others:
        raise ModelError(
            f"{system.name}: {', '.join(others)} is not there for a robot that runs link after "
            f"link; leave it out, or make the robot with lowering='unrolled'"
        )
    _check_elements(robot)
    if integrator is not None and integrator not in (*METHODS, *ADAPTIVE_METHODS):
        known = ", ".join((*METHODS, *ADAPTIVE_METHODS))
        raise ModelError(f"integrator {integrator!r} is not known; these are: {known}")
    if integrator == "second_order_euler" and robot.nq != robot.nv:
        raise ModelError(
            f"{system.name}: integrator {integrator!r} is for as many coordinates as velocities; "
            f"use 'semi_implicit_euler' or 'rk4'"
        )
    length = number(system, "the duration", duration)
    if not length > 0:
        raise ModelError(f"{system.name}: the duration must be a positive time, not {duration!r}")
    u = values(system, "input", system.u, inputs)
    q0 = np.asarray(robot.normalised(values(system, "coordinate", system.q, q)))
    x = np.concatenate([q0, values(system, "velocity", system.v, v)])
    plan = Plan.make(
        integrator, length, number(system, "the start time t", t), step, output, None, False, len(x)
    )
    looped: Any = robot.__dict__["_looped"]
    motion = looped.motion
    problem = Problem(
        motion.f,
        len(x),
        len(u),
        nq=robot.nq,
        project_q=motion.normalise,
        q_iterations=0 if motion.normalise is None else 1,
    )
    units, rates = [e.unit for e in system.q], [e.unit for e in system.v]
    sizes = plan.sizes(x[: robot.nq], x[robot.nq :], units, rates)
    stepper = plan.stepper(problem, tolerance, sizes=sizes)
    stepper.start(0.0, x, u, plan.times, plan.start)
    prepared = time.perf_counter()
    times, states, fault, interrupted = _run(system.name, plan, stepper, x, progress)
    ended = time.perf_counter()
    costs = stepper.counts() | {"time_integration": ended - prepared, "time_total": ended - began}
    costs["more"] = {"preparation": f"{prepared - began:.3g} s"}
    p = np.array([entry.value for entry in system.p])
    euler = FixedStep(Problem(motion.f, len(x), len(u), nq=robot.nq), "explicit_euler")

    def recorded(t: Floats, x: Floats) -> LoopedRecording:
        readings = {"q": x[:, : robot.nq], "v": x[:, robot.nq :]}
        forces = np.repeat(u[None], len(t), 0)
        readings["a"] = looped.get("forward_dynamics").map(readings["q"], readings["v"], forces)

        def rates() -> Floats:  # x' is what a step of a second adds
            ends = [euler.run(at, row, u, 1.0, 1, 1).x for at, row in zip(t, x, strict=True)]
            return np.asarray((np.array(ends) - x)[:, : robot.nq])

        own = None if robot.nq == robot.nv else rates
        return LoopedRecording(robot, system, readings, t, x, p, forces, rates=own)

    def again(k: int, finer: int) -> LoopedRecording | None:
        start, end = float(times[looked[k]]), float(times[looked[k + 1]])
        part = closer(plan, start, end, finer, _SEEN)
        stepper = part.stepper(problem, tolerance, sizes=sizes)
        run = followed(stepper, start, states[looked[k]], u, part.times)
        return None if run is None else recorded(*run)

    steps = int(costs.get("steps", 0))
    count = min(len(times), max(_FEWEST, steps // _OFTEN))
    looked = np.unique(np.linspace(0, len(times) - 1, count).astype(np.intp))
    some = recorded(times[looked], states[looked])
    means = Means(
        tolerance if plan.adaptive else 0.0,
        plan.step or 0.0,
        steps,
        replay=again,
        place=partial(fastest, system, some),
        cause=lambda k: "Likely cause: a stiff force. Take a smaller tolerance or shorter steps",
    )
    wrong = None
    if len(times) > 1:
        wrong = energy_fault(Account.glance(some), some, means)
    events = () if wrong is None else (wrong.event,)
    found = statistics(
        costs,
        method="articulated bodies, looped",
        integrator=plan.name,
        time_simulated=float(times[-1] - times[0]),
        events=len(events),
    )
    results = recorded(times, states).results(found, events, interrupted or bool(fault))
    if fault:
        raise SimulationError(f"{system.name}: {fault}", results)
    if wrong is not None and wrong.wrong and watch == "error":
        results = results.between(results.t[0], wrong.time)
        raise SimulationError(f"{system.name}: {wrong.said}", results)
    return results


def _check_elements(robot: Motions) -> None:
    """Refuse a model whose motion or results would lack something link after link.

    Raises:
        ModelError: It has actuators that act by themselves, stops, sensors, or friction under load.
    """
    model = robot.snapshot
    lacking = [f"{x.category} {x.name} ({x.kind})" for x in model.sensors.values()]
    for force in model.forces.values():
        acts = isinstance(force, Actuator) and (force.law is not None or force.value != 0.0)
        if acts or isinstance(force, Stop) or force.needs_reactions:
            lacking.append(f"force {force.name} ({force.kind})")
    if lacking:
        raise ModelError(
            f"{robot.name}: {lacking[0]} is not there for a robot that runs link after link; leave "
            f"it out, or make the robot with lowering='unrolled'"
        )


def _run(
    name: str, plan: Plan, stepper: Stepper, x: Floats, progress: bool | None
) -> tuple[Floats, Floats, str, bool]:
    """The stored instants and states, what stopped the run, and whether that was the user."""
    times, states = [np.array([plan.start])], [x[None].copy()]
    done, fault = 0, ""
    stepper.pause = 10
    with Progress(f"simulating {name}", plan.duration, progress) as bar:
        try:
            while done < len(plan.times) and not fault:
                tick = time.perf_counter()
                found = stepper.advance(len(plan.times) - done)
                spent = time.perf_counter() - tick
                good = np.isfinite(found.states).all(axis=1)
                times.append(found.times[good])
                states.append(found.states[good])
                done += len(found.times)
                if found.status != FINISHED or not np.isfinite(found.x).all():
                    fault = (
                        f"the motion cannot be followed beyond t = {found.t:.6g} s: velocities or "
                        f"accelerations grow without bound. Take smaller steps; the results until "
                        f"then are in the attribute results of this error"
                    )
                if spent < _CHUNK_SECONDS / 2:
                    stepper.pause = min(2 * stepper.pause, 10_000_000)
                elif spent > 2 * _CHUNK_SECONDS:
                    stepper.pause = max(1, stepper.pause // 2)
                bar.update(found.elapsed)
        except KeyboardInterrupt:
            return np.concatenate(times), np.concatenate(states), fault, True
    return np.concatenate(times), np.concatenate(states), fault, False
