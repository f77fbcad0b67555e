"""The choice of independent coordinates, and when another one is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.equations.positions import own_velocities, velocity_places
from biela.solvers.coordinate_basis import CoordinateBasis, choose_basis

Floats = npt.NDArray[np.float64]

#: Another choice is due where it is so much steadier than the present one …
BETTER: Final = 0.5
#: … and the present one has lost so much, or is as bad as this compared with the other.
LOST: Final = 0.5
BAD: Final = 0.05
#: A run stops where the ratio of pivots falls to this part of what it was.
NEAR: Final = 0.02
#: Rows count as independent ones, that were not before, above this size of a unit row.
GAINED: Final = 1e-4


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
) -> CoordinateBasis:
    """The choice of independent velocities in a position; the others follow from the constraints.

    Coordinates named, or else relative ones, are preferred.

    Raises:
        ModelError: A preferred coordinate is unknown.
    """
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=p))
    return choose_basis(rows, method, _last(system, preferred, method))


def _last(system: System, preferred: Sequence[str], method: str) -> list[int]:
    if method == "svd":
        return []
    return velocity_places(system, preferred) if preferred else relative_places(system)


class PartitionWatch:
    """Looks after the choice of independent velocities of a run.

    A choice is kept as long as it is not much worse than when it was made, since changing it costs
    a restart; near a dead point of an independent coordinate it has to go (García de Jalón & Bayo
    1994, §3.5).
    """

    def __init__(
        self, system: System, u: Floats, p: Floats, preferred: Sequence[str], method: str
    ) -> None:
        self._system, self._u, self._p = system, u, p
        self._method = method
        self._late = _last(system, preferred, method)
        self._began: tuple[CoordinateBasis, float] | None = None
        self._pivots = 0.0
        #: Whether the present choice is about as good as when it was made.
        self.calm = False

    def _rows(self, t: float, q: Floats) -> Floats:
        return np.atleast_2d(self._system.evaluate("Phi_v", q, t=t, u=self._u, p=self._p))

    def another(
        self, t: float, q: Floats, present: CoordinateBasis, pivots: float | None = None
    ) -> CoordinateBasis | None:
        """A choice that is better now, or None.

        ``pivots`` is the smallest ratio of pivots of the present choice of late, where known: as
        long as that is no smaller than it was, nothing else is looked at.
        """
        self.calm = False
        if self._began is None or self._began[0] is not present:
            self._began = present, present.steadiness(self._rows(t, q))
            self._pivots = pivots or 0.0
        if pivots is not None and pivots > LOST * self._pivots > 0:
            self.calm = True
            return None
        rows = self._rows(t, q)
        if not np.isfinite(rows).all():
            return None
        rank = self._rank(rows, present.rank)
        best = choose_basis(rows, self._method, (), rank)
        if best.same_as(present):
            return None
        steady, wanted = present.steadiness(rows), best.steadiness(rows)
        lost = steady < LOST * self._began[1] or steady < BAD * wanted
        if not (lost and steady < BETTER * wanted) and rank == present.rank:
            return None
        liked = choose_basis(rows, self._method, self._late, rank)
        return liked if liked.steadiness(rows) > BETTER * wanted else best

    @property
    def limit(self) -> float:
        """The ratio of pivots below which a run had better stop, for another choice."""
        return NEAR * self._pivots

    @staticmethod
    def _rank(rows: Floats, before: int) -> int:
        """The rank, which was less if the last choice was made in a singular position."""
        sizes = np.linalg.norm(rows, axis=1, keepdims=True)
        values = np.linalg.svd(rows / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
        return max(before, int((values > GAINED * values[0]).sum()))
