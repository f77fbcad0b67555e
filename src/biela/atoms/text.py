"""Expressions as plain text, fully expanded.

Expanding undoes the sharing, so the text can be exponentially longer than the table of atoms; its
length is therefore computed before it is written.
"""

from __future__ import annotations

from collections.abc import Callable

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.infix import LEAF, Fragment, Notation, negated, write
from biela.atoms.storage import Storage
from biela.errors import ExpressionTooLargeError

#: What ``expanded_text`` writes at most unless told otherwise.
DEFAULT_LIMIT = 20_000
#: Sizes are counted up to here; the true ones can have millions of digits.
_MANY = 10**18


class _Plain(Notation):
    """The notation that `biela.atoms.parse` reads back."""

    def __init__(self, table: Storage) -> None:
        self._table = table

    def piecewise(self, index: int, x: Fragment) -> Fragment:
        return self.call(self._table.piecewise[index].name, (x,))


def expanded_size(atom: Atom) -> int:
    """How many leaves and operations the expanded expression has; 10^18 stands for more."""
    return _sizes(atom.table, atom.ref)[abs(atom.ref)]


def expanded_text(atom: Atom, limit: int = DEFAULT_LIMIT) -> str:
    """The expression written out in full, as ``unatomize`` in the thesis.

    Raises:
        ExpressionTooLargeError: If it has more than ``limit`` leaves and operations.
    """
    size = expanded_size(atom)
    if size > limit:
        raise ExpressionTooLargeError(
            f"the expanded expression has {_readable(size)} leaves and operations, more than the "
            f"limit of {limit}: print it as a Function, which keeps the shared atoms"
        )
    return _expand(atom.table, atom.ref)


def short_text(table: Storage, ref: int, limit: int = 200) -> str:
    """The expanded text, or a summary where it would be long."""
    if ref != 0 and abs(ref) >= len(table):
        return f"<no atom {ref}>"
    # the table of a large derivation is not walked for the sake of a message
    seen, stack = 0, [abs(ref)]
    while stack and seen <= limit:
        seen += 1
        stack.extend(abs(r) for r in table.operands(stack.pop()))
    if seen > limit:
        sign = "-" if ref < 0 else ""
        return f"{sign}<{op.NAMES[table.ops[abs(ref)]]} atom {abs(ref)} of {table.name}>"
    return _expand(table, ref)


def _expand(table: Storage, ref: int) -> str:
    notation = _Plain(table)
    live = table.live([ref])
    readers = dict.fromkeys(live, 0)
    for atom in live:
        for operand in table.operands(atom):
            readers[abs(operand)] += 1
    texts: dict[int, Fragment] = {}
    for atom in live:
        texts[atom] = write(table, atom, texts.__getitem__, notation)
        # a text is dropped with its last reader: together they may be far longer than the result
        for operand in table.operands(atom):
            readers[abs(operand)] -= 1
            if not readers[abs(operand)]:
                del texts[abs(operand)]
    result = texts[abs(ref)]
    return (result if ref >= 0 else negated(result)).text


def shared_text(
    atom: Atom, name: Callable[[int], str], longest: int = 1000
) -> tuple[list[tuple[str, str]], str]:
    """The expression as steps, each a name and its text, and the text of the whole.

    A step is what several others use, so that the length is that of the table of atoms; and what
    would be longer than ``longest``.  ``name`` gives the names of the steps, from 1 on.
    """
    table, notation = atom.table, _Plain(atom.table)
    live = table.live([atom.ref])
    readers = dict.fromkeys(live, 0)
    for each in live:
        for operand in table.operands(each):
            readers[abs(operand)] += 1
    steps: list[tuple[str, str]] = []
    texts: dict[int, Fragment] = {}
    for each in live:
        found = write(table, each, texts.__getitem__, notation)
        leaf = table.ops[each] in (op.CONSTANT, op.SYMBOL)
        if not leaf and (readers[each] > 1 or len(found.text) > longest):
            steps.append((name(len(steps) + 1), found.text))
            found = Fragment(steps[-1][0], LEAF)
        texts[each] = found
    result = texts[abs(atom.ref)]
    return steps, (result if atom.ref >= 0 else negated(result)).text


def _sizes(table: Storage, ref: int) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for atom in table.live([ref]):
        sizes[atom] = min(_MANY, 1 + sum(sizes[abs(r)] for r in table.operands(atom)))
    return sizes


def _readable(size: int) -> str:
    if size >= _MANY:
        return "more than 10^18"
    return str(size) if size < 10**9 else f"about 10^{len(str(size)) - 1}"
