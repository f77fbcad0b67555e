"""Penalty and augmented Lagrangian formulations of index 1.

Each constraint becomes an inertia, a damper and a spring that act on its violation,

    (M + Φ_vᵀ α Φ_v) v' = Q + Φ_vᵀ α Γ,     Γ = γ - 2Ωμ Φ' - Ω² Φ,     λ = α (Φ_v v' - Γ)

(Bayo, García de Jalón & Serna 1988), a positive definite matrix without multipliers.  The augmented
Lagrangian adds multipliers that are improved by rounds with the same factors until the violation
of the accelerations vanishes, so that α need not be large:

    (M + Φ_vᵀ α Φ_v) v'_i+1 = Q - Φ_vᵀ λ_i + Φ_vᵀ α Γ,     λ_i+1 = λ_i + α (Φ_v v'_i+1 - Γ).

α is diagonal, a multiple of the mass 1/(φ M⁻¹ φᵀ) that each row φ of Φ_v moves: rows are lengths or
angles, and velocities too, so that one number for all would depend on the units, and leave the
loops of a mechanism of micrometres open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.multipliers import stabilised
from biela.analysis.unrolled import Row, Unrolled, product, transposed_product
from biela.equations import System
from biela.equations.elimination import factorise, stiffened
from biela.singular_values import pinv

Floats = npt.NDArray[np.float64]

#: Motions of less mass than this share of the others have none.
_SINGULAR: Final = 1e-12


def accelerations(
    unrolled: Unrolled,
    alpha: Sequence[float],
    frequency: float,
    damping: float,
    rounds: int,
    augmented: bool,
) -> tuple[Row, Row]:
    """V' and λ by the penalty method or, ``augmented``, with multipliers improved in each round.

    The penalty method needs one round, more where forces depend on multipliers.
    """
    zero, rows = unrolled.zero, unrolled.Phi_v
    n = len(unrolled.v)
    factors = factorise(stiffened(unrolled.M, rows, range(len(rows)), alpha))
    wanted = stabilised(unrolled, frequency * damping, frequency)
    pull = transposed_product(rows, [k * w for k, w in zip(alpha, wanted, strict=True)], n, zero)
    loaded = unrolled.constrained and unrolled.needs("Q", "lam")
    lam: Row = [zero] * len(rows)
    a: Row = []
    for _ in range(rounds):
        force = unrolled.Q(lam if loaded else None)
        reaction = transposed_product(rows, lam, n, zero) if augmented else [zero] * n
        a = factors.solve([f + p - r for f, p, r in zip(force, pull, reaction, strict=True)])
        violation = [x - w for x, w in zip(product(rows, a, zero), wanted, strict=True)]
        held = lam if augmented else [zero] * len(rows)
        lam = [l + k * e for l, k, e in zip(held, alpha, violation, strict=True)]
    return a, lam


def moved_masses(system: System, t: float, q: Floats, u: Floats, p: Floats) -> tuple[float, ...]:
    """The mass that each row of Φ_v moves, 1/(φ M⁻¹ φᵀ), rounded to a power of ten.

    A row that moves none there, as in a singular position, is given the largest of the others.
    """
    if not system.multipliers:
        return ()
    M = np.atleast_2d(system.evaluate("M", q, t=t, u=u, p=p))
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    # velocities in units in which the diagonal of M is one; those without mass do not count
    sizes = np.diag(M)
    units = np.divide(1.0, np.sqrt(np.abs(sizes)), out=np.zeros(len(M)), where=sizes > 0.0)
    mobility = pinv(M * np.outer(units, units), rcond=_SINGULAR, hermitian=True)
    given = np.einsum("ij,jk,ik->i", rows * units, mobility, rows * units)
    least = given[given > 0.0].min(initial=np.inf)
    given[~(given > 0.0)] = least if np.isfinite(least) else 1.0
    return tuple(float(10.0**e) for e in -np.round(np.log10(given)))
