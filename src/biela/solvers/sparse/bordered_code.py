"""Straight-line code for one bordered block form: blocks of order one to three, and no zeros.

The functions do what the loops of `bordered_routines` do where every diagonal block is regular.
Inverses are made of cofactors; a block whose determinant is small beside its rows is counted, and
the caller then goes through the loops, which exchange and demote. With a border whole rows count, as
large elements of W are lost digits of the Schur complement; without one only those of the block do,
as substitution in a triangular matrix is stable whatever stands beside the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.solvers.sparse.instructions import Instructions, load_functions

__all__ = ["BlockEntries", "compile_bordered"]

#: Blocks whose determinant is below this part of the product of the sums of their rows are left to
#: the general form.
SUSPICIOUS = 1e-5
#: Code for more entries than this is not worth its compilation; nor for a wider border.
ENTRIES = 4_000
BORDER = 32

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


class _Rows(_Code):
    """Instructions with whole rows of W and G as vectors."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        self.lanes = lanes
        self.kind = f"<{lanes} x double>"

    def row(self, index: int) -> str:
        return self(f"load {self.kind}, ptr {self.place('%S', index)}, align 8")

    def keep_row(self, value: Value, index: int) -> None:
        pointer = self.place("%S", index)
        self.lines.append(
            f"  store {self.kind} {value or 'zeroinitializer'}, ptr {pointer}, align 8"
        )

    def with_element(self, row: Value, value: str, lane: int) -> str:
        """The row with this value added in one lane."""
        if row is None:
            return self(
                f"insertelement {self.kind} zeroinitializer, double {value}, i32 {lane}"
            )
        old = self(f"extractelement {self.kind} {row}, i32 {lane}")
        return self(
            f"insertelement {self.kind} {row}, double {self.plus(old, value)}, i32 {lane}"
        )

    def scaled(self, a: str, row: str) -> str:
        one = self(f"insertelement {self.kind} poison, double {a}, i32 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        all_ = self(f"shufflevector {self.kind} {one}, {self.kind} poison, {zeros}")
        return self(f"fmul contract {self.kind} {all_}, {row}")

    def less_row(self, row: Value, a: str, other: str) -> str:
        product = self.scaled(a, other)
        if row is None:
            return self(f"fneg {self.kind} {product}")
        return self(f"fsub contract {self.kind} {row}, {product}")

    def more_row(self, row: Value, a: Value, other: Value) -> Value:
        if a is None or other is None:
            return row
        product = self.scaled(a, other)
        return product if row is None else self(f"fadd contract {self.kind} {row}, {product}")

    def sizes(self, row: str) -> str:
        return self(f"call {self.kind} @llvm.fabs.v{self.lanes}f64({self.kind} {row})")

    def larger(self, a: Value, b: str) -> str:
        if a is None:
            return b
        more = self(f"fcmp ogt {self.kind} {a}, {b}")
        return self(f"select <{self.lanes} x i1> {more}, {self.kind} {a}, {self.kind} {b}")


def _factor(form: BlockEntries, reach: list[set[int]]) -> str:
    """`i64 f(A, S)`: inverses, W, G and magnitudes; returns the number of suspicious blocks."""
    code = _Rows(form.lanes)
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
                    size
                    if accumulated is None
                    else code(f"fadd {code.kind} {accumulated}, {size}")
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
    code = _Code()
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
    code = _Rows(form.lanes)
    n, p = form.size, form.border
    z: Value = None
    for c in range(p):
        value = code.value("%y", n + c)
        code.keep(value, "%x", form.column_order[n + c])
        z = code.with_element(z, value, c) if z is None else code(
            f"insertelement {code.kind} {z}, double {value}, i32 {c}"
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
    for lo, hi in zip(form.bounds, form.bounds[1:], strict=False):
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
    orders = [b - a for a, b in zip(form.bounds, form.bounds[1:], strict=False)]
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
