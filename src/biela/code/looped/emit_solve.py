"""LLVM IR of a loop over instances that solve equations.

    void kernel(double *x, int64_t first, int64_t count, const void **arguments)

has the arguments of `biela.code.looped.emit`, with two more at the end: five words of settings
(place of the status, most steps, further or fixed steps, square of the tolerance, place that tells
where the window is) and the labels of the instances.  These are numbers, not code: another
tolerance is not compiled again.

An instance is a few blocks, with the unknowns in registers (phi nodes):

    before → newton → unsolved → step → newton …
                    ↘ solved (→ failed) → write

Blocks are those of `biela.code.looped.blocks`.  LLVM moves nothing between them, as no passes run.
"""

from __future__ import annotations

from functools import partial

from biela.code.llvm import emit as emit_module
from biela.code.llvm.body import Layout, Options
from biela.code.llvm.emit import PASTED_PACKS
from biela.code.looped import solve_status
from biela.code.looped.blocks import Blocks, Equations, Steps
from biela.code.looped.emit import LoopModule
from biela.code.looped.newton_loop import NewtonLoop
from biela.code.looped.solve_body import FETCH_DECLARATION, SolveAccess, SolveBody
from biela.code.looped.solve_parts import Parts
from biela.code.schedule import Chunk, Pack, Schedule

__all__ = ["SolveAccess", "emit_solve"]

_RARELY = ', !prof !{!"branch_weights", i32 100000, i32 1}'


def emit_solve(equations: Equations, layout: Layout, options: Options, access: SolveAccess) -> str:
    """The text of a module with one entry, named ``kernel``."""
    return _SolveModule(equations, layout, options, access).text()


class _SolveModule(LoopModule):
    access: SolveAccess

    def __init__(
        self, equations: Equations, layout: Layout, options: Options, access: SolveAccess
    ) -> None:
        e = equations
        every = (*e.guess, *e.residual, *e.next, *e.positive, *e.results)
        super().__init__(Schedule(e.table, every), layout, options, access)
        self.equations = equations
        self.blocks = Blocks(equations, access.steps)

    def text(self) -> str:
        """The text."""
        width = 1 if self.options.lanes > 1 else self.options.packed
        blocks = self.blocks
        self.plan = {
            name: blocks.steps(atoms, width)
            for name, atoms in (
                ("before", blocks.before),
                ("head", blocks.head),
                ("step", blocks.step),
                ("after", blocks.after),
            )
        }
        every = [step for steps in self.plan.values() for step in steps]
        self.paste = sum(isinstance(step, Pack) for step in every) <= PASTED_PACKS
        self.parts: Parts | None = None
        size = emit_module.CHUNK
        if len(every) > size + size // 2 and self.side_by_side == 1:
            self.parts = Parts(self.plan, self.equations, size)
        slots = self.parts.slots if self.parts else {}
        body = self._new_body(Chunk((), slots, {}), whole=not slots)
        body.block = "loop"
        self._instance(body)
        entry = self._define(body)
        functions = self._functions_of_parts()
        return "\n".join([*self._declarations(), *functions, entry])

    def _functions_of_parts(self) -> list[str]:
        """The functions of a large kernel, each with some of its operations."""
        written = []
        parameters = ", ".join(self._passed())
        for name, chunk in self.parts.chunks if self.parts else ():
            body = self._new_body(chunk, whole=False)
            body.evaluate(chunk.steps)
            lines = "\n".join(body.lines)
            written.append(
                f"define internal void @{name}({parameters}) {{\nloop:\n{lines}\n  ret void\n}}\n"
            )
        return written

    def _new_body(self, chunk: Chunk, whole: bool) -> SolveBody:
        body = SolveBody(
            self.table, self.layout, self.options, chunk, {}, self.needs, self.paste, whole
        )
        body.prepare(self.access)
        return body

    def _evaluate(self, body: SolveBody, block: str) -> None:
        """The operations of a block: as lines, or as calls of what has them."""
        if self.parts is None:
            body.evaluate(self.plan[block])
            return
        arguments = ", ".join(self._passed())
        for name in self.parts.names[block]:
            body.lines.append(f"  call void @{name}({arguments})")
        body.forget()

    # one instance

    def _instance(self, body: SolveBody) -> None:
        """All lines of an instance."""
        equations = self.equations
        self._evaluate(body, "before")
        if self.parts is None:
            body.values(self.blocks.held)
        guess = body.values(equations.guess)
        square: str | None = None
        bound = "%tolerance"
        if self.access.steps is Steps.NONE:
            for atom, value in zip(equations.unknowns, guess, strict=True):
                body.define(atom, value)
        else:
            loop = NewtonLoop(body, equations, partial(self._evaluate, body))
            if self.access.steps is Steps.FIXED:
                loop.write_fixed(guess)
            else:
                square, bound = loop.write(guess)
        self._evaluate(body, "after")
        if square is None and equations.residual:
            square = body.norm_squared(equations.residual)
        self._finish(body, square, bound)

    def _finish(self, body: SolveBody, square: str | None, bound: str) -> None:
        """Lines that look at the solution, and write the results."""
        positive = body.values(self.equations.positive)
        results = [
            (g, e, body.values([ref])[0])
            for g, refs in enumerate(self.layout.outputs)
            for e, ref in enumerate(refs)
            if ref or not self.access.added[g]
        ]
        tests = [body.compare("ogt", value, body.number(0.0)) for value in positive]
        if square is not None:
            tests.append(body.compare("ole", square, bound))
        if tests:
            good = body.all_of(tests)
            body.branch(body.every_lane(good), "write", "failed", _RARELY)
            body.start("failed")
            solve_status.record_failure(body, good, square, bound, positive)
            body.go("write")
            body.start("write")
        for g, e, value in results:
            body.store(g, e, value)
        body.store_the_rest()
        if self.access.has_window and any(self.access.outputs_in_window):
            # out of the way: runs that stay where they are have no jump
            body.branch("%stays", "written", "fetch", _RARELY)
            body.start("fetch")
            body.fetch_ahead()
            body.go("written")
            body.start("written")

    # the loop over instances

    def _define(self, body: SolveBody) -> str:
        """The whole function around the lines of an instance."""
        T, last, steps = self.type, body.block, self.access.steps is not Steps.NONE
        room, freed = self._room("w", len(self.parts.slots) if self.parts else 0)
        lines, body.lines = body.lines, []
        if steps:
            solve_status.add_steps(body, "%made_here")
        ending = body.lines
        zero = "zeroinitializer" if body.lanes > 1 else "0.0"
        made = f"  %made = phi {T} [ {zero}, %entry ], [ %made_here, %{last} ]"
        names = [*(p[1:] for p in self.pointers), "settings", "labels"]
        return "\n".join(
            [
                self._head(),
                f"{room}  %any = icmp sgt i64 %count, 0",
                "  %end = add i64 %first, %count",
                *self._bases(names),
                *self._settings(body),
                "  br i1 %any, label %loop, label %exit",
                f"loop:\n  %i = phi i64 [ %first, %entry ], [ %next, %{last} ]",
                *([made] if steps else []),
                *self._rows(split=False),
                *lines,
                f"  %next = add i64 %i, {self.side_by_side}",
                "  %more = icmp slt i64 %next, %end",
                "  br i1 %more, label %loop, label %ended\nended:",
                *ending,
                f"  br label %exit\nexit:\n{freed}  ret void\n}}\n",
            ]
        )

    def _settings(self, body: SolveBody) -> list[str]:
        kind = self.type if self.access.states else "double"
        body.lines = [
            "  %place = load i64, ptr %base_settings",
            f"  %status = getelementptr {kind}, ptr %x, i64 %place",
            "  %at_most = getelementptr i64, ptr %base_settings, i64 1",
            "  %most = load i64, ptr %at_most",
            "  %at_further = getelementptr i64, ptr %base_settings, i64 2",
            "  %further = load i64, ptr %at_further",
            "  %rest_first = add i64 %further, 1",
            "  %at_square = getelementptr i64, ptr %base_settings, i64 3",
            "  %square = load double, ptr %at_square",
        ]
        if self.access.has_window:
            body.lines += self._window()
        if body.lanes == 1:
            body.lines.append("  %tolerance = fadd double %square, 0.0")
        else:
            order = ", ".join(["i32 0"] * body.lanes)
            one = body.insert("poison", "%square", 0)
            body.lines.append(
                f"  %tolerance = shufflevector {self.type} {one}, {self.type} poison, "
                f"<{body.lanes} x i32> <{order}>"
            )
        return body.lines

    def _window(self) -> list[str]:
        """Where the window is, now and in the last run, so many doubles from the workspace.

        And how much farther in the next one.
        """
        lines = [
            "  %at_window = getelementptr i64, ptr %base_settings, i64 4",
            "  %window = load i64, ptr %at_window",
            f"  %at_now = getelementptr {self.type}, ptr %x, i64 %window",
            "  %at_last = getelementptr double, ptr %at_now, i64 1",
            "  %at_ahead = getelementptr double, ptr %at_now, i64 2",
            "  %far_ahead = load double, ptr %at_ahead",
            "  %ahead = fptosi double %far_ahead to i64",
            "  %stays = icmp eq i64 %ahead, 0",
        ]
        for name in ("now", "last"):
            lines += [
                f"  %far_{name} = load double, ptr %at_{name}",
                f"  %by_{name} = fptosi double %far_{name} to i64",
                f"  %x_{name} = getelementptr double, ptr %x, i64 %by_{name}",
            ]
        return lines

    def _passed(self) -> list[str]:
        """What the parts of a large kernel are passed."""
        window = ("%x_now", "%x_last") if self.access.has_window else ()
        return [f"ptr {p}" for p in ("%x", "%w", *window, *self.pointers)]

    def _declarations(self) -> list[str]:
        """What the lines were found to need."""
        wide = self.side_by_side > 1
        cttz = solve_status.declarations(self.options.lanes) if wide else []
        fetch = [FETCH_DECLARATION] if self.access.has_window else []
        return [*cttz, *fetch, *super()._declarations()]
