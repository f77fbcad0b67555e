"""Masses that move linearly with the coordinates, and the system that has them.

A body whose points are r = Σ_k α_k(ρ) e_k, linear in points and vectors e_k that are coordinates,
has with its pseudo-inertia Π = ∫ (ρ, 1)(ρ, 1)ᵀ dm and α = A (ρ, 1)

    T = ½ Σ K_ij e_i' · e_j',     V = - Σ w_k g · e_k,     K = A Π Aᵀ,     w = A Π (0, 1):

M is constant and there are no inertia forces that depend on velocities (García de Jalón & Bayo
1994, §4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from biela.atoms import Atom, diff
from biela.code import Function
from biela.equations import virtual_power
from biela.equations.derived import Equations
from biela.equations.energy import rotor_energy
from biela.equations.natural.spanned import SpannedSystem
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system import LazyFunctions, System
from biela.equations.virtual_power import FOR_FORCES, FOR_MASS, Dynamics, Route
from biela.space import Algebra, Vector

#: The components of a point or vector in the ground.
Components = Sequence[Atom]


@dataclass(frozen=True, eq=False)
class LinearMass:
    """Mass on points and vectors that are linear in the coordinates.

    Attributes:
        name: That of the body.
        on: Components of each e_k in the ground.
        K: Symmetric, a row each.
        weights: The w of gravity, one each.
    """

    name: str
    on: tuple[Components, ...]
    K: tuple[tuple[Atom, ...], ...]
    weights: tuple[Atom, ...]


@dataclass(frozen=True)
class _LinearDynamics(Dynamics):
    """Wrenches by virtual power; M and gravity from linear masses."""

    system: NaturalSystem

    def mass(self, carry: Algebra) -> list[list[Atom]]:
        """M, the same by every route."""
        del carry
        return self.system.constant_mass()

    def forces(self, carry: Algebra) -> list[Atom]:
        """Q."""
        found = super().forces(carry)
        return [a + b for a, b in zip(found, self.system.weight(), strict=True)]


class NaturalSystem(SymbolicSystem):
    """A symbolic system whose masses move linearly with its coordinates.

    Its solids are frames without mass, on which wrenches act.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.masses: list[LinearMass] = []
        #: How far the bases of bodies are from a plane, where that depends on parameters.
        self.volumes: dict[str, Atom] = {}
        #: Units of coordinates, by the names of their symbols.
        self.units: dict[str, str] = {}
        self._mass: tuple[object, list[list[Atom]], list[Atom]] | None = None

    def constant_mass(self) -> list[list[Atom]]:
        """M = Σ K_ij (∂e_i/∂q)ᵀ (∂e_j/∂q)."""
        return self._assembled()[0]

    def weight(self) -> list[Atom]:
        """The generalised forces of gravity."""
        return self._assembled()[1]

    def _assembled(self) -> tuple[list[list[Atom]], list[Atom]]:
        n = len(self.v)
        what = (n, len(self.masses), self.gravity)
        if self._mass is None or self._mass[0] != what:
            zero = self.workspace.atom(0)
            M = [[zero] * n for _ in range(n)]
            Q = [zero] * n
            g = self.gravity.components(self.base)
            for mass in self.masses:
                for axis in range(3):
                    slopes = [self._slopes(e[axis]) for e in mass.on]
                    for i, by_i in enumerate(slopes):
                        for a, x in by_i.items():
                            Q[a] = Q[a] + mass.weights[i] * g[axis] * x
                            for j, by_j in enumerate(slopes):
                                for b, y in by_j.items():
                                    if b <= a:
                                        M[a][b] = M[a][b] + mass.K[i][j] * (x * y)
            for a in range(n):
                for b in range(a):
                    M[b][a] = M[a][b]
            self._mass = what, M, Q
        return self._mass[1], self._mass[2]

    def _slopes(self, expression: Atom) -> dict[int, Atom]:
        """What a linear expression has of each coordinate, by its number."""
        numbers = {q.ref: k for k, q in enumerate(self.q)}
        live = expression.table.live([expression.ref]) if expression.ref else []
        found: dict[int, Atom] = {}
        for ref in live:
            if ref in numbers:
                found[numbers[ref]] = diff(expression, Atom(expression.table, ref))
        return found

    def _dynamics(self, algebra: Algebra) -> Dynamics:
        acted = [solid for solid in self.solids if any(w.solid is solid for w in self.wrenches)]
        made = virtual_power.dynamics(
            self.space, acted, self.wrenches, Vector(self.space, {}), self.v, [], algebra
        )
        return _LinearDynamics(**vars(made), system=self)

    def _candidates(self) -> tuple[list[Route], list[Route]]:
        """M is the same by all routes, and forces act on frames that stand next to the ground."""
        return [FOR_MASS[0]], [FOR_FORCES[0]]

    def equations(self, route: Route | None = None) -> Equations:
        """Derive everything."""
        found = super().equations(route)
        return replace(found, system=self._refined(found.system))

    def deferred(self, *, later: bool = False) -> System:
        """As of any symbolic system."""
        return self._refined(super().deferred(later=later))

    def _refined(self, found: System) -> System:
        """The system with its own energy, units and volumes."""
        known = found.functions
        kept = {name: partial(known.__getitem__, name) for name in known}
        functions = LazyFunctions({}, {**kept, "energy": self._energy})
        system = replace(
            found,
            q=tuple(replace(x, unit=self.units.get(x.name, x.unit)) for x in found.q),
            v=tuple(
                replace(x, unit=_rate(self.units[q.name]) if q.name in self.units else x.unit)
                for q, x in zip(self.q, found.v, strict=True)
            ),
            functions=functions,
        )
        if self.volumes:
            p = list(self.parameter_values)
            volumes = Function("volumes", {"p": p}, {"volumes": list(self.volumes.values())})
            same: dict[str, Any] = {f.name: getattr(system, f.name) for f in fields(system)}
            system = SpannedSystem(**same, spanned=tuple(self.volumes), volumes=volumes)
        return system

    def _energy(self) -> Function:
        """Kinetic and potential energy."""
        total = rotor_energy(self)
        rest = self.workspace.atom(0)
        g = self.gravity.components(self.base)
        for mass in self.masses:
            for axis in range(3):
                rates = [self.space.time_rate(e[axis]) for e in mass.on]
                for i, x in enumerate(rates):
                    rest = rest - mass.weights[i] * g[axis] * mass.on[i][axis]
                    for j, y in enumerate(rates):
                        total = total + mass.K[i][j] * x * y / 2
        for potential in self.potentials:
            rest = rest + potential
        outputs: dict[str, Any] = {"kinetic": total, "potential": rest}
        return self.function("energy", outputs)


def _rate(unit: str) -> str:
    return f"{unit}/s" if unit else "1/s"
