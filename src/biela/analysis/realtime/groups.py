"""The solver of structural groups as C99: `init`, `step`, `step_time`, outputs, and a timing.

One function a kind of group, made of its kernel; tables of where its instances read and write, and
of their parameters; calls in solution order.  Newton's method takes the same number of steps at
every instant, and what each group says is in the status.  The laws of drivers are those of the
model, or numbers that a controller gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from biela.analysis.groups.solver import GroupSolver
from biela.analysis.preparation import with_values
from biela.analysis.realtime.group_outputs import Asked
from biela.analysis.realtime.group_parts import group_parts
from biela.analysis.realtime.group_text import GroupChoices, group_texts
from biela.analysis.stepping import resolved
from biela.analysis.unrolled import identifier
from biela.code.export import _write, checked_stem
from biela.doors import door
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import GroupProgram
from biela.errors import ModelError
from biela.model import Model

__all__ = ["Asked", "check_sizes", "export_groups", "write_group_solver"]

#: Unknowns of a group up to which its linear equations are written out.
_MOST: Final = 60
_NOTHING: Final = "nothing is asked for: give points=[…], joints=[…] or bodies=True"


@door(ModelError)
def export_groups(
    model: Model,
    folder: str | Path,
    *,
    points: Sequence[str] = (),
    joints: Sequence[str] = (),
    bodies: bool = False,
    name: str | None = None,
    step: float = 1e-3,
    iterations: int = 3,
    limit: float | None = None,
    formulation: str = "auto",
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    q: Mapping[str, float] | None = None,
    **options: Any,
) -> list[Path]:
    """Write the kinematics of a driven mechanism as C99 for real time, solved group by group.

    The files are ``name.h``, ``name.c``, main.c, Makefile and README.txt; every call does the same
    work.  The header describes the functions: one follows the laws of the model, one takes the
    motion of the drivers from a controller.

    Args:
        model: The mechanism, with a driver for every freedom.
        folder: Where the files go.
        points: Markers ("coupler.P") whose motion is given.
        joints: Coordinates of joints ("D", "D.angle") that are given, over all turns.
        bodies: Whether the motion of all bodies is given.
        name: Name of the files and prefix of what they define (default: that of the model).
        step: Time between instants for which ``main.c`` runs it, s; each call takes its own.
        iterations: Steps of Newton's method in a group, at every instant; a group with a closed
            form takes one.
        limit: Norm of the equations of a group after them from which on it is not solved
            (default: 1e-10; in natural coordinates these are squares of lengths).
        formulation: As for `group_kinematics`.
        t: Time of the start, s.
        parameters: Values other than those of the model.
        q: First guess of coordinates at the start, by name: the branch.
        options: Further ones of `GroupSolver`.

    Raises:
        AssemblyError: The mechanism cannot be assembled at the start.
        ExportError: The name does not suit, or a file is there that biela did not write.
        ModelError: Freedoms are left that nothing drives, or an argument makes no sense.
    """
    model, parameters = with_values(model, parameters)
    from biela.analysis.groups.formulations import formulation_named

    called = identifier(model.name) if name is None else name
    _checked(called, t, step, iterations, 1.0 if limit is None else limit)
    if not (points or joints or bodies):
        raise ModelError(_NOTHING)
    chosen = formulation_named(formulation, model).options(model) | options
    solver = GroupSolver(
        model,
        points=points,
        joints=joints,
        bodies=bodies,
        parameters=parameters,
        q=q,
        t=t,
        **chosen,
    )
    return solver.export(folder, name=name, step=step, iterations=iterations, limit=limit)


def check_sizes(model: str, equations: Sequence[GroupEquations]) -> None:
    """Refuse groups whose linear equations are too large to be written out.

    Raises:
        ModelError: There are some.
    """
    for kind in equations:
        if len(kind.x) > _MOST:
            group = kind.derivation.cast.example
            raise ModelError(
                f"{model}: group {group.name} has {len(kind.x)} unknowns; for real time they are "
                f"eliminated by straight-line code, up to {_MOST}. Choose a formulation by groups, "
                f"other coordinates, or export_simulator"
            )


def write_group_solver(
    solver: GroupSolver,
    groups: GroupProgram,
    asked: Asked,
    folder: str | Path,
    *,
    name: str | None = None,
    step: float = 1e-3,
    iterations: int = 3,
    limit: float | None = None,
) -> list[Path]:
    """Write a program of groups; see `GroupSolver.export`.

    Raises:
        ExportError: The name does not suit, or a file is there that biela did not write.
        ModelError: A number makes no sense, or nothing is asked for.
        SimulationError: A group cannot be assembled at the start.
    """
    name = identifier(solver.model.name) if name is None else name
    limit = groups.iteration.tolerance if limit is None else limit
    choices = _checked(name, solver.t, step, iterations, limit)
    if not (asked.points or asked.joints or asked.body_requests):
        raise ModelError(_NOTHING)
    parts = group_parts(solver, groups)
    return _write(folder, group_texts(parts, asked, choices))


def _checked(name: str, t: float, step: float, iterations: int, limit: float) -> GroupChoices:
    """The choices, if they make sense.

    Raises:
        ExportError: The name does not suit.
        ModelError: A number makes no sense.
    """
    checked_stem(name, "a solver", "main")
    for what, value in (("step", step), ("limit", limit)):
        if not (np.isfinite(value) and value > 0):
            raise ModelError(f"the {what} is a positive number, not {value!r}")
    if not np.isfinite(t):
        raise ModelError(f"the start time t is a number, not {t!r}")
    resolved(float(t), step, step, "the step")
    if iterations != int(iterations) or iterations < 1:
        raise ModelError(f"the iterations are a whole number from 1, not {iterations!r}")
    return GroupChoices(name, float(step), int(iterations), float(limit))
