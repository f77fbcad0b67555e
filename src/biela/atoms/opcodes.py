"""The operations an atom can hold.

An operation code is a small integer; the tables below say how many operands it has, how it is
spelled and how its value changes when an operand changes sign.  Everything that walks the table
of atoms (differentiation, evaluation, printing, compilation) dispatches on these codes.
"""

from __future__ import annotations

from typing import Final

CONSTANT: Final = 0
SYMBOL: Final = 1
ADD: Final = 2
MUL: Final = 3
DIV: Final = 4
POWER_INT: Final = 5  # base, integer exponent >= 2 kept as a plain number
POWER: Final = 6  # base, exponent: real powers
SQRT: Final = 7
SIN: Final = 8
COS: Final = 9
TAN: Final = 10
ASIN: Final = 11
ACOS: Final = 12
ATAN: Final = 13
ATAN2: Final = 14
EXP: Final = 15
LOG: Final = 16
TANH: Final = 17
ABS: Final = 18
SIGN: Final = 19
MIN: Final = 20
MAX: Final = 21
LESS: Final = 22  # 1 where left < right, else 0
LESS_EQUAL: Final = 23  # 1 where left <= right, else 0
SELECT: Final = 24  # condition, value where it is not 0, value where it is 0
PIECEWISE: Final = 25  # cubic spline or table of one variable, kept by index
EXTERNAL: Final = 26  # named external function of several arguments

OPERATIONS: Final = 27

NAMES: Final[tuple[str, ...]] = (
    "constant",
    "symbol",
    "add",
    "mul",
    "div",
    "power_int",
    "power",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "exp",
    "log",
    "tanh",
    "abs",
    "sign",
    "min",
    "max",
    "less",
    "less_equal",
    "select",
    "piecewise",
    "external",
)

CODES: Final[dict[str, int]] = {name: code for code, name in enumerate(NAMES)}

#: Operations whose two fields ``left`` and ``right`` are both references to operands.
BINARY: Final = frozenset({ADD, MUL, DIV, POWER, ATAN2, MIN, MAX, LESS, LESS_EQUAL})
#: Operations of one operand (``left``); ``right`` is 0.
UNARY: Final = frozenset(
    {SQRT, SIN, COS, TAN, ASIN, ACOS, ATAN, EXP, LOG, TANH, ABS, SIGN},
)
#: Operations of one operand (``left``) and a plain number in ``right``.
UNARY_WITH_NUMBER: Final = frozenset({POWER_INT, PIECEWISE})

#: f(-x) = -f(x)
ODD: Final = frozenset({SIN, TAN, ASIN, ATAN, TANH, SIGN})
#: f(-x) = f(x)
EVEN: Final = frozenset({COS, ABS})
