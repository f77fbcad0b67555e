"""The kernel of a kind of group for forces: its equilibrium, solved for the multipliers.

With the load W of a body, what is applied to it less its inertia, about its centre of mass, and
the rows J of the joints and drivers of the group (sign: M v' + Φ_vᵀ λ = Q),

    J_ownᵀ λ = W_own,        W_known ← W_known - J_knownᵀ λ,

first for the last group, so that earlier groups find what later ones put on their bodies.  Where
the group has more rows than its bodies have freedoms, the shortest λ is taken.  A passive spin has
a row of its own: the moment about its axis that nothing gives, zero where the motion is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.atoms import Atom
from biela.code import Function
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.cast import Cast
from biela.equations.groups.elimination import eliminate, worth_unrolling
from biela.equations.groups.forces.derivation import Counted, MultiplierDerivation
from biela.equations.groups.symbols import Column, Known
from biela.errors import ModelError

__all__ = ["ForceEquations", "ForceKernel", "RowName"]


@dataclass(frozen=True)
class RowName:
    """Which element of the group a row belongs to, and what follows its name: "x", "angle.angle".

    A passive spin has the element -1.
    """

    element: int
    label: str


@dataclass(frozen=True, eq=False)
class ForceKernel:
    """A function of the equations of a kind, with what its inputs are.

    Attributes:
        function: Inputs "h" (symbols of the bodies, laws, coordinates that count turns), "W" and
            "p"; outputs "lam" and "K", what is added to known bodies, or "J".
        columns: What p is.
    """

    function: Function
    columns: tuple[Column, ...]

    def parameters(self) -> Floats | None:
        """The rows of parameters."""
        if not self.columns:
            return None
        return np.stack([column.values for column in self.columns], axis=1)


class ForceEquations:
    """The equilibrium of a kind of group.

    Attributes:
        derivation: Where it comes from.
        rows: The multipliers.
        own: How many freedoms the bodies and coordinates of the group have.
    """

    def __init__(self, derivation: MultiplierDerivation) -> None:
        self.derivation = derivation
        named = derivation.named_rows()
        spins = len(derivation.cast.spins)
        self.rows = [RowName(k, label) for k, label, _ in named]
        self.rows += [RowName(-1, f"spin{k}") for k in range(spins)]
        self.J: list[list[Atom]] = []
        if named:
            self.J += derivation.slopes([row for _, _, row in named])
        self.J += derivation.spin_slopes()
        wide = len(derivation.solids[0].velocities)
        self.own = wide * derivation.cast.size + sum(c.own for c in derivation.counts)
        if len(self.rows) < self.own:
            group = derivation.cast.example
            raise ModelError(
                f"the group of {', '.join(group.bodies)} has {len(self.rows)} multipliers for "
                f"{self.own} equations of equilibrium: a driver is missing, or a passive spin is "
                f"not held"
            )

    @property
    def cast(self) -> Cast:
        """The groups of the kind."""
        return self.derivation.cast

    @property
    def counts(self) -> list[Counted]:
        """Coordinates that count turns, its own ones first."""
        return self.derivation.counts

    @property
    def known_bodies(self) -> list[Integers]:
        """Numbers of the bodies it rests on, of each one in all instances."""
        return [solid.numbers for solid in self.derivation.solids[self.cast.size :]]

    @property
    def redundant(self) -> int:
        """How many rows are more than are needed."""
        return len(self.rows) - self.own

    @property
    def J_own(self) -> list[list[Atom]]:
        """Rows by the velocities of the group."""
        return [row[: self.own] for row in self.J]

    @cached_property
    def unrolled(self) -> bool:
        """Whether it is worth to write the solution out."""
        return worth_unrolling(self.J_own)

    @cached_property
    def laws(self) -> tuple[Known, ...]:
        """The laws that rows contain."""
        live = self._live([e for row in self.J for e in row])
        return tuple(k for k in self.derivation.known if k.symbol.ref in live)

    def _live(self, atoms: Sequence[Atom]) -> set[int]:
        return set(self.derivation.workspace.table.live([a.ref for a in atoms]))

    def symbols(self) -> list[Atom]:
        """The input h: symbols of all bodies, laws, and coordinates that count turns."""
        bodies = [s for solid in self.derivation.solids for s in solid.symbols]
        return [*bodies, *(k.symbol for k in self.laws), *(c.symbol for c in self.counts)]

    def solution(self, name: str) -> ForceKernel:
        """The multipliers, and what they put on known bodies and coordinates."""
        ws = self.derivation.workspace
        W = [ws.parameter(f"W{k}") for k in range(self.own)]
        freedoms = [f"freedom {k}" for k in range(self.own)]
        elimination = eliminate(self.J_own, ([row.label for row in self.rows], freedoms))
        lam = elimination.solve_transposed(W)
        outputs = {"lam": lam}
        known = []
        for column in range(self.own, len(self.J[0])):
            total = ws.atom(0)
            for row, multiplier in zip(self.J, lam, strict=True):
                if row[column].ref:
                    total = total - row[column] * multiplier
            known.append(total)
        if known:
            outputs["K"] = known
        return self._kernel(name, {"W": W}, outputs)

    def jacobian(self, name: str) -> ForceKernel:
        """All rows as numbers, (rows, velocities)."""
        return self._kernel(name, {}, {"J": [e for row in self.J for e in row]})

    def _kernel(
        self, name: str, inputs: dict[str, list[Atom]], outputs: dict[str, list[Atom]]
    ) -> ForceKernel:
        live = self._live([a for part in outputs.values() for a in part])
        columns = tuple(c for c in self.derivation.columns if c.symbol.ref in live)
        given = {"h": self.symbols(), **inputs}
        if columns:
            given["p"] = [c.symbol for c in columns]
        return ForceKernel(Function(name, given, outputs), columns)
