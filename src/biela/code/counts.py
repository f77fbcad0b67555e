"""How much a function computes, by two rules.

*Arithmetic* counts every operation the machine carries out once per atom: each sum, product and
quotient, each multiplication of an integer power, each function.  Signs are free: they are part of
the sum or product that uses them.

*Thesis* counts what is written in a listing after atoms used once have been inlined: each binary
``+ - * /``, each minus sign before something that is not a number, each function call; assignments
are free.  It is the rule behind the published tables (Plaza 2015, ch. 6).
"""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biela.atoms import opcodes as op
from biela.code.schedule import Schedule
from biela.errors import ParseError

if TYPE_CHECKING:
    from biela.code.function import Function


@dataclass(frozen=True)
class Count:
    """Operations of a function or listing by both rules, and its auxiliary atoms."""

    thesis: int
    arithmetic: int
    atoms: int

    def __str__(self) -> str:
        return (
            f"{self.arithmetic} arithmetic operations ({self.thesis} written, {self.atoms} atoms)"
        )


def count(function: Function) -> Count:
    """What a function computes; the text that is counted is its C."""
    from biela.code.targets.c99 import draft

    listing = draft(function).listing
    return Count(listing.operations, arithmetic(function.schedule), listing.atoms)


def arithmetic(schedule: Schedule) -> int:
    """All arithmetic nodes of a function; integer powers by repeated squaring, each power once."""
    table = schedule.table
    powers: set[tuple[int, int]] = set()
    others = 0
    for atom in schedule.operations:
        if table.ops[atom] == op.POWER_INT:
            powers |= {(table.left[atom], m) for m in _needed_powers(table.right[atom])}
        else:
            others += 1
    return others + len(powers)


def _needed_powers(n: int) -> set[int]:
    """The exponents from 2 on that repeated squaring passes on its way to n."""
    needed: set[int] = set()
    stack = [n]
    while stack:
        m = stack.pop()
        if m > 1 and m not in needed:
            needed.add(m)
            stack += [m // 2, m - m // 2]
    return needed


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", flags=re.S)
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*(?:\[\d+\])?)\s*=(?!=)\s*([^;]+);")
_ELEMENT = re.compile(r"[A-Za-z_]\w*\[\d+\]\Z")
_KEYWORD = re.compile(rf"\b(?:{'|'.join(keyword.kwlist)})\b")  # symbols of that name
_FLOAT_SUFFIX = re.compile(r"(?<=[0-9.])f\b")


def count_listing(text: str) -> tuple[int, int]:
    """Atoms and operations of a printed listing of ``name = expression;`` assignments.

    Assignments to array elements are outputs, those of a single element are inputs, the others
    are atoms.

    >>> count_listing("x = q[0]; a = sin(-x)*y; out[0] = -a; out[1] = -2.0*a;")
    (1, 5)
    """
    atoms = operations = 0
    for target, expression in _ASSIGNMENT.findall(_COMMENT.sub(" ", text)):
        atoms += "[" not in target and not _ELEMENT.match(expression)
        operations += _count_expression(" ".join(expression.split()))
    return atoms, operations


def _count_expression(expression: str) -> int:
    # C's conditional `c ? a : b` as Python's `c and a or b`, which parses alike
    python = _KEYWORD.sub("name", _FLOAT_SUFFIX.sub("", expression))
    python = python.replace("?", " and ").replace(":", " or ")
    try:
        tree = ast.parse(python, mode="eval")
    except SyntaxError as error:
        raise ParseError("not an expression of a listing", expression, error.offset or 0) from None
    operations = 0
    for node in ast.walk(tree):
        match node:
            case ast.BinOp() | ast.Call() | ast.Compare():
                operations += 1
            case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
                operations += 1
            case ast.BoolOp(op=ast.Or(), values=values):
                operations += len(values) - 1
    return operations
