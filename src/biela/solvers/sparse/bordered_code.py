"""Straight-line code for one bordered block form: blocks of order one to three, and no zeros.

The functions do what the loops of `bordered_routines` do where every diagonal block is regular.
Inverses are made of cofactors; a block whose determinant is small beside the rows it comes from is
counted, and the caller then goes through the loops, which exchange and demote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.solvers.sparse.instructions import Instructions, load_functions

__all__ = ["BlockEntries", "compile_bordered"]

#: Blocks whose determinant is below this part of the product of the sums of their rows are left to
#: the general form.
SUSPICIOUS = 1e-5
#: Longer code is not worth its compilation.
LINES = 30_000

Value = str | None
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
        W, G, tau: where these are kept, and the length of a row of W and G.
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


class _Code(Instructions):
    """Instructions with values that may be zero, None."""

    def value(self, array: str, index: int) -> str:
        return self.load(self.place(array, index))

    def keep(self, value: Value, array: str, index: int) -> None:
        self.store(value or "0.0", self.place(array, index))

    def product(self, a: Value, b: Value) -> Value:
        return None if a is None or b is None else self.times(a, b)

    def less(self, value: Value, a: Value, b: Value) -> Value:
        return value if a is None or b is None else self.minus_product(value, a, b)

    def more(self, value: Value, a: Value, b: Value) -> Value:
        return value if a is None or b is None else self.plus_product(value, a, b)

    def cofactors(self, D: list[list[Value]]) -> tuple[Value, list[list[Value]]]:
        """Determinant and adjugate of a block of order one to three."""
        k = len(D)
        if k == 1:
            return D[0][0], [["1.0"]]
        if k == 2:
            det = self.less(self.product(D[0][0], D[1][1]), D[0][1], D[1][0])
            minus = [[None if v is None else self(f"fneg double {v}") for v in row] for row in D]
            return det, [[D[1][1], minus[0][1]], [minus[1][0], D[0][0]]]
        adjugate: list[list[Value]] = [[None] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(3):
                a, b = (i + 1) % 3, (i + 2) % 3
                c, d = (j + 1) % 3, (j + 2) % 3
                adjugate[j][i] = self.less(self.product(D[a][c], D[b][d]), D[a][d], D[b][c])
        det = None
        for j in range(3):
            det = self.more(det, D[0][j], adjugate[j][0])
        return det, adjugate


def _factor(form: BlockEntries) -> str | None:
    """`i64 f(A, S)`: inverses, W, G and magnitudes; returns the number of suspicious blocks."""
    code = _Code()
    n, p = form.size, form.border
    W: dict[tuple[int, int], str] = {}
    total = "0"
    for k, start in enumerate(form.inverses):
        lo, hi = form.bounds[k], form.bounds[k + 1]
        order = hi - lo
        D: list[list[Value]] = [[None] * order for _ in range(order)]
        v: list[dict[int, Value]] = [{} for _ in range(order)]
        scale: Value = None
        for i in range(order):
            size: Value = None
            for column, source in form.rows[lo + i]:
                value = code.value("%A", source)
                size = code.plus(size, code.magnitude(value))
                if column >= n:
                    v[i][column - n] = code.plus(v[i].get(column - n), value)
                elif column >= lo:
                    D[i][column - lo] = code.plus(D[i][column - lo], value)
                else:
                    for c in range(p):
                        if (column, c) in W:
                            v[i][c] = code.less(v[i].get(c), value, W[column, c])
            scale = size if scale is None else code.product(scale, size)
        det, adjugate = code.cofactors(D)
        small = code.below(code.magnitude(det or "0.0"), f"{SUSPICIOUS:.17e}", scale or "0.0", False)
        # a nan is suspicious as well, and so is a row without entries
        odd = code(f"fcmp ueq double {det or '0.0'}, 0.0")
        either = code(f"or i1 {small}, {odd}")
        total = code(f"add i64 {total}, {code(f'zext i1 {either} to i64')}")
        reciprocal = code(f"fdiv double 1.0, {det or '0.0'}")
        inverse: list[list[Value]] = []
        for i in range(order):
            inverse.append([code.product(a, reciprocal) for a in adjugate[i]])
            for j in range(order):
                code.keep(inverse[i][j], "%S", start + i * order + j)
        for j in range(order):
            for c in range(p):
                w: Value = None
                for i in range(order):
                    w = code.more(w, inverse[j][i], v[i].get(c))
                if w is not None:
                    W[lo + j, c] = w
                    code.keep(w, "%S", form.W + (lo + j) * form.wide + c)
        if len(code.lines) > LINES:
            return None
    sizes: list[Value] = [None] * p
    for i, row in enumerate(form.rows[n:]):
        for c in range(p):
            g: Value = None
            size = None
            for column, source in row:
                if column == n + c:
                    value = code.value("%A", source)
                    g, size = code.plus(g, value), code.plus(size, code.magnitude(value))
                elif (column, c) in W:
                    term = code.times(code.value("%A", source), W[column, c])
                    g, size = code.minus(g, term), code.plus(size, code.magnitude(term))
            code.keep(g, "%S", form.G + i * form.wide + c)
            if size is not None:
                old = sizes[c]
                sizes[c] = (
                    size
                    if old is None
                    else code.choose(code(f"fcmp ogt double {size}, {old}"), size, old)
                )
        if len(code.lines) > LINES:
            return None
    for c in range(p):
        code.keep(sizes[c], "%S", form.tau + c)
    return code.text("i64 @factor(ptr noalias %A, ptr noalias %S)", f"i64 {total}")


def _forward(form: BlockEntries) -> str:
    """`i64 f(A, S, b, y)`: T⁻¹ b_T, then b_A - C T⁻¹ b_T."""
    code = _Code()
    n = form.size
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
            code.keep(new, "%y", lo + j)
    for i, row in enumerate(form.rows[n:]):
        value = code.value("%b", form.row_order[n + i])
        for column, source in row:
            if column < n:
                value = code.minus_product(value, code.value("%A", source), y[column])
        code.keep(value, "%y", n + i)
    arrays = ", ".join(f"ptr noalias %{name}" for name in "ASby")
    return code.text(f"i64 @forward({arrays})", "i64 0")


def _combine(form: BlockEntries, there: set[tuple[int, int]]) -> str:
    """`i64 f(A, S, y, x)`: x_T = y_T - W x_A, and x_A, in the order of the matrix."""
    code = _Code()
    n = form.size
    z = [code.value("%y", n + c) for c in range(form.border)]
    for j in range(n):
        value = code.value("%y", j)
        for c in range(form.border):
            if (j, c) in there:
                w = code.value("%S", form.W + j * form.wide + c)
                value = code.minus_product(value, w, z[c])
        code.keep(value, "%x", form.column_order[j])
    for c in range(form.border):
        code.keep(z[c], "%x", form.column_order[n + c])
    arrays = ", ".join(f"ptr noalias %{name}" for name in "ASyx")
    return code.text(f"i64 @combine({arrays})", "i64 0")


def _pattern_of_W(form: BlockEntries) -> set[tuple[int, int]]:
    """Which entries of W = T⁻¹ B may be different from zero."""
    n = form.size
    reach: list[set[int]] = []
    for lo, hi in zip(form.bounds, form.bounds[1:], strict=False):
        found: set[int] = set()
        for i in range(lo, hi):
            for column, _ in form.rows[i]:
                if column >= n:
                    found.add(column - n)
                elif column < lo:
                    found |= reach[column]
        reach += [found] * (hi - lo)
    return {(j, c) for j, found in enumerate(reach) for c in found}


def compile_bordered(form: BlockEntries) -> tuple[object, tuple[int, ...]]:
    """Compile the three functions; no addresses for blocks too large or code too long."""
    orders = [b - a for a, b in zip(form.bounds, form.bounds[1:], strict=False)]
    there = _pattern_of_W(form)
    work = sum(len(row) for row in form.rows) + len(there)
    if not orders or max(orders) > 3 or work > LINES // 2:
        return None, ()
    factor = _factor(form)
    if factor is None:
        return None, ()
    functions = {"factor": factor, "forward": _forward(form), "combine": _combine(form, there)}
    return load_functions(functions)
