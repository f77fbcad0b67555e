"""Lagrange multipliers, index 1: accelerations and multipliers from one linear system.

    [ M    Φ_vᵀ ] [ v' ]   [ Q ]
    [ Φ_v  0    ] [ λ  ] = [ γ ]

(García de Jalón & Bayo 1994, §5.1.)  Integrated as it stands, the constraints drift; projections
after each step keep them (`projection`), or Baumgarte's terms pull them back:

    γ_B = γ - 2α (Φ_v v - β) - α² Φ.

Forces that depend on the multipliers, such as friction, are found by a bounded number of rounds,
all with the same factors.
"""

from __future__ import annotations

from biela.analysis.formulations.saddle import Saddle
from biela.analysis.unrolled import Row, Unrolled
from biela.equations.elimination import Stiffening


def accelerations(
    unrolled: Unrolled,
    stiffening: Stiffening,
    rounds: int,
    stabilisation: float = 0.0,
    refinements: int = 0,
) -> tuple[Row, Row]:
    """V' and λ of the state."""
    saddle = Saddle(unrolled.M, unrolled.Phi_v, stiffening, refinements=refinements)
    right = unrolled.gamma
    if stabilisation:
        right = stabilised(unrolled, stabilisation, stabilisation)
    return solved_with_loads(unrolled, saddle, right, rounds)


def solved_with_loads(
    unrolled: Unrolled, saddle: Saddle, right: Row, rounds: int
) -> tuple[Row, Row]:
    """V' and λ, with forces that may depend on λ: ``rounds`` fixed-point iterations from λ = 0."""
    if not (unrolled.constrained and unrolled.needs("Q", "lam")):
        return saddle.solve(unrolled.Q(), right)
    lam = [unrolled.zero] * len(unrolled.lam)
    a: Row = []
    for _ in range(max(rounds, 1)):
        a, lam = saddle.solve(unrolled.Q(lam), right)
    return a, lam


def stabilised(unrolled: Unrolled, damping: float, frequency: float) -> Row:
    """γ - 2α Φ' - ω² Φ; for velocity constraints γ - 2α Φ'."""
    right = [g - 2 * damping * d for g, d in zip(unrolled.gamma, unrolled.dPhi, strict=True)]
    for k, equation in enumerate(unrolled.Phi):
        right[k] = right[k] - frequency**2 * equation
    return right
