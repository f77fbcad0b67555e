"""The groups of a model as a looped program: kernels of kinds, tables of where they read and write.

The workspace holds, besides the laws of time, of every group its unknowns and of every body what is
read of it (points, directions …), each with two rates.  What is wanted of a kind is what its
instances are asked for by later groups or by the user; what these need in turn is found by going on
until nothing new is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from biela.code.looped import Clear, Memory, Program, Segment, Solve, Write
from biela.code.looped.solve_stage import STATUS
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import closed_form
from biela.equations.groups.derivation import Known
from biela.equations.groups.items import Item, ItemKind, components
from biela.equations.groups.kernel import GroupEquations, GroupKernel
from biela.equations.groups.wanted import Wanted
from biela.errors import ModelError

__all__ = ["Asked", "GroupProgram", "Iteration", "Request"]

_KINDS: Final[tuple[ItemKind, ...]] = ("point", "axis", "turn")


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


@dataclass(frozen=True, eq=False)
class Request:
    """Items that a user wants: of bodies by number."""

    kind: ItemKind
    body: Integers
    local: Floats = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(eq=False)
class Asked:
    """What somebody reads: an item in some instances, and where each of them is found."""

    item: Item | Request
    places: Integers = field(default_factory=lambda: np.zeros(0, np.int64))


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
        self._owner = self._owners()
        self._requests = [Asked(r) for r in requests]
        self.kernels, self._reads = self._settled()
        self._make_memory()
        self._make_program(side_by_side)

    # ------------------------------------------------------------------- what is asked

    def _owners(self) -> Integers:
        """For each body its cast, instance and slot, (bodies, 3)."""
        found = np.full((self.casts.world.count, 3), -1, dtype=np.int64)
        for c, cast in enumerate(self.kinds):
            for slot in range(cast.size):
                found[cast.bodies[:, slot], 0] = c
                found[cast.bodies[:, slot], 1] = np.arange(cast.count)
                found[cast.bodies[:, slot], 2] = slot
        return found

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
            wanted = self._distributed(asked)
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

    def _distributed(self, asked: Sequence[Asked]) -> list[list[Wanted]]:
        """What each kind has to give; ``places`` of what is asked: y of its kind, and instance."""
        found: list[list[Wanted]] = [[] for _ in self.equations]
        self._widths = np.zeros(len(self.equations), dtype=np.int64)
        for kind in _KINDS:
            of_kind = [a for a in asked if a.item.kind == kind]
            if of_kind:
                self._bodies(kind, of_kind, found)
        self._joint_coordinates([a for a in asked if a.item.kind == "coordinate"], found)
        return found

    def _bodies(self, kind: ItemKind, asked: Sequence[Asked], found: list[list[Wanted]]) -> None:
        rows = []
        for one in asked:
            local = one.item.local if kind != "turn" else np.zeros((len(one.item.body), 3))
            rows.append(np.column_stack([one.item.body, local]))
        table, inverse = _unique_rows(np.concatenate(rows))
        body = table[:, 0].astype(np.int64)
        owner = self._owner[body]
        if (owner[:, 0] < 0).any():
            name = self.casts.world.names[int(body[np.argmax(owner[:, 0] < 0)])]
            raise ModelError(f"{name} is in no group: its motion is not determined")
        rank = _rank_within(body)
        width = components(kind, self.plane)
        place = np.zeros(len(table), dtype=np.int64)  # of its first component, in y of its instance
        for c, cast in enumerate(self.kinds):
            for slot in range(cast.size):
                mine = np.flatnonzero((owner[:, 0] == c) & (owner[:, 2] == slot))
                for number in range(int(rank[mine].max()) + 1 if len(mine) else 0):
                    these = mine[rank[mine] == number]
                    local = np.zeros((cast.count, 3))
                    local[owner[these, 1]] = table[these, 1:]
                    if len(these) < cast.count and len(these):
                        rest = np.setdiff1d(np.arange(cast.count), owner[these, 1])
                        local[rest] = table[these[0], 1:]
                    given = None if kind == "turn" else local
                    found[c].append(Wanted(kind, slot, number, given))
                    place[these] = self._widths[c]
                    self._widths[c] += width
        first = 0
        for one in asked:
            n = len(one.item.body)
            at = inverse[first : first + n]
            one.places = np.column_stack([owner[at, 0], owner[at, 1], place[at]])
            first += n

    def _joint_coordinates(self, asked: Sequence[Asked], found: list[list[Wanted]]) -> None:
        if not asked:
            return
        wanted = {name for one in asked for name in _names(one.item)}
        known: dict[str, tuple[int, int, int]] = {}
        for c, cast in enumerate(self.kinds):
            for e, element in cast.joints():
                for coordinate in element.joint.coordinates:
                    mine = [f"{name}.{coordinate.name}" for name in element.names]
                    if not wanted & set(mine):
                        continue
                    if (e, coordinate.name) not in self.equations[c].derivation.coordinates:
                        continue
                    found[c].append(Wanted("coordinate", e, coordinate=coordinate.name))
                    known |= {name: (c, k, int(self._widths[c])) for k, name in enumerate(mine)}
                    self._widths[c] += 1
        for one in asked:
            missing = [name for name in _names(one.item) if name not in known]
            if missing:
                raise ModelError(f"the coordinate {missing[0]} is not known to any group")
            one.places = np.array([known[name] for name in _names(one.item)])

    # ------------------------------------------------------------------------- memory

    def _make_memory(self) -> None:
        sizes: dict[str, int] = {"status": STATUS, "tau": 1}
        laws = self.casts.laws.size
        sizes |= {"w": laws, "dw": laws, "ddw": laws}
        counts = [cast.count for cast in self.kinds]
        for c, kernel in enumerate(self.kernels):
            m = len(kernel.unknowns)
            sizes |= {f"{d}x{c}": counts[c] * m for d in ("", "d", "dd")}
            sizes[f"gauge{c}"] = counts[c] if m else 0
            form = self.closed[c]
            sizes[f"branch{c}"] = counts[c] if form is not None and form.branch is not None else 0
        total = int((np.array(counts) * self._widths).sum())
        sizes |= {"y": total, "dy": total, "ddy": total}
        self.memory = Memory(sizes)
        self._first_y = np.concatenate([[0], np.cumsum(np.array(counts) * self._widths)])
        self.request_places = [self._in_y(a) for a in self._requests]

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
        memory, cast = self.memory, self.kinds[c]
        m, n, ny = len(kernel.unknowns), cast.count, int(self._widths[c])
        gather: dict[str, Integers] = {}
        scatter: dict[str, Write] = {}
        if m:
            for d, name in (("", "last"), ("d", "dlast"), ("dd", "ddlast")):
                gather[name] = memory.first(f"{d}x{c}") + order * m
            gather["tau"] = np.full(n, memory.first("tau"))
            gather["gauge_before"] = memory.first(f"gauge{c}") + order
            if memory.sizes[f"branch{c}"]:
                gather["branch"] = memory.first(f"branch{c}") + order
            for d, name in (("", "x_found"), ("d", "dx"), ("dd", "ddx")):
                scatter[name] = Write(memory.first(f"{d}x{c}") + order * m)
            scatter["gauge"] = Write(memory.first(f"gauge{c}") + order)
        for d in ("", "d", "dd"):
            if kernel.known:
                gather[f"{d}h"] = self._known_places(c, kernel, d)[order]
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
            tolerance=max(iteration.tolerance, self.equations[c].floor),
            iterations=iteration.iterations,
            polish=iteration.polish,
            fixed=iteration.fixed,
            carried=("last", "dlast", "ddlast", "gauge_before") if m else (),
            labels=cast.groups[order] + 1,
        )

    def _known_places(self, c: int, kernel: GroupKernel, rate: str) -> Integers:
        """Where the known numbers of a kind stand, (instances, number of them)."""
        return self._places_of(kernel.known, self._reads[c], rate)

    def _places_of(self, knowns: Sequence[Known], reads: Sequence[Asked], rate: str) -> Integers:
        asked: Mapping[Item, Asked] = {a.item: a for a in reads}  # type: ignore[misc]
        columns = []
        for known in knowns:
            if known.item.kind == "law":
                columns.append(self.memory.first(f"{rate}w") + known.item.body)
            else:
                places = self._in_y(asked[known.item])[:, known.component]
                columns.append(self.memory.first(f"{rate}y") + places)
        return np.stack(columns, axis=1)

    # -------------------------------------------------------------------------- start

    def write_start(self, view: Callable[[str], Floats], poses: Poses) -> None:
        """Write the unknowns at a position into a workspace; rates are zero.

        ``view`` gives a vector of it, (places, lanes).
        """
        for c, kernel in enumerate(self.kernels):
            if kernel.unknowns:
                x = np.stack([u.start(poses) for u in kernel.unknowns], axis=1)
                view(f"x{c}")[:] = x.reshape(-1, 1)
            form = self.closed[c]
            signs = None if form is None else form.branch_of(poses)
            signs = self.branch_signs.get(c, signs)
            if signs is not None:
                view(f"branch{c}")[:] = signs.reshape(-1, 1)


def _names(item: Item | Request) -> Sequence[str]:
    return item.names if isinstance(item, Item) else ()


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name) or "group"


def _unique_rows(rows: Floats) -> tuple[Floats, Integers]:
    """The different rows, sorted, and which one each is."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    fresh = np.concatenate([[True], (np.diff(ordered, axis=0) != 0).any(axis=1)])
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(fresh) - 1
    return ordered[fresh], inverse


def _rank_within(keys: Integers) -> Integers:
    """The number of each entry among those with the same key; keys are sorted."""
    fresh = np.concatenate([[True], np.diff(keys) != 0])
    start = np.flatnonzero(fresh)
    found: Integers = np.arange(len(keys)) - np.repeat(start, np.diff([*start, len(keys)]))
    return found
