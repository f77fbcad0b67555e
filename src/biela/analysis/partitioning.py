"""The choice of independent coordinates, and when another one is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant, motions, unit_rows
from biela.equations import System
from biela.equations.positions import own_velocities, velocity_places
from biela.solvers.coordinate_basis import CoordinateBasis, choose_basis

Floats = npt.NDArray[np.float64]

#: Another choice is due where it is so much steadier than the present one …
BETTER: Final = 0.5
#: … and the present one has lost so much, or is as bad as this compared with the other.
LOST: Final = 0.5
BAD: Final = 0.05
#: Combinations of velocities ("svd") are chosen again where the motions allowed have turned from
#: them by an angle with this cosine; a run stops where they have turned by this one.
TURNED: Final = 0.75
TURNED_FAR: Final = 0.5
#: A run stops where the ratio of pivots falls to this part of what it was: before a dead point even
#: if steps are so long that they would pass it.
NEAR: Final = 0.2
#: Part by which the ratio of pivots may change before it is looked at again.
CHANGE: Final = 0.1
#: How far beside a position to look at the rank of its constraints.
BESIDE: Final = 1e-3


def relative_places(system: System) -> list[int]:
    """Places of the velocities of relative coordinates, first choice for independent ones.

    These are angles, and coordinates of joints that a start may name.
    """
    own, named = own_velocities(system), set(system.starts)
    return [
        own[k]
        for k, entry in enumerate(system.q)
        if own[k] >= 0 and (entry.unit == "rad" or entry.name in named)
    ]


def independent_basis(
    system: System,
    t: float,
    q: Floats,
    u: Floats,
    p: Floats,
    preferred: Sequence[str] = (),
    method: str = "pivoting",
    rank: int | None = None,
) -> CoordinateBasis:
    """The choice of independent velocities in a position; the others follow from the constraints.

    Coordinates named, or else relative ones, are preferred.  A ``rank`` that is known holds against
    rows that only seem independent.

    Raises:
        ModelError: A preferred coordinate is unknown.
    """
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    return choose_basis(rows, method, _last(system, preferred, method), rank)


def _last(system: System, preferred: Sequence[str], method: str) -> list[int]:
    if method == "svd":
        return []
    return velocity_places(system, preferred) if preferred else relative_places(system)


def generic_rank(system: System, t: float, q: Floats, u: Floats, p: Floats) -> int:
    """The rank of Φ_v beside a position, which may be singular.

    A displacement ε along the motions allowed gives rows that are dependent there only a singular
    value that grows with ε, and rows that are redundant everywhere one that grows with ε².
    """
    instant = Instant(system, t, u, p)
    allowed = motions(unit_rows(instant.Phi_v(q))[0])
    if not allowed.mobility:
        return allowed.rank
    way = allowed.R @ np.random.default_rng(0).normal(size=allowed.mobility)
    way /= np.linalg.norm(way)

    def values(size: float) -> Floats:
        rows = unit_rows(instant.Phi_v(instant.moved(q, size * way)))[0]
        return np.asarray(np.linalg.svd(rows, compute_uv=False)[allowed.rank :], dtype=float)

    far, near = values(BESIDE), values(BESIDE / 10)
    gained = (near > 1e-9) & (far < 30 * near)
    return allowed.rank + int(gained.sum())


class PartitionWatch:
    """Looks after the choice of independent velocities of a run.

    A choice is kept as long as it is not much worse than it was, since changing it costs a restart;
    near a dead point of an independent coordinate it has to go (García de Jalón & Bayo 1994, §3.5).
    A choice made in a singular position, with too few rows, goes as soon as it can.
    """

    def __init__(
        self,
        system: System,
        u: Floats,
        p: Floats,
        preferred: Sequence[str],
        method: str,
        rank: int | None = None,
    ) -> None:
        self._system, self._u, self._p = system, u, p
        self._method = method
        self._late = _last(system, preferred, method)
        self._steady = self._pivots = self._last = self._rows_pivots = self._last_rows = 0.0
        self._known, self._rank = rank, 0
        #: Whether the choice has too few rows.
        self.urgent = False
        #: By how much longer one may wait before looking again; 0 where one should look often.
        self.pace = 0.0

    def _rows(self, t: float, q: Floats) -> Floats:
        return np.atleast_2d(self._system.evaluate("Phi_v", q, t=t, u=self._u, p=self._p))

    def begin(self, t: float, q: Floats, chosen: CoordinateBasis) -> None:
        """Look after another choice from now on."""
        self._steady = chosen.steadiness(self._rows(t, q))
        beside = self._known
        if beside is None:
            beside = generic_rank(self._system, t, q, self._u, self._p)
        self._rank = max(chosen.rank, beside)
        self.urgent = self._rank > chosen.rank
        self._pivots = self._last = self._rows_pivots = 0.0

    def another(
        self,
        t: float,
        q: Floats,
        present: CoordinateBasis,
        ratios: tuple[float, float] | None = None,
    ) -> CoordinateBasis | None:
        """A choice that is better now, or None.

        ``ratios`` are the smallest ratios of pivots of the present choice of late, where known (of
        combinations the least cosine), and of its rows: as long as they are no smaller than they
        were, nothing else is looked at.
        """
        self.pace = 0.0
        kept = TURNED if self._method == "svd" else LOST * self._pivots
        pivots, of_rows = (None, 1.0) if ratios is None else ratios
        steady = of_rows >= LOST * self._rows_pivots
        if pivots is not None and not self.urgent and pivots > kept and steady:
            if self._last:
                # so that until then the ratio changes by a part of itself only
                change = abs(pivots - self._last) / pivots
                change = max(change, abs(of_rows - self._last_rows) / max(of_rows, 1e-9))
                self.pace = min(2.0, CHANGE / max(change, 1e-3))
            self._pivots, self._last = max(self._pivots, pivots), pivots
            self._rows_pivots, self._last_rows = max(self._rows_pivots, of_rows), of_rows
            return None
        rows = self._rows(t, q)
        if not np.isfinite(rows).all():
            return None
        if self.urgent:
            found = choose_basis(rows, self._method, self._late, self._rank)
            if found.rank > present.rank:
                return found
        if self._method == "svd":
            return self._turned(rows, present)
        best = choose_basis(rows, self._method, (), present.rank)
        if best.rank < present.rank or best.same_as(present):
            return None
        good, wanted = present.steadiness(rows), best.steadiness(rows)
        self._steady = max(self._steady, good)
        lost = good < LOST * self._steady or good < BAD * wanted
        if not (lost and good < BETTER * wanted):
            return None
        liked = choose_basis(rows, self._method, self._late, present.rank)
        return liked if liked.steadiness(rows) > BETTER * wanted else best

    def _turned(self, rows: Floats, present: CoordinateBasis) -> CoordinateBasis | None:
        """The motions allowed now, if they are far from those of the present choice.

        They are compared by angles: the steadiness falls in a singular position too, in which no
        choice is better.  Where there are more rows than independent ones, others may be.
        """
        found = choose_basis(rows, "svd", (), present.rank)
        if found.rank != present.rank:
            return None
        if present.alignment(rows) <= TURNED:
            return found
        fewer = len(rows) > present.rank
        return found if fewer and present.steadiness(rows) < LOST * found.steadiness(rows) else None

    @property
    def limits(self) -> tuple[float, float]:
        """The ratios of pivots below which a run had better stop, for another choice."""
        if self._method == "svd":
            return TURNED_FAR, NEAR * self._rows_pivots
        return NEAR * self._pivots, 0.0
