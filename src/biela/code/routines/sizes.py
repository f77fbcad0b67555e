"""Sizes of arrays as polynomials in the integer arguments of a routine.

A routine states the shape of its arrays in terms of its integers (`"steps + 1, n"`). Two sizes are
compared as polynomials, so that `n*(m + 1)` and `n*m + n` are the same size.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Size", "SizeSyntaxError"]

Monomial = tuple[str, ...]  # sorted names; () is the constant term


class SizeSyntaxError(ValueError):
    """The text or expression is not a polynomial with integer coefficients."""


@dataclass(frozen=True)
class Size:
    """A polynomial with integer coefficients in named integers, in normal form.

    >>> str(Size.parse("n*(m + 1)"))
    'm*n + n'
    >>> Size.parse("n*(m + 1)") == Size.parse("n + m*n")
    True
    >>> Size.parse("2*n - 1").value({"n": 3})
    5
    """

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def constant(value: int) -> Size:
        """Return the size that is always `value`."""
        return _normal({(): value})

    @staticmethod
    def name(name: str) -> Size:
        """Return the size that is the integer called `name`."""
        return _normal({(name,): 1})

    @staticmethod
    def parse(text: str) -> Size:
        """Read a polynomial such as `"2*n + 1"`."""
        try:
            return Size.of(ast.parse(text.strip(), mode="eval").body)
        except SyntaxError as error:
            raise SizeSyntaxError(f"'{text}' is not a size") from error

    @staticmethod
    def of(node: ast.expr) -> Size:
        """Convert a Python expression made of names, integers, `+`, `-` and `*`."""
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return Size.constant(value)
            case ast.Name(id=name):
                return Size.name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Size.constant(-1) * Size.of(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return Size.of(left) + Size.of(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return Size.of(left) - Size.of(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return Size.of(left) * Size.of(right)
        raise SizeSyntaxError(f"'{ast.unparse(node)}' is not made of integers, names, +, - and *")

    @property
    def names(self) -> frozenset[str]:
        """The integers this size depends on."""
        return frozenset(name for monomial, _ in self.terms for name in monomial)

    def substitute(self, values: Mapping[str, Size]) -> Size:
        """Return this size with every name replaced by a size."""
        total = Size.constant(0)
        for monomial, factor in self.terms:
            term = Size.constant(factor)
            for name in monomial:
                term = term * values[name]
            total = total + term
        return total

    def value(self, values: Mapping[str, int]) -> int:
        """Return the number this size is for the given integers."""
        total = 0
        for monomial, factor in self.terms:
            for name in monomial:
                factor *= values[name]
            total += factor
        return total

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for monomial, factor in other.terms:
            terms[monomial] = terms.get(monomial, 0) + factor
        return _normal(terms)

    def __mul__(self, other: Size) -> Size:
        terms: dict[Monomial, int] = {}
        for a, x in self.terms:
            for b, y in other.terms:
                monomial = tuple(sorted(a + b))
                terms[monomial] = terms.get(monomial, 0) + x * y
        return _normal(terms)

    def __sub__(self, other: Size) -> Size:
        return self + Size.constant(-1) * other

    def __str__(self) -> str:
        """Return the polynomial as text that is both Python and C."""
        text = ""
        for monomial, factor in self.terms:
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            digits = [str(abs(factor))] if abs(factor) != 1 or not monomial else []
            text += sign + "*".join([*digits, *monomial])
        return text or "0"


def _normal(terms: Mapping[Monomial, int]) -> Size:
    # highest degree first, as people write polynomials
    kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
    return Size(tuple(sorted(kept, key=lambda term: (-len(term[0]), term[0]))))
