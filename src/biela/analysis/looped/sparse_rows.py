"""Steps δ with Φ_v δ = f for large mechanisms, by sparse LDLᵀ of

    [ 1    Φ_vᵀ ] [ δ ]   [ 0 ]
    [ Φ_v  -D   ] [ μ ] = [ f ]

each multiplier after the velocities it acts on.  Of dependent rows those are dropped whose pivot is
rounding only.  They are chosen on a position that fulfils the constraints, as beside it they seem
to be independent, and then stay out (D = 1) until they are chosen again.  On the way to a first
position all rows stay in, D = λ²: damped least squares, which needs no independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import ReferenceBlocks
from biela.solvers import SparseLDLT, SymmetricPattern

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Damping that is small beside the rows, and large enough that none of them is dropped.
_LEAST_DAMPING = 1e-8


class SparseRows:
    """The constraint rows of a mechanism, and which of them are independent.

    Attributes:
        doubtful: Rows that `choose` could not tell to be dependent or independent.
        factorisations: How often a matrix was factored.
    """

    def __init__(self, blocks: ReferenceBlocks) -> None:
        self.n, self.m = blocks.nv, len(blocks.rows)
        self.first, self.second = blocks.indices
        n, m = self.n, self.m
        diagonal = np.arange(n + m)
        pattern = SymmetricPattern(
            n + m,
            np.concatenate([diagonal, n + self.first]),
            np.concatenate([diagonal, self.second]),
        )
        self._solver = SparseLDLT(pattern, late=np.arange(n, n + m))
        self._kept = np.ones(m, dtype=bool)
        self._all_kept = True
        self._weights = np.ones(n)
        self.doubtful: Integers = np.zeros(0, dtype=np.int64)
        self.factorisations = 0

    def weigh(self, weights: Floats) -> None:
        """Let corrections be the shortest with other weights of their squares, (nv,)."""
        self._weights = weights

    # -------------------------------------------------------------------------- factoring

    def choose(self, J: Floats) -> int:
        """Choose independent rows, and factor; returns the rank of Φ_v with entries J."""
        self._kept[:] = True
        self._all_kept = True
        self._factor(J, np.zeros(self.m), examined=True)
        dropped, doubtful = self._solver.dropped, self._solver.doubtful
        self.doubtful = doubtful[doubtful >= self.n] - self.n
        rank = self.m - int((dropped >= self.n).sum())
        self._kept[dropped[dropped >= self.n] - self.n] = False
        self._all_kept = bool(self._kept.all())
        return rank

    @property
    def dropped(self) -> Integers:
        """The rows that are left out."""
        return np.flatnonzero(~self._kept)

    def factor(self, J: Floats) -> float:
        """Factor with the chosen rows; returns the smallest pivot over what it was made of."""
        if self._all_kept:
            self._factor(J, np.zeros(self.m))
        else:
            kept = self._kept[self.first]
            self._factor(np.where(kept, J, 0.0), -1.0 * ~self._kept)
        ratios = self._solver.ratios[self.n :]
        return float(ratios[self._kept].min(initial=1.0))

    def factor_damped(self, J: Floats, damping: float) -> None:
        """Factor with all rows and D = damping."""
        self._factor(J, np.full(self.m, -damping))

    def _factor(self, J: Floats, diagonal: Floats, examined: bool = False) -> None:
        self.factorisations += 1
        values = np.concatenate([self._weights, diagonal, J])
        self._solver.factor(values, examined=examined)

    # ---------------------------------------------------------------------------- solving

    def step(self, f: Floats) -> Floats:
        """The step δ with Φ_v δ = f in the chosen rows."""
        return self._solved(np.zeros(self.n), np.where(self._kept, f, 0.0))

    def damped_step(self, f: Floats) -> Floats:
        """The step of damped least squares."""
        return self._solved(np.zeros(self.n), f)

    def conflict(self, J: Floats, f: Floats) -> Floats:
        """What least squares leave of Φ_v δ = f: rows that contradict each other.

        All rows count. The factors are others afterwards.
        """
        self.factor_damped(J, _LEAST_DAMPING)
        return np.asarray(f - self.product(J, self.damped_step(f)))

    def free_motion(self, guess: Floats) -> Floats:
        """The part of a motion that the chosen rows leave free."""
        return self._solved(guess, np.zeros(self.m))

    def _solved(self, upper: Floats, lower: Floats) -> Floats:
        found: Floats = self._solver.solve(np.concatenate([upper, lower]))[: self.n]
        return found

    def refined(self, J: Floats, f: Floats, sweeps: int = 4) -> Floats:
        """The step, corrected with J itself where a matrix near it was factored."""
        scale = 1e-15 * max(1.0, float(np.abs(f).max(initial=0.0)))
        x = self.step(f)
        before = np.inf
        for _ in range(sweeps):
            rest = f - self.product(J, x)
            error = float(np.abs(rest[self._kept]).max(initial=0.0))
            if error <= scale or not error < 0.5 * before:
                break
            before = error
            x = x + self.step(rest)
        return x

    def least_squares(self, J: Floats, f: Floats, sweeps: int = 4) -> Floats:
        """The x with least |Φ_v x - f|, after `factor_damped`; each sweep removes the damping."""
        x = self.damped_step(f)
        for _ in range(sweeps):
            x = x + self.damped_step(f - self.product(J, x))
        return x

    def missed(self, J: Floats, x: Floats, f: Floats) -> float:
        """The largest error of Φ_v x = f in the rows that are left out, in proportion."""
        if self._all_kept:
            return 0.0
        rest = np.abs(self.product(J, x) - f)[~self._kept]
        size = max(1.0, float(np.abs(x).max(initial=0.0)))
        return float(rest.max(initial=0.0)) / size

    def product(self, J: Floats, x: Floats) -> Floats:
        """The product Φ_v x."""
        return np.asarray(np.bincount(self.first, J * x[self.second], self.m), dtype=float)

    def error(self, f: Floats) -> float:
        """The largest entry in the chosen rows."""
        return float(np.abs(f[self._kept]).max(initial=0.0))


def arms(blocks: ReferenceBlocks, J: Floats) -> Floats:
    """The longest arm of each body at its joints, for its turns, and 1 for its displacements.

    It is |∂Φ/∂φ| / |∂Φ/∂x| of a row that touches the body; 1 where no row has both.
    """
    wide, count = blocks.widths[1], blocks.world.count
    axes = 3 if blocks.plane is None else 2
    row, column = blocks.indices
    own = column < wide * count
    pairs, which = np.unique(row[own] * count + column[own] // wide, return_inverse=True)
    along = column[own] % wide < axes
    size = np.zeros((2, len(pairs)))
    np.maximum.at(size[0], which[along], np.abs(J[own][along]))
    np.maximum.at(size[1], which[~along], np.abs(J[own][~along]))
    both = (size > 0).all(axis=0)
    longest = np.zeros(count)
    np.maximum.at(longest, pairs[both] % count, size[1, both] / size[0, both])
    found = np.ones((count, wide))
    found[:, axes:] = np.where(longest > 0, longest, 1.0)[:, None]
    return found


def longest_arm(blocks: ReferenceBlocks) -> tuple[Floats, float]:
    """The arms of the bodies at the start, and the longest one, m; 1 where there is none."""
    found = arms(blocks, np.nan_to_num(blocks.Phi_v(blocks.start, 0.0)))
    turning = found[:, 3 if blocks.plane is None else 2 :]
    size = float(turning.max(initial=0.0, where=turning != 1.0)) or 1.0
    return found, size


def worst_rows(names: Sequence[str], f: Floats, most: int = 3) -> str:
    """The rows with the largest errors, for a message."""
    order = np.argsort(-np.abs(f))[:most]
    return ", ".join(f"{names[int(k)]} by {abs(f[k]):.3g}" for k in order if abs(f[k]) > 0)
