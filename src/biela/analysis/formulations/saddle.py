"""The linear system of constrained motion, eliminated symbolically.

    [ M    Φ_vᵀ ] [ x ]   [ force ]
    [ Φ_v  0    ] [ λ ] = [ right ]

serves the accelerations (force Q, right-hand side γ) and the projections (force 0, right-hand side
the residual), in the metric M or the identity.  See `biela.equations.elimination` for the order,
dependent constraints, and a mass matrix that is only definite on the motions allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.ranking import measured, ranked_rows
from biela.analysis.unrolled import Matrix, Row, Unrolled, product, transposed_product
from biela.atoms import select
from biela.equations import System
from biela.equations.elimination import (
    DROP_TOLERANCE,
    Factors,
    Stiffening,
    constrained_matrix,
    factorise,
    lacking,
    pivot_sizes,
    stiffened,
)
from biela.equations.elimination_order import LARGEST, early_order
from biela.equations.positions import notable_places
from biela.equations.ranked_rows import RankedRows

Floats = npt.NDArray[np.float64]

#: Of the notable places so many are near the position itself; they come first.
NEARBY: Final = 3
#: The position itself, those near it, and as many random ones.
SEVERAL: Final = 1 + 2 * NEARBY


class Saddle:
    """The factored system with some of the constraints, in a metric W."""

    def __init__(
        self,
        W: Matrix,
        rows: Matrix,
        stiffening: Stiffening,
        drop: float = DROP_TOLERANCE,
        refinements: int = 0,
    ) -> None:
        self._n, self._rows, self._refinements = len(W), rows, refinements
        self._zero = W[0][0] * 0
        pairs = zip(stiffening.rows, stiffening.weights, strict=True)
        self._stiff = {k: weight for k, weight in pairs if k < len(rows)}
        W = stiffened(W, rows, list(self._stiff), list(self._stiff.values()))
        self._A = constrained_matrix(W, rows) if rows else W
        late = range(self._n, len(self._A))
        order = [k for k in stiffening.order if k < len(self._A)]
        if order:  # rows it does not know of come last
            order += sorted(set(range(len(self._A))) - set(order))
        sizes = dict(zip(late, stiffening.sizes, strict=False))
        ranked = [
            replace(found, rows=tuple(self._n + k for k in found.rows))
            for found in stiffening.ranked
        ]
        self.factors: Factors = factorise(self._A, late, drop, order, sizes, ranked)

    def solve(self, force: Row, right: Row) -> tuple[Row, Row]:
        """X and λ."""
        if self._stiff:
            # α Φ_vᵀ right, for what was added to W
            pull = transposed_product(
                [self._rows[k] for k in self._stiff],
                [right[k] * weight for k, weight in self._stiff.items()],
                self._n,
                self._zero,
            )
            force = [a + b for a, b in zip(force, pull, strict=True)]
        b = [*force, *right]
        found = self.factors.solve(b)
        for _ in range(self._refinements if self._rows else 0):
            # near a singular position elimination without pivots loses digits; this restores them
            left = [e - f for e, f in zip(b, product(self._A, found, self._zero), strict=True)]
            for row, dropped in self.factors.dropped.items():
                left[row] = select(dropped, 0, left[row])
            change = self.factors.solve(left)
            found = [e + f for e, f in zip(found, change, strict=True)]
        return found[: self._n], found[self._n :]


def identity(unrolled: Unrolled) -> Matrix:
    """The unit matrix of the size of M."""
    one, zero = unrolled.workspace.atom(1), unrolled.zero
    n = len(unrolled.v)
    return [[one if i == j else zero for j in range(n)] for i in range(n)]


def stiffening(
    system: System, t: float, q: Floats, u: Floats, p: Floats, seed: int = 0
) -> Stiffening:
    """What M lacks at a position, and nearby: constraints that act on its null directions.

    M may be singular (inertia-less coordinates, Euler parameters) but must be definite on the
    motions that the constraints allow.
    """
    if not system.multipliers:
        return Stiffening()
    places = [q, *notable_places(system, q, seed)]
    masses = [np.asarray(system.evaluate("M", x, t=t, u=u, p=p)) for x in places]
    jacobians = [np.atleast_2d(system.evaluate("Phi_v", x, t=t, u=u, p=p)) for x in places]
    found = lacking(masses, jacobians)
    # at the position, near it and away from it, where what vanishes here has its size
    sizes = pivot_sizes(masses[:SEVERAL], jacobians[:SEVERAL], found)
    lengths = np.max([np.square(J).sum(axis=1) for J in jacobians[:SEVERAL]], axis=0)
    ranked, positions = _ranked(system, t, q, u, p, sizes, lengths)
    return replace(found, sizes=sizes, ranked=ranked, ranked_positions=positions)


def unit_metric(system: System, t: float, q: Floats, u: Floats, p: Floats) -> Stiffening:
    """What an elimination in the metric 1 has to know: the constraints that are dependent."""
    if not system.multipliers:
        return Stiffening()
    places = [q, *notable_places(system, q)[: SEVERAL - 1]]
    rows = [np.atleast_2d(system.evaluate("Phi_v", x, t=t, u=u, p=p)) for x in places]
    lengths = np.max([np.square(J).sum(axis=1) for J in rows], axis=0)
    ranked, positions = _ranked(system, t, q, u, p, lengths, lengths)
    return Stiffening(ranked=ranked, ranked_positions=positions)


def _ranked(
    system: System,
    t: float,
    q: Floats,
    u: Floats,
    p: Floats,
    sizes: Sequence[float],
    lengths: Sequence[float],
) -> tuple[tuple[RankedRows, ...], tuple[RankedRows, ...]]:
    """The sets of dependent constraints, and those of the geometric ones alone."""
    found = ranked_rows(system, t, q, u, p)
    positions = found
    if any(k >= system.geometric for rows, _ in found for k in rows):
        positions = ranked_rows(system, t, q, u, p, system.geometric)
    return measured(found, sizes, lengths), measured(positions, sizes, lengths)


def ordered(
    found: Stiffening, system: System, t: float, q: Floats, u: Floats, p: Floats
) -> Stiffening:
    """The same with an order of the elimination that suits motions from a position.

    It is looked for where the elimination is written out; see `elimination_order`.
    """
    n, m = len(system.v), len(system.multipliers)
    if found.ranked or not 0 < m <= LARGEST - n:
        return found
    M, J = system["M"].expressions(), system["Phi_v"].expressions()
    pattern = np.zeros((n + m, n + m), dtype=bool)
    pattern[:n, :n] = [[bool(e.ref) for e in row] for row in M]
    pattern[n:, :n] = [[bool(e.ref) for e in row] for row in J]
    for k in found.rows:
        pattern[:n, :n] |= np.outer(pattern[n + k, :n], pattern[n + k, :n])
    pattern[:n, n:] = pattern[n:, :n].T
    samples = []
    for x in [q, *notable_places(system, q, 0)[:NEARBY]]:
        A = np.zeros((n + m, n + m))
        rows = np.atleast_2d(system.evaluate("Phi_v", x, t=t, u=u, p=p))
        stiff = rows[list(found.rows)]
        A[:n, :n] = system.evaluate("M", x, t=t, u=u, p=p) + (stiff.T * found.weights) @ stiff
        A[n:, :n], A[:n, n:] = rows, rows.T
        samples.append(A)
    return replace(found, order=early_order(pattern, n, samples))


def geometric(system: System, rows: Sequence[Row]) -> Matrix:
    """The rows of the geometric constraints, which come first."""
    return [list(row) for row in rows[: system.geometric]]
