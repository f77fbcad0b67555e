"""Five hinged bars as particles, hanging open or closed to Bricard's mechanism, by NumPy and SciPy.

A bar of mass m and length 1 has the mass, the centre and the moments of particles along it (m/6,
2m/3, m/6, by Simpson), and one with a square section those of four such rows at ± side/√12.  The
chain follows by products of turns about the axes it starts with; with Lagrange's equations of the
particles, M = Σ m Jᵀ J and b = Σ m Jᵀ (J' q'), the derivatives exact by recursion.  Closed, all of
it turns by one angle: δ₁ = δ₃ = δ₅ and δ₂ = δ₄ with sin δ₁ + sin δ₂ + sin δ₁ sin δ₂ = 0.
Nothing here knows of biela.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp

Floats = npt.NDArray[np.float64]

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
GRAVITY = np.array([0.0, -9.81, 0.0])


class Chain(NamedTuple):
    """Ends of the bars, and of all particles masses, places, slopes by q, and J' q'."""

    ends: Floats
    masses: Floats
    places: Floats
    J: Floats
    bias: Floats


def chain(q: Floats, v: Floats, side: float = 0.0) -> Chain:
    """The chain turned by q from its start, with rates v."""
    R, p = np.eye(3), np.zeros(3)
    hinges: list[Floats] = []
    spins: list[Floats] = []  # axes as skew matrices
    w, dw, ddp = (np.zeros(3) for _ in range(3))  # of the last bar, and of its far end
    ends, masses, places, slopes, biases = [p], [], [], [], []
    for k in range(5):
        axis = R @ AXES[k]
        # the axis is fixed in the bar before, so it turns with it
        dw = dw + skew(w) @ axis * v[k]
        w = w + axis * v[k]
        R = R @ turn(AXES[k], q[k])
        spins.append(skew(axis))
        hinges.append(p)
        share, offsets = _particles(k, side)
        arms = offsets @ R.T
        J = np.zeros((len(share), 3, 5))
        for j in range(k + 1):
            J[:, :, j] = (p + arms - hinges[j]) @ spins[j].T
        W = skew(w)
        bent = skew(dw) + W @ W
        masses.append(share)
        places.append(p + arms)
        slopes.append(J)
        biases.append(ddp + arms @ bent.T)
        r = R @ (POINTS[k + 1] - POINTS[k])
        ddp = ddp + bent @ r
        p = p + r
        ends.append(p)
    parts = (np.concatenate(x) for x in (masses, places, slopes, biases))
    return Chain(np.array(ends), *parts)


@cache
def _particles(k: int, side: float) -> tuple[Floats, Floats]:
    """Of a bar of 1 kg: their shares of it, and their places from its first end."""
    along = POINTS[k + 1] - POINTS[k]
    share, places = np.array([1 / 6, 2 / 3, 1 / 6]), np.outer([0.0, 0.5, 1.0], along)
    if not side:
        return share, places
    across = np.eye(3)[along == 0] * side / np.sqrt(12)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) @ across
    return np.repeat(share / 4, 4), (places[:, None] + corners).reshape(-1, 3)


def skew(w: Floats) -> Floats:
    """The matrix of w x."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turn(axis: Floats, angle: float) -> Floats:
    """Rodrigues."""
    K = skew(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


def _equations(q: Floats, v: Floats, side: float) -> tuple[Floats, Floats]:
    """M and the forces less M's own: M q'' = f."""
    c = chain(q, v, side)
    J = c.J.reshape(-1, 5)
    weighted = np.repeat(c.masses, 3)[:, None] * J
    return J.T @ weighted, weighted.T @ (GRAVITY - c.bias).ravel()


def pendulum(times: Floats, side: float = 0.0) -> tuple[Floats, Floats]:
    """Angles (instants, 5) of the open chain from rest, and places of its ends (instants, 6, 3)."""

    def rates(t: float, x: Floats) -> Floats:
        M, f = _equations(x[:5], x[5:], side)
        return np.concatenate([x[5:], np.linalg.solve(M, f)])

    x = _run(rates, np.zeros(10), times)
    return x[:, :5], np.array([chain(row[:5], row[5:]).ends for row in x])


def closed(delta: float) -> tuple[Floats, Floats, Floats]:
    """The angles of the closed chain, and their first two slopes, by that of the first hinge."""
    a, da, dda = np.sin(delta), np.cos(delta), -np.sin(delta)
    b, db, ddb = -a / (1 + a), -1 / (1 + a) ** 2, 2 / (1 + a) ** 3
    other = np.arcsin(b)
    # slopes of b by δ, then of arcsin b
    b1, b2 = db * da, ddb * da**2 + db * dda
    c = np.sqrt(1 - b * b)
    o1, o2 = b1 / c, b2 / c + b * b1**2 / c**3
    pick = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    return (
        pick * delta + (1 - pick) * other,
        pick + (1 - pick) * o1,
        (1 - pick) * o2,
    )


def bricard(times: Floats, side: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Angles (instants, 5), rates of the first, places (instants, 6, 3) of Bricard's from rest."""

    def rates(t: float, x: Floats) -> Floats:
        q, slope, bend = closed(x[0])
        M, f = _equations(q, slope * x[1], side)
        return np.array([x[1], slope @ (f - M @ bend * x[1] ** 2) / (slope @ M @ slope)])

    x = _run(rates, np.zeros(2), times)
    q = np.array([closed(delta)[0] for delta in x[:, 0]])
    return q, x[:, 1], np.array([chain(row, np.zeros(5)).ends for row in q])


def _run(rates: Any, start: Floats, times: Floats) -> Floats:
    found = solve_ivp(
        rates, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-10, atol=1e-11
    )
    return np.asarray(found.y.T)
