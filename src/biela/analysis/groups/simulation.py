"""Forward dynamics by structural groups.

The state are the independent coordinates and their rates; positions of all bodies follow group by
group, so that constraints hold to the tolerance of the groups at every instant and nothing drifts.

Every evaluation tells whether a group has stayed on its branch, clear of its dead points
(`biela.equations.groups.dynamics.kernel`).  Where one has not, the step is taken again in shorter
ones, and where these do not help other coordinates become the independent ones, if these were not
named: a dead point is one of a group with the bodies before it given, not one of the mechanism.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.control import SampledLaw
from biela.analysis.divergence import fastest, half_turn
from biela.analysis.engine_choice import LARGE
from biela.analysis.event_answers import Reaction
from biela.analysis.groups.beginning import Beginning
from biela.analysis.groups.coordinates import Coordinates, placed_group
from biela.analysis.groups.events import GroupEvents, inputs_of
from biela.analysis.groups.independent import Independent, independent_coordinates
from biela.analysis.groups.massless import refuse_massless
from biela.analysis.groups.motion import (
    GroupRun,
    body_coordinates,
    counted_coordinates,
    group_results,
)
from biela.analysis.groups.quintic import quintic
from biela.analysis.groups.recorded_turns import GroupRecording
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.workspace import dead_point
from biela.analysis.law_faults import names_laws
from biela.analysis.preparation import with_values
from biela.analysis.progress import Progress
from biela.analysis.sampling import sampling
from biela.analysis.stepping import whole_steps
from biela.analysis.watch import Account, Fault, Means, Motion, check_watch, energy_fault
from biela.code.looped import Failure
from biela.doors import door, doors
from biela.equations import System
from biela.equations.blocks.world import World
from biela.equations.formulate import formulate_later
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics import Influence, MotionProgram
from biela.equations.groups.dynamics.laws import law_places
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import Iteration
from biela.errors import BielaError, DeadPointError, ModelError, SimulationError
from biela.model import Model
from biela.model.joints import Joint
from biela.model.parts.flattening import body_count
from biela.results import Results
from biela.solvers.integrators import FINISHED, METHODS, FixedStep, FixedStepRun, Problem
from biela.solvers.sparse.up_looking import positive_definite_stage

__all__ = ["GroupSimulator", "exchanges", "group_simulation"]

Floats = npt.NDArray[np.float64]
#: Steps between looks at the clock and at the state of the groups.
_CHUNK: Final = 2000
#: Into how many parts the steps of a sample are divided where a group comes near a dead point:
#: before the independent coordinates are changed, or if they are to stay.
_PARTS: Final = (2, 4, 8)
_MORE_PARTS: Final = (*_PARTS, 16, 32, 64)
#: Steps before a dead point at which the independent coordinates are changed, if others are
#: clearly better there already: steps that come near to it lose digits.
_BEFORE: Final = (32, 8, 0)
#: The determinant of the coordinates has to grow by this factor for them to change.
_CLEARLY: Final = 1.5
#: Rates of coordinates that are left below this share of the largest are those of others.
_DEPENDENT: Final = 1e-6
#: A group that moves by so much more than the independent coordinates is at a dead point: to find
#: a position there to 1e-10 is to be 1e-5 from it.
_UNBOUNDED: Final = 1e4
#: Choices of other coordinates that are tried at a dead point.
_CHOICES: Final = 6
#: Halvings of the way between two stored instants.
_HALVINGS: Final = 12
#: Parts of the time between stored instants in which the motion of bodies is followed, at most.
_FINEST: Final = 64
#: What positions, rates and accelerations of bodies at two instants may leave of the way between
#: them: a share of it, or of the size of the mechanism.
_UNEXPLAINED: Final = 0.25
_SMALL: Final = 1e-4
#: Settings of a run that groups know.
_SETTINGS: Final = (
    "q",
    "v",
    "t",
    "step",
    "output",
    "parameters",
    "inputs",
    "control",
    "sample_time",
    "on_event",
    "progress",
    "watch",
)
#: Steps that are looked at together, at first.
_LOOKED_AT: Final = 50
#: Integrators that take the velocities for the rates of the positions.
_OF_NUMBERS: Final = ("second_order_euler", "nystrom")


@doors(ModelError)
class GroupSimulator:
    """The equations of motion of a model in its independent coordinates, by groups.

    Args:
        model: Bodies, joints, forces; drivers of some freedoms stay drivers.
        independent: Joint coordinates that the motion is integrated in; "auto" chooses them so
            that the largest group is smallest.
        coordinates: Of the groups, as in `GroupSolver`.
        q: Where it starts, by name.
        v: Rates there, by name.
        t: Start time, s.
        parameters: Values other than those of the model.
        iteration: Tolerance and number of steps of the groups.
        state: Position and velocity of all bodies in reference-point coordinates, of a motion that
            goes on from there; ``q`` and ``v`` are not used then.
        inputs: Values of all inputs by name, where these are not those of the model.

    Attributes:
        start: The independent coordinates and where they start.
        program: The equations of motion.

    Raises:
        ModelError: A force depends on reactions, or the coordinates do not determine the motion.
    """

    def __init__(
        self,
        model: Model,
        *,
        independent: Sequence[str] | str = "auto",
        coordinates: Coordinates | Mapping[str, Coordinates] = "natural",
        q: Mapping[str, float] | None = None,
        v: Mapping[str, float] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, float] | None = None,
        iteration: Iteration | None = None,
        state: tuple[Floats, Floats] | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> None:
        model, parameters = with_values(model, parameters)
        model = _written_out(model)
        self.inputs = inputs
        self.model = model
        self.t, self.parameters, self.coordinates = float(t), parameters, coordinates
        self.iteration = iteration
        self._begun = q, v, state
        self.start: Independent = independent_coordinates(
            model, independent, q=q, v=v, t=t, parameters=parameters, state=state
        )
        self._solver: GroupSolver | None = None
        self.program = self._program(iteration or Iteration(tolerance=1e-11))
        sizes = self.start.coordinates
        self.problem = Problem(
            self.program.function, sizes.positions + sizes.freedoms, nq=sizes.positions
        )

    def _program(self, iteration: Iteration) -> MotionProgram:
        start = self.start
        world = World(start.model, self.parameters)
        casts = Casts(world, start.structure)
        numbers = {name: start.coordinates.columns(k) for k, name in enumerate(start.drivers)}
        influence = Influence(casts, numbers)
        between = casts.coordinates_between(influence.casts)
        equations = []
        for c, cast in enumerate(influence.casts):
            derivation = placed_group(cast, self.coordinates, start.poses)
            for _, element, coordinate in sorted(x for x in between if x[0] == c):
                derivation.require(element, coordinate)
            equations.append(GroupEquations(derivation, start.poses))
        laws = np.array([p for name in start.drivers for p in law_places(casts, name)])
        return MotionProgram(
            casts,
            influence,
            equations,
            laws,
            start.coordinates,
            iteration,
            positive_definite_stage,
            self.inputs,
        )

    def hold(self, inputs: Mapping[str, float]) -> None:
        """Give the inputs other values from now on, by name."""
        if self.inputs != inputs:
            self.inputs = dict(inputs)
            self.program.hold(inputs)

    def begin(self) -> Floats:
        """Assemble the groups at the start, and give the state there.

        Raises:
            SimulationError: A group cannot be assembled.
            DeadPointError: A group is at a dead point.
            ModelError: A coordinate moves no mass.
        """
        start, program = self.start, self.program
        w = program.function.w
        program.start(w, start.poses, start.z, self.t)
        x = np.concatenate([start.z, start.dz])
        memory = program.memory
        for last in (False, True):  # the signs of determinants are found by the first run
            memory.view(w, "status")[:] = 0.0
            program.function(np.array([self.t]), x, np.zeros(0))
            if last and memory.view(w, "status")[0]:
                raise SimulationError(
                    f"{start.model.name}: at the start, t = {self.t:g} s, {self.what_failed()}"
                )
        memory.view(w, "status")[:] = 0.0
        if self._dead_at_start():
            raise DeadPointError(
                f"{start.model.name}: at the start, t = {self.t:g} s, {self.what_failed(True)}"
            )
        refuse_massless(start, program)
        return x

    def _dead_at_start(self) -> bool:
        """Whether a group moves while the independent coordinates stand still; it is noted then.

        Determinants have no scale at the start.  What has one are the columns of the group: how far
        it moves, of its size, by coordinates that move by 1 rad or the size of the mechanism.
        """
        program, w, start = self.program, self.program.function.w, self.start
        size = float(np.ptp(start.poses.place, axis=0).max(initial=0.0)) or 1.0
        numbers = start.names[: start.coordinates.numbers]
        units = np.ones(start.coordinates.freedoms)
        units[: len(numbers)] = [size if self._unit(name) == "m" else 1.0 for name in numbers]
        for c, (cast, kernel) in enumerate(zip(program.kinds, program.kernels, strict=True)):
            columns = program.influence.columns[c]
            if not kernel.unknowns or not columns.shape[1]:
                continue
            x = program.memory.view(w, f"x{c}").reshape(cast.count, -1)
            x = np.where([unknown.turns for unknown in kernel.unknowns], 1.0, x)
            moves = program.memory.view(w, f"sx{c}").reshape(*x.shape, -1) * units[columns][:, None]
            lengths = np.linalg.norm(moves, axis=1).max(axis=1)
            dead = ~(lengths < _UNBOUNDED * np.linalg.norm(x, axis=1))
            if dead.any():
                status = program.memory.view(w, "status")
                status[0] = int(cast.groups[int(np.argmax(dead))]) + 1
                status[1] = float(Failure.NOT_POSITIVE)
                return True
        return False

    def failed(self) -> bool:
        """Whether a group was not solved since the start or the last look."""
        return bool(self.program.memory.view(self.program.function.w, "status")[0])

    def failed_group(self) -> int:
        """The number of the group that was not solved."""
        return int(self.program.memory.view(self.program.function.w, "status")[0]) - 1

    def what_failed(self, started: bool = False) -> str:
        """Which group, and how, in words; ``started`` is one at the start."""
        status = self.program.memory.view(self.program.function.w, "status")
        group = self.start.structure.groups[self.failed_group()]
        joints = ", ".join(j for j in group.joints if j not in group.drivers)
        who = f"group {group.name} ({', '.join(group.bodies)}; joints {joints})"
        if Failure(int(status[1])) is Failure.NOT_POSITIVE:
            if started:
                return (
                    f"{who} is at a dead point, {dead_point(group)}: it moves without "
                    f"{', '.join(self.start.names)}; take other independent coordinates"
                )
            return (
                f"{who} comes to a dead point, {dead_point(group)}; take other independent "
                f"coordinates than {', '.join(self.start.names)}, or shorter steps"
            )
        return (
            f"{who} cannot be assembled, or is at a dead point, {dead_point(group)}; take other "
            f"independent coordinates than {', '.join(self.start.names)}"
        )

    # ------------------------------------------------------------------------ what it tells

    def accelerations(
        self, t: Floats, states: Floats, inputs: Sequence[Mapping[str, float]] = ()
    ) -> Floats:
        """The accelerations of the independent coordinates at states of a run.

        ``inputs`` are those held at each of them; without it, as they are now.
        """
        nq = self.start.coordinates.positions
        instants = list(zip(t, states, strict=True))
        self.begin()
        slope, nothing, found = self.program.function, np.zeros(0), []
        for k, (a, x) in enumerate(instants):
            if inputs:
                self.hold(inputs[k])
            found.append(slope(np.array([a]), x, nothing)[nq:])
        if self.failed():  # stored instants are too far apart for groups to keep their branches
            self.begin()
            before = instants[0]
            for k, instant in enumerate(instants):
                if inputs:
                    self.hold(inputs[k])
                found[k] = self._walked(before, instant, _HALVINGS)[nq:]
                before = instant
        return np.array(found).reshape(len(t), self.start.coordinates.freedoms)

    def _walked(
        self, before: tuple[float, Floats], after: tuple[float, Floats], halvings: int
    ) -> Floats:
        """The slope at a state, by states between it and one before, where groups are."""
        w, status = self.program.function.w, self.program.memory.places("status")
        kept = w.copy()
        slope = np.array(self.program.function(np.array([after[0]]), after[1], np.zeros(0)))
        if self.failed() and halvings:
            w[:] = kept
            middle = (before[0] + after[0]) / 2, self._between(before, after)
            self._walked(before, middle, halvings - 1)
            slope = self._walked(middle, after, halvings - 1)
        w[status] = 0.0
        return slope

    def _between(self, before: tuple[float, Floats], after: tuple[float, Floats]) -> Floats:
        """The state halfway between two: of numbers on the cubic through both."""
        sizes = self.start.coordinates
        found: Floats = (before[1] + after[1]) / 2
        rates = slice(sizes.positions, sizes.positions + sizes.numbers)
        bend = (after[0] - before[0]) / 8 * (before[1] - after[1])[rates]
        found[: sizes.numbers] += bend
        return found

    @cached_property
    def system(self) -> System | None:
        """The equations of bodies of a model that is not large."""
        large = bool(self.model.parts) or body_count(self.model) > LARGE
        return None if large else formulate_later(self.model, "reference")

    @property
    def solver(self) -> GroupSolver:
        """What finds the motion of all bodies."""
        start = self.start
        if self._solver is None:
            self._solver = GroupSolver(
                start.model,
                start.structure,
                coordinates=self.coordinates,
                parameters=self.parameters,
                poses=start.poses,
                joints=counted_coordinates(self.model, self.system),
                t=self.t,
                iteration=Iteration(tolerance=1e-10, polish=1),
            )
        return self._solver

    def body_motion(
        self, t: Floats, states: Floats, inputs: Sequence[Mapping[str, float]] = ()
    ) -> GroupMotion:
        """The motion of all bodies at states of a run; the program stands at the last one then.

        Between instants that are far apart it goes by others, so that groups keep their branches.
        """
        start, solver, parts = self.start, self.solver, 1
        values = start.coordinates.laws(states, self.accelerations(t, states, inputs))
        while True:
            times, given = _refined(t, values, parts)
            motion = solver.run(times, given=(start.drivers, given))
            if parts >= _FINEST or _continuous(motion):
                return motion.at(np.arange(0, len(times), parts))
            parts *= 4

    # ------------------------------------------------------------------- other coordinates

    def others(self, motion: GroupMotion, group: int, x: Floats) -> Iterator[tuple[str, ...]]:
        """Names of other independent coordinates, for a group that comes to a dead point.

        Args:
            motion: That of the bodies up to where it does.
            group: Its number.
            x: The state there, at which the program stands.
        """
        start = self.start
        if self.model.parts:
            return
        columns = self.program.influence.of_group(group)
        names = [start.names[k] for k in range(start.coordinates.numbers)]
        candidates = self._candidates(group)
        if not candidates:
            return
        begun = Beginning(self.model, None, None, float(motion.t[-1]), self.parameters,
                          self.state(motion))  # fmt: skip
        speeds = self._velocities(motion, x, begun.poses, columns)
        rates = begun.rates(list(candidates), speeds)
        size = float(np.ptp(begun.poses.place, axis=0).max()) or 1.0
        units = np.array([1.0 if unit == "rad" else size for unit in candidates.values()])
        mine = np.array([size if self._unit(names[c]) == "m" else 1.0 for c in columns])
        rows = (rates[1:] - rates[:1]).T / units[:, None] * mine
        # the spins of rods come by themselves
        held = [k for k, c in enumerate(columns) if c >= len(names) or names[c].endswith(".spin")]
        for taken in exchanges(rows, held):
            chosen = {columns[k]: list(candidates)[n] for k, n in enumerate(taken) if n >= 0}
            named = [chosen.get(k, name) for k, name in enumerate(start.names)]
            yield tuple(name for name in named if not name.endswith(".spin"))

    def others_at_start(self) -> Iterator[tuple[str, ...]]:
        """The same at a start that is a dead point, where rates by the present ones tell nothing.

        They are chosen by pivots among the rates of all coordinates by the motions that the joints
        allow; present ones stay as long as there are none that are clearly better.
        """
        start = self.start
        names = [name for name in start.names if not name.endswith(".spin")]
        if self.model.parts or start.coordinates.rotations:
            return
        begun = self.beginning()
        try:
            speeds = begun.allowed()
        except ModelError:
            return
        units = {name: self._unit(name) for name in names if self._joint(name) is not None}
        if len(units) < len(names):
            return  # points of bodies, whose rates are not those of joints
        for group in range(len(start.structure.groups)):
            units |= self._candidates(group)
        known = list(units)
        rates = begun.rates(known, np.concatenate([np.zeros((1, speeds.shape[1])), speeds]))
        size = float(np.ptp(begun.poses.place, axis=0).max()) or 1.0
        scale = np.array([1.0 if units[name] == "rad" else size for name in known])
        rows = (rates[1:] - rates[:1]).T / scale[:, None]
        seen: set[frozenset[str]] = {frozenset(names)}
        for barred in range(-1, len(known)):
            found = _pivoted(rows, len(names), barred)
            chosen = frozenset(known[k] for k in found)
            if len(found) == len(names) and chosen not in seen:
                seen.add(chosen)
                yield tuple(known[k] for k in sorted(found))

    def beginning(self) -> Beginning:
        """Where the motion starts."""
        q, v, state = self._begun
        return Beginning(self.model, q, v, self.t, self.parameters, state)

    def state(self, motion: GroupMotion) -> tuple[Floats, Floats]:
        """Position and velocity of all bodies at the last instant of a motion."""
        q, v, _ = body_coordinates(motion, counted_coordinates(self.model, self.system), still=True)
        return q[-1], v[-1]

    def restarted(self, state: tuple[Floats, Floats], t: float) -> bool:
        """Go on from another state in the same coordinates; False if these are of their start."""
        if not self.start.anywhere:
            return False
        begun = Beginning(self.model, None, None, t, self.parameters, state)
        self.start, self.t = self.start.at(begun), t
        if self._solver is not None:
            self._solver.poses, self._solver.t = self.start.poses, t
        return True

    def _candidates(self, group: int) -> dict[str, str]:
        """Coordinates that are numbers, of joints of a group, and their units."""
        found = {}
        for name in self.start.structure.groups[group].joints:
            joint = self.model.joints.get(name)
            for coordinate in joint.coordinates if isinstance(joint, Joint) else ():
                if coordinate.manifold != "rotation":
                    found[f"{name}.{coordinate.name}"] = coordinate.unit
        return {name: unit for name, unit in found.items() if name not in self.start.names}

    def _unit(self, name: str) -> str:
        """The unit of an independent coordinate that is a number."""
        part = name.rpartition(".")[2]
        joint = self._joint(name)
        if joint is not None:
            return next(c.unit for c in joint.coordinates if c.name == part)
        return "rad" if part in ("angle", "spin") else "m"

    def _joint(self, name: str) -> Joint | None:
        """The joint whose coordinate this is, if it is that of one."""
        joint = self.model.joints.get(name.rpartition(".")[0])
        return joint if isinstance(joint, Joint) else None

    def _velocities(
        self, motion: GroupMotion, x: Floats, poses: Poses, columns: Sequence[int]
    ) -> Floats:
        """Velocities of all bodies at rest, and where one coordinate moves after the other."""
        start, solver = self.start, self.solver
        sizes, t = start.coordinates, motion.t[-1:]
        rows = np.tile(x, (len(columns) + 1, 1))
        rows[:, sizes.positions :] = 0.0
        rows[np.arange(len(columns)) + 1, sizes.positions + np.array(columns, dtype=int)] = 1.0
        values = sizes.laws(rows, np.zeros((len(rows), sizes.freedoms)))
        before, found = solver.poses, []
        counted = counted_coordinates(self.model, self.system)
        solver.poses = poses
        try:
            for row in values:
                moving = solver.run(t, given=(start.drivers, row[None]))
                found.append(body_coordinates(moving, counted, still=True)[1][0])
        finally:
            solver.poses = before
        return np.array(found)


def _written_out(model: Model) -> Model:
    """The model without parts, unless it is large; joints between them are then like others."""
    return model.flattened() if model.parts and body_count(model) <= LARGE else model


def exchanges(rows: Floats, held: Collection[int] = ()) -> Iterator[list[int]]:
    """Choices of other independent coordinates, from the best single exchange on.

    The rates of all coordinates are linear in those of the independent ones, z': rows R.  At a dead
    point of a group it moves while z stands still: some of its rows grow without bound.  To let a
    coordinate with the row r take the place of one that has the row b_k among those that are
    chosen, B, multiplies the determinant of B by (r B⁻¹)_k: the exchange of a pivot.  Independent
    coordinates are the better the larger this determinant is, with metres divided by the size of
    the mechanism.  Each choice goes on to exchange as long as that makes it clearly larger.

    Args:
        rows: Rates of other coordinates by those of the present ones, (candidates, present).
        held: Present coordinates that stay.

    Yields:
        For each present coordinate the number of the candidate that takes its place, or -1.
    """
    f = rows.shape[1]

    def gains(basis: Floats, taken: list[int]) -> Floats:
        found: Floats = np.abs(np.linalg.solve(basis.T, rows.T).T)
        found[:, [k for k in range(f) if k in held or taken[k] >= 0]] = 0.0
        found[[new for new in taken if new >= 0]] = 0.0
        return found

    first = gains(np.eye(f), [-1] * f)
    seen: set[frozenset[int]] = set()
    for flat in np.argsort(-first, axis=None):
        new, old = divmod(int(flat), f)
        if first[new, old] < _CLEARLY:
            return
        basis, taken = np.eye(f), [-1] * f
        while True:
            basis[old], taken[old] = rows[new], new
            further = gains(basis, taken)
            if further.max() < _CLEARLY:
                break
            new, old = divmod(int(np.argmax(further)), f)
        if frozenset(taken) not in seen:
            seen.add(frozenset(taken))
            yield taken


def _pivoted(rows: Floats, present: int, barred: int) -> list[int]:
    """Rows that are independent, the largest left over first; those present if they are not small.

    Args:
        rows: Of coordinates, those of the present ones first.
        present: How many these are.
        barred: A row that is not taken; -1 for none.
    """
    left = rows.copy()
    found: list[int] = []
    if barred >= 0:
        left[barred] = 0.0
    least = _DEPENDENT * float(np.linalg.norm(left, axis=1).max(initial=0.0))
    while True:
        sizes = np.linalg.norm(left, axis=1)
        best = int(np.argmax(sizes))
        if not sizes[best] > least:
            return found
        own = int(np.argmax(sizes[:present]))
        k = own if _CLEARLY * sizes[own] > sizes[best] else best
        found.append(k)
        left -= np.outer(left @ left[k], left[k]) / sizes[k] ** 2


def _refined(t: Floats, values: Floats, parts: int) -> tuple[Floats, Floats]:
    """Instants between others, and laws with two rates there: polynomials of fifth degree."""
    if parts == 1 or len(t) < 2:
        return t, values
    laws = values.reshape(len(t), 3, -1)
    length = np.diff(t)[:, None]
    first, last = ([rows[:, k] for k in range(3)] for rows in (laws[:-1], laws[1:]))
    times, found = np.zeros((len(t) - 1, parts)), np.zeros((len(t) - 1, parts, *laws.shape[1:]))
    for k in range(parts):
        times[:, k] = t[:-1] + length[:, 0] * k / parts
        found[:, k] = np.stack(quintic(first, last, length, length * k / parts), axis=1)
    found[:, 0] = laws[:-1]
    rows = np.concatenate([found.reshape(-1, values.shape[1]), values[-1:]])
    return np.concatenate([times.ravel(), t[-1:]]), rows


def _continuous(motion: GroupMotion) -> bool:
    """Whether rates and accelerations at all instants explain how bodies came from one to the next.

    Δx = τ (x'₀ + x'₁)/2 + τ² (x''₀ - x''₁)/12 + O(τ⁵): what is left where a group leaps to another
    branch is the distance between them.
    """
    if len(motion.t) < 2:
        return True
    tau = np.diff(motion.t)[:, None, None]
    for x, dx, ddx in motion.body_rows:
        told = tau * (dx[1:] + dx[:-1]) / 2 + tau**2 * (ddx[:-1] - ddx[1:]) / 12
        way = tau * np.maximum(np.abs(dx[1:]), np.abs(dx[:-1])).max(axis=2, keepdims=True)
        size = 1.0 + float(np.ptp(x))
        missing = np.abs(np.diff(x, axis=0) - told)
        if (missing > _UNEXPLAINED * way + _SMALL * size).any():
            return False
    return True


@names_laws
@door(ModelError)
def group_simulation(
    model: Model,
    duration: float,
    *,
    step: float = 1e-3,
    integrator: str = "rk4",
    output: float | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    inputs: Any = None,
    control: Any = None,
    sample_time: float | None = None,
    on_event: Mapping[str, Reaction | str] | None = None,
    progress: bool | None = None,
    watch: str = "error",
    **options: Any,
) -> Results:
    """The motion of a mechanism under its forces, in independent coordinates, by groups.

    Events, inputs and controllers are those of `biela.simulate`; q and v of reactions and
    controllers are those of all bodies, in the order of these channels.  Large models have none of
    these.

    Args:
        model: Bodies, joints, forces; drivers of some freedoms stay drivers.
        duration: Time to simulate, s.
        step: Time step, s.
        integrator: A method of fixed step.
        output: Time between stored instants, s (default: the step).
        t: Start time, s.
        parameters: Values other than those of the model.
        inputs: Constant values of the inputs, by name or in order.
        control: Sampled controller ``u = law(t, q, v)``, or a compiled one (see `control`).
        sample_time: Time between its samples, s (default: the step).
        on_event: What to do at an event, by its name: "stop", or a function of t, q and v that
            returns None, "stop", or the (q, v) to go on with.
        progress: Whether to show a bar; None shows it on a terminal for long runs.
        watch: What to do where the energy goes wrong by more than the step explains: "error", or
            "event", which says so in the events of the results.
        options: Further ones of `GroupSimulator`: independent, coordinates, q, v ….

    Returns:
        All channels of the bodies, and of the joints of small models.

    Raises:
        ModelError: An argument makes no sense, or a force depends on reactions.
        ShapeError: The step does not divide the duration or the time between stored instants.
        DeadPointError: A group is at a dead point; the results until then are in it.
        SimulationError: The motion diverges, or its energy is wrong.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    watch = check_watch(model.name, watch)
    taken = sampling(duration, step, t=t, output=output)
    steps, stride = taken.steps, taken.stride
    if sample_time is not None and control is None:
        raise ModelError("sample_time is that of a controller: give control=…, or leave it out")
    model = _written_out(model)
    seen = _seen(model, parameters, inputs, control, on_event)
    if seen is not None:
        options["inputs"] = seen.inputs if inputs is not None or control is not None else None
        if sample_time is not None:
            seen.every = whole_steps(sample_time, step, "sample_time", of="the step")
    simulator = GroupSimulator(model, t=t, parameters=parameters, **options)
    if seen is not None:
        simulator.system = seen.events.system  # which are derived already
    taken.check_memory(6 * body_count(model))  # at least
    if integrator in _OF_NUMBERS and simulator.start.coordinates.rotations:
        turning = [n for n in simulator.start.names if n.endswith(".rotation")]
        raise ModelError(
            f"{model.name}: {integrator} is for coordinates that are numbers, and "
            f"{', '.join(turning)} is none; take another integrator, such as rk4"
        )
    named = options.get("independent", "auto") != "auto"
    # coordinates are changed at samples, which are not farther apart than a dead point is seen
    inner = stride if simulator.model.parts else _divisor(stride, _BEFORE[1])
    looking = seen if seen is not None and seen.looks else None
    if looking is not None:
        inner = 1  # events are looked for after every step
    grid = _Grid(float(t), step, steps // inner, inner, integrator, stride // inner)
    with Progress(f"simulation of {model.name}", grid.samples, progress) as bar:
        pieces, failure, dead = _motions(simulator, grid, named, bar.update, looking)
    shown = simulator.model
    lasted = time.perf_counter() - began
    judge = _Judge(grid, pieces, sampled=control is not None)
    run = GroupRun([piece.shown for piece in pieces], [piece.changed for piece in pieces])
    if seen is not None:
        read = [piece.read(seen.events.counted) for piece in pieces]
        answers = seen.events.answers
        run = replace(run, readings=read, events=answers.events, known=answers.ends)
        run = replace(run, inputs=[piece.held(seen.events.u) for piece in pieces])
    motions = [piece.motion for piece in pieces]
    results = group_results(
        motions, "groups", lasted, shown, still=True, judge=judge, run=run, system=simulator.system
    )
    if seen is not None and failure:
        results = results.between(results.t[0], min(seen.events.answers.until, results.t[-1]))
    wrong = judge.fault if judge.fault is not None and judge.fault.wrong else None
    if failure and wrong is not None:  # it was wrong before it stopped
        results = results.between(results.t[0], wrong.time)
    elif wrong is not None and watch == "error":
        raise SimulationError(
            f"{model.name}: {wrong.said}. The results until then are in the attribute results of "
            f"this error",
            results.between(results.t[0], wrong.time),
        )
    if not failure:
        turned, until = half_turn(shown, results)
        if turned:
            raise SimulationError(f"{model.name}: {turned}", results.between(results.t[0], until))
    if failure:
        kind = DeadPointError if dead else SimulationError
        raise kind(
            f"{model.name}: after t = {results.t[-1]:.6g} s {failure}. The results until then are "
            f"in the attribute results of this error",
            results,
        )
    return results


class GroupRuns:
    """Simulations of a model by groups; `biela.Simulator` makes it.

    Args:
        model: Bodies, joints, forces.
        formulation: None: constraints are solved for the coordinates that depend on others.
        integrator: A method of fixed step; "rk4" without it.
        options: None.

    Raises:
        ModelError: It has no such things, or one of these is given.
    """

    #: How constraints enter.
    formulation = "independent coordinates"

    def __init__(
        self, model: object, formulation: str | None, integrator: object, options: object
    ) -> None:
        if not isinstance(model, Model):
            raise ModelError("coordinates='groups' are for a Model, of bodies and joints")
        given = {"formulation": formulation, "options": options}
        found = [name for name, value in given.items() if value is not None]
        if found:
            raise ModelError(
                f"{model.name}: coordinates='groups' take no {' and no '.join(found)}: constraints "
                f"are solved group by group; leave it out"
            )
        if integrator is not None and integrator not in METHODS:
            raise ModelError(
                f"{model.name}: coordinates='groups' take steps of fixed length, and integrator "
                f"{integrator!r} does not; these do: {', '.join(METHODS)}"
            )
        self._model, self._integrator = model, str(integrator or "rk4")

    def run(self, duration: float, **run: Any) -> Results:
        """Simulate for a duration; see `biela.Simulator.run` for the arguments.

        Raises:
            ModelError: One of them is not for groups.
        """
        model = self._model
        unknown = [name for name in run if name not in _SETTINGS]
        if unknown:
            raise ModelError(
                f"{model.name}: coordinates='groups' do not know {', '.join(unknown)}; leave it "
                f"out, or use other coordinates"
            )
        return group_simulation(model, duration, integrator=self._integrator, **run)


@dataclass
class _Seen:
    """What a run looks at after its steps: events, and samples of a controller.

    Attributes:
        events: The events, and what the bodies do.
        law: The controller, if there is one.
        every: Steps between its samples.
        last: After how many steps it was asked last.
    """

    events: GroupEvents
    law: SampledLaw | None = None
    every: int = 1
    last: int = -1

    @property
    def looks(self) -> bool:
        """Whether there is anything to look at."""
        return self.events.ne > 0 or self.law is not None

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs by name."""
        return self.named(self.events.u)

    def named(self, u: Floats) -> dict[str, float]:
        """Values of the inputs by name."""
        names = [entry.name for entry in self.events.system.u]
        return dict(zip(names, u.tolist(), strict=True))

    def sample(self, simulator: GroupSimulator, done: int, t: float, q: Floats, v: Floats) -> None:
        """Ask the controller for inputs after so many steps, if it is due, and hold them."""
        if self.law is None or done % self.every or done == self.last:
            return
        self.last = done
        x, p = np.concatenate([q, v]), np.concatenate([self.events.p, self.events.u])
        self.events.u = self.law(t, x, p)
        simulator.hold(self.inputs)


def _seen(
    model: Model,
    parameters: Mapping[str, float] | None,
    inputs: Any,
    control: Any,
    reactions: Mapping[str, Reaction | str] | None,
) -> _Seen | None:
    """What is looked at after the steps of a run; None of large models, which are not written out.

    Raises:
        ModelError: Something is asked for that large models do not have.
    """
    if model.parts or body_count(model) > LARGE:
        asked = {"inputs": inputs, "control": control, "on_event": reactions}
        for name, given in asked.items():
            if given is not None:
                raise ModelError(
                    f"{model.name}: {name} is for models of up to {LARGE} bodies in a simulation "
                    f"by groups; use simulate(model, …, {name}=…)"
                )
        return None
    system = formulate_later(model, "reference")
    law = None if control is None else SampledLaw(system, control)
    u = inputs_of(system, inputs)
    return _Seen(GroupEvents(model, system, parameters, reactions, u, law is not None), law)


@dataclass(frozen=True)
class _Grid:
    """Samples of a run, each so many steps after the one before, and the method of the steps.

    One sample of ``every`` is shown.
    """

    t: float
    step: float
    samples: int
    stride: int
    integrator: str
    every: int = 1

    def time(self, sample: int) -> float:
        """When a sample is."""
        return self.t + sample * self.stride * self.step

    def times(self, first: int, end: int) -> Floats:
        """When samples are, up to one before the end."""
        return np.array([self.time(k) for k in range(first, end)])


@dataclass
class _Rows:
    """What a run has stored from the start of a simulator on.

    Attributes:
        t: Times.
        x: States.
        samples: How many samples were done.
        ahead: How long after the last of them, s; events are between samples.
        inputs: What was held until then; no columns where that does not change.
        failure: What stopped it, in words.
        dead: Whether that is a group that was not solved.
        stopped: Whether an answer to an event stopped it.
        changed: The state of the bodies that an answer to the last event gives, to go on with.
    """

    t: list[float]
    x: list[Floats]
    samples: list[int]
    ahead: list[float]
    inputs: list[Floats]
    failure: str = ""
    dead: bool = False
    stopped: bool = False
    changed: tuple[Floats, Floats] | None = None

    def store(self, t: float, x: Floats, sample: int, ahead: float, u: Floats) -> None:
        """One more state."""
        self.t.append(t)
        self.x.append(x)
        self.samples.append(sample)
        self.ahead.append(ahead)
        self.inputs.append(u)


@dataclass
class _Piece:
    """The motion of all bodies in some independent coordinates.

    Attributes:
        motion: It itself.
        simulator: Whose it is.
        shown: Which of its instants are shown.
        inputs: What was held at each of them; no columns where that does not change.
        changed: Whether it begins with another state than that in which the one before ends.
    """

    motion: GroupMotion
    simulator: GroupSimulator
    shown: npt.NDArray[np.bool_]
    inputs: Floats
    changed: bool
    _readings: Any = None

    def read(self, counted: Sequence[str]) -> Any:
        """Positions, velocities and accelerations of the bodies.

        They are read before the simulator goes on from elsewhere: turns count from its start.
        """
        if self._readings is None:
            self._readings = body_coordinates(self.motion, counted, still=True)
        return self._readings

    def held(self, u: Floats) -> Floats:
        """The inputs at each instant; ``u`` where they do not change."""
        changing = self.inputs.shape[1] > 0
        return self.inputs if changing else np.repeat(u[None], len(self.motion.t), 0)


@dataclass
class _Judge:
    """What looks after the energy of a run, and what it has found.

    Attributes:
        grid: The samples of the run.
        pieces: Its motion, piece by piece of independent coordinates.
        sampled: Whether a controller holds inputs, so that nothing is run once more.
        fault: What is wrong, if anything.
    """

    grid: _Grid
    pieces: Sequence[_Piece]
    sampled: bool = False
    fault: Fault | None = field(default=None, init=False)

    def __call__(self, motion: Motion) -> Fault | None:
        """What is wrong with a run.

        Nothing is run once more of a large mechanism, and of coordinates that have no meaning but
        from their start on.
        """
        grid = self.grid
        means = Means(0.0, grid.step, grid.stride * grid.samples, cause=_cause)
        if isinstance(motion, GroupRecording):
            means = replace(means, place=partial(fastest, motion.system, motion))
            anywhere = all(piece.simulator.start.anywhere for piece in self.pieces)
            if anywhere and not self.sampled:
                means = replace(means, replay=partial(self._replayed, motion))
        account = Account.glance(motion, sampled=self.sampled)
        self.fault = energy_fault(account, motion, means)
        return self.fault

    def _replayed(self, recording: GroupRecording, k: int, finer: int) -> GroupRecording | None:
        """The run once more from a stored instant to the next, in shorter steps."""
        found, t = recording.readings(), float(recording.t[k])
        rows = [len(p.motion.t) - (0 if p.changed else 1) for p in self.pieces]
        rows[0] = len(self.pieces[0].motion.t) - 1
        simulator = self.pieces[int(np.searchsorted(np.cumsum(rows), k, side="right"))].simulator
        length = float(recording.t[k + 1]) - t
        if not length > 0:
            return None
        step = length / (self.grid.stride * finer)
        grid = replace(self.grid, t=t, step=step, samples=finer)
        try:
            if not simulator.restarted((found["q"][k], found["v"][k]), t):
                return None
            rows_found = _run(simulator, grid, 0, True, _nobody)
            if rows_found.failure:
                return None
            states = np.array(rows_found.x)
            motion = simulator.body_motion(grid.times(0, len(states)), states)
        except BielaError:
            return None
        counted = counted_coordinates(simulator.model, recording.system)
        return recording.of(motion.t, body_coordinates(motion, counted, still=True), k)


def _cause(k: int) -> str:
    """What may have thrown a motion onto another branch, whenever that was."""
    del k
    return (
        "Likely cause: steps are too long, or one went across a dead point, where two branches "
        "meet. Take shorter steps, or other independent coordinates"
    )


def _divisor(n: int, most: int) -> int:
    """The largest divisor of a number that is not above another."""
    return max(k for k in range(1, min(n, most) + 1) if n % k == 0)


def _nobody(done: int) -> None:
    """Takes no notice of how far a run has come."""


def _motions(
    simulator: GroupSimulator,
    grid: _Grid,
    named: bool,
    told: Callable[[int], None],
    seen: _Seen | None = None,
) -> tuple[list[_Piece], str, bool]:
    """The motion of all bodies, piece by piece of independent coordinates.

    Returns:
        The pieces; what stopped the last one, in words, and whether that is a dead point.
    """
    pieces: list[_Piece] = []
    known = {frozenset(simulator.start.names): simulator}
    others: list[tuple[str, ...]] | None = None
    state: tuple[Floats, Floats] | None = None
    done, ahead, changed = 0, 0.0, False
    counted = cache(partial(counted_coordinates, simulator.model))
    tried: set[frozenset[str]] = set()  # coordinates that come no further from where it is
    while True:
        tried.add(frozenset(simulator.start.names))
        moving = time.perf_counter()
        try:
            rows = _run(simulator, grid, done, named, told, seen, ahead)
            if rows.dead and len(rows.t) == 1 and not pieces:
                raise DeadPointError(
                    f"{simulator.model.name}: at the start, t = {simulator.t:g} s, {rows.failure}"
                )
        except DeadPointError as error:
            if pieces:
                raise
            # the start is a dead point of these coordinates, not of the mechanism
            found = list(islice(simulator.others_at_start(), _CHOICES))
            untried = [names for names in found if frozenset(names) not in tried]
            following: GroupSimulator | None = None
            if not named:
                begun = simulator.beginning().state()
                following = _following(simulator, known, iter(untried), begun, simulator.t)
            if following is None:
                raise _dead_start(error, found) from None
            simulator = following
            continue
        spent = time.perf_counter() - moving
        dead, count = rows.dead, len(rows.t)
        if not pieces or count > 1 or changed:
            group, others = simulator.failed_group(), None
            for before in _BEFORE if dead and not named else (0,):
                kept = count - -(-before // grid.stride)
                if before and kept < 2:
                    continue
                motion, passed = _followed(simulator, rows, kept, seen)
                if passed:
                    if len(motion.t):
                        pieces.append(_piece(simulator, grid, motion, rows, changed))
                    return pieces, passed, True
                if not dead or named:
                    break
                state = simulator.state(motion)
                found = list(islice(simulator.others(motion, group, rows.x[kept - 1]), _CHOICES))
                if found:
                    others = found
                    break
            done, ahead = rows.samples[kept - 1], rows.ahead[kept - 1]
            if kept > 1:
                tried = {frozenset(simulator.start.names)}
            motion.time_run = spent
            pieces.append(_piece(simulator, grid, motion, rows, changed))
            changed = False
        if rows.changed is not None:
            _read(pieces, counted())
            simulator, changed = _changed(simulator, known, rows.changed, rows.t[-1], named), True
            tried = set()
            continue
        if not rows.failure or others is None or state is None:
            return pieces, rows.failure, dead
        untried = [names for names in others if frozenset(names) not in tried]
        _read(pieces, counted())
        following = _following(simulator, known, iter(untried), state, grid.time(done) + ahead)
        if following is None:
            return pieces, rows.failure, dead
        simulator = following


def _followed(
    simulator: GroupSimulator, rows: _Rows, kept: int, seen: _Seen | None
) -> tuple[GroupMotion, str]:
    """The motion of all bodies at the first of some states, and what it could not pass, in words.

    Raises:
        DeadPointError: There is no motion at all.
    """
    t, states, inputs = np.array(rows.t[:kept]), np.array(rows.x[:kept]), []
    if seen is not None and seen.law is not None:
        inputs = [seen.named(u) for u in rows.inputs[:kept]]
    try:
        return simulator.body_motion(t, states, inputs), ""
    except DeadPointError as error:
        # steps so long that a dead point was passed between two of them
        assert isinstance(error.results, GroupMotion)
        if not len(error.results.t):
            raise
        passed = "a group passed a dead point between two steps: take shorter ones"
        return error.results, passed


def _piece(
    simulator: GroupSimulator, grid: _Grid, motion: GroupMotion, rows: _Rows, changed: bool
) -> _Piece:
    """A piece of a motion, as far as it was followed."""
    count = len(motion.t)
    ahead, samples = np.array(rows.ahead[:count]), np.array(rows.samples[:count])
    shown = (ahead > 0) | (samples % grid.every == 0)
    return _Piece(motion, simulator, shown, np.array(rows.inputs[:count]), changed)


def _read(pieces: Sequence[_Piece], counted: Sequence[str]) -> None:
    """Read the pieces of a motion before a simulator goes on from elsewhere."""
    for piece in pieces:
        if not piece.motion.solver.large:
            piece.read(counted)


def _changed(
    simulator: GroupSimulator,
    known: dict[frozenset[str], GroupSimulator],
    state: tuple[Floats, Floats],
    t: float,
    named: bool,
) -> GroupSimulator:
    """What goes on from the state that an answer to an event gives.

    Raises:
        SimulationError: Nothing does.
    """
    own = tuple(name for name in simulator.start.names if not name.endswith(".spin"))
    choices: list[Any] = [own] if named else [own, "auto"]
    following = _following(simulator, known, iter(choices), state, t)
    if following is None:
        raise SimulationError(
            f"{simulator.model.name}: at t = {t:.6g} s the state that a reaction has returned is a "
            f"dead point of {', '.join(own)}; take other independent coordinates"
        )
    return following


def _dead_start(error: DeadPointError, others: Sequence[tuple[str, ...]]) -> DeadPointError:
    """What is told of a start at a dead point: which coordinates would do."""
    if others:
        return DeadPointError(f"{error}, such as independent={list(others[0])!r}")
    return DeadPointError(
        f"{error}; if others do not help either, the mechanism itself is in a singular position: "
        f"start it somewhat beside, q={{…}}"
    )


def _following(
    simulator: GroupSimulator,
    known: dict[frozenset[str], GroupSimulator],
    others: Iterator[tuple[str, ...] | str],
    state: tuple[Floats, Floats],
    t: float,
) -> GroupSimulator | None:
    """The same motion from a state on, in the next of other coordinates in which it can go on."""
    for names in others:
        found = None if isinstance(names, str) else known.get(frozenset(names))
        try:
            if found is None or not found.restarted(state, t):
                found = GroupSimulator(
                    simulator.model,
                    independent=names,
                    coordinates=simulator.coordinates,
                    t=t,
                    parameters=simulator.parameters,
                    iteration=simulator.iteration,
                    state=state,
                    inputs=simulator.inputs,
                )
            known[frozenset(found.start.names)] = found
            if simulator.inputs is not None:
                found.hold(simulator.inputs)
            found.begin()
        except BielaError:  # these are none here: they do not determine the motion
            continue
        return found
    return None


def _run(
    simulator: GroupSimulator,
    grid: _Grid,
    done: int,
    named: bool,
    told: Callable[[int], None],
    seen: _Seen | None = None,
    ahead: float = 0.0,
) -> _Rows:
    """Samples from the start of a simulator on, as far as it goes.

    Args:
        simulator: At its start.
        grid: The samples of the whole run.
        done: How many of them are done.
        named: Whether the independent coordinates have to stay.
        told: Is told how many are done.
        seen: What is looked at after every step; a sample is then a step.
        ahead: How long after the last sample it starts, s.

    Returns:
        The states, that at the start first, and what stopped it.
    """
    x = simulator.begin()
    w, nothing = simulator.program.function.w, np.zeros(0)
    stepper = FixedStep(simulator.problem, grid.integrator)
    longest = max(1, _CHUNK // grid.stride)
    chunk = longest if seen is None else min(longest, _LOOKED_AT)
    look = None if seen is None else _Look(seen, simulator, stepper, grid.time(done) + ahead, x)
    if look is not None and ahead == 0.0 and not done:
        look.begin(done)
    u = np.zeros(0) if look is None else look.held
    rows = _Rows([grid.time(done) + ahead], [x], [done], [ahead], [u])

    def good(run: FixedStepRun) -> bool:
        return run.status == FINISHED and not simulator.failed()

    while done < grid.samples:
        take = 1 if ahead else min(chunk, grid.samples - done)
        if look is not None:
            take = look.until_sample(done, take, ahead)
        began, h = grid.time(done) + ahead, grid.step - ahead / grid.stride
        before = w.copy()
        run = stepper.run(began, x, nothing, h, take, grid.stride)
        if not good(run) and take > 1:
            w[:] = before
            chunk = max(1, take // 8)  # to come to where it fails
            continue
        for parts in _MORE_PARTS if named else _PARTS:
            if good(run) or not simulator.failed():
                break
            w[:] = before
            run = stepper.run(began, x, nothing, h / parts, 1, grid.stride * parts)
        if not good(run):
            rows.dead = simulator.failed()
            rows.failure = simulator.what_failed() if rows.dead else "the motion diverges"
            return rows
        met = None
        if look is not None:
            u = look.held
            times = np.array([began, *(grid.time(done + k) for k in range(1, take + 1))])
            met = look.after(times, run.states, before, h)
        steps = take if met is None else met.steps
        for k in range(1, steps + 1):
            rows.store(grid.time(done + k), run.states[k], done + k, 0.0, u)
        done, ahead = done + steps, ahead if steps == 0 else 0.0
        if met is None:
            x, ahead = run.x, 0.0
            chunk = min(2 * chunk, longest)
        elif met.failure:
            rows.dead, rows.failure = met.dead, met.failure
            return rows
        else:
            x, ahead = met.x, ahead + met.length
            if met.told:
                rows.store(met.t, x, done, ahead, u)
            if met.stop or met.changed is not None:
                rows.stopped, rows.changed = met.stop, met.changed
                return rows
        told(done)
    return rows


@dataclass
class _Met:
    """An event that a run has met, or what ends it.

    Attributes:
        steps: After how many steps of those looked at.
        length: How long after the last of these, s.
        t: When.
        x: The state there.
        told: Whether the state is stored.
        stop: Whether the run stops.
        changed: The state of the bodies to go on with.
        failure: What ends the run, in words.
        dead: Whether that is a group that was not solved.
    """

    steps: int
    length: float = 0.0
    t: float = 0.0
    x: Floats = field(default_factory=lambda: np.zeros(0))
    told: bool = True
    stop: bool = False
    changed: tuple[Floats, Floats] | None = None
    failure: str = ""
    dead: bool = False


class _Look:
    """Looks at the bodies after every step of a simulator: for events, and for its controller."""

    def __init__(
        self, seen: _Seen, simulator: GroupSimulator, stepper: FixedStep, t: float, x: Floats
    ) -> None:
        self.seen, self.events = seen, seen.events
        self.simulator, self._stepper = simulator, stepper
        self._near = simulator.start.poses
        self._t = t
        q, v = self.events.bodies(simulator, self._near, np.array([t]), x[None])
        self._now = q[0], v[0]
        self.events.begin(t, *self._now)

    @property
    def held(self) -> Floats:
        """The inputs, where a controller changes them."""
        return np.zeros(0) if self.seen.law is None else self.events.u.copy()

    def begin(self, done: int) -> None:
        """The start of the whole run."""
        self.events.first_look(self._t, *self._now)
        self.seen.sample(self.simulator, done, self._t, *self._now)

    def until_sample(self, done: int, take: int, ahead: float) -> int:
        """How many steps to take until the controller is asked again, who is asked before."""
        seen = self.seen
        if seen.law is None:
            return take
        if ahead == 0.0:
            seen.sample(self.simulator, done, self._t, *self._now)
        return min(take, seen.every - done % seen.every)

    def after(self, t: Floats, states: Floats, before: Floats, h: float) -> _Met | None:
        """What has happened in some steps of length h, from a workspace on; nothing if None."""
        events, simulator = self.events, self.simulator
        q, v = events.bodies(simulator, self._near, t, states)
        k = events.first(t, q, v)
        until = len(t) - 1 if k < 0 else k
        fallen = events.fallen(float(t[until]), q[until], v[until])
        if fallen:
            return _Met(until, failure=fallen)
        if k < 0:
            self._stand(float(t[-1]), q[-1], v[-1])
            return None
        w, nothing = simulator.program.function.w, np.zeros(0)
        w[:] = before
        start, x = float(t[k]), states[k]
        if k:
            self._stepper.run(float(t[0]), states[0], nothing, h, k, 1)
        kept = w.copy()

        def step(length: float) -> Floats | None:
            w[:] = kept
            run = self._stepper.run(start, x, nothing, length, 1, 1)
            return run.x if run.status == FINISHED and not simulator.failed() else None

        found = events.located(simulator, step, start, x, q[k], v[k], h)
        if found is None:
            dead = simulator.failed()
            said = simulator.what_failed() if dead else "the motion diverges"
            return _Met(k, failure=said, dead=dead)
        length, reached, (place, speed), fired = found
        self._stand(start + length, place, speed)
        told = bool(fired.any()) and not events.answers.passing(fired)
        stop, answered = events.react(self._t, place, speed, fired)
        changed = answered[-1] if answered and not stop else None
        return _Met(k, length, self._t, reached, told, stop, changed)

    def _stand(self, t: float, q: Floats, v: Floats) -> None:
        self._t, self._now, self._near = t, (q, v), self.events.poses(q)
