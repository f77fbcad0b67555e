"""The stages of the programs of a large mechanism: blocks and small steps, on their workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.kernels import (
    copy_kernel,
    difference_kernel,
    largest_kernel,
    stage_kernel,
    time_kernel,
    zero_kernel,
)
from biela.analysis.looped.stiffening import Stiffening, StiffRows
from biela.analysis.looped.tape import reduced
from biela.atoms import Atom
from biela.code import Function
from biela.code.looped import Call, Clear, Memory, Stage, Write
from biela.equations.blocks import Block, ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.equations.blocks.retraction import retraction_kernel
from biela.solvers.fronts import FrontStages, GeneralStages

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: So many rows are compared at a time where the largest is looked for.
_CHUNK = 8


class MotionStages:
    """What programs of a mechanism are made of.

    Attributes:
        blocks: The mechanism.
        n: Number of velocities.
        m: Number of rows.
        fronts: What is eliminated.
        stiff: Rows that give bodies the inertia they lack.
        memory: Where vectors stand in the workspace.
        w: The workspace.
    """

    blocks: ReferenceBlocks
    n: int
    m: int
    fronts: FrontStages | GeneralStages
    stiff: Stiffening
    memory: Memory
    w: Floats
    #: Whether velocities are the rates of the coordinates.
    _plain: bool
    #: Where the rates of the coordinates stand.
    _rates: int
    #: Slots of the entries of the Jacobian, and of products of them.
    _J_slot: Integers
    _S_slot: Integers

    def _stages(self, blocks: Iterable[Block]) -> list[Stage | Clear | Call]:
        return [self._sorted(block)[0] for block in blocks if len(block)]

    def _sorted(
        self, block: Block, sets: Sequence[str] = (), groups: Integers | None = None
    ) -> tuple[Stage, Integers]:
        """A block on the workspace, its instances in the order of elimination; and their groups.

        What it writes goes into the linear equations.  Entries of the Jacobian that are numbers are
        written here, once.  Outputs named in ``sets`` are not added to what is there.  ``groups``
        are those by which instances are sorted, if not the first to need what they write.
        """
        memory = self.memory
        first = {name: memory.first(name) for name in ("t", "q", "v", "u", "w", "dw", "ddw")}
        first["lam"] = memory.first("x") + self.n
        widths = {a.name: a.size for a in block.kernel.outputs}
        if groups is None:
            groups = self._needed(block)
        order = np.argsort(groups, kind="stable")
        scatter: dict[str, Write] = {}
        kept: dict[str, list[int]] = {}
        for name, (target, places) in block.scatter.items():
            if target == "rates" and self._plain:
                continue
            write = self._written(target, places[order], widths[name])
            if name in sets:
                write = Write(write.places)
            kept[name] = list(range(widths[name]))
            if target == "Phi_v":
                kept[name] = self._write_numbers(block.kernel, write.places)
                write = Write(write.places[:, kept[name]])
            if kept[name]:
                scatter[name] = write
        kernel, columns = reduced(block.kernel, kept)
        used = {a.name for a in kernel.inputs}
        stage = Stage(
            kernel,
            {
                name: first[source] + at[order]
                for name, (source, at) in block.gather.items()
                if name in used
            },
            scatter,
            block.parameters[np.ix_(order, columns)] if len(columns) else None,
            independent=True,
            name=block.name,
        )
        return stage, groups[order]

    def _stiffened(self) -> list[tuple[Stage, Integers]]:
        """The rows that are added to the mass matrix, after the entries of the Jacobian."""
        found, done = [], 0
        for part in self.stiff.parts:
            groups = self._groups("Phi_v", part.entries, part.entries.shape[1])
            order = np.argsort(groups, kind="stable")
            count = part.first.size
            slots = self._S_slot[done : done + count].reshape(part.first.shape)
            done += count
            products = Write(self.memory.first("K") + slots[order])
            found.append((self._held(part, "b", order, products), groups[order]))
        return found

    def _held(
        self,
        part: StiffRows,
        side: str,
        order: Integers | slice = slice(None),
        products: Write | None = None,
    ) -> Stage:
        """What rows that are added to the mass matrix add to the right-hand side."""
        memory, place = self.memory, self.fronts.fronts.place
        b = memory.first(side)
        h = Write(b + place[part.columns[order]], "add")
        return Stage(
            part.forces if products is None else part.products,
            {
                "J": memory.first("K") + self._J_slot[part.entries[order]],
                "r": b + place[self.n + part.rows[order]],
                "alpha": np.full((len(part.rows), 1), memory.first("alpha")),
            },
            {"h": h} if products is None else {"S": products, "h": h},
            independent=True,
        )

    def _write_numbers(self, kernel: Function, places: npt.NDArray[Any]) -> list[int]:
        """Write the entries of a Jacobian that are numbers; those that are not are returned."""
        (array,) = (a for a in kernel.outputs if a.name == "Phi_v")
        values = [Atom(kernel.table, ref).value for ref in array.refs]
        for k, value in enumerate(values):
            if value is not None:
                self.w[places[:, k]] = value
        return [k for k, value in enumerate(values) if value is None]

    def _zeros(self, places: Integers) -> Stage:
        return Stage(zero_kernel(), {"a": places}, {"b": Write(places)}, independent=True)

    def _needed(self, block: Block) -> Integers:
        """The first group to need what each instance writes."""
        widths = {a.name: a.size for a in block.kernel.outputs}
        found = np.full(len(block), np.iinfo(np.int64).max)
        for name, (target, places) in block.scatter.items():
            found = np.minimum(found, self._groups(target, places, widths[name]))
        return found

    def _first_added(self) -> Integers:
        """The first group in which something is added to the forces on each body.

        A body sets its forces before, even if it is eliminated much later.
        """
        wide, bodies = self.blocks.widths[1], self.blocks.world.count
        found = self._groups("Q", np.arange(self.n), 1)
        for block in self.blocks.forces:
            groups = self._needed(block)[:, None]
            widths = {a.name: a.size for a in block.kernel.outputs}
            for name, (target, places) in block.scatter.items():
                if target == "Q":
                    np.minimum.at(found, expanded(places, widths[name]), groups)
        for part in self.stiff.parts:
            groups = self._groups("Phi_v", part.entries, part.entries.shape[1])
            np.minimum.at(found, part.columns, groups[:, None])
        return np.asarray(found[: wide * bodies].reshape(bodies, wide).min(axis=1))

    def _groups(self, target: str, places: Integers, width: int) -> Integers:
        """The first group to need what instances write there."""
        fronts = self.fronts.fronts
        if target == "Phi_v":
            slots = self._J_slot[expanded(places, width)]
            found = np.searchsorted(fronts.slots, slots, side="right") - 1
        elif target in ("Phi", "gamma", "dPhi", "Q"):
            shift = 0 if target == "Q" else self.n
            at = fronts.place[shift + expanded(places, width)]
            found = np.searchsorted(fronts.start, at, side="right") - 1
        else:
            return np.full(len(places), np.iinfo(np.int64).max)
        return np.asarray(found.min(axis=1))

    def _written(self, target: str, places: Integers, width: int) -> Write:
        memory, place = self.memory, self.fronts.fronts.place
        if target == "Phi_v":
            return Write(memory.first("K") + self._J_slot[expanded(places, width)])
        if target in ("Phi", "gamma", "dPhi"):
            side = "b_2" if target == "dPhi" else "b"
            return Write(memory.first(side) + place[self.n + expanded(places, width)])
        if target == "Q":
            return Write(memory.first("b") + place[expanded(places, width)], "add")
        return Write(memory.first(target) + places, "add" if target == "V" else "set")

    def _largest(self) -> list[Stage | Clear | Call]:
        """The largest of the residuals."""
        memory, place = self.memory, self.fronts.fronts.place
        rows = np.arange(-(-self.m // _CHUNK) * _CHUNK).reshape(-1, _CHUNK)
        at = np.sort(place[self.n :])[np.minimum(rows, self.m - 1)]
        places = np.concatenate([memory.first(side) + at for side in ("b", "b_2")])
        so_far = np.full((len(places), 1), memory.first("largest"))
        stage = Stage(
            largest_kernel(_CHUNK),
            {"r": places, "before": so_far},
            {"size": Write(so_far)},
            name="largest residual",
        )
        return [Clear(memory.first("largest"), 1), stage] if self.m else []

    def _retracted(self) -> list[Stage]:
        """The position q ⊖ x."""
        b, memory = self.blocks, self.memory
        nq, nv = b.widths
        bodies = np.arange(b.world.count)
        stage = Stage(
            retraction_kernel(b.plane),
            {"q": memory.first("q") + nq * bodies, "d": memory.first("x") + nv * bodies},
            {"moved": Write(memory.first("out_q") + nq * bodies)},
            independent=True,
        )
        more = [self._difference("q", "x", "out_q", len(b.extra))] if len(b.extra) else []
        return [stage, *more]

    def _time(self, number: int) -> Stage:
        """The time of a stage of a step."""
        memory = self.memory
        at = {name: np.array([[memory.first(name)]]) for name in ("start", "length", "t")}
        gather = {"start": at["start"], "h": at["length"]}
        return Stage(time_kernel(number), gather, {"t": Write(at["t"])})

    def _advanced(self, number: int) -> list[Stage]:
        """The state of the next stage of a step, or the end of the step; body by body."""
        b, memory = self.blocks, self.memory
        found = []
        bodies, extra = b.world.count, len(b.extra)
        for nq, nv, count, shift in ((*b.widths, bodies, (0, 0)), (1, 1, extra, b.body_sizes)):
            if not count:
                continue
            k = np.arange(count)
            q, v = shift[0] + nq * k, shift[1] + nv * k
            places: dict[str, npt.NDArray[Any]] = {"h": np.full((count, 1), memory.first("length"))}
            for name in ("first", "sum"):
                places |= {f"{name}_q": memory.first(f"{name}_q") + q}
                places |= {f"{name}_v": memory.first(f"{name}_v") + v}
            places |= {"q": memory.first("q") + q, "v": memory.first("v") + v}
            places |= {"rates": self._rates + q, "a": memory.first("x") + v}
            kernel = stage_kernel(number, nq, nv)
            gather = {a.name: places[a.name] for a in kernel.inputs}
            scatter = {a.name.removeprefix("new_"): a.name for a in kernel.outputs}
            found.append(
                Stage(
                    kernel,
                    gather,
                    {new: Write(places[old]) for old, new in scatter.items()},
                    independent=True,
                )
            )
        return found

    def _copy(self, source: str, target: str, count: int) -> Stage:
        """The last entries of a vector of the state to those of another."""
        at, to = (self._last(name, count) for name in (source, target))
        return Stage(copy_kernel(), {"a": at}, {"b": Write(to)}, independent=True)

    def _difference(self, a: str, b: str, target: str, count: int | None = None) -> Stage:
        wide = self.n if count is None else count
        places = [self._last(name, wide) for name in (a, b, target)]
        return Stage(
            difference_kernel(),
            {"a": places[0], "b": places[1]},
            {"c": Write(places[2])},
            independent=True,
        )

    def _last(self, name: str, count: int) -> Integers:
        size = self.n if name.startswith("x") else self.memory.sizes[name]
        return np.asarray(self.memory.first(name) + size - count + np.arange(count))
