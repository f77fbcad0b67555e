"""The method of Heun, of order two: the explicit trapezoidal rule.

    k1 = f(t, x),    k2 = f(t + h, x + h k1),    x ← x + h/2 (k1 + k2)

Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §II.1.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.rk4 import rk4_stage

__all__ = ["heun_step"]


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def heun_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step of length h, in place; t advances too."""
    f(t, x, p, work[0])
    rk4_stage(n, h, x, work[0], work[2])
    t[0] += h
    f(t, work[2], p, work[1])
    for i in range(n):
        x[i] += h / 2.0 * (work[0, i] + work[1, i])
