"""A kernel that solves equations as functions for real time: its guess, a step, its results.

Newton's method with a fixed number of steps needs three functions of a `Solve` kernel,

    guess:    where it starts, and what steps and results need that does not depend on x
    next:     the next x
    results:  what is written at the last x, the square of the residual and ``positive``

each of the inputs it reads.  What does not depend on x is *held*: no step computes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from biela.atoms import Atom, Workspace
from biela.atoms import opcodes as op
from biela.atoms.substitute import transplant
from biela.code.function import Function
from biela.code.looped.blocks import Equations
from biela.code.looped.solve_stage import UNKNOWNS, arrays_made, equations_of

__all__ = ["HELD", "FixedSolve", "fixed_solve"]

#: What is passed from the guess to steps and results.
HELD: Final = "held"


@dataclass(frozen=True)
class FixedSolve:
    """The functions of a kernel.

    Attributes:
        guess: With the outputs ``guess`` and, if there is anything to hold, ``held``; None of a
            kernel without unknowns.
        step: With the output ``next``; None of a kernel without unknowns.
        results: With the outputs of the kernel that are written; and ``square`` and ``positive``,
            if there are any.
        unknowns: How many there are.
        held: How many numbers are held.
        positive: How many numbers stay above zero.
    """

    guess: Function | None
    step: Function | None
    results: Function
    unknowns: int
    held: int
    positive: int

    @property
    def functions(self) -> tuple[Function, ...]:
        """Those there are."""
        return tuple(f for f in (self.guess, self.step, self.results) if f is not None)


def fixed_solve(kernel: Function, name: str) -> FixedSolve:
    """The functions of a kernel, called ``name`` and what each is."""
    equations = equations_of(kernel)
    made: dict[str, Sequence[int]] = {a.name: a.refs for a in arrays_made(kernel)}
    if equations.positive:
        made["positive"] = equations.positive
    held = _held(equations) if equations.unknowns else []
    ws = Workspace(kernel.workspace.name)
    further = _Copy(kernel, ws, held)
    results = further.refs(made)
    if equations.unknowns:
        residual = further.refs({"residual": equations.residual})["residual"]
        square = ws.atom(0)
        for r in residual:
            square = square + r * r
        results["square"] = [square]
    last = _of_what_it_reads(f"{name}_results", further.inputs, results)
    m, positive = len(equations.unknowns), len(equations.positive)
    if not m:
        return FixedSolve(None, None, last, 0, 0, positive)
    step = further.refs({"next": equations.next})
    table = kernel.table
    given = {a.name: [Atom(table, r) for r in a.refs] for a in kernel.inputs}
    first = {"guess": [Atom(table, r) for r in equations.guess]}
    if held:
        first[HELD] = [Atom(table, a) for a in held]
    return FixedSolve(
        _of_what_it_reads(f"{name}_guess", given, first),
        _of_what_it_reads(f"{name}_next", further.inputs, step),
        last,
        m,
        len(held),
        positive,
    )


def _held(equations: Equations) -> list[int]:
    """Operations that do not depend on x and that what does in a step reads."""
    table = equations.table
    needed = equations.operations(equations.next)
    still = needed - equations.varying
    read = {abs(r) for a in needed - still for r in table.operands(a)}
    return sorted(still & (read | {abs(r) for r in equations.next}))


class _Copy:
    """The kernel in a workspace of its own, what is held being symbols there."""

    def __init__(self, kernel: Function, ws: Workspace, held: Sequence[int]) -> None:
        self.kernel, self.table, target = kernel, kernel.table, ws.table
        self.target = target
        mapping: dict[int, int] = {}
        self.inputs: dict[str, list[Atom]] = {}
        for array in kernel.inputs:
            for ref in array.refs:
                symbol = self.table.symbols[ref]
                mapping[ref] = target.add_symbol(symbol.name, symbol.kind)
            self.inputs[array.name] = [Atom(target, mapping[r]) for r in array.refs]
        symbols = [ws.parameter(f"{HELD}{k}") for k in range(len(held))]
        mapping |= {atom: s.ref for atom, s in zip(held, symbols, strict=True)}
        if held:
            self.inputs[HELD] = symbols
        self.mapping = mapping

    def refs(self, outputs: Mapping[str, Sequence[int]]) -> dict[str, list[Atom]]:
        """Outputs of the kernel there."""
        found: dict[str, list[Atom]] = {}
        for name, refs in outputs.items():
            moved = transplant(self.table, list(refs), self.target, self.mapping)
            found[name] = [Atom(self.target, r) for r in moved]
        return found


def _of_what_it_reads(
    name: str, inputs: Mapping[str, Sequence[Atom]], outputs: Mapping[str, Sequence[Atom]]
) -> Function:
    """A function of those arrays that its outputs depend on."""
    table = next(a.table for part in outputs.values() for a in part)
    live = table.live([a.ref for part in outputs.values() for a in part])
    symbols = {a for a in live if table.ops[a] == op.SYMBOL}
    read = {n: list(part) for n, part in inputs.items() if any(a.ref in symbols for a in part)}
    assert UNKNOWNS not in outputs
    return Function(name, read, {n: list(part) for n, part in outputs.items()})
