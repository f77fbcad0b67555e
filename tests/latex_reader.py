"""A reader of formulas in LaTeX, to check by value what biela writes.

It knows sums, products by juxtaposition, fractions, roots, powers and functions, and the names it
is given; it shares nothing with the writer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

FUNCTIONS = {
    r"\sin": math.sin,
    r"\cos": math.cos,
    r"\tan": math.tan,
    r"\arcsin": math.asin,
    r"\arccos": math.acos,
    r"\arctan": math.atan,
    r"\ln": math.log,
    r"\tanh": math.tanh,
    r"\operatorname{atan2}": math.atan2,
}
_SIGNS = (r"\frac", r"\sqrt", r"\cdot", r"\left(", r"\right)", r"\left|", r"\right|")


class Reader:
    """Values of formulas, from the values of their names and from definitions in order."""

    def __init__(
        self, values: Mapping[str, float], definitions: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.values = {r"\pi": math.pi, **values}
        names = [*self.values, *(name for name, _ in definitions), *FUNCTIONS, *_SIGNS]
        spelled = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        self._token = re.compile(rf"\s*(?:({spelled})|(\d+(?:\.\d+)?)|([-+^{{}},]))")
        # each may use those before it
        for name, formula in definitions:
            self.values[name] = self(formula)

    def __call__(self, formula: str) -> float:
        self._tokens = self._split(formula)
        value = self._sum()
        if self._tokens:
            raise ValueError(f"{self._tokens[-1]!r} is left over in {formula!r}")
        return value

    def _split(self, formula: str) -> list[str]:
        tokens, at, formula = [], 0, formula.strip()
        while at < len(formula):
            found = self._token.match(formula, at)
            if found is None:
                raise ValueError(f"unknown: {formula[at:]!r}")
            tokens.append(found[1] or found[2] or found[3])
            at = found.end()
        return tokens[::-1]

    def _next(self) -> str | None:
        return self._tokens[-1] if self._tokens else None

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise ValueError(f"{wanted!r} is missing before {self._next()!r}")
        self._tokens.pop()

    def _sum(self) -> float:
        total = self._signed_product()
        while self._next() in ("+", "-"):
            sign = 1 if self._tokens.pop() == "+" else -1
            total += sign * self._product()
        return total

    def _signed_product(self) -> float:
        if self._next() == "-":
            self._tokens.pop()
            return -self._product()
        return self._product()

    def _product(self) -> float:
        value = self._power()
        while self._next() not in (None, "+", "-", "}", r"\right)", r"\right|", ",", "^"):
            if self._next() == r"\cdot":
                self._tokens.pop()
            value *= self._power()
        return value

    def _power(self) -> float:
        base = self._leaf()
        if self._next() == "^":
            self._tokens.pop()
            base **= self._braced()
        return base

    def _braced(self) -> float:
        self._take("{")
        value = self._sum()
        self._take("}")
        return value

    def _leaf(self) -> float:
        token = self._tokens.pop()
        if token in self.values:
            return self.values[token]
        if token in FUNCTIONS:
            self._take(r"\left(")
            arguments = [self._sum()]
            while self._next() == ",":
                self._tokens.pop()
                arguments.append(self._sum())
            self._take(r"\right)")
            return FUNCTIONS[token](*arguments)
        if token == r"\frac":
            top = self._braced()
            return top / self._braced()
        if token == r"\sqrt":
            return math.sqrt(self._braced())
        if token in (r"\left(", r"\left|"):
            value = self._sum()
            self._take(token.replace("left", "right").replace("(", ")"))
            return abs(value) if token == r"\left|" else value
        return float(token)
