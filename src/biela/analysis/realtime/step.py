"""The step of a real-time run: integrate, then project, with the same work every time.

`corrected_step` is for every integrator; `rk4_projected_step` for the classical Runge–Kutta method
with a kernel for its last slope that projects too.

As `march` of the integrators does it, but for two things: a correction is taken whatever the
residual is, and there are no events.  It is a routine, so that the step that is printed as C99 also
runs in process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from biela.code.routines import Int, Kernel, Matrix, Real, Routine, Vector, routine
from biela.errors import ModelError
from biela.solvers.integrators import (
    explicit_euler_step,
    heun_step,
    nystrom_step,
    second_order_euler_step,
)
from biela.solvers.integrators.rk4 import rk4_step_in_time, rk4_three_slopes
from biela.solvers.integrators.semi_implicit_euler import semi_implicit_euler_step_of

#: Methods whose work is fixed, but for those that need to know how many of x are positions.
STEPS: Final[Mapping[str, Routine[..., Any]]] = {
    "explicit_euler": explicit_euler_step,
    "heun": heun_step,
    "rk4": rk4_step_in_time,
}
SECOND_ORDER: Final[Mapping[str, Routine[..., Any]]] = {
    "second_order_euler": second_order_euler_step,
    "nystrom": nystrom_step,
}


@routine(t="1", x="n", p="m", project="1, n, m -> n + 1", trial="n + 1")
def corrected(
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    project: Kernel,
    iterations: Int,
    trial: Vector,
) -> Real:
    """Correct x `iterations` times; return the residual before the first."""
    residual = 0.0
    for k in range(iterations):
        project(t, x, p, trial)
        if k == 0:
            residual = trial[n]
        for i in range(n):
            x[i] = trial[i]
    return residual


@routine(
    t="1",
    x="n",
    p="m",
    f="1, n, m -> n",
    last="1, 2*n + 1, m -> n + 2",
    work="5, n",
    stage="2*n + 1",
    end="n + 2",
    residuals="2",
)
def rk4_projected_step(
    n: Int,
    m: Int,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    last: Kernel,
    work: Matrix,
    stage: Vector,
    end: Vector,
    residuals: Vector,
) -> None:
    """Take a step of length h, in place, with the last slope and the projections in one kernel.

    `last` gets x + h k3, the sum of x and the slopes so far, and h; see
    `biela.analysis.formulations.last_stage`.  `residuals` are those of the constraints and of
    their velocities before the corrections.
    """
    rk4_three_slopes(n, m, h, t, x, p, f, work)
    for i in range(n):
        stage[i] = x[i] + h * work[2, i]
        stage[n + i] = x[i] + h / 6.0 * (work[0, i] + 2.0 * (work[1, i] + work[2, i]))
    stage[2 * n] = h
    last(t, stage, p, end)
    for i in range(n):
        x[i] = end[i]
    residuals[0] = end[n]
    residuals[1] = end[n + 1]


def integration_step(
    integrator: str | Routine[..., Any], nq: int, n: int
) -> tuple[Routine[..., Any], int]:
    """The step of an integrator for n numbers, nq of which are positions, and its rows of work.

    Raises:
        ModelError: There is no such method, or it does not suit the state or real time.
    """
    if not isinstance(integrator, str):
        step: Routine[..., Any] = integrator
    elif integrator in STEPS:
        step = STEPS[integrator]
    elif integrator == "semi_implicit_euler":
        step = _semi_implicit(nq)
    elif integrator in SECOND_ORDER:
        if 2 * nq != n:
            raise ModelError(
                f"{integrator} is for as many positions as velocities, not for {nq} and "
                f"{n - nq}; use semi_implicit_euler or rk4"
            )
        step = SECOND_ORDER[integrator]
    else:
        raise ModelError(
            f"integrator {integrator!r} is not one of a fixed amount of work; these are: "
            f"{', '.join((*STEPS, 'semi_implicit_euler', *SECOND_ORDER))}, or a routine of your own"
        )
    rows = step.checked.parameters[-1].type.shape[0].value({})  # type: ignore[union-attr]  # a Matrix
    return step, int(rows)


def _semi_implicit(positions: int) -> Routine[..., Any]:
    """The semi-implicit Euler method for so many positions."""
    nq = positions

    @routine(t="1", x="n", p="m", f="1, n, m -> n", work="5, n")
    def semi_implicit_euler(
        n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
    ) -> None:
        """Take one step of x = (q, v), in place; t advances too."""
        semi_implicit_euler_step_of(nq, n, m, h, t, x, p, f, work)

    return semi_implicit_euler


def corrected_step(step: Routine[..., Any], rows: int) -> Routine[..., Any]:
    """The step of an integrator with the projections after it, as one routine."""

    @routine(
        t="1",
        x="n",
        p="m",
        f="1, n, m -> n",
        project_q="1, n, m -> n + 1",
        project_v="1, n, m -> n + 1",
        trial="n + 1",
        work=f"{rows}, n",
        residuals="2",
    )
    def corrected_step(
        n: Int,
        m: Int,
        h: Real,
        t: Vector,
        x: Vector,
        p: Vector,
        f: Kernel,
        project_q: Kernel,
        q_iterations: Int,
        project_v: Kernel,
        v_iterations: Int,
        trial: Vector,
        work: Matrix,
        residuals: Vector,
    ) -> None:
        """Take a step of length h and correct positions, then velocities, in place.

        `residuals` are those of the constraints and of their velocities before the corrections.
        """
        end = t[0] + h
        step(n, m, h, t, x, p, f, work)
        t[0] = end
        residuals[0] = corrected(n, m, t, x, p, project_q, q_iterations, trial)
        residuals[1] = corrected(n, m, t, x, p, project_v, v_iterations, trial)

    return corrected_step
