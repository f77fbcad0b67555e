"""Forward dynamics by structural groups.

The state are the independent coordinates and their rates; positions of all bodies follow group by
group, so that constraints hold to the tolerance of the groups at every instant and nothing drifts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.divergence import half_turn
from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.coordinates import Coordinates, placed_group
from biela.analysis.groups.independent import Independent, independent_coordinates
from biela.analysis.groups.massless import refuse_massless
from biela.analysis.groups.motion import counted_coordinates, group_results
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.preparation import with_values
from biela.analysis.progress import Progress
from biela.analysis.sampling import sampling
from biela.code.looped import Failure
from biela.equations.blocks.world import World
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics import Influence, MotionProgram
from biela.equations.groups.dynamics.laws import law_places
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError, ModelError, SimulationError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Results
from biela.solvers.integrators import FINISHED, FixedStep, Problem
from biela.solvers.sparse.up_looking import positive_definite_stage

__all__ = ["GroupSimulator", "group_simulation"]

Floats = npt.NDArray[np.float64]
#: Steps between looks at the clock and at the state of the groups.
_CHUNK: Final = 2000
#: Integrators that take the velocities for the rates of the positions.
_OF_NUMBERS: Final = ("second_order_euler", "nystrom")


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
    ) -> None:
        model, parameters = with_values(model, parameters)
        if model.parts and body_count(model) <= LARGE:
            model = model.flattened()  # joints between instances are then joints like others
        self.model = model
        self.t, self.parameters, self.coordinates = float(t), parameters, coordinates
        self.start: Independent = independent_coordinates(
            model, independent, q=q, v=v, t=t, parameters=parameters
        )
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
        )

    def begin(self) -> Floats:
        """Assemble the groups at the start, and give the state there.

        Raises:
            SimulationError: A group cannot be assembled.
            ModelError: A coordinate moves no mass.
        """
        start, program = self.start, self.program
        w = program.function.w
        program.start(w, start.poses, start.z)
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
        refuse_massless(start, program)
        return x

    def failed(self) -> bool:
        """Whether a group was not solved since the start or the last look."""
        return bool(self.program.memory.view(self.program.function.w, "status")[0])

    def what_failed(self) -> str:
        """Which group, and how, in words."""
        status = self.program.memory.view(self.program.function.w, "status")
        group = self.start.structure.groups[int(status[0]) - 1]
        joints = ", ".join(j for j in group.joints if j not in group.drivers)
        who = f"group {group.name} ({', '.join(group.bodies)}; joints {joints})"
        if Failure(int(status[1])) is Failure.NOT_POSITIVE:
            return (
                f"{who} is at a dead point: its joints are in line, and two branches meet; take "
                f"other independent coordinates"
            )
        return f"{who} cannot be assembled, or is at a dead point where its joints are in line"

    def accelerations(self, t: Floats, states: Floats) -> Floats:
        """The accelerations of the independent coordinates at states of a run."""
        nq = self.start.coordinates.positions
        self.begin()
        slope, nothing = self.program.function, np.zeros(0)
        instants = zip(t, states, strict=True)
        found = [slope(np.array([a]), x, nothing)[nq:] for a, x in instants]
        return np.array(found).reshape(len(t), self.start.coordinates.freedoms)

    def body_motion(
        self, t: Floats, states: Floats, accelerations: Floats
    ) -> tuple[GroupSolver, GroupMotion]:
        """The motion of all bodies at instants of a run."""
        start = self.start
        solver = GroupSolver(
            start.model,
            start.structure,
            coordinates=self.coordinates,
            parameters=self.parameters,
            poses=start.poses,
            joints=counted_coordinates(self.model),
            t=self.t,
            iteration=Iteration(tolerance=1e-10, polish=1),
        )
        values = start.coordinates.laws(states, accelerations)
        return solver, solver.run(t, given=(start.drivers, values))


def group_simulation(
    model: Model,
    duration: float,
    *,
    step: float = 1e-3,
    integrator: str = "rk4",
    output: float | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """The motion of a mechanism under its forces, in independent coordinates, by groups.

    Events of models that are not large are found from the stored instants, and are in the results;
    nothing reacts to them: a run that stops or changes at events is that of `simulate`.

    Args:
        model: Bodies, joints, forces; drivers of some freedoms stay drivers.
        duration: Time to simulate, s.
        step: Time step, s.
        integrator: A method of fixed step.
        output: Time between stored instants, s (default: the step).
        t: Start time, s.
        parameters: Values other than those of the model.
        progress: Whether to show a bar; None shows it on a terminal for long runs.
        options: Further ones of `GroupSimulator`: independent, coordinates, q, v ….

    Returns:
        All channels of the bodies, and of the joints of small models.

    Raises:
        ModelError: An argument makes no sense, a force depends on reactions, or events are to be
            answered.
        ShapeError: The step does not divide the duration or the time between stored instants.
        DeadPointError: A group is at a dead point; the results until then are in it.
        SimulationError: The motion diverges.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    if "on_event" in options:
        raise ModelError(
            f"{model.name}: a simulation by groups finds events and goes on; to stop or to change "
            f"something at them use simulate(model, …, on_event=…)"
        )
    taken = sampling(duration, step, t=t, output=output)
    steps, stride = taken.steps, taken.stride
    simulator = GroupSimulator(model, t=t, parameters=parameters, **options)
    x = simulator.begin()
    if integrator in _OF_NUMBERS and simulator.start.coordinates.rotations:
        turning = [n for n in simulator.start.names if n.endswith(".rotation")]
        raise ModelError(
            f"{model.name}: {integrator} is for coordinates that are numbers, and "
            f"{', '.join(turning)} is none; take another integrator, such as rk4"
        )
    stepper = FixedStep(simulator.problem, integrator)
    times, states = [np.array([float(t)])], [x[None]]
    done, failure, dead = 0, "", False
    moving = time.perf_counter()
    whole = steps // stride * stride
    chunk = max(1, _CHUNK // stride) * stride
    with Progress(f"simulation of {model.name}", whole, progress) as bar:
        while done < whole and not failure:
            take = min(chunk, whole - done)
            before = simulator.program.function.w.copy()
            run = stepper.run(t + done * step, x, np.zeros(0), step, take // stride, stride)
            if run.status != FINISHED or simulator.failed():
                if take > stride:
                    # again in single samples, to keep all that is right
                    simulator.program.function.w[:] = before
                    chunk = stride
                    continue
                dead = simulator.failed()
                failure = simulator.what_failed() if dead else "the motion diverges"
                break
            times.append(run.times[1:])
            states.append(run.states[1:])
            x = run.x
            done += take
            bar.update(done)
    spent = time.perf_counter() - moving
    instants, rows = np.concatenate(times), np.concatenate(states)
    accelerations = simulator.accelerations(instants, rows)
    try:
        solver, motion = simulator.body_motion(instants, rows, accelerations)
    except DeadPointError as error:
        # steps so long that a dead point was passed between two of them
        assert isinstance(error.results, GroupMotion)
        motion, solver, dead = error.results, error.results.solver, True
        failure = "a group passed a dead point between two steps: take shorter ones"
        instants = motion.t
        if not len(instants):
            raise
    motion.time_run = spent
    shown = simulator.model
    lasted = time.perf_counter() - began
    results = group_results(solver, motion, "groups", lasted, shown, free=True)
    if not failure:
        turned, until = half_turn(shown, results)
        if turned:
            raise SimulationError(f"{model.name}: {turned}", results.between(results.t[0], until))
    if failure:
        kind = DeadPointError if dead else SimulationError
        raise kind(
            f"{model.name}: after t = {instants[-1]:.6g} s {failure}. The results until then are "
            f"in the attribute results of this error",
            results,
        )
    return results
