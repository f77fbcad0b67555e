"""The table of atoms.

An *atom* is one operation on other atoms, kept once (hash-consing): asking again for the same
operation on the same operands gives the same atom.  The table is a set of flat lists indexed by
the atom's number; an expression is a *signed reference* to it:

    0 is the number zero,  1 is one,  -1 is minus one,  -r is the opposite of r.

So an expression and its opposite share one atom, negation costs nothing, and the identities with
0, 1 and -1 are comparisons of integers.  Operands always have smaller numbers than the atom that
uses them; hence ascending order is an order of evaluation, and no algorithm on the table needs
recursion.

Plaza, *Symbolic modelling for real-time simulation of multibody systems* (2015), ch. 3, describes
atoms; the sign rule is its figure 3.4.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from biela.atoms import opcodes as op
from biela.atoms.external import ExternalFunction
from biela.atoms.numbers import Number, is_exact, number, reciprocal_is_exact, square_root
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.symbols import Kind, Symbol, checked_name
from biela.errors import DomainError, WorkspaceError

if TYPE_CHECKING:
    from biela.atoms.workspace import Workspace

#: Operands are packed into one integer key of two machine digits: (right << SHIFT) + left.
_SHIFT: Final = 27
MAX_ATOMS: Final = 1 << _SHIFT

_MATH: Final[dict[int, Callable[[float], float]]] = {
    op.SIN: math.sin,
    op.COS: math.cos,
    op.TAN: math.tan,
    op.ASIN: math.asin,
    op.ACOS: math.acos,
    op.ATAN: math.atan,
    op.EXP: math.exp,
    op.LOG: math.log,
    op.TANH: math.tanh,
}


class Table:
    """The atoms of one derivation, addressed by signed references (plain integers).

    Arithmetic here takes and returns references; :class:`biela.atoms.Workspace` adds the handles
    with operators that people write formulas with.
    """

    def __init__(self, name: str = "workspace") -> None:
        self.name = name
        self.ops = bytearray((op.CONSTANT, op.CONSTANT))
        self.left: list[int] = [0, 0]
        self.right: list[int] = [0, 0]
        #: Operand lists of the operations with more than two operands, by ``right``.
        self.operand_lists: list[tuple[int, ...]] = []
        #: Value of each constant; negative numbers are the opposites of positive ones.
        self.values: dict[int, Number] = {0: 0, 1: 1}
        self.symbols: dict[int, Symbol] = {}
        self.piecewise: list[PiecewisePolynomial] = []
        self.externals: list[ExternalFunction] = []
        #: Reference of each number met so far, of both signs.
        self.numbers: dict[object, int] = {0: 0, 1: 1, -1: -1}
        self._names: dict[str, int] = {}
        self._piecewise_index: dict[tuple[object, ...], int] = {}
        self._external_index: dict[str, int] = {}
        self._tables: list[dict[Any, int]] = [{} for _ in range(op.OPERATIONS)]
        self._sums, self._products = self._tables[op.ADD], self._tables[op.MUL]
        self._lock = threading.Lock()
        #: Derivatives already taken: symbol -> {atom: reference}.
        self.derivatives: dict[int, dict[int, int]] = {}
        #: The workspace around the table, for the handles.
        self.workspace: Workspace

    def __len__(self) -> int:
        """How many atoms the table holds, leaves included."""
        return len(self.ops)

    # ------------------------------------------------------------------ leaves

    def constant(self, value: object) -> int:
        """The reference of a number."""
        exact = number(value)
        found = self.numbers.get(exact)
        if found is not None:
            return found
        size = abs(exact)

        def record(new: int) -> None:
            self.values[new] = size
            self.numbers[-size] = -new

        new = self._append(self.numbers, size, op.CONSTANT, 0, 0, record)
        return new if exact > 0 else -new

    def add_symbol(self, name: str, kind: Kind) -> int:
        """The reference of the symbol ``name``, made if it is new."""
        known = self._names.get(name)
        if known is not None:
            if self.symbols[known].kind is not kind:
                raise WorkspaceError(
                    f"{name} is already a {self.symbols[known].kind.name.lower()} of workspace "
                    f"{self.name}; it cannot be a {kind.name.lower()} too: choose another name"
                )
            return known
        record = Symbol(checked_name(name), kind)
        return self._append(
            self._names, name, op.SYMBOL, 0, 0, lambda new: self.symbols.update({new: record})
        )

    def find_symbol(self, name: str) -> int | None:
        """The reference of the symbol of that name, if there is one."""
        return self._names.get(name)

    def value(self, ref: int) -> Number | None:
        """The number a reference stands for; None if it is not a constant."""
        if self.ops[ref if ref >= 0 else -ref] != op.CONSTANT:
            return None
        return self.values[ref] if ref >= 0 else -self.values[-ref]

    # -------------------------------------------------------------- arithmetic

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
            found = self._sums.get((b << _SHIFT) + a)
            return self._new_sum(a, b) if found is None else found
        found = self._sums.get((-b << _SHIFT) - a)
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
            found = self._products.get((b << _SHIFT) + a)
            return -(self._new_product(a, b) if found is None else found)
        if b <= 1:
            return a if b else 0
        if a > b:
            a, b = b, a
        found = self._products.get((b << _SHIFT) + a)
        return self._new_product(a, b) if found is None else found

    def _new_sum(self, a: int, b: int) -> int:
        """The sum of two different atoms, 0 < a < |b|, that has not been asked for before."""
        ops = self.ops
        size = b if b > 0 else -b
        op_a, op_b = ops[a], ops[size]
        if op_a == op.CONSTANT or op_b == op.CONSTANT:
            if op_a == op_b:
                return self._fold(f"{self.values[a]} + {self.value(b)}", self.values[a], b, "+")
            folded = self._sum_with_constant(a, b) if op_a == op.CONSTANT else None
            if folded is None and op_b == op.CONSTANT:
                folded = self._sum_with_constant(b, a)
            if folded is not None:
                return folded
        elif op_a == op.MUL or op_b == op.MUL:
            # like terms: c x + d x = (c + d) x
            factor_a, core_a = self._coefficient(a, op_a)
            factor_b, core_b = self._coefficient(size, op_b)
            if core_a == core_b:
                return self.mul(self.add(factor_a, factor_b if b > 0 else -factor_b), core_a)
        return self._append(self._sums, (b << _SHIFT) + a, op.ADD, a, b)

    def _coefficient(self, a: int, code: int) -> tuple[int, int]:
        """The numeric factor of an atom and what is left of it."""
        if code == op.MUL:
            left, right = self.left[a], self.right[a]
            if self.ops[left] == op.CONSTANT:
                return left, right
            if self.ops[right] == op.CONSTANT:
                return right, left
        return 1, a

    def _sum_with_constant(self, c: int, x: int) -> int | None:
        """C + (d + y) = (c + d) + y for exact numbers, where nothing is lost."""
        size = x if x > 0 else -x
        if self.ops[size] != op.ADD:
            return None
        left, right = self.left[size], self.right[size]
        if self.ops[left] != op.CONSTANT:
            left, right = right, left
        d, value = self.value(left), self.value(c)
        if d is None or value is None or not (is_exact(d) and is_exact(value)):
            return None
        if x < 0:
            d, right = -d, -right
        return self.add(self.constant(value + d), right)

    def _new_product(self, a: int, b: int) -> int:
        """The product of two atoms, 1 < a <= b, that has not been asked for before."""
        ops = self.ops
        op_a, op_b = ops[a], ops[b]
        if op_a == op.CONSTANT:
            if op_b == op.CONSTANT:
                return self._fold(f"{self.values[a]}*{self.values[b]}", self.values[a], b, "*")
            if op_b == op.MUL:
                factor, core = self._coefficient(b, op_b)
                if factor != 1:
                    return self._scaled(a, factor, core, b)
        elif op_b == op.CONSTANT:
            if op_a == op.MUL:
                factor, core = self._coefficient(a, op_a)
                if factor != 1:
                    return self._scaled(b, factor, core, a)
        elif a == b:
            return self.power_int(a, 2)
        elif op_a == op.POWER_INT or op_b == op.POWER_INT:
            base_a, n_a = (self.left[a], self.right[a]) if op_a == op.POWER_INT else (a, 1)
            base_b, n_b = (self.left[b], self.right[b]) if op_b == op.POWER_INT else (b, 1)
            if base_a == base_b:
                return self.power_int(base_a, n_a + n_b)
        return self._append(self._products, (b << _SHIFT) + a, op.MUL, a, b)

    def _scaled(self, c: int, factor: int, core: int, x: int) -> int:
        """C (factor core), the two numbers joined unless their product leaves the range."""
        try:
            joined = self.constant(self.values[c] * self.values[factor])
        except (DomainError, OverflowError):
            a, b = (c, x) if c < x else (x, c)
            return self._append(self._products, (b << _SHIFT) + a, op.MUL, a, b)
        return self.mul(joined, core)

    def _fold(self, text: str, value: Number, b: int, sign: str) -> int:
        other = self.value(b)
        assert other is not None
        try:
            return self.constant(value + other if sign == "+" else value * other)
        except (DomainError, OverflowError):
            raise DomainError(f"{text} is outside the range of a double") from None

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
            if self.ops[a] == op.CONSTANT:
                top = self.values[a]
                quotient = (
                    Fraction(top, divisor)
                    if is_exact(top) and is_exact(divisor)
                    else _guarded(f"{top}/{divisor}", float(top).__truediv__, float(divisor))
                )
                return sign * self.constant(quotient)
            if reciprocal_is_exact(divisor):
                inverse = 1 / divisor if isinstance(divisor, float) else Fraction(1) / divisor
                if abs(inverse) < math.inf:
                    return sign * self.mul(self.constant(inverse), a)
        return sign * self._intern(op.DIV, a, b)

    # ------------------------------------------------------------------ powers

    def power_int(self, a: int, n: int) -> int:
        """a**n for an integer n."""
        if n == 0:
            return 1
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
        if code == op.CONSTANT:
            value = self.values[a]
            if is_exact(value) and n * math.log2(max(value.numerator, value.denominator)) > 4096:
                value = float(value)
            return self.constant(_guarded(f"{value}**{n}", lambda x: x**n, value))
        if code == op.POWER_INT:
            return self.power_int(self.left[a], self.right[a] * n)
        if code == op.SQRT:
            whole = self.power_int(self.left[a], n // 2)
            return self.mul(whole, a) if n % 2 else whole
        if code == op.ABS and n % 2 == 0:
            return self.power_int(self.left[a], n)
        table = self._tables[op.POWER_INT]
        key = (n << (_SHIFT + 1)) + a
        found = table.get(key)
        return self._append(table, key, op.POWER_INT, a, n) if found is None else found

    def power(self, a: int, b: int) -> int:
        """a**b for any real exponent; whole and half exponents become products and roots."""
        exponent = self.value(b)
        if exponent is None:
            return 1 if a == 1 else self._intern(op.POWER, a, b)
        if isinstance(exponent, int):
            return self.power_int(a, exponent)
        twice = 2 * exponent
        if twice == int(twice) and abs(twice) < 64:
            half = int(twice)
            return self.mul(self.power_int(a, (half - 1) // 2), self.unary(op.SQRT, a))
        base = self.value(a)
        if base is not None:
            if base < 0 or (base == 0 and exponent < 0):
                raise DomainError(
                    f"({base})**({exponent}): a number that is not positive has no such power"
                )
            text = f"{base}**{exponent}"
            return self.constant(_guarded(text, float(base).__pow__, float(exponent)))
        return self._intern(op.POWER, a, b)

    # --------------------------------------------------------------- functions

    def unary(self, code: int, a: int) -> int:
        """A function of one argument, with its parity and its values at numbers."""
        sign = 1
        if a < 0:
            if code in op.ODD:
                a, sign = -a, -1
            elif code in op.EVEN:
                a = -a
        inner = self.ops[a if a >= 0 else -a]
        if inner == op.CONSTANT:
            return sign * self._function_of_number(code, self.value(a))
        if code == op.ABS and inner in (op.ABS, op.SQRT, op.EXP):
            return a
        table = self._tables[code]
        found = table.get(a)
        return sign * (self._append(table, a, code, a, 0) if found is None else found)

    def _function_of_number(self, code: int, value: Number | None) -> int:
        assert value is not None
        name = op.NAMES[code]
        if code == op.ABS:
            return self.constant(abs(value))
        if code == op.SIGN:
            return (value > 0) - (value < 0)
        if code == op.SQRT:
            if value < 0:
                raise DomainError(f"sqrt({value}): a negative number has no real root")
            return self.constant(square_root(value))
        if value == 0 and code in (op.SIN, op.TAN, op.ASIN, op.ATAN, op.TANH):
            return 0
        if (value == 0 and code in (op.COS, op.EXP)) or (value == 1 and code in (op.LOG, op.ACOS)):
            return 1 if value == 0 else 0
        if code == op.LOG and value <= 0:
            raise DomainError(f"log({value}): only positive numbers have a logarithm")
        if code in (op.ASIN, op.ACOS) and abs(value) > 1:
            raise DomainError(f"{name}({value}): the argument must lie between -1 and 1")
        return self.constant(_guarded(f"{name}({value})", _MATH[code], float(value)))

    def atan2(self, y: int, x: int) -> int:
        """The angle of the vector (x, y), odd in y."""
        if y < 0:
            return -self.atan2(-y, x)
        top, bottom = self.value(y), self.value(x)
        if top is not None and bottom is not None:
            return self.constant(math.atan2(top, bottom))
        return self._intern(op.ATAN2, y, x)

    def minimum(self, a: int, b: int) -> int:
        """The smaller of a and b; min(-a, -b) = -max(a, b) shares one atom."""
        return self._extreme(op.MIN, op.MAX, a, b)

    def maximum(self, a: int, b: int) -> int:
        """The larger of a and b."""
        return self._extreme(op.MAX, op.MIN, a, b)

    def _extreme(self, code: int, opposite: int, a: int, b: int) -> int:
        if a == b:
            return a
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return a if (x < y) == (code == op.MIN) else b
        if abs(a) > abs(b) or (a == -b and a < 0):
            a, b = b, a
        if a < 0:
            return -self._intern(opposite, -a, -b)
        return self._intern(code, a, b)

    def less(self, a: int, b: int) -> int:
        """1 where a < b, else 0."""
        return self._comparison(op.LESS, a, b)

    def less_equal(self, a: int, b: int) -> int:
        """1 where a <= b, else 0."""
        return self._comparison(op.LESS_EQUAL, a, b)

    def _comparison(self, code: int, a: int, b: int) -> int:
        if a == b:
            return int(code == op.LESS_EQUAL)
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return int(x < y or (x == y and code == op.LESS_EQUAL))
        if a < 0 and b <= 0:  # -a < -b is b < a
            a, b = -b, -a
        return self._intern(code, a, b)

    def select(self, condition: int, a: int, b: int) -> int:
        """``a`` where the condition is not 0, else ``b``."""
        if a == b:
            return a
        chosen = self.value(condition)
        if chosen is not None:
            return a if chosen != 0 else b
        if a < 0 or (a == 0 and b < 0):
            return -self.select(condition, -a, -b)
        if condition < 0:
            condition = -condition
        table = self._tables[op.SELECT]
        found = table.get((condition, a, b))
        if found is None:
            index = self._operand_list((a, b))
            found = self._append(table, (condition, a, b), op.SELECT, condition, index)
        return found

    def add_piecewise(self, curve: PiecewisePolynomial) -> int:
        """The index of a spline or table in this workspace."""
        known = self._piecewise_index.get(curve.key)
        if known is None:
            known = self._piecewise_index[curve.key] = len(self.piecewise)
            self.piecewise.append(curve)
        return known

    def apply_piecewise(self, x: int, index: int) -> int:
        """The value of spline or table number ``index`` at x."""
        curve = self.piecewise[index]
        if curve.is_zero():
            return 0
        at = self.value(x)
        if at is not None:
            return self.constant(curve(float(at)))
        table = self._tables[op.PIECEWISE]
        key = (index << (_SHIFT + 1)) + x
        found = table.get(key)
        return self._append(table, key, op.PIECEWISE, x, index) if found is None else found

    def add_external(self, function: ExternalFunction) -> int:
        """The index of an external function in this workspace."""
        known = self._external_index.get(function.name)
        if known is None:
            known = self._external_index[function.name] = len(self.externals)
            self.externals.append(function)
        elif self.externals[known].arity != function.arity:
            raise WorkspaceError(
                f"the external function {function.name} takes {self.externals[known].arity} "
                f"arguments in workspace {self.name}, not {function.arity}"
            )
        return known

    def apply_external(self, index: int, arguments: Sequence[int]) -> int:
        """External function number ``index`` of the arguments."""
        function = self.externals[index]
        if len(arguments) != function.arity:
            raise DomainError(
                f"{function.name} takes {function.arity} arguments, not {len(arguments)}"
            )
        key = (index, *arguments)
        table = self._tables[op.EXTERNAL]
        found = table.get(key)
        if found is None:
            position = self._operand_list(tuple(arguments))
            found = self._append(table, key, op.EXTERNAL, index, position)
        return found

    def external_partial(self, index: int, k: int) -> int:
        """The index of the derivative of an external function by its argument k."""
        function = self.externals[index]
        if k not in function.partials:
            name = f"{function.name}_d{k + 1}"
            known = self._external_index.get(name)
            function.partials[k] = (
                ExternalFunction(name, function.arity) if known is None else self.externals[known]
            )
        return self.add_external(function.partials[k])

    # ------------------------------------------------------------------- graph

    def operands(self, atom: int) -> tuple[int, ...]:
        """The references of the operands of an atom."""
        code = self.ops[atom]
        if code in op.BINARY:
            return self.left[atom], self.right[atom]
        if code in op.UNARY or code in op.UNARY_WITH_NUMBER:
            return (self.left[atom],)
        if code == op.SELECT:
            return (self.left[atom], *self.operand_lists[self.right[atom]])
        if code == op.EXTERNAL:
            return self.operand_lists[self.right[atom]]
        return ()

    def rebuild(self, code: int, operands: Sequence[int], payload: int = 0) -> int:
        """The operation ``code`` on other operands; ``payload`` is what is not an operand.

        That is the exponent of an integer power, and the index of a spline or external function.
        """
        if code == op.ADD:
            return self.add(operands[0], operands[1])
        if code == op.MUL:
            return self.mul(operands[0], operands[1])
        if code in op.UNARY:
            return self.unary(code, operands[0])
        if code == op.POWER_INT:
            return self.power_int(operands[0], payload)
        if code == op.PIECEWISE:
            return self.apply_piecewise(operands[0], payload)
        if code == op.EXTERNAL:
            return self.apply_external(payload, operands)
        build: dict[int, Callable[..., int]] = {
            op.DIV: self.div,
            op.POWER: self.power,
            op.ATAN2: self.atan2,
            op.MIN: self.minimum,
            op.MAX: self.maximum,
            op.LESS: self.less,
            op.LESS_EQUAL: self.less_equal,
            op.SELECT: self.select,
        }
        return build[code](*operands)

    def payload(self, atom: int) -> int:
        """What an atom holds besides operands: exponent, or index of spline or external."""
        code = self.ops[atom]
        if code in op.UNARY_WITH_NUMBER:
            return self.right[atom]
        return self.left[atom] if code == op.EXTERNAL else 0

    def live(self, refs: Iterable[int]) -> list[int]:
        """The atoms that the references depend on, themselves included, in order of evaluation."""
        left, right, ops = self.left, self.right, self.ops
        seen: set[int] = set()
        visit = seen.add
        stack = [r if r >= 0 else -r for r in refs]
        push = stack.append
        while stack:
            atom = stack.pop()
            if atom in seen:
                continue
            visit(atom)
            code = ops[atom]
            if code == op.ADD or code == op.MUL:
                push(left[atom])
                other = right[atom]
                push(other if other >= 0 else -other)
            elif code > op.SYMBOL:
                stack.extend([r if r >= 0 else -r for r in self.operands(atom)])
        return sorted(seen)

    def text(self, ref: int, limit: int = 200) -> str:
        """A short expanded text of an expression, for messages."""
        from biela.atoms.text import short_text

        return short_text(self, ref, limit)

    # ----------------------------------------------------------------- storage

    def restore(
        self,
        ops: bytearray,
        left: list[int],
        right: list[int],
        operand_lists: list[tuple[int, ...]],
        values: dict[int, Number],
        symbols: dict[int, Symbol],
        piecewise: list[PiecewisePolynomial],
        externals: list[tuple[str, int, dict[int, str]]],
    ) -> None:
        """Fill an empty table from stored lists and make its indices anew."""
        self.ops, self.left, self.right = ops, left, right
        self.operand_lists, self.values, self.symbols = operand_lists, values, symbols
        for curve in piecewise:
            self.add_piecewise(curve)
        for name, arity, _ in externals:
            self.add_external(ExternalFunction(name, arity))
        for function, (_, _, partials) in zip(self.externals, externals, strict=True):
            for k, partial in partials.items():
                found = self._external_index.get(partial)
                function.partials[k] = (
                    ExternalFunction(partial, function.arity)
                    if found is None
                    else self.externals[found]
                )
        for ref, value in values.items():
            self.numbers[value], self.numbers[-value] = ref, -ref
        self._names = {symbol.name: ref for ref, symbol in symbols.items()}
        for atom, code in enumerate(ops):
            if code > op.SYMBOL:
                self._tables[code][self._key(atom, code)] = atom

    def _key(self, atom: int, code: int) -> object:
        """The key under which an atom is found; the inverse of what the makers above do."""
        left, right = self.left[atom], self.right[atom]
        if code == op.ADD or code == op.MUL:
            return (right << _SHIFT) + left
        if code in op.UNARY:
            return left
        if code in op.UNARY_WITH_NUMBER:
            return (right << (_SHIFT + 1)) + left
        if code == op.SELECT or code == op.EXTERNAL:
            return (left, *self.operand_lists[right])
        return (left << (_SHIFT + 2)) + right

    def _intern(self, code: int, a: int, b: int) -> int:
        table = self._tables[code]
        key = (a << (_SHIFT + 2)) + b
        found = table.get(key)
        return self._append(table, key, code, a, b) if found is None else found

    def _operand_list(self, operands: tuple[int, ...]) -> int:
        with self._lock:
            self.operand_lists.append(operands)
            return len(self.operand_lists) - 1

    def _append(
        self,
        table: dict[Any, int],
        key: object,
        code: int,
        left: int,
        right: int,
        record: Callable[[int], None] | None = None,
    ) -> int:
        """Add an atom to the table; another thread may have been first.

        ``record`` stores what belongs to a leaf before any other thread can find it.
        """
        with self._lock:
            found = table.get(key)
            if found is None:
                found = len(self.left)
                if found >= MAX_ATOMS:
                    raise WorkspaceError(
                        f"workspace {self.name} is full: it holds {MAX_ATOMS} atoms; "
                        f"use several workspaces and Function.inline"
                    )
                self.ops.append(code)
                self.left.append(left)
                self.right.append(right)
                if record is not None:
                    record(found)
                table[key] = found
        return found


def _guarded(text: str, function: Callable[[Any], Any], value: Any) -> Number:
    """A number computed by the machine; out of range is an error that names the expression."""
    try:
        return number(function(value))
    except (OverflowError, ZeroDivisionError, DomainError, ValueError):
        raise DomainError(f"{text} is outside the range of a double") from None
