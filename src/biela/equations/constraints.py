"""Constraint equations at the three levels.

From geometric equations Φ(q, t) = 0 and non-holonomic ones A(q, t) v + b(q, t) = 0, the latter
stacked below the derivative of the former:

    Φ' = 0,     Φ_v = ∂Φ'/∂v,     β = -Φ' with v = 0,     γ = -Φ'' with v' = 0

(Plaza 2015, §2.2 and eqs 2.55–2.62).  Initial conditions are further rows of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from biela.atoms import Atom, Kind, jacobian, substitute
from biela.errors import ModelError
from biela.space import Space


@dataclass(frozen=True)
class Constraint:
    """A constraint equation, and the symbol of its multiplier."""

    name: str
    equation: Atom
    multiplier: Atom
    geometric: bool
    velocity: Atom | None = None


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


class ConstraintSet:
    """The constraints of a system as they are written down, each with its multiplier."""

    def __init__(self, owner: str, space: Space) -> None:
        self._owner, self._space = owner, space
        self.written: list[Constraint] = []
        self._named: dict[str, int] = {}

    @property
    def ordered(self) -> list[Constraint]:
        """Geometric constraints first, as the rows of all levels stand."""
        return sorted(self.written, key=lambda c: not c.geometric)

    def add(
        self, equation: Atom, name: str, *, geometric: bool, speed: Atom | None = None
    ) -> Constraint:
        """Hold an expression at zero; ``speed`` may give its derivative in a better form."""
        ws = self._space.workspace
        number = len(self.written) + 1
        count = self._named.get(name, 0) + 1
        label = f"{name}_{count}" if name else f"constraint{number}"
        self.check(label, ws.atom(equation), geometric)
        self._named[name] = count
        multiplier = ws.symbol(f"lambda{number}", Kind.UNKNOWN)
        constraint = Constraint(label, ws.atom(equation), multiplier, geometric, speed)
        self.written.append(constraint)
        return constraint

    def levels(
        self,
        q: Sequence[Atom],
        v: Sequence[Atom],
        initial: Sequence[Atom] = (),
        initial_velocity: Sequence[Atom] = (),
    ) -> Levels:
        """All levels, with initial conditions as further rows.

        A condition on the initial position fixes no velocity: a motion may well start through it
        (Plaza 2015, eqs 2.46 to 2.49).
        """
        geometric = [c for c in self.written if c.geometric]
        others = [c for c in self.written if not c.geometric]
        found = levels(
            self._space,
            [c.equation for c in geometric],
            [c.velocity for c in geometric],
            [*(c.equation for c in others), *initial_velocity],
            q,
            v,
        )
        if not initial:
            return found
        slopes = jacobian(list(initial), list(q)).rows
        return replace(found, Phi=[*found.Phi, *initial], Phi_q=[*found.Phi_q, *slopes])

    def check(self, label: str, equation: Atom, geometric: bool) -> None:
        """Refuse what a constraint of that kind cannot depend on, and what constrains nothing.

        Raises:
            ModelError: That names the equation, and the symbol or what it lacks.
        """
        equation = self._space.workspace.atom(equation)
        if equation.value is not None:
            why = (
                "is always zero: it holds nothing, leave it out"
                if equation.value == 0
                else f"is the number {equation.value} and never zero"
            )
            raise ModelError(f"{self._owner}: equation {label} {why}")
        refused = {Kind.ACCELERATION, Kind.INPUT, Kind.UNKNOWN}
        if geometric:
            refused.add(Kind.VELOCITY)
        kind = "geometric" if geometric else "velocity"
        needed = Kind.COORDINATE if geometric else Kind.VELOCITY
        table = equation.table
        live = table.live([equation.ref])
        found = [table.symbols[atom] for atom in live if atom in table.symbols]
        for symbol in found:
            if symbol.kind in refused:
                hint = "; use constrain_velocity" if symbol.kind is Kind.VELOCITY else ""
                raise ModelError(
                    f"{self._owner}: the {kind} equation {label} depends on {symbol.name} "
                    f"({symbol.kind.name.lower()}), and may not{hint}"
                )
        if not any(symbol.kind is needed for symbol in found):
            names = ", ".join(symbol.name for symbol in found)
            hint = "" if geometric else "; use constrain for an equation of positions"
            raise ModelError(
                f"{self._owner}: the {kind} equation {label} has no {needed.name.lower()} in it, "
                f"only {names}, and holds no motion{hint}"
            )


def _check_linear(row: Sequence[Atom], equation: Atom, velocities: set[Atom]) -> None:
    table = equation.table
    for atom in table.live(entry.ref for entry in row):
        if Atom(table, atom) in velocities:
            raise ModelError(
                f"the velocity equation {equation!r} is not linear in {table.symbols[atom].name}; "
                f"constraints must be"
            )
