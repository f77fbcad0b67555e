"""Many states at once through a fixed-step method: the loop over time is native.

The states of a block lie one after the other in a row, x = (x₁, …, x_b), and kernels take a whole
block (`NativeFunction.block`).  What is held over a step lies likewise in p: the rows of inputs, or
what a law makes of them and of the state at the start of a sample,

    p ← u_s    or    p ← law(x, u_s),        then so many steps of x' = f(x, p).

Positions of a semi-implicit step move on their manifold:

    v ← v + h v'(q, v, p),    q ← q ⊕ h v.
"""

from __future__ import annotations

from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.rk4 import rk4_step

__all__ = ["rk4_of_states", "semi_implicit_euler_of_states"]


@routine(x="n", u="k", p="m", law="n, k -> m")
def _hold(
    n: Int, k: Int, m: Int, with_law: Int, x: Vector, u: Vector, p: Vector, law: Kernel
) -> None:
    """Set what is held over a sample: what the law gives, or the inputs themselves."""
    if with_law != 0:
        law(x, u, p)
    else:
        for i in range(m):
            p[i] = u[i]


@routine(
    X="samples + 1, n",
    U="samples, k",
    P="samples, m",
    f="n, m -> n",
    law="n, k -> m",
    project="n -> n",
    work="5, n",
)
def rk4_of_states(
    n: Int,
    k: Int,
    m: Int,
    samples: Int,
    substeps: Int,
    with_law: Int,
    with_project: Int,
    h: Real,
    X: Matrix,
    U: Matrix,
    P: Matrix,
    f: Kernel,
    law: Kernel,
    project: Kernel,
    work: Matrix,
) -> None:
    """Fill X from its first row on, by the classical Runge-Kutta method.

    `project` brings the state back onto its manifold after a step.
    """
    for s in range(samples):
        _hold(n, k, m, with_law, X[s], U[s], P[s], law)
        for i in range(n):
            X[s + 1, i] = X[s, i]
        for _step in range(substeps):
            rk4_step(n, m, h, X[s + 1], P[s], f, work)
            if with_project != 0:
                project(X[s + 1], work[0])
                for i in range(n):
                    X[s + 1, i] = work[0, i]


@routine(
    X="samples + 1, b*(nq + nv)",
    U="samples, k",
    P="samples, m",
    f="b*(nq + nv), m -> b*(nq + nv)",
    law="b*(nq + nv), k -> m",
    move="b*(nq + nv), b*nv -> b*(nq + nv)",
    work="2, b*(nq + nv)",
    delta="b*nv",
)
def semi_implicit_euler_of_states(
    b: Int,
    nq: Int,
    nv: Int,
    k: Int,
    m: Int,
    samples: Int,
    substeps: Int,
    with_law: Int,
    h: Real,
    X: Matrix,
    U: Matrix,
    P: Matrix,
    f: Kernel,
    law: Kernel,
    move: Kernel,
    work: Matrix,
    delta: Vector,
) -> None:
    """Fill X from its first row on, by the semi-implicit Euler method.

    `move` displaces the positions of x by δ and leaves the velocities.
    """
    n = nq + nv
    for s in range(samples):
        _hold(b * (nq + nv), k, m, with_law, X[s], U[s], P[s], law)
        for i in range(b * n):
            X[s + 1, i] = X[s, i]
        for _step in range(substeps):
            f(X[s + 1], P[s], work[0])
            for r in range(b):
                for j in range(nv):
                    X[s + 1, r * n + nq + j] += h * work[0, r * n + nq + j]
                    delta[r * nv + j] = h * X[s + 1, r * n + nq + j]
            move(X[s + 1], delta, work[1])
            for i in range(b * n):
                X[s + 1, i] = work[1, i]
