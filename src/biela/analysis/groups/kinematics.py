"""Driven motion by structural groups, as results."""

from __future__ import annotations

import time
from collections.abc import Mapping
from inspect import signature
from typing import Any, Final

from biela.analysis.groups.formulations import Formulation, formulation_named
from biela.analysis.groups.motion import counted_coordinates, group_results
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.law_faults import finite, names_laws, while_finite
from biela.analysis.preparation import with_values
from biela.analysis.sampling import sampling
from biela.analysis.stepping import storable
from biela.doors import door
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError, ModelError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Results
from biela.spelling import nearest

__all__ = ["group_kinematics"]

#: Settings of a solver that the call has arguments of its own for.
_OWN: Final = ("model", "parameters", "q", "t")


@names_laws
@door(ModelError)
def group_kinematics(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    formulation: str = "auto",
    t: float = 0.0,
    output: float | None = None,
    end_point: bool = True,
    parameters: Mapping[str, float] | None = None,
    q: Mapping[str, float] | None = None,
    tolerance: float = 1e-10,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """The motion of a driven mechanism, its groups solved one after the other.

    Args:
        model: The mechanism, with a driver for every freedom; arrays of parts stay arrays.
        duration: Time to simulate, s.
        step: Time between instants, s.
        formulation: "natural groups", "natural groups, tensor", "mixed groups", "relative groups",
            "reference groups", "global dense", "global sparse", "relative loops"; or "auto", which
            takes what is likely the fastest.
        t: Start time, s.
        output: Time between stored instants, s (default: the step).
        end_point: Whether the instant ``t + duration`` is stored too.
        parameters: Values other than those of the model.
        q: First guess of coordinates at the start, by name: the branch.
        tolerance: Bound of the norm of the equations of a group.  In natural coordinates these
            are squares of lengths.
        progress: Whether to show a bar; None shows it on a terminal for long runs.
        options: Further ones of `GroupSolver`: structure, lanes, angles, branches ….

    Returns:
        Channels q, v, a of the bodies, the coordinates of joints, outputs and frames.

    Raises:
        ModelError: Freedoms are left that nothing drives, or an argument makes no sense.
        AssemblyError: The mechanism cannot be assembled at the start.
        DeadPointError: A group cannot pass; it names the time and the joints.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    instants = sampling(duration, step, t=t, output=output)
    if not isinstance(model, Model):
        raise ModelError("groups are those of a Model, of bodies and joints")
    known = [name for name in signature(GroupSolver).parameters if name not in _OWN]
    for name in options:
        if name not in known:
            raise ModelError(f"group_kinematics has no option {name!r}{nearest(name, known)}")
    chosen: Formulation = formulation_named(formulation, model)
    options = {"iteration": Iteration(tolerance=tolerance, polish=1), **options}
    options["joints"] = [*options.get("joints", ()), *counted_coordinates(model)]
    solver = GroupSolver(
        model, parameters=parameters, q=q, t=t, **{**chosen.options(model), **options}
    )

    def results_of(motion: GroupMotion, first: int = 0) -> Results:
        """The results of a motion from a stored instant on."""
        kept = motion.at(instants.stored(end_point, len(motion.t)))
        whole = group_results([kept], chosen.name, time.perf_counter() - began)
        # angles count their turns from the first instant on
        return whole.between(whole.t[first], whole.t[-1]) if first else whole

    stopped = None
    try:
        storable(instants.steps + 1, 9 * body_count(model))  # at least, and at all of them
        motion = solver.run(instants.times, progress=progress, so_far=results_of)
    except DeadPointError as error:
        stopped, found = str(error), error.results
        assert isinstance(found, GroupMotion)
        motion = found
    results = results_of(motion) if len(motion.t) else None
    if stopped is not None:
        raise DeadPointError(stopped, None if results is None else while_finite(results))
    assert results is not None, "a run has an instant at least"
    return finite(model.name, results)
