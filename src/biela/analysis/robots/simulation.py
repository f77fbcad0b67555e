"""Motions of long robots: nothing is written out, and no step is in Python.

The right-hand side is the recursion of articulated bodies, link after link
(`biela.equations.spatial.looped`); the integrators are those of all simulations.  The cost of a
step grows with the number of joints.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.plan import Plan
from biela.analysis.preparation import number, values
from biela.analysis.progress import Progress
from biela.analysis.robots.recording import LoopedRecording
from biela.analysis.stepping import Stepper, statistics
from biela.errors import ModelError, SimulationError
from biela.results import Results
from biela.solvers.integrators import FINISHED, Problem
from biela.solvers.integrators.fixed_step import METHODS
from biela.solvers.integrators.variable_step import ADAPTIVE_METHODS

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]

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
        **others: Options that are for robots written out.

    Returns:
        Channels q, v, a and u, the poses of frames, and the energies.

    Raises:
        ModelError: An argument makes no sense, or is for robots written out only.
        SimulationError: The run diverges; it holds the results until then.
    """
    began = time.perf_counter()
    system = robot.kinematic_system
    if others:
        raise ModelError(
            f"{system.name}: {', '.join(others)} is not there for a robot that runs link after "
            f"link; leave it out, or make the robot with lowering='unrolled'"
        )
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
        integrator, length, number(system, "the start time t", t), step, output, None, False
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
    found = statistics(
        costs,
        method="articulated bodies, looped",
        integrator=plan.name,
        time_simulated=float(times[-1] - times[0]),
    )
    readings = {"q": states[:, : robot.nq], "v": states[:, robot.nq :]}
    forces = np.repeat(u[None], len(times), 0)
    readings["a"] = looped.get("forward_dynamics").map(readings["q"], readings["v"], forces)
    p = np.array([entry.value for entry in system.p])
    recording = LoopedRecording(robot, system, readings, times, states, p, forces)
    results = recording.results(found, (), interrupted or bool(fault))
    if fault:
        raise SimulationError(f"{system.name}: {fault}", results)
    return results


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
