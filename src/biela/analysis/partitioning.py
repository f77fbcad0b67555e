"""The choice of independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.equations.positions import velocity_places
from biela.solvers import choose_independent

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
    last = velocity_places(system, preferred)
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    return tuple(sorted(choose_independent(rows, prefer_independent=last).independent))


def worn_out(
    system: System,
    t: float,
    q: Floats,
    u: Floats,
    p: Floats,
    chosen: Sequence[int],
) -> bool:
    """Whether another choice of independent velocities is now twice as well conditioned.

    A choice is kept as long as it is not much worse than the best: changing it costs a restart
    (García de Jalón & Bayo 1994, §3.5).
    """
    best = independent_velocities(system, t, q, u, p)
    if set(best) == set(chosen):
        return False
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(sizes > 0, sizes, 1.0)

    def conditioned(picked: Sequence[int]) -> float:
        """The smallest singular value that is not that of a dependent constraint."""
        values = np.linalg.svd(
            np.vstack([rows, np.eye(len(system.v))[list(picked)]]), compute_uv=False
        )
        return float(values[len(system.v) - 1])

    return conditioned(chosen) < 0.5 * conditioned(best)
