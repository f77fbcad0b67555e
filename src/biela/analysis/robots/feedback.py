"""Feedback laws of robots, as functions of atoms: in rollouts, in simulations, as exported code."""

from __future__ import annotations

from typing import Any

import numpy as np

from biela.analysis.robots.configurations import Configurations
from biela.atoms import Workspace
from biela.code import Function
from biela.errors import ShapeError


def pd_law(robot: Configurations, kp: Any, kd: Any, gravity: bool = False) -> Function:
    """τ = k_p (q_d ⊖ q) + k_d (v_d - v), and what holds the weight; see `Robot.pd_law`."""
    gains = []
    for name, given in (("kp", kp), ("kd", kd)):
        try:
            gains.append(np.broadcast_to(np.asarray(given, dtype=float), (robot.nv,)).tolist())
        except ValueError:
            raise ShapeError(
                f"{robot.name}: {name} is one number or {robot.nv}, not an array of shape "
                f"{np.shape(given)}"
            ) from None
    ws = Workspace(f"{'_'.join(robot.name.split())}_law")
    q, q_d = (list(ws.symbols([f"{s}{i + 1}" for i in range(robot.nq)])) for s in ("q", "qd"))
    v, v_d = (list(ws.symbols([f"{s}{i + 1}" for i in range(robot.nv)])) for s in ("v", "vd"))
    p = list(ws.parameters([f"p{i + 1}" for i in range(len(robot.parameter_values))]))
    error = robot.function("difference").inline(q, q_d)
    tau = [
        stiff * e + damped * (wanted - speed)
        for stiff, damped, e, wanted, speed in zip(*gains, error, v_d, v, strict=True)
    ]
    arrays: dict[str, Any] = {"q": q, "v": v, "q_d": q_d, "v_d": v_d}
    if gravity:
        holding = robot.function("gravity_forces").inline(q, *([p] if p else []))
        tau = [t + g for t, g in zip(tau, holding, strict=True)]
        if p:
            arrays["p"] = p
    return Function("pd_law", arrays, {"tau": tau})
