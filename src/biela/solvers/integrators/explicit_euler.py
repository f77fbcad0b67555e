"""The explicit Euler method, of order one.

    x ← x + h f(t, x)

Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §I.7.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine

__all__ = ["explicit_euler_step"]


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def explicit_euler_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step x ← x + h f(t, x, p), in place; t advances too."""
    f(t, x, p, work[0])
    for i in range(n):
        x[i] += h * work[0, i]
    t[0] += h
