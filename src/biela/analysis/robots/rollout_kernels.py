"""The functions that rollouts run: rates of the state, displacements, laws of the joint forces.

Each takes and gives whole rows: x = (q, v, time since the start), p = (τ, parameters, time of the
start), u = (inputs, parameters, time of the start).  Laws and forces are given the sum of the two
times, so that a step adds to a small number also where the clock shows a large one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.configurations import Configurations
from biela.atoms import Atom, Kind, Workspace, maximum, minimum, sqrt
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations import spatial
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def _symbols(ws: Workspace, what: str, count: int, kind: Kind = Kind.FREE) -> list[Atom]:
    return [ws.symbol(f"{what}{i + 1}", kind) for i in range(count)]


def _inlined(function: Function, arrays: Mapping[str, Sequence[Any]]) -> list[Atom]:
    """A function of arrays by their names, each flat."""
    given = function.inline(*(a.nested(list(arrays[a.name])) for a in function.inputs))
    return list(given) if isinstance(given, list) else [given]


def dynamics(robot: Configurations, names: Sequence[str], omega: float) -> Function:
    """X' for x = (q, v, time since the start) and p = (τ, parameters, time of the start).

    Gaps of closed loops are taken back, Φ'' + 2ω Φ' + ω² Φ = 0.
    """
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv)
    (elapsed,) = _symbols(ws, "t", 1)
    tau, p = _symbols(ws, "tau", robot.nv), _symbols(ws, "p", len(names), Kind.PARAMETER)
    begun = ws.symbol("begun", Kind.PARAMETER)
    forward = robot.function("forward_dynamics")
    if getattr(robot, "constraints", ()):
        gains = (2 * omega, omega**2)
        forward = spatial.constrained_forward_dynamics(
            robot.snapshot,
            rotors=robot._rotors,
            baumgarte=gains,
            ranked=getattr(robot, "_ranked", ()),
        )
    arrays = {"q": q, "v": v, "tau": tau, "t": [begun + elapsed], "p": p}
    a = _inlined(forward, arrays)
    dq = _inlined(robot.function("rates"), arrays)
    slopes = [*dq, *a, 1.0]
    inputs: dict[str, Entries] = {"x": [*q, *v, elapsed], "p": [*tau, *p, begun]}
    return Function("rollout_rates", inputs, {"dx": slopes})


def normalised(robot: Configurations) -> Function:
    """The state with unit quaternions."""
    ws = Workspace("rollout")
    x = _symbols(ws, "x", robot.nq + robot.nv + 1)
    found = list(x)
    for first, _ in robot.quaternions:
        e = x[first : first + 4]
        size = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        found[first : first + 4] = [c / size for c in e]
    return Function("rollout_normalised", {"x": x}, {"y": found})


def moved(robot: Configurations) -> Function:
    """The state with its positions displaced; the last of the displacements is that of time."""
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv + 1)
    delta = _symbols(ws, "delta", robot.nv + 1)
    # no displacement depends on the time or on parameters
    nothing = [0.0] * len(robot.parameter_values)
    arrays: dict[str, Sequence[Any]] = {"q": q, "v": delta[:-1], "t": [0.0], "p": nothing}
    after = _inlined(robot.function("integrate"), arrays)
    return Function("rollout_moved", {"x": [*q, *v], "delta": delta}, {"y": [*after, *v]})


def inputs_of(robot: Configurations, law: Function) -> int:
    """How many inputs a law has."""
    if len(law.outputs) != 1 or law.outputs[0].size != robot.nv:
        raise ModelError(
            f"{robot.name}: the law {law.name} should have one output of {robot.nv} joint forces, "
            f"not {', '.join(f'{a.name} of {a.size}' for a in law.outputs)}"
        )
    sizes = {"q": robot.nq, "v": robot.nv, "t": 1, "p": len(robot.parameter_values)}
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
    """The map of x and u = (inputs, parameters, start) to p = (τ, parameters, start)."""
    ws = Workspace("rollout")
    q, v = _symbols(ws, "q", robot.nq), _symbols(ws, "v", robot.nv)
    (elapsed,) = _symbols(ws, "t", 1)
    u, p = _symbols(ws, "u", inputs), _symbols(ws, "p", len(names), Kind.PARAMETER)
    begun = ws.symbol("begun", Kind.PARAMETER)
    if law is None:
        tau: list[Any] = list(u)
    else:
        arrays: dict[str, list[Atom]] = {"q": q, "v": v, "t": [begun + elapsed], "p": p}
        first = 0
        for array in law.inputs:
            if array.name not in arrays:
                arrays[array.name] = u[first : first + array.size]
                first += array.size
        tau = _inlined(law, arrays)
    if bounds is not None:
        tau = [
            minimum(maximum(x, -limit), limit) if np.isfinite(limit) else x
            for x, limit in zip(tau, bounds.tolist(), strict=True)
        ]
    given: dict[str, Entries] = {"x": [*q, *v, elapsed], "u": [*u, *p, begun]}
    return Function("rollout_law", given, {"p": [*tau, *p, begun]})
