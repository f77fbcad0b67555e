"""Reading arithmetic with units: see `biela.model.quantities.units` for the rules.

A recursive descent that carries a value, a number or an atom, and what is known of its dimension.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from biela.atoms import (
    Atom,
    acos,
    asin,
    atan,
    atan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sqrt,
)
from biela.atoms import tan as tangent
from biela.atoms import tanh as hyperbolic_tangent
from biela.errors import DomainError, ParseError
from biela.model.quantities.dimensions import DIMENSIONS, NUMBER, UNITS, Dimension, described, near
from biela.model.quantities.unit_text import FUNCTIONS, ONE, Token, UnitReader, exact

_ANGLE = DIMENSIONS["angle"]
_EXAMPLES = '"5 mm" and, without blanks, "9.81 m/s^2"'
#: No person nests deeper.
_DEEPEST = 60


@dataclass(frozen=True)
class Measured:
    """A value, with its dimension if that is known.

    ``plain`` is what was written without a unit; it may become anything, and its dimension is
    that of a number.  ``reciprocal`` is not empty for a plain number over one with a unit, such as
    1/2 mm, which few people mean: it says how to write what is meant.  ``named`` is what was made
    of parameters: their dimensions are compared without angles, as in r*phi, and plain numbers are
    added to them as SI.
    """

    value: Atom | float
    dimension: Dimension | None = NUMBER
    plain: bool = False
    reciprocal: str = ""
    named: bool = False

    def fits(self, wanted: Dimension) -> bool:
        """Whether it may stand where a dimension is wanted."""
        if self.dimension is None or self.plain:
            return True
        if self.named:
            return without_angle(self.dimension) == without_angle(wanted)
        return self.dimension == wanted


def without_angle(dimension: Dimension) -> Dimension:
    """A dimension in which the radian is the number one."""
    length, mass, time, _, current = dimension
    return length, mass, time, Fraction(0), current


_Unary = Callable[[Any], Any]
#: Functions by what they do to a dimension.
_OF_ANGLES: dict[str, _Unary] = {"sin": sin, "cos": cos, "tan": tangent}
_TO_ANGLES: dict[str, _Unary] = {"asin": asin, "acos": acos, "atan": atan}
#: Least and most arguments of functions that have not just one.
_ARGUMENTS = {
    "atan2": (2, 2),
    "min": (2, math.inf),
    "max": (2, math.inf),
    "if": (3, 3),
    "select": (3, 3),
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OF_NUMBERS: dict[str, _Unary] = {"exp": exp, "log": log, "tanh": hyperbolic_tangent}


class Reader(UnitReader):
    """Reads one text."""

    def __init__(
        self,
        text: str,
        parameters: Mapping[str, Atom | float],
        dimensions: Mapping[str, Dimension] | None = None,
        *,
        bare: bool = True,
        blind: bool = False,
    ) -> None:
        # the time is never a tonne
        super().__init__(text, parameters, ["t"] if "t" in parameters else [])
        self.parameters = parameters
        self.dimensions: Mapping[str, Dimension] = dimensions or {}
        #: Whether plain numbers are pure factors; else they may have any dimension.
        self.bare = bare and not blind
        #: Whether units are factors and nothing else, in a text that has been checked before.
        self.blind = blind
        self.depth = 0

    def whole(self) -> Measured:
        """The value of the whole text."""
        if self.here.kind == "end":
            raise ParseError("no text", self.text, 0)
        found = self._comparison()
        if self.here.kind == "name":
            raise self._error(self._not_a_unit(self.here.text))
        if self.here.kind != "end":
            raise self._error(f"an operator is missing before {self.here.text!r}")
        return found

    # --- arithmetic, loosest first

    def _comparison(self) -> Measured:
        left = self._sum()
        sign = self._take(*_COMPARISONS)
        if sign is None:
            return left
        right = self._sum()
        self._common(left, right, sign)
        value: Any = _COMPARISONS[sign.text](left.value, right.value)
        return Measured(value if isinstance(value, Atom) else float(value), NUMBER, plain=True)

    def _sum(self) -> Measured:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} parentheses in each other")
        left = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            dimension, plain = self._common(left, right, sign)
            value = left.value + right.value if sign.text == "+" else left.value - right.value
            left = Measured(value, dimension, plain, named=left.named or right.named)
        self.depth -= 1
        return left

    def _product(self) -> Measured:
        start = self.here.start
        left = self._signed()
        while sign := self._take("*", "·", "/"):
            over = self.here
            right = self._signed()
            power = -1 if sign.text == "/" else 1
            with _arithmetic(self, sign):
                value = left.value / right.value if power < 0 else left.value * right.value
            kept = left.reciprocal if right.plain else ""
            if power < 0 and left.plain and over.kind == "number":
                kept = self._reciprocal(start, sign, over, right)
            left = Measured(
                value,
                _times(left, right, power),
                left.plain and right.plain,
                kept,
                left.named or right.named,
            )
        return left

    def _reciprocal(self, start: int, sign: Token, over: Token, right: Measured) -> str:
        """How to write what was meant by a plain number over one with a unit."""
        if right.plain or right.dimension in (None, NUMBER):
            return ""
        end = self.tokens[self.at - 1].end
        number, unit = self.text[start : over.end], self.text[over.end : end].strip()
        below = self.text[over.start : end]
        return f"({number}) {unit}, or {self.text[start : sign.end]}({below})"

    def _signed(self) -> Measured:
        minus = False
        while sign := self._take("+", "-"):
            minus ^= sign.text == "-"
        found = self._power()
        return replace(found, value=-found.value, reciprocal="") if minus else found

    def _power(self) -> Measured:
        base = self._operand()
        sign = self._take("^", "**")
        if sign is None:
            return base
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} powers in each other")
        exponent = self._signed()
        self.depth -= 1
        if not (exponent.dimension == NUMBER or replace(exponent, plain=False).fits(NUMBER)):
            raise self._error("an exponent is a pure number", sign)
        with _arithmetic(self, sign):
            value = base.value**exponent.value
            if isinstance(value, complex):
                raise ValueError("a negative number to a broken power")
        if base.plain or base.dimension == NUMBER:
            return Measured(value, NUMBER, base.plain, named=base.named)
        if base.dimension is None or isinstance(exponent.value, Atom):
            return Measured(value, None)
        return Measured(value, _raised(base.dimension, Fraction(exponent.value)), named=base.named)

    def _operand(self) -> Measured:
        token = self.here
        self.at += 1
        following = self.tokens[self.at] if token.kind != "end" else token
        if token.kind == "number":
            number = exact(token.text)
            unit = self._unit()
            if unit is None:
                known = NUMBER if self.bare else None
                return Measured(self._in_si(ONE, number, token), known, plain=self.bare)
            return Measured(
                self._in_si(unit, number, token), None if self.blind else unit.dimension
            )
        if token.kind == "name" and following.text == "(":
            return self._call(token)
        if token.kind == "name":
            if token.text in self.parameters:
                value, dimension = self.parameters[token.text], self.dimensions.get(token.text)
                return Measured(value, dimension, named=True)
            if token.text == "pi":
                return self._with_unit(Measured(math.pi, NUMBER, plain=True))
            raise self._error(self._unknown(token.text), token)
        if token.text == "(":
            inner = self._comparison()
            self._close(token)
            return self._with_unit(inner)
        self.at -= 1
        where = "the text ends" if token.kind == "end" else f"{token.text!r} stands"
        raise self._error(f"{where} where a value should be")

    def _call(self, name: Token) -> Measured:
        if name.text not in FUNCTIONS:
            hint = near(name.text, list(FUNCTIONS))
            raise self._error(f"unknown function {name.text!r}{hint}", name)
        opened = self.here
        self.at += 1
        arguments = [self._comparison()]
        while self._take(","):
            arguments.append(self._comparison())
        self._close(opened)
        least, most = _ARGUMENTS.get(name.text, (1, 1))
        if not least <= len(arguments) <= most:
            wanted = {1: "one argument", 2: "two arguments", 3: "three arguments"}[least]
            raise self._error(f"{name.text} takes {wanted}, not {len(arguments)}", name)
        with _arithmetic(self, name):
            return self._with_unit(self._applied(name, arguments))
        raise AssertionError("not reached")  # for the type checker: the block swallows nothing

    def _applied(self, name: Token, arguments: list[Measured]) -> Measured:
        first, word = arguments[0], name.text
        if word in _OF_ANGLES:
            self._expect(name, first, _ANGLE)
            return Measured(_OF_ANGLES[word](first.value), NUMBER, plain=True)
        if word in _TO_ANGLES:
            self._expect(name, first, NUMBER)
            return Measured(_TO_ANGLES[word](first.value), _ANGLE)
        if word in _OF_NUMBERS:
            self._expect(name, first, NUMBER)
            return Measured(_OF_NUMBERS[word](first.value), NUMBER, plain=True)
        if word == "abs":
            size: Any = abs(first.value)
            return Measured(size, first.dimension, first.plain, named=first.named)
        if word == "sqrt":
            known = first.dimension
            half = None if known is None else _raised(known, Fraction(1, 2))
            return Measured(sqrt(first.value), half, first.plain, named=first.named)
        if word == "sign":
            return Measured(sign(first.value), NUMBER, plain=True)
        condition, arguments = first, arguments[word in ("if", "select") :]
        total = arguments[0]
        for other in arguments[1:]:
            common = self._common(total, other, name)
            total = Measured(other.value, *common, named=total.named or other.named)
        dimension, plain, named = total.dimension, total.plain, total.named
        values = [a.value for a in arguments]
        if word == "atan2":
            return Measured(atan2(values[0], values[1]), _ANGLE)
        if word in ("if", "select"):
            chosen = select(condition.value, values[0], values[1])
            return Measured(chosen, dimension, plain, named=named)
        extreme = minimum if word == "min" else maximum
        return Measured(extreme(values[0], values[1], *values[2:]), dimension, plain, named=named)

    def _expect(self, name: Token, given: Measured, wanted: Dimension) -> None:
        if not (given.dimension == NUMBER or replace(given, plain=False).fits(wanted)):
            assert given.dimension is not None
            raise self._error(
                f"{name.text} takes {described(wanted)}, not {described(given.dimension)}", name
            )

    def _common(self, a: Measured, b: Measured, at: Token) -> tuple[Dimension | None, bool]:
        """The dimension of a sum."""
        if a.dimension is None or b.dimension is None:
            known, other = (b, a) if a.dimension is None else (a, b)
            return (known.dimension if not known.plain else other.dimension), False
        if a.dimension == b.dimension:
            return a.dimension, a.plain and b.plain
        for zero, other in ((a, b), (b, a)):  # nothing is nothing in any unit
            if zero.plain and not isinstance(zero.value, Atom) and zero.value == 0:
                return other.dimension, False
        if a.named or b.named:
            first = b if a.plain else a  # a plain number is in SI units
            if a.plain or b.plain or without_angle(a.dimension) == without_angle(b.dimension):
                return first.dimension, False
        # the radian is the number one
        if {a.dimension, b.dimension} == {NUMBER, _ANGLE}:
            return _ANGLE, False
        done = "compared" if at.text in _COMPARISONS else "added"
        message = f"{described(a.dimension)} and {described(b.dimension)} cannot be {done}"
        if at.kind == "name":
            message = f"{at.text} of {described(a.dimension)} and {described(b.dimension)}"
        if a.plain or b.plain:
            message += ": give the plain number a unit"
        raise self._error(message, at)

    # --- units

    def _with_unit(self, found: Measured) -> Measured:
        unit = self._unit()
        if unit is None:
            return found
        factor = Measured(unit.value(Fraction(1)), None if self.blind else unit.dimension)
        return Measured(found.value * factor.value, _times(found, factor, 1), named=found.named)

    def _unknown(self, name: str) -> str:
        if name in UNITS:
            return f"{name!r} is a unit: it stands straight after a number, as in {_EXAMPLES}"
        if name in FUNCTIONS:
            return f"{name} is a function: write {name}(…)"
        return f"unknown parameter {name!r}{near(name, [*self.parameters, 'pi'])}"


class _arithmetic:  # noqa: N801
    """Makes what goes wrong in arithmetic an error that points at the place."""

    def __init__(self, reader: Reader, at: Token) -> None:
        self.reader, self.at = reader, at

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, ParseError):
            return
        if isinstance(error, DomainError | ArithmeticError | ValueError):
            message = f"this cannot be computed: {error}"
            raise ParseError(message, self.reader.text, self.at.start) from None


def _times(a: Measured, b: Measured, power: int) -> Dimension | None:
    if a.dimension is None or b.dimension is None:
        return None
    if b.dimension == NUMBER:
        return a.dimension
    found = (x + power * y for x, y in zip(a.dimension, b.dimension, strict=True))
    return _five(found)


def _raised(dimension: Dimension, power: Fraction) -> Dimension:
    ratio = power.limit_denominator(12)  # 1/3 as a double is a third
    return _five(e * ratio for e in dimension)


def _five(exponents: Iterable[Fraction]) -> Dimension:
    a, b, c, d, e = exponents
    return a, b, c, d, e
