"""Independent coordinates by partition: only their accelerations are integrated.

A constant matrix B gives the independent velocities ż = B v, mostly a part of v.  All velocities
follow from

    [ Φ_v ]     [ β ]
    [ B   ] v = [ ż ],

solved here as the least v that fulfils both (the same v: the equations fix it), by an elimination
that needs no pivots.  The accelerations are those of the constrained system, z̈ = B v', equal to
Rᵀ M R z̈ = Rᵀ (Q - M S c) of the velocity projection (Serna, Avilés & García de Jalón 1982).

* index 2: the state is {ż, q}, its rate {z̈, q'}; velocities cannot drift.
* index 3: positions are corrected too, at every evaluation and with the independent ones held,
  in a copy that leaves the state of the integrator alone.

The dependent positions in the state of index 3 are only a start for that correction.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.multipliers import solved_with_loads
from biela.analysis.formulations.projection import position_correction
from biela.analysis.formulations.saddle import Saddle, identity
from biela.analysis.unrolled import Matrix, Row, Unrolled, product
from biela.atoms import Kind, substitute
from biela.equations.elimination import Stiffening

Floats = npt.NDArray[np.float64]


def independent_rates(unrolled: Unrolled, count: int) -> Row:
    """Symbols of the independent velocities ż."""
    return [unrolled.workspace.symbol(f"z_rate_{k}", Kind.VELOCITY) for k in range(count)]


class Partition:
    """Expressions of a system whose state is {ż, q}, with ż = B v."""

    def __init__(
        self,
        unrolled: Unrolled,
        B: Floats,
        stiffening: Stiffening,
        rounds: int,
        corrections: int,
        refinements: int = 0,
    ) -> None:
        self.unrolled = unrolled
        self.z_rates: Row = independent_rates(unrolled, len(B))
        self.state: Row = [*self.z_rates, *unrolled.q]
        self.selection: Matrix = [[unrolled.workspace.atom(float(b)) for b in row] for row in B]
        self._stiffening, self._rounds = stiffening, rounds
        q = self._corrected(corrections)
        # everything below is written at q and moved to its corrected copy at the end
        v = self._velocities()
        saddle = Saddle(unrolled.M, unrolled.Phi_v, stiffening, refinements=refinements)
        a, lam = solved_with_loads(unrolled, saddle, unrolled.gamma, rounds)
        a, lam = self._at(a, v), self._at(lam, v)
        place = dict(zip(unrolled.q, q, strict=True))
        self.q = q
        self.v, self.a, self.lam = (substitute(e, place) for e in (v, a, lam))
        self.rates = substitute(self._at(unrolled.rates(), v), place)
        self.z_accelerations: Row = product(self.selection, self.a, unrolled.zero)

    def _at(self, expressions: Row, v: Row) -> Row:
        return substitute(expressions, dict(zip(self.unrolled.v, v, strict=True)))

    def _velocities(self) -> Row:
        u = self.unrolled
        saddle = Saddle(identity(u), [*u.Phi_v, *self.selection], self._stiffening.for_unit_metric)
        zero = [u.zero] * len(u.v)
        v, _ = saddle.solve(zero, [*u.beta, *self.z_rates])
        return v

    def _corrected(self, corrections: int) -> Row:
        u = self.unrolled
        if not (corrections and u.system.geometric):
            return list(u.q)
        held: Row = [u.zero] * len(self.selection)
        once, _ = position_correction(
            u, identity(u), self._stiffening.for_unit_metric, (held, self.selection)
        )
        q = list(u.q)
        for _ in range(corrections):
            q = substitute(once, dict(zip(u.q, q, strict=True)))
        return q
