"""LLVM IR of a function of atoms.

Two entries can be made from one schedule.  The *scalar* entry evaluates one state,

    void kernel(const double *in0, …, double *out0, …),

with the sines and cosines of its angles computed in vector lanes.  The *batch* entry,

    void kernel(int64_t k, const double *in0, …, double *out0, …),

evaluates k states stored row by row, a vector of states at a time; the last vector overlaps the
one before it, so that every state goes through the same instructions.

The IR is written as text, one line an operation, and is not optimised further: the graph has no
common or dead operations left, and LLVM's passes would only cost time.
"""

from __future__ import annotations

from typing import Final

from biela.code.llvm import piecewise_ir, sincos
from biela.code.llvm.body import EXTERNALS, Body, Layout, Needs, Options, Results
from biela.code.llvm.rows import WIDE, unloading
from biela.code.schedule import Chunk, Pack, Schedule, Split, split

__all__ = ["ENTRY", "EXTERNALS", "Layout", "Module", "Options", "emit"]

#: Steps in one LLVM function: longer ones pass less through memory, and compile as fast up to here.
CHUNK: Final = 8000
#: The same in a batch that has to be cut anyway: what a chunk spills, a vector each, stays in the
#: fast cache (a quarter less time for chains of 100 joints).
BATCH_CHUNK: Final = 2000
#: An output with more zeros than this is cleared as a whole: single stores are slow to compile.
SPARSE: Final = 64
_MEMSET: Final = "llvm.memset.p0.i64"
#: Up to this many packs of angles are pasted into the code; more are calls.
PASTED_PACKS: Final = 12
ENTRY: Final = "kernel"
#: Bytes of spilled values up to which they lie on the stack; threads may have little of it.
STACK: Final = 1 << 16
_OF_TWO: Final = frozenset({"atan2", "pow"})


def emit(schedule: Schedule, layout: Layout, options: Options) -> str:
    """The text of a module with one entry, named ``kernel``."""
    return Module(schedule, layout, options).text()


class Module:
    """Writes the text of a module: its functions, and the declarations they turn out to need."""

    def __init__(self, schedule: Schedule, layout: Layout, options: Options) -> None:
        self.schedule, self.layout, self.options = schedule, layout, options
        self.table = schedule.table
        self.type = sincos.vector_type(options.lanes)
        self.needs = Needs()
        self.pointers = [f"%in{g}" for g in range(len(layout.input_sizes))]
        self.pointers += [f"%out{g}" for g in range(len(layout.outputs))]
        #: Outputs that a loop brings into rows.
        self.wide = [
            g for g, refs in enumerate(layout.outputs) if options.lanes > 1 and len(refs) > WIDE
        ]

    def text(self) -> str:
        """The text."""
        # the lanes of a batch hold states, so there an angle is a pack of its own
        steps = self.schedule.steps(1 if self.options.lanes > 1 else self.options.packed)
        long = self.options.lanes > 1 and len(steps) > CHUNK + CHUNK // 2
        parts = split(self.schedule, steps, BATCH_CHUNK if long else CHUNK)
        paste = sum(isinstance(step, Pack) for step in steps) <= PASTED_PACKS
        functions = self._functions(parts, paste)
        return "\n".join([*self._declarations(), *functions])

    def _functions(self, parts: Split, paste: bool) -> list[str]:
        results = self._results()
        whole = len(parts.chunks) == 1
        bodies = [self._body(chunk, results, paste, whole) for chunk in parts.chunks]
        if whole:
            lines = bodies[0].emit(final=True)
            return [self._entry(lines, bodies[0].block, 0)]
        functions, calls = [], []
        passed = [*self.pointers, *(f"%wide{g}" for g in self.wide)]
        parameters = ", ".join(f"ptr noalias {p}" for p in passed)
        arguments = ", ".join(f"ptr {p}" for p in passed)
        for number, body in enumerate(bodies):
            text = "\n".join(body.emit(final=number == len(bodies) - 1))
            functions.append(
                f"define internal void @chunk{number}({parameters}, ptr noalias %w) {{\n"
                f"entry:\n{text}\n  ret void\n}}\n"
            )
            calls.append(f"  call void @chunk{number}({arguments}, ptr %w)")
        return [*functions, self._entry(calls, "loop", parts.slots)]

    def _body(self, chunk: Chunk, results: Results, paste: bool, whole: bool) -> Body:
        """What writes the lines of a chunk."""
        return Body(self.table, self.layout, self.options, chunk, results, self.needs, paste, whole)

    def _results(self) -> dict[int, list[tuple[int, int, int]]]:
        """For each atom the places (array, position) it is stored to, and the sign there."""
        results: dict[int, list[tuple[int, int, int]]] = {}
        cleared = self._cleared()
        for g, refs in enumerate(self.layout.outputs):
            for e, ref in enumerate(refs):
                if ref or g not in cleared:
                    results.setdefault(abs(ref), []).append((g, e, 1 if ref >= 0 else -1))
        return results

    def _cleared(self) -> list[int]:
        """Output arrays with so many zeros that they are cleared first: a large sparse matrix."""
        return [g for g, refs in enumerate(self.layout.outputs) if refs.count(0) > SPARSE]

    def _clearing(self) -> str:
        lines = ""
        for g in self._cleared():
            size = 8 * self.options.lanes * len(self.layout.outputs[g])
            array = "wide" if g in self.wide else "out"
            lines += f"  call void @{_MEMSET}(ptr %{array}{g}, i8 0, i64 {size}, i1 false)\n"
        return lines

    def _unloading(self) -> str:
        return "".join(
            f"  call void @unload(ptr %wide{g}, ptr %out{g}, i64 {len(self.layout.outputs[g])})\n"
            for g in self.wide
        )

    def _entry(self, lines: list[str], block: str, slots: int) -> str:
        body = "\n".join(lines)
        work, after = self._room("w", slots)
        for g in self.wide:
            more, end = self._room(f"wide{g}", len(self.layout.outputs[g]))
            work, after = work + more, end + after
        if self.options.lanes == 1:
            parameters = ", ".join(f"ptr noalias {p}" for p in self.pointers)
            return (
                f"define void @{ENTRY}({parameters}) {{\nentry:\n"
                f"{work}{self._clearing()}{body}\n{after}  ret void\n}}\n"
            )
        lanes = self.options.lanes
        parameters = ", ".join(f"ptr noalias %base_{p[1:]}" for p in self.pointers)
        sizes = [*self.layout.input_sizes, *(len(o) for o in self.layout.outputs)]
        rows = []
        for p, size in zip(self.pointers, sizes, strict=True):
            rows.append(f"  %at_{p[1:]} = mul i64 %i, {size}")
            rows.append(f"  {p} = getelementptr double, ptr %base_{p[1:]}, i64 %at_{p[1:]}")
        return (
            f"define void @{ENTRY}(i64 %k, {parameters}) {{\nentry:\n{work}"
            f"  %last = sub i64 %k, {lanes}\n  br label %loop\nloop:\n"
            f"  %i = phi i64 [ 0, %entry ], [ %next, %{block} ]\n"
            + "\n".join(rows)
            + f"\n{self._clearing()}{body}\n{self._unloading()}"
            f"  %done = icmp eq i64 %i, %last\n  %step = add i64 %i, {lanes}\n"
            f"  %beyond = icmp sgt i64 %step, %last\n"
            f"  %next = select i1 %beyond, i64 %last, i64 %step\n"
            f"  br i1 %done, label %exit, label %loop\nexit:\n{after}  ret void\n}}\n"
        )

    def _room(self, name: str, slots: int) -> tuple[str, str]:
        """Room for values: on the stack, or on the heap where the stack might not do."""
        if not slots:
            return "", ""
        size = 8 * self.options.lanes * slots
        if size <= STACK:
            return f"  %{name} = alloca [{slots} x {self.type}], align 64\n", ""
        self.needs.heap = True
        room = f"  %{name}.raw = call ptr @malloc(i64 {size + 64})\n"
        room += f"  %{name}.at = ptrtoint ptr %{name}.raw to i64\n"
        room += f"  %{name}.up = add i64 %{name}.at, 63\n"
        room += f"  %{name}.aligned = and i64 %{name}.up, -64\n"
        room += f"  %{name} = inttoptr i64 %{name}.aligned to ptr\n"
        return room, f"  call void @free(ptr %{name}.raw)\n"

    def _declarations(self) -> list[str]:
        """What the bodies were found to need; asked for after they are written."""
        needs, fused = self.needs, self.options.fused
        declared = [
            f"declare double @{name}({'double, double' if name in _OF_TWO else 'double'})"
            for name in sorted(needs.library)
        ]
        declared += [f"declare {self.type} @{n}({self.type})" for n in sorted(needs.intrinsics)]
        if self._cleared():
            declared.append(f"declare void @{_MEMSET}(ptr, i8, i64, i1)")
        defined: list[str] = []
        if needs.sine_lanes:
            declared += sincos.declarations(sorted(needs.sine_lanes), fused).splitlines()
            defined += [sincos.slow_function(lanes) for lanes in sorted(needs.sine_lanes)]
            defined += [sincos.sincos_function(n, fused) for n in sorted(needs.called_lanes)]
        for index in sorted(needs.curves):
            defined.append(piecewise_ir.function(index, self.table.piecewise[index]))
            declared.append(piecewise_ir.DECLARATION)
        if self.table.externals:
            count = len(self.table.externals)
            defined.append(f"@{EXTERNALS} = global [{count} x ptr] zeroinitializer")
        if self.wide:
            defined.append(unloading(self.options.lanes))
        if needs.heap:
            declared += ["declare ptr @malloc(i64)", "declare void @free(ptr)"]
        # LLVM refuses to hear anything twice
        return [*dict.fromkeys(declared), *defined]
