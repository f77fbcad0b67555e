"""The built-in fixed steps by number."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.explicit_euler import explicit_euler_step
from biela.solvers.integrators.heun import heun_step
from biela.solvers.integrators.nystrom import nystrom_step
from biela.solvers.integrators.one_step_map import one_step_map_step
from biela.solvers.integrators.rk4 import rk4_step_in_time
from biela.solvers.integrators.second_order_euler import second_order_euler_step
from biela.solvers.integrators.semi_implicit_euler import semi_implicit_euler_step_of
from biela.solvers.integrators.status import FINISHED, NOT_FINITE, UNSUITABLE
from biela.solvers.integrators.trapezoidal import trapezoidal_step

__all__ = [
    "EVALUATIONS",
    "EXPLICIT_EULER",
    "HEUN",
    "NYSTROM",
    "ONE_STEP_MAP",
    "RK4",
    "SECOND_ORDER_EULER",
    "SEMI_IMPLICIT_EULER",
    "TRAPEZOIDAL",
    "built_in_step",
]

EXPLICIT_EULER = 0
SEMI_IMPLICIT_EULER = 1
SECOND_ORDER_EULER = 2
HEUN = 3
RK4 = 4
TRAPEZOIDAL = 5
ONE_STEP_MAP = 6
NYSTROM = 7

EVALUATIONS = 1  # place in `counts`


@routine(
    t="1",
    x="n",
    p="m",
    f="1, n, m -> n",
    jacobian="1, n, m -> ns*ns",
    work="5, n",
    J="ns, ns",
    pivots="ns",
    delta="ns",
    counts="4",
)
def built_in_step(
    method: Int,
    nq: Int,
    n: Int,
    m: Int,
    ns: Int,
    iterations: Int,
    with_jacobian: Int,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    jacobian: Kernel,
    work: Matrix,
    J: Matrix,
    pivots: IntVector,
    delta: Vector,
    counts: IntVector,
) -> Int:
    """Take one step of the method of that number; return a status."""
    if method == EXPLICIT_EULER:
        explicit_euler_step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 1
    elif method == SEMI_IMPLICIT_EULER:
        semi_implicit_euler_step_of(nq, n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 2
    elif method == SECOND_ORDER_EULER and 2 * nq == n:
        second_order_euler_step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 1
    elif method == HEUN:
        heun_step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 2
    elif method == RK4:
        rk4_step_in_time(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 4
    elif method == TRAPEZOIDAL and ns == n:
        singular = trapezoidal_step(
            n, ns, m, iterations, with_jacobian, h, t, x, p, f, jacobian, work, J, pivots, delta
        )
        differences = 0 if with_jacobian != 0 else n + 1
        counts[EVALUATIONS] += 1 + iterations + differences
        if singular != 0:
            return NOT_FINITE
    elif method == NYSTROM and 2 * nq == n:
        nystrom_step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 4
    elif method == ONE_STEP_MAP:
        one_step_map_step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += 1
    else:
        return UNSUITABLE
    return FINISHED
