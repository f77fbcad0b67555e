"""Shapes of expressions: which expressions are the same up to the names of their symbols.

The distance of two points is one shape, wherever it is asked for.  A shape is written down by a
walk over the expressions in which operands that may change places are taken by what they look like,
and symbols are numbered as they come.  Equal texts mean equal expressions with other symbols; the
walk may miss that two are equal where operands look alike, which costs a kernel more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from biela.atoms import Atom
from biela.atoms import opcodes as op
from biela.atoms.table import Table

__all__ = ["Shape", "Shapes"]

#: Operations whose operands may change places.
_SYMMETRIC: Final = frozenset({op.ADD, op.MUL, op.MIN, op.MAX})


@dataclass(frozen=True)
class Shape:
    """Expressions up to the names of their symbols.

    Attributes:
        text: What they are, operation by operation.
        expressions: One example.
        symbols: Its symbols, in order.
    """

    text: tuple[Any, ...]
    expressions: tuple[Atom, ...] = field(compare=False)
    symbols: tuple[Atom, ...] = field(compare=False)


class Shapes:
    """Finds the shapes of expressions of one workspace.

    Args:
        table: The table of its atoms.
        kinds: Of every symbol what it is: "x", "h" or "p".
    """

    def __init__(self, table: Table, kinds: Mapping[int, str]) -> None:
        self.table, self.kinds = table, kinds
        self._looks: dict[int, int] = {}

    def of(self, expressions: Sequence[Atom]) -> Shape:
        """The shape of some expressions together."""
        self._look([e.ref for e in expressions])
        number: dict[int, int] = {}
        symbols: list[int] = []
        lines: list[Any] = []
        for expression in expressions:
            self._walk(abs(expression.ref), number, symbols, lines)
        outputs = tuple(
            number[abs(e.ref)] * (1 if e.ref >= 0 else -1) if e.ref else 0 for e in expressions
        )
        text = (*lines, outputs)
        return Shape(text, tuple(expressions), tuple(Atom(self.table, ref) for ref in symbols))

    def _look(self, refs: Sequence[int]) -> None:
        """What atoms look like, symbols by their kind alone."""
        for atom in self.table.missing(refs, self._looks):
            code = self.table.ops[atom]
            if code == op.SYMBOL:
                self._looks[atom] = hash((code, self.kinds[atom]))
            elif code == op.CONSTANT:
                self._looks[atom] = hash((code, self.table.values[atom]))
            else:
                operands = [self._signed(r) for r in self.table.operands(atom)]
                if code in _SYMMETRIC:
                    operands.sort()
                self._looks[atom] = hash((code, tuple(operands), self.table.payload(atom)))

    def _signed(self, ref: int) -> tuple[int, bool]:
        return self._looks[abs(ref)], ref < 0

    def _operands(self, atom: int) -> list[int]:
        operands = list(self.table.operands(atom))
        if self.table.ops[atom] in _SYMMETRIC:
            operands.sort(key=self._signed)
        return operands

    def _walk(
        self, root: int, number: dict[int, int], symbols: list[int], lines: list[Any]
    ) -> None:
        """Write down what is not yet written of an expression, operands first."""
        stack = [root]
        while stack:
            atom = stack[-1]
            if atom in number:
                stack.pop()
                continue
            operands = self._operands(atom)
            open_ones = [abs(r) for r in operands if abs(r) not in number]
            if open_ones:
                stack.extend(reversed(open_ones))
                continue
            stack.pop()
            number[atom] = len(number) + 1
            lines.append(self._line(atom, operands, number, symbols))

    def _line(
        self, atom: int, operands: Sequence[int], number: Mapping[int, int], symbols: list[int]
    ) -> tuple[Any, ...]:
        code = self.table.ops[atom]
        if code == op.SYMBOL:
            symbols.append(atom)
            return code, self.kinds[atom]
        if code == op.CONSTANT:
            return code, self.table.values[atom]
        signed = tuple(number[abs(r)] * (1 if r >= 0 else -1) for r in operands)
        payload: Any = self.table.payload(atom)
        if code == op.PIECEWISE:
            payload = self.table.piecewise[payload].key
        elif code == op.EXTERNAL:
            payload = self.table.externals[payload]
        return code, signed, payload
