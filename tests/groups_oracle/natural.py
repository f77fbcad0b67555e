"""Whole mechanisms in natural coordinates: four-bar, its chain, spatial slider.

Every matrix is typed from the equations, none is derived; see the specification of the structural
groups, sections 3.4, 3.6 and 3.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.groups_oracle import hyper_dual as hd
from tests.groups_oracle.constraint_set import ConstraintSet, Motion, Solution, solve

Floats = npt.NDArray[np.float64]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((p * q for p, q in zip(a[1:], b[1:], strict=True)), a[0] * b[0])


def minus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [p - q for p, q in zip(a, b, strict=True)]


def cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def skew(a: Sequence[float]) -> Floats:
    """[a]×: the matrix of b ↦ a × b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=float)


def cosine_row(angle: float) -> bool:
    """Which equation drives an angle: the cosine's beyond 45 degrees off 0 and π (section 3.4)."""
    return abs(sin(angle)) > sqrt(0.5)


# --- whole mechanisms ---------------------------------------------------------------------------


def four_bar(
    L1: float, L2: float, L3: float, A: Sequence[float], B: Sequence[float], cosine: bool
) -> ConstraintSet:
    """φ = (x1, y1, x2, y2), h = (α): eqs (8) and (29), or the sine as fourth row."""
    return _chain("four-bar", L1, [L2], [L3], A, [B], cosine)


def four_bar_chain(n_d: int, cosine: bool) -> ConstraintSet:
    """E3 as one system: φ = (B1, C1, …, C_n), h = (α)."""
    ends = [(6.0 * (k + 1), 0.0) for k in range(n_d)]
    return _chain("four-bar chain", 2.0, [6.0] * n_d, [6.0] * n_d, (0.0, 0.0), ends, cosine)


def _chain(
    name: str,
    L1: float,
    couplers: Sequence[float],
    rockers: Sequence[float],
    A: Sequence[float],
    ends: Sequence[Sequence[float]],
    cosine: bool,
) -> ConstraintSet:
    n = len(couplers)
    size = 2 * n + 2

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        P = [f[2 * k : 2 * k + 2] for k in range(n + 1)]
        r = minus(P[0], A)
        rows = [dot(r, r) - L1 * L1]
        for k in range(n):
            d, e = minus(P[k + 1], P[k]), minus(P[k + 1], ends[k])
            rows += [dot(d, d) - couplers[k] ** 2, dot(e, e) - rockers[k] ** 2]
        driver = r[0] - L1 * hd.cos(h[0]) if cosine else r[1] - L1 * hd.sin(h[0])
        return [*rows, driver]

    def dependent(f: Floats, h: Floats) -> Floats:
        P, J = np.reshape(f, (-1, 2)), np.zeros((size, size))
        J[0, :2] = 2 * (P[0] - A)
        for k in range(n):
            d = P[k + 1] - P[k]
            J[1 + 2 * k, 2 * k : 2 * k + 2] = -2 * d
            J[1 + 2 * k, 2 * k + 2 : 2 * k + 4] = 2 * d
            J[2 + 2 * k, 2 * k + 2 : 2 * k + 4] = 2 * (P[k + 1] - ends[k])
        J[-1, 0 if cosine else 1] = 1.0
        return J

    def independent(f: Floats, h: Floats) -> Floats:
        J = np.zeros((size, 1))
        J[-1] = L1 * sin(h[0]) if cosine else -L1 * cos(h[0])
        return J

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        V, c = np.reshape(fv, (-1, 2)), np.zeros(size)
        c[0] = 2 * V[0] @ V[0]
        for k in range(n):
            u = V[k + 1] - V[k]
            c[1 + 2 * k], c[2 + 2 * k] = 2 * u @ u, 2 * V[k + 1] @ V[k + 1]
        c[-1] = L1 * (cos(h[0]) if cosine else sin(h[0])) * hv[0] ** 2
        return c

    return ConstraintSet(name, phi, dependent, independent, convective)


def spatial_slider(L1: float, L2: float, beta: float, row: str) -> ConstraintSet:
    """φ = (x1, y1, z1, x2), h = (α); ``row`` is "cos", "sin y" or "sin x" (eq 12, section 3.7)."""
    vx, vy = cos(beta), -sin(beta)

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        x1, y1, z1, x2 = f
        driver = {
            "cos": lambda: z1 - L1 * hd.cos(h[0]),
            "sin y": lambda: -y1 - L1 * vx * hd.sin(h[0]),
            "sin x": lambda: x1 - L1 * vy * hd.sin(h[0]),
        }[row]()
        return [
            x1 * x1 + y1 * y1 + z1 * z1 - L1 * L1,
            x1 * vx + y1 * vy,
            (x2 - x1) * (x2 - x1) + y1 * y1 + z1 * z1 - L2 * L2,
            driver,
        ]

    def dependent(f: Floats, h: Floats) -> Floats:
        x1, y1, z1, x2 = f
        last = {"cos": [0, 0, 1, 0], "sin y": [0, -1, 0, 0], "sin x": [1, 0, 0, 0]}[row]
        return np.array(
            [
                [2 * x1, 2 * y1, 2 * z1, 0],
                [vx, vy, 0, 0],
                [-2 * (x2 - x1), 2 * y1, 2 * z1, 2 * (x2 - x1)],
                last,
            ]
        )

    def independent(f: Floats, h: Floats) -> Floats:
        s, c = sin(h[0]), cos(h[0])
        k = {"cos": L1 * s, "sin y": -L1 * vx * c, "sin x": -L1 * vy * c}[row]
        return np.array([[0], [0], [0], [k]])

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        u1, v1, w1, u2 = fv
        s, c = sin(h[0]), cos(h[0])
        k = {"cos": L1 * c, "sin y": L1 * vx * s, "sin x": L1 * vy * s}[row]
        across = v1 * v1 + w1 * w1
        return np.array([2 * (u1 * u1 + across), 0, 2 * ((u2 - u1) ** 2 + across), k * hv[0] ** 2])

    return ConstraintSet(f"spatial slider ({row})", phi, dependent, independent, convective)


def slider_row(angle: float, beta: float) -> str:
    """The driver equation of the spatial slider by the 45 degree rule."""
    if cosine_row(angle):
        return "cos"
    return "sin y" if abs(cos(beta)) >= abs(sin(beta)) else "sin x"


# --- sweeps -------------------------------------------------------------------------------------


def swept_four_bar(
    sizes: Sequence[float],
    A: Sequence[float],
    B: Sequence[float],
    guess: Floats,
    angle: Motion,
    tensor: bool = False,
) -> list[Solution]:
    """The four-bar as one system, angle after angle, the driver equation chosen by it."""
    solutions: list[Solution] = []
    for x, v, a in zip(*angle, strict=True):
        row = four_bar(*sizes, A, B, cosine_row(x))
        h = Motion(np.array([x]), np.array([v]), np.array([a]))
        start = solutions[-1].x if solutions else guess
        solutions.append(solve(row, start, h, tensor=tensor))
    return solutions


def swept_chain(n_d: int, angle: Motion) -> list[Solution]:
    """The chain of four-bars as one system."""
    start = np.concatenate([[0.0, 2.0], *([4.6 + 6.0 * k, 5.8] for k in range(n_d))])
    solutions: list[Solution] = []
    for x, v, a in zip(*angle, strict=True):
        h = Motion(np.array([x]), np.array([v]), np.array([a]))
        solutions.append(solve(four_bar_chain(n_d, cosine_row(x)), start, h))
        start = solutions[-1].x
    return solutions


def swept_slider(
    L1: float, L2: float, beta: float, guess: Floats, angle: Motion, tensor: bool = False
) -> list[Solution]:
    """The spatial slider as one system, its driver equation switched every 90 degrees."""
    solutions: list[Solution] = []
    for x, v, a in zip(*angle, strict=True):
        row = spatial_slider(L1, L2, beta, slider_row(x, beta))
        h = Motion(np.array([x]), np.array([v]), np.array([a]))
        start = solutions[-1].x if solutions else guess
        solutions.append(solve(row, start, h, tensor=tensor))
    return solutions
