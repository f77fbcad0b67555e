"""What the scalars of links have in common: their structure, apart from their numbers.

Two links may share a kernel where their scalars differ by numbers only.  A `Description` reads
scalars one after the other: it writes a key, equal for equal structures, and apart from it the row
of numbers and the symbols.  An `Image` with the same key gives the same scalars back in the
workspace of a kernel, with parameters in place of the numbers and inputs in place of the symbols.
Zeros, ones and minus ones are part of the structure, since they make operations vanish.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from biela.atoms import Atom, Workspace
from biela.atoms import opcodes as op
from biela.atoms.substitute import transplant
from biela.atoms.table import Table
from biela.equations.spatial.turning import Scalar, Triple

_NUMBER = "number"
_SYMBOL = "symbol"
_PLAIN = (0.0, 1.0, -1.0)


@dataclass(frozen=True)
class Expression:
    """An expression of symbols: an example of its structure, with its leaves in order."""

    table: Table
    ref: int
    numbers: tuple[int, ...]  # atoms that are numbers, or made of parameters only
    symbols: tuple[int, ...]


@dataclass
class Description:
    """Reads scalars.

    Attributes:
        parameters: References of the parameters of the model: expressions of nothing else count as
            numbers.
        general: Take zeros and ones for numbers like all others.
        key: The structure of what was read.
        numbers: Numbers, or references of expressions of parameters, in order.
        symbols: References of the symbols, in order, each once.
        examples: Expressions, in order.
    """

    parameters: frozenset[int]
    general: bool = False
    key: list[Hashable] = field(default_factory=list)
    numbers: list[float | Atom] = field(default_factory=list)
    symbols: list[int] = field(default_factory=list)
    examples: list[Expression] = field(default_factory=list)

    def say(self, *what: Hashable) -> None:
        """Make something else part of the structure."""
        self.key.append(what)

    def scalar(self, x: Scalar) -> None:
        """Read one scalar."""
        if isinstance(x, Atom):
            if x.value is not None:
                x = float(x.value)
            else:
                self._expression(x)
                return
        if x in _PLAIN and not self.general:
            self.key.append(x)
        else:
            self.key.append(_NUMBER)
            self.numbers.append(x)

    def scalars(self, several: Sequence[Scalar]) -> None:
        """Read several."""
        general, key, numbers = self.general, self.key, self.numbers
        for x in several:
            if type(x) is not float:
                self.scalar(x)
            elif x in _PLAIN and not general:
                key.append(x)
            else:
                key.append(_NUMBER)
                numbers.append(x)

    def _expression(self, x: Atom) -> None:
        table = x.table
        atom = abs(x.ref)
        if table.ops[atom] == op.SYMBOL and atom not in self.parameters:
            self.key.append((_SYMBOL, self._symbol(atom), x.ref > 0))
            return
        moving: dict[int, bool] = {}
        for atom in table.live([x.ref]):
            code = table.ops[atom]
            moving[atom] = (
                atom not in self.parameters
                if code == op.SYMBOL
                else any(moving[abs(r)] for r in table.operands(atom))
            )
        if not moving[abs(x.ref)]:
            self.key.append(_NUMBER)
            self.numbers.append(x)
            return
        local: dict[int, int] = {}
        numbers: list[int] = []
        symbols: list[int] = []
        nodes: list[Hashable] = []

        def leaf(atom: int) -> None:
            if atom not in local:
                local[atom] = len(local) + 1
                numbers.append(atom)
                nodes.append(_NUMBER)

        for atom in (a for a, moves in moving.items() if moves):
            code = table.ops[atom]
            if code == op.SYMBOL:
                symbols.append(atom)
                nodes.append((_SYMBOL, self._symbol(atom)))
            else:
                operands = table.operands(atom)
                for r in operands:
                    if not moving[abs(r)]:
                        leaf(abs(r))
                payload: Hashable = table.payload(atom)
                if code == op.PIECEWISE:
                    payload = table.piecewise[table.payload(atom)].key
                signed = tuple(local[r] if r >= 0 else -local[-r] for r in operands)
                nodes.append((code, signed, payload))
            local[atom] = len(local) + 1
        self.key.append((tuple(nodes), x.ref > 0))
        self.numbers += [Atom(table, atom) for atom in numbers]
        self.examples.append(Expression(table, x.ref, tuple(numbers), tuple(symbols)))

    def _symbol(self, ref: int) -> int:
        if ref not in self.symbols:
            self.symbols.append(ref)
        return self.symbols.index(ref)


class Image:
    """Gives back what a description read, in the workspace of a kernel.

    Attributes:
        numbers: Parameters that stand for the numbers, in order.
        symbols: Symbols that stand for the symbols, in order.
    """

    def __init__(self, workspace: Workspace, description: Description) -> None:
        self.workspace = workspace
        self._key = iter(list(description.key))
        self._examples = iter(description.examples)
        count = len(description.numbers)
        self.numbers = [workspace.parameter(f"n{k}") for k in range(count)]
        self._next = iter(self.numbers)
        names = [f"s{k}" for k in range(len(description.symbols))]
        self.symbols = [workspace.symbol(name) for name in names]
        self._by_source: Mapping[int, Atom] = dict(
            zip(description.symbols, self.symbols, strict=True)
        )

    def said(self) -> tuple[Hashable, ...]:
        """What was said at this place."""
        found = next(self._key)
        assert isinstance(found, tuple)
        return found

    def scalar(self) -> Scalar:
        """The next scalar."""
        found = next(self._key)
        if isinstance(found, float):
            return found
        if found == _NUMBER:
            return next(self._next)
        assert isinstance(found, tuple)
        if found[0] == _SYMBOL:
            symbol = self.symbols[found[1]]
            return symbol if found[2] else -symbol
        example = next(self._examples)
        mapping = {atom: next(self._next).ref for atom in example.numbers}
        mapping |= {atom: self._by_source[atom].ref for atom in example.symbols}
        (ref,) = transplant(example.table, [example.ref], self.workspace.table, mapping)
        return Atom(self.workspace.table, ref)

    def scalars(self, count: int) -> list[Scalar]:
        """The next several."""
        return [self.scalar() for _ in range(count)]

    def triple(self) -> Triple:
        """The next three."""
        return self.scalars(3)
