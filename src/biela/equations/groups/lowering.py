"""The groups of a model as a looped program: kernels of kinds, tables of where they read and write.

The workspace holds, besides the laws of time, of every body what is read of it (points, directions
…), and of every group those of its unknowns that are none of these; each with two rates.  What is
wanted of a kind is what its instances are asked for by later groups or by the user; what these need
in turn is found by going on until nothing new is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from biela.code.looped import Clear, Inside, Memory, Program, Segment, Solve, Window, Write
from biela.code.looped.solve_stage import STATUS
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.asked import Asked, Distribution, Request
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import closed_form
from biela.equations.groups.items import Item, components
from biela.equations.groups.kernel import GroupEquations, GroupKernel
from biela.equations.groups.symbols import Known
from biela.equations.groups.wanted import Wanted

__all__ = ["CARRIED", "RATES", "GroupProgram", "Iteration", "Request"]

#: What is put before the name of a quantity for the quantity itself, its rate and its second rate.
RATES: Final = ("", "d", "dd")
#: What a kernel reads of the last solved instant: unknowns, two rates, and a determinant.
CARRIED: Final = ("last", "dlast", "ddlast", "gauge_before")


@dataclass(frozen=True)
class Iteration:
    """How equations are solved.

    Attributes:
        tolerance: Bound of the norm of a group's equations.
        iterations: Most steps of a group.
        polish: Steps after that.
        fixed: Exactly that many steps, in place of all these.
    """

    tolerance: float = 1e-10
    iterations: int = 20
    polish: int = 0
    fixed: int | None = None


class GroupProgram:
    """The groups of a model, ready to be run.

    Args:
        casts: Kinds of groups.
        equations: Of each kind, in coordinates of its own.
        requests: What is wanted of bodies and joints besides what groups want of each other.
        iteration: How equations are solved.
        side_by_side: Whether independent groups of a kind share the lanes of the processor.
        closed_forms: Whether positions of groups that have a closed form are taken from it.
        kinds: The casts that equations belong to, if they are others than those of ``casts``.
        strands: Of every group the branch of the diagram it stands on, 0 for what several rest
            on; groups of a branch then follow each other.

    Attributes:
        memory: The workspace.
        program: What solves all groups.
        kernels: Of each kind.
        window: Items may stand in other memory, instants in the lanes: where they are stored.
        request_places: (n, components) of each request the places of its values in ``y``; rates
            are as far apart as the segments y, dy and ddy.
    """

    def __init__(
        self,
        casts: Casts,
        equations: Sequence[GroupEquations],
        requests: Sequence[Request | Item] = (),
        iteration: Iteration | None = None,
        side_by_side: bool = True,
        closed_forms: bool = False,
        kinds: Sequence[Cast] | None = None,
        strands: Integers | None = None,
    ) -> None:
        self.casts, self.equations = casts, list(equations)
        #: The casts that equations belong to.
        self.kinds = list(casts.casts if kinds is None else kinds)
        #: Closed forms of kinds that have one.
        self.closed = [closed_form(e) if closed_forms else None for e in self.equations]
        #: Signs of branches that are not those of the start, by kind.
        self.branch_signs: dict[int, Floats] = {}
        self.plane = casts.world.model.plane
        self.iteration = iteration or Iteration()
        self._strands = np.zeros(0, np.int64) if strands is None else strands
        self.window: Window | None = None
        self._requests = [Asked(r) for r in requests]
        self.kernels, self._reads = self._settled()
        self._make_memory()
        self._make_program(side_by_side)

    # ------------------------------------------------------------------- what is asked

    def _settled(self) -> tuple[list[GroupKernel], list[list[Asked]]]:
        """Go on until nothing new is asked for."""
        wanted: list[list[Wanted]] = [[] for _ in self.equations]
        before = -1
        while True:
            kinds = enumerate(zip(self.equations, wanted, self.closed, strict=True))
            known = [self._read_of(e, w, closed, c) for c, (e, w, closed) in kinds]
            items = [list(dict.fromkeys(k.item for k in ks)) for ks in known]
            size = sum(map(len, items))
            if size == before:
                break
            before = size
            reads = [[Asked(item) for item in of_kind] for of_kind in items]
            asked = [*(a for r in reads for a in r), *self._requests, *self._more_reads()]
            found = Distribution(self.casts, self.kinds, self.equations, asked)
            wanted, self._widths = found.wanted, found.widths
        kernels = []
        for c, (e, w) in enumerate(zip(self.equations, wanted, strict=True)):
            name = f"group_{_plain(e.derivation.cast.example.name)}"
            kernels.append(self._kernel(c, e, name, w))
        return kernels, reads

    def _read_of(
        self, equations: GroupEquations, wanted: Sequence[Wanted], closed: Any, c: int
    ) -> Sequence[Known]:
        """What is known that a kind depends on."""
        del c
        return equations.depends_on(wanted, closed)

    def _more_reads(self) -> list[Asked]:
        """What others than groups and the user read."""
        return []

    def _kernel(
        self, c: int, equations: GroupEquations, name: str, wanted: Sequence[Wanted]
    ) -> GroupKernel:
        return equations.kernel(name, wanted, self.closed[c])

    # ------------------------------------------------------------------------- memory

    def _make_memory(self) -> None:
        sizes: dict[str, int] = {"status": STATUS, "tau": 1, "shift": 3}
        laws = self.casts.laws.size
        sizes |= {"w": laws, "dw": laws, "ddw": laws}
        counts = [cast.count for cast in self.kinds]
        for c, kernel in enumerate(self.kernels):
            start = int((np.array(counts[:c]) * self._widths[:c]).sum())
            for d in RATES:
                size = counts[c] * len(kernel.unknowns)
                shared = self._among_items(kernel)
                sizes[f"{d}x{c}"] = Inside(size, f"{d}y", start) if shared else size
            sizes[f"gauge{c}"] = counts[c] if kernel.unknowns else 0
            form = self.closed[c]
            sizes[f"branch{c}"] = counts[c] if form is not None and form.branch is not None else 0
        total = int((np.array(counts) * self._widths).sum())
        sizes |= {"y": total, "dy": total, "ddy": total}
        self.memory = memory = Memory(sizes)
        self.window = Window(memory.first("y"), 3 * total, memory.first("shift"))
        self._first_y = np.concatenate([[0], np.cumsum(np.array(counts) * self._widths)])
        self.request_places = [self._in_y(a) for a in self._requests]

    def _among_items(self, kernel: GroupKernel) -> bool:
        """Whether the unknowns of a kind are what is read of it: they are stored once."""
        return kernel.among_items

    def unknown_places(self, c: int, rate: str = "") -> Integers:
        """Where the unknowns of a kind stand, or their rates, (instances, unknowns)."""
        return self.memory.places(f"{rate}x{c}").reshape(self.kinds[c].count, -1)

    def _in_y(self, asked: Asked) -> Integers:
        """Places in y of the components of what is asked, (n, components)."""
        c, k, first = asked.places.T
        width = components(asked.item.kind, self.plane)
        start = self._first_y[c] + k * self._widths[c] + first
        found: Integers = start[:, None] + np.arange(width)
        return found

    # ------------------------------------------------------------------------ program

    def _make_program(self, side_by_side: bool) -> None:
        memory = self.memory
        stages, self.tape = self._group_stages(side_by_side, 1)
        clear = Clear(memory.first("status"), STATUS)
        self.program = Program(
            [clear, *stages], memory.size, tape=[Segment(0, 0, 0), *self.tape], name="groups"
        )

    def _group_stages(self, side_by_side: bool, begin: int) -> tuple[list[Solve], list[Segment]]:
        """A stage a kind, and the tape of their segments; ``begin`` is the number of the first."""
        levels = self._levels()
        stages: list[Solve] = []
        runs: list[tuple[int, int, Segment]] = []
        self.orders: list[Integers] = []
        for c, (cast, kernel) in enumerate(zip(self.kinds, self.kernels, strict=True)):
            level = levels[cast.groups]
            if len(self._strands):
                level = level + self._strands[cast.groups] * (len(self.casts.structure.levels) + 1)
            order = np.lexsort((cast.groups, level))
            self.orders.append(order)
            if _idle(kernel):
                stages.append(self._stage(c, kernel, order[:0], False))
                continue
            level = level[order]
            cuts = np.flatnonzero(np.diff(level)) + 1
            starts = np.concatenate([[0], cuts, [len(level)]])
            together = side_by_side and int(np.diff(starts).max()) > 1
            stages.append(self._stage(c, kernel, order, together))
            for a, b in pairwise(starts):
                runs.append((int(level[a]), c, Segment(begin + c, int(a), int(b - a))))
        runs.sort(key=lambda run: run[:2])
        tape: list[Segment] = []
        for _, c, segment in runs:
            before = tape[-1] if tape else Segment(-1, 0, 0)
            follows = before.stage == segment.stage and before.first + before.count == segment.first
            if follows and not stages[c].independent:
                tape[-1] = Segment(before.stage, before.first, before.count + segment.count)
            else:
                tape.append(segment)
        return stages, tape

    def _levels(self) -> Integers:
        structure = self.casts.structure
        found = np.zeros(len(structure.groups), dtype=np.int64)
        for number, members in enumerate(structure.levels):
            found[list(members)] = number
        return found

    def _stage(self, c: int, kernel: GroupKernel, order: Integers, together: bool) -> Solve:
        """The instances of a kind, in some order."""
        memory, cast, ny = self.memory, self.kinds[c], int(self._widths[c])
        gather, scatter, carried = self._places_of_its_own(c, kernel, order)
        for d in RATES:
            if kernel.known:
                gather[f"{d}h"] = self.known_places(c, kernel, d)[order]
            if ny:
                first = memory.first(f"{d}y") + self._first_y[c]
                scatter[f"{d}y"] = Write(first + order * ny)
        iteration = self.iteration
        return Solve(
            kernel.function,
            gather=gather,
            scatter=scatter,
            parameters=kernel.parameters[order] if kernel.columns else None,
            independent=together,
            name=f"group {cast.example.name}",
            status=memory.first("status"),
            tolerance=self.equations[c].bound(iteration.tolerance),
            iterations=iteration.iterations,
            polish=iteration.polish,
            fixed=iteration.fixed,
            carried=carried,
            window=self.window,
            labels=cast.groups[order] + 1,
        )

    def _places_of_its_own(
        self, c: int, kernel: GroupKernel, order: Integers
    ) -> tuple[dict[str, Integers], dict[str, Write], tuple[str, ...]]:
        """What a kind reads and writes besides items, and what of that is of the last instant."""
        memory, m = self.memory, len(kernel.unknowns)
        gather: dict[str, Integers] = {}
        scatter: dict[str, Write] = {}
        if not m:
            return gather, scatter, ()
        for d, last, now in zip(RATES, CARRIED, ("x_found", "dx", "ddx"), strict=False):
            gather[last] = memory.first(f"{d}x{c}") + order * m
            if not self._among_items(kernel):
                scatter[now] = Write(gather[last])
        gather["tau"] = np.full(len(order), memory.first("tau"))
        gather["gauge_before"] = memory.first(f"gauge{c}") + order
        scatter["gauge"] = Write(memory.first(f"gauge{c}") + order)
        if memory.sizes[f"branch{c}"]:
            gather["branch"] = memory.first(f"branch{c}") + order
        return gather, scatter, CARRIED

    def known_places(self, c: int, kernel: GroupKernel, rate: str) -> Integers:
        """Where the known numbers of a kind stand, (instances, number of them)."""
        return self._places_of(kernel.known, self._reads[c], rate)

    def _places_of(self, knowns: Sequence[Known], reads: Sequence[Asked], rate: str) -> Integers:
        asked = {a.item: a for a in reads}
        columns = []
        for known in knowns:
            if known.item.kind == "law":
                columns.append(self.memory.first(f"{rate}w") + known.item.body)
            else:
                places = self._in_y(asked[known.item])[:, known.component]
                columns.append(self.memory.first(f"{rate}y") + places)
        return np.stack(columns, axis=1)

    # -------------------------------------------------------------------------- start

    def write_start(self, workspace: Floats, poses: Poses) -> None:
        """Write the unknowns at a position into a workspace, (places, lanes); rates are zero."""
        for c, kernel in enumerate(self.kernels):
            if kernel.unknowns:
                x = np.stack([u.start(poses) for u in kernel.unknowns], axis=1)
                workspace[self.unknown_places(c)] = x[:, :, None]
            form = self.closed[c]
            signs = None if form is None else form.branch_of(poses)
            signs = self.branch_signs.get(c, signs)
            if signs is not None:
                workspace[self.memory.places(f"branch{c}")] = signs.reshape(-1, 1)


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name) or "group"


def _idle(kernel: Any) -> bool:
    """Whether a kind solves nothing, checks nothing, and nothing is read of it."""
    function = getattr(kernel, "function", None)  # those with numbers at run time have none
    return (
        function is not None
        and not function.inputs
        and [a.name for a in function.outputs] == ["residual"]
    )
