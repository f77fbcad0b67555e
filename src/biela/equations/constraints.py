"""Constraint equations at the three levels.

From geometric equations Φ(q, t) = 0 and non-holonomic ones A(q, t) v + b(q, t) = 0, the latter
stacked below the derivative of the former:

    Φ' = 0,     Φ_v = ∂Φ'/∂v,     β = -Φ' with v = 0,     γ = -Φ'' with v' = 0

(Plaza 2015, §2.2 and eqs 2.55–2.62).  Initial conditions are further rows of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom, jacobian, substitute
from biela.errors import ModelError
from biela.space import Space


@dataclass(frozen=True)
class Levels:
    """A set of equations at position, velocity and acceleration level."""

    Phi: list[Atom]
    Phi_q: list[list[Atom]]
    dPhi: list[Atom]
    Phi_v: list[list[Atom]]
    beta: list[Atom]
    gamma: list[Atom]


def levels(
    space: Space,
    geometric: Sequence[Atom],
    velocity_rows: Sequence[Atom | None],
    nonholonomic: Sequence[Atom],
    q: Sequence[Atom],
    v: Sequence[Atom],
) -> Levels:
    """All levels of a set of constraints.

    ``velocity_rows`` may give the derivative of a geometric equation in a better form, written with
    velocity operators; None lets it be differentiated.
    """
    dPhi = [
        space.time_rate(equation) if row is None else row
        for equation, row in zip(geometric, velocity_rows, strict=True)
    ]
    dPhi += list(nonholonomic)
    zero_v: dict[Atom, Atom | float] = {rate: 0 for rate in v}
    beta = [-e for e in substitute(dPhi, zero_v)]
    gamma = [-space.bias_rate(e) for e in dPhi]
    Phi_v = jacobian(dPhi, list(v)).rows
    for row, equation in zip(Phi_v, dPhi, strict=True):
        _check_linear(row, equation, set(v))
    return Levels(
        list(geometric), jacobian(list(geometric), list(q)).rows, dPhi, Phi_v, beta, gamma
    )


def _check_linear(row: Sequence[Atom], equation: Atom, velocities: set[Atom]) -> None:
    table = equation.table
    for atom in table.live(entry.ref for entry in row):
        if Atom(table, atom) in velocities:
            raise ModelError(
                f"the velocity equation {equation!r} is not linear in {table.symbols[atom].name}; "
                f"constraints must be"
            )
