"""Baselines on SymPy: atoms by brute force (A) or hashing (B), and no atoms (C.1).

In A and B every operation is atomized as it is performed.  To differentiate or substitute, the
expression is expanded, SymPy operates on the expanded form, and the outcome is atomized again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from benchmarks.thesis.algebra import Expression
from benchmarks.thesis.models import dot


def is_leaf(e: Any) -> bool:
    """A number, or a symbol or atom with either sign."""
    if e.is_Mul:
        return len(e.args) == 2 and e.args[0] is sympy.S.NegativeOne and e.args[1].is_Symbol
    return bool(e.is_Atom)


# --------------------------------------------------------------------------- tables of atoms


class AtomTable(ABC):
    """The atoms in the order of their creation, each with the expression it stands for.

    An atom is a SymPy symbol; its expression is one operation on leaves.
    """

    def __init__(self) -> None:
        self.expressions: dict[Any, Any] = {}

    @abstractmethod
    def atomize(self, e: Any) -> Any:
        """The leaf that stands for an expression."""

    def expanded(self, e: Any) -> Any:
        """The expression without atoms."""
        full: dict[Any, Any] = {}
        for atom in self.needed([e]):
            full[atom] = self.expressions[atom].xreplace(full)
        return e.xreplace(full)

    def needed(self, expressions: Sequence[Any]) -> list[Any]:
        """The atoms that expressions depend on, in the order of their creation."""
        found: set[Any] = set()
        stack = [atom for e in expressions for atom in e.free_symbols if atom in self.expressions]
        while stack:
            atom = stack.pop()
            if atom not in found:
                found.add(atom)
                inner = self.expressions[atom].free_symbols
                stack += [a for a in inner if a in self.expressions]
        return [atom for atom in self.expressions if atom in found]

    def _new(self, e: Any) -> Any:
        atom = sympy.Symbol(f"atom{len(self.expressions)}")
        self.expressions[atom] = e
        return atom


class SearchedTable(AtomTable):
    """Brute force: the whole table is tried on every expression (Plaza 2015, §3.4)."""

    def atomize(self, e: Any) -> Any:
        for atom, expression in self.expressions.items():
            e = e.xreplace({expression: atom})
        while (part := innermost(e)) is not None:
            e = e.xreplace({part: self._find(part) or self._new(part)})
        return e

    def _find(self, e: Any) -> Any:
        for atom, expression in self.expressions.items():
            if expression == e:
                return atom
        return None


def innermost(e: Any) -> Any:
    """A part of the expression that is an operation on leaves; None in a leaf."""
    if is_leaf(e):
        return None
    for part in e.args:
        inner = innermost(part)
        if inner is not None:
            return inner
    return e


class HashedTable(AtomTable):
    """A dictionary from expressions to atoms (Plaza 2015, fig. 3.4)."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms: dict[Any, Any] = {}

    def atomize(self, e: Any) -> Any:
        if is_leaf(e):
            return e
        known = self._find(e)
        if known is not None:
            return known
        parts = [self.atomize(part) for part in e.args]
        if any(new is not old for new, old in zip(parts, e.args, strict=True)):
            e = e.func(*parts)
            if is_leaf(e):
                return e
            known = self._find(e)
            if known is not None:
                return known
        atom = self.atoms[e] = self._new(e)
        return atom

    def _find(self, e: Any) -> Any:
        """The atom of an expression, or with a minus sign that of its opposite."""
        atom = self.atoms.get(e)
        if atom is None and (e.is_Add or e.is_Mul):
            opposite = self.atoms.get(-e)
            return None if opposite is None else -opposite
        return atom


# ----------------------------------------------------------------------------------- algebras


class Operand:
    """An atomized expression: a leaf, with operators that atomize what they give."""

    __slots__ = ("leaf", "table")

    def __init__(self, table: AtomTable, leaf: Any) -> None:
        self.table, self.leaf = table, leaf

    def _made(self, e: Any) -> Operand:
        return Operand(self.table, self.table.atomize(e))

    def __add__(self, other: Expression) -> Operand:
        return self._made(self.leaf + plain(other))

    def __sub__(self, other: Expression) -> Operand:
        return self._made(self.leaf - plain(other))

    def __rsub__(self, other: Expression) -> Operand:
        return self._made(plain(other) - self.leaf)

    def __mul__(self, other: Expression) -> Operand:
        return self._made(self.leaf * plain(other))

    def __neg__(self) -> Operand:
        return self._made(-self.leaf)

    __radd__ = __add__
    __rmul__ = __mul__


def plain(x: Expression) -> Any:
    """A number or an operand as SymPy sees it."""
    return x.leaf if isinstance(x, Operand) else sympy.sympify(x)


class Atomized:
    """Cases A and B: a table of atoms, and SymPy on expanded expressions."""

    def __init__(self, table: AtomTable) -> None:
        self.table = table

    def symbol(self, name: str) -> Operand:
        return Operand(self.table, sympy.Symbol(name))

    def sin(self, x: Expression) -> Expression:
        return self._atomized(sympy.sin(plain(x)))

    def cos(self, x: Expression) -> Expression:
        return self._atomized(sympy.cos(plain(x)))

    def jacobian(
        self, expressions: Sequence[Expression], symbols: Sequence[Operand]
    ) -> list[list[Expression]]:
        return [
            [self._atomized(sympy.diff(full, s.leaf)) for s in symbols]
            for full in self._expanded(expressions)
        ]

    def directional(
        self, expressions: Sequence[Expression], rates: Mapping[Operand, Expression]
    ) -> list[Expression]:
        rows = self.jacobian(expressions, list(rates))
        return [dot(row, list(rates.values())) for row in rows]

    def without(
        self, expressions: Sequence[Expression], symbols: Sequence[Operand]
    ) -> list[Expression]:
        zero = {s.leaf: sympy.Integer(0) for s in symbols}
        return [self._atomized(full.xreplace(zero)) for full in self._expanded(expressions)]

    def result(self, expressions: Sequence[Expression]) -> Listing:
        leaves = [plain(e) for e in expressions]
        atoms = self.table.needed(leaves)
        return Listing([(atom, self.table.expressions[atom]) for atom in atoms], leaves)

    def _expanded(self, expressions: Sequence[Expression]) -> list[Any]:
        return [self.table.expanded(plain(e)) for e in expressions]

    def _atomized(self, e: Any) -> Expression:
        return Operand(self.table, self.table.atomize(e)) if e != 0 else 0


class Recursive(Atomized):
    """Derivatives and substitutions on the atoms, with SymPy as the engine (figs 3.7 and 3.8).

    Case C with the engine of A and B, to tell what the method gains from what the engine does.
    """

    def jacobian(
        self, expressions: Sequence[Expression], symbols: Sequence[Operand]
    ) -> list[list[Expression]]:
        leaves = [plain(e) for e in expressions]
        atoms = self.table.needed(leaves)
        columns = []
        for symbol in symbols:
            rates = {symbol.leaf: sympy.Integer(1)}
            for atom in atoms:
                e = self.table.expressions[atom]
                rate = sum(sympy.diff(e, x) * rates[x] for x in e.free_symbols if x in rates)
                if rate != 0:
                    rates[atom] = self.table.atomize(rate)
            columns.append([self._rate(leaf, rates) for leaf in leaves])
        return [list(row) for row in zip(*columns, strict=True)]

    def _rate(self, leaf: Any, rates: Mapping[Any, Any]) -> Expression:
        for x in leaf.free_symbols:
            if x in rates:
                return self._atomized(leaf.coeff(x) * rates[x])
        return 0

    def without(
        self, expressions: Sequence[Expression], symbols: Sequence[Operand]
    ) -> list[Expression]:
        leaves = [plain(e) for e in expressions]
        new = {s.leaf: sympy.Integer(0) for s in symbols}
        for atom in self.table.needed(leaves):
            e = self.table.expressions[atom]
            changed = e.xreplace(new)
            if changed != e:
                new[atom] = self.table.atomize(changed)
        return [self._atomized(leaf.xreplace(new)) for leaf in leaves]


class Raw:
    """Case C.1: SymPy expressions as they grow; common subexpressions are sought at the end."""

    symbol = staticmethod(sympy.Symbol)
    sin = staticmethod(sympy.sin)
    cos = staticmethod(sympy.cos)

    def jacobian(
        self, expressions: Sequence[Expression], symbols: Sequence[Any]
    ) -> list[list[Expression]]:
        rows = [[sympy.diff(e, s) for s in symbols] for e in expressions]
        return [[0 if entry == 0 else entry for entry in row] for row in rows]

    def directional(
        self, expressions: Sequence[Expression], rates: Mapping[Any, Expression]
    ) -> list[Expression]:
        rows = self.jacobian(expressions, list(rates))
        return [dot(row, list(rates.values())) for row in rows]

    def without(self, expressions: Sequence[Expression], symbols: Sequence[Any]) -> list[Any]:
        zero = {s: sympy.Integer(0) for s in symbols}
        return [sympy.sympify(e).xreplace(zero) for e in expressions]

    def result(self, expressions: Sequence[Expression]) -> Listing:
        shared, reduced = sympy.cse([sympy.sympify(e) for e in expressions])
        return Listing(list(shared), list(reduced))


# ------------------------------------------------------------------------------------ results


@dataclass(frozen=True)
class Listing:
    """Assignments to auxiliary variables in order, and the results in terms of them."""

    assignments: list[tuple[Any, Any]]
    results: list[Any]

    def operations(self) -> int:
        """Sums, products, powers and functions as written; signs are free."""
        return sum(operations(e) for e in (*(e for _, e in self.assignments), *self.results))

    def values(self, numbers: Mapping[str, float]) -> list[float]:
        """The values of the results."""
        made = {name for name, _ in self.assignments}
        everything = [*(e for _, e in self.assignments), *self.results]
        given = set().union(*(e.free_symbols for e in everything)) - made
        known: dict[str, Any] = {"math": math, **{s.name: numbers[s.name] for s in given}}
        for name, e in self.assignments:
            known[name.name] = eval(sympy.pycode(e), known)
        return [float(eval(sympy.pycode(e), known)) for e in self.results]


def operations(e: Any) -> int:
    """Operations of one SymPy expression; a factor or coefficient -1 is a sign."""
    if not e.args:
        return 0
    inside = sum(operations(part) for part in e.args)
    if e.is_Add:
        return inside + len(e.args) - 1
    if e.is_Mul:
        return inside + len([part for part in e.args if part != -1]) - 1
    if e.is_Pow and e.exp.is_Integer:
        n = abs(int(e.exp))  # by repeated squaring
        return inside + n.bit_length() + n.bit_count() - 2 + bool(e.exp.is_negative)
    return inside + 1
