"""A whole simulator as C99: `init`, `step(dt, inputs)`, outputs, and a program that times it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biela.analysis.formulations import Options
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.analysis.realtime.kernels import kernels
from biela.analysis.realtime.step import corrected_step, integration_step, rk4_projected_step
from biela.analysis.realtime.text import Choices, texts
from biela.analysis.stepping import resolved
from biela.analysis.unrolled import identifier
from biela.code.export import _write, checked_stem
from biela.code.routines import Routine
from biela.doors import door
from biela.errors import ModelError


@door(ModelError)
def export_simulator(
    model: Model,
    folder: str | Path,
    *,
    step: float = 1e-3,
    integrator: str | Routine[..., Any] = "rk4",
    formulation: str = "multipliers",
    options: Options | None = None,
    q: Values = None,
    v: Values = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    outputs: Sequence[str] = ("q", "v", "y"),
    limit: float = 1e-3,
    name: str | None = None,
) -> list[Path]:
    """Write a simulator for real time: ``name.h``, ``name.c``, main.c, Makefile and README.txt.

    Its step integrates and projects as a run in process with the same step does, with the same
    work in every state; the header describes its functions.  Events are not looked for, and a
    controller is the caller's: it gives the inputs of every step.

    Args:
        model: What moves.
        folder: Where the files go.
        step: Step for which ``main.c`` runs it, s; each call of the step takes its own.
        integrator: "explicit_euler", "second_order_euler", "semi_implicit_euler", "heun", "rk4",
            "nystrom", or a routine of your own with the signature
            ``step(n, m, h, t, x, p, f, work)``.
        formulation: One of `FORMULATIONS`.
        options: Choices of the formulation.
        q: Start positions, by name or in order; the start is assembled now.
        v: Start velocities, likewise.
        t: Start time, s.
        parameters: Values other than those of the model, by name or in order.
        inputs: Values of the inputs until others are given, likewise.
        outputs: What the outputs function gives: "q", "v", "a" (accelerations), "lam"
            (multipliers) and "y" (outputs of the model), as far as there are any.
        limit: Violation of constraints before their correction that sets a bit of the status.
        name: Name of the files and prefix of what they define (default: that of the model).

    Raises:
        AssemblyError: The start cannot be made consistent.
        ExportError: The name does not suit, or a file is there that biela did not write.
        ModelError: A choice does not fit the model or real time.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    name = identifier(system.name) if name is None else name
    checked_stem(name, "a simulator", "main")
    for what, value in (("step", step), ("limit", limit)):
        if not (np.isfinite(value) and value > 0):
            raise ModelError(f"{what} must be a positive number, not {value!r}")
    if not np.isfinite(t):
        raise ModelError(f"the start time must be a number, not {t!r}")
    resolved(float(t), step, step, "the step")
    made = kernels(
        system,
        formulation,
        options or Options(),
        outputs,
        t,
        {"q": q, "v": v, "parameters": parameters, "inputs": inputs},
        classical=integrator == "rk4",
    )
    chosen, rows = integration_step(integrator, len(system.q), made.n)
    whole = rk4_projected_step if "last" in made.functions else corrected_step(chosen, rows)
    choices = Choices(name, step, limit, chosen.name, whole, rows)
    return _write(folder, texts(made, choices))
