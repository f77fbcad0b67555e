"""A compiled map x ← F(t, x, p) as a method: whatever makes one step out of one kernel.

The step length is the kernel's own business: a constant of it, or one of p. So run a symbolic
discretisation (a `Function`), a `numba.cfunc` or a function of a C library.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine

__all__ = ["one_step_map_step"]


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def one_step_map_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Replace x by f(t, x, p); t advances by h."""
    f(t, x, p, work[0])
    for i in range(n):
        x[i] = work[0, i]
    t[0] += h
