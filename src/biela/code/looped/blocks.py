"""The operations of a kernel that solves equations, by when they are evaluated.

Newton's method evaluates the residual at x, leaves if it is small, and evaluates the next x where
it is not; results are wanted at the last x only.  The operations of the kernel fall into

- *before*: what the guess needs, and what the loop needs and does not depend on x;
- *head*: what depends on x and is needed to see whether x is a solution;
- *step*: what is further needed for the next x;
- *after*: what results need and the head, evaluated at the last x, has not computed.  Operations
  of the step that results need stand here again: those of the loop belong to the x before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from biela.atoms import opcodes as op
from biela.atoms.table import Table
from biela.code.schedule import Pack, Schedule, Step

__all__ = ["Blocks", "Equations", "Steps"]


class Steps(Enum):
    """How many steps are made."""

    NONE = "none"  # the guess is the solution: nothing is unknown, or there is no equation
    FIXED = "fixed"
    TO_TOLERANCE = "to tolerance"


@dataclass(frozen=True)
class Equations:
    """The outputs of a kernel by the part that they play; references to its table."""

    table: Table
    unknowns: tuple[int, ...]
    guess: tuple[int, ...]
    residual: tuple[int, ...]
    next: tuple[int, ...]
    positive: tuple[int, ...]
    results: tuple[int, ...]

    def operations(self, refs: Iterable[int]) -> set[int]:
        """The operations that some outputs need."""
        ops = self.table.ops
        return {a for a in self.table.live(refs) if ops[a] > op.SYMBOL}

    @cached_property
    def varying(self) -> set[int]:
        """What depends on the unknowns, themselves included."""
        found = {abs(ref) for ref in self.unknowns}
        every = (*self.guess, *self.residual, *self.next, *self.positive, *self.results)
        for atom in self.table.live(every):
            if any(abs(ref) in found for ref in self.table.operands(atom)):
                found.add(atom)
        return found


class Blocks:
    """The operations of a kernel in blocks.

    Attributes:
        before, head, step, after: The operations of each.
        held: Symbols that the loop reads: loaded before it.
    """

    def __init__(self, equations: Equations, steps: Steps) -> None:
        self._equations, self._table = equations, equations.table
        guess = equations.operations(equations.guess)
        residual = equations.operations(equations.residual)
        results = equations.operations((*equations.positive, *equations.results))
        results |= residual
        further = equations.operations(equations.next)
        if steps is Steps.NONE:
            further = set()
            head: set[int] = set()
        elif steps is Steps.FIXED:  # the residual is looked at once, after the last step
            head = residual & further
        else:
            head = residual
        moving = equations.varying
        every = guess | results | further
        self.before = self._with_companions(guess | ((head | further) - moving), every)
        self.head = self._with_companions(head & moving, every) - self.before
        self.step = (further & moving) - self.head
        self.after = results - self.before - self.head
        looped = [
            *(r for atom in (*self.head, *self.step) for r in self._table.operands(atom)),
            *(equations.next if steps is not Steps.NONE else ()),
            *(equations.residual if steps is Steps.TO_TOLERANCE else ()),
        ]
        symbols = {abs(r) for r in looped if self._table.ops[abs(r)] == op.SYMBOL}
        self.held = sorted(symbols - {abs(r) for r in equations.unknowns})

    def _with_companions(self, atoms: set[int], every: set[int]) -> set[int]:
        """With the cosine of every angle whose sine is there, and the reverse: they come free."""
        table = self._table
        pair = (op.SIN, op.COS)
        angles = {table.left[a] for a in atoms if table.ops[a] in (*pair, op.TAN)}
        return atoms | {a for a in every if table.ops[a] in pair and table.left[a] in angles}

    def steps(self, atoms: set[int], width: int) -> list[Step]:
        """Operations in order of evaluation, with the angles packed."""
        return _Part(self._table, tuple(sorted(atoms)), frozenset(atoms)).of_its_own(width)


@dataclass(frozen=True)
class _Part(Schedule):
    """A schedule of some operations, where all others are known."""

    own: frozenset[int]

    @cached_property
    def operations(self) -> list[int]:
        """Its own operations: angles are packed among themselves."""
        return sorted(self.own)

    def of_its_own(self, width: int) -> list[Step]:
        """The steps that compute them."""
        steps = self.steps(width)
        return [step for step in steps if isinstance(step, Pack) or step in self.own]
