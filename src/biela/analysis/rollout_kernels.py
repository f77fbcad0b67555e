"""The functions that rollouts run: rates of the state, displacements, laws of the joint forces.

Each takes and gives whole rows: x = (q, v), p = (τ, parameters), u = (inputs, parameters).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.configurations import Configurations
from biela.atoms import Atom, Kind, Workspace, maximum, minimum, sqrt
from biela.code import Function
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def _symbols(ws: Workspace, what: str, count: int, kind: Kind = Kind.FREE) -> list[Atom]:
    return [ws.symbol(f"{what}{i + 1}", kind) for i in range(count)]


def dynamics(robot: Configurations, names: Sequence[str]) -> Function:
    """X' for x = (q, v) and p = (τ, parameters)."""
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv)
    tau, p = _symbols(ws, "tau", robot.nv), _symbols(ws, "p", len(names), Kind.PARAMETER)
    more = [p] if p else []
    a = robot.function("forward_dynamics").inline(q, v, tau, *more)
    dq = robot.function("rates").inline(q, v, *more)
    return Function("rollout_rates", {"x": [*q, *v], "p": [*tau, *p]}, {"dx": [*dq, *a]})


def normalised(robot: Configurations) -> Function:
    """The state with unit quaternions."""
    ws = Workspace("rollout")
    x = _symbols(ws, "x", robot.nq + robot.nv)
    found = list(x)
    for first, _ in robot.quaternions:
        e = x[first : first + 4]
        size = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        found[first : first + 4] = [c / size for c in e]
    return Function("rollout_normalised", {"x": x}, {"y": found})


def moved(robot: Configurations) -> Function:
    """The state with its positions displaced."""
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv)
    delta = _symbols(ws, "delta", robot.nv)
    integrate = robot.function("integrate")
    arguments: list[Any] = [q, delta]
    if len(integrate.inputs) > 2:  # parameters, on which no displacement depends
        arguments.append([0.0] * len(robot.parameter_values))
    moved = integrate.inline(*arguments)
    return Function("rollout_moved", {"x": [*q, *v], "delta": delta}, {"y": [*moved, *v]})


def inputs_of(robot: Configurations, law: Function) -> int:
    """How many inputs a law has."""
    if len(law.outputs) != 1 or law.outputs[0].size != robot.nv:
        raise ModelError(
            f"{robot.name}: the law {law.name} should have one output of {robot.nv} joint forces, "
            f"not {', '.join(f'{a.name} of {a.size}' for a in law.outputs)}"
        )
    sizes = {"q": robot.nq, "v": robot.nv, "p": len(robot.parameter_values)}
    for array in law.inputs:
        if array.size != sizes.get(array.name, array.size):
            raise ModelError(
                f"{robot.name}: {array.name} of the law {law.name} has {array.size} entries, "
                f"and {sizes[array.name]} are there"
            )
    return sum(a.size for a in law.inputs if a.name not in sizes)


def law_of(
    robot: Configurations,
    law: Function | None,
    names: Sequence[str],
    inputs: int,
    bounds: Floats | None,
) -> Function:
    """The map of x and u = (inputs, parameters) to p = (τ, parameters)."""
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv)
    u, p = _symbols(ws, "u", inputs), _symbols(ws, "p", len(names), Kind.PARAMETER)
    if law is None:
        tau: list[Any] = list(u)
    else:
        own: dict[str, list[Atom]] = {"q": q, "v": v, "p": p}
        arguments, first = [], 0
        for array in law.inputs:
            if array.name in own:
                arguments.append(array.nested(own[array.name]))
            else:
                arguments.append(array.nested(u[first : first + array.size]))
                first += array.size
        given = law.inline(*arguments)
        tau = list(given) if isinstance(given, list) else [given]
    if bounds is not None:
        tau = [
            minimum(maximum(x, -limit), limit) if np.isfinite(limit) else x
            for x, limit in zip(tau, bounds.tolist(), strict=True)
        ]
    return Function("rollout_law", {"x": [*q, *v], "u": [*u, *p]}, {"p": [*tau, *p]})
