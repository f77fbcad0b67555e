"""Forward dynamics of large mechanisms: no equation is written out, and no step is in Python.

The equations are kernels run over all instances, in reference-point coordinates
(`biela.equations.blocks`), and eliminated front by front (`looped_motion`); the integrators are
those of all simulations.  The cost of a step grows with the number of bodies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import displacements, in_conflict, speeds
from biela.analysis.control import Controller, SampledLaw
from biela.analysis.divergence import (
    SINGULAR,
    half_turn,
    near_half_turn,
    passes,
    relative_drift,
    weakness,
)
from biela.analysis.engine_choice import with_start
from biela.analysis.event_answers import EventAnswers, Reaction
from biela.analysis.instant import unit_rows
from biela.analysis.law_changes import blows, breaks, within_a_step
from biela.analysis.looped.balance import unbalanced
from biela.analysis.looped.events import LoopedEvents
from biela.analysis.looped.follower import Follower
from biela.analysis.looped.limits import LoopedLimits
from biela.analysis.looped.motion import EXAMINED, LoopedMotion
from biela.analysis.looped.pictures import looped_scene, state_readings
from biela.analysis.looped.results import channel_groups, coordinate_units, rank_report
from biela.analysis.looped.simulated_motion import SimulatedMotion
from biela.analysis.looped.sparse_rows import SparseRows
from biela.analysis.looped.start import first_state, first_velocity, named_values
from biela.analysis.plan import Plan, closer
from biela.analysis.preparation import numbers, with_values
from biela.analysis.progress import Progress, rows_from
from biela.analysis.singularity import joints_of
from biela.analysis.stepping import Progressed, Stepper, followed, statistics
from biela.analysis.watch import Account, Fault, Means, check_watch, energy_fault, slip_fault
from biela.equations import Quantity
from biela.equations.blocks import ReferenceBlocks
from biela.errors import AssemblyError, ModelError, SimulationError, SingularityError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Event, Results
from biela.singular_values import svd
from biela.solvers.integrators import BOTH, EVENT, FINISHED, Problem

Floats = npt.NDArray[np.float64]

#: A constraint missed by more than this share of its size ends a run.
_MISSED = 1e-5
#: Up to so many constraints are looked at all together, for singular positions.
_EXAMINED = 400
#: What is told where constraints depend on others and it is not known how many do everywhere.
_UNRANKED = (
    "{} constraints depend on others in a part of the mechanism that is too large for their number "
    "to be found beforehand: by their pivots they are chosen anew in every step, which may fail"
)
#: Parts of accelerations that no motion has, relative, below which they are rounding.
_UNCURVED = 1e-7
#: Forces that differ from those of the round before by more than this part were not found.
_UNBALANCED = 1e-4
#: Native calls are about this long, so that an interrupt is answered soon.
_CHUNK_SECONDS = 0.1
#: States at events are stored up to so many numbers.
_AT_EVENTS = 50_000_000
#: The work of forces is found every so many steps, at so many instants at least.
_OFTEN, _FEWEST = 50, 9
#: Instants at which an interval is seen that is run once more.
_SEEN = 20


class LoopedSimulator:
    """A model prepared for simulations by the looped engine; `biela.Simulator` makes it.

    What is prepared serves the runs that follow, as long as they start alike.

    Args:
        model: The mechanism; arrays of parts stay arrays.
        integrator: "rk4" and other methods of fixed step, or an adaptive one; without it, "rk4" if
            a step is given, else "dormand_prince".
    """

    #: How constraints enter.
    formulation = "multipliers"

    def __init__(self, model: Model, integrator: str | None = None) -> None:
        self.model, self.integrator = model, integrator
        self._prepared: tuple[list[Any], _Prepared] | None = None

    def run(
        self,
        duration: float,
        *,
        q: Mapping[str, float] | None = None,
        v: Mapping[str, float] | None = None,
        t: float = 0.0,
        step: float | None = None,
        output: float | None = None,
        tolerance: float | None = None,
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, float] | Sequence[float] | None = None,
        control: Any = None,
        sample_time: float | None = None,
        on_event: Mapping[str, Reaction | str] | None = None,
        events: bool = True,
        progress: bool | None = None,
        watch: str = "error",
    ) -> Results:
        """Simulate for a duration; see `biela.Simulator.run` for the arguments.

        Names of ``q`` are "joint.coordinate" of the model itself, or coordinates of bodies
        ("cell[3].crank.rx" …); those of ``v`` are velocities of bodies ("crank.angle_rate" …).
        Without ``events`` the run looks for none, which may be too much of thousands of buffers.
        Controllers and ``on_event`` functions take the q and v of all bodies, as in these channels.
        Limits of coordinates are looked for in the run where they are answered.

        Returns:
            Channels q, v, a of the bodies, outputs y, the motion of frames, and the monitors
            "energy", "constraint error" and "velocity error"; and the events, each with a stored
            instant, if they do not fill the memory.

        Raises:
            ModelError: An argument makes no sense.
            AssemblyError: The mechanism cannot be assembled at the start.
            SingularityError: No motion leaves a singular position with the velocities of the start.
            SimulationError: The run diverges, or the motion is wrong; it holds the results until
                then.
        """
        began, model = time.perf_counter(), self.model
        watch = check_watch(model.name, watch)
        if not (np.isfinite(duration) and duration > 0):
            raise ModelError(
                f"{model.name}: the duration must be a positive time, not {duration!r}"
            )
        if not np.isfinite(t):
            raise ModelError(f"{model.name}: the start time t is a number, not {t!r}")
        if tolerance is not None and not tolerance > 0:
            raise ModelError(f"{model.name}: the tolerance must be positive, not {tolerance!r}")
        if on_event and not events:
            raise ModelError(
                f"{model.name}: on_event answers events, which events=False leaves out"
            )
        columns = 14 * body_count(model)  # position, quaternion and velocity of each
        controlled = control is not None
        plan = Plan.make(
            self.integrator, duration, t, step, output, sample_time, controlled, columns
        )
        tolerance = plan.checked_tolerance(model.name, tolerance)
        q, v = _by_name(model, "q", q), _by_name(model, "v", v)
        limits = LoopedLimits(
            with_start(with_values(model, parameters)[0], q or {})[0], None, on_event, controlled
        )
        made = self._made(q, v, t, parameters, inputs, limits)
        model, motion, u, blocks = made.model, made.motion, made.u, made.motion.blocks
        if plan.adaptive:
            plan = replace(plan, stops=breaks(model, plan.start, plan.duration))
        ends = limits.places(blocks)
        answers = EventAnswers(blocks.name, blocks.events, on_event, ends, limits.ends)
        law = SampledLaw(_controlled(blocks), control).controller if controlled else None
        run = _Run(model, motion, plan, u, answers, watch, limits, law)
        x = np.concatenate([made.q, made.v])
        watched = events and len(blocks.events) > 0
        sampled: dict[str, Any] = {} if law is None else {"control": law.kernel, "nu": len(u)}
        if plan.integrator == "rk4" and not watched:
            problem = Problem(motion.step, len(x), len(u) + 1, nq=blocks.nq, **sampled)
            return run.go(problem, x, tolerance, progress, began)
        held = bool(len(blocks.rows))
        problem = Problem(
            motion.f,
            blocks.nq + blocks.nv,
            len(u),
            nq=blocks.nq,
            project_q=motion.project if held else None,
            q_iterations=1 if held else 0,
            events=motion.events if watched else None,
            directions=[BOTH] * len(blocks.events) if watched else (),
            **sampled,
        )
        return run.go(problem, x, tolerance, progress, began)

    def _made(
        self,
        q: Mapping[str, float] | None,
        v: Mapping[str, float] | None,
        t: float,
        parameters: Mapping[str, float] | None,
        inputs: Mapping[str, float] | Sequence[float] | None,
        limits: LoopedLimits,
    ) -> _Prepared:
        """The equations and the start of a run: those of the run before if it began alike."""
        given = [q, v, t, parameters, inputs]
        key = [dict(x) if isinstance(x, Mapping) else np.array(x).tolist() for x in given]
        key.append(sorted(limits.asked))
        if self._prepared is not None and self._prepared[0] == key:
            return self._prepared[1]
        model, parameters = with_values(self.model, parameters)
        blocks, guess, speed = first_state(model, q, v, t, parameters)
        u = named_values(blocks, "input", blocks.inputs, blocks.input_values, inputs)
        start = Follower(blocks, 1e-10).assembled(t, guess) if len(blocks.rows) else guess
        motion = None if speed is not None else LoopedMotion(blocks, start)
        if motion is not None:
            speed = first_velocity(model, blocks, start, t, v, parameters)
            _check_moving(motion, t, start, speed, u)
        assert speed is not None, "found here, or known"
        if limits.asked:
            # where it starts must not depend on what is looked at: the start is that without it
            plain, model, motion = blocks, limits.watching(model), None
            blocks = first_state(model, q, v, t, parameters)[0]
            start, speed = limits.started(plain, blocks, t, start, speed)
        made = _Prepared(model, motion or LoopedMotion(blocks, start), start, speed, u)
        self._prepared = key, made
        return made


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Equations of motion of a model, the position and velocity of a start, and the inputs."""

    model: Model
    motion: LoopedMotion
    q: Floats
    v: Floats
    u: Floats


def _controlled(blocks: ReferenceBlocks) -> Any:
    """What a controller sees of a large mechanism: states of all bodies, and inputs."""
    units, rates = coordinate_units(blocks)
    q = [Quantity(n, unit) for n, unit in zip(blocks.coordinate_names, units, strict=True)]
    v = [Quantity(n, unit) for n, unit in zip(blocks.velocity_names, rates, strict=True)]
    u = [Quantity(name) for name in blocks.inputs]
    read = partial(state_readings, blocks)
    return SimpleNamespace(name=blocks.name, q=q, v=v, u=u, p=(), readings=read)


def _check_moving(motion: LoopedMotion, t: float, q: Floats, v: Floats, u: Floats) -> None:
    """Refuse velocities with which no motion leaves a singular position.

    There Φ_v v' = γ(q, v) has no solution, see `closure.moving_velocity`.  Of rows that depend on
    others everywhere it has one; laws of time that contradict each other miss it at rest too, and
    are left to the run.

    Raises:
        SingularityError: There is none.
    """
    blocks = motion.blocks
    if not len(blocks.rows) or not v.any():
        return
    J, (row, column) = blocks.Phi_v(q, t), blocks.indices

    def missed(speed: Floats) -> tuple[Floats, float]:
        gamma = blocks.gamma(q, speed, t)
        terms = J * motion.accelerations(t, q, speed, u)[0][column]
        size = float(np.abs(gamma).max()) + float(np.abs(terms).max(initial=0.0))
        return np.bincount(row, terms, len(blocks.rows)) - gamma, size

    (moving, size), (resting, _) = missed(v), missed(np.zeros(len(v)))
    by_speed = np.minimum(np.abs(moving), np.abs(moving - resting))
    worst = int(np.argmax(by_speed))
    if not by_speed[worst] > _UNCURVED * size:
        return
    raise SingularityError(
        f"{blocks.name}: the start at t = {t:g} s is a singular position, in which "
        f"{blocks.rows[worst]} depends on the other constraints, and no motion goes through it "
        f"with the velocities given. Give rates of one motion to all joints of that loop, or start "
        f"a little away from it"
    )


def _by_name(model: Model, what: str, given: object) -> dict[str, float] | None:
    """Values by name, as numbers or texts with units.

    Raises:
        ModelError: They are given in another way.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ModelError(
            f"{model.name}: the looped engine takes {what} by name, such as "
            f'{{"{next(iter(model.bodies), "cell[0].crank")}.rx": 0.1}}'
        )
    return numbers(given)


class _Run:
    """One run: what it has stored so far, and its loop."""

    def __init__(
        self,
        model: Model,
        motion: LoopedMotion,
        plan: Plan,
        u: Floats,
        answers: EventAnswers,
        watch: str,
        limits: LoopedLimits,
        law: Controller | None,
    ) -> None:
        self.model, self.limits, self.law = model, limits, law
        #: What a controller held until each stored instant.
        self.inputs: list[Floats] = []
        self.motion, self.plan, self.u, self.answers = motion, plan, u, answers
        self.watch = watch
        self.times: list[Floats] = []
        self.states: list[Floats] = []
        #: How many numbers were stored at events.
        self.at_events = 0

    @property
    def watched(self) -> LoopedEvents:
        """The event functions under the inputs."""
        return LoopedEvents(self.motion, self.u)

    def go(
        self, problem: Problem, x: Floats, tolerance: float, progress: bool | None, began: float
    ) -> Results:
        plan, blocks = self.plan, self.motion.blocks
        self.tolerance = tolerance
        whole = not problem.ne and plan.integrator == "rk4"
        units, rates = coordinate_units(blocks)
        sizes = plan.sizes(x[: blocks.nq], x[blocks.nq :], units, rates)
        near = self._nearly_singular if 0 < len(blocks.rows) <= _EXAMINED else None
        self.motion.accelerations(plan.start, x[: blocks.nq], x[blocks.nq :], self.u)
        dependent, doubtful = self.motion.dependent_rows()
        self.dependent = dependent
        if self._moved:
            self.plan = plan = plan.looking(dependent > 0)
        stepper = plan.stepper(problem, tolerance, whole, near, sizes)
        length = np.array([plan.step] if whole else [], dtype=float)
        stepper.start(0.0, x, np.concatenate([self.u, length]), plan.times, plan.start)
        stepper.pause = 10
        self.times.append(np.array([plan.start]))
        self.states.append(x[None].copy())
        self.inputs.append(self.u[None])
        if self.answers.ends:
            values = self.watched.values(plan.start, x[: blocks.nq], x[blocks.nq :])
            self.answers.begin(values, plan.start)
        kinds = len(self.motion.fronts.kinds)
        unranked = self.motion.unranked(dependent)
        if unranked:
            self.answers.events.append(Event(plan.start, _UNRANKED.format(unranked)))
        if plan.step is not None:
            told = within_a_step(self.model, plan.start, plan.duration, plan.step)
            self.answers.events.extend(told)
        done, native, interrupted, fault, stopped = 0, 0.0, False, "", False
        prepared = time.perf_counter()
        with Progress(f"simulating {blocks.name}", plan.duration, progress) as bar:
            try:
                while done < len(plan.times) and not fault and not stopped:
                    tick = time.perf_counter()
                    found = stepper.advance(len(plan.times) - done)
                    spent = time.perf_counter() - tick
                    native += spent
                    if self.law is not None:
                        self.law.raise_failure()
                        self._held(found)
                    fault = self._take(done, found)
                    done += len(found.times)
                    fault = fault or self._fault(found.status, found.t, found.x)
                    if found.status == EVENT and not fault:
                        stopped = self._react(stepper, found)
                    elif spent < _CHUNK_SECONDS / 2:
                        stepper.pause = min(2 * stepper.pause, 10_000_000)
                    elif spent > 2 * _CHUNK_SECONDS:
                        stepper.pause = max(1, stepper.pause // 2)
                    bar.update(found.elapsed, self._so_far)
            except KeyboardInterrupt:
                interrupted = True
        spent_in_all = time.perf_counter() - began
        costs = stepper.counts() | {"time_integration": native, "time_total": spent_in_all}
        costs["more"] = {
            "preparation": f"{prepared - began:.3g} s",
            **rank_report(blocks.rows, dependent, doubtful),
            "kinds of groups": kinds,
            "elimination": "by kind of group" if kinds else "general sparse solver",
        }
        self.problem = replace(problem, events=None, directions=())
        results, wrong = self._results(costs, stepper.leaps, interrupted or bool(fault))
        if wrong is not None and wrong.wrong and not fault and self.watch == "error":
            results = results.between(results.t[0], wrong.time)
            raise SimulationError(f"{blocks.name}: {wrong.said}", results)
        if fault:
            fault = near_half_turn(self.model, results) or fault
        else:
            fault, until = half_turn(self.model, results)
            if not fault:
                fault, until = self._opened(results)
            results = results.between(results.t[0], until)
        if fault:
            until = min(self.answers.until, float(results.t[-1]))
            results = results.between(results.t[0], until)
            raise SimulationError(f"{blocks.name}: {fault}", results)
        return results

    @property
    def _moved(self) -> bool:
        """Whether laws of time move constraints."""
        read = (vector for block in self.motion.blocks.gaps for vector, _ in block.gather.values())
        return any(vector in ("t", "w") for vector in read)

    def _held(self, found: Progressed) -> None:
        """Note what the controller held at last, and what at first at the start."""
        if len(self.times) == 1 and len(found.first):
            self.inputs[0] = found.first
        if len(found.inputs):
            self.u = found.inputs[-1].copy()

    def _take(self, done: int, found: Progressed) -> str:
        """Store the output times among those that an integrator reached after so many instants.

        Returns a message about the first time at which a constraint that laws of time move does
        not hold, or an empty text; nothing is stored from there on.
        """
        plan, times, states = self.plan, found.times, found.states
        nq = self.motion.blocks.nq
        said, until = "", np.inf
        for t, x in found.landed if self._moved else ():
            said, until = self._open(t, x[:nq]), t
            if said:
                break
        keep = np.isfinite(states.sum(axis=1))
        if said:
            keep &= times < until
        if plan.stored is not None and len(times):
            stored = plan.stored[done : done + len(times)]
            missed = self.motion.misses(times, states, self.u)
            for k in np.flatnonzero(keep & ~stored & (missed > self._least)).tolist():
                opened = self._open(float(times[k]), states[k, :nq])
                if opened:
                    said = opened
                    keep[k:] = False
                    break
            keep &= stored
        self.times.append(times[keep])
        self.states.append(states[keep])
        held = np.repeat(self.u[None], len(times), 0) if self.law is None else found.inputs
        self.inputs.append(held[keep])
        return said

    @property
    def _least(self) -> float:
        """By less than this no constraint is missed."""
        blocks, q = self.motion.blocks, self.states[0][0, : self.motion.blocks.nq]
        return self._missed * float(self._row_sizes(q, blocks.Phi_v(q, self.plan.start)).min())

    def _react(self, stepper: Stepper, found: Progressed) -> bool:
        """Store the state at an event, and the one to go on with; whether to stop there."""
        q, v = np.split(found.x, [self.motion.blocks.nq])
        stop, states = self.answers.react(self.watched, found.t, q, v, found.fired)
        x = np.concatenate(states[-1]) if states else found.x
        kept = [found.x] if np.array_equal(x, found.x) else [found.x, x]
        if self.answers.passing(found.fired):
            kept = []
        if kept and self.at_events < _AT_EVENTS:
            self.times.append(np.full(len(kept), found.t))
            self.states.append(np.array(kept))
            self.inputs.append(np.repeat(self.u[None], len(kept), 0))
            self.at_events += len(kept) * len(x)
        if not stop:
            stepper.restart(x)
        return stop

    def _fault(self, status: int, t: float, x: Floats) -> str:
        """What to say if the run cannot go on; else nothing."""
        blocks = self.motion.blocks
        if np.isfinite(x).all() and not unbalanced(self.motion, t, x, self.u) <= _UNBALANCED:
            return (
                f"forces that depend on multipliers (friction) are not found at t = {t:.6g} s: the "
                f"rounds do not converge. Look whether the friction locks the mechanism, so that "
                f"there is no solution"
            )
        if status not in (EVENT, FINISHED) or not np.isfinite(x).all():
            return (
                f"the motion cannot be followed beyond t = {t:.6g} s: velocities or accelerations "
                f"grow without bound. Take smaller steps, or look for a singular position or a "
                f"force without limit near there; the results until then are in the attribute "
                f"results of this error"
            )
        beyond = ""
        if self.answers.awaits(t):
            beyond = self.answers.fallen(self.watched, t, *np.split(x, [blocks.nq]))
        return beyond or self._open(t, x[: blocks.nq])

    def _open(self, t: float, q: Floats) -> str:
        """What to say if a constraint does not hold in a position; else nothing."""
        blocks = self.motion.blocks
        if not len(blocks.rows):
            return ""
        Phi, J = blocks.position(q, t)
        misses = np.abs(Phi) / self._row_sizes(q, J)
        worst = int(np.argmax(misses))
        if not misses[worst] > self._missed:
            return ""
        said = f"{blocks.rows[worst]} is missed by {abs(Phi[worst]):.3g} at t = {t:.6g} s"
        conflict = "constraints contradict each other"
        if self._moved and not self.dependent:
            try:
                Follower(blocks, 1e-9).assembled(t, q)
            except AssemblyError:
                return f"{said}: the drives ask for a place that the mechanism cannot reach"
            conflict = ""
        elif self.motion.n + self.motion.m <= EXAMINED:
            # away from the constraints rows that contradict seem to be independent, but only just
            left = SparseRows(blocks).conflict(J, Phi)
            conflict = in_conflict(blocks.rows, left)
        what = "tolerance is too large" if self.plan.adaptive else "step is too long"
        conflict = f"{conflict}, or " if conflict else ""
        return f"{said}: {conflict}the {what} for them to be followed"

    def _nearly_singular(self, t: float, x: Floats) -> bool:
        """Whether constraints are about to become dependent in a state."""
        return bool(self._weakest(t, x[: self.motion.blocks.nq]))

    def _weakest(self, t: float, q: Floats) -> list[str]:
        """The joints whose rows nearly depend on each other, not those that do everywhere."""
        blocks, whole = self.motion.blocks, self._rows(t, q)
        for form in (whole, unit_rows(whole)[0]):
            U, s, _ = svd(form)
            weak = np.flatnonzero((s > 1e-9 * s[0]) & (s < SINGULAR * s[0]))
            if len(weak):
                lost = np.abs(U[:, weak[-1]])
                found = np.flatnonzero(lost > 0.1 * lost.max()).tolist()
                return joints_of([blocks.rows[i] for i in found])
        return []

    def _passed(self, motion: SimulatedMotion, k: int) -> str:
        """The joints that become dependent between two instants, or nothing."""
        if not 0 < len(motion.blocks.rows) <= _EXAMINED:
            return ""
        found = [self._weakest(float(motion.t[i]), motion.q[i]) for i in (k, k + 1)]
        if not any(found):
            return ""
        some = np.linspace(0, len(motion.t) - 1, 7).astype(int).tolist()
        near, usual = (
            [weakness(self._rows(float(motion.t[i]), motion.q[i])) for i in instants]
            for instants in ((k, k + 1), some)
        )
        return ", ".join(max(found, key=len)[:3]) if passes(near, usual) else ""

    def _rows(self, t: float, q: Floats) -> Floats:
        """The constraint rows as a matrix."""
        blocks = self.motion.blocks
        whole = np.zeros((len(blocks.rows), blocks.nv))
        rows, columns = blocks.indices
        np.add.at(whole, (rows, columns), blocks.Phi_v(q, t))
        return whole

    @property
    def _missed(self) -> float:
        """A constraint that misses by more of its size does not hold."""
        return max(_MISSED, 10 * self.tolerance) if self.plan.adaptive else _MISSED

    def _opened(self, results: Results) -> tuple[str, float]:
        """What to say of the first stored instant at which a constraint does not hold, and when."""
        blocks = self.motion.blocks
        if not len(blocks.rows):
            return "", float(results.t[-1])
        for k in np.flatnonzero(results["constraint error"] > self._least).tolist():
            said = self._open(float(results.t[k]), results.q[k])
            if said:
                return said, float(results.t[k])
        return "", float(results.t[-1])

    def _row_sizes(self, q: Floats, slopes: Floats) -> Floats:
        """What the constraints could be missed by: Σ |∂Φ/∂x| |x|, with an angle as large as 1."""
        far = displacements(q, *coordinate_units(self.motion.blocks))
        found = self._times(slopes, far)
        return np.where(found > 0.0, found, far.min())

    def _times(self, slopes: Floats, sizes: Floats) -> Floats:
        """Σ |∂Φ/∂x| |x| for sizes of displacements or velocities."""
        blocks = self.motion.blocks
        rows, columns = blocks.indices
        found = np.bincount(rows, np.abs(slopes) * sizes[columns], len(blocks.rows))
        return np.asarray(found, dtype=float)

    @np.errstate(over="ignore", invalid="ignore")
    def _judged(self, motion: SimulatedMotion, steps: int, leaps: int) -> Fault | None:
        """What is wrong with the energy of the run.

        Where forces do work, that is found at so many instants that it costs little.
        """
        rows = np.arange(len(motion.t))
        if not motion.alone:
            count = min(len(rows), max(_FEWEST, steps // _OFTEN))
            among = np.unique(np.linspace(0, len(rows) - 1, count).astype(np.intp))
            both = np.flatnonzero(np.diff(motion.t) <= 0)  # states that events have changed
            rows = np.unique([*among, *both, *(both + 1), *blows(self.model, motion.t)])
            motion = motion.at(rows)
        account = Account.glance(motion, sampled=self.law is not None)
        adaptive = self.plan.adaptive
        means = Means(
            self.tolerance if adaptive else 0.0,
            self.plan.step or 0.0,
            steps,
            leaps,
            partial(self._replayed, motion) if self.law is None else None,
            partial(self._fastest, motion),
            partial(self._cause, motion),
            partial(self._passed, motion),
        )
        return self._slipped(motion, steps, means) or energy_fault(account, motion, means)

    def _slipped(self, motion: SimulatedMotion, steps: int, means: Means) -> Fault | None:
        """What is wrong with the rates of the constraints, seen at some of the instants."""
        blocks = self.motion.blocks
        if not len(blocks.rows):
            return None
        # states that reactions to events gave are as good as their authors made them
        own = np.flatnonzero(np.diff(motion.t, prepend=-np.inf) > 0)
        count = min(len(own), max(_FEWEST, steps // _OFTEN))
        some = motion.at(own[np.unique(np.linspace(0, len(own) - 1, count).astype(np.intp))])
        states = list(zip(some.t.tolist(), some.q, some.v, strict=True))
        fast = speeds(some.q[0], some.v, *coordinate_units(blocks))
        seen = [states[k] for k in sorted({0, len(states) // 2, len(states) - 1})]
        sizes = np.max([self._times(blocks.Phi_v(q, t), fast) for t, q, _ in seen], axis=0)
        slips = np.array([blocks.dPhi(q, v, t) for t, q, v in states])
        largest = float(np.abs(some.v).max(initial=0.0))
        return slip_fault(blocks.rows, some.t, slips, sizes, largest, means)

    def _replayed(self, motion: SimulatedMotion, k: int, finer: int) -> SimulatedMotion | None:
        """The run once more from a stored instant to the next, seen closely."""
        t, end = float(motion.t[k]), float(motion.t[k + 1])
        if not end > t:
            return None
        part = closer(self.plan, t, end, finer, _SEEN)
        whole = self.problem.m > len(self.u)
        stepper = part.stepper(self.problem, self.tolerance, fused=whole)
        length = np.array([part.step] if whole else [], dtype=float)
        x = np.concatenate([motion.q[k], motion.v[k]])
        found = followed(stepper, t, x, np.concatenate([self.u, length]), part.times)
        return None if found is None else SimulatedMotion(self.motion, *found, self.u)

    def _closer(self, motion: SimulatedMotion, k: int) -> SimulatedMotion | None:
        """The same, where that is more than a step."""
        step, length = self.plan.step, float(motion.t[k + 1] - motion.t[k])
        if self.law is not None or (step is not None and length < 1.5 * step):
            return None
        return self._replayed(motion, k, 1)

    def _fastest(self, motion: SimulatedMotion, k: int) -> str:
        """The velocity that changes most between two instants."""
        j = int(np.argmax(np.abs(motion.v[k + 1] - motion.v[k])))
        return next(islice(self.motion.blocks.velocity_names, j, None))

    def _dependent(self, motion: SimulatedMotion, k: int) -> int:
        """How many constraints depend on others at an instant."""
        self.motion.accelerations(float(motion.t[k]), motion.q[k], motion.v[k], self.u)
        return self.motion.dependent_rows()[0]

    def _cause(self, motion: SimulatedMotion, k: int) -> str:
        """What may have made the motion wrong, and what to try."""
        blocks = self.motion.blocks
        advice = "a smaller tolerance" if self.plan.adaptive else "a shorter step"
        dependent = self._dependent(motion, k)
        if dependent:
            return (
                f"Likely cause: {dependent} constraints depend on the others, and the choice "
                f"among them failed. Take joints with more freedoms in their place (spherical or "
                f"cylindrical for revolute), engine='unrolled', or {advice}"
            )
        what = "a singular position, " if len(blocks.rows) else ""
        return f"Likely cause: {what}a stiff force, or a law that jumps. Try {advice}"

    def _results(
        self, costs: Mapping[str, Any], leaps: int, interrupted: bool
    ) -> tuple[Results, Fault | None]:
        """The results, and what is wrong with them."""
        plan = self.plan
        motion = SimulatedMotion(
            self.motion,
            np.concatenate(self.times),
            np.concatenate(self.states),
            np.concatenate(self.inputs),
        )
        errors = motion.constraint_errors()
        fault = self._judged(motion, int(costs.get("steps", 0)), leaps)
        closer = partial(self._closer, motion)
        events = [*self.answers.events, *self.limits.events(motion, self.answers.ends, closer)]
        if fault is not None:
            events.append(fault.event)
        events.sort(key=lambda event: event.time)
        energy, blocks = motion.monitored_energies(), motion.blocks
        found = statistics(
            costs,
            method="multipliers, reference point, looped",
            integrator=plan.name,
            time_simulated=float(motion.t[-1] - motion.t[0]),
            max_constraint_error=float(errors.max(initial=0.0)),
            events=len(events),
            energy_drift=relative_drift(
                motion.t,
                energy["kinetic energy"],
                energy["potential energy"],
                lambda: blocks.height_size(motion.q[0]),
            )
            if motion.alone
            else None,
        )
        monitors: dict[str, Floats | Callable[[], Floats]] = {
            "constraint error": errors,
            "velocity error": motion.velocity_errors,
            **energy,
        }
        units = {name: "J" for name in energy}
        groups = channel_groups(motion)
        scene = looped_scene(blocks, lambda: motion.q)
        return Results(
            blocks.name,
            motion.t,
            groups,
            monitors,
            units,
            found,
            scene,
            events,
            interrupted,
        ), fault

    @np.errstate(all="ignore")
    def _so_far(self, first: int) -> Results:
        """The results from a stored instant on, while the run goes on."""
        t, states, u = (rows_from(x, first) for x in (self.times, self.states, self.inputs))
        motion = SimulatedMotion(self.motion, t, states, u)
        groups = channel_groups(motion)
        events = self.answers.events
        return Results(motion.blocks.name, t, groups, events=events, interrupted=True)
