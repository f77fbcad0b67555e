"""The classical Runge-Kutta method of order four, with a fixed step and no allocation.

Two forms: ẋ = f(x, p), and ẋ = f(t, x, p) for the routines whose names end in `_in_time`, where t
is an array of one number. `work` is scratch: rows 0 to 3 are the slopes k1 to k4, row 4 is the
state at which the next slope is taken.

    k1 = f(t, x)                    k3 = f(t + h/2, x + h/2 k2)
    k2 = f(t + h/2, x + h/2 k1)     k4 = f(t + h, x + h k3)
    x ← x + h/6 (k1 + 2 k2 + 2 k3 + k4)

Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §II.1.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine

__all__ = [
    "rk4",
    "rk4_in_time",
    "rk4_step",
    "rk4_step_in_time",
    "rk4_trajectory",
    "rk4_trajectory_in_time",
]


@routine(x="n", k="n", y="n")
def rk4_stage(n: Int, h: Real, x: Vector, k: Vector, y: Vector) -> None:
    """Set y = x + h k."""
    for i in range(n):
        y[i] = x[i] + h * k[i]


@routine(x="n", work="5, n")
def rk4_combine(n: Int, h: Real, x: Vector, work: Matrix) -> None:
    """Advance x by h/6 (k1 + 2 k2 + 2 k3 + k4)."""
    for i in range(n):
        x[i] += h / 6.0 * (work[0, i] + 2.0 * (work[1, i] + work[2, i]) + work[3, i])


# --- x' = f(x, p) ---------------------------------------------------------------------------------


@routine(x="n", p="m", f="n, m -> n", work="5, n")
def rk4_step(n: Int, m: Int, h: Real, x: Vector, p: Vector, f: Kernel, work: Matrix) -> None:
    """Take one step of length h of ẋ = f(x, p), in place."""
    f(x, p, work[0])
    rk4_stage(n, h / 2.0, x, work[0], work[4])
    f(work[4], p, work[1])
    rk4_stage(n, h / 2.0, x, work[1], work[4])
    f(work[4], p, work[2])
    rk4_stage(n, h, x, work[2], work[4])
    f(work[4], p, work[3])
    rk4_combine(n, h, x, work)


@routine(x="n", p="m", f="n, m -> n", work="5, n")
def rk4(n: Int, m: Int, steps: Int, h: Real, x: Vector, p: Vector, f: Kernel, work: Matrix) -> None:
    """Take `steps` steps of length h of ẋ = f(x, p), in place."""
    for _k in range(steps):
        rk4_step(n, m, h, x, p, f, work)


@routine(x="n", p="m", f="n, m -> n", work="5, n", trajectory="samples + 1, n")
def rk4_trajectory(
    n: Int,
    m: Int,
    samples: Int,
    stride: Int,
    h: Real,
    x: Vector,
    p: Vector,
    f: Kernel,
    work: Matrix,
    trajectory: Matrix,
) -> None:
    """Take samples × stride steps of ẋ = f(x, p); row k of `trajectory` is x after k strides."""
    for i in range(n):
        trajectory[0, i] = x[i]
    for k in range(samples):
        rk4(n, m, stride, h, x, p, f, work)
        for i in range(n):
            trajectory[k + 1, i] = x[i]


# --- x' = f(t, x, p) ------------------------------------------------------------------------------


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def rk4_three_slopes(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """The first three slopes of a step of length h, in the rows of work; t advances by h."""
    start = t[0]
    f(t, x, p, work[0])
    t[0] = start + h / 2.0
    rk4_stage(n, h / 2.0, x, work[0], work[4])
    f(t, work[4], p, work[1])
    rk4_stage(n, h / 2.0, x, work[1], work[4])
    f(t, work[4], p, work[2])
    t[0] = start + h


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def rk4_step_in_time(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take one step of length h of ẋ = f(t, x, p), in place; t advances too."""
    rk4_three_slopes(n, m, h, t, x, p, f, work)
    rk4_stage(n, h, x, work[2], work[4])
    f(t, work[4], p, work[3])
    rk4_combine(n, h, x, work)


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
def rk4_in_time(
    n: Int,
    m: Int,
    steps: Int,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    work: Matrix,
) -> None:
    """Take `steps` steps of length h of ẋ = f(t, x, p), in place; t advances too."""
    start = t[0]
    for k in range(steps):
        rk4_step_in_time(n, m, h, t, x, p, f, work)
        # from the start, so that rounding does not add up
        t[0] = start + (k + 1) * h


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n", trajectory="samples + 1, n")
def rk4_trajectory_in_time(
    n: Int,
    m: Int,
    samples: Int,
    stride: Int,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    work: Matrix,
    trajectory: Matrix,
) -> None:
    """Take samples × stride steps of ẋ = f(t, x, p); row k of `trajectory` is x after k strides."""
    start = t[0]
    for i in range(n):
        trajectory[0, i] = x[i]
    for k in range(samples):
        rk4_in_time(n, m, stride, h, t, x, p, f, work)
        t[0] = start + (k + 1) * stride * h
        for i in range(n):
            trajectory[k + 1, i] = x[i]
