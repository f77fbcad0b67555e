"""Expressions from SymPy and back.

A SymPy expression is a tree of n-ary sums and products; an atom has two operands and is kept once.
Coming in, every node of the tree is visited once (trees that share Python objects stay shared) and
written with the operations of the table; what has no real counterpart there is an error, never a
guess.  Going out, the sharing survives as shared Python objects, but SymPy itself walks trees, so
the size is limited as for `biela.atoms.expanded_text`.

In the notation of ``sympy.physics.mechanics`` a coordinate is a function of time: ``f(t)`` is the
symbol ``f``, ``Derivative(f(t), t)`` its velocity symbol, the second derivative its acceleration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.atoms.text import expanded_size
from biela.atoms.workspace import Workspace
from biela.errors import DomainError, ExpressionTooLargeError, WorkspaceError

#: What ``to_sympy`` hands over at most unless told otherwise, in leaves and operations.
DEFAULT_LIMIT = 10_000


def from_sympy(workspace: Workspace, expression: Any, declare: Kind | None = None) -> Any:
    """The atom of a SymPy expression; of a SymPy matrix, the list of its rows.

    Symbols are found by name.  With ``declare`` unknown ones are declared with that kind, and
    unknown functions of time as coordinates; the symbol ``t`` is always the time.

    >>> import sympy
    >>> from biela.atoms import Kind, Workspace
    >>> m, v = sympy.symbols("m v")
    >>> from_sympy(Workspace(), m * v**2, declare=Kind.PARAMETER)
    m*v**2

    Raises:
        WorkspaceError: If a name is unknown, or stands for two different things in the expression.
        DomainError: If part of the expression has no real counterpart.
    """
    sympy = _sympy()
    if isinstance(expression, type):
        raise DomainError(f"the type {expression.__name__} is no expression of SymPy")
    if isinstance(expression, str):
        raise DomainError(f"{expression!r} is text: turn it into an expression with parse")
    reader = _Reader(sympy, workspace, declare)
    if isinstance(expression, sympy.MatrixBase):
        rows, columns = expression.shape
        return [[reader.atom(expression[i, j]) for j in range(columns)] for i in range(rows)]
    try:
        return reader.atom(sympy.sympify(expression, strict=True))
    except sympy.SympifyError:
        kind = type(expression).__name__
        raise DomainError(f"an object of type {kind} is no expression of SymPy") from None


def to_sympy(atom: Atom, limit: int = DEFAULT_LIMIT) -> Any:
    """The SymPy expression of an atom.

    Symbols become plain SymPy symbols, splines and external functions undefined functions, and
    the float nearest to pi becomes pi.

    >>> from biela.atoms import Workspace, sin
    >>> x = Workspace().symbol("x")
    >>> to_sympy(sin(x) ** 2 / 3)
    sin(x)**2/3

    Raises:
        ExpressionTooLargeError: If the expanded expression has more than ``limit`` leaves and
            operations, or is nested deeper than SymPy can follow.
    """
    sympy = _sympy()
    size = expanded_size(atom)
    if size > limit:
        raise ExpressionTooLargeError(
            f"the expanded expression has more than {limit} leaves and operations, which SymPy "
            f"would handle slowly: raise the limit, or work on the atoms"
        )
    try:
        return _Writer(sympy, atom.table).expression(atom.ref)
    except RecursionError:
        raise ExpressionTooLargeError(
            f"the expression of {size} leaves and operations is nested deeper than SymPy, which "
            f"recurses, can follow"
        ) from None


def _sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise ImportError(
            "expressions to and from SymPy need SymPy: pip install biela[sympy]"
        ) from None
    return sympy


# ------------------------------------------------------------------------------ from SymPy


class _Reader:
    """Makes atoms of SymPy nodes, each once."""

    def __init__(self, sympy: Any, workspace: Workspace, declare: Kind | None) -> None:
        self.sympy = sympy
        self.workspace = workspace
        self.table = workspace.table
        self.declare = declare
        #: References by the identity of the node; the node is kept so that the identity stays.
        self.known: dict[int, tuple[int, Any]] = {}
        #: The SymPy object each name stands for.
        self.named: dict[str, Any] = {}
        self.operations = _operations(sympy, self.table)

    def atom(self, root: Any) -> Atom:
        stack = [root]
        known = self.known
        while stack:
            node = stack[-1]
            if id(node) in known:
                stack.pop()
                continue
            parts = self._parts(node)
            missing = [part for part in parts if id(part) not in known]
            if missing:
                stack += reversed(missing)
            else:
                known[id(node)] = self._reference(node, [known[id(p)][0] for p in parts]), node
        return Atom(self.table, known[id(root)][0])

    def _parts(self, node: Any) -> tuple[Any, ...]:
        """The nodes whose atoms are needed for that of ``node``."""
        sympy = self.sympy
        if node.is_Mul:
            # a factor x**-n is written as a divisor; its base is needed, not itself
            return tuple(f.base if _is_divisor(f) else f for f in node.args)
        if isinstance(node, sympy.Derivative) or self._coordinate_name(node):
            return ()
        if isinstance(node, sympy.Piecewise):
            return tuple(part for pair in node.args for part in pair.args)
        if node.func in self.operations or _is_undefined(node, sympy):
            return tuple(node.args)
        return ()

    def _reference(self, node: Any, parts: list[int]) -> int:
        sympy, table = self.sympy, self.table
        if node.is_Symbol:
            return self._symbol(node.name, node)
        if node.is_Mul:
            return self._product(node, parts)
        if isinstance(node, sympy.Piecewise):
            return self._cases(node, parts)
        if isinstance(node, sympy.Derivative):
            return self._rate(node)
        name = self._coordinate_name(node)
        if name:
            return self._symbol(name, node)
        if _is_undefined(node, sympy):
            return self._undefined(node, parts)
        if node.func in self.operations:
            return self.operations[node.func](*parts)
        if node is sympy.true or node is sympy.false:
            return int(node is sympy.true)
        if node.is_Rational:
            return table.constant(Fraction(int(node.p), int(node.q)))
        if node.is_Float or node.is_NumberSymbol:
            return table.constant(float(node))
        raise DomainError(
            f"SymPy's {_shown(node)} ({type(node).__name__}) has no counterpart among real "
            f"expressions of biela: rewrite or evaluate it first (doit, rewrite, evalf)"
        )

    def _product(self, node: Any, parts: list[int]) -> int:
        table = self.table
        top = bottom = 1
        for factor, ref in zip(node.args, parts, strict=True):
            if _is_divisor(factor):
                exponent = table.constant(Fraction(int(-factor.exp.p), int(factor.exp.q)))
                bottom = table.mul(bottom, table.power(ref, exponent))
            else:
                top = table.mul(top, ref)
        return table.div(top, bottom)

    def _cases(self, node: Any, parts: list[int]) -> int:
        if node.args[-1].cond is not self.sympy.true:
            raise DomainError(
                f"SymPy's {_shown(node)} has no value where no condition holds: "
                f"end it with a pair (value, True)"
            )
        result = parts[-2]
        for k in range(len(parts) - 4, -1, -2):
            result = self.table.select(parts[k + 1], parts[k], result)
        return result

    def _symbol(self, name: str, node: Any) -> int:
        other = self.named.setdefault(name, node)
        if other != node:
            raise WorkspaceError(
                f"{name} stands for two different things of SymPy, {_shown(other)} and "
                f"{_shown(node)} (perhaps with other assumptions): rename one"
            )
        workspace = self.workspace
        if name in workspace or (self.declare is None and name != "t"):
            return workspace[name].ref
        if name == "t":
            return workspace.time.ref
        if self.declare is Kind.COORDINATE or not node.is_Symbol:
            return workspace.coordinate(name).ref
        return workspace.symbol(name, self.declare or Kind.FREE).ref

    def _coordinate_name(self, node: Any) -> str:
        """The name f of a node f(t), unless f is a function of the workspace."""
        if not _is_undefined(node, self.sympy) or len(node.args) != 1:
            return ""
        argument, name = node.args[0], str(node.func.__name__)
        is_time = argument.is_Symbol and argument.name == "t"
        return name if is_time and _function(self.table, name) is None else ""

    def _rate(self, node: Any) -> int:
        """The velocity or acceleration symbol of Derivative(f(t), (t, n))."""
        name = self._coordinate_name(node.expr)
        if not name or list(node.variables) != [node.expr.args[0]] * len(node.variables):
            raise DomainError(
                f"SymPy's {_shown(node)} is not the time derivative of a coordinate f(t): "
                f"evaluate it with doit"
            )
        ref = self._symbol(name, node.expr)
        for _ in node.variables:
            symbol = self.table.symbols.get(ref)
            ref = symbol.rate if symbol is not None else 0
            if not ref:
                raise DomainError(
                    f"SymPy's {_shown(node)} has no symbol: {name} is no coordinate of workspace "
                    f"{self.table.name} with so many rates"
                )
        return ref

    def _undefined(self, node: Any, parts: list[int]) -> int:
        name = str(node.func.__name__)
        apply = _function(self.table, name)
        if apply is None:
            raise DomainError(
                f"SymPy's {_shown(node)}: {name} is neither a spline nor an external function of "
                f"workspace {self.table.name}, and only functions of t alone are coordinates"
            )
        return apply(parts)


def _operations(sympy: Any, table: Table) -> dict[Any, Callable[..., int]]:
    """The operation of the table for each class of SymPy."""
    add, sub, mul, div, square = table.add, table.sub, table.mul, table.div, _square(table)
    same = {code: partial(table.unary, code) for code in op.UNARY}
    sin, cos, exp, log, sqrt, tanh = (
        same[code] for code in (op.SIN, op.COS, op.EXP, op.LOG, op.SQRT, op.TANH)
    )
    half = table.constant(Fraction(1, 2))

    def cosh(x: int) -> int:
        return mul(half, add(exp(x), exp(-x)))

    def sinh(x: int) -> int:
        # the difference of two exponentials would lose every digit near zero
        return mul(tanh(x), cosh(x))

    def equal(a: int, b: int) -> int:
        return mul(table.less_equal(a, b), table.less_equal(b, a))

    def heaviside(x: int, middle: int) -> int:
        return table.select(table.less(x, 0), 0, table.select(table.less(0, x), 1, middle))

    operations: dict[Any, Callable[..., int]] = {
        sympy.Add: lambda *x: reduce(add, x),
        sympy.Pow: table.power,
        sympy.sinh: sinh,
        sympy.cosh: cosh,
        sympy.coth: lambda x: div(1, tanh(x)),
        sympy.asinh: lambda x: log(add(x, sqrt(add(square(x), 1)))),
        sympy.acosh: lambda x: log(add(x, sqrt(sub(square(x), 1)))),
        sympy.atanh: lambda x: mul(half, log(div(add(1, x), sub(1, x)))),
        sympy.cot: lambda x: div(cos(x), sin(x)),
        sympy.sec: lambda x: div(1, cos(x)),
        sympy.csc: lambda x: div(1, sin(x)),
        sympy.sinc: lambda x: table.select(x, div(sin(x), x), 1),
        sympy.atan2: table.atan2,
        sympy.Min: lambda *x: reduce(table.minimum, x),
        sympy.Max: lambda *x: reduce(table.maximum, x),
        sympy.Heaviside: heaviside,
        sympy.StrictLessThan: table.less,
        sympy.LessThan: table.less_equal,
        sympy.StrictGreaterThan: lambda a, b: table.less(b, a),
        sympy.GreaterThan: lambda a, b: table.less_equal(b, a),
        sympy.Equality: equal,
        sympy.Unequality: lambda a, b: sub(1, equal(a, b)),
        sympy.And: lambda *x: reduce(mul, x),
        sympy.Or: lambda *x: reduce(table.maximum, x),
        sympy.Not: lambda x: sub(1, x),
        sympy.Xor: lambda *x: reduce(lambda a, b: square(sub(a, b)), x),
        sympy.ITE: table.select,
    }
    for code, function in _shared(sympy).items():
        operations[function] = same[code]
    return operations


def _square(table: Table) -> Callable[[int], int]:
    return lambda x: table.power_int(x, 2)


def _shared(sympy: Any) -> dict[int, Any]:
    """The functions of one argument that SymPy has too; a root is a power there."""
    names = {op.ABS: "Abs"}
    return {code: getattr(sympy, names.get(code, op.NAMES[code])) for code in op.UNARY - {op.SQRT}}


def _function(table: Table, name: str) -> Callable[[list[int]], int] | None:
    """The spline or external function of that name, ready to be applied."""
    for index, curve in enumerate(table.piecewise):
        if curve.name == name:
            return lambda x: table.apply_piecewise(x[0], index)
    for index, function in enumerate(table.externals):
        if function.name == name:
            return lambda x: table.apply_external(index, x)
    return None


def _is_divisor(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative)


def _is_undefined(node: Any, sympy: Any) -> bool:
    return isinstance(node, sympy.core.function.AppliedUndef)


def _shown(node: Any) -> str:
    try:
        text = str(node)
    except RecursionError:
        return "deeply nested expression"
    return text if len(text) <= 60 else f"{text[:57]}..."


# ------------------------------------------------------------------------------ to SymPy


class _Writer:
    """Makes SymPy expressions of atoms, each once."""

    def __init__(self, sympy: Any, table: Table) -> None:
        self.sympy = sympy
        self.table = table
        self.functions = _shared(sympy)
        self.known: dict[int, Any] = {}

    def expression(self, ref: int) -> Any:
        known = self.known
        stack = [abs(ref)]
        while stack:
            atom = stack[-1]
            if atom in known:
                stack.pop()
                continue
            parts = self._terms(atom)
            missing = [abs(part) for part in parts if abs(part) not in known]
            if missing:
                stack += reversed(missing)
            else:
                known[atom] = self._node(atom, [self._signed(part) for part in parts])
        return self._signed(ref)

    def _signed(self, ref: int) -> Any:
        return self.known[ref] if ref >= 0 else -self.known[-ref]

    def _terms(self, atom: int) -> list[int]:
        """The operands; of a sum or product all of them, or SymPy would sort them at every step."""
        table = self.table
        code = table.ops[atom]
        if code != op.ADD and code != op.MUL:
            return list(table.operands(atom))
        terms, stack = [], [atom]
        while stack:
            ref = stack.pop()
            if table.ops[abs(ref)] != code:
                terms.append(ref)
                continue
            a, b = table.operands(abs(ref))
            stack += (b, a) if ref > 0 else (-b, -a)
        return terms

    def _node(self, atom: int, parts: list[Any]) -> Any:
        sympy, table = self.sympy, self.table
        code = table.ops[atom]
        if code in self.functions:
            return self.functions[code](parts[0])
        if code == op.ADD:
            return sympy.Add(*parts)
        if code == op.MUL:
            return sympy.Mul(*parts)
        if code == op.DIV:
            return parts[0] / parts[1]
        if code == op.POWER_INT:
            return parts[0] ** table.right[atom]
        if code == op.POWER:
            return parts[0] ** parts[1]
        if code == op.SQRT:
            return sympy.sqrt(parts[0])
        if code == op.SYMBOL:
            return sympy.Symbol(table.symbols[atom].name)
        if code == op.CONSTANT:
            value = table.values[atom]
            if isinstance(value, Fraction):
                return sympy.Rational(value.numerator, value.denominator)
            return sympy.pi if value == math.pi else sympy.sympify(value)
        if code == op.SELECT:
            condition = self._condition(table.left[atom], parts[0])
            return sympy.Piecewise((parts[1], condition), (parts[2], True))
        if code == op.PIECEWISE:
            return sympy.Function(table.piecewise[table.right[atom]].name)(*parts)
        if code == op.EXTERNAL:
            return sympy.Function(table.externals[table.left[atom]].name)(*parts)
        if code == op.LESS:
            return sympy.Piecewise((1, sympy.Lt(*parts)), (0, True))
        if code == op.LESS_EQUAL:
            return sympy.Piecewise((1, sympy.Le(*parts)), (0, True))
        return {op.ATAN2: sympy.atan2, op.MIN: sympy.Min, op.MAX: sympy.Max}[code](*parts)

    def _condition(self, ref: int, node: Any) -> Any:
        """A comparison as itself, any other condition as different from 0."""
        table = self.table
        code = table.ops[ref]
        if code not in (op.LESS, op.LESS_EQUAL):
            return self.sympy.Ne(node, 0)
        compare = self.sympy.Lt if code == op.LESS else self.sympy.Le
        return compare(*(self._signed(r) for r in table.operands(ref)))
