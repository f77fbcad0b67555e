"""The choice of independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def independent_velocities(
    system: System, t: float, q: Floats, u: Floats, p: Floats, preferred: Sequence[str] = ()
) -> tuple[int, ...]:
    """Places of the velocities that are integrated; the others follow from the constraints.

    By elimination of Φ_v with full pivoting: pivot columns are dependent, the rest independent
    (Wehage & Haug 1982); columns preferred as independent come last.

    Raises:
        ModelError: A preferred coordinate is unknown.
    """
    names = [entry.name for entry in system.q]
    for name in preferred:
        if name not in names:
            raise ModelError(f"{system.name} has no coordinate {name}; it has {', '.join(names)}")
    A = np.array(system.evaluate("Phi_v", q, t=t, u=u, p=p), dtype=float)
    last = [names.index(name) for name in preferred]
    first = [j for j in range(A.shape[1]) if j not in last]
    dependent: set[int] = set()
    scale = np.abs(A).max(initial=0.0)
    for group in (first, last):
        while True:
            left = [j for j in group if j not in dependent]
            if not left or not len(A):
                break
            i, k = np.unravel_index(np.argmax(np.abs(A[:, left])), (len(A), len(left)))
            if abs(A[i, left[k]]) <= 1e-9 * scale:
                break
            j = left[k]
            dependent.add(j)
            row = A[i] / A[i, j]
            A = np.delete(A, i, axis=0)
            A = A - A[:, [j]] * row
    return tuple(j for j in range(len(system.v)) if j not in dependent)
