"""Straight-line code for one bordered block form: blocks of order one to three, and no zeros.

The functions do what the loops of `bordered_routines` do where every diagonal block is regular.
Inverses are made of cofactors; a block whose determinant is small beside its rows is counted, and
the caller then goes through the loops, which exchange and demote. With a border whole rows count,
as large elements of W are lost digits of the Schur complement; without one only those of the block
do, as substitution in a triangular matrix is stable whatever stands beside the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from biela.solvers.sparse.instructions import load_functions
from biela.solvers.sparse.row_instructions import RowInstructions, SparseInstructions, Value

__all__ = ["BlockEntries", "compile_bordered"]

#: Blocks whose determinant is below this part of the product of the sums of their rows are left to
#: the general form.
SUSPICIOUS = 1e-5
#: Code for more entries than this is not worth its compilation; nor for a wider border.
ENTRIES = 4_000
BORDER = 32

Entries = list[list[tuple[int, int]]]


@dataclass(frozen=True)
class BlockEntries:
    """A bordered block form as lists.

    Attributes:
        bounds: where each block begins, and the end of the last.
        border: number of columns at the right edge.
        rows: for each row, the band last, its entries (column, number of the value).
        row_order, column_order: rows and columns of the matrix by place.
        inverses: where the inverse of each block is kept.
        W, G, tau: where these are kept.
        wide: length of a row of W and G, a multiple of four.
    """

    bounds: Sequence[int]
    border: int
    rows: Entries
    row_order: Sequence[int]
    column_order: Sequence[int]
    inverses: Sequence[int]
    W: int
    G: int
    tau: int
    wide: int

    @property
    def size(self) -> int:
        """Unknowns of the blocks."""
        return self.bounds[-1]

    @property
    def lanes(self) -> int:
        """Length of the vectors that hold a row of the border."""
        return max(4, -(-self.border // 4) * 4)


def _factor(form: BlockEntries, reach: list[set[int]]) -> str:
    """`i64 f(A, S)`: inverses, W, G and magnitudes; returns the number of suspicious blocks."""
    code = RowInstructions(form.lanes)
    n, p = form.size, form.border
    total = "0"
    for k, start in enumerate(form.inverses):
        lo, hi = form.bounds[k], form.bounds[k + 1]
        order = hi - lo
        D: list[list[Value]] = [[None] * order for _ in range(order)]
        v: list[Value] = [None] * order
        scale: Value = None
        for i in range(order):
            size: Value = None
            for column, source in form.rows[lo + i]:
                if column < lo and not p:
                    continue
                value = code.value("%A", source)
                size = code.plus(size, code.magnitude(value))
                if column >= n:
                    v[i] = code.with_element(v[i], value, column - n)
                elif column >= lo:
                    D[i][column - lo] = code.plus(D[i][column - lo], value)
                elif reach[column]:
                    v[i] = code.less_row(v[i], value, code.row(form.W + column * form.wide))
            scale = size if scale is None else code.product(scale, size)
        det, adjugate = code.cofactors(D)
        small = code.below(
            code.magnitude(det or "0.0"), f"{SUSPICIOUS:.17e}", scale or "0.0", False
        )
        # a nan is suspicious as well, and so is a row without entries
        odd = code(f"fcmp ueq double {det or '0.0'}, 0.0")
        either = code(f"or i1 {small}, {odd}")
        total = code(f"add i64 {total}, {code(f'zext i1 {either} to i64')}")
        reciprocal = code(f"fdiv double 1.0, {det or '0.0'}")
        for j in range(order):
            w: Value = None
            for i in range(order):
                element = code.product(adjugate[j][i], reciprocal)
                code.keep(element, "%S", start + j * order + i)
                w = code.more_row(w, element, v[i])
            if reach[lo + j]:
                code.keep_row(w, form.W + (lo + j) * form.wide)
    sizes: Value = None
    for i, row in enumerate(form.rows[n:] if p else []):
        g: Value = None
        accumulated: Value = None
        for column, source in row:
            value = code.value("%A", source)
            if column >= n:
                g = code.with_element(g, value, column - n)
                size = code.magnitude(value)
                accumulated = code.with_element(accumulated, size, column - n)
            elif reach[column]:
                term = code.scaled(value, code.row(form.W + column * form.wide))
                g = (
                    code(f"fneg {code.kind} {term}")
                    if g is None
                    else code(f"fsub {code.kind} {g}, {term}")
                )
                size = code.sizes(term)
                accumulated = (
                    size if accumulated is None else code(f"fadd {code.kind} {accumulated}, {size}")
                )
        code.keep_row(g, form.G + i * form.wide)
        if accumulated is not None:
            sizes = code.larger(sizes, accumulated)
    if p:
        code.keep_row(sizes, form.tau)
    return code.text("i64 @factor(ptr noalias %A, ptr noalias %S)", f"i64 {total}")


def _forward(form: BlockEntries) -> str:
    """`i64 f(A, S, b, y)`: T⁻¹ b_T, then b_A - C T⁻¹ b_T.

    With no border and no band this is the solution, and goes to the places of the matrix.
    """
    code = SparseInstructions()
    n = form.size
    alone = form.border == 0 and len(form.rows) == n
    y: list[str] = []
    for k, start in enumerate(form.inverses):
        lo, hi = form.bounds[k], form.bounds[k + 1]
        order = hi - lo
        rest: list[str] = []
        for i in range(lo, hi):
            value = code.value("%b", form.row_order[i])
            for column, source in form.rows[i]:
                if column < lo:
                    value = code.minus_product(value, code.value("%A", source), y[column])
            rest.append(value)
        for j in range(order):
            new: Value = None
            for i in range(order):
                new = code.plus_product(new, code.value("%S", start + j * order + i), rest[i])
            assert new is not None
            y.append(new)
            code.keep(new, "%y", form.column_order[lo + j] if alone else lo + j)
    for i, row in enumerate(form.rows[n:]):
        value = code.value("%b", form.row_order[n + i])
        for column, source in row:
            if column < n:
                value = code.minus_product(value, code.value("%A", source), y[column])
        code.keep(value, "%y", n + i)
    arrays = ", ".join(f"ptr noalias %{name}" for name in "ASby")
    return code.text(f"i64 @forward({arrays})", "i64 0")


def _combine(form: BlockEntries, reach: list[set[int]]) -> str:
    """`i64 f(A, S, y, x)`: x_T = y_T - W x_A, and x_A, in the order of the matrix."""
    code = RowInstructions(form.lanes)
    n, p = form.size, form.border
    z: Value = None
    for c in range(p):
        value = code.value("%y", n + c)
        code.keep(value, "%x", form.column_order[n + c])
        z = (
            code.with_element(z, value, c)
            if z is None
            else code(f"insertelement {code.kind} {z}, double {value}, i32 {c}")
        )
    add = f"call reassoc double @llvm.vector.reduce.fadd.v{form.lanes}f64(double 0.0, {code.kind} "
    for j in range(n):
        value = code.value("%y", j)
        if reach[j] and len(reach[j]) <= 2:
            for c in reach[j]:
                w = code.value("%S", form.W + j * form.wide + c)
                value = code.minus_product(value, w, code.value("%y", n + c))
        elif reach[j]:
            product = code(f"fmul {code.kind} {code.row(form.W + j * form.wide)}, {z}")
            value = code.minus(value, code(f"{add}{product})"))
        code.keep(value, "%x", form.column_order[j])
    arrays = ", ".join(f"ptr noalias %{name}" for name in "ASyx")
    return code.text(f"i64 @combine({arrays})", "i64 0")


def _reach(form: BlockEntries) -> list[set[int]]:
    """Which columns of each row of W = T⁻¹ B may be different from zero."""
    n = form.size
    reach: list[set[int]] = []
    for lo, hi in pairwise(form.bounds):
        found: set[int] = set()
        for i in range(lo, hi):
            for column, _ in form.rows[i]:
                if column >= n:
                    found.add(column - n)
                elif column < lo:
                    found |= reach[column]
        reach += [found] * (hi - lo)
    return reach


def compile_bordered(form: BlockEntries) -> tuple[object, tuple[int, ...]]:
    """Compile the three functions; no addresses for blocks too large or code too long."""
    orders = [b - a for a, b in pairwise(form.bounds)]
    entries = sum(len(row) for row in form.rows)
    if not orders or max(orders) > 3 or entries > ENTRIES or form.border > BORDER:
        return None, ()
    reach = _reach(form)
    functions = {
        "factor": _factor(form, reach),
        "forward": _forward(form),
        "combine": _combine(form, reach),
    }
    vector = f"<{form.lanes} x double>"
    return load_functions(
        functions,
        [
            f"declare {vector} @llvm.fabs.v{form.lanes}f64({vector})",
            f"declare double @llvm.vector.reduce.fadd.v{form.lanes}f64(double, {vector})",
        ],
    )
