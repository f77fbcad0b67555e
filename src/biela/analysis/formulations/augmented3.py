"""Augmented Lagrangian of index 3 with projections, integrated by the trapezoidal rule.

The positions of the next instant are found by Newton's method on

    M v' + Φ_vᵀ (α Φ + λ*) = Q,     v' and v from the trapezoidal rule,     λ* ← λ* + α Φ,

    [M + h²/4 Φ_vᵀ α Φ_v] Δq = -h²/4 [M v' + Φ_vᵀ (α Φ + λ*) - Q],

after which velocities and accelerations are projected with the same matrix (Bayo & Ledesma 1996;
Cuadrado, Cardenal & Bayo 1997).  Stiff forces enter the matrix by the symmetric part of their
tangents, h/2 C + h²/4 K.  The penalty of a row is relative to the mass that it moves and the step,
α h²/4 = 1e5/(φ M⁻¹ φᵀ): well above the 1e3 below which multipliers run away on long chains.

The number of iterations is fixed, so a step is one straight line of code.  Where q' = N(q) v the
unknowns are the displacements δ of the step, q = q0 ⊕ δ, in place of q (Brüls & Cardona 2010).
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.analysis.unrolled import (
    Matrix,
    Row,
    Unrolled,
    along_displacements,
    derivatives,
    product,
    transposed_product,
)
from biela.atoms import Atom, Kind, substitute
from biela.code import Function
from biela.equations.elimination import Factors, factorise, stiffened
from biela.errors import ModelError

#: α h²/4 as a multiple of the mass that a row moves, see `penalty.moved_masses`.
PENALTY = 1e5


class AugmentedStep:
    """The expressions of a step; the state is (q, v, v', λ*).

    ``masses`` are those that the rows of Φ_v move.
    """

    def __init__(self, unrolled: Unrolled, masses: Sequence[float], iterations: int) -> None:
        system = unrolled.system
        if system.geometric != len(system.multipliers):
            raise ModelError(
                f"{system.name}: the index-3 augmented Lagrangian takes geometric constraints "
                f"only; use formulation='multipliers'"
            )
        self.unrolled = u = unrolled
        self.h = u.workspace.symbol("step_length", Kind.PARAMETER)
        self.state: Row = [*u.q, *u.v, *u.a, *u.lam]
        self._weight = self.h * self.h / 4
        self._weighted = [PENALTY * m for m in masses]  # α h²/4
        self._alpha = [w / self._weight for w in self._weighted]
        self._n = len(u.v)
        metric = self._metric()
        self._factors: Factors = factorise(
            stiffened(metric, u.Phi_v, range(len(u.Phi_v)), self._weighted)
        )
        self._change = self._newton_change()
        self._final = self._projected(metric)
        self.end = self._step(iterations)

    def _metric(self) -> Matrix:
        """M + h/2 C + h²/4 K, with the symmetric parts of the tangents of the forces."""
        u, n = self.unrolled, self._n
        Q = u.Q()
        K, C = along_displacements(u, derivatives(Q, u.q)), derivatives(Q, u.v)
        result = [list(row) for row in u.M]
        for i in range(n):
            for j in range(i + 1):
                damping, stiffness = C[i][j] + C[j][i], K[i][j] + K[j][i]
                entry = result[i][j]
                if not _holds(u.a, damping):
                    entry = entry - self.h / 4 * damping
                if not _holds(u.a, stiffness):
                    entry = entry - self._weight / 2 * stiffness
                result[i][j] = result[j][i] = entry
        return result

    def _newton_change(self) -> Row:
        u = self.unrolled
        pull = [a * e + l for a, e, l in zip(self._alpha, u.Phi, u.lam, strict=True)]
        reaction = transposed_product(u.Phi_v, pull, self._n, u.zero)
        inertia = product(u.M, u.a, u.zero)
        residual = [i + r - f for i, r, f in zip(inertia, reaction, u.Q(), strict=True)]
        return self._factors.solve([-self._weight * r for r in residual])

    def _projected(self, metric: Matrix) -> tuple[Row, Row]:
        """Velocities and accelerations of the trapezoidal rule, projected onto the constraints."""
        u = self.unrolled
        found = []
        for rates, right in ((u.v, u.beta), (u.a, u.gamma)):
            pull = [w * r for w, r in zip(self._weighted, right, strict=True)]
            force = product(metric, rates, u.zero)
            added = transposed_product(u.Phi_v, pull, self._n, u.zero)
            found.append(self._factors.solve([a + b for a, b in zip(force, added, strict=True)]))
        return found[0], found[1]

    def _step(self, iterations: int) -> Row:
        u, h = self.unrolled, self.h
        later = u.t + h

        def at(expressions: Row, q: Row, v: Row, a: Row, lam: Row) -> Row:
            values: dict[Atom, Atom | float] = dict(
                zip([*u.q, *u.v, *u.a, *u.lam], [*q, *v, *a, *lam], strict=True)
            )
            return substitute(expressions, {**values, u.t: later})

        delta = [h * b + h * h / 2 * c for b, c in zip(u.v, u.a, strict=True)]
        q = u.moved(delta)
        lam = list(u.lam)
        v, a = self._trapezoidal(self._way(q, delta))
        for _ in range(iterations):
            change = at(self._change, q, v, a, lam)
            if "rates" in u.system:
                # the matrix is that of a displacement from q, which differs from that of δ by its
                # part δ/2: what Newton's method lacks thereby is small with the step
                delta = [x + d for x, d in zip(delta, change, strict=True)]
                q = u.moved(delta)
            else:
                q = [x + d for x, d in zip(q, change, strict=True)]
            v, a = self._trapezoidal(self._way(q, delta))
            violation = at(u.Phi, q, v, a, lam)
            lam = [l + a_k * e for l, a_k, e in zip(lam, self._alpha, violation, strict=True)]
        v = at(self._final[0], q, v, a, lam)
        a = at(self._final[1], q, v, a, lam)
        return [*q, *v, *a, *lam]

    def _way(self, q: Row, delta: Row) -> Row:
        """The displacement of a step."""
        u = self.unrolled
        plain = "rates" not in u.system
        return [x - y for x, y in zip(q, u.q, strict=True)] if plain else delta

    def _trapezoidal(self, moved: Row) -> tuple[Row, Row]:
        u, h = self.unrolled, self.h
        v = [2 / h * d - y for d, y in zip(moved, u.v, strict=True)]
        a = [4 / (h * h) * d - 4 / h * y - z for d, y, z in zip(moved, u.v, u.a, strict=True)]
        return v, a

    def function(self) -> Function:
        """The map of the state over a step; the length of the step is the last entry of p."""
        u = self.unrolled
        name = f"{u.workspace.name}_augmented3"
        inputs = {"t": [u.t], "x": self.state, "p": [*u.p, *u.u, self.h]}
        return Function(name, inputs, {"y": self.end})


def _holds(symbols: Row, entry: Atom) -> bool:
    """Whether symbols, those of accelerations, are in an entry."""
    return bool(entry.ref) and any(s.ref in entry.table.live([entry.ref]) for s in symbols)
