"""Expressions as infix text: the one place that knows precedence and signs.

Text is put together from the leaves upwards, in order of evaluation, so depth is no matter.  A
*fragment* is a text with the precedence of its outermost operator; a `Notation` says how a
language spells numbers, functions and cases.  The code targets, LaTeX and messages all use it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.numbers import Number, spelled
from biela.atoms.storage import Storage

SUM: Final = 1
NEGATIVE: Final = 2
PRODUCT: Final = 3
POWER: Final = 4
LEAF: Final = 5


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of text, the precedence of its outermost operator, and its parenthesis depth."""

    text: str
    level: int
    depth: int = 0
    #: Operations written in the text, by the rule of `biela.code.counts`.
    operations: int = 0


class Notation:
    """How one language writes an expression; languages override what differs."""

    times = "*"

    def number(self, value: Number) -> Fragment:
        """A number that is not negative."""
        text = spelled(value)
        return Fragment(text, PRODUCT if "/" in text else LEAF)

    def call(self, name: str, arguments: Sequence[Fragment]) -> Fragment:
        """A function call."""
        depth = 1 + max((a.depth for a in arguments), default=0)
        count = 1 + sum(a.operations for a in arguments)
        return Fragment(f"{name}({', '.join(a.text for a in arguments)})", LEAF, depth, count)

    def function(self, code: int, arguments: Sequence[Fragment]) -> Fragment:
        """A built-in function by its operation code."""
        return self.call(op.NAMES[code], arguments)

    def quotient(self, a: Fragment, b: Fragment) -> Fragment:
        """A / b."""
        return infix(enclosed(a, PRODUCT), "/", enclosed(b, POWER), PRODUCT)

    def power_int(self, base: Fragment, n: int) -> Fragment:
        """base**n, n >= 2."""
        base = enclosed(base, LEAF)
        return Fragment(f"{base.text}**{n}", POWER, base.depth, base.operations + 1)

    def power(self, base: Fragment, exponent: Fragment) -> Fragment:
        """A real power."""
        return infix(enclosed(base, LEAF), "**", enclosed(exponent, LEAF), POWER)

    def comparison(self, code: int, a: Fragment, b: Fragment) -> Fragment:
        """A < b or a <= b, as a condition."""
        sign = " < " if code == op.LESS else " <= "
        return infix(enclosed(a, SUM), sign, enclosed(b, SUM), 0)

    def truth(self, condition: Fragment) -> Fragment:
        """A condition as the number 1 or 0."""
        return condition

    def holds(self, value: Fragment) -> Fragment:
        """A number as the condition that it is not 0."""
        return value

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """The value by cases; ``condition`` is a comparison or what ``holds`` gave."""
        return self.call("select", (condition, a, b))

    def piecewise(self, index: int, x: Fragment) -> Fragment:
        """A spline or table of the table of atoms."""
        return self.call(f"piecewise{index}", (x,))

    def external(self, name: str, arguments: Sequence[Fragment]) -> Fragment:
        """An external function."""
        return self.call(name, arguments)


def enclosed(fragment: Fragment, level: int) -> Fragment:
    """The fragment, in parentheses unless it binds at least as tightly as ``level``."""
    if fragment.level >= level:
        return fragment
    return Fragment(f"({fragment.text})", LEAF, fragment.depth + 1, fragment.operations)


def negated(fragment: Fragment) -> Fragment:
    """The opposite of a fragment; a minus sign costs one operation unless on a number."""
    inner = enclosed(fragment, PRODUCT)
    cost = 0 if inner.text[0].isdigit() and inner.level != POWER else 1
    return Fragment(f"-{inner.text}", NEGATIVE, inner.depth, inner.operations + cost)


def infix(a: Fragment, sign: str, b: Fragment, level: int) -> Fragment:
    """Two fragments joined by an operator, which counts one operation."""
    text = f"{a.text}{sign}{b.text}"
    return Fragment(text, level, max(a.depth, b.depth), a.operations + b.operations + 1)


def write(
    table: Storage,
    atom: int,
    operand: Callable[[int], Fragment],
    notation: Notation,
    condition: Callable[[int], Fragment] | None = None,
) -> Fragment:
    """The text of one atom, given the texts of its operands.

    ``operand`` maps a positive reference to its fragment; signs are handled here.  ``condition``
    does the same for the condition of a case, where that is written differently.
    """

    def signed(ref: int) -> Fragment:
        return operand(ref) if ref >= 0 else negated(operand(-ref))

    code = table.ops[atom]
    if code == op.CONSTANT:
        return notation.number(table.values[atom])
    if code == op.SYMBOL:
        return Fragment(table.symbols[atom].name, LEAF)
    left, right = table.left[atom], table.right[atom]
    if code == op.ADD:
        a, b = operand(left), operand(abs(right))
        if right > 0:
            # the nested sum goes first: addition commutes exactly, and this saves parentheses
            if b.level <= NEGATIVE and a.level > NEGATIVE:
                a, b = b, a
            return infix(enclosed(a, SUM), " + ", enclosed(b, PRODUCT), SUM)
        return infix(enclosed(a, SUM), " - ", enclosed(b, PRODUCT), SUM)
    if code == op.MUL:
        a, b = operand(left), operand(right)
        if table.ops[right] == op.CONSTANT or (b.level == PRODUCT and a.level > PRODUCT):
            a, b = b, a
        return infix(enclosed(a, PRODUCT), notation.times, enclosed(b, POWER), PRODUCT)
    if code == op.DIV:
        return notation.quotient(operand(left), operand(right))
    if code == op.POWER_INT:
        return notation.power_int(operand(left), right)
    if code == op.POWER:
        return notation.power(signed(left), signed(right))
    if code in (op.LESS, op.LESS_EQUAL):
        return notation.comparison(code, signed(left), signed(right))
    if code == op.SELECT:
        yes, no = table.operand_lists[right]
        return notation.select((condition or operand)(left), signed(yes), signed(no))
    if code == op.PIECEWISE:
        return notation.piecewise(right, signed(left))
    if code == op.EXTERNAL:
        arguments = [signed(r) for r in table.operand_lists[right]]
        return notation.external(table.externals[left].name, arguments)
    return notation.function(code, [signed(r) for r in table.operands(atom)])


def is_condition(code: int) -> bool:
    """Whether an atom is a comparison, which languages write differently as a number."""
    return code == op.LESS or code == op.LESS_EQUAL
