"""Getting states into vector lanes and results out of them.

States lie in memory row by row.  A vector holds one entry of several states, so entries have to be
gathered across rows: four rows and four entries at a time by loading the rows and transposing them
in registers, which takes less than half the instructions of gathering one by one.

A large output would be thousands of stores, on which LLVM spends seconds.  Its entries are stored
as they are, a vector of states each, and a loop brings them into rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from biela.code.llvm import sincos

_BLOCK: Final = 4
#: Outputs with more entries than this are brought into rows by a loop.
WIDE: Final = 64


class Rows:
    """Writes lines, and the loads and stores of rows; the first pointer of a row is ``%in0`` …"""

    def __init__(
        self, lanes: int, input_sizes: Sequence[int], output_sizes: Sequence[int], whole: bool
    ) -> None:
        self.lanes = lanes
        self.type = sincos.vector_type(lanes)
        self.lines: list[str] = []
        self.count = 0
        self._input_sizes, self._output_sizes = input_sizes, output_sizes
        # a chunk of a split function may use a single entry of a block: no transposing there
        self._transposes = whole and lanes % _BLOCK == 0
        self._loaded: dict[tuple[int, int], str] = {}
        self._waiting: dict[tuple[int, int], str] = {}

    def let(self, text: str) -> str:
        """Write a line that computes ``text``; the name of its result."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def insert(self, vector: str, value: str, lane: int) -> str:
        """A vector with one lane replaced."""
        return self.let(f"insertelement {self.type} {vector}, double {value}, i32 {lane}")

    def extract(self, vector: str, lane: int) -> str:
        """One lane of a vector."""
        return self.let(f"extractelement {self.type} {vector}, i32 {lane}")

    # loads

    def load(self, array: int, position: int) -> str:
        """One entry of an input array, of all states."""
        size = self._input_sizes[array]
        if self.lanes == 1:
            return self.let(f"load double, ptr {self._input_place(array, 0, position)}")
        if self._transposes and size >= _BLOCK:
            if (array, position) not in self._loaded:
                self._load_block(array, min(position - position % _BLOCK, size - _BLOCK))
            return self._loaded[array, position]
        vector = "poison"
        for lane in range(self.lanes):
            place = self._input_place(array, lane, position)
            vector = self.insert(vector, self.let(f"load double, ptr {place}"), lane)
        return vector

    def _load_block(self, array: int, start: int) -> None:
        columns: list[list[str]] = []
        for first in range(0, self.lanes, _BLOCK):
            rows = []
            for lane in range(first, first + _BLOCK):
                place = self._input_place(array, lane, start)
                rows.append(self.let(f"load <4 x double>, ptr {place}, align 8"))
            columns.append(self._transposed(rows))
        for k in range(_BLOCK):
            self._loaded[array, start + k] = self._joined([half[k] for half in columns])

    # stores

    def store(self, array: int, position: int, value: str) -> None:
        """One entry of an output array, of all states."""
        if self.lanes > 1 and self._output_sizes[array] > WIDE:
            place = self.let(f"getelementptr {self.type}, ptr %wide{array}, i64 {position}")
            self.lines.append(f"  store {self.type} {value}, ptr {place}")
        else:
            self._store_rows(array, position, value)

    def _store_rows(self, array: int, position: int, value: str) -> None:
        """One entry of all states into their rows, four at a time where that can be."""
        size = self._output_sizes[array]
        if self.lanes == 1:
            self._put("double", value, self._output_place(array, 0, position), array)
        elif self._transposes and position < size - size % _BLOCK:
            self._waiting[array, position] = value
            start = position - position % _BLOCK
            block = [(array, start + k) for k in range(_BLOCK)]
            if all(entry in self._waiting for entry in block):
                self._store_block(array, start, [self._waiting.pop(entry) for entry in block])
        else:
            self._store_lanes(array, position, value)

    def _put(self, kind: str, value: str, place: str, array: int) -> None:
        """Bring a value, or several that follow each other, into an output array."""
        self.lines.append(f"  store {kind} {value}, ptr {place}, align 8")

    def store_the_rest(self) -> None:
        """Store what still waits for its block to be complete."""
        for (array, position), value in sorted(self._waiting.items()):
            self._store_lanes(array, position, value)
        self._waiting.clear()

    def _store_lanes(self, array: int, position: int, value: str) -> None:
        for lane in range(self.lanes):
            place = self._output_place(array, lane, position)
            self._put("double", self.extract(value, lane), place, array)

    def _store_block(self, array: int, start: int, values: list[str]) -> None:
        for first in range(0, self.lanes, _BLOCK):
            rows = self._transposed([self._part(value, first) for value in values])
            for k, row in enumerate(rows):
                place = self._output_place(array, first + k, start)
                self._put("<4 x double>", row, place, array)

    # places in memory

    def _input_place(self, array: int, lane: int, position: int) -> str:
        """Pointer to an entry of an input of the state in a lane."""
        return self._place(f"%in{array}", lane * self._input_sizes[array] + position)

    def _output_place(self, array: int, lane: int, position: int) -> str:
        return self._place(f"%out{array}", lane * self._output_sizes[array] + position)

    def _place(self, pointer: str, position: int) -> str:
        return self.let(f"getelementptr double, ptr {pointer}, i64 {position}")

    # registers

    def _shuffle(self, a: str, b: str, kind: str, order: Sequence[int]) -> str:
        mask = ", ".join(f"i32 {i}" for i in order)
        return self.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(order)} x i32> <{mask}>")

    def _transposed(self, rows: Sequence[str]) -> list[str]:
        four = "<4 x double>"
        even = [self._shuffle(rows[i], rows[i + 1], four, (0, 4, 2, 6)) for i in (0, 2)]
        odd = [self._shuffle(rows[i], rows[i + 1], four, (1, 5, 3, 7)) for i in (0, 2)]
        return [
            self._shuffle(even[0], even[1], four, (0, 1, 4, 5)),
            self._shuffle(odd[0], odd[1], four, (0, 1, 4, 5)),
            self._shuffle(even[0], even[1], four, (2, 3, 6, 7)),
            self._shuffle(odd[0], odd[1], four, (2, 3, 6, 7)),
        ]

    def _joined(self, halves: Sequence[str]) -> str:
        if len(halves) == 1:
            return halves[0]
        return self._shuffle(halves[0], halves[1], "<4 x double>", range(8))

    def _part(self, value: str, first: int) -> str:
        if self.lanes == _BLOCK:
            return value
        return self._shuffle(value, "poison", self.type, range(first, first + _BLOCK))


def unloading(lanes: int) -> str:
    """A function that brings entries with a vector of states each into rows.

    void unload(const vector *wide, double *out, int64_t size)
    """
    type_ = sincos.vector_type(lanes)
    lines = [
        "define internal void @unload(ptr noalias %wide, ptr noalias %out, i64 %size) {",
        "entry:\n  br label %loop\nloop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        f"  %from = getelementptr {type_}, ptr %wide, i64 %i",
        f"  %entries = load {type_}, ptr %from",
        "  %to0 = getelementptr double, ptr %out, i64 %i",
    ]
    for lane in range(lanes):
        lines.append(f"  %value{lane} = extractelement {type_} %entries, i32 {lane}")
        lines.append(f"  store double %value{lane}, ptr %to{lane}")
        if lane + 1 < lanes:
            lines.append(f"  %to{lane + 1} = getelementptr double, ptr %to{lane}, i64 %size")
    lines += [
        "  %next = add i64 %i, 1",
        "  %done = icmp eq i64 %next, %size",
        "  br i1 %done, label %exit, label %loop\nexit:\n  ret void\n}\n",
    ]
    return "\n".join(lines)
