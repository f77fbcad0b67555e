"""How a matrix is taken apart before any number is known.

In turn, until nothing is left:

1. block triangular form: rows that are met by few unknowns are solved first;
2. a number as pivot, where nothing that is divided by it can be large: no other factor of the
   unknown, or no other factor of the row, is more than a few times the pivot;
3. blocks of order one, two and three: see `inverses`.  A block of order three with a zero in its
   pattern goes by its adjugate: a matrix close to one of rank one has no zero unless a row or a
   column of it is small as a whole, and the adjugate does not feel how rows and columns are
   scaled, so that two singular values never vanish together there;
4. in a larger block a rotation or reflection of rows (or of columns) leaves one entry of a column
   (or of a row), whatever the values are; the cheapest one with least fill goes first.

No step divides by something that may vanish while the matrix is regular.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from biela.equations.groups.elimination.inverses import (
    Adjugate,
    Cramer,
    Orthogonal,
    Projection,
    Quotient,
    Solver,
)
from biela.equations.groups.elimination.matrix import Matrix
from biela.equations.groups.elimination.reflections import transformation
from biela.equations.groups.elimination.solvers import (
    ConstantPivot,
    Nothing,
    Part,
    TransformedRows,
    Transposed,
    Triangular,
)
from biela.errors import DomainError, SingularityError
from biela.graph.ordering import dulmage_mendelsohn

__all__ = ["Block", "Builder", "Names", "Sides", "Strategy", "Three", "TooLargeError"]

#: Names of rows and of columns.
Names = tuple[Sequence[str], Sequence[str]]

#: How much larger than a number taken as pivot another factor of its column, or row, may be.
_LARGEST_MULTIPLIER = 4.0
#: What a root and a division weigh in the choice of a column, in products; and an entry of fill.
_ROOT_AND_DIVISION, _FILL = 24, 3


#: Which side is transformed.
Sides = Literal["rows", "columns", "both"]
#: By the adjugate, by perpendicular vectors made of columns or of rows, or as larger blocks.
Three = Literal["adjugate", "orthogonal", "orthogonal rows", "transform"]


@dataclass(frozen=True)
class Strategy:
    """What is free to choose in a block.

    Attributes:
        sides: Whether rows, columns or both are transformed.
        three: What is done with blocks of order three that are full.
    """

    sides: Sides = "both"
    three: Three = "orthogonal"


class TooLargeError(Exception):
    """More atoms than were allowed; stays inside of this package."""


@dataclass(frozen=True)
class Block:
    """A diagonal block or a step: which rows give which unknowns, and how."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    method: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{', '.join(self.rows)} -> {', '.join(self.columns)}: {self.method}"


@dataclass
class Builder:
    """Makes what solves a matrix, and keeps a list of the blocks.

    A workspace that grows beyond ``limit`` atoms stops it with a `TooLargeError`.
    """

    strategy: Strategy
    names: Names
    blocks: list[Block] = field(default_factory=list)
    limit: float = math.inf

    def solver(self, A: Matrix) -> Solver:
        """What solves a matrix with at least as many rows as columns.

        Raises:
            SingularityError: It is singular whatever its entries are.
        """
        rows, columns = A.shape
        dm = dulmage_mendelsohn(A.pattern)
        if len(dm.under[1]):
            under = A.part(dm.under[0].tolist(), dm.under[1].tolist())
            raise SingularityError(self._undetermined(under))
        blocks = [(r.tolist(), c.tolist()) for r, c in (dm.over, *dm.blocks) if len(r)]
        if blocks and (len(blocks[0][0]), len(blocks[0][1])) == (rows, columns):
            return self._regular(A)
        # in the order given each block keeps its rows and columns ascending
        parts = [Part(sorted(r), sorted(c), self._part(A, sorted(r), sorted(c))) for r, c in blocks]
        return Triangular(A.entries, parts)

    def _part(self, A: Matrix, rows: list[int], columns: list[int]) -> Solver:
        if not columns:
            return Nothing(len(rows), A.zero)
        return self._regular(A.part(rows, columns))

    def _regular(self, A: Matrix) -> Solver:
        if A.shape[0] == A.shape[1]:
            self._check_rows(A)
        try:
            return self._whole(A)
        except DomainError:  # division by a determinant that is identically zero
            rows, columns = self._names(A)
            raise SingularityError(
                f"the matrix is singular for any values: {', '.join(rows)} depend on each other "
                f"and do not give {', '.join(columns)}; leave out a row that repeats others"
            ) from None

    def _check_rows(self, A: Matrix) -> None:
        """Refuse a row that is another one, or its negative."""
        seen: dict[tuple[int, ...], int] = {}
        for i, row in enumerate(A.entries):
            refs = tuple(a.ref for a in row)
            first = seen.setdefault(max(refs, tuple(-ref for ref in refs)), i)
            if first != i:
                rows, columns = self._names(A.part([first, i], range(A.shape[1])))
                if A.turned:
                    rows, columns = columns, rows
                raise SingularityError(
                    f"the matrix is singular for any values: {', '.join(rows)} are the same up to "
                    f"sign among {', '.join(columns)}; leave out {rows[0]} or {rows[1]}"
                )

    def _whole(self, A: Matrix) -> Solver:
        """A matrix that does not split."""
        rows, columns = A.shape
        if columns == 1:
            self._note(A, "quotient" if rows == 1 else "least squares")
            return Quotient.of(A.entries) if rows == 1 else Projection.of(A.entries)
        if rows > columns:
            return self._transformed(A)
        if columns == 2:
            self._note(A, "Cramer")
            return Cramer.of(A.entries)
        pivot = _constant_pivot(A)
        if pivot is not None:
            return self._eliminated(A, *pivot)
        full = A.pattern.nnz == rows * columns
        if columns == 3 and not (full and self.strategy.three == "transform"):
            return self._three(A, "adjugate" if not full else self.strategy.three)
        return self._transformed(A)

    # ------------------------------------------------------------------- steps

    def _three(self, A: Matrix, how: Three) -> Solver:
        if how == "adjugate":
            self._note(A, "adjugate")
            return Adjugate.of(A.entries)
        self._note(A, "perpendicular vectors")
        if how == "orthogonal rows":
            return Transposed(_sparse_first(A.transposed))
        return _sparse_first(A)

    def _eliminated(self, A: Matrix, row: int, column: int) -> Solver:
        self._note(A.part([row], [column]), "number as pivot")
        return ConstantPivot(A.entries, row, column, self.solver(_schur(A, row, column)))

    def _transformed(self, A: Matrix) -> Solver:
        """One column, or row, is left with one entry."""
        score, column = _best_column(A)
        if A.shape[0] == A.shape[1] and self.strategy.sides != "rows":
            other_score, row = _best_column(A.transposed)
            if other_score < score or self.strategy.sides == "columns":
                return Transposed(self._transformed_rows(A.transposed, row))
        return self._transformed_rows(A, column)

    def _transformed_rows(self, A: Matrix, column: int) -> Solver:
        rows = [i for i, row in enumerate(A.entries) if row[column].ref]
        kind = "rotation" if len(rows) == 2 else "reflection"
        self._note(A.part(rows, [column]), f"{kind} of {'columns' if A.turned else 'rows'}")
        H = transformation([A.entries[i][column] for i in rows])
        entries = [list(row) for row in A.entries]
        bounds = [list(row) for row in A.bounds]
        for j in range(A.shape[1]):
            if j != column:
                turned = H.apply([A.entries[i][j] for i in rows])
                for i, value in zip(rows, turned, strict=True):
                    entries[i][j] = value
                    bounds[i][j] = math.inf if value.ref else 0.0
        pivot_row = [a for j, a in enumerate(entries[rows[0]]) if j != column]
        left = Matrix(entries, bounds, A.rows, A.columns, A.turned).without(rows[0], column)
        return TransformedRows(A.shape, rows, column, H, pivot_row, self.solver(left))

    # ------------------------------------------------------------------ report

    def _note(self, A: Matrix, method: str) -> None:
        self.blocks.append(Block(*self._names(A), method))
        if len(A.zero.workspace) > self.limit:
            raise TooLargeError

    def _names(self, A: Matrix) -> tuple[tuple[str, ...], tuple[str, ...]]:
        rows, columns = (A.columns, A.rows) if A.turned else (A.rows, A.columns)
        return tuple(self.names[0][i] for i in rows), tuple(self.names[1][j] for j in columns)

    def _undetermined(self, A: Matrix) -> str:
        rows, columns = self._names(A)
        return (
            f"the matrix is singular for any values: {', '.join(columns)} ({len(columns)} "
            f"unknowns) stand in {len(rows)} rows only ({', '.join(rows) or 'none'}); add the "
            f"equations that are missing"
        )


def _sparse_first(A: Matrix) -> Solver:
    """Perpendicular vectors from the columns with most zeros on."""
    order = sorted(range(3), key=lambda j: sum(bool(row[j].ref) for row in A.entries))
    entries = [[row[j] for j in order] for row in A.entries]
    return Triangular(A.entries, [Part([0, 1, 2], order, Orthogonal.of(entries))])


def _constant_pivot(A: Matrix) -> tuple[int, int] | None:
    """The place of a number that is a safe pivot, with least fill; None if there is none."""
    row_counts = [len(places) for places in A.row_places()]
    turned = A.transposed
    column_counts = [len(places) for places in turned.row_places()]
    best, least = None, math.inf
    for i, row in enumerate(A.entries):
        for j, entry in enumerate(row):
            value = entry.value
            if not value:
                continue
            limit = _LARGEST_MULTIPLIER * abs(float(value))
            fill = (row_counts[i] - 1) * (column_counts[j] - 1)
            safe = max(A.bounds[i]) <= limit or max(turned.bounds[j]) <= limit
            if safe and fill < least:
                best, least = (i, j), fill
    return best


def _schur(A: Matrix, row: int, column: int) -> Matrix:
    """What is left after a number has been the pivot."""
    inverse = 1 / A.entries[row][column]
    size = abs(float(inverse.value or 0))
    entries = [list(r) for r in A.entries]
    bounds = [list(r) for r in A.bounds]
    for k, target in enumerate(entries):
        factor = A.entries[k][column]
        if k == row or not factor.ref:
            continue
        for j, entry in enumerate(A.entries[row]):
            if j == column or not entry.ref:
                continue
            target[j] = target[j] - factor * (entry * inverse)
            bounds[k][j] += A.bounds[k][column] * A.bounds[row][j] * size
            if target[j].value is not None:
                bounds[k][j] = abs(float(target[j].value or 0))
    return Matrix(entries, bounds, A.rows, A.columns, A.turned).without(row, column)


def _best_column(A: Matrix) -> tuple[float, int]:
    """The column that is cheapest to leave with one entry, and what it costs."""
    rows = [set(places) for places in A.row_places()]
    best = (math.inf, 0)
    for j in range(A.shape[1]):
        met = [places for places in rows if j in places]
        width = len(set().union(*met)) - 1
        work = (4 if len(met) == 2 else 2 * len(met)) * width
        fill = (len(met) - 1) * width - sum(len(places) - 1 for places in met)
        best = min(best, (work + _ROOT_AND_DIVISION + _FILL * fill, j))
    return best
