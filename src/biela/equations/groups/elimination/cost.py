"""What straight-line code costs, counted on a copy of the matrix with a symbol for each entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom, Workspace
from biela.atoms import opcodes as op
from biela.equations.groups.elimination.inverses import Solver
from biela.equations.groups.elimination.matrix import Matrix

__all__ = ["Operations", "counted", "opaque"]


#: Time of a quotient, a root and of what is neither that nor a sum or product, in products.
_QUOTIENT, _ROOT, _OTHER = 8.0, 15.0, 2.0


@dataclass(frozen=True)
class Operations:
    """Numbers of operations; signs are free.

    Attributes:
        sums: Sums and differences.
        products: Products and squares.
        quotients: Quotients.
        roots: Square roots.
        others: Comparisons, choices and maxima.
        fused: Sums that take in a product used nowhere else, so that the two are one instruction.
    """

    sums: int = 0
    products: int = 0
    quotients: int = 0
    roots: int = 0
    others: int = 0
    fused: int = 0

    @property
    def total(self) -> int:
        """All of them; a sum fused with a product is two."""
        return self.sums + self.products + self.quotients + self.roots + self.others

    @property
    def cost(self) -> float:
        """The time they take in lanes, in products.

        Weights from kernels of many independent operations in lanes of eight doubles (AVX-512):
        0.27 ns a product, a sum or the two fused, 2.1 ns a quotient, 4.3 ns a root.
        """
        plain = self.sums + self.products - self.fused
        return plain + _QUOTIENT * self.quotients + _ROOT * self.roots + _OTHER * self.others

    def __sub__(self, other: Operations) -> Operations:
        """What is here and not there."""
        return Operations(
            self.sums - other.sums,
            self.products - other.products,
            self.quotients - other.quotients,
            self.roots - other.roots,
            self.others - other.others,
            self.fused - other.fused,
        )

    def __str__(self) -> str:
        """Return the numbers in a line."""
        return (
            f"{self.sums} sums, {self.products} products, {self.quotients} quotients, "
            f"{self.roots} roots, {self.others} others"
        )


def opaque(A: Matrix) -> Matrix:
    """The same matrix in a workspace of its own, each entry that is no number a symbol."""
    ws = Workspace()
    zero = ws.atom(0)
    known: dict[int, Atom] = {}

    def copy(a: Atom) -> Atom:
        if a.value is not None:
            return zero + a.value
        size = abs(a.ref)
        if size not in known:
            known[size] = ws.symbol(f"a{size}")
        return known[size] if a.ref > 0 else -known[size]

    entries = [[copy(a) for a in row] for row in A.entries]
    return Matrix(entries, A.bounds, A.rows, A.columns, A.turned)


def counted(A: Matrix, solver: Solver, right_hand_sides: int) -> Operations:
    """What the determinant and so many solutions compute, of a matrix made by `opaque`."""
    ws = A.zero.workspace
    results = [solver.determinant]
    for k in range(right_hand_sides):
        results += solver.solve([ws.symbol(f"b{k}_{i}") for i in range(A.shape[0])])
    return operations(results)


def operations(results: Sequence[Atom]) -> Operations:
    """What some expressions compute together."""
    table = results[0].table
    live = table.live(tuple(a.ref for a in results))
    counts = Counter(table.ops[a] for a in live)
    uses = Counter(abs(r) for a in live for r in table.operands(a))
    uses.update(abs(a.ref) for a in results)

    def fuses(atom: int) -> bool:
        return table.ops[atom] == op.ADD and any(
            table.ops[abs(r)] == op.MUL and uses[abs(r)] == 1 for r in table.operands(atom)
        )

    sums, quotients, roots = counts[op.ADD], counts[op.DIV], counts[op.SQRT]
    products = counts[op.MUL] + counts[op.POWER_INT]
    leaves = counts[op.CONSTANT] + counts[op.SYMBOL]
    others = len(live) - leaves - sums - products - quotients - roots
    return Operations(sums, products, quotients, roots, others, sum(map(fuses, live)))
