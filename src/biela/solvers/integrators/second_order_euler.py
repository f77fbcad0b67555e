"""The Euler method for second-order problems, with the position exact for constant acceleration.

For x = (q, v) with q' = v, half of x each:

    q ← q + (q' + q'' h/2) h,        v ← v + q'' h

The position is the Taylor polynomial of degree two. The method is of order one, with a smaller
error of the position than the explicit Euler method and at no further cost.

Plaza 2015, Symbolic modelling for real-time simulation of multibody systems (PhD thesis, Public
University of Navarre), eq. 2.54.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine

__all__ = ["second_order_euler_step"]


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def second_order_euler_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step of x = (q, v), q' = v, in place; n is even; t advances too."""
    f(t, x, p, work[0])
    nq = n // 2
    for i in range(nq):
        x[i] += (work[0, i] + work[0, nq + i] * h / 2.0) * h
    for i in range(nq, n):
        x[i] += h * work[0, i]
    t[0] += h
