"""A basis of the motions that constraints allow, kept constant while Φ_v changes with the position.

With constraint rows J δ = 0 of rank r in n unknowns a constant, invertible matrix T is chosen,

    v = T (w_d, ż),      ż = B v,      J T = (J_d  J_i),      J_d regular,

so that the f = n - r independent velocities ż fix all others.  T is a permutation where ż is a
part of v, by one of

* "pivoting": Gauss elimination with full pivoting; the columns of the pivots are dependent
  (Wehage & Haug 1982);
* "qr": QR with column pivoting; the columns that lie farthest from the span of those before are
  dependent (Kim & Vanderploeg 1986);

and an orthogonal matrix for

* "svd": the right singular vectors; ż are velocities along the null space of J where the choice was
  made, combinations of all v (Singh & Likins 1985; Mani, Haug & Atkinson 1985).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.singular_values import svd
from biela.solvers.independent import PREFERENCE, choose_independent

__all__ = ["PARTITIONS", "CoordinateBasis", "choose_basis"]

Floats = NDArray[np.float64]

#: Ways to choose independent velocities.
PARTITIONS: Final = ("pivoting", "qr", "svd")
#: Rows and columns that are nearer than this to the span of others depend on them.
RANK_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class CoordinateBasis:
    """The choice of independent velocities.

    Attributes:
        method: One of `PARTITIONS`.
        rows: Rows of J of full rank, r of them.
        T: Columns of the dependent velocities, then those of the independent ones, (n, n).
        dependent: Places of the dependent velocities in v; none for "svd".
        independent: Places of the independent ones; none for "svd".
        J: The rows it was chosen for.
    """

    method: str
    rows: tuple[int, ...]
    T: Floats
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    J: Floats

    @property
    def rank(self) -> int:
        """Number of dependent velocities r."""
        return len(self.rows)

    @property
    def freedoms(self) -> int:
        """Number of independent velocities f."""
        return len(self.T) - self.rank

    @property
    def selects(self) -> bool:
        """Whether the independent velocities are a part of v."""
        return self.method != "svd"

    @property
    def B(self) -> Floats:
        """The matrix of ż = B v, (f, n); T is orthogonal."""
        return np.ascontiguousarray(self.T[:, self.rank :].T)

    def condition(self, J: ArrayLike) -> float:
        """How much J_d⁻¹ magnifies: |J| |J_d⁻¹|, rows of J of unit length.

        In the 2-norm; infinite at a dead point.  Where all columns are dependent it is the
        condition number of J_d.
        """
        if not self.rank:
            return 1.0
        rows, _ = _unit(np.asarray(J, dtype=float)[list(self.rows)])
        least = np.linalg.svd(rows @ self.T[:, : self.rank], compute_uv=False)[-1]
        return float(np.linalg.norm(rows, 2) / least) if least > 0 else np.inf

    def steadiness(self, J: ArrayLike) -> float:
        """How well ż and the rows kept fix all velocities.

        The smallest singular value of (J ; B), with rows of J of unit length; 0 at a dead point.
        """
        unit, _ = _unit(np.atleast_2d(np.asarray(J, dtype=float))[list(self.rows)])
        return float(np.linalg.svd(np.vstack([unit, self.B]), compute_uv=False)[-1])

    def alignment(self, J: ArrayLike) -> float:
        """How much of the motions allowed shows in ż: the smallest singular value of B N.

        N is an orthonormal basis of the null space of the rows kept.  The cosine of the largest
        angle between both spaces: 1 where the choice is made by "svd", 0 at a dead point; unlike
        the steadiness it does not fall where the rows of J become dependent.
        """
        if not self.freedoms or not self.rank:
            return 1.0
        unit, _ = _unit(np.atleast_2d(np.asarray(J, dtype=float))[list(self.rows)])
        N = svd(unit)[2][self.rank :].T
        return float(np.linalg.svd(self.B @ N, compute_uv=False)[-1])

    def same_as(self, other: CoordinateBasis) -> bool:
        """Whether both choose the same velocities and rows."""
        return (
            self.selects
            and other.selects
            and set(self.independent) == set(other.independent)
            and set(self.rows) == set(other.rows)
        )


def choose_basis(
    J: ArrayLike,
    method: str = "pivoting",
    prefer_independent: Sequence[int] = (),
    rank: int | None = None,
) -> CoordinateBasis:
    """Choose independent velocities of the constraints J v = β.

    Columns of `prefer_independent` become dependent only where others would be much worse; "svd"
    knows no columns, and takes none.  A `rank` that is known holds against rounding, by which
    dependent rows seem independent.

    >>> choose_basis([[1.0, 2.0, 0.1]], "qr", prefer_independent=[1]).independent
    (1, 2)

    Raises:
        ShapeError: The method is not known, or J is no matrix of finite numbers.
    """
    if method not in PARTITIONS:
        raise ShapeError(f"partition {method!r} is not known; these are: {', '.join(PARTITIONS)}")
    found = choose_independent(J, RANK_TOLERANCE, prefer_independent=prefer_independent)
    rows, n = np.atleast_2d(np.asarray(J, dtype=float)), np.shape(J)[1]
    rank = found.rank if rank is None else min(rank, found.rank)
    dependent, kept = found.dependent[:rank], found.independent_rows[:rank]
    if method == "svd":
        unit, _ = _unit(rows)
        _, _, Vt = svd(unit)
        return CoordinateBasis("svd", kept, np.ascontiguousarray(Vt.T), (), (), rows)
    if method == "qr":
        dependent = _farthest(rows, rank, prefer_independent)
    independent = tuple(j for j in range(n) if j not in dependent)
    T = np.ascontiguousarray(np.eye(n)[:, [*dependent, *independent]])
    return CoordinateBasis(method, kept, T, dependent, independent, rows)


def _unit(rows: Floats) -> tuple[Floats, Floats]:
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return rows / sizes, sizes


def _farthest(rows: Floats, rank: int, preferred: Sequence[int]) -> tuple[int, ...]:
    """Columns of a QR factorisation with column pivoting (Golub & Van Loan 2013, §5.4.2)."""
    left, _ = _unit(rows)
    late = np.zeros(rows.shape[1], dtype=bool)
    late[list(preferred)] = True
    chosen: list[int] = []
    for _ in range(rank):
        sizes = np.linalg.norm(left, axis=0)
        sizes[chosen] = -1.0
        first = int(np.argmax(np.where(late, -1.0, sizes)))
        best = int(np.argmax(sizes))
        if late[first] or sizes[first] < PREFERENCE * sizes[best]:
            first = best
        chosen.append(first)
        direction = left[:, first] / np.linalg.norm(left[:, first])
        # twice, for rounding
        for _ in range(2):
            left = left - np.outer(direction, direction @ left)
    return tuple(chosen)
