"""The equations of motion of a model in its independent coordinates, as a looped program.

    state (z, z')  →  laws, groups in order, forces, (Σ Sᵀ M S) z'' = Q  →  slope (z', z'')

Between calls the workspace keeps the last solution of every group with its columns: the next one
starts from φ + S (z - z_last), and from ∂φ/∂t (t - t_last) besides where drivers move the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from biela.atoms import Atom, Workspace
from biela.code import Function
from biela.code.looped import Call, Clear, Memory, Program, Segment, Stage, Write
from biela.code.looped.solve_stage import STATUS
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.asked import Asked
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics.forces import ForceDerivation, ForceKernel
from biela.equations.groups.dynamics.influence import Influence
from biela.equations.groups.dynamics.kernel import BodyMasses, motion_kernel
from biela.equations.groups.dynamics.masses import masses_of, of_slot
from biela.equations.groups.dynamics.state import (
    StateCoordinates,
    clock_kernel,
    number_kernel,
    rotation_kernel,
)
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import GroupProgram, Iteration
from biela.equations.groups.wanted import Wanted

__all__ = ["SMALL", "MotionProgram"]

#: Makes the stage that solves a positive definite system.
Solver: TypeAlias = Callable[[Memory, Integers, Integers, tuple[str, str, str]], Call]
#: Independent coordinates up to which M z'' = Q is solved by straight-line code.
SMALL: Final = 8


class MotionProgram(GroupProgram):
    """The equations of motion of a model by groups.

    Args:
        casts: Kinds of groups of the model with its independent coordinates driven.
        influence: Which of these coordinates move which group.
        equations: Of each cast of ``influence``, in coordinates of its own.
        laws: Where the laws of the independent coordinates stand among those of the model, four
            for a rotation.
        coordinates: How many numbers and rotations these are.
        iteration: How equations are solved.
        solve: Makes the stage that solves M z'' = Q for more than `SMALL` coordinates, from the
            memory, rows and columns of the lower triangle of M and the vectors "M", "Q", "ddz".
        inputs: Values of all inputs by name, if these are to be changed by `hold`.

    Attributes:
        function: ``(t, state, p) -> slope``, as integrators take it; p is empty.
    """

    def __init__(
        self,
        casts: Casts,
        influence: Influence,
        equations: Sequence[GroupEquations],
        laws: Integers,
        coordinates: StateCoordinates,
        iteration: Iteration | None = None,
        solve: Solver | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> None:
        self.influence, self.laws = influence, laws
        self.coordinates, self.freedoms = coordinates, coordinates.freedoms
        self._solve = solve
        mass, inertia, gravity = masses_of(casts.world)
        self._masses: list[list[BodyMasses]] = [
            [
                of_slot(casts.world, cast.bodies[:, slot], mass, inertia, gravity)
                for slot in range(cast.size)
            ]
            for cast in influence.casts
        ]
        poses = equations[0].poses if equations else None
        forces = list(casts.forces())
        loose = casts.loose_joints(forces)
        self._forces = [ForceDerivation(cast, poses, loose, inputs) for cast in forces]
        #: Numbers of the stages with inputs, their parameters, and names of inputs by column.
        self._held: list[tuple[int, Floats, list[tuple[int, Sequence[str]]]]] = []
        self._force_reads = [
            [Asked(item) for item in dict.fromkeys(k.item for k in force.known)]
            for force in self._forces
        ]
        self.mass_rows, self.mass_columns = self._mass_pattern()
        super().__init__(casts, equations, (), iteration, kinds=influence.casts)
        self.function = self.program.function(self.memory, ["t", "state", "p"], ["slope"], "slope")

    def _mass_pattern(self) -> tuple[Integers, Integers]:
        """Rows and columns of the lower triangle of M, row by row, the diagonal last."""
        f = self.freedoms
        keys = [np.arange(f) * f + np.arange(f)]
        turning = [self._force_columns(f.cast, True) for f in self._forces if f.is_rotor]
        for columns in (*self.influence.columns, *turning):
            for j in range(columns.shape[1]):
                keys += [columns[:, j] * f + columns[:, k] for k in range(j)]
        found = np.unique(np.concatenate(keys))
        return found // max(f, 1), found % max(f, 1)

    def _mass_places(self, columns: Integers) -> Integers:
        """Places of the entries of groups in M, (instances, entries of the lower triangle)."""
        f, width = self.freedoms, columns.shape[1]
        known = self.mass_rows * f + self.mass_columns
        keys = [columns[:, j] * f + columns[:, k] for j in range(width) for k in range(j + 1)]
        return np.searchsorted(known, np.stack(keys, axis=1))

    # --------------------------------------------------------------------- what is asked

    def _read_of(
        self, equations: GroupEquations, wanted: Sequence[Wanted], closed: Any, c: int
    ) -> list[Any]:
        del closed
        own: list[Wanted] = []
        for slot, masses in enumerate(self._masses[c]):
            own.append(Wanted("point", slot, 0, masses.centre))
            if self.plane is not None:
                own.append(Wanted("turn", slot))
            else:
                for axis in np.eye(3):
                    rows = np.broadcast_to(axis, (len(masses.mass), 3))
                    own.append(Wanted("axis", slot, 0, rows))
        return list(equations.depends_on([*wanted, *own]))

    def _more_reads(self) -> list[Asked]:
        return [a for reads in self._force_reads for a in reads]

    def _kernel(
        self, c: int, equations: GroupEquations, name: str, wanted: Sequence[Wanted]
    ) -> Any:
        timed = self.influence.timed[c]
        return motion_kernel(equations, name, wanted, self._width(c), self._masses[c], timed)

    def _width(self, c: int) -> int:
        """How many independent coordinates a group of a kind depends on."""
        return int(self.influence.columns[c].shape[1])

    # -------------------------------------------------------------------------- memory

    def _make_memory(self) -> None:
        f, laws, nq = self.freedoms, self.casts.laws.size, self.coordinates.positions
        sizes: dict[str, int] = {"status": STATUS, "t": 1, "state": nq + f, "p": 0, "slope": nq + f}
        sizes |= {"one": 1, "zero": 1, "z_last": nq, "move": f, "ddz": f, "t_last": 1, "tau": 1}
        sizes["turns"] = 12 * self.coordinates.rotations
        sizes |= {"M": len(self.mass_rows), "Q": f, "w": laws, "dw": laws, "ddw": laws}
        counts = [cast.count for cast in self.kinds]
        for c, kernel in enumerate(self.kernels):
            m, width = len(kernel.unknowns), self._width(c)
            sizes |= {f"x{c}": counts[c] * m, f"sx{c}": counts[c] * m * width}
            sizes[f"gauge{c}"] = counts[c] if m else 0
            sizes[f"drift{c}"] = counts[c] * m if self.influence.timed[c] else 0
            sizes[f"sy{c}"] = counts[c] * int(self._widths[c]) * width
        total = int((np.array(counts) * self._widths).sum())
        sizes |= {"y": total, "dy": total, "ddy": total}
        self.memory = Memory(sizes)
        self._first_y = np.concatenate([[0], np.cumsum(np.array(counts) * self._widths)])
        self.request_places = []

    # ------------------------------------------------------------------------- program

    def _make_program(self, side_by_side: bool) -> None:
        memory, f = self.memory, self.freedoms
        before: list[Any] = [
            Clear(memory.first("M"), memory.sizes["M"] + f),
            *self._law_stages(),
            *self._state_stages(),
        ]
        self._begin = len(before)
        stages, tape = self._group_stages(side_by_side, self._begin)
        after = [*self._force_stages(), *self._solving()]
        whole = [*before, *stages, *after]
        first_force = len(before) + len(stages)
        self._held = [(first_force + k, rows, held) for k, rows, held in self._held]
        first = [Segment(k, 0, getattr(s, "count", 0)) for k, s in enumerate(before)]
        last = [Segment(len(before) + len(stages) + k, 0, s.count) for k, s in enumerate(after)]
        self.program = Program(whole, memory.size, tape=[*first, *tape, *last], name="motion")

    def _law_stages(self) -> list[Stage]:
        found = []
        memory = self.memory
        for block in self.casts.laws.blocks():
            scatter = {
                name: Write(memory.first(name) + np.asarray(places))
                for name, (_, places) in block.scatter.items()
            }
            gather = {"t": np.full((len(block), 1), memory.first("t"))}
            parameters = block.parameters if block.parameters.shape[1] else None
            found.append(Stage(block.kernel, gather, scatter, parameters, name=block.name))
        return found

    def _state_stages(self) -> Iterator[Stage]:
        """From the state to the laws of the independent coordinates, and how far they moved."""
        n, row = self.coordinates.numbers, np.zeros(1, dtype=np.int64)
        first = self.memory.first
        if any(self.influence.timed):
            gather = {"t": first("t") + row, "last": first("t_last") + row}
            scatter = {"tau": Write(first("tau") + row), "now": Write(first("t_last") + row)}
            yield Stage(clock_kernel(), gather, scatter)
        if n:
            yield self._state_stage(number_kernel(n), row, row, self.laws[None, :n], {})
        if self.coordinates.rotations:
            k = np.arange(self.coordinates.rotations)
            turns = {"turns": Write(first("turns") + 12 * k)}
            laws = self.laws[n:].reshape(-1, 4)
            yield self._state_stage(rotation_kernel(), n + 4 * k, n + 3 * k, laws, turns)

    def _state_stage(
        self,
        kernel: Function,
        positions: Integers,
        velocities: Integers,
        laws: Integers,
        more: Mapping[str, Write],
    ) -> Stage:
        """Of coordinates whose positions and velocities begin at places of the state."""
        memory = self.memory
        first, nq = memory.first, self.coordinates.positions
        gather = {
            "q": first("state") + positions,
            "v": first("state") + nq + velocities,
            "last": first("z_last") + positions,
        }
        scatter = {
            **{d: Write(first(d) + laws) for d in ("w", "dw", "ddw")},
            "move": Write(first("move") + velocities),
            "now": Write(first("z_last") + positions),
            "rate": Write(first("slope") + positions),
            **more,
        }
        return Stage(kernel, gather, scatter)

    def _places_of_its_own(
        self, c: int, kernel: Any, order: Integers
    ) -> tuple[dict[str, Integers], dict[str, Write], tuple[str, ...]]:
        memory, m, width = self.memory, len(kernel.unknowns), self._width(c)
        columns = self.influence.columns[c][order]
        gather: dict[str, Integers] = {}
        scatter: dict[str, Write] = {}
        if m:
            gather["last"] = memory.first(f"x{c}") + order * m
            gather["gauge_before"] = memory.first(f"gauge{c}") + order
            scatter["x_found"] = Write(memory.first(f"x{c}") + order * m)
            scatter["gauge"] = Write(memory.first(f"gauge{c}") + order)
        if m and width:
            gather["slast"] = memory.first(f"sx{c}") + order * m * width
            gather["move"] = memory.first("move") + columns
            scatter["sx"] = Write(memory.first(f"sx{c}") + order * m * width)
        if m and self.influence.timed[c]:
            gather["dlast"] = memory.first(f"drift{c}") + order * m
            gather["tau"] = np.full(len(order), memory.first("tau"))
            scatter["drift"] = Write(memory.first(f"drift{c}") + order * m)
            if width:
                gather["rates"] = memory.first("state") + self.coordinates.positions + columns
        if width:
            ny = int(self._widths[c])
            if kernel.known:
                found = self._column_places(kernel.known, self._reads[c], self.influence.columns[c])
                gather["sh"] = found[order]
            if ny:
                scatter["sy"] = Write(memory.first(f"sy{c}") + order * ny * width)
            scatter["M"] = Write(memory.first("M") + self._mass_places(columns), "add")
            scatter["Q"] = Write(memory.first("Q") + columns, "add")
        return gather, scatter, ()

    def _column_places(
        self, known: Sequence[Any], reads: Sequence[Asked], columns: Integers
    ) -> Integers:
        """Where the columns of what is known stand, (instances, known x columns)."""
        memory = self.memory
        asked = {a.item: a for a in reads}
        zero = memory.first("zero")
        own = self._law_columns()
        found = np.full((len(columns), len(known), columns.shape[1]), zero, dtype=np.int64)
        for n, what in enumerate(known):
            if what.item.kind == "law":
                for i, law in enumerate(what.item.body.tolist()):
                    for velocity, place in own.get(law, ()):
                        found[i, n, columns[i] == velocity] = place
                continue
            c, k, first = asked[what.item].places.T
            for owner in np.unique(c):
                rows = np.flatnonzero(c == owner)
                theirs = self.influence.columns[owner][k[rows]]
                width, ny = theirs.shape[1], int(self._widths[owner])
                start = memory.first(f"sy{owner}") + (
                    (k[rows] * ny + first[rows] + what.component) * width
                )
                for j in range(width):
                    same = theirs[:, j][:, None] == columns[rows]
                    at, column = np.nonzero(same)
                    found[rows[at], n, column] = start[at] + j
        return found.reshape(len(columns), -1)

    def _law_columns(self) -> dict[int, list[tuple[int, int]]]:
        """Of each law of a coordinate the velocities it depends on, and where columns stand."""
        one, turns = self.memory.first("one"), self.memory.first("turns")
        n, found = self.coordinates.numbers, {}
        for k, law in enumerate(self.laws.tolist()):
            if k < n:
                found[law] = [(k, one)]
                continue
            r, component = divmod(k - n, 4)
            first = turns + 12 * r + 3 * component
            found[law] = [(n + 3 * r + j, first + j) for j in range(3)]
        return found

    def _force_stages(self) -> list[Stage]:
        memory = self.memory
        found: list[Stage] = []
        for force, reads in zip(self._forces, self._force_reads, strict=True):
            columns = self._force_columns(force.cast, force.is_rotor)
            width = columns.shape[1]
            if not width:
                continue
            kernel: ForceKernel = force.kernel(f"force{len(found)}", width)
            if not kernel.known and not kernel.columns:
                continue
            gather = {}
            if kernel.known:
                for d in ("", "d"):
                    gather[f"{d}h"] = self._places_of(kernel.known, reads, d)
                if force.is_rotor:
                    gather["ddh"] = self._places_of(kernel.known, reads, "dd")
                gather["sh"] = self._column_places(kernel.known, reads, columns)
            scatter = {"Q": Write(memory.first("Q") + columns, "add")}
            if force.is_rotor:
                scatter["M"] = Write(memory.first("M") + self._mass_places(columns), "add")
            places = {column.symbol.ref: k for k, column in enumerate(kernel.columns)}
            held = [(places[u.ref], names) for u, names in force.inputs if u.ref in places]
            if held:
                self._held.append((len(found), kernel.parameters.copy(), held))
            found.append(
                Stage(
                    kernel.function,
                    gather,
                    scatter,
                    kernel.parameters if kernel.columns else None,
                    name=f"force {force.cast.elements[0].label}",
                )
            )
        return found

    def _force_columns(self, cast: Cast, ordered: bool = False) -> Integers:
        """The independent coordinates that the bodies of a force depend on, filled up.

        They are ``ordered`` where entries of the lower triangle of M belong to them.
        """
        rows: list[list[int]] = []
        element = cast.elements[0]
        frames = [m.frames.body for m in element.markers]
        for joint in element.joints:
            if not isinstance(joint, int):
                frames += [m.frames.body for m in joint.markers]
        for k in range(cast.count):
            found: set[int] = set()
            for bodies in frames:
                found.update(self.influence.of_body.get(int(bodies[k]), ()))
            rows.append(sorted(found))
        width = max(map(len, rows), default=0)
        # those with fewer get coordinates that do not move them: their columns are zero
        for row in rows:
            spare = (z for z in range(self.freedoms) if z not in set(row))
            row += [next(spare) for _ in range(width - len(row))]
            if ordered:
                row.sort()
        return np.array(rows, dtype=np.int64).reshape(cast.count, width)

    def _solving(self) -> list[Stage | Call]:
        """The stage that solves M z'' = Q."""
        f, memory = self.freedoms, self.memory
        if not f:
            return []
        row = np.array([0])
        out = {"ddz": Write(memory.first("slope") + self.coordinates.positions + row)}
        if f > SMALL:
            assert self._solve is not None, "more coordinates need a solver"
            ws = Workspace("copy")
            a = [ws.symbol(f"a{k}") for k in range(f)]
            copy = Function("copy", {"a": a}, {"ddz": a})
            names = ("M", "Q", "ddz")
            return [
                self._solve(memory, self.mass_rows, self.mass_columns, names),
                Stage(copy, {"a": memory.first("ddz") + row}, out),
            ]
        ws = Workspace("solve")
        zero = ws.atom(0.0)
        M = [[zero] * f for _ in range(f)]
        entries = [ws.symbol(f"M{k}") for k in range(len(self.mass_rows))]
        for i, j, entry in zip(self.mass_rows, self.mass_columns, entries, strict=True):
            M[i][j] = entry
        Q = [ws.symbol(f"Q{i}") for i in range(f)]
        kernel = Function("solve", {"M": entries, "Q": Q}, {"ddz": _solved(M, Q)})
        gather: Mapping[str, Integers] = {
            "M": memory.first("M") + row,
            "Q": memory.first("Q") + row,
        }
        return [Stage(kernel, gather, out)]

    # ---------------------------------------------------------------------------- start

    def hold(self, inputs: Mapping[str, float]) -> None:
        """Give the inputs other values, by name, from now on."""
        for stage, rows, columns in self._held:
            for k, names in columns:
                rows[:, k] = [inputs[name] for name in names]
            self.program.set_parameters(stage, rows)

    def start(self, w: Floats, poses: Poses, z: Floats, t: float) -> None:
        """Write the unknowns at a position into a workspace."""
        memory = self.memory
        w[:] = 0.0  # what a run that failed has left may not be numbers
        memory.view(w, "one")[:] = 1.0
        memory.view(w, "z_last")[:] = z
        memory.view(w, "t_last")[:] = t
        for c, kernel in enumerate(self.kernels):
            if kernel.unknowns:
                x = np.stack([u.start(poses) for u in kernel.unknowns], axis=1)
                memory.view(w, f"x{c}")[:] = x.ravel()


def _solved(M: list[list[Atom]], Q: list[Atom]) -> list[Atom]:
    """Solve M x = Q for a symmetric positive definite M by M = L D Lᵀ, the lower triangle read."""
    n = len(Q)
    scaled = [[M[i][j] for j in range(i + 1)] for i in range(n)]  # l_ij d_j
    L = [[M[i][j] for j in range(i + 1)] for i in range(n)]
    inverse: list[Atom] = []
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                scaled[i][j] = scaled[i][j] - scaled[i][k] * L[j][k]
        inverse.append(1 / scaled[j][j])
        for i in range(j + 1, n):
            L[i][j] = scaled[i][j] * inverse[j]
    y = list(Q)
    for i in range(n):
        for k in range(i):
            y[i] = y[i] - L[i][k] * y[k]
    x = [a * d for a, d in zip(y, inverse, strict=True)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return x
