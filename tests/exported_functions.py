"""Functions that the tests of every export target share, and how near the results must be."""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.atoms.evaluate import evaluate_refs
from biela.code import Function

#: The external function of :func:`every_operation` in each language.
EXTERNAL_C = "double mu(double a, double b) { return a*b + 0.5*sin(a); }\n"
EXTERNAL_FLOAT = "float mu(float a, float b) { return a*b + 0.5f*sinf(a); }\n"
EXTERNAL_MATLAB = "function r = mu(a, b)\n    r = a*b + 0.5*sin(a);\nend\n"


def mu(a: Any, b: Any) -> Any:
    """The same in Python."""
    return a * b + 0.5 * np.sin(a)


@cache
def every_operation() -> Function:
    """Every operation, kind of curve and shape of array, and names that languages reserve."""
    ws = bl.Workspace("every operation")
    x, y, lam = ws.coordinates(["x", "y", "lambda"])
    vx, vy = x.velocity, y.velocity
    t = ws.symbol("t", bl.Kind.TIME)
    end, double, i_, a1 = ws.parameters(["end", "double", "in", "a1"])
    friction = ws.external("mu", 2, mu)
    knots = [-1.0, -0.25, 0.5, 1.25, 2.0]
    spline = ws.spline("cam", knots, [0.5, -1.0, 0.25, 2.0, 0.75])
    natural = ws.spline("rows", knots, [1.0, 2.0, 0.0, 1.0, 3.0], end="natural", outside="constant")
    closed = ws.spline("closed", knots, [1.0, 2.0, 0.0, -1.0, 1.0], end="periodic")
    steps = ws.lookup("steps", [0.0, 0.5, 2.0], [1.0, -1.0, 0.5])
    saw = ws.lookup("saw", [-0.5, 0.25, 1.0], [2.0, -1.0, 2.0], outside="periodic")
    ramp = ws.lookup("ramp", [0.0, 1.0, 3.0], [0.0, 2.0, 3.0], outside="linear")
    lower = x < y
    operations = [
        x + y,
        -(x - y),
        -(a1 * (x - y) / double),
        -2 * x * y,
        x / (y + 3),
        x**2 - (x + y) ** 2,
        (x * y) ** 3 + (x - y) ** 7 - lam**12 + lam**6,
        1 / (1 + x**2),
        (2 + x * x) ** (y + t),
        x**y,
        bl.sqrt(x),
        bl.sqrt(1 + x**2) + x ** bl.sqrt(2.0),
        bl.sin(x) - bl.cos(x * y),
        bl.tan(x - y),
        bl.asin(x / 2) + bl.asin(x * 4),
        bl.acos(y / 3) + bl.acos(2 * y),
        bl.atan(x * y),
        bl.atan2(y, -x) + bl.atan2(vx, vy),
        bl.exp(x - 1) * bl.exp(-y),
        bl.log(x + y),
        bl.log(2 + x * x),
        bl.tanh(x) + abs(y - x),
        bl.sign(x) + 2 * bl.sign(y - x),
        bl.minimum(x, y, 0.25) - bl.maximum(-x, y),
        lower + 2 * (x <= y),
        bl.select(lower, bl.sqrt(y - x), bl.sqrt(x - y)),
        bl.select(bl.both(lower, y < t), x, bl.select(x <= 0, -y, y**2)),
        bl.select(bl.maximum(x, 0), 1 / x, -3),
        bl.select(bl.either(lower, x < 0), -x, y) * lower,
        spline(x) + natural(y) + spline(-x),
        closed(3 * x) - closed(y),
        steps(x) * saw(5 * y) + ramp(-x) - saw(t),
        bl.diff(spline(x) ** 2, x) + bl.diff(saw(x) * closed(x), x),
        friction(x, y) - friction(-y, end * x),
        x * 0.1 + bl.sin(t) * end / 3 + i_,
        4,
        -0.125,
        -x,
        x,
    ]
    shared = double * end * i_ + bl.cos(lam) * vx
    matrix = [[shared, 0, -(shared * x)], [-(shared * x), lam, bl.sin(lam) * vy**2]]
    return Function(
        "every",
        {
            "q": [x, y, lam],
            "v": [vx, vy],
            "t": t,
            "p": [[end, double], [i_, a1]],
            "unused": [0][1:],
        },
        {"operations": operations, "matrix": matrix, "energy": shared**2 + x},
    )


def states(function: Function, count: int = 12, seed: int = 0) -> list[list[Any]]:
    """Arguments at random; of ``every_operation`` also on breakpoints and out of ranges."""
    random = np.random.default_rng(seed)
    chosen = [[random.uniform(-1.5, 1.5, a.shape) for a in function.inputs] for _ in range(count)]
    if function.name == "every":
        for state, special in zip(chosen, [-1.0, -0.25, 0.5, 2.0, 4.0, -7.0], strict=False):
            state[0][:2] = special, -special / 2
        chosen[6][0][:2] = 0.75, 0.75
    return chosen


def reference(function: Function, state: list[Any]) -> tuple[list[Any], list[Any]]:
    """The interpreted outputs, and for each entry the largest value met on the way to it."""
    values: dict[int, Any] = {}
    for array, argument in zip(function.inputs, state, strict=True):
        values.update(zip(array.refs, np.asarray(argument, dtype=float).ravel(), strict=True))
    live = function.schedule.live
    known = dict(zip(live, evaluate_refs(function.table, live, values), strict=True))

    def largest(ref: int) -> float:
        met = (abs(known[atom]) for atom in function.table.live([ref]))
        return max((float(v) for v in met if math.isfinite(v)), default=0.0)

    scales = [np.reshape([largest(r) for r in a.refs], a.shape) for a in function.outputs]
    results = function.interpret(*state)
    return list(results) if isinstance(results, tuple) else [results], scales


def assert_same(function: Function, state: list[Any], results: Any, eps: float = 1e-13) -> None:
    """Each entry agrees with the interpreted graph to ``eps`` of the largest value on its way.

    Each of the few hundred operations rounds to 1.1e-16 of its result, and libraries round their
    functions to about as much; differences of large values cannot be better than these values.
    """
    expected, scales = reference(function, state)
    given = list(results) if isinstance(results, tuple | list) else [results]
    assert len(given) == len(expected)
    for array, a, b, scale in zip(function.outputs, given, expected, scales, strict=True):
        found, wanted = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        agree = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        agree |= np.abs(found - wanted) <= eps * (np.abs(wanted) + scale)
        assert agree.all(), (array.name, np.argwhere(~agree), found[~agree], wanted[~agree])


@cache
def newton_euler() -> Any:
    """The example of the same name."""
    path = Path(__file__).parent.parent / "examples" / "newton_euler.py"
    spec = importlib.util.spec_from_file_location("newton_euler", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["newton_euler"] = module
    spec.loader.exec_module(module)
    return module


@cache
def puma() -> Function:
    """Inverse dynamics of a PUMA 560."""
    example = newton_euler()
    return example.torque_function("puma_560", example.PUMA_560)


@cache
def block_pendulum() -> Function:
    """M and delta of the block-pendulum in the signs of the thesis (Plaza 2015, A.1)."""
    ws = bl.Workspace("block_pendulum")
    x, theta = ws.coordinates("x theta")
    p = ws.parameters("m_b m_p l_p Iyy_p k theta_0 c_vis F_b M_p g")
    m_b, m_p, l_p, Iyy_p, k, theta_0, c_vis, F_b, M_p, g = p
    arm = l_p * m_p
    s, c = arm * bl.sin(theta), arm * bl.cos(theta)
    M = [[-(m_b + m_p), -c], [-c, -Iyy_p]]
    delta = [
        -F_b + c_vis * x.velocity - theta.velocity**2 * s,
        M_p + k * (theta - theta_0) + g * s,
    ]
    inputs = {"q": [x, theta], "v": [x.velocity, theta.velocity], "p": p}
    return Function("block_pendulum", inputs, {"M": M, "delta": delta})
