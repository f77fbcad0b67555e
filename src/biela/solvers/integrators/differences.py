"""The Jacobian ∂f/∂x of a right-hand side by forward differences."""

from __future__ import annotations

from math import sqrt

from biela.code.routines import Int, Kernel, Matrix, Vector, routine

__all__ = ["difference_jacobian"]

EPSILON = 2.220446049250313e-16


@routine(
    t="1",
    x="n",
    p="m",
    f="1, n, m -> n",
    slope="n",
    typical="n",
    moved="n",
    changed="n",
    J="ns, ns",
)
def difference_jacobian(
    n: Int,
    ns: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    slope: Vector,
    typical: Vector,
    moved: Vector,
    changed: Vector,
    J: Matrix,
) -> None:
    """Set J = ∂f/∂x at (t, x), column by column: n calls of f. ns is n.

    `slope` is f(t, x, p); `typical` holds magnitudes of x below which a number counts as small;
    `moved` and `changed` are scratch. The increment √ε max(|x|, typical) balances truncation
    and rounding.

    Dennis & Schnabel 1996, Numerical Methods for Unconstrained Optimization and Nonlinear
    Equations, §5.4.
    """
    for i in range(n):
        moved[i] = x[i]
    for j in range(n):
        size = max(abs(x[j]), typical[j])
        step = sqrt(EPSILON) * (size if size > 0.0 else 1.0)
        moved[j] = x[j] + (step if x[j] >= 0.0 else -step)
        # the step as it was taken, after rounding
        step = moved[j] - x[j]
        f(t, moved, p, changed)
        for i in range(n):
            J[i, j] = (changed[i] - slope[i]) / step
        moved[j] = x[j]
