"""Motions to compare with, computed without the simulator.

A conservative mechanism of one degree of freedom whose position is known in closed form as a
function of one angle θ moves by its energy alone: with T₁(θ) the kinetic energy at θ' = 1,

    T₁(θ) θ'² + V(θ) = E,     t = ∫ √(T₁ / (E - V)) dθ,

a quadrature as long as θ' keeps its sign.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from biela.equations import System

Floats = npt.NDArray[np.float64]
Pose = Callable[[float], Floats]  # coordinates at an angle

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def rate(pose: Pose, angle: float, step: float = 2e-3) -> Floats:
    """The derivative of a pose by its angle: central differences of order eight."""
    total = np.zeros_like(pose(angle))
    for k, weight in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), 1):
        total += weight * (pose(angle + k * step) - pose(angle - k * step))
    return total / step


def passage(
    system: System, pose: Pose, start: float, speed: float, end: float, p: Floats
) -> tuple[float, float]:
    """When the angle reaches ``end``, and its speed then."""

    def energies(angle: float) -> tuple[float, float]:
        T, V = system.evaluate("energy", pose(angle), rate(pose, angle), p=p)
        return float(T), float(V)

    T, V = energies(start)
    E = T * speed**2 + V
    panels = math.ceil(abs(end - start) / 0.25) + 1
    edges = np.linspace(start, end, panels + 1)
    half = (edges[1] - edges[0]) / 2
    total = 0.0
    for middle in (edges[:-1] + edges[1:]) / 2:
        for x, weight in zip(_NODES, _WEIGHTS, strict=True):
            T, V = energies(middle + half * x)
            total += weight * half * math.sqrt(T / (E - V))
    T, V = energies(end)
    return abs(total), math.copysign(math.sqrt((E - V) / T), end - start)


def integrated(f: Callable[[Floats], Floats], x: Floats, duration: float, steps: int) -> Floats:
    """The state after a time, by the classical method of order four in plain Python."""
    h = duration / steps
    for _ in range(steps):
        a = f(x)
        b = f(x + h / 2 * a)
        c = f(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + f(x + h * c))
    return x


def four_bar_pose(theta1: float, lengths: tuple[float, ...] = (2.0, 8.0, 5.0, 10.0)) -> Floats:
    """Angles of `examples.symbolic.four_bar` with theta3 > 0: the diagonal closes a triangle."""
    l1, l2, l3, l4 = lengths
    diagonal = l4 - l1 * cmath.exp(-1j * theta1)
    theta3 = math.acos((abs(diagonal) ** 2 - l2**2 - l3**2) / (2 * l2 * l3))
    absolute = -cmath.phase(diagonal / (l2 + l3 * cmath.exp(-1j * theta3)))
    # the bar in the middle swings about the direction of the diagonal and never turns over
    return np.array([theta1, absolute - theta1, theta3])


def crank_rod_disc_pose(theta1: float) -> Floats:
    """Coordinates of `examples.symbolic.crank_rod_disc`, the disc to the right of the crank.

    The centre of the disc runs on a line parallel to the plane, a radius above it; how far it has
    come from the foot of O on that line is how far it has rolled.
    """
    l1, l2, r, slope, D = 0.4, 1.5, 0.3, 0.15, complex(1.0, -0.5)
    along, up = cmath.exp(1j * slope), 1j * cmath.exp(1j * slope)
    A = l1 * cmath.exp(1j * theta1)
    height = (D * up.conjugate()).real + r  # of the line, seen from O
    drop = (A * up.conjugate()).real - height
    C = ((A * along.conjugate()).real + math.sqrt(l2**2 - drop**2)) * along + height * up
    rod, contact = cmath.phase(C - A), C - r * up
    rolled = -(C * along.conjugate()).real / r
    return np.array([theta1, rod - theta1, rolled, contact.real, contact.imag])


def double_pendulum_rates(x: Floats) -> Floats:
    """Rates of (φ₁, φ₂, φ₁', φ₂') of two uniform rods of 1 m by absolute angles, g = 9.81."""
    difference, g = x[0] - x[1], 9.81
    c, s = math.cos(difference), math.sin(difference)
    M = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
    Q = [
        -s / 2 * x[3] ** 2 - 1.5 * g * math.sin(x[0]),
        s / 2 * x[2] ** 2 - 0.5 * g * math.sin(x[1]),
    ]
    return np.concatenate([x[2:], np.linalg.solve(M, Q)])
