"""Equations of motion of large mechanisms as native looped programs.

Programs on one workspace, with the signatures that integrators take:

    f         (t, x, u) → x'                         accelerations by Lagrange multipliers
    project   (t, x, u) → x, max(|Φ|, |Φ_v v - β|)   one correction of positions and velocities
    step      (t, x, u, h) → x                       a step of RK4 with a correction after it

with x = (q, v).  Each evaluates its kernels over all instances, then eliminates front by front
(`biela.solvers.fronts`).  The corrections are those of `analysis.formulations.projection`, in the
metric of the mass, with the factors of the last evaluation of f: in a step that is at a position
nearby, and the corrections are small.  Bodies without inertia about an axis get some from the rows
that hold them (`looped_stiffening`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.elimination_groups import elimination_groups
from biela.analysis.looped_kernels import (
    copy_kernel,
    difference_kernel,
    largest_kernel,
    stage_kernel,
    time_kernel,
    zero_kernel,
)
from biela.analysis.looped_masses import mass_entries
from biela.analysis.looped_stiffening import StiffRows, stiffening
from biela.analysis.looped_tape import Evaluation, Tape, reduced
from biela.atoms import Atom
from biela.code import Function
from biela.code.looped import Call, Clear, Memory, Program, Stage, Write
from biela.code.looped.dispatch import copying_code
from biela.equations.blocks import Block, ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.equations.blocks.retraction import retraction_kernel
from biela.solvers.fronts import FrontStages, GeneralStages, TooMuchCodeError, find_fronts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: So many rows are compared at a time where the largest is looked for.
_CHUNK = 8


@dataclass(frozen=True, eq=False)
class NativeEntry:
    """Native code, as integrators take it, with what it needs to stay alive."""

    address: int
    program: Program
    kept: Any


def most_operations(bodies: int) -> int:
    """How many operations the eliminations of all kinds may have.

    Each takes a millisecond or two to compile: that is worth more for larger mechanisms, up to
    minutes.
    """
    return min(max(12_000, 5 * bodies), 60_000)


class LoopedMotion:
    """The equations of motion of a large mechanism.

    ``start`` is a position by which the order of elimination is chosen; without it, that where the
    joints start.

    Attributes:
        f: The right-hand side.
        project: One correction of a state.
        step: A whole step: stages are added up body by body, while their slopes are in the cache.
        fronts: What is eliminated.
    """

    def __init__(self, blocks: ReferenceBlocks, start: Floats | None = None) -> None:
        self.blocks = blocks
        #: Whether velocities are the rates of the coordinates.
        self._plain = blocks.plane is not None
        n, m = blocks.nv, len(blocks.rows)
        self.n, self.m = n, m
        self._first, self._second, masses = mass_entries(blocks)
        J = blocks.Phi_v(blocks.start if start is None else start)
        self.stiff = stiffening(blocks, J)
        first, second = self.stiff.places
        rows = np.concatenate([self._first, n + blocks.indices[0], first])
        columns = np.concatenate([self._second, blocks.indices[1], second])
        values = np.concatenate([masses, J, self.stiff.values(J, np.zeros(m), n)[0]])
        self.fronts = self._eliminated(rows, columns, values, J)
        slot = self.fronts.fronts.slot
        self._J_slot, self._S_slot = np.split(slot[len(masses) :], [len(J)])
        sizes = dict(self.fronts.sizes)
        x = sizes.pop("x")
        self.memory = Memory(
            {
                "t": 1,
                "start": 1,
                "u": len(blocks.inputs),
                "length": 1,
                "w": blocks.law_count,
                "dw": blocks.law_count,
                "ddw": blocks.law_count,
                "V": 1,
                "q": blocks.nq,
                "v": n,
                # what f gives, the rates of q and those of v, stands side by side
                **({} if self._plain else {"rates": blocks.nq}),
                "x": x,
                "out_q": blocks.nq,
                "out_v": n,
                "largest": 1,
                "first_q": blocks.nq,
                "first_v": n,
                "sum_q": blocks.nq,
                "sum_v": n,
                **sizes,
                "alpha": 1,
            }
        )
        self.w = self.memory.array()
        self.memory.view(self.w, "K")[slot[: len(masses)]] = masses
        self.memory.view(self.w, "alpha")[:] = self.stiff.weight
        size = blocks.nq + n
        slope = "v" if self._plain else "rates"
        self._rates = self.memory.first(slope)
        self.f = self._entry(self._dynamics(), ("t", "q", "u"), slope, size)
        self.project = self._entry(self._projection(), ("t", "q", "u"), "out_q", size + 1)

    @cached_property
    def step(self) -> NativeEntry:
        """A whole step of RK4."""
        size = self.blocks.nq + self.n
        out = "out_q" if self.m else "q"
        return self._entry(self._whole_step(), ("start", "first_q", "u"), out, size)

    def _eliminated(
        self, rows: Integers, columns: Integers, values: Floats, J: Floats
    ) -> FrontStages | GeneralStages:
        """Code for each kind of group; or a general solver, where there is nothing that repeats."""
        blocks, n, m = self.blocks, self.n, self.m
        groups = elimination_groups(blocks, J)
        late = np.arange(n + m) >= n
        order = groups.group, groups.rank, late, groups.paired
        most = most_operations(blocks.world.count)
        try:
            return FrontStages.of(find_fronts(rows, columns, *order, most=most))
        except TooMuchCodeError:
            together = np.full(blocks.world.count, blocks.widths[1])
            sizes = np.concatenate([together, np.ones(len(blocks.extra) + m, dtype=np.int64)])
            return GeneralStages(rows, columns, late, values, sizes)

    # -------------------------------------------------------------------------- programs

    def _entry(self, tape: Tape, given: tuple[str, str, str], out: str, size: int) -> NativeEntry:
        """A program as a function of t, x and u, which are copied to the vectors ``given``.

        A whole step has its length behind u.
        """
        memory, blocks = self.memory, self.blocks
        program = Program(tape.stages, memory.size, tape=tape.segments, name=blocks.name)
        t, x, u = (memory.first(name) for name in given)
        more = len(blocks.inputs) + (given[0] == "start")
        inputs = [(t, 1), (x, blocks.nq + self.n), (u, more)]
        code = copying_code(
            program.address, self.w.ctypes.data, inputs, [(memory.first(out), size)]
        )
        return NativeEntry(int(code["run"]), program, (code, self.w))

    def _dynamics(self) -> Tape:
        tape = Tape()
        self._accelerate(tape, self._evaluation())
        return tape

    def _evaluation(self) -> Evaluation:
        """What accelerations are made of; the stages serve several evaluations."""
        b, fronts = self.blocks, self.fronts
        evaluated = [self._sorted(b.masses, sets=("Q",), groups=self._first_added())]
        evaluated += [self._sorted(block) for block in (*b.forces, *b.dynamics) if len(block)]
        evaluated += self._stiffened()
        return Evaluation(
            self._stages(b.laws),
            evaluated,
            fronts.factor_and_inward(self.memory),
            fronts.outward(self.memory),
        )

    def _accelerate(self, tape: Tape, evaluation: Evaluation) -> None:
        """Accelerations and multipliers of the state."""
        b, fronts = self.blocks, self.fronts
        tape.whole(evaluation.laws)
        if len(b.extra):
            # bodies set their part of the right-hand side, and rows theirs
            places = fronts.fronts.place[self.n - len(b.extra) : self.n]
            tape.whole([self._zeros(self.memory.first("b") + places)])
        tape.by_tiles(evaluation.evaluated, evaluation.inward, fronts)
        at = tape.add(evaluation.outward)
        tape.segments += fronts.outward_tape(at)
        if len(b.extra) and not self._plain:
            tape.whole([self._copy("v", "rates", len(b.extra))])

    def _whole_step(self) -> Tape:
        """Four evaluations, each followed by the state of the next, and a correction.

        Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §II.1.
        """
        tape, evaluation = Tape(), self._evaluation()
        tape.whole([self._copy("first_q", "q", self.blocks.nq)])
        tape.whole([self._copy("first_v", "v", self.n)])
        for number in range(4):
            tape.whole([self._time(number)])
            self._accelerate(tape, evaluation)
            tape.whole(self._advanced(number))
        if self.m:
            self._correct(tape)
        return tape

    def _projection(self) -> Tape:
        tape = Tape()
        self._correct(tape)
        return tape

    def _correct(self, tape: Tape) -> None:
        """Residuals of position and velocity, the largest, and the step that removes both.

        The step has the factors of the last evaluation.  A change of the position by it does not
        show in that of the velocity: that is a product of two small numbers.
        """
        b, memory = self.blocks, self.memory
        tape.whole(self._stages(b.laws))
        tape.whole([Clear(memory.first(name), self.n + self.m) for name in ("b", "b_2")])
        tape.whole(self._stages(b.gaps))
        tape.whole(self._stages(b.rates_of_rows))
        tape.whole(self._largest())
        tape.whole([self._held(part, side) for side in ("b", "b_2") for part in self.stiff.parts])
        at = tape.add(self.fronts.inward_twice(memory))
        tape.segments += self.fronts.tape(at)
        at = tape.add(self.fronts.outward_twice(memory))
        tape.segments += self.fronts.outward_tape(at)
        tape.whole([*self._retracted(), self._difference("v", "x_2", "out_v")])

    # ---------------------------------------------------------------------------- stages

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

    # --------------------------------------------------------------------------- results

    def accelerations(self, t: float, q: Floats, v: Floats, u: Floats) -> tuple[Floats, Floats]:
        """Accelerations and multipliers of a state."""
        for name, values in (("t", np.array([t])), ("q", q), ("v", v), ("u", u)):
            self.memory.view(self.w, name)[:] = values
        self.f.program.run(self.w)
        x = self.memory.view(self.w, "x")
        return x[: self.n].copy(), x[self.n :].copy()

    def dependent_rows(self) -> int:
        """How many rows depended on others in the last evaluation, and were dropped."""
        return self.fronts.dependent(self.memory, self.w)
