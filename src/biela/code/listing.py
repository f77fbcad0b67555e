"""A function as a list of assignments: what every text target prints.

Given a function and a notation, wanted: the text of each output entry, with the atoms that are
used several times computed before under short names, and those used once written in place (Plaza
2015, figures 3.11 and 3.12).  Texts are put together from the leaves upwards, so depth is no
matter; a text that grows too long or too deep for a compiler gets a name too.

The assignments that stay constant over a run or over a step stand at the top, where a reader sees
them and can move them out; see `biela.code.powers.Operations` for the order of the others.

Negation costs nothing in the graph but is an operation on paper.  So a value that is only ever
needed with a minus sign is written with it, and a minus sign before a difference or before a
product that holds one is absorbed: -k*(a - b) becomes k*(b - a), which is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.infix import (
    LEAF,
    PRODUCT,
    SUM,
    Fragment,
    Notation,
    enclosed,
    infix,
    is_condition,
    negated,
    write,
)
from biela.code.arrays import ExpressionArray
from biela.code.powers import Operations
from biela.code.schedule import Changes, Schedule

#: Longer or deeper texts are not written in place.  C99 promises 63 levels of parentheses and
#: lines of 4095 characters; an operation joins at most three texts, and one that takes more
#: operands than that has them named.
MAX_INLINE_LENGTH: Final = 900
MAX_INLINE_DEPTH: Final = 45
_SIGNED = frozenset({op.ADD, op.MUL, op.DIV})


@dataclass(frozen=True, slots=True)
class Statement:
    """``name = text``: an atom that is computed before the outputs."""

    node: int
    name: str
    text: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an output array; ``position`` counts row by row."""

    array: int
    position: int
    ref: int
    text: str


@dataclass(frozen=True)
class Reads:
    """What a text is made of: named atoms and symbols, each once, in order of their numbers."""

    named: list[int]
    symbols: list[int]


class Listing:
    """The assignments of a function in one notation.

    ``symbols`` gives the spelling of the symbols, ``prefix`` that of the atoms: a1, a2, …
    """

    def __init__(
        self,
        schedule: Schedule,
        outputs: Sequence[ExpressionArray],
        notation: Notation,
        symbols: Mapping[int, str],
        prefix: str = "a",
    ) -> None:
        self.schedule, self.notation = schedule, notation
        self._symbols, self._prefix = symbols, prefix
        self._operations = Operations(schedule)
        self._table = schedule.table
        self._uses = self._count_uses()
        self._must_name = self._find_bases()
        self._opposite_names = self._find_opposite_names()
        self._negative = self._find_negative()
        self._texts: dict[int, Fragment] = {}
        self._conditions: dict[int, Fragment] = {}
        self._opposites: dict[int, Fragment] = {}
        self.statements: list[Statement] = []
        self.entries: list[Entry] = []
        #: Operations written, by the rule of the thesis (`biela.code.counts`).
        self.operations = 0
        self._write_statements()
        self._write_entries(outputs)

    @property
    def is_sorted(self) -> bool:
        """Whether the statements are sorted by how often their values change."""
        return self._operations.is_sorted

    @property
    def atoms(self) -> int:
        """How many atoms have a name."""
        return len(self.statements)

    @property
    def symbols(self) -> list[int]:
        """The symbols that the outputs depend on."""
        return [a for a in self.schedule.live if self._table.ops[a] == op.SYMBOL]

    @cached_property
    def named(self) -> frozenset[int]:
        """The nodes that have a name."""
        return frozenset(s.node for s in self.statements)

    def reads(self, item: Statement | Entry) -> Reads:
        """The named atoms and the symbols in the text of an assignment."""
        ops, operands = self._table.ops, self._operations.operands
        if isinstance(item, Entry):
            stack = [abs(item.ref)]
        else:
            stack = list(operands(item.node))
        named: set[int] = set()
        symbols: set[int] = set()
        while stack:
            node = stack.pop()
            if node in self.named:
                named.add(node)
            elif node in self._operations.powers or ops[node] > op.SYMBOL:
                stack.extend(operands(node))
            elif ops[node] == op.SYMBOL:
                symbols.add(node)
        return Reads(sorted(named), sorted(symbols))

    # ------------------------------------------------------------------- what gets a name

    def _count_uses(self) -> dict[int, int]:
        uses: dict[int, int] = {}
        for node in self._operations.order:
            for operand in self._operations.operands(node):
                uses[operand] = uses.get(operand, 0) + 1
        for ref in self.schedule.outputs:
            uses[abs(ref)] = uses.get(abs(ref), 0) + 1
        return uses

    def _find_bases(self) -> set[int]:
        """Nodes that are written more than once where they are used, or beside many others."""
        operations, table = self._operations, self._table
        found = {f for node in operations.powers for f in operations.factors(node)[:2]}
        for node in operations.order:
            if node not in operations.powers and len(table.operands(node)) > 3:
                found.update(operations.operands(node))
        return found

    def _find_opposite_names(self) -> set[int]:
        """Nodes used several times, and each time as an output with a minus sign."""
        minus: dict[int, int] = {}
        for ref in self.schedule.outputs:
            if ref < 0:
                minus[-ref] = minus.get(-ref, 0) + 1
        ops = self._table.ops
        return {
            node
            for node, count in minus.items()
            if count > 1 and count == self._uses[node] and ops[node] > op.SYMBOL
        }

    def _find_negative(self) -> set[int]:
        """Nodes whose opposite may be asked for: those written in place in a negative result."""
        ops, powers = self._table.ops, self._operations.powers
        stack = [-r for r in self.schedule.outputs if r < 0 and self._uses[-r] == 1]
        stack += self._opposite_names
        found: set[int] = set()
        while stack:
            node = stack.pop()
            if node not in powers and ops[node] in _SIGNED and node not in found:
                found.add(node)
                stack += [n for n in self._operations.operands(node) if self._uses[n] == 1]
        return found

    def _is_named(self, node: int, text: Fragment) -> bool:
        return (
            self._uses[node] > 1
            or node in self._must_name
            or text.depth > MAX_INLINE_DEPTH
            or len(text.text) > MAX_INLINE_LENGTH
        )

    # ------------------------------------------------------------------------------ texts

    def _write_statements(self) -> None:
        operations, ops = self._operations, self._table.ops
        for node in operations.order:
            text = self._text(node)
            if node not in operations.powers and is_condition(ops[node]):
                self._conditions[node] = text
                text = self.notation.truth(text)
            opposite = self._opposite(node) if node in self._negative else None
            if not self._is_named(node, text):
                self._texts[node] = text
                if opposite is not None:
                    self._opposites[node] = opposite
            else:
                if node in self._opposite_names:
                    text = opposite or negated(text)
                self._assign(node, text)
            for operand in operations.operands(node):
                if self._uses[operand] == 1:  # written, and not needed again
                    for texts in (self._texts, self._conditions, self._opposites):
                        texts.pop(operand, None)

    def _assign(self, node: int, text: Fragment) -> None:
        name = f"{self._prefix}{len(self.statements) + 1}"
        changes = self._operations.changes[node]
        self.statements.append(Statement(node, name, text.text, changes))
        self.operations += text.operations
        self._conditions.pop(node, None)
        if node in self._opposite_names:
            self._opposites[node] = Fragment(name, LEAF)
        else:
            self._texts[node] = Fragment(name, LEAF)

    def _write_entries(self, outputs: Sequence[ExpressionArray]) -> None:
        for number, array in enumerate(outputs):
            for position, ref in enumerate(array.refs):
                if ref >= 0:
                    text = self._operand(ref)
                else:
                    text = self._opposites.get(-ref) or negated(self._operand(-ref))
                self.entries.append(Entry(number, position, ref, text.text))
                self.operations += text.operations

    def _operand(self, node: int) -> Fragment:
        found = self._texts.get(node)
        if found is None:  # a leaf met for the first time
            if self._table.ops[node] == op.CONSTANT:
                found = self.notation.number(self._table.values[node])
            else:
                found = Fragment(self._symbols[node], LEAF)
            self._texts[node] = found
        return found

    def _condition(self, node: int) -> Fragment:
        """A node as the condition of a case."""
        return self._conditions.get(node) or self.notation.holds(self._operand(node))

    def _text(self, node: int) -> Fragment:
        if node in self._operations.powers:
            factors = [self._operand(f) for f in self._operations.factors(node)]
            product = factors[0]
            for factor in factors[1:]:
                product = infix(product, self.notation.times, factor, PRODUCT)
            return product
        return write(self._table, node, self._operand, self.notation, self._condition)

    def _opposite(self, node: int) -> Fragment | None:
        """The opposite of a sum, product or quotient at no extra cost, if there is one."""
        table, opposites = self._table, self._opposites
        left, right = table.left[node], table.right[node]
        size = abs(right)
        a, b = opposites.get(left), opposites.get(size)
        if table.ops[node] == op.ADD:
            if right < 0:  # -(x - y) = -x + y
                if a is not None:
                    return infix(a, " + ", enclosed(self._operand(size), PRODUCT), SUM)
                x, y = self._operand(left), self._operand(size)
                return infix(enclosed(y, SUM), " - ", enclosed(x, PRODUCT), SUM)
            if a is not None:  # -(x + y) = -x - y
                return infix(a, " - ", enclosed(self._operand(size), PRODUCT), SUM)
            if b is not None:
                return infix(b, " - ", enclosed(self._operand(left), PRODUCT), SUM)
            return None
        text = self._text(node)
        if text.text[0].isdigit() and text.level == PRODUCT:
            return negated(text)  # the sign of a number is free

        def operand(ref: int) -> Fragment:
            if ref == left and a is not None:
                return a
            return b if ref == right and a is None and b is not None else self._operand(ref)

        return None if a is None and b is None else write(table, node, operand, self.notation)
