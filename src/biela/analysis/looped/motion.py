"""Equations of motion of large mechanisms as native looped programs.

Programs on one workspace, with the signatures that integrators take:

    f         (t, x, u) → x'                         accelerations by Lagrange multipliers
    project   (t, x, u) → x, max(|Φ|, |Φ_v v - β|)   one correction of positions and velocities
    step      (t, x, u, h) → x                       a step of RK4 with a correction after it
    events    (t, x, u) → g                          what changes its sign at events

with x = (q, v).  Each evaluates its kernels over all instances, then eliminates front by front
(`biela.solvers.fronts`).  The corrections are those of `analysis.formulations.projection`, in the
metric of the mass, with the factors of the last evaluation of f: in a step that is at a position
nearby, and the corrections are small.  Bodies without inertia about an axis get some from the rows
that hold them (`stiffening`).  Forces that depend on multipliers, such as friction in a joint, are
found in rounds from λ = 0, each with an evaluation of its own.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.dependence import dependent_rows
from biela.analysis.looped.elimination_groups import elimination_groups
from biela.analysis.looped.masses import mass_entries
from biela.analysis.looped.motion_stages import MotionStages
from biela.analysis.looped.stiffening import stiffening
from biela.analysis.looped.tape import Evaluation, Tape
from biela.code.looped import Clear, Memory, Program
from biela.code.looped.dispatch import copying_code
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.block import read_multipliers
from biela.solvers import BlockLDLT, SymmetricPattern
from biela.solvers.fronts import FrontStages, GeneralStages, TooMuchCodeError, find_fronts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


#: Rounds for forces that depend on multipliers.
ROUNDS: Final = 16
#: The right-hand sides of corrections: of positions and of velocities.
_SIDES: Final = ("b", "b_2")
#: Of so many unknowns dependent rows are counted by examination.
EXAMINED: Final = 20_000


@dataclass(frozen=True, eq=False)
class NativeEntry:
    """Native code, as integrators take it, with what it needs to stay alive."""

    address: int
    program: Program
    kept: Any


def most_operations(bodies: int, ranked: bool = False) -> int:
    """How many operations the eliminations of all kinds may have.

    Each takes a millisecond or two to compile: that is worth more for larger mechanisms, up to
    minutes; and for overconstrained ones, because the general solver knows thresholds only.
    """
    return 60_000 if ranked else min(max(12_000, 5 * bodies), 60_000)


class LoopedMotion(MotionStages):
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
        at = blocks.start if start is None else start
        J = blocks.Phi_v(at)
        self.stiff = stiffening(blocks, J)
        first, second = self.stiff.places
        rows = np.concatenate([self._first, n + blocks.indices[0], first])
        columns = np.concatenate([self._second, blocks.indices[1], second])
        values = np.concatenate([masses, J, self.stiff.values(J, np.zeros(m), n)[0]])
        self._places = rows, columns
        self.dependence = dependent_rows(blocks, at, J)
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
                "g": len(blocks.events),
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

    def unranked(self, dependent: int) -> int:
        """How many of so many dependent rows may be independent elsewhere, as far as is known."""
        sets, count, whole = self.dependence
        if sets and isinstance(self.fronts, GeneralStages):
            return dependent
        return 0 if whole else max(0, dependent - count)

    @cached_property
    def step(self) -> NativeEntry:
        """A whole step of RK4."""
        size = self.blocks.nq + self.n
        out = "out_q" if self.m else "q"
        return self._entry(self._whole_step(), ("start", "first_q", "u"), out, size)

    @cached_property
    def events(self) -> NativeEntry:
        """The functions whose changes of sign are events."""
        tape = Tape()
        if read_multipliers(self.blocks.watched):
            self._accelerate(tape, self._evaluation())
        else:
            tape.whole(self._stages(self.blocks.laws))
        tape.whole(self._stages(self.blocks.watched))
        return self._entry(tape, ("t", "q", "u"), "g", len(self.blocks.events))

    @cached_property
    def _gaps(self) -> NativeEntry:
        """By how much a state misses its constraints in position, at the most."""
        tape, sides = Tape(), [Clear(self.memory.first(name), self.n + self.m) for name in _SIDES]
        tape.whole([*self._stages(self.blocks.laws), *sides])
        tape.whole([*self._stages(self.blocks.gaps), *self._largest()])
        return self._entry(tape, ("t", "q", "u"), "largest", 1)

    def _eliminated(
        self, rows: Integers, columns: Integers, values: Floats, J: Floats
    ) -> FrontStages | GeneralStages:
        """Code for each kind of group; or a general solver, where there is nothing that repeats."""
        blocks, n, m = self.blocks, self.n, self.m
        groups = elimination_groups(blocks, J, self.dependence.sets)
        late = np.arange(n + m) >= n
        ranked = [(n + found.rows, found.rank) for found in self.dependence.sets]
        order = groups.group, groups.rank, late, groups.paired, ranked
        most = most_operations(blocks.world.count, bool(ranked))
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
        loaded = read_multipliers(b.forces)
        if loaded:
            tape.whole([Clear(self.memory.first("x") + self.n, self.m)])
        for _ in range(ROUNDS if loaded else 1):
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
        tape.whole([Clear(memory.first(name), self.n + self.m) for name in _SIDES])
        tape.whole(self._stages(b.gaps))
        tape.whole(self._stages(b.rates_of_rows))
        tape.whole(self._largest())
        tape.whole([self._held(part, side) for side in _SIDES for part in self.stiff.parts])
        at = tape.add(self.fronts.inward_twice(memory))
        tape.segments += self.fronts.tape(at)
        at = tape.add(self.fronts.outward_twice(memory))
        tape.segments += self.fronts.outward_tape(at)
        tape.whole([*self._retracted(), self._difference("v", "x_2", "out_v")])

    # --------------------------------------------------------------------------- results

    def accelerations(self, t: float, q: Floats, v: Floats, u: Floats) -> tuple[Floats, Floats]:
        """Accelerations and multipliers of a state."""
        for name, values in (("t", np.array([t])), ("q", q), ("v", v), ("u", u)):
            self.memory.view(self.w, name)[:] = values
        self.f.program.run(self.w)
        x = self.memory.view(self.w, "x")
        return x[: self.n].copy(), x[self.n :].copy()

    def corrected(self, t: float, x: Floats, u: Floats) -> tuple[Floats, float]:
        """A state after one correction, and by how much it missed its constraints before.

        The factors are those of the last evaluation of accelerations.
        """
        nq = self.blocks.nq
        for name, values in (("t", np.array([t])), ("q", x[:nq]), ("v", x[nq:]), ("u", u)):
            self.memory.view(self.w, name)[:] = values
        self.project.program.run(self.w)
        found = [self.memory.view(self.w, name) for name in ("out_q", "out_v")]
        return np.concatenate(found), float(self.memory.view(self.w, "largest")[0])

    def misses(self, t: Floats, x: Floats, u: Floats) -> Floats:
        """By how much each of some states misses its constraints in position, at the most."""
        code = CFUNCTYPE(None, *[c_void_p] * 4)(self._gaps.address)
        t, x, u, found = (np.ascontiguousarray(part) for part in (t, x, u, np.zeros(len(t))))
        first, states, held, out = (part.ctypes.data for part in (t, x, u, found))
        for k in range(len(t)):
            code(first + 8 * k, states + x.strides[0] * k, held, out + 8 * k)
        return found

    def dependent_rows(self) -> tuple[int, list[int]]:
        """How many rows depended on others in the last evaluation, and of which it is doubtful.

        What the elimination has dropped is counted with a look at the rows themselves, unless the
        mechanism is very large.
        """
        found = self.fronts.dependent(self.memory, self.w)
        if not found or self.n + self.m > EXAMINED:
            return found, []
        K = self.memory.view(self.w, "K")[self.fronts.fronts.slot]
        pattern = SymmetricPattern(self.n + self.m, *self._places)
        late = np.arange(self.n, self.n + self.m)
        solver = BlockLDLT(pattern, late, values=K, kinds=0)
        solver.factor(K)
        if (solver.dropped < self.n).any():
            return found, []
        return len(solver.dropped), (solver.doubtful - self.n).tolist()
