"""Whether forces that depend on multipliers were found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.motion import LoopedMotion
from biela.equations.blocks.block import read_multipliers

Floats = npt.NDArray[np.float64]


def unbalanced(motion: LoopedMotion, t: float, x: Floats, u: Floats) -> float:
    """By which part of the forces M v' + Φ_vᵀ λ differs from Q(λ).

    Rounds for forces that depend on λ end after a fixed number; zero where there are no such
    forces.
    """
    blocks = motion.blocks
    if not read_multipliers(blocks.forces):
        return 0.0
    q, v = x[: blocks.nq], x[blocks.nq :]
    a, lam = motion.accelerations(t, q, v, u)
    row, column = blocks.indices
    reaction = np.bincount(column, blocks.Phi_v(q, t) * lam[row], blocks.nv)
    Q = blocks.Q(q, v, t, u, lam)
    inertia = blocks.momentum(a[None])[0]
    if not np.isfinite([*Q, *reaction, *inertia]).all():
        return np.inf
    scale = sum(float(np.abs(part).max(initial=0.0)) for part in (Q, reaction, inertia))
    missed = float(np.abs(inertia + reaction - Q).max(initial=0.0))
    return missed / scale if scale else 0.0
