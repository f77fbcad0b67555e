"""Why a run stopped: the time, the coordinate and the probable cause."""

from __future__ import annotations

import numpy as np

from biela.equations import System
from biela.results import Results
from biela.solvers.integrators import NOT_FINITE, STEP_TOO_SMALL


def explanation(system: System, status: int, results: Results) -> str:
    """A sentence for the status with which an integrator stopped."""
    t = float(results.t[-1])
    q, v = results.q[-1], results.v[-1]
    state = {e.name: abs(x) for e, x in zip((*system.q, *system.v), (*q, *v), strict=True)}
    worst = max(state, key=lambda name: state[name] if np.isfinite(state[name]) else np.inf)
    grown = f"the largest entry of the state is {worst} = {state[worst]:.3g}"
    cause = _cause(system, results)
    if status == NOT_FINITE:
        what = "the state became infinite or not a number"
    elif status == STEP_TOO_SMALL:
        what = "the step became too small for the accuracy asked for"
    else:
        what = "the bound on the number of steps was reached"
    return (
        f"{system.name}: {what} after t = {t:.6g} s ({grown}). {cause} The results until then are "
        f"in the attribute results of this error"
    )


def _cause(system: System, results: Results) -> str:
    accelerations = results.a[-1]
    if not np.isfinite(accelerations).all():
        bad = int(np.argwhere(~np.isfinite(accelerations))[0][0])
        return (
            f"Probable cause: the acceleration of {system.v[bad].name} is not finite there; a "
            f"force or law divides by zero or leaves its domain."
        )
    if system.geometric and np.abs(results["constraint error"][-1]) > 1e-3:
        return (
            "Probable cause: the constraints are violated; use projections, or smaller steps, and "
            "look for a singular position."
        )
    return "Probable cause: the step is too long for a stiff force; try integrator='radau'."
