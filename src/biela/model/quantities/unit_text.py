"""Reading units: the tokens of a text, and the products of units that follow a number."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

from biela.errors import ParseError
from biela.model.quantities.dimensions import NUMBER, UNITS, Unit, near

_TOKEN = re.compile(
    # separators of records (U+001C to U+001F) are no blanks
    r"""(?P<space>[^\S\x1c-\x1f]+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_µ°][A-Za-z0-9_]*(?:\[[0-9]+\])?(?:\.[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]+\])?)*)
    |(?P<raised>⁻?[¹²³⁴⁵⁶⁷⁸⁹])
    |(?P<sign>\*\*|<=|>=|[-+*/^(),·<>])""",
    re.VERBOSE,
)
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
#: Nothing that a person writes is longer.
_LONGEST = 10_000
ONE = Unit(Fraction(1), NUMBER)
_ANGULAR = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")
FUNCTIONS = (*_ANGULAR, "exp", "log", "tanh", "sqrt", "abs", "min", "max", "sign", "if", "select")


class Token(NamedTuple):
    """A word of a text: number, name, raised (an exponent), sign, or end; and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> list[Token]:
    if len(text) > _LONGEST:
        raise ParseError(f"a text of {len(text)} characters is no value", text, 0)
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ParseError(f"{text[position]!r} belongs to no quantity", text, position)
        if match.lastgroup != "space":
            tokens.append(Token(match.lastgroup or "", match.group(), position, match.end()))
        position = match.end()
    return [*tokens, Token("end", "", len(text), len(text))]


class UnitReader:
    """Reads the units in one text.

    ``names`` are those of parameters; ``reserved`` ones are never taken for units.
    """

    def __init__(self, text: str, names: Collection[str], reserved: Collection[str] = ()) -> None:
        self.text = text
        self.names = names
        self.reserved = reserved
        self.tokens = _tokens(text)
        self.last = len(self.tokens) - 1
        self.at = 0

    @property
    def here(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.at]

    def _take(self, *words: str) -> Token | None:
        token = self.here
        if token.kind == "sign" and token.text in words:
            self.at += 1
            return token
        return None

    def _error(self, message: str, token: Token | None = None) -> ParseError:
        return ParseError(message, self.text, (token or self.here).start)

    def _in_si(self, unit: Unit, number: Fraction, token: Token) -> float:
        try:
            return unit.value(number)
        except OverflowError:
            message = "this number is outside the range of a double"
            raise self._error(message, token) from None

    def _close(self, opened: Token) -> None:
        if self.here.kind == "name":
            raise self._error(self._not_a_unit(self.here.text))
        if not self._take(")"):
            raise self._error("this parenthesis is not closed", opened)

    def _unit(self) -> Unit | None:
        """The unit that stands here, straight after a value; None if there is none."""
        return self._unit_product(ONE) if self.here.kind == "name" else None

    def _unit_product(self, unit: Unit) -> Unit:
        while True:
            token = self.here
            if token.kind == "name":
                if not self._is_unit(self.at):
                    raise self._error(self._not_a_unit(token.text))
                factor = self._unit_factor()
                unit = factor if unit is ONE else unit.times(factor)
                continue
            # blanks around a sign end the unit: what follows may be a parameter of the same name
            before, after = self.tokens[self.at - 1], self.tokens[min(self.at + 1, self.last)]
            tight = before.end == token.start and token.end == after.start
            if token.text not in ("*", "·", "/") or not tight:
                return unit
            power = -1 if token.text == "/" else 1
            if self._is_unit(self.at + 1):
                self.at += 1
                unit = unit.times(self._unit_factor(), power)
            elif self._is_unit_group(self.at + 1):
                self.at += 2
                unit = unit.times(self._unit_product(ONE), power)
                self._close(after)
            else:
                return unit

    def _unit_factor(self) -> Unit:
        """One unit, with its exponent."""
        unit = UNITS[self.here.text]
        self.at += 1
        power = 1
        if self.here.kind == "raised":
            power = int(self.here.text.translate(_RAISED))
            self.at += 1
        elif sign := self._take("^", "**"):
            negative = self._take("-") is not None
            token = self.here
            if token.kind != "number" or not token.text.isdigit() or len(token.text) > 1:
                raise self._error("the exponent of a unit is a whole number", sign)
            self.at += 1
            power = -int(token.text) if negative else int(token.text)
        return unit if power == 1 else ONE.times(unit, power)

    def _is_unit(self, at: int) -> bool:
        """Whether a unit stands there, though a parameter may have its name."""
        token = self.tokens[min(at, self.last)]
        if token.kind != "name" or token.text not in UNITS or token.text in self.reserved:
            return False
        return not (token.text in FUNCTIONS and self.tokens[at + 1].text == "(")

    def _is_unit_group(self, at: int) -> bool:
        """Whether a parenthesis with nothing but units in it stands there."""
        if self.tokens[at].text != "(" or not self._is_unit(at + 1):
            return False
        while self.tokens[at].text != ")":
            at += 1
            token = self.tokens[at]
            fits = token.text in ("*", "·", "/", "^", "**", "-", ")") or token.kind == "raised"
            if not (fits or self._is_unit(at) or token.text.isdigit()):
                return False
        return True

    def _not_a_unit(self, name: str) -> str:
        if name in self.names:
            return f"an operator is missing: for a product write *{name}"
        return f"{name!r} is no unit{near(name, list(UNITS))}"


def exact(word: str) -> Fraction:
    """A number as it is written; as a double where it would have thousands of digits."""
    _, _, exponent = word.lower().partition("e")
    if len(word) > 400 or (exponent and len(exponent.lstrip("+-").lstrip("0")) > 3):
        value = float(word)
        return Fraction(value) if math.isfinite(value) else Fraction(10) ** 400
    return Fraction(word)


def names_in(text: str) -> set[str]:
    """The names that are neither units after a number, functions nor π."""
    reader, found = UnitReader(text, (), ("t",)), set()
    after_value = False
    while reader.here.kind != "end":
        token = reader.here
        if after_value and reader._is_unit(reader.at):
            reader._unit()
            after_value = False
            continue
        called = reader.tokens[reader.at + 1].text == "("
        if token.kind == "name" and token.text != "pi" and not called:
            found.add(token.text)
        after_value = token.kind == "number" or token.text in ("pi", ")")
        reader.at += 1
    return found
