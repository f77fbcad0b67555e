"""LLVM IR of a small function that is applied to every column of a matrix.

    void kernel(const double *shared0, …, const double *matrix, double *result)

evaluates result[:, c] = f(shared, matrix[:, c]) for a fixed number of columns.  Matrices lie in
memory row by row, so that neighbouring columns fill a vector as they are; what the columns share is
loaded into all lanes where it is used.  The last vector overlaps the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import opcodes as op
from biela.code.llvm.body import Body, Layout, Needs, Options
from biela.code.llvm.emit import ENTRY
from biela.code.schedule import Chunk, Schedule
from biela.errors import CompileError


class _ColumnBody(Body):
    """Lines for some columns; the first column is ``%c`` and the last array that of columns."""

    def __init__(self, schedule: Schedule, layout: Layout, options: Options, columns: int) -> None:
        results: dict[int, list[tuple[int, int, int]]] = {}
        for position, ref in enumerate(layout.outputs[0]):
            results.setdefault(abs(ref), []).append((0, position, 1 if ref >= 0 else -1))
        steps = tuple(schedule.steps(1))
        chunk = Chunk(steps, {}, {})
        super().__init__(
            schedule.table, layout, options, chunk, results, Needs(), paste=False, whole=True
        )
        self._columns = columns
        self._own = len(layout.input_sizes) - 1

    def _operand(self, ref: int) -> str:
        # what is shared is loaded again at each use: kept, it would only be spilled
        if ref > 0 and self.table.ops[ref] == op.SYMBOL and self.layout.inputs[ref][0] != self._own:
            return self.load(*self.layout.inputs[ref])
        return super()._operand(ref)

    def load(self, array: int, position: int) -> str:
        if array == self._own:
            return self.let(f"load {self.type}, ptr {self._column('%matrix', position)}, align 8")
        place = self._place(f"%in{array}", position)
        one = self.let(f"load double, ptr {place}")
        if self.lanes == 1:
            return one
        return self._shuffle(self.insert("poison", one, 0), "poison", self.type, [0] * self.lanes)

    def store(self, array: int, position: int, value: str) -> None:
        place = self._column("%result", position)
        self.lines.append(f"  store {self.type} {value}, ptr {place}, align 8")

    def _column(self, matrix: str, row: int) -> str:
        at = self.let(f"add i64 %c, {row * self._columns}")
        return self.let(f"getelementptr double, ptr {matrix}, i64 {at}")


def emit_columns(schedule: Schedule, layout: Layout, options: Options, columns: int) -> str:
    """The text of a module; of the inputs the last one is the column, the others are shared.

    Raises:
        CompileError: It needs more than arithmetic, or there are fewer columns than lanes.
    """
    if columns < options.lanes:
        raise CompileError(f"{columns} columns are fewer than the {options.lanes} of a vector")
    body = _ColumnBody(schedule, layout, options, columns)
    lines = body.emit(final=True)
    needs = body.needs
    if needs.library or needs.curves or needs.sine_lanes or schedule.table.externals:
        raise CompileError("a function of columns is made of sums, products, quotients and roots")
    declared = [f"declare {body.type} @{n}({body.type})\n" for n in sorted(needs.intrinsics)]
    names = [*(f"%in{g}" for g in range(len(layout.input_sizes) - 1)), "%matrix", "%result"]
    parameters = ", ".join(f"ptr noalias {name}" for name in names)
    last = columns - options.lanes
    return "".join(declared) + "\n".join(
        [
            f"define void @{ENTRY}({parameters}) {{\nentry:\n  br label %loop\nloop:",
            "  %c = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *lines,
            f"  %done = icmp eq i64 %c, {last}",
            f"  %step = add i64 %c, {options.lanes}",
            f"  %beyond = icmp sgt i64 %step, {last}",
            f"  %next = select i1 %beyond, i64 {last}, i64 %step",
            "  br i1 %done, label %exit, label %loop\nexit:\n  ret void\n}\n",
        ]
    )


class Calls:
    """Entries that call a head and then the columns: ``kernel`` for a state, ``batch`` for many.

    The code that they call is known by its addresses, so that they are of one process only.

    Args:
        inputs: Sizes of the inputs.
        direct: Sizes of the outputs that the head writes itself.
        shared: Sizes of the arrays that all columns share.
        matrices: For each matrix of results the number of the matrix of the head that it comes
            from; None for the unit matrix.
        size: Entries of a matrix.
        unit: Address of the unit matrix.
    """

    def __init__(
        self,
        inputs: Sequence[int],
        direct: Sequence[int],
        shared: Sequence[int],
        matrices: Sequence[int | None],
        size: int,
        unit: int,
    ) -> None:
        self.inputs, self.direct, self.shared = inputs, direct, shared
        self.matrices, self.size, self.unit = matrices, size, unit

    def text(self, head: int, column: int) -> str:
        """The text of the module, with the addresses of both."""
        count = len(self.inputs) + len(self.direct) + len(self.matrices)
        arguments = ", ".join(f"ptr %x{i}" for i in range(count))
        given = len(self.inputs) + len(self.direct)
        own = sorted({k for k in self.matrices if k is not None})
        rooms = [*(f"%s{i}" for i in range(len(self.shared))), *(f"%m{k}" for k in own)]
        offsets, total = [], 0
        for size in (*self.shared, *(self.size for _ in own)):
            offsets.append(total)
            total += -(-size // 8) * 8
        passed = ", ".join(f"ptr {x}" for x in (*(f"%x{i}" for i in range(given)), *rooms))
        lines = [
            f"define void @one({arguments}, ptr %room) {{\nentry:",
            *(
                f"  {name} = getelementptr double, ptr %room, i64 {offset}"
                for name, offset in zip(rooms, offsets, strict=True)
            ),
            f"  call void inttoptr (i64 {head} to ptr)({passed})",
        ]
        shared = "".join(f"ptr %s{i}, " for i in range(len(self.shared)))
        for i, k in enumerate(self.matrices):
            matrix = f"%m{k}" if k is not None else f"inttoptr (i64 {self.unit} to ptr)"
            lines.append(
                f"  call void inttoptr (i64 {column} to ptr)"
                f"({shared}ptr {matrix}, ptr %x{given + i})"
            )
        lines.append("  ret void\n}\n")
        return "\n".join(lines) + self._entry(arguments, total) + self._batch(arguments, total)

    def _entry(self, arguments: str, total: int) -> str:
        return (
            f"declare ptr @malloc(i64)\ndeclare void @free(ptr)\n"
            f"define void @{ENTRY}({arguments}) {{\nentry:\n"
            f"  %room = call ptr @malloc(i64 {8 * total})\n"
            f"  call void @one({arguments}, ptr %room)\n"
            f"  call void @free(ptr %room)\n  ret void\n}}\n"
        )

    def _batch(self, arguments: str, total: int) -> str:
        sizes = [*self.inputs, *self.direct, *(self.size for _ in self.matrices)]
        bases = arguments.replace("%x", "%base")
        rows = "".join(
            f"  %at{i} = mul i64 %i, {size}\n"
            f"  %x{i} = getelementptr double, ptr %base{i}, i64 %at{i}\n"
            for i, size in enumerate(sizes)
        )
        return (
            f"define void @batch(i64 %k, {bases}) {{\nentry:\n"
            f"  %room = call ptr @malloc(i64 {8 * total})\n  br label %loop\nloop:\n"
            f"  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{rows}"
            f"  call void @one({arguments}, ptr %room)\n"
            f"  %next = add i64 %i, 1\n  %done = icmp eq i64 %next, %k\n"
            f"  br i1 %done, label %exit, label %loop\nexit:\n"
            f"  call void @free(ptr %room)\n  ret void\n}}\n"
        )
