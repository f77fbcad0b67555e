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
import re
from dataclasses import dataclass

from biela.atoms import opcodes as op
from biela.atoms.table import Table
from biela.code.schedule import Schedule
from biela.errors import ParseError


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


def power_cost(n: int) -> int:
    """Multiplications of an integer power by repeated squaring, shared powers once."""
    needed: set[int] = set()
    stack = [n]
    while stack:
        m = stack.pop()
        if m > 1 and m not in needed:
            needed.add(m)
            stack += [m // 2, m - m // 2]
    return len(needed)


def arithmetic(schedule: Schedule) -> int:
    """All arithmetic nodes of a function."""
    return sum(_cost(schedule.table, atom) for atom in schedule.operations)


def _cost(table: Table, atom: int) -> int:
    return power_cost(table.right[atom]) if table.ops[atom] == op.POWER_INT else 1


_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*(?:\[\d+\])?)\s*=(?!=)\s*([^;]+);")


def count_listing(text: str) -> tuple[int, int]:
    """Atoms and operations of a printed listing of ``name = expression;`` assignments.

    Assignments to array elements are outputs, the others are atoms.

    >>> count_listing("a = sin(-x)*y; out[0] = -a; out[1] = -2.0*a;")
    (1, 5)
    """
    atoms = operations = 0
    for target, expression in _ASSIGNMENT.findall(re.sub(r"/\*.*?\*/", " ", text, flags=re.S)):
        atoms += "[" not in target
        operations += _count_expression(" ".join(expression.split()))
    return atoms, operations


def _count_expression(expression: str) -> int:
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ParseError("not an expression of a listing", expression, error.offset or 0) from None
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.Call, ast.Compare, ast.IfExp)) or (
            isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant)
        ):
            count += 1
    return count
