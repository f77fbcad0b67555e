"""Equations given as functions of NumPy arrays, solved by the damped iteration.

For problems that are solved once, before a run, where writing a kernel would not pay; the iteration
itself is `solve_equations`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.solvers.newton import CONVERGED
from biela.solvers.nonlinear import Solution, solve_equations

__all__ = ["CONVERGED", "Solution", "damped_newton"]

Floats = npt.NDArray[np.float64]

#: Whole steps of Newton's method that are tried before any damping.
_PLAIN = 12
#: The longest of them (m, rad).
_SHORT = 0.3
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_KERNEL = ctypes.CFUNCTYPE(None, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


def damped_newton(
    residual: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    start: Floats,
    tolerance: float = 1e-11,
    iterations: int = 200,
    restarts: int = 3,
) -> Solution:
    """Solve r(x) = 0 from a start that may be far away, changing x as little as it can.

    Where it stalls it is tried again from so many disturbed starts.  Whatever the functions raise
    is raised here.
    """
    n = len(start)
    rows = len(residual(np.array(start, dtype=float)))
    failures: list[BaseException] = []

    def kernel(function: Callable[[Floats], Floats], size: int) -> Any:
        def call(t: Any, x: Any, p: Any, out: Any) -> None:
            target = np.ctypeslib.as_array(out, (size,))
            try:
                values = function(np.ctypeslib.as_array(x, (n,)).copy())
                target[:] = np.asarray(values, dtype=float).ravel()
            except BaseException as error:  # nothing may unwind through native code
                failures.append(error)
                target[:] = np.nan

        return _KERNEL(call)

    if not rows:
        return Solution(
            CONVERGED, np.array(start, dtype=float), np.zeros(0), tolerance, 0, 0, (), None
        )
    near = _plain_newton(residual, jacobian, np.array(start, dtype=float), tolerance)
    if near is not None:
        return near
    found = solve_equations(
        kernel(residual, rows),
        kernel(jacobian, rows * n),
        rows,
        start,
        tolerance=tolerance,
        iterations=iterations,
        restarts=restarts,
    )
    if failures:
        raise failures[0]
    return found


def _plain_newton(
    residual: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    x: Floats,
    tolerance: float,
) -> Solution | None:
    """The solution where whole Newton steps lead to it, each at least halving the residual.

    That is the rule near a solution, where nothing has to be damped; the routine that can damp need
    not even be loaded.
    """
    r = np.asarray(residual(x), dtype=float)
    for iteration in range(_PLAIN):
        if not np.isfinite(r).all():
            return None
        if np.abs(r).max() <= tolerance:
            return Solution(CONVERGED, x, r, tolerance, iteration, 0, (), None)
        slope = np.asarray(jacobian(x), dtype=float)
        if not np.isfinite(slope).all():
            return None
        step = np.linalg.lstsq(slope, r, rcond=1e-9)[0]
        if np.abs(step).max() > _SHORT:
            return None  # a long step may lead to another branch
        x = x - step
        before, r = r, np.asarray(residual(x), dtype=float)
        if not np.abs(r).max() <= max(0.5 * np.abs(before).max(), tolerance):
            return None
    return None
