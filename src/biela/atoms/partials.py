"""The derivative of one operation by each of its operands.

Everything that differentiates goes through `partials`: forward accumulation multiplies the
partials into the rates of the operands, reverse accumulation into the adjoint of the result.
"""

from __future__ import annotations

from collections.abc import Callable

from biela.atoms import opcodes as op
from biela.atoms.table import Table

Partials = list[tuple[int, int]]


def partials(table: Table, atom: int, varies: Callable[[int], bool]) -> Partials:
    """Pairs (operand, partial) with d(atom) = sum of partial * d(operand).

    Operands are signed references; the chain rule for a negative one is left to the caller
    (d(-x) = -dx).  Partials by operands that do not vary are not built where that would cost.
    """
    code = table.ops[atom]
    a, b = table.left[atom], table.right[atom]
    mul, div = table.mul, table.div
    if code == op.ADD:
        return [(a, 1), (b, 1)]
    if code == op.MUL:
        return [(a, b), (b, a)]
    if code == op.DIV:
        # one reciprocal serves both: d(a/b) = (1/b) da - (a/b)(1/b) db
        inverse = div(1, b)
        if table.ops[b] == op.POWER_INT:
            # d(a/x^n) = (1/x^n) da - n (a/x^n)/x dx: the square of 1/x^n could leave the range
            x, n = table.left[b], table.constant(table.right[b])
            return [(a, inverse), (x, -mul(n, div(atom, x)))]
        return [(a, inverse), (b, -mul(atom, inverse))]
    if code == op.POWER_INT:
        return [(a, mul(table.constant(b), table.power_int(a, b - 1)))]
    if code == op.SIN:
        return [(a, table.unary(op.COS, a))]
    if code == op.COS:
        return [(a, -table.unary(op.SIN, a))]
    if code == op.MIN or code == op.MAX:
        first = table.less(a, b) if code == op.MIN else table.less(b, a)
        return [(a, table.select(first, 1, 0)), (b, table.select(first, 0, 1))]
    if code == op.SELECT:
        yes, no = table.operand_lists[b]
        return [(yes, table.select(a, 1, 0)), (no, table.select(a, 0, 1))]
    if code == op.PIECEWISE:
        curve = table.add_piecewise(table.piecewise[b].derivative())
        return [(a, table.apply_piecewise(a, curve))]
    if code == op.EXTERNAL:
        arguments = table.operand_lists[b]
        return [
            (x, table.apply_external(table.external_partial(a, k), arguments))
            for k, x in enumerate(arguments)
            if varies(x)
        ]
    if code == op.POWER:
        # x**y: y x**(y-1) dx + log(x) x**y dy
        result = []
        if varies(a):
            result.append((a, mul(b, table.power(a, table.add(b, -1)))))
        if varies(b):
            result.append((b, mul(atom, table.unary(op.LOG, a))))
        return result
    return _function(table, atom, code, a, b)


def _function(table: Table, atom: int, code: int, a: int, b: int) -> Partials:
    add, div = table.add, table.div
    if code == op.SQRT:
        return [(a, div(table.constant(0.5), atom))]
    if code == op.EXP:
        return [(a, atom)]
    if code == op.LOG:
        return [(a, div(1, a))]
    if code == op.TAN:
        return [(a, add(1, table.power_int(atom, 2)))]
    if code == op.TANH:
        return [(a, add(1, -table.power_int(atom, 2)))]
    if code == op.ASIN or code == op.ACOS:
        slope = div(1, table.unary(op.SQRT, add(1, -table.power_int(a, 2))))
        return [(a, slope if code == op.ASIN else -slope)]
    if code == op.ATAN:
        return [(a, div(1, add(1, table.power_int(a, 2))))]
    if code == op.ATAN2:
        square = add(table.power_int(a, 2), table.power_int(b, 2))
        return [(a, div(b, square)), (b, -div(a, square))]
    if code == op.ABS:
        return [(a, table.unary(op.SIGN, a))]
    return []  # leaves; sign, less and less_equal are constant but for jumps
