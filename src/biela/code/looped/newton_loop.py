"""LLVM IR of Newton's method: the loop inside of one instance.

The unknowns are phi nodes, so that they stay in registers.  Blocks:

    newton:    the residual at x; all lanes solved → solved
    unsolved:  no step left → solved
    step:      the next x, in the lanes that are open → newton
    solved:    what follows reads the values of the last ``newton``

With further steps after convergence ``newton`` goes to ``polish`` where all lanes are solved, once
and for all: it counts them down, and ``step`` then takes every lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from biela.code.looped import solve_status
from biela.code.looped.blocks import Equations
from biela.code.looped.solve_body import SolveBody

__all__ = ["NewtonLoop"]


class NewtonLoop:
    """Writes the loop of an instance.

    Args:
        body: Where lines are written.
        equations: What is solved.
        evaluate: Writes the operations of a block, "head" or "step".
    """

    def __init__(
        self, body: SolveBody, equations: Equations, evaluate: Callable[[str], None]
    ) -> None:
        self.body, self.equations, self._evaluate = body, equations, evaluate
        self.type = body.type

    def write(self, guess: Sequence[str]) -> tuple[str, str]:
        """The loop until the residual is small; its squared norm and the bound of that."""
        body, polishes = self.body, self.body.access.polishes
        start, head = self._open()
        self._evaluate("head")
        square = body.norm_squared(self.equations.residual)
        # not a number is not open: it would never be solved, and others would wait for it
        unsolved = body.compare("ogt", square, "%tolerance")
        again = body.any_lane(unsolved)
        if polishes:
            begun = body.let("icmp sle i64 %rest, %further")
            closed = body.let(f"xor i1 {again}, true")
            body.branch(body.let(f"or i1 {begun}, {closed}"), "polish", "unsolved")
            body.start("polish")
            body.lines.append("  %rest_less = sub i64 %rest, 1")
            body.branch(body.let("icmp eq i64 %rest_less, 0"), "solved", "step")
        else:
            body.branch(again, "unsolved", "solved")
        body.start("unsolved")
        body.branch(body.let("icmp slt i64 %n, %most"), "step", "solved")
        mark = body.mark()
        body.start("step")
        if polishes:
            lowest = body.number(-1.0)
            body.lines += [
                "  %rest_next = phi i64 [ %rest_less, %polish ], [ %rest, %unsolved ]",
                f"  %above = phi {self.type} [ {lowest}, %polish ], [ %tolerance, %unsolved ]",
            ]
            unsolved = body.compare("ogt", square, "%above")
        self._step(unsolved if body.lanes > 1 else None)
        phis = self._phis(guess, start)
        if polishes:
            back = body.block
            phis.append(f"  %rest = phi i64 [ %rest_first, %{start} ], [ %rest_next, %{back} ]")
        body.lines[head:head] = phis
        body.back_to(mark)
        body.start("solved")
        if not polishes:
            return square, "%tolerance"
        # after polishing any finite residual will do: it was small before
        largest = body.number(solve_status.LARGEST)
        body.lines.append(
            f"  %bound = phi {self.type} [ {largest}, %polish ], [ %tolerance, %unsolved ]"
        )
        return square, "%bound"

    def write_fixed(self, guess: Sequence[str]) -> None:
        """The loop of a fixed number of steps."""
        body = self.body
        start, head = self._open()
        self._evaluate("head")
        body.branch(body.let("icmp slt i64 %n, %further"), "step", "solved")
        mark = body.mark()
        body.start("step")
        self._step(None)
        body.lines[head:head] = self._phis(guess, start)
        body.back_to(mark)
        body.start("solved")

    def _open(self) -> tuple[str, int]:
        """Start the loop; the block before it, and the line where phi nodes will stand."""
        body, start = self.body, self.body.block
        body.go("newton")
        body.start("newton")
        head = len(body.lines)
        for k, atom in enumerate(self.equations.unknowns):
            body.define(atom, f"%u{k}")
        return start, head

    def _step(self, lanes: str | None) -> None:
        """One step, in some lanes or in all."""
        body, T = self.body, self.type
        self._evaluate("step")
        made = body.let(f"fadd {T} %made_here, {body.number(1.0)}")
        moves = [
            *((f"%v{k}", v, f"%u{k}") for k, v in enumerate(body.values(self.equations.next))),
            ("%made_next", made, "%made_here"),
        ]
        for name, value, before in moves:
            if lanes is None:
                body.lines.append(f"  {name} = bitcast {T} {value} to {T}")
            else:
                truth = f"<{body.lanes} x i1>"
                body.lines.append(f"  {name} = select {truth} {lanes}, {T} {value}, {T} {before}")
        body.lines.append("  %n_next = add i64 %n, 1")
        body.go("newton")

    def _phis(self, guess: Sequence[str], start: str) -> list[str]:
        T, back = self.type, self.body.block
        lines = [
            f"  %u{k} = phi {T} [ {value}, %{start} ], [ %v{k}, %{back} ]"
            for k, value in enumerate(guess)
        ]
        return [
            *lines,
            f"  %n = phi i64 [ 0, %{start} ], [ %n_next, %{back} ]",
            f"  %made_here = phi {T} [ %made, %{start} ], [ %made_next, %{back} ]",
        ]
