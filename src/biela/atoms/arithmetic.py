"""Sums, products, quotients and powers, in their one canonical form.

What is simplified keeps the value up to rounding: numbers are folded (exactly, while they are
integers and fractions), identities with 0, 1 and -1 are applied, numeric factors are joined, like
terms with numeric factors are collected, powers of one base are joined.  Nothing is expanded or
factored.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from biela.atoms.numbers import Number, is_exact, magnitude, number, reciprocal_is_exact, spelled

# by name: an attribute of a module costs twice as much, and this is the innermost loop
from biela.atoms.opcodes import ABS, ADD, CONSTANT, DIV, MUL, POWER_INT, SQRT
from biela.atoms.storage import SHIFT, Storage
from biela.errors import DomainError

#: Normal doubles: numbers are only joined where the result keeps all its digits.
_SMALLEST: Final = 2.3e-308
_LARGEST: Final = 1.7e308
#: Larger integer exponents are refused.
MAX_EXPONENT: Final = 1 << 20


class Arithmetic(Storage):
    """The four operations and powers on references."""

    def add(self, a: int, b: int) -> int:
        """A + b; kept with the older operand first and positive, so a - b and b - a are one."""
        if not a:
            return b
        if not b:
            return a
        size_a = a if a > 0 else -a
        size_b = b if b > 0 else -b
        if size_a > size_b:
            a, b = b, a
        elif size_a == size_b:
            return self.mul(self.constant(2), a) if a == b else 0
        if a > 0:
            found = self._sums.get((b << SHIFT) + a)
            return self._new_sum(a, b) if found is None else found
        found = self._sums.get((-b << SHIFT) - a)
        return -(self._new_sum(-a, -b) if found is None else found)

    def sub(self, a: int, b: int) -> int:
        """A - b."""
        return self.add(a, -b)

    def mul(self, a: int, b: int) -> int:
        """A b; kept as the product of the two sizes, the sign outside."""
        if a < 0:
            a = -a
            b = -b
        if a <= 1:
            return b if a else 0
        if b < 0:
            b = -b
            if b == 1:
                return -a
            if a > b:
                a, b = b, a
            found = self._products.get((b << SHIFT) + a)
            return -(self._new_product(a, b) if found is None else found)
        if b <= 1:
            return a if b else 0
        if a > b:
            a, b = b, a
        found = self._products.get((b << SHIFT) + a)
        return self._new_product(a, b) if found is None else found

    def _new_sum(self, a: int, b: int) -> int:
        """The sum of two different atoms, 0 < a < |b|, that has not been asked for before."""
        ops = self.ops
        size = b if b > 0 else -b
        op_a, op_b = ops[a], ops[size]
        if op_a == CONSTANT or op_b == CONSTANT:
            if op_a == op_b:
                return self._fold(self.values[a], b, "+")
            folded = self._sum_with_constant(a, b) if op_a == CONSTANT else None
            if folded is None and op_b == CONSTANT:
                folded = self._sum_with_constant(b, a)
            if folded is not None:
                return folded
        elif op_a == MUL or op_b == MUL:
            # like terms: c x + d x = (c + d) x
            factor_a, core_a = self._coefficient(a, op_a)
            factor_b, core_b = self._coefficient(size, op_b)
            if core_a == core_b:
                other = self.values[factor_b]
                joined = self.values[factor_a] + (other if b > 0 else -other)
                if not joined or _SMALLEST < magnitude(joined) < _LARGEST:
                    return self.mul(self.constant(joined), core_a)
        return self.append(self._sums, (b << SHIFT) + a, ADD, a, b)

    def _coefficient(self, a: int, code: int) -> tuple[int, int]:
        """The numeric factor of an atom and what is left of it."""
        if code == MUL:
            left, right = self.left[a], self.right[a]
            if self.ops[left] == CONSTANT:
                return left, right
            if self.ops[right] == CONSTANT:
                return right, left
        return 1, a

    def _sum_with_constant(self, c: int, x: int) -> int | None:
        """C + (d + y) = (c + d) + y for exact numbers, where nothing is lost."""
        size = x if x > 0 else -x
        if self.ops[size] != ADD:
            return None
        left, right = self.left[size], self.right[size]
        if self.ops[left] != CONSTANT:
            left, right = right, left
        d, value = self.value(left), self.value(c)
        if d is None or value is None or not (is_exact(d) and is_exact(value)):
            return None
        if x < 0:
            d, right = -d, -right
        if magnitude(value + d) > _LARGEST:
            return None
        return self.add(self.constant(value + d), right)

    def _new_product(self, a: int, b: int) -> int:
        """The product of two atoms, 1 < a <= b, that has not been asked for before."""
        ops = self.ops
        op_a, op_b = ops[a], ops[b]
        if op_a == CONSTANT:
            if op_b == CONSTANT:
                return self._fold(self.values[a], b, "*")
            if op_b == MUL:
                factor, core = self._coefficient(b, op_b)
                if factor != 1:
                    return self._scaled(a, factor, core, b)
        elif op_b == CONSTANT:
            if op_a == MUL:
                factor, core = self._coefficient(a, op_a)
                if factor != 1:
                    return self._scaled(b, factor, core, a)
        elif a == b:
            return self.power_int(a, 2)
        elif op_a == DIV and self.right[a] == b:  # (x/b) b
            return self.left[a]
        elif op_b == DIV and self.right[b] == a:
            return self.left[b]
        elif op_a == POWER_INT or op_b == POWER_INT:
            base_a, n_a = (self.left[a], self.right[a]) if op_a == POWER_INT else (a, 1)
            base_b, n_b = (self.left[b], self.right[b]) if op_b == POWER_INT else (b, 1)
            if base_a == base_b and n_a + n_b <= MAX_EXPONENT:
                return self.power_int(base_a, n_a + n_b)
        return self.append(self._products, (b << SHIFT) + a, MUL, a, b)

    def _scaled(self, c: int, factor: int, core: int, x: int) -> int:
        """C (factor core), the two numbers joined unless their product leaves the range."""
        product: Number = self.values[c] * self.values[factor]
        if not _SMALLEST < product < _LARGEST:
            a, b = (c, x) if c < x else (x, c)
            return self.append(self._products, (b << SHIFT) + a, MUL, a, b)
        return self.mul(self.constant(product), core)

    def _fold(self, value: Number, b: int, sign: str) -> int:
        other = self.value(b)
        assert other is not None
        try:
            return self.constant(value + other if sign == "+" else value * other)
        except (DomainError, OverflowError):
            raise DomainError(
                f"{spelled(value)} {sign} {spelled(other)} is outside the range of a double"
            ) from None

    def div(self, a: int, b: int) -> int:
        """A / b, with the sign outside; division by a number becomes a product where exact."""
        if not b:
            raise DomainError(f"division by zero: ({self.text(a)})/0")
        sign = 1
        if a < 0:
            a, sign = -a, -1
        if b < 0:
            b, sign = -b, -sign
        if not a:
            return 0
        if b == 1:
            return sign * a
        if a == b:
            return sign
        divisor = self.value(b)
        if divisor is not None:
            if self.ops[a] == CONSTANT:
                top = self.values[a]
                if isinstance(top, float) or isinstance(divisor, float):
                    text = f"{spelled(top)}/{spelled(divisor)}"
                    return sign * self.constant(
                        guarded(text, float(top).__truediv__, float(divisor))
                    )
                return sign * self.constant(Fraction(top) / Fraction(divisor))
            if reciprocal_is_exact(divisor):
                inverse: Number = (
                    1.0 / divisor if isinstance(divisor, float) else Fraction(1) / divisor
                )
                if _SMALLEST < inverse < _LARGEST:
                    return sign * self.mul(self.constant(inverse), a)
        return sign * self.intern(DIV, a, b)

    # ------------------------------------------------------------------ powers

    def power_int(self, a: int, n: int) -> int:
        """a**n for an integer n."""
        if n == 0:
            return 1
        if abs(n) > MAX_EXPONENT:
            raise DomainError(
                f"({self.text(a)})**n with an exponent beyond {MAX_EXPONENT} in size is refused"
            )
        if n < 0:
            if not a:
                raise DomainError(f"division by zero: 0**({n})")
            return self.div(1, self.power_int(a, -n))
        if n == 1 or a == 0 or a == 1:
            return a
        if a < 0:
            size = self.power_int(-a, n)
            return -size if n % 2 else size
        code = self.ops[a]
        if code == CONSTANT:
            value = self.values[a]
            if not isinstance(value, float):
                longest = max(value.numerator.bit_length(), value.denominator.bit_length())
                if n * longest > 4096:  # no double needs that many digits
                    value = float(value)
            return self.constant(guarded(f"{spelled(value)}**{n}", lambda x: x**n, value))
        if code == POWER_INT and self.right[a] * n <= MAX_EXPONENT:
            return self.power_int(self.left[a], self.right[a] * n)
        if code == SQRT and n % 2 == 0:
            return self.power_int(self.left[a], n // 2)
        if code == ABS and n % 2 == 0:
            return self.power_int(self.left[a], n)
        table = self.tables[POWER_INT]
        key = (n << (SHIFT + 1)) + a
        found = table.get(key)
        return self.append(table, key, POWER_INT, a, n) if found is None else found


def guarded(text: str, function: Callable[[Any], Any], value: Any) -> Number:
    """A number computed by the machine; out of range is an error that names the expression."""
    try:
        return number(function(value))
    except (OverflowError, ZeroDivisionError, DomainError, ValueError):
        raise DomainError(f"{text} is outside the range of a double") from None
