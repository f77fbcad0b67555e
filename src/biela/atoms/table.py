"""The table of atoms: every operation on references, each in its canonical form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.arithmetic import Arithmetic, guarded
from biela.atoms.external import ExternalFunction
from biela.atoms.numbers import Number, magnitude, spelled, square_root
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.storage import SHIFT
from biela.errors import DomainError, WorkspaceError

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


class Table(Arithmetic):
    """The atoms of one derivation, addressed by signed references (plain integers).

    Arithmetic here takes and returns references; `biela.atoms.Workspace` adds the handles
    with operators that people write formulas with.
    """

    def power(self, a: int, b: int) -> int:
        """a**b for any real exponent; whole ones become products, 1/2 the root."""
        exponent = self.value(b)
        if exponent is None:
            return 1 if a == 1 else self.intern(op.POWER, a, b)
        if isinstance(exponent, int):
            return self.power_int(a, exponent)
        if exponent == 0.5:
            return self.unary(op.SQRT, a)
        if exponent == -0.5:
            return self.div(1, self.unary(op.SQRT, a))
        base = self.value(a)
        if base is not None:
            if base < 0 or (base == 0 and exponent < 0):
                raise DomainError(
                    f"({spelled(base)})**({spelled(exponent)}): "
                    f"a number that is not positive has no such power"
                )
            text = f"{spelled(base)}**{spelled(exponent)}"
            return self.constant(guarded(text, float(base).__pow__, float(exponent)))
        return self.intern(op.POWER, a, b)

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
        if code == op.SQRT and inner == op.POWER_INT and self.right[a] % 2 == 0 and a > 0:
            # sqrt(x^2) = |x|: its slope at 0 is then 0, not 0/0
            return self.power_int(self.unary(op.ABS, self.left[a]), self.right[a] // 2)
        table = self.tables[code]
        found = table.get(a)
        return sign * (self.append(table, a, code, a, 0) if found is None else found)

    def _function_of_number(self, code: int, value: Number | None) -> int:
        assert value is not None, "only called for constants"
        name = op.NAMES[code]
        if code == op.ABS:
            return self.constant(abs(value))
        if code == op.SIGN:
            return (value > 0) - (value < 0)
        if code == op.SQRT:
            if value < 0:
                raise DomainError(f"sqrt({spelled(value)}): a negative number has no real root")
            return self.constant(square_root(value))
        if value == 0 and code in (op.SIN, op.TAN, op.ASIN, op.ATAN, op.TANH):
            return 0
        if (value == 0 and code in (op.COS, op.EXP)) or (value == 1 and code in (op.LOG, op.ACOS)):
            return 1 if value == 0 else 0
        if code == op.LOG and value <= 0:
            raise DomainError(f"log({spelled(value)}): only positive numbers have a logarithm")
        if code in (op.ASIN, op.ACOS) and magnitude(value) > 1:
            raise DomainError(f"{name}({spelled(value)}): the argument must lie between -1 and 1")
        return self.constant(guarded(f"{name}({spelled(value)})", _MATH[code], float(value)))

    def atan2(self, y: int, x: int) -> int:
        """The angle of the vector (x, y), odd in y."""
        if y < 0:
            return -self.atan2(-y, x)
        top, bottom = self.value(y), self.value(x)
        if top is not None and bottom is not None:
            return self.constant(math.atan2(top, bottom))
        return self.intern(op.ATAN2, y, x)

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
        if a == -b:
            size = self.unary(op.ABS, a)
            return -size if code == op.MIN else size
        if abs(a) > abs(b):
            a, b = b, a
        # min(a, min(a, y)) is min(a, y); inside a negative b stands the opposite operation
        inner, sign = (code, 1) if b > 0 else (opposite, -1)
        if self.ops[abs(b)] == inner and sign * a in (self.left[abs(b)], self.right[abs(b)]):
            return b
        if a < 0 or (a == 0 and b < 0):
            return -self.intern(opposite, -a, -b)
        return self.intern(code, a, b)

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
        return self.intern(code, *max((a, b), (-b, -a)))  # a < b is -b < -a

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
        table = self.tables[op.SELECT]
        found = table.get((condition, a, b))
        if found is None:
            index = self.operand_list((a, b))
            found = self.append(table, (condition, a, b), op.SELECT, condition, index)
        return found

    def add_piecewise(self, curve: PiecewisePolynomial) -> int:
        """The index of a spline or table in this workspace."""
        with self.lock:
            known = self.piecewise_index.get(curve.key)
            if known is None:
                self._claim(curve.name)
                known = len(self.piecewise)
                self.piecewise.append(curve)
                self.piecewise_index[curve.key] = known
        return known

    def apply_piecewise(self, x: int, index: int) -> int:
        """The value of spline or table number ``index`` at x."""
        curve = self.piecewise[index]
        if curve.is_zero():
            return 0
        at = self.value(x)
        if at is not None:
            return self.constant(curve(float(at)))
        table = self.tables[op.PIECEWISE]
        key = (index << (SHIFT + 1)) + x
        found = table.get(key)
        return self.append(table, key, op.PIECEWISE, x, index) if found is None else found

    def add_external(self, function: ExternalFunction) -> int:
        """The index of an external function in this workspace."""
        with self.lock:
            known = self.external_index.get(function.name)
            if known is None:
                self._claim(function.name)
                known = len(self.externals)
                self.externals.append(function)
                self.external_index[function.name] = known
        mine = self.externals[known]
        if mine.arity != function.arity:
            raise WorkspaceError(
                f"the external function {function.name} takes {mine.arity} "
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
        table = self.tables[op.EXTERNAL]
        found = table.get(key)
        if found is None:
            position = self.operand_list(tuple(arguments))
            found = self.append(table, key, op.EXTERNAL, index, position)
        return found

    def _claim(self, name: str) -> None:
        """Refuse the name of a curve or external function that means something else already."""
        if name in op.CODES or name in ("if", "pi"):
            raise WorkspaceError(f"{name} is the name of a built-in function: choose another")
        if name in self.external_index or any(c.name == name for c in self.piecewise):
            raise WorkspaceError(
                f"workspace {self.name} already has a function {name}: choose another name"
            )

    def external_partial(self, index: int, k: int) -> int:
        """The index of the derivative of an external function by its argument k."""
        function = self.externals[index]
        partial = function.partials.get(k)
        if partial is None:
            partial = ExternalFunction(f"{function.name}_d{k + 1}", function.arity)
        known = self.add_external(partial)
        function.partials[k] = self.externals[known]
        return known

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
