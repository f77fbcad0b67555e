"""LLVM IR of a loop over the instances of a kernel.

    void kernel(double *x, int64_t first, int64_t count, const void **arguments)

runs the instances ``first`` to ``first + count - 1`` on the workspace ``x``.  The arguments are,
for each input and then for each output, the rows of parameters or the table of places (int32).  In
the scalar form tables are stored row by row.  In the form with several lanes W instances run side
by side: tables and parameters are stored in blocks of W instances, entry by entry; ``first`` and
``count`` are multiples of W.  In the form for several *states* the workspace holds W states, those
of a place side by side, and each instance runs for all of them: tables hold the first double of
each place, parameters are the same in all lanes.

All results of an instance are stored after its last load, since the places that it reads and those
that it writes may be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from biela.code.llvm.body import Body, Layout, Options, Results
from biela.code.llvm.emit import ENTRY, Module
from biela.code.schedule import Chunk, Schedule


class Reach(Enum):
    """How an array of a kernel is reached."""

    PARAMETERS = "parameters"  # a row of its own
    FOLLOWING = "following"  # in the workspace, from a first place on
    SCATTERED = "scattered"  # in the workspace, a place for each entry


@dataclass(frozen=True)
class Access:
    """How the arrays of a kernel are reached, and which outputs are added to what is there."""

    inputs: tuple[Reach, ...]
    outputs: tuple[Reach, ...]
    added: tuple[bool, ...]
    #: Lanes hold states of one instance, in place of instances of one state.
    states: bool = False

    def input_base(self, array: int, position: int) -> str:
        """What the places of an entry of an input count from."""
        del array, position
        return "%x"

    def output_base(self, array: int) -> str:
        """What the places of an output count from."""
        del array
        return "%x"


def emit_loop(schedule: Schedule, layout: Layout, options: Options, access: Access) -> str:
    """The text of a module with one entry, named ``kernel``."""
    return LoopModule(schedule, layout, options, access).text()


class Instance(Body):
    """Writes the lines of one instance, or of one in each lane."""

    access: Access

    def prepare(self, access: Access) -> None:
        """Where arrays are reached, and the block in which lines start."""
        self.access = access
        self.block = "loop"
        self._made: list[tuple[int, int, str]] = []

    def load(self, array: int, position: int) -> str:
        """One entry of an input array, of all instances."""
        reach = self.access.inputs[array]
        if self.access.states:
            return self._load_states(array, position, reach)
        if self.lanes == 1 or reach is Reach.FOLLOWING:
            return super().load(array, position)
        if reach is Reach.PARAMETERS:  # blocks hold the lanes of an entry side by side
            place = self._place(f"%in{array}", position * self.lanes)
            return self.let(f"load {self.type}, ptr {place}, align 8")
        vector = "poison"
        for lane in range(self.lanes):
            place = self._input_place(array, lane, position)
            vector = self.insert(vector, self.let(f"load double, ptr {place}"), lane)
        return vector

    def _load_states(self, array: int, position: int, reach: Reach) -> str:
        if reach is not Reach.PARAMETERS:
            place = self._input_place(array, 0, position)
            return self.let(f"load {self.type}, ptr {place}, align 8")
        return self.splat(self.let(f"load double, ptr {self._place(f'%in{array}', position)}"))

    def splat(self, number: str) -> str:
        """A number in all lanes."""
        if self.lanes == 1:
            return number
        one = self.insert("poison", number, 0)
        return self._shuffle(one, "poison", self.type, [0] * self.lanes)

    def store(self, array: int, position: int, value: str) -> None:
        """One entry of an output array, kept until all inputs are loaded."""
        self._made.append((array, position, value))

    def store_the_rest(self) -> None:
        """Store all results."""
        for array, position, value in self._made:
            if self.access.states:
                self._put(self.type, value, self._output_place(array, 0, position), array)
            elif self.lanes > 1 and self.access.outputs[array] is Reach.SCATTERED:
                self._store_lanes(array, position, value)
            else:
                self._store_rows(array, position, value)
        super().store_the_rest()

    def _put(self, kind: str, value: str, place: str, array: int) -> None:
        if self.access.added[array]:
            before = self.let(f"load {kind}, ptr {place}, align 8")
            value = self.let(f"fadd {self.flags}{kind} {before}, {value}")
        super()._put(kind, value, place, array)

    def _input_place(self, array: int, lane: int, position: int) -> str:
        base = self.access.input_base(array, position)
        return self._reached(f"in{array}", self.access.inputs[array], lane, position, base)

    def _output_place(self, array: int, lane: int, position: int) -> str:
        base = self.access.output_base(array)
        return self._reached(f"out{array}", self.access.outputs[array], lane, position, base)

    def _reached(self, name: str, reach: Reach, lane: int, position: int, base: str) -> str:
        side_by_side = 1 if self.access.states else self.lanes
        kind = self.type if self.access.states else "double"
        if reach is Reach.SCATTERED:
            entry = position * side_by_side + lane
            at = self.let(f"getelementptr i32, ptr %{name}, i64 {entry}")
            number = self.let(f"load i32, ptr {at}")
            return self.let(f"getelementptr double, ptr {base}, i32 {number}")
        pointer = f"%{name}" if side_by_side == 1 else f"%{name}_{lane}"
        return self.let(f"getelementptr {kind}, ptr {pointer}, i64 {position}")


class LoopModule(Module):
    """Writes the text of a module with a loop over instances."""

    def __init__(
        self, schedule: Schedule, layout: Layout, options: Options, access: Access
    ) -> None:
        super().__init__(schedule, layout, options)
        self.access = access
        self.wide = []
        self.side_by_side = 1 if access.states else options.lanes

    def _body(self, chunk: Chunk, results: Results, paste: bool, whole: bool) -> Body:
        if not whole:  # a part of a large kernel works on copies of the arrays
            return super()._body(chunk, results, paste, whole)
        body = Instance(
            self.table, self.layout, self.options, chunk, results, self.needs, paste, whole
        )
        body.prepare(self.access)
        return body

    def _cleared(self) -> list[int]:
        """Adding nothing is left out."""
        return [g for g, added in enumerate(self.access.added) if added]

    def _entry(self, lines: list[str], block: str, slots: int) -> str:
        work, after = self._room("w", slots)
        if slots:
            copies, end, before, behind = self._copies()
            work, after, block = work + copies, end + after, "loop"
            lines = [*before, *lines, *behind]
        return "\n".join(
            [
                self._head(),
                f"{work}  %any = icmp sgt i64 %count, 0",
                "  %end = add i64 %first, %count",
                *self._bases([p[1:] for p in self.pointers]),
                "  br i1 %any, label %loop, label %exit",
                f"loop:\n  %i = phi i64 [ %first, %entry ], [ %next, %{block} ]",
                *self._rows(bool(slots)),
                *lines,
                f"  %next = add i64 %i, {self.side_by_side}",
                "  %more = icmp slt i64 %next, %end",
                f"  br i1 %more, label %loop, label %exit\nexit:\n{after}  ret void\n}}\n",
            ]
        )

    def _head(self) -> str:
        """The first lines of the entry.

        Vectors that do not fit into registers lie on the stack, in cache lines of their own.
        """
        aligned = ' "stackrealign"' if self.options.lanes > 1 else ""
        return (
            f"define void @{ENTRY}(ptr %x, i64 %first, i64 %count, ptr %arguments){aligned} {{\n"
            "entry:"
        )

    def _bases(self, names: Sequence[str]) -> list[str]:
        """The arguments: where tables and parameters start."""
        return [
            f"  %at_{name} = getelementptr ptr, ptr %arguments, i64 {k}\n"
            f"  %base_{name} = load ptr, ptr %at_{name}"
            for k, name in enumerate(names)
        ]

    def _arrays(self) -> list[tuple[str, Reach, int]]:
        sizes = [*self.layout.input_sizes, *(len(refs) for refs in self.layout.outputs)]
        reaches = (*self.access.inputs, *self.access.outputs)
        return [(p[1:], r, n) for p, r, n in zip(self.pointers, reaches, sizes, strict=True)]

    def _rows(self, split: bool) -> list[str]:
        """Where the arrays of an instance start: pointers to entries, or to their places."""
        return [line for array in self._arrays() for line in self._row(split, *array)]

    def _base(self, name: str) -> str:
        """What the places of an array count from."""
        if name.startswith("out"):
            return self.access.output_base(int(name[3:]))
        return self.access.input_base(int(name[2:]), 0)

    def _row(self, split: bool, name: str, reach: Reach, size: int) -> list[str]:
        here = f"far_{name}" if split and self._is_copied(name, reach) else name
        if reach is not Reach.FOLLOWING:
            entry = "double" if reach is Reach.PARAMETERS else "i32"
            return [
                f"  %row_{name} = mul i64 %i, {size}",
                f"  %{here} = getelementptr {entry}, ptr %base_{name}, i64 %row_{name}",
            ]
        lines: list[str] = []
        for lane in range(self.side_by_side):
            own = f"{here}_{lane}" if self.side_by_side > 1 else here
            lines += [
                f"  %lane_{own} = add i64 %i, {lane}",
                f"  %from_{own} = getelementptr i32, ptr %base_{name}, i64 %lane_{own}",
                f"  %start_{own} = load i32, ptr %from_{own}",
                f"  %{own} = getelementptr double, ptr {self._base(name)}, i32 %start_{own}",
            ]
        return lines

    def _is_copied(self, name: str, reach: Reach) -> bool:
        """Whether the parts of a large kernel see a copy: no output may overlap an input."""
        return name.startswith("out") or reach is Reach.SCATTERED

    def _copies(self) -> tuple[str, str, list[str], list[str]]:
        """Room for copies, its end, and the lines that bring entries in and results out."""
        room, end = "", ""
        before: list[str] = []
        behind: list[str] = []
        for name, reach, size in self._arrays():
            if not self._is_copied(name, reach):
                continue
            more, freed = self._room(name, size)
            room, end = room + more, freed + end
            if name.startswith("in"):
                for e in range(size):
                    before += self._far(name, reach, e)
                    before += [
                        f"  %value_{name}_{e} = load double, ptr %place_{name}_{e}",
                        f"  store double %value_{name}_{e}, ptr %near_{name}_{e}",
                    ]
                continue
            g = int(name[3:])
            for e, ref in enumerate(self.layout.outputs[g]):
                if self.access.added[g] and not ref:
                    continue
                behind += self._far(name, reach, e)
                behind.append(f"  %value_{name}_{e} = load double, ptr %near_{name}_{e}")
                result = f"%value_{name}_{e}"
                if self.access.added[g]:
                    behind += [
                        f"  %old_{name}_{e} = load double, ptr %place_{name}_{e}",
                        f"  %sum_{name}_{e} = fadd double %old_{name}_{e}, {result}",
                    ]
                    result = f"%sum_{name}_{e}"
                behind.append(f"  store double {result}, ptr %place_{name}_{e}")
        return room, end, before, behind

    @staticmethod
    def _far(name: str, reach: Reach, e: int) -> list[str]:
        """The place of an entry in the workspace, and that of its copy."""
        near = f"  %near_{name}_{e} = getelementptr double, ptr %{name}, i64 {e}"
        if reach is Reach.FOLLOWING:
            place = f"  %place_{name}_{e} = getelementptr double, ptr %far_{name}, i64 {e}"
            return [near, place]
        return [
            near,
            f"  %to_{name}_{e} = getelementptr i32, ptr %far_{name}, i64 {e}",
            f"  %number_{name}_{e} = load i32, ptr %to_{name}_{e}",
            f"  %place_{name}_{e} = getelementptr double, ptr %x, i32 %number_{name}_{e}",
        ]
