"""The motion of a driven mechanism, by positions or by integration.

Without integration see `positioning`.  With it,

    [ Φ_v ]      [ γ ]
    [ S   ] v' = [ f(t) ],     q' = N v,

and after each step the position is projected on the geometric rows, the velocity on all rows
(Plaza 2015, §2.2.4, figs 2.2 and 2.3).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.dead_points import DeadPoints
from biela.analysis.driving import Law, law_of_time
from biela.analysis.formulations.projection import projections
from biela.analysis.formulations.saddle import Saddle, identity, unit_metric
from biela.analysis.hoisting import hoisted
from biela.analysis.instant import Instant
from biela.analysis.position_method import PositionMethod
from biela.analysis.positioning import Positioning, engine
from biela.analysis.progress import Progress, rows_from
from biela.analysis.reach import obstacle
from biela.analysis.recording import Recording
from biela.analysis.unrolled import Row, Unrolled
from biela.equations import System
from biela.equations.elimination import Stiffening
from biela.errors import ModelError
from biela.results import Results, RunStatistics
from biela.solvers.integrators import FINISHED, METHODS, FixedStep, Problem

Floats = npt.NDArray[np.float64]

#: Stored instants of one native call.
_CHUNK: Final = 1024
#: Condition of Φ_v at which velocities and accelerations have lost their digits.
LOST: Final = 1e9


@dataclass(frozen=True)
class Plan:
    """What is to be found, and at which instants: every ``stride`` steps, from t on."""

    system: System
    t: float
    step: float
    steps: int
    stride: int
    p: Floats
    u: Floats
    tolerance: float

    def times(self, count: int, first: int = 0) -> Floats:
        """So many stored instants, from one of them on."""
        passed = np.arange(float(first), float(first + count))
        times: Floats = self.t + self.step * self.stride * passed
        return times

    def recording(self, readings: Mapping[str, Floats], first: int = 0) -> Recording:
        """A motion, from a stored instant on, with all that follows from it."""
        k = len(readings["q"])
        held, times = np.repeat(self.u[None], k, 0), self.times(k, first)
        return Recording(self.system, readings, times, np.zeros((k, 0)), self.p, held)

    def results(self, readings: Mapping[str, Floats], first: int) -> Results:
        """The results from a stored instant on, while the run goes on."""
        return self.recording(readings, first).results(RunStatistics(), (), True)


@dataclass(frozen=True)
class Found:
    """A motion q, v, a as far as it came, what it cost, and why it stopped, if it did."""

    readings: dict[str, Floats]
    statistics: dict[str, Any]
    failure: str = ""
    rows: Floats | None = None  # Φ_v at the stored instants, where they are known already
    monitors: Mapping[str, Floats] = field(default_factory=dict)


def positioned(
    plan: Plan, q: Floats, method: PositionMethod, through_dead_points: bool = False
) -> Found:
    """The motion from a position that fulfils the constraints on, instant by instant."""
    system = plan.system
    steps = engine(system, plan.p, plan.u, method, plan.tolerance, (plan.t, q))
    dead_points = None
    if through_dead_points:
        dead_points = DeadPoints(system, plan.p, plan.u, plan.tolerance)
    positioning = Positioning(system, plan.p, plan.u, steps, dead_points)
    began = time.perf_counter()
    x = steps.start(plan.t, q)
    nq, nv = positioning.nq, positioning.nv

    def readings(states: Floats) -> dict[str, Floats]:
        return {"q": states[:, :nq], "v": states[:, nq : nq + nv], "a": states[:, nq + nv :]}

    with Progress(f"kinematics of {system.name}", plan.steps, False) as bar:

        def told(done: int, states: Sequence[Floats]) -> None:
            bar.update(done, lambda k: plan.results(readings(rows_from(states, k)), k))

        course = positioning.course(
            plan.t, x, plan.step, plan.steps, plan.stride, plan.tolerance, told
        )
    states = course.states
    rows = steps.rows(plan.times(len(states)), states[:, :nq])
    if dead_points is not None:
        states = dead_points.repaired(plan.times(len(states)), states, rows)
    elif _singular(rows):
        around = DeadPoints(system, plan.p, plan.u, plan.tolerance)
        states = around.repaired(plan.times(len(states)), states, rows, LOST)
    failure = ""
    if course.stopped is not None:
        instant = Instant(system, course.stopped, plan.u, plan.p)
        failure = obstacle(instant, states[-1, :nq], plan.tolerance)
    return Found(
        readings(states),
        {
            "method": f"positions by {steps.name}",
            "iterations": course.iterations,
            "failed_steps": course.halved,
            "time_integration": time.perf_counter() - began,
        },
        failure,
        rows,
    )


def _singular(rows: Floats) -> bool:
    """Whether there is an instant at which the rows are singular, and were not at another."""
    s = np.linalg.svd(rows, compute_uv=False)
    rank = min(rows.shape[1:])
    poor = s[:, rank - 1] * LOST <= s[:, 0]
    return bool(poor.any() and not poor.all())


def integrated(
    plan: Plan,
    q: Floats,
    v: Floats,
    driving: Sequence[int],
    laws: Mapping[str, Law],
    integrator: str,
) -> Found:
    """The motion from a consistent state on, with driven accelerations integrated.

    ``driving`` are the places of the velocities whose accelerations the laws give.

    Raises:
        ModelError: There is no such integrator.
    """
    system = plan.system
    if integrator not in METHODS or integrator == "one_step_map":
        known = ", ".join(name for name in METHODS if name != "one_step_map")
        raise ModelError(f"integrator {integrator!r} is not known; these are: {known}")
    unrolled = Unrolled(system)
    dependent = unit_metric(system, plan.t, q, plan.u, plan.p)
    a = _accelerations(unrolled, driving, laws, dependent)
    kernels = {"f": unrolled.kernel("rates", {"dx": [*unrolled.rates(), *a]})}
    for name, kernel in zip(
        ("project_q", "project_v"), projections(unrolled, "identity", dependent), strict=True
    ):
        if kernel is not None:
            kernels[name] = kernel
    ready = hoisted(kernels)
    native = {name: f.native for name, f in ready.kernels.items()}
    steps = FixedStep(
        Problem(
            native["f"],
            len(q) + len(v),
            ready.size,
            nq=len(q),
            project_q=native.get("project_q"),
            project_v=native.get("project_v"),
            q_iterations=3 if "project_q" in native else 0,
            v_iterations=1 if "project_v" in native else 0,
            threshold=1e-14,
        ),
        integrator,
    )
    read = unrolled.kernel("read", {"q": unrolled.q, "v": unrolled.v, "a": a})
    given = np.concatenate([plan.p, plan.u])
    inputs = ready.complete(given)

    def read_from(first: int) -> dict[str, Floats]:
        rows = rows_from(states, first)
        t = plan.times(len(rows), first)[:, None]
        found = read.walk_map(t, rows, np.repeat(given[None], len(rows), 0))
        return dict(zip(("q", "v", "a"), found, strict=True))

    began = time.perf_counter()
    whole = plan.steps // plan.stride  # steps after the last stored instant are not taken
    x = np.concatenate([q, v])
    states, done, status, evaluations = [x[None]], 0, FINISHED, 0
    with Progress(f"kinematics of {system.name}", whole, False) as bar:
        while done < whole and status == FINISHED:
            count, t = min(_CHUNK, whole - done), plan.t + done * plan.stride * plan.step
            run = steps.run(t, x, inputs, plan.step, count, plan.stride)
            states.append(run.states[1:])
            x, status, evaluations = run.x, run.status, run.evaluations
            done += count
            bar.update(done, lambda k: plan.results(read_from(k), k))
    spent = time.perf_counter() - began
    failure = ""
    if status != FINISHED:
        failure = "the state became infinite or not a number; look for a singular position"
    readings = read_from(0)
    error = _violations(plan, readings)
    if not failure and (error > plan.tolerance).any():
        first = int(np.argmax(error > plan.tolerance))
        readings = {name: part[: max(first, 1)] for name, part in readings.items()}
        failure = (
            f"the constraints are missed by {error[first]:.3g}; take smaller steps, or look for a "
            f"singular position"
        )
    counts = {
        "method": "accelerations integrated, with projections",
        "integrator": f"{integrator}, {plan.step:g} s",
        "evaluations": evaluations,
        "time_integration": spent,
    }
    return Found(readings, counts, failure)


def _accelerations(
    unrolled: Unrolled,
    driving: Sequence[int],
    laws: Mapping[str, Law],
    dependent: Stiffening,
) -> Row:
    """V' of the constraints and of the driven accelerations."""
    one, zero = unrolled.workspace.atom(1), unrolled.zero
    n = len(unrolled.v)
    rows = [*unrolled.Phi_v, *([one if j == i else zero for j in range(n)] for i in driving)]
    right = [*unrolled.gamma, *(law_of_time(unrolled, name, law) for name, law in laws.items())]
    a, _ = Saddle(identity(unrolled), rows, dependent).solve([zero] * n, right)
    return a


def _violations(plan: Plan, readings: Mapping[str, Floats]) -> Floats:
    k = len(readings["q"])
    if not plan.system.geometric:
        return np.zeros(k)
    recording = plan.recording(readings)
    Phi = np.asarray(recording.evaluate("Phi")).reshape(k, -1)
    return np.asarray(np.abs(Phi).max(axis=1))
