"""Straight-line solution of a small linear system on atoms: J X = B for several columns of B.

The code is fixed before any number is known and runs in SIMD lanes, a state in each: no branch,
no pivot chosen at run time, no table.  Still no regular J is solved badly because an entry happens
to vanish (a bar that is vertical).  How that is done is told in `building`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from biela.atoms import Atom, sqrt
from biela.equations.groups.elimination.building import (
    Block,
    Builder,
    Names,
    Sides,
    Strategy,
    Three,
    TooLargeError,
)
from biela.equations.groups.elimination.cost import Operations, counted, opaque
from biela.equations.groups.elimination.inverses import Solver, dot
from biela.equations.groups.elimination.matrix import Matrix
from biela.equations.groups.elimination.solvers import Nothing, Part, Triangular
from biela.errors import ShapeError, SingularityError
from biela.graph.ordering import dulmage_mendelsohn

__all__ = ["Elimination", "eliminate", "worth_unrolling"]

#: How many singular values may come close to zero at a time.
Vanishing = Literal["any", "one"]

#: More operations than this are not worth being written out.
UNROLLED_LIMIT = 4000
#: Matrices with more columns are not even counted.
_COLUMNS_LIMIT = 256
#: Blocks larger than this are written in one way only.
_COMPARED_ORDER = 16
#: So many are reckoned with when the ways are compared: those of velocities and accelerations.
_RIGHT_HAND_SIDES = 2


@dataclass(frozen=True)
class Elimination:
    """The factors of a matrix, made once for any number of right-hand sides.

    Attributes:
        J: The matrix, at least as many rows as columns.
        blocks: What is solved in which order, and how.
        vanishing: As it was given to `eliminate`.
        parts: The diagonal blocks in the order of solution.
    """

    J: tuple[tuple[Atom, ...], ...]
    blocks: tuple[Block, ...]
    vanishing: Vanishing
    parts: tuple[Part, ...]

    @cached_property
    def _solver(self) -> Solver:
        return Triangular([list(row) for row in self.J], self.parts)

    @property
    def determinants(self) -> tuple[Atom, ...]:
        """Of each diagonal block, in the order of solution; up to sign their product is the gauge.

        Which of them vanishes says what is singular.
        """
        return tuple(part.solver.determinant for part in self.parts if part.columns)

    @property
    def gauge(self) -> Atom:
        """A quantity that is zero exactly where J is singular.

        Of a square J it is the determinant, which changes sign from branch to branch.  With more
        rows than columns it is the product of √det(AᵀA) of the block A that has too many rows,
        which is never negative, and of the determinants of the square blocks.
        """
        return self._solver.determinant

    @cached_property
    def scaled_gauge(self) -> Atom:
        """The gauge divided by the lengths of all rows of a square J, between -1 and 1 (Hadamard).

        It costs the squares of all entries, a root and a division more.

        Raises:
            ShapeError: J has more rows than columns.
        """
        if len(self.J) != len(self.J[0]):
            raise ShapeError(
                f"the gauge of a matrix of {len(self.J)} rows and {len(self.J[0])} columns is not "
                f"scaled: use gauge"
            )
        volume = self.J[0][0] * 0 + 1
        for row in self.J:
            volume = volume * dot(row, row)
        return self.gauge / sqrt(volume)

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of J x = b; by least squares where J has more rows than columns.

        Raises:
            ShapeError: b has not as many entries as J has rows.
        """
        return self._solver.solve(self._checked(b, len(self.J), "rows"))

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Jᵀ x = b; the shortest where J has more rows than columns.

        Raises:
            ShapeError: b has not as many entries as J has columns.
        """
        return self._solver.solve_transposed(self._checked(b, len(self.J[0]), "columns"))

    @cached_property
    def operations(self) -> Operations:
        """What the factors and the gauge cost, without the entries of J."""
        return self._counted(1) - self.solve_operations

    @cached_property
    def solve_operations(self) -> Operations:
        """What each right-hand side costs beside."""
        return self._counted(2) - self._counted(1)

    def _counted(self, right_hand_sides: int) -> Operations:
        return _operations(Matrix.of(self.J), right_hand_sides, self.vanishing)

    def report(self) -> str:
        """The blocks, a line each, and what they cost."""
        lines = [str(block) for block in self.blocks]
        costs = [f"factors: {self.operations}", f"each right side: {self.solve_operations}"]
        return "\n".join([*lines, *costs])

    def _checked(self, b: Sequence[Atom], size: int, what: str) -> list[Atom]:
        if len(b) != size:
            raise ShapeError(
                f"the right-hand side has {len(b)} entries, but the matrix {size} {what}"
            )
        zero = self.J[0][0] * 0
        return [zero + entry for entry in b]


def eliminate(
    J: Sequence[Sequence[Atom]], names: Names | None = None, vanishing: Vanishing = "any"
) -> Elimination:
    """Take a matrix apart into what solves J x = b by straight-line code.

    Args:
        J: Rows of atoms, at least as many as columns.  With more, J has full column rank and the
            solutions are those of least squares.
        names: Names of the rows and of the columns, for the report and for errors.
        vanishing: How many singular values of a full block of order three may come close to zero
            at a time.  If never more than one, its adjugate, which is cheaper, does as well.

    Raises:
        ShapeError: J is empty, its rows differ in length or are fewer than its columns.
        SingularityError: J is singular whatever its entries are.

    >>> from biela.atoms import Workspace
    >>> ws = Workspace()
    >>> x, y, u, v = ws.symbols("x y u v")
    >>> dyad = eliminate([[x, y], [u, v]])
    >>> dyad.gauge
    x*v - y*u
    """
    matrix = _checked_matrix(J)
    rows, columns = matrix.shape
    row_names, column_names = names or (
        [f"row {i}" for i in range(rows)],
        [f"x{j}" for j in range(columns)],
    )
    if len(row_names) != rows or len(column_names) != columns:
        raise ShapeError(
            f"{len(row_names)} and {len(column_names)} names were given for {rows} rows and "
            f"{columns} columns"
        )
    parts = _parts(matrix, (row_names, column_names), vanishing)
    entries = tuple(tuple(row) for row in matrix.entries)
    blocks = tuple(block for _, built in parts for block in built)
    return Elimination(entries, blocks, vanishing, tuple(part for part, _ in parts))


def worth_unrolling(J: Sequence[Sequence[Atom]], limit: int = UNROLLED_LIMIT) -> bool:
    """Whether factors and one solution take at most ``limit`` operations.

    A larger group is better served by a factorisation with pivots in a loop.  A matrix that is
    singular whatever its entries are is not worth it either.

    Raises:
        ShapeError: As `eliminate`.
    """
    matrix = _checked_matrix(J)
    if matrix.shape[1] > _COLUMNS_LIMIT:
        return False
    A = opaque(matrix)
    # first in one way, and given up when it gets far too large; then, if in doubt, in all ways
    names = _numbers(A)
    try:
        quick = Builder(Strategy(), names, limit=4 * limit + len(A.zero.workspace)).solver(A)
    except (SingularityError, TooLargeError):
        return False
    if counted(A, quick, 1).total <= limit:
        return True
    return _operations(matrix, 1, "any").total <= limit


def _checked_matrix(J: Sequence[Sequence[Atom]]) -> Matrix:
    if not J or not J[0]:
        raise ShapeError("a matrix needs a row and a column at least")
    lengths = {len(row) for row in J}
    if len(lengths) > 1:
        raise ShapeError(f"the rows of a matrix are of one length, not of {sorted(lengths)}")
    if len(J) < len(J[0]):
        raise ShapeError(
            f"{len(J)} rows do not determine {len(J[0])} unknowns: add equations or drivers"
        )
    return Matrix.of(J)


def _numbers(A: Matrix) -> Names:
    """Names of rows and columns that nobody reads."""
    return [str(i) for i in range(max(A.rows) + 1)], [str(j) for j in range(max(A.columns) + 1)]


def _parts(A: Matrix, names: Names, vanishing: Vanishing) -> list[tuple[Part, list[Block]]]:
    """The blocks of the triangular form, each by the cheapest of the ways that suit it."""
    dm = dulmage_mendelsohn(A.pattern)
    if len(dm.under[1]):
        Builder(Strategy(), names).solver(A)  # raises, with the names of what is undetermined
    parts: list[tuple[Part, list[Block]]] = []
    for r, c in (dm.over, *dm.blocks):
        rows, columns = sorted(r.tolist()), sorted(c.tolist())
        if rows and not columns:
            parts.append((Part(rows, columns, Nothing(len(rows), A.zero)), []))
        elif rows:
            part = A.part(rows, columns)
            builder = Builder(cheapest(part, names, vanishing), names)
            parts.append((Part(rows, columns, builder.solver(part)), builder.blocks))
    return parts


def _operations(A: Matrix, right_hand_sides: int, vanishing: Vanishing) -> Operations:
    """What the factors, the gauge and so many solutions cost."""
    copy = opaque(A)
    parts = [part for part, _ in _parts(copy, _numbers(copy), vanishing)]
    return counted(copy, Triangular(copy.entries, parts), right_hand_sides)


def cheapest(A: Matrix, names: Names, vanishing: Vanishing) -> Strategy:
    """The strategy that costs least for a block, of those that are stable there."""
    rows, columns = A.shape
    threes: list[Three] = ["orthogonal", "orthogonal rows", "transform"]
    if vanishing == "one":
        threes = ["adjugate"]
    sides: list[Sides] = ["rows"] if rows > columns else ["rows", "columns", "both"]
    if columns > _COMPARED_ORDER:
        sides, threes = ["both"], threes[:1]
    if columns < 3 and rows == columns:
        return Strategy()
    strategies = [Strategy(side, three) for side, three in product(sides, threes)]

    def cost(strategy: Strategy) -> float:
        copy = opaque(A)
        solver = Builder(strategy, names).solver(copy)
        return counted(copy, solver, _RIGHT_HAND_SIDES).cost

    return min(strategies, key=cost)
