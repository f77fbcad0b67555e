"""The storage of atoms: flat lists indexed by the atom's number, and the hash tables over them.

An *atom* is one operation on other atoms, kept once (hash-consing): asking again for the same
operation on the same operands gives the same atom.  An expression is a *signed reference*:

    0 is the number zero,  1 is one,  -1 is minus one,  -r is the opposite of r.

So an expression and its opposite share one atom, negation costs nothing, and the identities with
0, 1 and -1 are comparisons of integers.  Operands always have smaller numbers than the atom that
uses them; hence ascending order is an order of evaluation, and no algorithm on the table needs
recursion.

Plaza, *Symbolic modelling for real-time simulation of multibody systems* (2015), ch. 3, describes
atoms; the sign rule is its figure 3.4.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, Final

from biela.atoms import opcodes as op
from biela.atoms.external import ExternalFunction
from biela.atoms.numbers import Number, magnitude, number
from biela.atoms.piecewise import PiecewisePolynomial
from biela.atoms.symbols import Kind, Symbol, checked_name
from biela.errors import WorkspaceError

if TYPE_CHECKING:
    from biela.atoms.workspace import Workspace

#: Operands are packed into one integer key of two machine digits: (right << SHIFT) + left.
SHIFT: Final = 27
MAX_ATOMS: Final = 1 << SHIFT


class Storage:
    """The lists of one derivation, its leaves, and the walk over what an expression needs."""

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
        self.piecewise_index: dict[tuple[object, ...], int] = {}
        self.external_index: dict[str, int] = {}
        self.tables: list[dict[Any, int]] = [{} for _ in range(op.OPERATIONS)]
        self._sums, self._products = self.tables[op.ADD], self.tables[op.MUL]
        self.lock = threading.Lock()
        #: Derivatives already taken: direction, as pairs (symbol, rate) -> {atom: rate}.
        self.derivatives: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
        #: Substitutions already made: pairs (symbol, value) -> {atom: reference}.
        self.substitutions: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
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
        size = magnitude(exact)
        with self.lock:
            new = self.numbers.get(size)
            if new is None:  # another thread may have been first
                new = self._next()
                self._push(op.CONSTANT, 0, 0)
                self.values[new] = size
                self.numbers[-size] = -new
                self.numbers[size] = new
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
        with self.lock:
            known = self._names.get(name)
            if known is None:
                known = self._next()
                self._push(op.SYMBOL, 0, 0)
                self.symbols[known] = record
                self._names[name] = known
        return known

    def find_symbol(self, name: str) -> int | None:
        """The reference of the symbol of that name, if there is one."""
        return self._names.get(name)

    def value(self, ref: int) -> Number | None:
        """The number a reference stands for; None if it is not a constant."""
        if self.ops[ref if ref >= 0 else -ref] != op.CONSTANT:
            return None
        return self.values[ref] if ref >= 0 else -self.values[-ref]

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

    def missing(self, refs: Iterable[int], known: Container[int]) -> list[int]:
        """The atoms the references depend on, down to known ones, in order of evaluation."""
        seen: set[int] = set()
        stack = [abs(ref) for ref in refs]
        while stack:
            atom = stack.pop()
            if atom not in seen and atom not in known:
                seen.add(atom)
                stack.extend([r if r >= 0 else -r for r in self.operands(atom)])
        return sorted(seen)

    def text(self, ref: int, limit: int = 200) -> str:
        """A short expanded text of an expression, for messages."""
        from biela.atoms.text import short_text

        return short_text(self, ref, limit)

    # ------------------------------------------------------------------ filling

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
            self.piecewise_index[curve.key] = len(self.piecewise)
            self.piecewise.append(curve)
        for name, arity, _ in externals:
            self.external_index[name] = len(self.externals)
            self.externals.append(ExternalFunction(name, arity))
        for function, (_, _, partials) in zip(self.externals, externals, strict=True):
            for k, partial in partials.items():
                found = self.external_index.get(partial)
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
                self.tables[code][self._key(atom, code)] = atom

    def _key(self, atom: int, code: int) -> object:
        """The key under which an atom is found; the inverse of what the makers above do."""
        left, right = self.left[atom], self.right[atom]
        if code == op.ADD or code == op.MUL:
            return (right << SHIFT) + left
        if code in op.UNARY:
            return left
        if code in op.UNARY_WITH_NUMBER:
            return (right << (SHIFT + 1)) + left
        if code == op.SELECT or code == op.EXTERNAL:
            return (left, *self.operand_lists[right])
        return (left << (SHIFT + 2)) + right

    def intern(self, code: int, a: int, b: int) -> int:
        """The atom of an operation on two operands as they are, found or made."""
        table = self.tables[code]
        key = (a << (SHIFT + 2)) + b
        found = table.get(key)
        return self.append(table, key, code, a, b) if found is None else found

    def operand_list(self, operands: tuple[int, ...]) -> int:
        """Keep the operands of an operation with more than two; the index to find them by."""
        with self.lock:
            self.operand_lists.append(operands)
            return len(self.operand_lists) - 1

    def append(self, table: dict[Any, int], key: object, code: int, left: int, right: int) -> int:
        """Add an atom to the table; another thread may have been first."""
        with self.lock:
            found = table.get(key)
            if found is None:
                found = len(self.left)
                if found >= MAX_ATOMS:
                    self._next()
                self.ops.append(code)
                self.left.append(left)
                self.right.append(right)
                table[key] = found
        return found

    def _next(self) -> int:
        """The number of the next atom."""
        if len(self.left) >= MAX_ATOMS:
            raise WorkspaceError(
                f"workspace {self.name} is full: it holds {MAX_ATOMS} atoms; "
                f"use several workspaces and Function.inline"
            )
        return len(self.left)

    def _push(self, code: int, left: int, right: int) -> None:
        self.ops.append(code)
        self.left.append(left)
        self.right.append(right)
