r"""Expressions as LaTeX, for notebooks and reports.

The text is put together from the leaves upwards as in `biela.atoms.infix`, with its fragments
and precedences; what differs is the layout: products by juxtaposition, fractions, roots, cases,
and names, where ``theta1`` is \theta_{1}, ``m_p`` is m_{p} and the velocity ``dtheta`` of a
coordinate ``theta`` is \dot{\theta}.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, pi
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.infix import LEAF, NEGATIVE, POWER, PRODUCT, SUM, Fragment
from biela.atoms.numbers import Number
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.atoms.text import expanded_size
from biela.errors import ExpressionTooLargeError

_GREEK: Final = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau"
    "|upsilon|phi|chi|psi|omega|varepsilon|vartheta|varphi|varrho|varsigma"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_FUNCTIONS: Final = {
    op.SIN: r"\sin",
    op.COS: r"\cos",
    op.TAN: r"\tan",
    op.ASIN: r"\arcsin",
    op.ACOS: r"\arccos",
    op.ATAN: r"\arctan",
    op.LOG: r"\ln",
    op.TANH: r"\tanh",
    op.MIN: r"\min",
    op.MAX: r"\max",
    op.SIGN: r"\operatorname{sgn}",
    op.ATAN2: r"\operatorname{atan2}",
}
_NAME: Final = re.compile(r"([A-Za-z]+)([0-9]*)((?:_[A-Za-z0-9]+)*)\Z")


def latex(atom: Atom, limit: int = 2000) -> str:
    r"""The expression in LaTeX, without the dollar signs.

    >>> from biela.atoms import Workspace, sin
    >>> ws = Workspace()
    >>> theta, m = ws.coordinate("theta1"), ws.parameter("m_p")
    >>> print(latex(m * theta.velocity**2 / 2 - sin(theta)))
    \frac{1}{2} m_{p} \dot{\theta}_{1}^{2} - \sin\left(\theta_{1}\right)

    Raises:
        ExpressionTooLargeError: If it has more than ``limit`` leaves and operations written out.
    """
    if expanded_size(atom) > limit:
        raise ExpressionTooLargeError(
            f"the expression has more than {limit} leaves and operations, which nobody reads on "
            f"paper: raise the limit, or use latex_listing, which keeps the shared atoms"
        )
    table = atom.table
    texts: dict[int, Fragment] = {}
    for live in table.live([atom.ref]):
        texts[live] = write_fragment(table, live, texts)
    return signed(texts, atom.ref).text


def write_fragment(table: Table, atom: int, texts: dict[int, Fragment]) -> Fragment:
    """The text of one atom from those of its operands."""
    code = table.ops[atom]
    if code == op.CONSTANT:
        return _number(table.values[atom])
    if code == op.SYMBOL:
        return Fragment(symbol_text(table, atom), LEAF)
    if code == op.SELECT:
        return _cases(table, atom, texts)
    parts = [signed(texts, ref) for ref in table.operands(atom)]
    if code == op.ADD:
        return _sum(texts, table.left[atom], table.right[atom])
    if code == op.MUL:
        return _product(parts[0], parts[1], table.ops[table.right[atom]] == op.CONSTANT)
    if code == op.DIV:
        return Fragment(rf"\frac{{{parts[0].text}}}{{{parts[1].text}}}", PRODUCT)
    if code == op.POWER_INT:
        return _power(parts[0], str(table.right[atom]))
    if code == op.POWER:
        return _power(parts[0], parts[1].text)
    if code == op.EXP:
        return Fragment(f"e^{{{parts[0].text}}}", POWER)
    if code == op.SQRT:
        return Fragment(rf"\sqrt{{{parts[0].text}}}", LEAF)
    if code == op.ABS:
        return Fragment(rf"\left|{parts[0].text}\right|", LEAF)
    if code == op.LESS or code == op.LESS_EQUAL:
        # as a number a condition is written in Iverson's brackets
        return Fragment(rf"\left[{_comparison(table, atom, texts)}\right]", LEAF)
    if code == op.PIECEWISE:
        return _call(_name(table.piecewise[table.right[atom]].name), parts)
    if code == op.EXTERNAL:
        return _call(_name(table.externals[table.left[atom]].name), parts)
    return _call(_FUNCTIONS[code], parts)


# ------------------------------------------------------------------------------ layout


def signed(texts: dict[int, Fragment], ref: int) -> Fragment:
    """The text of a reference, with its sign."""
    if ref >= 0:
        return texts[ref]
    return Fragment(f"- {_grouped(texts[-ref], PRODUCT)}", NEGATIVE)


def _grouped(fragment: Fragment, level: int) -> str:
    if fragment.level >= level:
        return fragment.text
    return rf"\left({fragment.text}\right)"


def _sum(texts: dict[int, Fragment], left: int, right: int) -> Fragment:
    a, b = texts[left], texts[abs(right)]
    if right > 0 and b.level <= NEGATIVE < a.level:
        a, b = b, a
    sign = "+" if right > 0 else "-"
    return Fragment(f"{a.text} {sign} {_grouped(b, PRODUCT)}", SUM)


def _product(a: Fragment, b: Fragment, number_last: bool) -> Fragment:
    if number_last:
        a, b = b, a
    first, second = _grouped(a, PRODUCT), _grouped(b, PRODUCT)
    # two numbers side by side would read as one, a number before a fraction as a mixed numeral
    ambiguous = second[0].isdigit() or (second.startswith(r"\frac") and first[-1].isdigit())
    sign = r" \cdot " if ambiguous else " "
    return Fragment(f"{first}{sign}{second}", PRODUCT)


def _power(base: Fragment, exponent: str) -> Fragment:
    return Fragment(f"{_grouped(base, LEAF)}^{{{exponent}}}", POWER)


def _call(name: str, arguments: Sequence[Fragment]) -> Fragment:
    inside = ", ".join(argument.text for argument in arguments)
    return Fragment(rf"{name}\left({inside}\right)", LEAF)


def _comparison(table: Table, atom: int, texts: dict[int, Fragment]) -> str:
    a, b = (signed(texts, ref).text for ref in table.operands(atom))
    return rf"{a} < {b}" if table.ops[atom] == op.LESS else rf"{a} \le {b}"


def _cases(table: Table, atom: int, texts: dict[int, Fragment]) -> Fragment:
    """A chain of selections as one block of cases."""
    rows = []
    rest = atom
    while rest > 0 and table.ops[rest] == op.SELECT and (rest == atom or _is_cases(texts[rest])):
        condition, yes, rest = table.operands(rest)
        if table.ops[condition] in (op.LESS, op.LESS_EQUAL):
            when = _comparison(table, condition, texts)
        else:
            when = rf"{texts[condition].text} \neq 0"
        rows.append(rf"{signed(texts, yes).text} & \text{{if }} {when}")
    rows.append(rf"{signed(texts, rest).text} & \text{{otherwise}}")
    block = r" \\ ".join(rows)
    return Fragment(rf"\begin{{cases}} {block} \end{{cases}}", LEAF)


def _is_cases(fragment: Fragment) -> bool:
    """Whether a selection is written out, and not by a name of its own."""
    return fragment.text.startswith(r"\begin{cases}")


# ------------------------------------------------------------------------------ leaves


def _number(value: Number) -> Fragment:
    rounded = float(value)
    multiple = _multiple_of_pi(rounded) if isinstance(value, float) else None
    if multiple is not None:
        top = r"\pi" if multiple.numerator == 1 else rf"{multiple.numerator} \pi"
        if multiple.denominator == 1:
            return Fragment(top, LEAF if top == r"\pi" else PRODUCT)
        return Fragment(rf"\frac{{{top}}}{{{multiple.denominator}}}", PRODUCT)
    # a double is written as a decimal, unless it is a simple fraction or a whole number
    if value != rounded or max(value.as_integer_ratio()) < 10**6:
        p, q = value.as_integer_ratio()
        return Fragment(str(p), LEAF) if q == 1 else Fragment(rf"\frac{{{p}}}{{{q}}}", PRODUCT)
    mantissa, e, exponent = repr(rounded).removesuffix(".0").partition("e")
    if not e:
        return Fragment(mantissa, LEAF)
    power = f"10^{{{int(exponent)}}}"
    if mantissa == "1":
        return Fragment(power, POWER)
    return Fragment(rf"{mantissa} \cdot {power}", PRODUCT)


def _multiple_of_pi(value: float) -> Fraction | None:
    """p/q with value = p/q pi to the last digit, for the angles people write."""
    if value > 360 * pi:
        return None
    for q in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 45, 60, 90, 180):
        p = round(value * q / pi)
        if 0 < p <= 360 and gcd(p, q) == 1 and abs(p * pi / q - value) <= 2.0**-52 * value:
            return Fraction(p, q)
    return None


def symbol_text(table: Table, atom: int) -> str:
    """The name of a symbol; velocities and accelerations by the dots of their coordinate."""
    symbol = table.symbols[atom]
    for kind, prefix, dots in (
        (Kind.VELOCITY, "d", r"\dot"),
        (Kind.ACCELERATION, "dd", r"\ddot"),
    ):
        if symbol.kind is kind and symbol.name.startswith(prefix):
            coordinate = table.find_symbol(symbol.name[len(prefix) :])
            if coordinate is not None and table.symbols[coordinate].kind is Kind.COORDINATE:
                return _name(table.symbols[coordinate].name, dots)
    return _name(symbol.name)


def _name(name: str, dots: str = "") -> str:
    """A name with its indices: letters, then digits, then parts after underscores."""
    found = _NAME.match(name)
    if found is None:
        escaped = name.replace("_", r"\_")
        word, parts = rf"\mathrm{{{escaped}}}", []
    else:
        word = _word(found[1])
        parts = [part for part in (found[2], *found[3].split("_")) if part]
    if dots:
        word = f"{dots}{{{word}}}"
    return f"{word}_{{{','.join(map(_word, parts))}}}" if parts else word


def _word(word: str) -> str:
    if _GREEK.fullmatch(word):
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"
