"""Orderings side by side: the structure they give, and what a solution would cost with each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers
from biela.graph.cost import FactorCost, bandwidth, profile, symbolic_lu
from biela.graph.ordering.band import king, reverse_cuthill_mckee, sloan
from biela.graph.ordering.block_form import BlockForm
from biela.graph.ordering.block_values import BlockValues
from biela.graph.ordering.degree import minimum_degree
from biela.graph.ordering.dissection import nested_dissection
from biela.graph.ordering.markowitz import markowitz
from biela.graph.ordering.matching import transversal
from biela.graph.ordering.p3 import p3, p4
from biela.graph.ordering.p5 import p5
from biela.graph.ordering.rb3 import rb3
from biela.graph.ordering.triangular import block_triangular
from biela.graph.pattern import Pattern

__all__ = ["OrderingReport", "block_solve_cost", "compare_orderings", "ordering_report"]


@dataclass(frozen=True, eq=False)
class OrderingReport:
    """What an ordering makes of a pattern.

    Attributes:
        name: of the ordering.
        form: the order, with its blocks.
        pattern: as it was before.
        by_blocks: whether it is solved block by block; otherwise by sparse factors.
        border: number of columns at the right edge.
        band: number of rows at the bottom.
        orders: how many diagonal blocks there are of each order.
        density: entries as a part of all places.
        bandwidth: greatest distance of an entry from the diagonal.
        profile: sum over the rows of the distance from the first entry to the diagonal.
        factors: fill and operations of LU in this order; None if the factors are enormous, or if
            there are more columns than rows.
        block_operations: multiplications of a solution by blocks, see `block_solve_cost`.
        seconds: that the ordering took.
        regularity: the least singular value of a diagonal block with scaled rows, over all
            positions whose numbers are known; None without numbers, or if there are no blocks.
    """

    name: str
    form: BlockForm
    pattern: Pattern
    by_blocks: bool
    border: int
    band: int
    orders: dict[int, int]
    density: float
    bandwidth: int
    profile: int
    factors: FactorCost | None
    block_operations: int
    seconds: float
    regularity: float | None = None

    @property
    def nnz(self) -> int:
        """Entries of the pattern."""
        return self.pattern.nnz

    @property
    def fill(self) -> int | None:
        """Entries of the factors L and U that the pattern has not."""
        return None if self.factors is None else self.factors.fill

    @property
    def predicted(self) -> float:
        """Multiplications of one factorisation and solution, the way the ordering is meant for."""
        if self.by_blocks:
            return self.block_operations
        if self.factors is None:
            return np.inf
        return self.factors.multiplications + self.factors.storage


def block_solve_cost(pattern: Pattern, form: BlockForm, right_hand_sides: int = 1) -> int:
    """Multiplications to factor and solve a bordered block lower triangular matrix.

    With blocks of order k, a border of p columns, a band of b rows and r right-hand sides:

        Σ k³/3 + (r + p)(Σ k² + entries of T outside of its blocks) + p · entries of C
        + p³/3 + p² (b - p) + p² r

    where the rows by which the band exceeds the border, redundant ones, are taken along.
    """
    k = np.array([len(c) for _, c in form.blocks], dtype=np.float64)
    p, b, r = len(form.border), len(form.band), right_hand_sides
    row_block = np.full(pattern.rows, len(k), dtype=np.int64)
    column_block = np.full(pattern.columns, len(k), dtype=np.int64)
    for number, (rows, columns) in enumerate(form.blocks):
        row_block[list(rows)] = number
        column_block[list(columns)] = number
    rows_of, columns_of = row_block[pattern.entry_rows], column_block[pattern.entries]
    inner = columns_of < len(k)
    coupling = np.count_nonzero(inner & (rows_of < len(k)) & (rows_of != columns_of))
    below = np.count_nonzero(inner & (rows_of == len(k)))
    total = (k**3).sum() / 3 + (r + p) * ((k**2).sum() + coupling) + p * below
    return int(total + p**3 / 3 + p**2 * max(b - p, 0) + p**2 * r)


def ordering_report(
    name: str,
    pattern: Pattern,
    form: BlockForm,
    *,
    by_blocks: bool = True,
    seconds: float = 0.0,
    values: BlockValues | None = None,
) -> OrderingReport:
    """The metrics of one ordering."""
    regularity = None
    if values is not None and by_blocks and form.blocks:
        regularity = min(values.least_singular_value(r, c) for r, c in form.blocks)
    new = form.permuted(pattern)
    try:
        factors = symbolic_lu(new)
    except ShapeError:
        factors = None
    return OrderingReport(
        name=name,
        form=form,
        pattern=pattern,
        by_blocks=by_blocks,
        border=len(form.border),
        band=len(form.band),
        orders=form.orders,
        density=pattern.density,
        bandwidth=bandwidth(new),
        profile=profile(new),
        factors=factors,
        block_operations=block_solve_cost(pattern, form),
        seconds=seconds,
        regularity=regularity,
    )


def compare_orderings(
    pattern: Pattern,
    *,
    relative: Iterable[int] = (),
    closures: Iterable[int] = (),
    constant: Iterable[int] = (),
    values: BlockValues | None = None,
) -> tuple[OrderingReport, ...]:
    """All orderings of a pattern, with the structure and the predicted cost of each.

    The symmetric ones order the columns of A + Aᵀ, with the rows of a transversal on the diagonal.
    With ``relative`` columns or ``closures`` RB3 is also run with these hints, and with ``values``
    also by numbers.

    >>> reports = compare_orderings(Pattern.of_rows([{0, 1}, {0}, {0, 2}], 3))
    >>> next(r.orders for r in reports if r.name == "RB3")
    {1: 3}
    """
    constant = list(constant)
    runs: list[tuple[str, bool, Callable[[], BlockForm]]] = [
        ("natural", False, lambda: _along(pattern, lambda graph: np.arange(graph.size))),
        ("minimum degree", False, lambda: _along(pattern, minimum_degree)),
        ("minimum degree of AᵀA", False, lambda: _by_columns(pattern)),
        ("Markowitz", False, lambda: markowitz(pattern)),
        ("reverse Cuthill-McKee", False, lambda: _along(pattern, reverse_cuthill_mckee)),
        ("King", False, lambda: _along(pattern, king)),
        ("Sloan", False, lambda: _along(pattern, sloan)),
        ("nested dissection", False, lambda: _along(pattern, nested_dissection)),
        ("P3", False, lambda: p3(pattern)),
        ("P4", False, lambda: p4(pattern)),
        ("block triangular", True, lambda: block_triangular(pattern)),
        ("P5", True, lambda: p5(pattern)),
        ("RB3", True, lambda: rb3(pattern, constant=constant)),
        ("RB3, look-ahead", True, lambda: rb3(pattern, constant=constant, look_ahead=True)),
        (
            "RB3 in triangular blocks",
            True,
            lambda: rb3(pattern, constant=constant, look_ahead=True, triangular_first=True),
        ),
    ]
    columns, rows = list(relative), list(closures)
    if columns:
        runs.append(("RB3, REL", True, lambda: rb3(pattern, constant=constant, relative=columns)))
    if columns and rows:
        runs.append(("RB3, REL + CLO", True, lambda: rb3(pattern, relative=columns, closures=rows)))
    if values is not None:
        runs.append(("RB3 by values", True, lambda: rb3(pattern, constant=constant, values=values)))
    reports = []
    for name, by_blocks, run in runs:
        start = time.perf_counter()
        form = run()
        seconds = time.perf_counter() - start
        reports.append(
            ordering_report(
                name, pattern, form, by_blocks=by_blocks, seconds=seconds, values=values
            )
        )
    return tuple(reports)


def _along(pattern: Pattern, order: Callable[[Adjacency], Integers]) -> BlockForm:
    """A symmetric order of what a transversal matches; one block, the rest is border and band."""
    row_of = transversal(pattern)
    matched = np.flatnonzero(row_of >= 0)
    square = pattern.permuted(row_of[matched], matched)
    columns = matched[order(square.symmetric_graph())]
    return _one_block(pattern, row_of, columns)


def _by_columns(pattern: Pattern) -> BlockForm:
    """An order of the columns that bounds the fill whatever rows are chosen as pivots."""
    row_of = transversal(pattern)
    order = minimum_degree(pattern.column_graph())
    return _one_block(pattern, row_of, order[row_of[order] >= 0])


def _one_block(pattern: Pattern, row_of: Integers, columns: Integers) -> BlockForm:
    rows = row_of[columns]
    band = np.setdiff1d(np.arange(pattern.rows), rows)
    border = np.flatnonzero(row_of < 0)
    blocks = [(rows.tolist(), columns.tolist())] if len(columns) else []
    return BlockForm.of(blocks, border, band)
