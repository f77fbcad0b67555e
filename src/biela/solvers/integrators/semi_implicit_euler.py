"""The semi-implicit (symplectic) Euler method for x = (q, v), of order one.

    v ← v + h v'(t, q, v)            with the positions of the start
    q ← q + h q'(t, q, v)            with the new velocities

For q' = v and forces that depend on q only it is symplectic: the energy error stays bounded. f is
called twice, as q' = N(q) v of the new v is only known to it.

Hairer, Lubich & Wanner 2006, Geometric Numerical Integration, §I.1.2.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine

__all__ = ["semi_implicit_euler_step", "semi_implicit_euler_step_of"]


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def semi_implicit_euler_step_of(
    nq: Int, n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step of x = (q, v) with nq positions, in place; t advances too."""
    f(t, x, p, work[0])
    for i in range(nq, n):
        x[i] += h * work[0, i]
    f(t, x, p, work[1])
    for i in range(nq):
        x[i] += h * work[1, i]
    t[0] += h


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def semi_implicit_euler_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step of x = (q, v) with as many positions as velocities, in place."""
    semi_implicit_euler_step_of(n // 2, n, m, h, t, x, p, f, work)
