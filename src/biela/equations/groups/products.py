"""Products that share their factors: L cos φ φ' φ' as (L cos φ) (φ' φ'), where both are there.

Derivatives multiply in the order in which they are derived, so that L (cos φ φ') does not find the
L cos φ of the Jacobian.  Here products are taken apart into their factors, down to those that are
needed by themselves, and the pair of factors that most of them have is multiplied once, again and
again until no two products have a pair in common (Breuer 1969).  Sums stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from biela.atoms import Atom
from biela.atoms import opcodes as op
from biela.atoms.table import Table

__all__ = ["with_shared_products"]

#: Kernels with more products than this stay as they are: the pairs would be too many.
MOST: Final = 600
#: Products with more factors are not taken apart.
_LONGEST: Final = 6


def with_shared_products(parts: Mapping[str, Sequence[Atom]]) -> dict[str, list[Atom]]:
    """The same expressions with fewer multiplications.

    >>> from biela.atoms import Workspace
    >>> a, b, c, d = Workspace().symbols("a b c d")
    >>> shared = with_shared_products({"y": [a * b, c * (a * d) * b]})
    >>> print(*shared["y"])
    a*b a*b*(c*d)
    """
    atoms = [atom for part in parts.values() for atom in part]
    if not atoms:
        return {name: list(part) for name, part in parts.items()}
    table = atoms[0].table
    plain = [atom.ref for atom in atoms]
    shared = _Products(table, plain).refs()
    fewer = _multiplications(table, shared) < _multiplications(table, plain)
    refs = iter(shared if fewer else plain)
    return {name: [Atom(table, next(refs)) for _ in part] for name, part in parts.items()}


def _multiplications(table: Table, refs: Sequence[int]) -> int:
    live = table.live(refs)
    powers = sum(table.right[a] - 1 for a in live if table.ops[a] == op.POWER_INT)
    return powers + sum(table.ops[a] == op.MUL for a in live)


class _Products:
    """The products that some expressions are made of.

    Factors are atoms, or pairs of factors: these are numbered from ``len(table)`` on.
    """

    def __init__(self, table: Table, refs: list[int]) -> None:
        self.table, self._refs = table, refs
        self.live = table.live(refs)
        #: What is needed whatever products are made of.
        self.needed = {abs(ref) for ref in refs}
        for atom in self.live:
            if not self._multiplied(atom):
                self.needed.update(abs(r) for r in table.operands(atom))
        #: Factors of each product; the sizes, signs stand outside.
        self.factors: dict[int, tuple[int, ...]] = {}
        for atom in self.live:
            found = self._taken_apart(atom)
            if found:
                self.factors[atom] = found
        self.pairs: dict[int, tuple[int, int]] = {}
        self._first = len(table.ops)

    def _multiplied(self, atom: int) -> list[int]:
        """What an atom is the product of, if it is one."""
        table = self.table
        code = table.ops[atom]
        if code == op.MUL:
            return [abs(table.left[atom]), abs(table.right[atom])]
        if code == op.POWER_INT and table.right[atom] <= 3 and table.left[atom] > 0:
            return [table.left[atom]] * table.right[atom]
        return []

    def _taken_apart(self, atom: int) -> tuple[int, ...]:
        operands = self._multiplied(atom)
        found: list[int] = []
        for k, operand in enumerate(operands):
            inner: tuple[int, ...] = (operand,)
            if operand not in self.needed:
                inner = self.factors.get(operand, inner)
            rest = len(operands) - k - 1
            found += inner if len(found) + len(inner) + rest <= _LONGEST else (operand,)
        return tuple(sorted(found))

    def refs(self) -> list[int]:
        """References of the expressions, written anew."""
        wanted = self._wanted()
        if not 1 < len(wanted) <= MOST:
            return self._refs
        self._share(wanted)
        new: dict[int, int] = {}
        for atom in self.live:
            if atom in wanted:
                new[atom] = self._product(wanted[atom], new)
            elif atom in self.factors:
                continue  # inside of others only
            else:
                new[atom] = self._rebuilt(atom, new)
        return [new[r] if r >= 0 else -new[-r] for r in self._refs]

    def _rebuilt(self, atom: int, new: dict[int, int]) -> int:
        operands = self.table.operands(atom)
        if not operands:
            return atom
        moved = [new[r] if r >= 0 else -new[-r] for r in operands]
        return self.table.rebuild(self.table.ops[atom], moved, self.table.payload(atom))

    def _wanted(self) -> dict[int, list[int]]:
        """Factors of the products that are needed, and of those that stay whole in others."""
        wanted = set(self.needed).union(*self.factors.values())
        return {atom: list(found) for atom, found in self.factors.items() if atom in wanted}

    def _share(self, products: dict[int, list[int]]) -> None:
        """Replace pairs that several products have, the most frequent first."""
        counts = Counter(pair for factors in products.values() for pair in _pairs(factors))
        number = self._first
        while counts:
            pair, count = max(counts.items(), key=lambda entry: (entry[1], entry[0]))
            if count < 2:
                return
            self.pairs[number] = pair
            for factors in products.values():
                if pair[0] in factors and pair in _pairs(factors):
                    counts.subtract(_pairs(factors))
                    factors.remove(pair[0])
                    factors.remove(pair[1])
                    factors.append(number)
                    counts.update(_pairs(factors))
            number += 1

    def _product(self, factors: Sequence[int], new: dict[int, int]) -> int:
        found = 1
        for factor in factors:
            if factor in self.pairs and factor not in new:
                new[factor] = self._product(self.pairs[factor], new)
            found = self.table.mul(found, new[factor])
        return found


def _pairs(factors: Sequence[int]) -> set[tuple[int, int]]:
    """All pairs of factors, each once."""
    return set(combinations(sorted(factors), 2))
