"""Symbolic factorisation A = L D Lᵀ, with the zeros of the pattern never touched.

The order of elimination is fixed when the code is generated, so the pivots must be safe in every
position.  For a mass matrix any order is: every pivot is the inertia of some motion.  For the
equations of a constrained system,

    [ M    Φ_vᵀ ] [ v' ]   [ Q ]
    [ Φ_v  0    ] [ λ  ] = [ γ ],

a multiplier comes after all the coordinates it acts on; its pivot is then minus the inverse of the
inertia felt along the constraint, negative wherever the constraints are independent.  Dividing by
an entry of Φ_v instead would fail where a cosine vanishes.

A constraint that depends on others leaves a pivot that is rounding only.  It is dropped, not
regularised: its reciprocal and its multiplier become 0, by a select and without a branch, so that
the code does the same work in every position.  Where it is known which constraints depend on each
other and how many of them count, the best of these are taken instead (`ranked_rows`).

M need only be definite on the motions that the constraints allow (inertia-less coordinates, Euler
parameters).  Adding α Φ_vᵀ Φ_v to it and α Φ_vᵀ γ to Q changes neither v' nor λ and makes it
definite (`stiffened`).

Where bodies are shared by many loops, an order with multipliers before some of their coordinates
takes much less work (`biela.equations.elimination_order`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, maximum, select
from biela.atoms.ranked_elimination import RankedElimination
from biela.equations.ranked_rows import RankedRows, weights
from biela.errors import SingularityError

Matrix = list[list[Atom]]
Floats = npt.NDArray[np.float64]

#: A multiplier's pivot below this part of what was summed up in it is rounding only.
DROP_TOLERANCE = 1e-12
#: It is rounding too below this part of what it is elsewhere: where a row of Φ_v vanishes as a
#: whole, as at the line of a parallelogram, all that was summed up in it is small.
VANISHED = 1e-16
#: The pivot of a multiplier that goes before some of its coordinates is at least this part of what
#: these would add to it.  Where it would be less, the solution is off by about that part, by the
#: change of the pivot and by rounding alike.
LEAST_PIVOT = 1e-8

_UNKNOWN: Mapping[int, float] = {}


@dataclass(frozen=True)
class Factors:
    """A = L D Lᵀ in a given order; ``L[i]`` holds the entries of row i by column.

    ``inverse`` is D⁻¹, with 0 where a dependent row is dropped; ``dropped`` has, for each row that
    may be, the condition that it is.
    """

    order: tuple[int, ...]
    L: list[dict[int, Atom]]
    D: list[Atom]
    inverse: list[Atom]
    dropped: dict[int, Atom]
    #: What comes last: rows of which the best are chosen.
    ranked: RankedElimination | None = None

    @property
    def fill(self) -> int:
        """Number of entries of L below the diagonal."""
        return sum(len(row) for row in self.L)

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution of A x = b."""
        n, regular = len(self.order), len(self.inverse)
        x = [b[i] for i in self.order]
        for i in range(n):
            for j, entry in self.L[i].items():
                x[i] = x[i] - entry * x[j]
        last = {}
        if self.ranked is not None:
            last = self.ranked.solve({k: x[k] for k in range(regular, n)})
        x = [x[k] * self.inverse[k] if k < regular else last[k] for k in range(n)]
        for i in range(n - 1, -1, -1):
            for j, entry in self.L[i].items():
                x[j] = x[j] - entry * x[i]
        result = list(b)
        for place, i in enumerate(self.order):
            result[i] = x[place]
        return result


def factorise(
    A: Matrix,
    late: Sequence[int] = (),
    drop: float = 0.0,
    order: Sequence[int] = (),
    sizes: Mapping[int, float] = _UNKNOWN,
    ranked: Sequence[RankedRows] = (),
) -> Factors:
    """Factorise a symmetric matrix; rows in ``late`` wait for all their neighbours.

    Among the rows allowed, the one with fewest neighbours left goes first (minimum degree).  With
    ``drop`` (`DROP_TOLERANCE`) a late row is dropped where its pivot is below that part of the
    magnitudes accumulated in it, or below `VANISHED` of its size in other positions, for those rows
    of which ``sizes`` tells it.

    Rows in ``ranked`` sets, numbered as those of the matrix, come last of all; of each set as many
    are taken as its rank tells.

    Another ``order`` may have late rows before some of their neighbours: their pivots are negative,
    and held at `LEAST_PIVOT`.

    Raises:
        SingularityError: A row has no pivot in any position.
    """
    n = len(A)
    late_rows = set(late)
    order = list(order) or _order(A, late_rows)
    last = [row for found in ranked for row in found.rows]
    order = [row for row in order if row not in set(last)] + last
    regular = n - len(last)
    early = _early(A, late_rows, order)
    L: list[dict[int, Atom]] = [{} for _ in range(n)]
    factors = Factors(tuple(order), L, [], [], {})
    rest = {
        (a, b): A[i][j]
        for a, i in enumerate(order)
        for b, j in enumerate(order)
        if b <= a and A[i][j].ref
    }
    magnitude = {k: abs(rest[k, k]) for k in range(n) if (k, k) in rest} if drop else {}
    for k in range(regular):
        pivot = rest.get((k, k))
        droppable = drop > 0 and order[k] in late_rows and order[k] not in early
        if order[k] in early:
            least = LEAST_PIVOT * _added_later(A, order, k, late_rows)
            pivot = -(least if pivot is None else maximum(-pivot, least))
            reciprocal = 1 / pivot
        elif pivot is None or pivot.value == 0:
            if not droppable:
                raise SingularityError(
                    f"row {order[k]} has no pivot: a coordinate without inertia, or a constraint "
                    f"that acts on no coordinate with inertia"
                )
            # dependent in every position: its multiplier is 0, and it acts on nothing
            one = A[0][0].workspace.atom(1)
            pivot, reciprocal = one, one * 0
            factors.dropped[order[k]] = one
        elif droppable:
            # a nan is not dropped, to be seen in the result
            least_kept = drop * magnitude[k]
            if order[k] in sizes:
                least_kept = least_kept + VANISHED * sizes[order[k]]
            dropped = abs(pivot) <= least_kept
            reciprocal = select(dropped, 0, 1 / pivot)
            factors.dropped[order[k]] = dropped
        else:
            reciprocal = 1 / pivot
        factors.D.append(pivot)
        factors.inverse.append(reciprocal)
        below = [i for i in range(k + 1, n) if (i, k) in rest]
        column = {i: rest[i, k] * reciprocal for i in below}
        for i in below:
            L[i][k] = column[i]
            for j in below:
                if j <= i:
                    change = column[i] * rest[j, k]
                    old = rest.get((i, j))
                    rest[i, j] = -change if old is None else old - change
                    if i == j and drop and order[i] in late_rows and order[i] not in early:
                        size = abs(change)
                        magnitude[i] = magnitude[i] + size if i in magnitude else size
    if not last:
        return factors
    one = A[0][0].workspace.atom(1)
    place = {row: k for k, row in enumerate(order)}
    floors = {k: drop * magnitude[k] for k in range(regular, n) if k in magnitude}
    for k in floors:
        if order[k] in sizes:
            floors[k] = floors[k] + VANISHED * sizes[order[k]]
    tail = RankedElimination(
        {pair: entry for pair, entry in rest.items() if pair[1] >= regular},
        [
            (at := [place[row] for row in found.rows], found.rank, weights(at, found.sizes))
            for found in ranked
        ],
        floors,
        one,
    )
    factors.dropped.update({order[k]: tail.kept[k] < 0.5 for k in range(regular, n)})
    return replace(factors, ranked=tail)


def _order(A: Matrix, late: set[int]) -> list[int]:
    n = len(A)
    neighbours = {i: {j for j in range(n) if j != i and A[i][j].ref} for i in range(n)}
    ready_after = {i: set(neighbours[i]) - late for i in late}
    order: list[int] = []
    left = set(range(n))
    while left:
        allowed = [i for i in left if i not in late or not (ready_after[i] & left)]
        chosen = min(allowed, key=lambda i: (len(neighbours[i] & left), i))
        order.append(chosen)
        left.discard(chosen)
        around = neighbours[chosen] & left
        for i in around:
            neighbours[i] |= around - {i}
    return order


def _early(A: Matrix, late: set[int], order: Sequence[int]) -> set[int]:
    """The late rows that do not wait for all their neighbours."""
    place = {row: k for k, row in enumerate(order)}
    return {
        i
        for i in late
        if any(A[i][j].ref and j not in late and place[j] > place[i] for j in range(len(A)))
    }


def _added_later(A: Matrix, order: Sequence[int], k: int, late: set[int]) -> Atom:
    """What coordinates after place k would add to the pivot there, each without the others.

    An entry j of the row grows M_jj by its square over the pivot, so that this bounds the growth.
    """
    i = order[k]
    later = [j for j in order[k + 1 :] if j not in late and A[i][j].ref]
    parts = [A[i][j] * A[i][j] * (1 / A[j][j]) for j in later]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def constrained_matrix(M: Matrix, Phi_v: Matrix) -> Matrix:
    """The matrix of the constrained equations of motion, [[M, Φ_vᵀ], [Φ_v, 0]]."""
    n, m = len(M), len(Phi_v)
    zero = M[0][0] * 0
    top = [[*M[i], *(Phi_v[k][i] for k in range(m))] for i in range(n)]
    return top + [[*Phi_v[k], *([zero] * m)] for k in range(m)]


@dataclass(frozen=True)
class Stiffening:
    """Which constraints have to be added to M to make it definite, and with what weights.

    ``order`` is that of the elimination, coordinates first in its numbers; empty leaves it to
    `factorise`.  ``sizes`` are the largest pivots of constraints, φ M⁻¹ φᵀ, in some positions;
    empty where they are not known.  ``ranked`` are the sets of constraints that depend on each
    other wherever the mechanism is assembled, ``ranked_positions`` those of the geometric ones.
    """

    rows: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    order: tuple[int, ...] = ()
    sizes: tuple[float, ...] = ()
    ranked: tuple[RankedRows, ...] = ()
    ranked_positions: tuple[RankedRows, ...] = ()

    def rank(self, count: int) -> int:
        """How many of so many constraints are independent, as far as it is known."""
        return count - sum(len(found.rows) - found.rank for found in self.ranked)

    @property
    def for_positions(self) -> Stiffening:
        """The same for the geometric constraints alone."""
        return replace(self, ranked=self.ranked_positions)

    @property
    def for_unit_metric(self) -> Stiffening:
        """What is left of it where the metric is 1 in place of M."""
        ranked, positions = (
            tuple(replace(found, sizes=found.lengths) for found in sets)
            for sets in (self.ranked, self.ranked_positions)
        )
        return Stiffening(ranked=ranked, ranked_positions=positions)


def notable_positions(q: Floats, turns: npt.NDArray[np.bool_], seed: int = 0) -> Floats:
    """Positions to look at a mass matrix in: near q, random ones, and right angles.

    A mass matrix that is definite at random may be singular where bodies are in line.
    """
    random = np.random.default_rng(seed)
    n = len(q)
    near = q + 0.01 * random.uniform(-1, 1, (3, n))
    away = random.uniform(-1, 1, (3, n))
    right = np.where(turns, np.pi / 2 * random.integers(-1, 3, (24, n)), near[0])
    alone = np.where(np.eye(n, dtype=bool)[:24] & turns, 0.0, away[0])
    return np.concatenate([near, away, right, alone, np.where(turns, 0.0, away[0])[None]])


def lacking(masses: Sequence[Floats], jacobians: Sequence[Floats]) -> Stiffening:
    """The constraints that act on null directions of M, seen at some positions.

    The weights are powers of ten that bring them to the size of M, and that of a constraint which
    acts on light bodies to the size of the lightest.
    """
    needed: set[int] = set()
    weight, most = 1.0, np.full(len(jacobians[0]), np.inf)
    units = _mass_units(masses)
    for M, Phi_v in zip(masses, jacobians, strict=True):
        if not (np.isfinite(M).all() and np.isfinite(Phi_v).all()) or not Phi_v.size:
            continue
        values, vectors = np.linalg.eigh(M * units[:, None] * units)
        null = units[:, None] * vectors[:, values < 1e-11 * max(abs(values[-1]), 1e-300)]
        with np.errstate(divide="ignore"):
            bounds = units**-2 / np.square(Phi_v)
        most = np.minimum(most, bounds.min(axis=1))
        if not null.shape[1]:
            continue
        touched = np.abs(Phi_v @ null).max(axis=1)
        found = np.nonzero(touched > 1e-9 * max(np.abs(Phi_v).max(), 1e-300))[0]
        needed.update(int(i) for i in found)
        if len(found):
            squares = np.square(Phi_v[found]).sum(axis=1)
            ratio = np.trace(M) / max(len(M) - null.shape[1], 1) / squares.mean()
            weight = _power(ratio) if ratio > 0 else 1.0
    rows = tuple(sorted(needed))
    # what is much more would drown them
    weights = [weight if weight <= 1e3 * most[k] else _power(float(most[k])) for k in rows]
    return Stiffening(rows, tuple(weights))


def _power(x: float) -> float:
    """The power of ten next to a number."""
    return float(10.0 ** np.round(np.log10(x)))


def _mass_units(masses: Sequence[Floats]) -> Floats:
    """Units of the velocities in which the masses along them are 1.

    A fingertip on an arm has 1e-16 of its inertia, and is not without mass: what is added to M for
    bodies without would drown it.  Masses that vanish somewhere, or are rounding, count in
    proportion to the largest.
    """
    along = np.array([np.diagonal(M) for M in masses if np.isfinite(M).all()])
    if not len(along):
        return np.ones(len(masses[0]))
    least, most = along.min(axis=0), along.max(axis=0)
    largest = float(most.max(initial=0.0)) or 1.0
    real = (least > 1e-6 * most) & (least > 0)
    return np.asarray(1 / np.sqrt(np.where(real, most, largest)))


def pivot_sizes(
    masses: Sequence[Floats], jacobians: Sequence[Floats], found: Stiffening
) -> tuple[float, ...]:
    """The largest φ M⁻¹ φᵀ of each constraint φ in some positions, with what M lacks added."""
    largest = np.zeros(len(jacobians[0]))
    for M, Phi_v in zip(masses, jacobians, strict=True):
        stiff = Phi_v[list(found.rows)]
        W = M + (stiff.T * found.weights) @ stiff
        if not (np.isfinite(W).all() and np.isfinite(Phi_v).all()):
            continue
        try:
            pivots = np.einsum("ij,ji->i", Phi_v, np.linalg.solve(W, Phi_v.T))
        except np.linalg.LinAlgError:
            continue
        largest = np.fmax(largest, pivots)
    return tuple(float(size) for size in largest)


def stiffened(
    M: Matrix, Phi_v: Matrix, rows: Sequence[int], weights: Sequence[Atom | float]
) -> Matrix:
    """M + Σ α φ φᵀ over the given rows φ of Φ_v, each with its weight α."""
    result = [list(row) for row in M]
    n = len(M)
    for k, weight in zip(rows, weights, strict=True):
        row = Phi_v[k]
        scaled = [e * weight if e.ref else e for e in row]
        for i in range(n):
            if not row[i].ref:
                continue
            for j in range(i + 1):
                if row[j].ref:
                    result[i][j] = result[i][j] + scaled[i] * row[j]
                    result[j][i] = result[i][j]
    return result
