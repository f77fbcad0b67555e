"""The fronts of a matrix as stages of a looped program, on vectors of its workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biela.code import Function
from biela.code.looped import Memory, Segment, Stage, Write
from biela.solvers.fronts.analysis import Fronts
from biela.solvers.fronts.kernels import FrontKernels, front_kernels

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FrontStages:
    """What runs over the fronts.

    The vectors are the entries "K" (by slots), the right-hand side "b" (by places), which becomes
    L⁻¹ b, the solution "x" (in the order of the unknowns), the factors "F", what fronts pass on,
    "C" and "h", and "dropped" (in the order of the unknowns, 1 for a multiplier that depends on
    others).  What is passed on is kept until it is taken, and its room is then used again, so that
    it stays in the fastest memory.  A second right-hand side and solution are "b_2", "x_2", "h_2".

    Attributes:
        sizes: How long these vectors are.
        kinds: The kernels of each kind.
    """

    fronts: Fronts
    kinds: tuple[FrontKernels, ...]
    sizes: Mapping[str, int]
    _factors: Integers
    _passed: Integers
    _borders: Integers

    @classmethod
    def of(cls, fronts: Fronts) -> FrontStages:
        """The kernels of all kinds, and the sizes of the vectors."""
        kinds = tuple(front_kernels(front) for front in fronts.kinds)
        wide = np.array([kernels.factors for kernels in kinds])
        F = np.concatenate([[0], np.cumsum(wide[fronts.kind])])
        C, most_C = _rooms(fronts, [len(pairs) + len(m) for pairs, m in fronts.passes])
        h, most_h = _rooms(fronts, [front.size - front.own for front in fronts.kinds])
        n = len(fronts.place)
        sizes = {
            "K": len(fronts.slot),
            "b": n,
            "x": n,
            "F": int(F[-1]),
            "C": most_C,
            "h": most_h,
            "b_2": n,
            "x_2": n,
            "h_2": most_h,
            "dropped": n,
        }
        return cls(fronts, kinds, sizes, F, C, h)

    def dependent(self, memory: Memory, w: NDArray[np.float64]) -> int:
        """How many multipliers were dropped in the last factorisation: their inverse pivot is 0."""
        F, found = memory.view(w, "F"), 0
        for k, front in enumerate(self.fronts.kinds):
            late = [p for (p, *more) in front.pivots if front.late[p] and not more]
            groups = np.flatnonzero(self.fronts.kind == k)
            found += int((F[self._factors[groups][:, None] + np.array(late, dtype=int)] == 0).sum())
        return found

    # ------------------------------------------------------------------------------ tape

    def tape(self, first_stage: int, begin: int = 0, end: int | None = None) -> list[Segment]:
        """Runs of groups of one kind, from ``begin`` on, in the order of elimination.

        ``first_stage`` is the number of the first stage of `factor`, `inward` or both.
        """
        kind = self.fronts.kind
        done = np.bincount(kind[:begin], minlength=len(self.kinds))
        return _runs(kind[begin:end], done, first_stage)

    def outward_tape(self, first_stage: int) -> list[Segment]:
        """The same in reverse order, for the stages of `outward`."""
        return _runs(self.fronts.kind[::-1], np.zeros(len(self.kinds), dtype=np.int64), first_stage)

    # ---------------------------------------------------------------------------- stages

    def factor(self, memory: Memory) -> list[Stage]:
        """From K to the factors and "dropped", a stage a kind."""
        return self._inward(memory, lambda k: k.factor)

    def inward(self, memory: Memory) -> list[Stage]:
        """From the factors: b becomes L⁻¹ b."""
        return self._inward(memory, lambda k: k.inward)

    def inward_twice(self, memory: Memory) -> list[Stage]:
        """The same for both right-hand sides at once."""
        return self._inward(memory, lambda k: k.inward_twice)

    def factor_and_inward(self, memory: Memory) -> list[Stage]:
        """Both at once."""
        return self._inward(memory, lambda k: k.both)

    def outward(self, memory: Memory) -> list[Stage]:
        """From L⁻¹ b to x; instances from the last one to the first."""
        return self._outward(memory, lambda k: k.outward)

    def outward_twice(self, memory: Memory) -> list[Stage]:
        """The same for both right-hand sides at once."""
        return self._outward(memory, lambda k: k.outward_twice)

    def _outward(self, memory: Memory, chosen: Callable[[FrontKernels], Function]) -> list[Stage]:
        found = []
        for k, kernels in enumerate(self.kinds):
            at = self._at(k, memory)
            kernel = chosen(kernels)
            gather = {a.name: at[a.name][::-1] for a in kernel.inputs}
            scatter = {a.name: Write(at[a.name][::-1]) for a in kernel.outputs}
            found.append(Stage(kernel, gather, scatter, name=f"front {k}"))
        return found

    def _inward(self, memory: Memory, chosen: Callable[[FrontKernels], Function]) -> list[Stage]:
        found = []
        for k, kernels in enumerate(self.kinds):
            at = self._at(k, memory)
            kernel = chosen(kernels)
            gather = {a.name: at[a.name] for a in kernel.inputs}
            scatter = {a.name: Write(at[a.name]) for a in kernel.outputs}
            found.append(Stage(kernel, gather, scatter, name=f"front {k}"))
        return found

    def _at(self, k: int, memory: Memory) -> dict[str, Integers]:
        """The places of all arrays of the kernels of a kind, for all its groups."""
        fronts, front = self.fronts, self.fronts.kinds[k]
        groups = np.flatnonzero(fronts.kind == k)
        order = np.empty(len(fronts.place), dtype=np.int64)
        order[fronts.place] = np.arange(len(order))
        own = order[fronts.start[groups][:, None] + np.arange(front.own)]
        late = np.flatnonzero(front.late[: front.own])
        at = {
            "K": memory.first("K") + fronts.slots[groups],
            "F": memory.first("F") + self._factors[groups],
            "C": memory.first("C") + self._passed[groups],
            "dropped": memory.first("dropped") + own[:, late],
        }
        border = np.array([fronts.border[g] for g in groups.tolist()], dtype=np.int64)
        children = np.array([fronts.children[g] for g in groups.tolist()], dtype=np.int64)
        for c in range(len(front.children)):
            at[f"c{c}"] = memory.first("C") + self._passed[children[:, c]]
        for side in ("", "_2"):
            at[f"b{side}"] = at[f"y{side}"] = memory.first(f"b{side}") + fronts.start[groups]
            at[f"x{side}"] = memory.first(f"x{side}") + own
            at[f"h{side}"] = memory.first(f"h{side}") + self._borders[groups]
            if border.size:
                at[f"border{side}"] = memory.first(f"x{side}") + order[border]
            for c in range(len(front.children)):
                at[f"h{c}{side}"] = memory.first(f"h{side}") + self._borders[children[:, c]]
        return at


def _runs(kind: Integers, done: Integers, first_stage: int) -> list[Segment]:
    """Runs of one kind, where ``done`` instances of each were before."""
    if not len(kind):
        return []
    ends = np.flatnonzero(np.append(np.diff(kind) != 0, True)) + 1
    found, begin, at = [], 0, done.copy()
    for end in ends.tolist():
        k = int(kind[begin])
        found.append(Segment(first_stage + k, int(at[k]), end - begin))
        at[k] += end - begin
        begin = end
    return found


def _rooms(fronts: Fronts, widths: Sequence[int]) -> tuple[Integers, int]:
    """Where each group leaves what it passes on, and how much room that takes."""
    free: dict[int, list[int]] = {}
    kind = fronts.kind.tolist()
    found, most = [0] * len(kind), 0
    for g, k in enumerate(kind):
        for child in fronts.children[g]:
            free.setdefault(widths[kind[child]], []).append(found[child])
        rooms = free.get(widths[k])
        if rooms:
            found[g] = rooms.pop()
        else:
            found[g] = most
            most += widths[k]
    return np.array(found, dtype=np.int64), most
