"""Equations of motion of large mechanisms as native looped programs.

Two programs on one workspace, with the signatures that integrators take:

    f         (t, x, u) → x'                         accelerations by Lagrange multipliers
    project   (t, x, u) → x, max(|Φ|, |Φ_v v - β|)   one correction of positions and velocities

with x = (q, v).  Each evaluates its kernels over all instances, then eliminates front by front
(`biela.solvers.fronts`).  The corrections are those of `analysis.formulations.projection`, in the
metric of the mass, with the factors of the last evaluation of f: in a step that is at a position
nearby, and the corrections are small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.elimination_groups import elimination_groups
from biela.atoms import Atom, Workspace, maximum
from biela.code import Function
from biela.code.looped import Clear, Memory, Program, Segment, Stage, Write
from biela.code.looped.dispatch import copying_code
from biela.equations.blocks import Block, ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.equations.blocks.retraction import retraction_kernel
from biela.errors import ModelError
from biela.solvers.fronts import FrontStages, find_fronts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: So many groups are evaluated and eliminated before the next ones.
TILE = 64
#: So many rows are compared at a time where the largest is looked for.
_CHUNK = 8


@dataclass(frozen=True, eq=False)
class NativeEntry:
    """Native code, as integrators take it, with what it needs to stay alive."""

    address: int
    program: Program
    kept: Any


class LoopedMotion:
    """The equations of motion of a large mechanism.

    Attributes:
        f: The right-hand side.
        project: One correction of a state.
        fronts: What is eliminated.
    """

    def __init__(self, blocks: ReferenceBlocks) -> None:
        self.blocks = blocks
        _check_masses(blocks)
        n, m = blocks.nv, len(blocks.rows)
        self.n, self.m = n, m
        self._first, self._second, masses = mass_entries(blocks)
        rows = np.concatenate([self._first, n + blocks.indices[0]])
        columns = np.concatenate([self._second, blocks.indices[1]])
        J = blocks.Phi_v(blocks.start)
        groups = elimination_groups(blocks, J)
        late = np.arange(n + m) >= n
        self.fronts = FrontStages.of(
            find_fronts(rows, columns, groups.group, groups.rank, late, groups.paired)
        )
        slot = self.fronts.fronts.slot
        self._J_slot = slot[len(masses) :]
        sizes = dict(self.fronts.sizes)
        x = sizes.pop("x")
        self.memory = Memory(
            {
                "t": 1,
                "q": blocks.nq,
                "v": n,
                "u": len(blocks.inputs),
                "w": blocks.law_count,
                "dw": blocks.law_count,
                "ddw": blocks.law_count,
                "V": 1,
                "rates": blocks.nq,
                "x": x,
                "out_q": blocks.nq,
                "out_v": n,
                "largest": 1,
                **sizes,
            }
        )
        self.w = self.memory.array()
        self.memory.view(self.w, "K")[slot[: len(masses)]] = masses
        self.f = self._entry(self._dynamics(), "rates", blocks.nq + n)
        self.project = self._entry(self._projection(), "out_q", blocks.nq + n + 1)

    # -------------------------------------------------------------------------- programs

    def _entry(self, tape: _Tape, out: str, size: int) -> NativeEntry:
        """A program as a function of t, x and u."""
        memory, blocks = self.memory, self.blocks
        program = Program(tape.stages, memory.size, tape=tape.segments, name=blocks.name)
        inputs = [
            (memory.first("t"), 1),
            (memory.first("q"), blocks.nq + self.n),
            (memory.first("u"), len(blocks.inputs)),
        ]
        code = copying_code(
            program.address, self.w.ctypes.data, inputs, [(memory.first(out), size)]
        )
        return NativeEntry(int(code["run"]), program, (code, self.w))

    def _dynamics(self) -> _Tape:
        b, fronts = self.blocks, self.fronts
        tape = _Tape()
        tape.whole(self._stages(b.laws))
        tape.whole([Clear(self.memory.first("b"), self.n + self.m)])
        tape.by_tiles(
            [self._sorted(block) for block in (b.masses, *b.forces, *b.dynamics) if len(block)],
            fronts.factor_and_inward(self.memory),
            fronts,
        )
        at = tape.add(fronts.outward(self.memory))
        tape.segments += fronts.outward_tape(at)
        if len(b.extra):
            tape.whole([self._copy("v", "rates", len(b.extra))])
        return tape

    def _projection(self) -> _Tape:
        """Residuals of position and velocity, the largest, and the step that removes both.

        The step has the factors of the last evaluation.  A change of the position by it does not
        show in that of the velocity: that is a product of two small numbers.
        """
        b, memory = self.blocks, self.memory
        tape = _Tape()
        tape.whole(self._stages(b.laws))
        tape.whole([Clear(memory.first(name), self.n + self.m) for name in ("b", "b_2")])
        tape.whole(self._stages(b.gaps))
        tape.whole(self._stages(b.rates_of_rows))
        tape.whole(self._largest())
        at = tape.add(self.fronts.inward_twice(memory))
        tape.segments += self.fronts.tape(at)
        at = tape.add(self.fronts.outward_twice(memory))
        tape.segments += self.fronts.outward_tape(at)
        tape.whole([*self._retracted(), self._difference("v", "x_2", "out_v")])
        return tape

    # ---------------------------------------------------------------------------- stages

    def _stages(self, blocks: Iterable[Block]) -> list[Stage | Clear]:
        return [self._sorted(block)[0] for block in blocks if len(block)]

    def _sorted(self, block: Block) -> tuple[Stage, Integers]:
        """A block on the workspace, its instances in the order of elimination; and their groups.

        What it writes goes into the linear equations.
        """
        memory = self.memory
        first = {name: memory.first(name) for name in ("t", "q", "v", "u", "w", "dw", "ddw")}
        widths = {a.name: a.size for a in block.kernel.outputs}
        groups = np.full(len(block), np.iinfo(np.int64).max)
        for name, (target, places) in block.scatter.items():
            groups = np.minimum(groups, self._groups(target, places, widths[name]))
        order = np.argsort(groups, kind="stable")
        kernel, columns = _needed(block.kernel)
        used = {a.name for a in kernel.inputs}
        stage = Stage(
            kernel,
            {
                name: first[source] + at[order]
                for name, (source, at) in block.gather.items()
                if name in used
            },
            {
                name: self._written(target, places[order], widths[name])
                for name, (target, places) in block.scatter.items()
            },
            block.parameters[np.ix_(order, columns)] if len(columns) else None,
            independent=True,
            name=block.name,
        )
        return stage, groups[order]

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

    def _largest(self) -> list[Stage | Clear]:
        """The largest of the residuals."""
        memory, place = self.memory, self.fronts.fronts.place
        rows = np.arange(-(-self.m // _CHUNK) * _CHUNK).reshape(-1, _CHUNK)
        at = np.sort(place[self.n :])[np.minimum(rows, self.m - 1)]
        places = np.concatenate([memory.first(side) + at for side in ("b", "b_2")])
        so_far = np.full((len(places), 1), memory.first("largest"))
        stage = Stage(
            _largest_kernel(),
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

    def _copy(self, source: str, target: str, count: int) -> Stage:
        """The last entries of a vector of the state to those of another."""
        at, to = (self._last(name, count) for name in (source, target))
        return Stage(_copy_kernel(), {"a": at}, {"b": Write(to)}, independent=True)

    def _difference(self, a: str, b: str, target: str, count: int | None = None) -> Stage:
        wide = self.n if count is None else count
        places = [self._last(name, wide) for name in (a, b, target)]
        return Stage(
            _difference_kernel(),
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


def _check_masses(blocks: ReferenceBlocks) -> None:
    """Refuse bodies whose inertia is not definite.

    Raises:
        ModelError: It names the first one.
    """
    least = np.linalg.eigvalsh(blocks.M())
    lacking = np.flatnonzero(~(least[:, 0] > 1e-12 * least[:, -1]))
    if len(lacking):
        raise ModelError(
            f"{blocks.name}: body {blocks.bodies[int(lacking[0])]} has no mass, or no inertia "
            f"about one of its axes (a thin rod); give it some, or simulate with "
            f'engine="unrolled", which needs none'
        )


def mass_entries(blocks: ReferenceBlocks) -> tuple[Integers, Integers, Floats]:
    """Rows, columns and values of the lower triangle of M."""
    M = blocks.M()
    there = (np.abs(M) > 0).any(axis=0)
    i, j = np.nonzero(np.tril(there))
    first = blocks.widths[1] * np.arange(len(M))[:, None]
    return (first + i).ravel(), (first + j).ravel(), M[:, i, j].ravel()


def _needed(kernel: Function) -> tuple[Function, Integers]:
    """The kernel without the inputs and parameters that it does not read; those it does read."""
    live = set(kernel.schedule.live)
    inputs: dict[str, list[Atom]] = {}
    columns: list[int] = []
    for array in kernel.inputs:
        read = [k for k, ref in enumerate(array.refs) if ref in live]
        if array.name == "p":
            columns = read
            inputs["p"] = [Atom(kernel.table, array.refs[k]) for k in read]
        elif read:
            inputs[array.name] = [Atom(kernel.table, ref) for ref in array.refs]
    inputs = {name: atoms for name, atoms in inputs.items() if atoms}
    if not inputs:
        return kernel, np.arange(next(a.size for a in kernel.inputs if a.name == "p"))
    outputs = {a.name: [Atom(kernel.table, ref) for ref in a.refs] for a in kernel.outputs}
    return Function(kernel.name, inputs, outputs), np.array(columns, dtype=np.int64)


class _Tape:
    """Stages, and the segments of them that are run."""

    def __init__(self) -> None:
        self.stages: list[Stage | Clear] = []
        self.segments: list[Segment] = []

    def add(self, stages: Sequence[Stage | Clear]) -> int:
        """Add stages; returns the number of the first."""
        self.stages += stages
        return len(self.stages) - len(stages)

    def whole(self, stages: Sequence[Stage | Clear]) -> None:
        """Run stages as a whole."""
        at = self.add(stages)
        self.segments += [Segment(at + k, 0, stage.count) for k, stage in enumerate(stages)]

    def by_tiles(
        self,
        evaluated: Sequence[tuple[Stage, Integers]],
        eliminated: Sequence[Stage],
        fronts: FrontStages,
    ) -> None:
        """Evaluate what some groups need and eliminate them, before others are looked at.

        The entries are then used while they are still in the fastest memory.
        """
        at = self.add([stage for stage, _ in evaluated])
        front = self.add(eliminated)
        count = len(fronts.fronts.kind)
        done = [0] * len(evaluated)
        for begin in range(0, count, TILE):
            end = min(begin + TILE, count)
            for k, (stage, groups) in enumerate(evaluated):
                last = stage.count if end == count else int(np.searchsorted(groups, end))
                if last > done[k]:
                    self.segments.append(Segment(at + k, done[k], last - done[k]))
                    done[k] = last
            self.segments += fronts.tape(front, begin, end)


def _largest_kernel() -> Function:
    ws = Workspace("largest")
    r = [ws.symbol(f"r{k}") for k in range(_CHUNK)]
    before = ws.symbol("before")
    size = before
    for x in r:
        size = maximum(size, abs(x))
    return Function("largest", {"r": r, "before": [before]}, {"size": [size]})


def _copy_kernel() -> Function:
    ws = Workspace("copy")
    a = ws.symbol("a")
    return Function("copy", {"a": [a]}, {"b": [a]})


def _difference_kernel() -> Function:
    ws = Workspace("difference")
    a, b = ws.symbol("a"), ws.symbol("b")
    return Function("difference", {"a": [a], "b": [b]}, {"c": [a - b]})
