"""What larger matrices are solved by: parts in order, and one step before a smaller matrix.

Each solves with the matrix and with its transpose, by the same factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from biela.atoms import Atom
from biela.equations.groups.elimination.inverses import Solver, dot
from biela.equations.groups.elimination.matrix import Entries
from biela.equations.groups.elimination.reflections import Transformation

__all__ = ["ConstantPivot", "Nothing", "Part", "TransformedRows", "Transposed", "Triangular"]

Solve = Callable[[Sequence[Atom]], list[Atom]]


@dataclass(frozen=True)
class Nothing:
    """Rows without unknowns: whatever is left of them is not met, and no force comes from them."""

    rows: int
    zero: Atom

    @property
    def determinant(self) -> Atom:
        """The number 1."""
        return self.zero + 1

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """No unknowns."""
        del b
        return []

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """Zeros."""
        del b
        return [self.zero] * self.rows


@dataclass(frozen=True)
class Part:
    """A diagonal block: which rows and columns it has, and what solves it."""

    rows: Sequence[int]
    columns: Sequence[int]
    solver: Solver


@dataclass(frozen=True)
class Triangular:
    """Block lower triangular: each part is solved once the unknowns of those before are known.

    Of parts with more rows than columns the first only is one (Dulmage & Mendelsohn 1958).  Solved
    by least squares, it gives the least squares of the whole: the other rows are met exactly.
    """

    A: Entries
    parts: Sequence[Part]

    @cached_property
    def determinant(self) -> Atom:
        """The product of those of the parts, with the sign of the two orders."""
        rows = [i for part in self.parts for i in part.rows]
        columns = [j for part in self.parts for j in part.columns]
        product = self.A[0][0] * 0 + parity(rows) * parity(columns)
        for part in self.parts:
            product = product * part.solver.determinant
        return product

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b, part after part."""
        x = [b[0]] * len(self.A[0])
        known: list[int] = []
        for part in self.parts:
            right = [self._less(b[i], self.A[i], x, known) for i in part.rows]
            for j, value in zip(part.columns, part.solver.solve(right), strict=True):
                x[j] = value
            known += part.columns
        return x

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b, the last part first."""
        x = [b[0]] * len(self.A)
        known: list[int] = []
        columns = list(zip(*self.A, strict=True))
        for part in reversed(self.parts):
            right = [self._less(b[j], columns[j], x, known) for j in part.columns]
            for i, value in zip(part.rows, part.solver.solve_transposed(right), strict=True):
                x[i] = value
            known += part.rows
        return x

    @staticmethod
    def _less(b: Atom, a: Sequence[Atom], x: Sequence[Atom], known: Sequence[int]) -> Atom:
        for k in known:
            b = b - a[k] * x[k]
        return b


@dataclass(frozen=True)
class ConstantPivot:
    """Elimination of one unknown by a row where its factor is a number c.

    What is left is a_kl - a_kj a_il / c.
    """

    A: Entries
    row: int
    column: int
    rest: Solver

    @property
    def _pivot(self) -> Atom:
        return self.A[self.row][self.column]

    @cached_property
    def determinant(self) -> Atom:
        """That of the rest, times the pivot."""
        sign = -1 if (self.row + self.column) % 2 else 1
        return sign * self._pivot * self.rest.determinant

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""
        column = _without([row[self.column] for row in self.A], self.row)
        row = _without(self.A[self.row], self.column)
        return self._solve(b, column, row, self.row, self.column, self.rest.solve)

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""
        column = _without([row[self.column] for row in self.A], self.row)
        row = _without(self.A[self.row], self.column)
        return self._solve(b, row, column, self.column, self.row, self.rest.solve_transposed)

    def _solve(
        self,
        b: Sequence[Atom],
        column: Sequence[Atom],
        row: Sequence[Atom],
        i: int,
        j: int,
        rest: Solve,
    ) -> list[Atom]:
        inverse = 1 / self._pivot
        share = b[i] * inverse
        right = [y - a * share for a, y in zip(column, _without(b, i), strict=True)]
        others = rest(right)
        x = list(others)
        x.insert(j, share - dot([a * inverse for a in row], others))
        return x


@dataclass(frozen=True)
class TransformedRows:
    """Rows turned or reflected so that one column has one entry left; its unknown comes last.

    Attributes:
        shape: Numbers of rows and columns.
        rows: The rows that are transformed; the first keeps the entry of the column.
        column: The column.
        H: The transformation.
        row: What the row of the pivot has in the other columns.
        rest: What solves the other rows and columns.
    """

    shape: tuple[int, int]
    rows: Sequence[int]
    column: int
    H: Transformation
    row: Sequence[Atom]
    rest: Solver = field(repr=False)

    @cached_property
    def determinant(self) -> Atom:
        """That of the rest, times the pivot; its size if there are more rows than columns."""
        rows, columns = self.shape
        if rows > columns:  # the sign of a reflection follows one entry, and here means nothing
            return abs(self.H.pivot) * self.rest.determinant
        sign = self.H.determinant * (-1 if (self.rows[0] + self.column) % 2 else 1)
        return sign * self.H.pivot * self.rest.determinant

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""
        turned = list(b)
        for i, value in zip(self.rows, self.H.apply([b[i] for i in self.rows]), strict=True):
            turned[i] = value
        x = self.rest.solve(_without(turned, self.rows[0]))
        x.insert(self.column, (turned[self.rows[0]] - dot(self.row, x)) * self.H.reciprocal)
        return x

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""
        first = b[self.column] * self.H.reciprocal
        others = _without(b, self.column)
        x = self.rest.solve_transposed(
            [y - a * first for a, y in zip(self.row, others, strict=True)]
        )
        x.insert(self.rows[0], first)
        back = self.H.apply_transposed([x[i] for i in self.rows])
        for i, value in zip(self.rows, back, strict=True):
            x[i] = value
        return x


@dataclass(frozen=True)
class Transposed:
    """A matrix by what solves its transpose."""

    solver: Solver

    @property
    def determinant(self) -> Atom:
        """The same."""
        return self.solver.determinant

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""
        return self.solver.solve_transposed(b)

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""
        return self.solver.solve(b)


def parity(order: Sequence[int]) -> int:
    """1 if an order of numbers has an even number of inversions, else -1."""
    inversions = sum(a > b for k, a in enumerate(order) for b in order[k + 1 :])
    return -1 if inversions % 2 else 1


def _without(values: Sequence[Atom], k: int) -> list[Atom]:
    return [*values[:k], *values[k + 1 :]]
