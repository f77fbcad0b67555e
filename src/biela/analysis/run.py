"""One run: its loop, what it stores, and how it answers events and interrupts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import consistent
from biela.analysis.closure import contradiction, displacements, speeds
from biela.analysis.control import Controller
from biela.analysis.divergence import explanation, fastest, half_turn, likely_cause, passed_singular
from biela.analysis.event_answers import EventAnswers, Reaction, SystemEvents
from biela.analysis.formulations import STEPPING, Formulation
from biela.analysis.hoisting import Hoisted
from biela.analysis.instant import Instant
from biela.analysis.law_changes import within_a_step
from biela.analysis.leading import LedState
from biela.analysis.limits import LimitEnd
from biela.analysis.partitioning import PartitionWatch
from biela.analysis.plan import Plan, closer
from biela.analysis.progress import Progress, rows_from
from biela.analysis.reach import drive_rows, drives_depend, out_of_reach
from biela.analysis.recording import Recording, not_numbers
from biela.analysis.solve_timing import time_of_solves
from biela.analysis.stepping import Progressed, Stepper, followed, statistics
from biela.analysis.watch import Account, Fault, Means, energy_fault, slip_fault
from biela.equations import System
from biela.errors import SimulationError
from biela.results import Results, RunStatistics
from biela.solvers.coordinate_basis import CoordinateBasis
from biela.solvers.integrators import EVENT, FINISHED, NOT_FINITE, STEP_TOO_SMALL

Floats = npt.NDArray[np.float64]

#: What formulations with a step of their own use.
_STEPS: Final = {"augmented3": "trapezoidal rule", "generalised_alpha": "generalised-α"}

#: Those whose constraints drift if they are not projected onto, which is then what is wanted.
_DRIFTING: Final = ("multipliers", "matrix_r", "null_space", "range_space")

#: Those whose multipliers are approximate: the work of constraints that move is not known.
_APPROXIMATE: Final = ("penalty", "augmented", "augmented3")

#: Steps after which independent coordinates are looked at, at the least.
_OFTEN: Final = 2
#: Ends of an integration that another choice of them may lead beyond.
_NO_FURTHER: Final = (NOT_FINITE, STEP_TOO_SMALL)

#: Native calls are about this long, so that an interrupt is answered soon.
_CHUNK_SECONDS: Final = 0.1
#: A constraint that misses by more of what it could be missed by does not hold.
_MISSED: Final = 1e-5
#: Instants at which an interval is seen that is run once more.
_SEEN: Final = 200


@dataclass(frozen=True)
class Kernels:
    """A formulation, and its kernels with the constants of a run taken out.

    ``whole_step`` says that f is the map of a whole step, whose length is an entry of p;
    ``project`` that stored states have velocities still to be projected.  ``bound`` are kernels
    with memory of their own, which take no constants.  ``watched`` counts the event functions.
    """

    formulation: Formulation
    hoisted: Hoisted
    whole_step: bool = False
    project: bool = False
    bound: Mapping[str, Any] = field(default_factory=dict)
    watched: int = 0


@dataclass(frozen=True)
class OtherChoices:
    """How a run finds other independent velocities where its own have become a bad choice.

    ``ask`` gives other kernels and their integrator for a time and position, or nothing; ``watch``
    tells how things stand.
    """

    ask: Callable[[float, Floats, Kernels], tuple[Kernels, Stepper] | None]
    watch: PartitionWatch


#: Gives kernels and a fresh integrator for a time, a position, a choice of independent velocities
#: and a plan.
Again = Callable[[float, Floats, CoordinateBasis | None, Plan], tuple[Kernels, Stepper]]


class Run:
    """One run: what it has stored so far, and its loop."""

    def __init__(
        self,
        system: System,
        kernels: Kernels,
        stepper: Stepper,
        law: Controller | None,
        reactions: Mapping[str, Reaction | str],
        plan: Plan,
        p: Floats,
        u: Floats,
        other: OtherChoices | None = None,
        timers: bool = False,
        again: Again | None = None,
        watch: str = "error",
        tolerance: float = 0.0,
        watched: Sequence[LimitEnd] = (),
        ends: Sequence[LimitEnd] = (),
    ) -> None:
        self.system, self.kernels, self.stepper = system, kernels, stepper
        self.law, self.plan = law, plan
        self.answers = EventAnswers(system.name, system.events, reactions, watched, ends)
        self.p, self.u, self.other = p, u, other
        self.closed: list[dict[str, Floats]] = []
        self.costs: dict[str, Any] = {}
        self.times: list[Floats] = []
        self.states: list[Floats] = []
        self.inputs: list[Floats] = []
        #: Times when other independent velocities were chosen, and the choices of the parts closed.
        self.changes: list[float] = []
        self.choices: list[tuple[int, CoordinateBasis | None]] = []
        self.timers = timers
        self.again, self.watch, self.tolerance = again, watch, tolerance
        self._sizes = np.zeros(0)
        #: Whether laws of time move constraints, and whether each of them moves something else.
        self._moved, self._independent = False, True
        #: Position, velocity and acceleration of a start in a singular position.
        self._began: tuple[Floats, Floats, Floats] | None = None

    def go(
        self,
        q: Floats,
        v: Floats,
        progress: bool | None,
        began: float,
        prepared: float,
        led: LedState | None = None,
    ) -> Results:
        """Run from a consistent start to the end, to an event that stops it, or an interrupt.

        A motion out of a singular position is integrated from the state that it was ``led`` to.

        Raises:
            SimulationError: The integrator cannot go on.
        """
        plan = self.plan
        self._elapsed = 0.0
        x = self._start(plan.start, q, v, self.u, plan.times)
        self._now = (plan.start, x)
        if self.system.geometric:
            rows = np.atleast_2d(self.system.evaluate("Phi_v", q, t=plan.start, u=self.u, p=self.p))
            self._sizes = self._row_sizes(q, rows)
            self._moved = self.kernels.formulation.unrolled.needs("Phi", "t")
            if self._moved:
                drives = drive_rows(Instant(self.system, plan.start, self.u, self.p), q)
                self._independent = not drives_depend(rows[: self.system.geometric], drives)
        self._store(np.array([plan.start]), x[None], self.u[None])
        if plan.step is not None and self.system.begins is not None:
            model = self.system.begins.model
            known = {e.name: float(x) for e, x in zip(self.system.p, self.p, strict=True)}
            told = within_a_step(model, plan.start, plan.duration, plan.step, known)
            self.answers.events.extend(told)
        self.answers.begin(self._events(self.u).values(plan.start, q, v), plan.start)
        interrupted, status, stopped = False, FINISHED, False
        done, native, violated = 0, 0.0, ""
        if led is not None:
            self._elapsed, self._began = led.t - plan.start, (q, v, led.a)
            # of a fixed step it is the end of the first, which may be an output
            done = int((plan.times <= self._elapsed * (1 + 1e-9)).sum())
            x = self._start(led.t, led.q, led.v, self.u, plan.times[done:])
            self._now = (led.t, x)
            if done and (plan.stored is None or plan.stored[0]):
                self._store(plan.start + plan.times[:1], x[None], self.u[None])
        with Progress(f"simulating {self.system.name}", plan.duration, progress) as bar:
            try:
                while done < len(plan.times) and not stopped:
                    tick = time.perf_counter()
                    found = self.stepper.advance(len(plan.times) - done)
                    spent = time.perf_counter() - tick
                    native += spent
                    if len(self.times) == 1 and self.law is not None and len(found.first):
                        # at the start, what the first sample of the controller gave
                        self.inputs[0] = found.first
                    violated = self._take(done, found)
                    self._now, self._elapsed = (found.t, found.x), found.elapsed
                    done += len(found.times)
                    if self.law is not None:
                        self.law.raise_failure()
                    status = found.status
                    if violated:
                        break
                    if status in _NO_FURTHER and self._went_on(plan.times[done:]):
                        status = FINISHED
                        continue
                    violated = self._violated() or self._fallen()
                    if violated or status not in (EVENT, FINISHED):
                        break
                    if status == EVENT:
                        stopped = self._react(found.t, found.x, found.fired)
                        status = FINISHED
                    elif self.other is not None and done < len(plan.times):
                        self._change(plan.times[done:])
                    elif spent < _CHUNK_SECONDS / 2:
                        self.stepper.pause = min(2 * self.stepper.pause, 10_000_000)
                    elif spent > 2 * _CHUNK_SECONDS:
                        self.stepper.pause = max(1, self.stepper.pause // 2)
                    bar.update(found.elapsed, self._so_far)
            except KeyboardInterrupt:
                interrupted = True
                t, x = self._now
                if t > self.times[-1][-1]:
                    self._store(np.array([t]), x[None].copy(), self.inputs[-1][-1:])
        results, fault = self._results(began, prepared, native, interrupted)
        if not violated:
            violated, until = self._contradicted(results)
            if violated:
                results = results.between(results.t[0], until)
        if not violated and self.system.begins is not None:
            violated, until = half_turn(self.system.begins.model, results)
            if violated:
                results = results.between(results.t[0], until)
        if violated:
            first, until = self._contradicted(results)
            if first:  # it was so before somebody looked
                violated, results = first, results.between(results.t[0], until)
            results = results.between(results.t[0], min(self.answers.until, float(results.t[-1])))
            raise SimulationError(f"{self.system.name}: {violated}", results)
        if status != FINISHED:
            said = explanation(
                self.system, status, results, self.p, plan.step, str(plan.integrator)
            )
            if fault is not None and fault.wrong:  # it was wrong before it stopped
                results = results.between(results.t[0], fault.time)
            raise SimulationError(said, results)
        if fault is not None and fault.wrong and self.watch == "error":
            results = results.between(results.t[0], fault.time)
            raise SimulationError(f"{self.system.name}: {fault.said}", results)
        return results

    def _start(self, t: float, q: Floats, v: Floats, u: Floats, times: Floats) -> Floats:
        """Set the integrator at a position and velocity; return the state."""
        x = self.kernels.formulation.state(t, q, v, np.concatenate([self.p, u]))
        length = np.array([self.plan.step] if self.kernels.whole_step else [], dtype=float)
        inputs = self.kernels.hoisted.complete(np.concatenate([self.p, u, length]))
        made = self.kernels.formulation
        if made.projected is not None:
            made.projected.reset()
        if self.other is not None and made.basis is not None:
            self.other.watch.begin(t, q, made.basis)
            self.stepper.pause = self._often
        self.stepper.start(self._elapsed, x, inputs, times, self.plan.start)
        return x

    def _count(self) -> None:
        """Add up what the present kernels and integrator cost."""
        made, found = self.kernels.formulation, dict(self.stepper.counts())
        if made.projected is not None:
            inside = made.projected.counts
            found |= {"solved": inside["solved"], "factorisations": inside["factorisations"]}
            found["iterations"] = found.get("iterations", 0) + inside["iterations"]
        for name, value in found.items():
            self.costs[name] = self.costs.get(name, 0) + value

    @property
    def _often(self) -> int:
        """Steps until independent coordinates are looked at: a dead point comes within a few."""
        assert self.other is not None, "looked at where there are other choices"
        if self.other.watch.urgent:
            return 1
        return _OFTEN if self.plan.adaptive else 5 * _OFTEN

    def _change(self, times: Floats) -> bool:
        """Go on with other independent coordinates, where these have become a bad choice.

        Whether that was so; if not, they are looked at again the later the better they are.
        """
        (t, x), u = self._now, self._held()
        sampled = self.plan.sample_time or 0.0
        if self.other is None or not len(times) or not np.isfinite(x).all():
            return False
        if self.law is not None and abs(self._elapsed / sampled % 1.0) > 1e-9:
            return False  # the samples of the controller count from the start
        made = self.kernels.formulation
        q, v = made.read.walk([t], x, np.concatenate([self.p, u]))[:2]
        found = self.other.ask(t, q, self.kernels)
        if found is None:
            longer = int(self.other.watch.pace * self.stepper.pause)
            self.stepper.pause = min(max(longer, self._often), 32 * self._often)
            return False
        self._close()
        self._count()
        self.changes.append(t)
        before, so_far = made.basis, self.stepper
        self.kernels, self.stepper = found
        self.stepper.leaps, self.stepper.mean = so_far.leaps, so_far.mean
        after = self.kernels.formulation.basis
        if before is not None and after is not None and after.rank > before.rank:
            # what was redundant in a singular position was not looked after until now
            q, v = consistent(self.system, q, v, t, u, self.p)
        self._start(t, q, v, u, times)
        return True

    def _went_on(self, times: Floats) -> bool:
        """Whether a run that came no further goes on, with other independent coordinates or not.

        It had been told to stop where pivots become small.  If no other choice is better there,
        the constraints themselves become dependent: then it goes on as it is.
        """
        projected = self.kernels.formulation.projected
        stopped = projected is not None and projected.limit > 0.0
        if self._change(times):
            return True
        if projected is None or not stopped or projected.limit > 0.0:
            return False
        self.stepper.restart(self._now[1])
        return True

    def _close(self) -> None:
        """Read what was stored, before the state changes its meaning."""
        if not self.times:
            return
        part, states = self._read(0)
        self.closed.append(part)
        t, u = part["t"], part["u"]
        self._sample = t, states, np.concatenate([np.repeat(self.p[None], len(t), 0), u], axis=1)
        self.choices.append((len(t), self.kernels.formulation.basis))
        self.times, self.states, self.inputs = [], [], []

    def _read(self, first: int) -> tuple[dict[str, Floats], Floats]:
        """What stored states that are not closed mean, from one of them on, and the states."""
        t, states, u = (rows_from(x, first) for x in (self.times, self.states, self.inputs))
        states = self._projected(self.kernels, t, states, u)
        read = self.kernels.formulation.read
        recording = Recording(self.system, read, t, states, self.p, u)
        readings = recording.readings()
        if "lam" in readings:
            readings["lam"] = recording.smallest_multipliers()
        if not self.closed and not first and self._began is not None:
            # coordinates chosen beside a singular start do not read it
            for name, part in zip("qva", self._began, strict=True):
                readings[name][0] = part
            if "lam" in readings:
                readings["lam"][0] = self._first_multipliers(t[0], u[0])
        return {"t": t, "u": u, **readings}, states

    @np.errstate(all="ignore")
    def _so_far(self, first: int) -> Results:
        """The results from a stored instant on, while the run goes on."""
        closed = sum(len(part["t"]) for part in self.closed)
        parts = list(self.closed)
        if self.times:
            parts.append(self._read(max(first - closed, 0))[0])
        read = {
            name: rows_from([part[name] for part in parts], min(first, closed)) for name in parts[0]
        }
        t, held = read.pop("t"), read.pop("u")
        recording = Recording(self.system, read, t, np.zeros((len(t), 0)), self.p, held)
        events, known = self.answers.events, self.answers.ends
        return recording.results(RunStatistics(), events, True, known=known)

    def _first_multipliers(self, t: float, u: Floats) -> Floats:
        """The smallest multipliers at a start in a singular position: Φ_vᵀ λ = Q - M v'."""
        assert self._began is not None, "asked where there is one"
        system, (q, v, a) = self.system, self._began
        given: dict[str, Any] = {"t": float(t), "u": u, "p": self.p}
        lam = np.zeros(len(system.multipliers))
        force = system.evaluate("Q", q, v, lam=lam, **given) - system.evaluate("M", q, **given) @ a
        rows = np.atleast_2d(system.evaluate("Phi_v", q, **given))
        return np.asarray(np.linalg.lstsq(rows.T, force, rcond=1e-9)[0])

    def _violated(self) -> str:
        """What to say if a constraint does not hold although it is projected onto; else nothing."""
        made = self.kernels.formulation
        if not self._closes:
            return self._unloaded()
        (t, x), u = self._now, self._held()
        q = np.asarray(made.read.walk([t], x, np.concatenate([self.p, u]))[0])
        return self._open(t, q, u) or self._unloaded()

    @property
    def _closes(self) -> bool:
        """Whether all constraints hold at the end of each step."""
        made = self.kernels.formulation
        drifts = made.drifts and made.name in _DRIFTING
        return not drifts and not made.threshold > 0 and bool(self.system.geometric)

    def _contradicted(self, results: Results) -> tuple[str, float]:
        """What to say of the first stored instant at which a constraint does not hold, and when.

        The rows that depend on others are not solved for: drivers that contradict each other may
        agree again at the end.
        """
        worst = results.statistics.max_constraint_error if results.statistics else None
        drifts = self.kernels.formulation.drifts
        least = self._missed * float(self._sizes.min(initial=1.0))
        if drifts or not self._closes or not (worst or 0.0) > least:
            return "", float(results.t[-1])
        inputs = np.concatenate([part["u"] for part in self.closed])
        for k in np.flatnonzero(results["constraint error"] > least).tolist():
            said = self._open(float(results.t[k]), results.q[k], inputs[k])
            if said and k == 0:
                break  # a start that was not to be assembled
            if said:
                return said, float(results.t[k])
        return "", float(results.t[-1])

    def _open(self, t: float, q: Floats, u: Floats) -> str:
        """What to say if a constraint does not hold at an instant; else nothing."""
        system = self.system
        missed = np.atleast_1d(system.evaluate("Phi", q, t=t, u=u, p=self.p))
        limit = 1e-2 if self.kernels.formulation.drifts else self._missed
        if np.abs(missed).max() <= limit * self._sizes.min():
            return ""
        rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t, u=u, p=self.p))
        sizes = np.maximum(self._sizes, self._row_sizes(q, rows))
        misses = np.abs(missed) / np.minimum(sizes, max(1.0, float(np.abs(q).max())))
        worst = int(np.argmax(misses))
        if not misses[worst] > limit:
            return ""
        what, advice = ("tolerance", "large") if self.plan.adaptive else ("step", "long")
        reason = f"the {what} is too {advice} for the constraints to be followed; try a smaller one"
        if self._moved and self._independent:
            reason = out_of_reach(Instant(system, t, u, self.p), q, 1e-9) or reason
        else:
            reason = contradiction(system.multipliers, rows[: system.geometric], missed) or reason
        return (
            f"constraint {system.multipliers[worst]} is missed by {abs(missed[worst]):.3g} at "
            f"t = {t:.6g} s: {reason}"
        )

    def _row_sizes(self, q: Floats, rows: Floats) -> Floats:
        """What the geometric constraints could be missed by: Σ |∂Φ/∂x| |x|."""
        far = displacements(q, *self._units)
        sizes: Floats = np.abs(rows[: self.system.geometric]) @ far
        return np.where(sizes > 0.0, sizes, 1.0)

    @property
    def _missed(self) -> float:
        """A constraint that misses by more of what it could be missed by does not hold."""
        return max(_MISSED, 10 * self.tolerance) if self.plan.adaptive else _MISSED

    @property
    def _units(self) -> tuple[list[str], list[str]]:
        """Units of coordinates and of velocities."""
        system = self.system
        return [entry.unit for entry in system.q], [entry.unit for entry in system.v]

    def _held(self) -> Floats:
        """The inputs at the last stored instant."""
        rows = self.inputs[-1] if self.inputs else self.closed[-1]["u"] if self.closed else None
        last: Floats = self.u if rows is None else rows[-1]
        return last

    def _unloaded(self) -> str:
        """What to say if forces that depend on multipliers were not found; else nothing."""
        made, system = self.kernels.formulation, self.system
        if not (system.multipliers and made.unrolled.needs("Q", "lam")):
            return ""
        (t, x), u = self._now, self._held()
        q, v, a, lam = made.read.walk([t], x, np.concatenate([self.p, u]))
        given: dict[str, Any] = {"t": t, "u": u, "p": self.p}
        Q = np.asarray(system.evaluate("Q", q, v, lam=lam, **given))
        inertia = system.evaluate("M", q, **given) @ a
        reaction = np.atleast_2d(system.evaluate("Phi_v", q, **given)).T @ lam
        scale = np.abs(Q).max() + np.abs(reaction).max() + np.abs(inertia).max()
        if not np.abs(inertia + reaction - Q).max() > 1e-4 * scale:
            return ""
        return (
            f"forces that depend on multipliers (friction) are not found at t = {t:.6g} s: the "
            f"rounds do not converge. Use Options(friction_rounds=200), or look whether the "
            f"friction locks the mechanism, so that there is no solution"
        )

    def _fallen(self) -> str:
        """What to say if a state stays beyond an event that should have thrown it back."""
        (t, x), u = self._now, self._held()
        if not self.times or not self.answers.awaits(t):
            return ""
        q, v = self.kernels.formulation.read.walk([t], x, np.concatenate([self.p, u]))[:2]
        return self.answers.fallen(self._events(u), t, q, v)

    def _take(self, done: int, found: Progressed) -> str:
        """Store the output times among those that an integrator reached after so many instants.

        Returns a message about the first time at which a constraint that laws of time move does
        not hold, or an empty text; nothing is stored from there on.
        """
        times, states, inputs = found.times, found.states, found.inputs
        said, until = self._missed_landing(found)
        if self.plan.stored is None or not len(times):
            kept = times < until
            self._store(times[kept], states[kept], inputs[kept])
            return said
        stored = self.plan.stored[done : done + len(times)]
        held = inputs if self.law is not None else np.repeat(self.u[None], len(times), 0)
        q = self._positions(times, states, held)
        rest = np.zeros((len(times), len(self.system.v)))
        placed = Recording(self.system, {"q": q, "v": rest, "a": rest}, times, states, self.p, held)
        missed = np.abs(placed.gaps())
        least = self._missed * float(self._sizes.min(initial=1.0))
        doubtful = ~(missed.max(axis=1) <= least) & ~stored & (times < until)
        for k in np.flatnonzero(doubtful).tolist():
            opened = self._open(float(times[k]), q[k], held[k])
            if opened:
                said, until = opened, float(times[k])
                break
        kept = stored & (times < until)
        self._store(times[kept], states[kept], inputs[kept])
        return said

    def _missed_landing(self, found: Progressed) -> tuple[str, float]:
        """Return a message, and the time, if a leap across a singular position leaves constraints.

        Without drives a mechanism is led back to its constraints by the steps that follow.
        """
        made = self.kernels.formulation
        for t, x in found.landed if self._closes and self._moved else ():
            q = np.asarray(made.read.walk([t], x, np.concatenate([self.p, self.u]))[0])
            said = self._open(t, q, self.u)
            if said:
                return said, t
        return "", np.inf

    def _positions(self, times: Floats, states: Floats, held: Floats) -> Floats:
        """The coordinates in some states."""
        made, count = self.kernels.formulation, len(self.system.q)
        if made.size == count + len(self.system.v):
            return states[:, :count]
        p = np.concatenate([np.repeat(self.p[None], len(times), 0), held], axis=1)
        found: Floats = made.read.walk_map(times[:, None], states, p)[0]
        return found

    def _store(self, times: Floats, states: Floats, inputs: Floats) -> None:
        if not len(times):
            return
        if self.law is None:
            inputs = np.repeat(self.u[None], len(times), 0)
        self.times.append(times)
        self.states.append(states)
        self.inputs.append(inputs)

    def _projected(self, kernels: Kernels, t: Floats, states: Floats, held: Floats) -> Floats:
        """Stored states of a fused step, with their velocities projected."""
        kernel = kernels.formulation.project_v
        if not kernels.project or kernel is None:
            return states
        p = np.concatenate([np.repeat(self.p[None], len(t), 0), held], axis=1)
        found: Floats = kernel.map(t[:, None], states, p)[:, :-1]
        return found

    def _react(self, t: float, x: Floats, fired: npt.NDArray[np.int64]) -> bool:
        """Store the state at an event, and those to go on with; whether to stop there."""
        made, held = self.kernels.formulation, self.inputs[-1][-1:]
        if not self.answers.passing(fired):
            self._store(np.array([t]), x[None].copy(), held)
        given = np.concatenate([self.p, held[0]])
        q, v = made.read.walk([t], x, given)[:2]
        stop, states = self.answers.react(self._events(held[0]), t, q, v, fired)
        for q, v in states:
            x = made.state(t, q, v, given)
            self._store(np.array([t]), x[None], held)
        if not stop:
            self.stepper.restart(x)
        return stop

    def _events(self, u: Floats) -> SystemEvents:
        """The event functions under given inputs."""
        return SystemEvents(self.system, u, self.p, ends=self.answers.ends)

    def _results(
        self, began: float, prepared: float, native: float, interrupted: bool
    ) -> tuple[Results, Fault | None]:
        """The results, and what is wrong with them."""
        self._close()
        read = {
            name: np.concatenate([part[name] for part in self.closed]) for name in self.closed[0]
        }
        t, held = read.pop("t"), read.pop("u")
        made = self.kernels.formulation
        recording = Recording(self.system, read, t, np.zeros((len(t), 0)), self.p, held)
        self._count()
        account, fault = self._judged(recording)
        events = self.answers.events
        if fault is not None:
            events = sorted([*events, fault.event], key=lambda event: event.time)
        counted = statistics(
            self.costs,
            method=made.name,
            integrator=_STEPS.get(made.name, self.plan.name),
            time_solves=self._time_of_solves(native),
            events=len(events),
            time_simulated=float(t[-1] - t[0]),
            time_integration=native,
            time_total=time.perf_counter() - began,
            max_constraint_error=recording.constraint_error(),
            energy_drift=recording.energy_drift(account),
            more=self._more(prepared - began),
        )
        more = {}
        if any(basis is not None for _, basis in self.choices):
            more["partition condition"] = (partial(recording.conditions, self.choices), "")
        known, closer = self.answers.ends, partial(self._closer, recording)
        return recording.results(counted, events, interrupted, more, known, closer), fault

    # ------------------------------------------------------------------- watch

    @np.errstate(over="ignore", invalid="ignore")
    def _judged(self, recording: Recording) -> tuple[Account | None, Fault | None]:
        """The energy account of the run, where it has one, and what is wrong with it."""
        system = self.system
        means = Means(
            self.tolerance if self.plan.adaptive else 0.0,
            self.plan.step or 0.0,
            self.costs.get("steps", 0),
            self.stepper.leaps,
            partial(self._replayed, recording) if self.law is None else None,
            partial(fastest, system, recording),
            partial(likely_cause, system, recording, self.p, self.plan.adaptive),
            partial(passed_singular, system, recording, self.p),
        )
        lost = not_numbers(system, recording)
        if lost is not None:
            return None, lost
        slipped = self._slipped(recording, means)
        if "energy" not in system:
            return None, slipped
        account = Account.glance(recording, sampled=self.law is not None)
        approximate = self.kernels.formulation.name in _APPROXIMATE and system.multipliers
        if approximate and recording.moving().any():
            return account, slipped
        return account, slipped or energy_fault(account, recording, means)

    def _slipped(self, recording: Recording, means: Means) -> Fault | None:
        """What is wrong with the rates of constraints, dropped ones included, if projected onto."""
        made, system = self.kernels.formulation, self.system
        if made.drifts or made.threshold > 0 or made.project_v is None or not system.multipliers:
            return None
        found, inputs = recording.readings(), recording.inputs
        q, v, t = found["q"], found["v"], recording.t
        fast = speeds(q[0], v, *self._units)
        seen = np.unique([0, len(t) // 2, len(t) - 1])
        rows = [system.evaluate("Phi_v", q[k], t=float(t[k]), u=inputs[k], p=self.p) for k in seen]
        sizes = np.max([np.abs(np.atleast_2d(one)) @ fast for one in rows], axis=0)
        largest = float(np.abs(v).max(initial=0.0))
        return slip_fault(system.multipliers, t, recording.slips(), sizes, largest, means)

    def _closer(self, recording: Recording, k: int) -> Recording | None:
        """The run once more from a stored instant to the next, where that is more than a step."""
        step, length = self.plan.step, float(recording.t[k + 1] - recording.t[k])
        if self.law is not None or (step is not None and length < 1.5 * step):
            return None
        return self._replayed(recording, k, 1)

    def _replayed(self, recording: Recording, k: int, finer: int) -> Recording | None:
        """The run once more from a stored instant to the next, seen closely."""
        plan, found = self.plan, recording.readings()
        t, end = float(recording.t[k]), float(recording.t[k + 1])
        u, q, v = recording.inputs[k], found["q"][k], found["v"][k]
        if self.again is None or not end > t or any(t <= at <= end for at in self.changes):
            return None
        part = closer(plan, t, end, finer, _SEEN)
        used = np.cumsum([count for count, _ in self.choices])
        basis = self.choices[int(np.searchsorted(used, k, side="right"))][1]
        kernels, stepper = self.again(t, q, basis, part)
        made = kernels.formulation
        x = made.state(t, q, v, np.concatenate([self.p, u]))
        length = np.array([part.step] if kernels.whole_step else [], dtype=float)
        if made.projected is not None:
            made.projected.reset()
        inputs = kernels.hoisted.complete(np.concatenate([self.p, u, length]))
        run = followed(stepper, t, x, inputs, part.times)
        if run is None:
            return None
        instants, held = run[0], np.repeat(u[None], len(run[0]), 0)
        rows = self._projected(kernels, instants, run[1], held)
        return Recording(self.system, made.read, instants, rows, self.p, held)

    def _more(self, prepared: float) -> dict[str, int | float | str]:
        """Figures that only some runs have."""
        found: dict[str, int | float | str] = {"time to prepare, s": prepared}
        if "solved" in self.costs:
            found["systems with the Jacobian solved"] = self.costs["solved"]
        if self.other is not None:
            found["changes of independent coordinates"] = len(self.changes)
        if self.changes:
            found["the last of them at, s"] = self.changes[-1]
        return found

    def _time_of_solves(self, native: float) -> float | None:
        """Time in linear algebra, measured on the states of the last part of the run."""
        made, evaluations = self.kernels.formulation, self.costs.get("evaluations", 0)
        if made.name in STEPPING or not (self.timers or made.projected is not None):
            return None
        return float(min(native, evaluations * time_of_solves(made, *self._sample)))
