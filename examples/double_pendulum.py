"""A double pendulum: from its energies to a simulation of a million steps a second.

1. Write the two energies with symbols.
2. Let biela take the derivatives of Lagrange's equations.
3. Compile the state equations and integrate them with a fixed step in native code.
4. Watch the energy, which should not change.

Run this file to see the figures; ``f.c()`` and ``rk4.c()`` are the same code in C for a controller.
"""

from __future__ import annotations

import time

import numpy as np

import biela as bl
from biela.solvers import rk4, rk4_trajectory

M1, M2, L1, L2, G = 1.0, 0.8, 0.6, 0.5, 9.81


def state_equations() -> bl.Function:
    """The rates x' = f(x, p) of the state x = (theta1, theta2, omega1, omega2)."""
    ws = bl.Workspace("double_pendulum")
    q = ws.coordinates("theta:2")
    v = [c.velocity for c in q]
    m1, m2, l1, l2, g = ws.parameters("m1 m2 l1 l2 g")

    # positions of the two masses, y upwards, and their velocities
    x1, y1 = l1 * bl.sin(q[0]), -l1 * bl.cos(q[0])
    x2, y2 = x1 + l2 * bl.sin(q[1]), y1 - l2 * bl.cos(q[1])
    u1, w1, u2, w2 = bl.time_derivative([x1, y1, x2, y2])
    T = m1 * (u1**2 + w1**2) / 2 + m2 * (u2**2 + w2**2) / 2
    V = g * (m1 * y1 + m2 * y2)

    # d/dt(dT/dv) - dT/dq + dV/dq = 0, that is M a + c = 0
    momentum = bl.gradient(T, v)
    M = bl.jacobian(momentum, v).rows
    lagrangian = bl.gradient(T - V, q)
    inertia = bl.substitute(bl.time_derivative(momentum), {c.acceleration: 0 for c in q})
    c = [i - s for i, s in zip(inertia, lagrangian, strict=True)]

    # two equations: solved by hand
    determinant = M[0][0] * M[1][1] - M[0][1] ** 2
    a1 = (M[0][1] * c[1] - M[1][1] * c[0]) / determinant
    a2 = (M[0][1] * c[0] - M[0][0] * c[1]) / determinant
    state, p = [*q, *v], [m1, m2, l1, l2, g]
    return bl.Function("double_pendulum", {"x": state, "p": p}, {"rate": [*v, a1, a2]})


def energy() -> bl.Function:
    """The energy of a state."""
    ws = bl.Workspace("energy")
    t1, t2, o1, o2 = x = ws.symbols("theta1 theta2 omega1 omega2")
    m1, m2, l1, l2, g = p = ws.parameters("m1 m2 l1 l2 g")
    speed2 = (l1 * o1) ** 2 + (l2 * o2) ** 2 + 2 * l1 * l2 * o1 * o2 * bl.cos(t1 - t2)
    height2 = -l1 * bl.cos(t1) - l2 * bl.cos(t2)
    E = m1 * ((l1 * o1) ** 2 / 2 - g * l1 * bl.cos(t1)) + m2 * (speed2 / 2 + g * height2)
    return bl.Function("energy", {"x": x, "p": p}, {"E": E})


def simulate(seconds: float = 10.0, h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """States and energies every 10 ms."""
    f, E = state_equations(), energy()
    p = np.array([M1, M2, L1, L2, G])
    x = np.array([2.0, 1.0, 0.0, 0.0])
    samples, stride = round(seconds / 0.01), round(0.01 / h)
    trajectory = np.zeros((samples + 1, 4))
    rk4_trajectory(4, 5, samples, stride, h, x, p, f.native, np.zeros((5, 4)), trajectory)
    return trajectory, E.map(trajectory, p)


if __name__ == "__main__":
    f = state_equations()
    print(f)
    trajectory, energies = simulate()
    drift = np.abs(energies - energies[0]).max()
    print(f"10 s in steps of 0.1 ms: the energy of {energies[0]:.3f} J moves by {drift:.1e} J")

    n = 1_000_000
    x, p = np.array([2.0, 1.0, 0.0, 0.0]), np.array([M1, M2, L1, L2, G])
    start = time.perf_counter()
    rk4(4, 5, n, 1e-5, x, p, f.native, np.zeros((5, 4)))
    print(f"{n} steps of RK4 in {time.perf_counter() - start:.2f} s")
    print(f"the step as C99: {len(f.c().splitlines())} + {len(rk4.c().splitlines())} lines")
