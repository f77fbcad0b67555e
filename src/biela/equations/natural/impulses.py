"""Velocities after an impulse: what a blow does to a mechanism whose joints hold.

    M (v⁺ - v⁻) + Φ_vᵀ Λ = J,     Φ_v v⁺ = β

with J the impulse along the coordinates, in N s or N m s, and Λ the impulses of the constraints
(García de Jalón & Bayo 1994, §8.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from biela.equations.natural.entities import Floats
from biela.equations.system import System
from biela.errors import ModelError


def struck(
    system: System,
    impulse: Mapping[str, float],
    q: Sequence[float] | Floats | None = None,
    v: Sequence[float] | Floats | None = None,
    *,
    t: float = 0.0,
) -> Floats:
    """The velocities after an impulse along coordinates, by name.

    Args:
        system: The equations; velocities are the rates of the coordinates.
        impulse: N s along "point.x" …, N m s along an angle.
        q: Position; that of the system at the start if not given.
        v: Velocities before; at rest if not given.
        t: Time, s.

    Raises:
        ModelError: There is no such coordinate.
    """
    names = [entry.name for entry in system.q]
    J = np.zeros(len(names))
    for name, value in impulse.items():
        if name not in names:
            raise ModelError(f"{system.name} has no coordinate {name}; it has {', '.join(names)}")
        J[names.index(name)] = value
    place = np.array([entry.value for entry in system.q]) if q is None else np.asarray(q)
    before = np.zeros(len(J)) if v is None else np.asarray(v, dtype=float)
    M = np.asarray(system.evaluate("M", place, t=t))
    right = M @ before + J
    if "Phi_v" not in system:
        found: Floats = np.linalg.solve(M, right)
        return found
    rows = np.atleast_2d(system.evaluate("Phi_v", place, t=t))
    m = len(rows)
    whole = np.block([[M, rows.T], [rows, np.zeros((m, m))]])
    beta = np.atleast_1d(system.evaluate("beta", place, t=t))
    # the smallest solution: rows that depend on each other share what they carry
    return np.asarray(
        np.linalg.lstsq(whole, np.concatenate([right, beta]), rcond=None)[0][: len(J)]
    )
