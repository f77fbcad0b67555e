"""The choice of independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.errors import ModelError
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
    names = [entry.name for entry in system.q]
    for name in preferred:
        if name not in names:
            raise ModelError(f"{system.name} has no coordinate {name}; it has {', '.join(names)}")
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    last = [names.index(name) for name in preferred]
    return tuple(sorted(choose_independent(rows, prefer_independent=last).independent))
