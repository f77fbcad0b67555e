"""What a derivation needs from symbolic software, and biela as such software (case C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import biela as bl
from biela.code.counts import arithmetic, count

#: An expression of any of the algebras, with Python's operators, or a number.
Expression = Any


class Result(Protocol):
    """A group of expressions ready to be exported: a mass matrix, a vector."""

    def operations(self) -> int:
        """Sums, products, powers and functions, each shared one once; signs are free."""
        ...

    def values(self, numbers: Mapping[str, float]) -> list[float]:
        """The values of the expressions for numbers of the symbols, by name."""
        ...


class Algebra(Protocol):
    """Symbolic software as the derivation sees it."""

    def symbol(self, name: str) -> Expression: ...

    def sin(self, x: Expression) -> Expression: ...

    def cos(self, x: Expression) -> Expression: ...

    def jacobian(
        self, expressions: Sequence[Expression], symbols: Sequence[Expression]
    ) -> list[list[Expression]]:
        """Derivatives, a row an expression; the integer 0 where they vanish identically."""
        ...

    def directional(
        self, expressions: Sequence[Expression], rates: Mapping[Expression, Expression]
    ) -> list[Expression]:
        """Sum of the derivatives by each symbol times its rate."""
        ...

    def without(
        self, expressions: Sequence[Expression], symbols: Sequence[Expression]
    ) -> list[Expression]:
        """The expressions with 0 in place of the symbols."""
        ...

    def result(self, expressions: Sequence[Expression]) -> Result: ...


class Biela:
    """Case C: hashed atoms; derivatives and substitutions walk the atoms."""

    sin = staticmethod(bl.sin)
    cos = staticmethod(bl.cos)

    def __init__(self) -> None:
        self.workspace = bl.Workspace("thesis")

    def symbol(self, name: str) -> bl.Atom:
        return self.workspace.symbol(name)

    def jacobian(
        self, expressions: Sequence[Expression], symbols: Sequence[bl.Atom]
    ) -> list[list[Expression]]:
        # forward, as the recursion of the thesis (fig. 3.8)
        rows = bl.jacobian(self._atoms(expressions), symbols, mode="forward").rows
        return [[0 if entry == 0 else entry for entry in row] for row in rows]

    def directional(
        self, expressions: Sequence[Expression], rates: Mapping[bl.Atom, Expression]
    ) -> list[Expression]:
        # as the thesis does: each derivative times its rate, not one sweep along the direction
        symbols = list(rates)
        rows = bl.jacobian(self._atoms(expressions), symbols, mode="forward").rows
        return [
            sum((e * rates[s] for e, s in zip(row, symbols, strict=True)), self.workspace.atom(0))
            for row in rows
        ]

    def without(
        self, expressions: Sequence[Expression], symbols: Sequence[bl.Atom]
    ) -> list[Expression]:
        return list(bl.substitute(self._atoms(expressions), dict.fromkeys(symbols, 0)))

    def result(self, expressions: Sequence[Expression]) -> BielaResult:
        return BielaResult(self._atoms(expressions))

    def _atoms(self, expressions: Sequence[Expression]) -> list[bl.Atom]:
        return [self.workspace.atom(e) for e in expressions]


class BielaResult:
    """Expressions on atoms, as a function of the symbols they depend on."""

    def __init__(self, atoms: list[bl.Atom]) -> None:
        self.atoms = atoms
        self.function: bl.Function | None = None
        if atoms:
            self.function = bl.Function("result", {"x": list(atoms[0].workspace)}, {"y": atoms})

    def operations(self) -> int:
        return arithmetic(self.function.schedule) if self.function else 0

    def written(self) -> int:
        """Operations of the exported listing, signs included: the rule of the thesis."""
        return count(self.function).thesis if self.function else 0

    def values(self, numbers: Mapping[str, float]) -> list[float]:
        if not self.atoms:
            return []
        symbols = self.atoms[0].workspace
        return [float(x) for x in bl.evaluate(self.atoms, {s: numbers[s.name] for s in symbols})]
