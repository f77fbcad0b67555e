"""Penalty and augmented Lagrangian formulations of index 1.

Each constraint becomes an inertia, a damper and a spring that act on its violation,

    (M + Φ_vᵀ α Φ_v) v' = Q + Φ_vᵀ α Γ,     Γ = γ - 2Ωμ Φ' - Ω² Φ,     λ = α (Φ_v v' - Γ)

(Bayo, García de Jalón & Serna 1988), a positive definite matrix without multipliers.  The augmented
Lagrangian adds multipliers that are improved by rounds with the same factors until the violation
of the accelerations vanishes, so that α need not be large:

    (M + Φ_vᵀ α Φ_v) v'_i+1 = Q - Φ_vᵀ λ_i + Φ_vᵀ α Γ,     λ_i+1 = λ_i + α (Φ_v v'_i+1 - Γ).
"""

from __future__ import annotations

from biela.analysis.formulations.multipliers import stabilised
from biela.analysis.unrolled import Row, Unrolled, product, transposed_product
from biela.equations.elimination import factorise, stiffened


def accelerations(
    unrolled: Unrolled,
    alpha: float,
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
    pull = transposed_product(rows, [alpha * w for w in wanted], n, zero)
    loaded = unrolled.constrained and unrolled.needs("Q", "lam")
    lam: Row = [zero] * len(rows)
    a: Row = []
    for _ in range(rounds):
        force = unrolled.Q(lam if loaded else None)
        reaction = transposed_product(rows, lam, n, zero) if augmented else [zero] * n
        a = factors.solve([f + p - r for f, p, r in zip(force, pull, reaction, strict=True)])
        violation = [x - w for x, w in zip(product(rows, a, zero), wanted, strict=True)]
        held = lam if augmented else [zero] * len(rows)
        lam = [l + alpha * e for l, e in zip(held, violation, strict=True)]
    return a, lam
