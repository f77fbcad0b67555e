"""Straight-line LLVM IR with values that may be zero, and with whole rows as vectors."""

from __future__ import annotations

from biela.solvers.sparse.instructions import Instructions

__all__ = ["RowInstructions", "SparseInstructions", "Value"]

#: The name of a value, or None for zero.
Value = str | None


class SparseInstructions(Instructions):
    """Instructions with values that may be zero, None."""

    def value(self, array: str, index: int) -> str:
        """An element of an array."""
        return self.load(self.place(array, index))

    def keep(self, value: Value, array: str, index: int) -> None:
        """Store an element of an array."""
        self.store(value or "0.0", self.place(array, index))

    def product(self, a: Value, b: Value) -> Value:
        """`a b`."""
        return None if a is None or b is None else self.times(a, b)

    def less(self, value: Value, a: Value, b: Value) -> Value:
        """`value - a b`."""
        return value if a is None or b is None else self.minus_product(value, a, b)

    def more(self, value: Value, a: Value, b: Value) -> Value:
        """`value + a b`."""
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


class RowInstructions(SparseInstructions):
    """Instructions with whole rows of W and G as vectors."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        self.lanes = lanes
        self.kind = f"<{lanes} x double>"

    def row(self, index: int) -> str:
        """A row of S."""
        return self(f"load {self.kind}, ptr {self.place('%S', index)}, align 8")

    def keep_row(self, value: Value, index: int) -> None:
        """Store a row of S."""
        pointer = self.place("%S", index)
        self.lines.append(
            f"  store {self.kind} {value or 'zeroinitializer'}, ptr {pointer}, align 8"
        )

    def with_element(self, row: Value, value: str, lane: int) -> str:
        """The row with this value added in one lane."""
        if row is None:
            return self(f"insertelement {self.kind} zeroinitializer, double {value}, i32 {lane}")
        old = self(f"extractelement {self.kind} {row}, i32 {lane}")
        return self(f"insertelement {self.kind} {row}, double {self.plus(old, value)}, i32 {lane}")

    def scaled(self, a: str, row: str) -> str:
        """`a row`."""
        one = self(f"insertelement {self.kind} poison, double {a}, i32 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        all_ = self(f"shufflevector {self.kind} {one}, {self.kind} poison, {zeros}")
        return self(f"fmul contract {self.kind} {all_}, {row}")

    def less_row(self, row: Value, a: str, other: str) -> str:
        """`row - a other`."""
        product = self.scaled(a, other)
        if row is None:
            return self(f"fneg {self.kind} {product}")
        return self(f"fsub contract {self.kind} {row}, {product}")

    def more_row(self, row: Value, a: Value, other: Value) -> Value:
        """`row + a other`."""
        if a is None or other is None:
            return row
        product = self.scaled(a, other)
        return product if row is None else self(f"fadd contract {self.kind} {row}, {product}")

    def sizes(self, row: str) -> str:
        """Magnitudes of a row."""
        return self(f"call {self.kind} @llvm.fabs.v{self.lanes}f64({self.kind} {row})")

    def larger(self, a: Value, b: str) -> str:
        """Element by element the larger one."""
        if a is None:
            return b
        more = self(f"fcmp ogt {self.kind} {a}, {b}")
        return self(f"select <{self.lanes} x i1> {more}, {self.kind} {a}, {self.kind} {b}")
