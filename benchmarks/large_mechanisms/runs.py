"""Runs of the four mechanisms as the source ran them, from one call of native code.

Velocity projection with the coordinates of the source as independent ones, dependent positions by
Newton's method in every evaluation, and the error norm and step control of ode45 and ode113.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.large_mechanisms.cases import Case
from biela.analysis.assembly import initial_state
from biela.analysis.formulations import Formulation, Options, formulate
from biela.analysis.formulations.saddle import stiffening
from biela.analysis.partitioning import independent_basis
from biela.analysis.recording import Recording
from biela.analysis.unrolled import Unrolled
from biela.equations import System
from biela.errors import SimulationError
from biela.solvers.integrators import FINISHED, Problem, VariableStep

Floats = np.ndarray

__all__ = ["Outcome", "Prepared", "integrate", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A case made ready to run."""

    case: Case
    system: System
    formulation: Formulation
    x: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gave and cost; states at equal intervals of time.

    Attributes:
        seconds: of the integration, on one core.
        steps: accepted.
        failed: tried and rejected.
        evaluations: of the derivative.
        t: instants.
        q: positions, a row an instant.
        v: velocities, likewise.
        energy: kinetic and potential, two rows.
        violation: of the worst constraint.
        outputs: of the system, a row an instant.
    """

    seconds: float
    steps: int
    failed: int
    evaluations: int
    t: Floats
    q: Floats
    v: Floats
    energy: Floats
    violation: Floats
    outputs: Floats

    @property
    def energy_change(self) -> float:
        """The largest change of the energy, as a part of the kinetic and the range of the rest."""
        kinetic, potential = self.energy
        total = kinetic + potential
        scale = kinetic.max() + np.ptp(potential)
        return float(np.abs(total - total[0]).max() / scale)


def prepare(
    case: Case,
    solver: str = "reordered",
    index: int = 3,
    system: System | None = None,
) -> Prepared:
    """The kernels of a case; index 2 leaves out Newton's correction of positions."""
    system = case.layout().system() if system is None else system
    u, p = np.zeros(len(system.u)), np.array([entry.value for entry in system.p], dtype=float)
    q, v = (np.array([entry.value for entry in row], dtype=float) for row in (system.q, system.v))
    q, v = initial_state(system, q, v, t=0.0, u=u, p=p)
    options = Options(independent=case.independent, index=index, linear_solver=solver)
    basis = independent_basis(system, 0.0, q, u, p, case.independent)
    made = formulate(
        Unrolled(system),
        "velocity_projection",
        options,
        stiffening(system, 0.0, q, u, p),
        basis=basis,
    )
    return Prepared(case, system, made, made.state(0.0, q, v, p), p)


def integrate(prepared: Prepared, instants: int = 60, method: str | None = None) -> Outcome:
    """Run a case once."""
    case, made = prepared.case, prepared.formulation
    problem = Problem(made.f, made.size, len(prepared.p))
    solver = VariableStep(
        problem,
        method or case.method,
        end=case.duration,
        rtol=case.tolerance,
        atol=1e-6,
        matlab=True,
    )
    solver.start(0.0, prepared.x, prepared.p)
    times = np.linspace(0.0, case.duration, instants + 1)[1:]
    began = time.thread_time()
    found = solver.advance(times)
    seconds = time.thread_time() - began
    if found.status != FINISHED:
        raise SimulationError(f"{case.name}: the integration stops at {found.t:.4g} s")
    t = np.concatenate([[0.0], found.times])
    states = np.concatenate([prepared.x[None], found.states])
    recording = Recording(prepared.system, made.read, t, states, prepared.p, np.zeros((len(t), 0)))
    readings = recording.readings()
    outputs = np.zeros((len(t), 0))
    if prepared.system.y:
        outputs = np.asarray(recording.evaluate("outputs")).reshape(len(t), -1)
    counts = solver.statistics
    return Outcome(
        seconds,
        counts.steps,
        counts.failed,
        counts.evaluations,
        t,
        readings["q"],
        readings["v"],
        np.array(recording.evaluate("energy")),
        np.abs(np.asarray(recording.evaluate("Phi"))).max(axis=1),
        outputs,
    )
