"""Independent coordinates by partition: only their accelerations are integrated.

A selection B picks the independent velocities ż = B v.  All velocities follow from

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

from collections.abc import Sequence

from biela.analysis.formulations.multipliers import solved_with_loads
from biela.analysis.formulations.projection import position_correction
from biela.analysis.formulations.saddle import Saddle, identity
from biela.analysis.unrolled import Matrix, Row, Unrolled
from biela.atoms import Kind, substitute
from biela.equations.elimination import Stiffening


class Partition:
    """Expressions of a system whose state is {ż, q}."""

    def __init__(
        self,
        unrolled: Unrolled,
        independent: Sequence[int],
        stiffening: Stiffening,
        rounds: int,
        corrections: int,
        refinements: int = 0,
    ) -> None:
        self.unrolled, self.independent = unrolled, tuple(independent)
        ws = unrolled.workspace
        self.z_rates: Row = [
            ws.symbol(f"z_{unrolled.v[i].name}", Kind.VELOCITY) for i in independent
        ]
        self.state: Row = [*self.z_rates, *unrolled.q]
        self.selection: Matrix = [
            [ws.atom(int(i == j)) for j in range(len(unrolled.v))] for i in independent
        ]
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

    def _at(self, expressions: Row, v: Row) -> Row:
        return substitute(expressions, dict(zip(self.unrolled.v, v, strict=True)))

    def _velocities(self) -> Row:
        u = self.unrolled
        saddle = Saddle(identity(u), [*u.Phi_v, *self.selection], Stiffening())
        zero = [u.zero] * len(u.v)
        v, _ = saddle.solve(zero, [*u.beta, *self.z_rates])
        return v

    def _corrected(self, corrections: int) -> Row:
        u = self.unrolled
        if not (corrections and u.system.geometric):
            return list(u.q)
        held: Row = [u.zero] * len(self.independent)
        once, _ = position_correction(u, identity(u), Stiffening(), (held, self.selection))
        q = list(u.q)
        for _ in range(corrections):
            q = substitute(once, dict(zip(u.q, q, strict=True)))
        return q
