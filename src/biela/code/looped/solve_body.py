"""The lines of LLVM IR of one instance that solves equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from biela.code.looped.blocks import Steps
from biela.code.looped.emit import Access, Instance
from biela.code.schedule import Step

#: What the lines that fetch something need to know.
FETCH_DECLARATION: Final = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
#: Bytes.
_CACHE_LINE: Final = 64


@dataclass(frozen=True)
class SolveAccess(Access):
    """How the arrays of a kernel that solves equations are reached, and how steps are made."""

    #: Inputs of which the last state is taken, in all lanes.
    carried: tuple[bool, ...] = ()
    steps: Steps = Steps.TO_TOLERANCE
    #: Further steps follow convergence.
    polishes: bool = False
    #: Entries of inputs, and outputs, that stand in the window.
    inputs_in_window: tuple[tuple[bool, ...], ...] = ()
    outputs_in_window: tuple[bool, ...] = ()

    @property
    def has_window(self) -> bool:
        """Whether a part of the workspace may stand elsewhere."""
        return self.states and bool(self.outputs_in_window)

    def input_base(self, array: int, position: int) -> str:
        """What the places of an entry of an input count from."""
        if not self.has_window or not self.inputs_in_window[array][position]:
            return "%x"
        return "%x_last" if self.carried[array] else "%x_now"

    def output_base(self, array: int) -> str:
        """What the places of an output count from."""
        return "%x_now" if self.has_window and self.outputs_in_window[array] else "%x"


@dataclass(frozen=True)
class Mark:
    """What had a name at some line: all that may be read in a block that does not follow on."""

    names: dict[int, str]
    negatives: dict[int, str]
    conditions: dict[int, str]
    powers: dict[tuple[int, int], str]


class SolveBody(Instance):
    """Writes the lines of one instance, or of one in each lane.

    In a large kernel values pass between functions through slots of ``%w``: those that the lines
    read from there are the loads of the chunk.
    """

    access: SolveAccess

    def load(self, array: int, position: int) -> str:
        """One entry of an input array; of a carried one that of the last state."""
        if not (self.access.states and self.access.carried[array]):
            return super().load(array, position)
        states = self._input_place(array, 0, position)
        last = self._place(states, self.lanes - 1)
        return self.splat(self.let(f"load double, ptr {last}"))

    def fetch_ahead(self) -> None:
        """Lines that bring the places of the next run into the cache, where this one has written.

        One entry a cache line, into the second cache: fetched into the first (for writing or not)
        they gain half as much on an AMD Zen 4, since the few misses that the first cache may have
        under way are then not there for other loads.
        """
        every = max(1, _CACHE_LINE // (8 * self.lanes))
        for array, refs in enumerate(self.layout.outputs):
            if self.access.outputs_in_window[array]:
                for position in range(0, len(refs), every):
                    here = self._output_place(array, 0, position)
                    there = self.let(f"getelementptr double, ptr {here}, i64 %ahead")
                    self.lines.append(
                        f"  call void @llvm.prefetch.p0(ptr {there}, i32 0, i32 2, i32 1)"
                    )

    def _load(self, atom: int) -> str:
        slot = self.chunk.loads.get(atom)
        if slot is None:
            return super()._load(atom)
        return self.let(f"load {self.type}, ptr {self._slot(slot)}")

    def _slot(self, slot: int) -> str:
        return self.let(f"getelementptr {self.type}, ptr %w, i64 {slot}")

    def define(self, atom: int, name: str) -> None:
        """Give an unknown its value."""
        self.names[atom] = name
        slot = self.chunk.loads.get(atom)
        if slot is not None:
            self.lines.append(f"  store {self.type} {name}, ptr {self._slot(slot)}")

    def evaluate(self, steps: Sequence[Step]) -> None:
        """The lines of some operations."""
        for step in steps:
            self._step(step)

    def forget(self) -> None:
        """Forget all names: what has slots may have changed there."""
        for known in (self.names, self.negatives, self.conditions, self.powers):
            known.clear()

    def values(self, refs: Sequence[int]) -> list[str]:
        """The names of values."""
        return [self._operand(ref) for ref in refs]

    def number(self, value: float) -> str:
        """A number in all lanes."""
        return self._number(value)

    # control

    def start(self, block: str) -> None:
        """Start a block."""
        self.lines.append(f"{block}:")
        self.block = block

    def go(self, block: str) -> None:
        """End a block by going to another."""
        self.lines.append(f"  br label %{block}")

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        """End a block by going to one of two others."""
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}{weights}")

    def mark(self) -> Mark:
        """What has a name here."""
        return Mark(
            dict(self.names), dict(self.negatives), dict(self.conditions), dict(self.powers)
        )

    def back_to(self, mark: Mark) -> None:
        """Forget what got a name after a mark."""
        self.names, self.negatives = dict(mark.names), dict(mark.negatives)
        self.conditions, self.powers = dict(mark.conditions), dict(mark.powers)

    # conditions

    def compare(self, predicate: str, a: str, b: str) -> str:
        """A comparison in each lane."""
        return self.let(f"fcmp {predicate} {self.type} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """One of two values in each lane."""
        return self._choose(condition, a, b)

    def all_of(self, conditions: Sequence[str]) -> str:
        """Whether several conditions hold, in each lane."""
        both = conditions[0]
        for other in conditions[1:]:
            both = self.let(f"and {self._truth_type} {both}, {other}")
        return both

    def bits(self, condition: str) -> str:
        """The lanes in which a condition holds, as the bits of a number."""
        return self.let(f"bitcast {self._truth_type} {condition} to i{self.lanes}")

    def any_lane(self, condition: str) -> str:
        """Whether a condition holds in some lane."""
        if self.lanes == 1:
            return condition
        return self.let(f"icmp ne i{self.lanes} {self.bits(condition)}, 0")

    def every_lane(self, condition: str) -> str:
        """Whether a condition holds in all lanes."""
        if self.lanes == 1:
            return condition
        return self.let(f"icmp eq i{self.lanes} {self.bits(condition)}, -1")

    def norm_squared(self, refs: Sequence[int]) -> str:
        """The sum of squares, in pairs: a chain of sums would be waited for."""
        T = self.type
        parts = [self.let(f"fmul {self.flags}{T} {v}, {v}") for v in self.values(refs)]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            left = parts[len(parts) // 2 * 2 :]
            parts = [self.let(f"fadd {self.flags}{T} {a}, {b}") for a, b in pairs] + left
        return parts[0]
