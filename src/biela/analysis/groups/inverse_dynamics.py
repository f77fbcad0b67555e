"""Inverse dynamics of a driven mechanism by structural groups, as results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.forces import GroupForces
from biela.analysis.groups.formulations import formulation_named
from biela.analysis.groups.motion import counted_coordinates, group_results
from biela.analysis.groups.multipliers import Multipliers
from biela.analysis.groups.recorded_turns import GroupRecording
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.limits import limit_ends
from biela.analysis.preparation import values, with_values
from biela.analysis.recording import Recording
from biela.analysis.sampling import sampling
from biela.analysis.stepping import storable
from biela.doors import door
from biela.equations import System
from biela.equations.formulate import formulate_later
from biela.equations.groups.lowering import Iteration
from biela.errors import ModelError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Channels, Results

__all__ = ["group_inverse_dynamics"]

Floats = npt.NDArray[np.float64]


@door(ModelError)
def group_inverse_dynamics(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    formulation: str = "auto",
    t: float = 0.0,
    output: float | None = None,
    end_point: bool = True,
    parameters: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
    q: Mapping[str, float] | None = None,
    tolerance: float = 1e-10,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """The motion of a driven mechanism and the forces it needs, group by group.

    The same motors and reactions as `inverse_dynamics` of a kinematic simulation; the cost grows
    with the number of groups, and not with a power of it.

    >>> import biela as bl
    >>> m = bl.Model("pendulum", plane="xz")
    >>> rod = m.body("rod", mass=2.0, com=(0.5, 0, 0))
    >>> joint = m.joint("revolute", "pivot", m.ground, rod, axis="y")
    >>> motor = m.driver("rotary", "motor", coordinate="pivot.angle", law="0*t")
    >>> from biela.analysis.groups.inverse_dynamics import group_inverse_dynamics
    >>> results = group_inverse_dynamics(m, 0.1)
    >>> force = results["λ(motor.angle)"]
    >>> float(-force[0].round(3))  # it holds the rod against its weight
    -9.81

    Args:
        model: The mechanism, with a driver for every freedom; arrays of parts stay arrays.
        duration: Time to simulate, s.
        step: Time between instants, s.
        formulation: How the groups are solved, as for `group_kinematics`.
        t: Start time, s.
        output: Time between stored instants, s (default: the step).
        end_point: Whether the instant ``t + duration`` is stored too.
        parameters: Values other than those of the model.
        inputs: Values of the inputs of forces.
        q: First guess of coordinates at the start, by name: the branch.
        tolerance: Bound of the norm of the equations of a group.
        progress: Whether to show a bar; None shows it on a terminal for long runs.
        options: Further ones of `GroupSolver`.

    Returns:
        The motion with the multipliers lam; minus those of drivers are the forces and torques of
        the motors.  The monitor "missing force" is what passive spins would need, and
        "indeterminate" how many multipliers are not determinate: these are the smallest ones.

    Raises:
        ModelError: Freedoms are left that nothing drives, an argument makes no sense, or a body
            would turn about a passive axis.
        AssemblyError: The mechanism cannot be assembled at the start.
        DeadPointError: A group cannot pass; it names the time and the joints.
        SimulationError: Forces that depend on reactions do not settle.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    instants = sampling(duration, step, t=t, output=output)
    chosen = formulation_named(formulation, model)
    options = {"iteration": Iteration(tolerance=tolerance, polish=1), **options}
    options["joints"] = [*options.get("joints", ()), *counted_coordinates(model)]
    solver = GroupSolver(
        model, parameters=parameters, q=q, t=t, **{**chosen.options(model), **options}
    )
    forces = GroupForces(solver, inputs)
    storable(instants.steps + 1, 9 * body_count(model))  # at least, and at all of them
    motion, found = forces.run(instants.times, progress=progress)
    kept = instants.stored(end_point)
    shown = motion.at(kept)
    _warn_of_bifurcations(model.name, shown.t, found.at(kept))
    # forces are those of rods that do not spin, and the motion is theirs
    plain = group_results([shown], chosen.name, time.perf_counter() - began, still=True)
    if solver.large:
        return _of_arrays(plain, found, kept)
    return _of_system(solver, shown, plain, found.at(kept), inputs)


def _warn_of_bifurcations(name: str, t: Floats, found: Multipliers) -> None:
    """Say at which instants forces are not numbers, since branches of a group meet there."""
    lost = t[~np.isfinite(found.lam).all(axis=1)]
    if len(lost):
        more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
        warnings.warn(
            f"{name}: at t = {', '.join(f'{when:.6g}' for when in lost[:3])} s{more} two branches "
            f"of a group meet; its motion goes on, its forces are not determined there and are nan",
            stacklevel=3,
        )


def _of_arrays(plain: Results, found: Multipliers, kept: npt.NDArray[np.int64]) -> Results:
    part = found.at(kept)
    lam = Channels([f"λ({name})" for name in part.names], part.lam)
    return Results(
        plain.name,
        plain.t,
        {**plain.groups, "lam": lam},
        {"missing force": part.missing},
        {"missing force": "N·m"},
        plain.statistics,
    )


def _of_system(
    solver: GroupSolver,
    motion: GroupMotion,
    plain: Results,
    found: Multipliers,
    inputs: Mapping[str, float] | None,
) -> Results:
    system = formulate_later(solver.model, "reference")
    p = values(system, "parameter", system.p, solver.parameters)
    u = np.tile(values(system, "input", system.u, inputs), (len(motion.t), 1))
    readings = {"q": plain.q, "v": plain.v, "a": plain.a}
    if system.multipliers:
        readings["lam"] = _in_order(system, readings, plain.t, p, u, found)
    states = np.zeros((len(plain.t), 0))
    recording = GroupRecording(solver, system, readings, plain.t, states, p, u)
    statistics = plain.statistics
    assert statistics is not None
    statistics = replace(statistics, method=f"inverse dynamics by {statistics.method}")
    unsure = (~found.determinate).sum(axis=1).astype(float)
    more = {
        "missing force": (lambda: found.missing, ""),
        "indeterminate": (lambda: unsure, ""),
    }
    known = limit_ends(system, p)  # the events of limits are there already
    return recording.results(statistics, plain.events, False, more, known=known)


def _in_order(
    system: System,
    readings: Mapping[str, Floats],
    t: Floats,
    p: Floats,
    u: Floats,
    found: Multipliers,
) -> Floats:
    """The multipliers in the order of a system, with those of turns that it counts besides.

    What acts on a coordinate θ that counts turns is carried by the row ρ that reads it from the
    bodies, λ_ρ ∂ρ/∂θ = Q_θ - Σ λ_k ∂Φ_k/∂θ.  Groups may not count it, or may let a driver act on
    it that acts on the bodies here: λ_ρ is that of the system.
    """
    names = system.multipliers
    places = {name: k for k, name in enumerate(found.names)}
    columns = {entry.name.removesuffix("_rate"): k for k, entry in enumerate(system.v)}
    counted = [k for k, name in enumerate(names) if name.rpartition(".")[0] in columns]
    there = [k for k, name in enumerate(names) if k not in counted]
    lam = np.zeros((len(found.t), len(names)))
    lam[:, there] = found.lam[:, [places[names[k]] for k in there]]
    if not counted:
        return lam
    given = {**readings, "lam": lam}  # friction depends on it
    recording = Recording(system, given, t, np.zeros((len(t), 0)), p, u)
    rows = np.asarray(recording.evaluate("Phi_v")).reshape(len(lam), len(names), -1)
    Q = np.asarray(recording.evaluate("Q")).reshape(len(lam), -1)
    for k in counted:
        column = columns[names[k].rpartition(".")[0]]
        rest = Q[:, column] - np.einsum("ti,ti->t", lam, rows[:, :, column])
        lam[:, k] = rest / rows[:, k, column]
    return lam
