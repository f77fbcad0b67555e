"""A large kernel that solves equations as several functions.

Compiling one function costs more than linearly in its length, so that the blocks of a large kernel
are cut, and each piece is a function.  Values pass between them through slots of memory: one for
every atom that is read outside of the piece that computes it, kept over the whole instance, since
the loop reads again what was made before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biela.atoms import opcodes as op
from biela.atoms.table import Table
from biela.code.looped.blocks import Equations
from biela.code.schedule import Chunk, Pack, Step

__all__ = ["Parts"]


class Parts:
    """The blocks of a kernel in pieces.

    Attributes:
        names: For each block the functions that do its operations, in order.
        chunks: Each function with its steps, and the slots that it reads and writes.
        slots: The slot of every atom that has one.

    Args:
        plan: The steps of each block.
        equations: What is read between the functions.
        size: About how many steps a piece has.
    """

    def __init__(self, plan: Mapping[str, Sequence[Step]], equations: Equations, size: int) -> None:
        table = equations.table
        pieces: list[tuple[str, Sequence[Step]]] = []
        self.names: dict[str, list[str]] = {}
        for block, steps in plan.items():
            cuts = range(0, len(steps), size)
            self.names[block] = [f"{block}{k}" for k in range(len(cuts))]
            pieces += [
                (name, steps[start : start + size])
                for name, start in zip(self.names[block], cuts, strict=True)
            ]
        e = equations
        between = (*e.guess, *e.residual, *e.next, *e.positive, *e.results)
        shared = {abs(ref) for ref in between if table.ops[abs(ref)] > op.SYMBOL}
        unknowns = {abs(ref) for ref in e.unknowns}
        shared |= unknowns
        foreign = [_read(table, steps, unknowns) - _made(steps) for _, steps in pieces]
        for atoms in foreign:
            shared |= atoms
        self.slots = {atom: slot for slot, atom in enumerate(sorted(shared))}
        self.chunks = [
            (
                name,
                Chunk(
                    tuple(steps),
                    {atom: self.slots[atom] for atom in atoms},
                    {atom: self.slots[atom] for atom in _made(steps) & shared},
                ),
            )
            for (name, steps), atoms in zip(pieces, foreign, strict=True)
        ]


def _read(table: Table, steps: Sequence[Step], unknowns: set[int]) -> set[int]:
    """Operations and unknowns that some steps read."""
    found: set[int] = set()
    for step in steps:
        refs = step.angles if isinstance(step, Pack) else table.operands(step)
        found |= {abs(ref) for ref in refs}
    return {atom for atom in found if table.ops[atom] > op.SYMBOL or atom in unknowns}


def _made(steps: Sequence[Step]) -> set[int]:
    """Atoms that some steps compute."""
    return {a for step in steps for a in (step.results if isinstance(step, Pack) else [step])}
