"""The operations of a function as a listing writes them: integer powers in multiplications.

A power x**n is written x*x, x*x*x, and from n = 4 on h*h or h*h*x with h = x**(n // 2), which is
then an operation of its own: one the function has already, or one added here.  So a value that is
multiplied by itself needs a name, and no text is written twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.code.schedule import Changes, Schedule

#: Listings of up to so many operations are sorted by how often values change.
SHORT: Final = 200


class Operations:
    """The operations of a schedule in the order of a listing, with integer powers in steps.

    What stays constant over a run or a step comes first.  The rest of a short listing is sorted by
    how often it changes as well, which reads better; that of a long one stays in the order of
    creation, which compilers turn into code that is 5–20 % faster and compile twice as fast,
    since fewer values are alive at a time.

    A *node* is an atom, or a power that is only a step to another; these have numbers beyond the
    table, so ask ``powers`` before the table.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.table = schedule.table
        #: node -> (base, exponent)
        self.powers: dict[int, tuple[int, int]] = {}
        self._power_nodes: dict[tuple[int, int], int] = {}
        self.changes: dict[int, Changes] = dict(schedule.changes)
        table = self.table
        for atom in schedule.operations:
            if table.ops[atom] == op.POWER_INT:
                self._add(atom, table.left[atom], table.right[atom])
        order: list[int] = []
        done: set[int] = set()
        for atom in schedule.operations:
            if atom in self.powers:
                for node in self._steps(*self.powers[atom]):
                    if node not in done:
                        done.add(node)
                        order.append(node)
            else:
                order.append(atom)
        #: Whether the order is by how often values change all the way.
        self.is_sorted = len(order) <= SHORT
        last = Changes.ALWAYS if self.is_sorted else Changes.WITH_CONFIGURATION
        # what an atom depends on changes no faster than the atom: sorted, the order stays valid
        self.order: list[int] = sorted(order, key=lambda node: min(self.changes[node], last))

    def operands(self, node: int) -> tuple[int, ...]:
        """The nodes and leaves that a node reads, without signs; a factor counts once."""
        if node in self.powers:
            return tuple(dict.fromkeys(self.factors(node)))
        return tuple(abs(ref) for ref in self.table.operands(node))

    def factors(self, node: int) -> Sequence[int]:
        """The factors that a power is written with: h, h, and the base once more if n is odd."""
        base, n = self.powers[node]
        if n < 4:
            return (base,) * n
        half = self._power_nodes[base, n // 2]
        return (half, half, base) if n % 2 else (half, half)

    def _steps(self, base: int, n: int) -> list[int]:
        """The nodes of base**n and of the powers it is made of, lowest first."""
        nodes = []
        while n >= 2:
            node = self._power_nodes.get((base, n))
            if node is None:
                node = len(self.table) + len(self._power_nodes)
                self._add(node, base, n)
                self.changes[node] = self.changes[base]
            nodes.append(node)
            n = n // 2 if n >= 4 else 0
        return nodes[::-1]

    def _add(self, node: int, base: int, n: int) -> None:
        self.powers[node] = base, n
        self._power_nodes[base, n] = node
