"""Forward dynamics by the unrolled engine: the equations are one piece of straight-line code.

The equations are turned into kernels once (`formulations`), then a native loop runs them from one
output time to the next; Python only looks in between, for the progress bar, an interrupt or an
event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.alpha import AlphaStepper, alpha_kernels
from biela.analysis.control import Controller, controller
from biela.analysis.event_answers import Reaction
from biela.analysis.formulations import (
    FORMULATIONS,
    PARTITIONED,
    PENALISED,
    PROJECTED,
    REDUCED,
    STEPPING,
    Formulation,
    Options,
    formulate,
)
from biela.analysis.formulations.default_choice import default_formulation
from biela.analysis.formulations.option_use import check_options
from biela.analysis.formulations.penalty import moved_masses
from biela.analysis.formulations.projected import ProjectedEquations
from biela.analysis.formulations.saddle import ordered, stiffening
from biela.analysis.fused import FUSED, LONG_RUN, fused_step, worth_fusing
from biela.analysis.hoisting import Hoisted, hoisted
from biela.analysis.instant import independent
from biela.analysis.law_changes import breaks
from biela.analysis.limits import LimitEnd, asked_ends, limit_ends
from biela.analysis.one_start import start_state
from biela.analysis.partitioning import PartitionWatch, independent_basis
from biela.analysis.plan import Plan
from biela.analysis.preparation import (
    Values,
    check_masses,
    number,
    values,
)
from biela.analysis.run import Kernels, OtherChoices, Run
from biela.analysis.stepping import Stepper
from biela.analysis.unrolled import Unrolled
from biela.analysis.watch import check_watch
from biela.code import Function
from biela.code.routines import Routine
from biela.equations import System
from biela.equations.elimination import Stiffening
from biela.errors import ModelError
from biela.results import Results
from biela.solvers.coordinate_basis import CoordinateBasis
from biela.solvers.integrators import BOTH, METHODS, Problem
from biela.solvers.integrators.variable_step import ADAPTIVE_METHODS

Floats = npt.NDArray[np.float64]


#: Methods that update positions and velocities in different ways.
SPLIT_METHODS = ("semi_implicit_euler", "second_order_euler", "nystrom")
#: Those of them for q' = v only.
SECOND_ORDER_METHODS = ("second_order_euler", "nystrom")


class UnrolledSimulator:
    """A system prepared for simulations by the unrolled engine; `biela.Simulator` makes it.

    Args:
        system: What moves.
        formulation: One of `FORMULATIONS`; None takes "multipliers", or "velocity_projection" of
            index 3 where those would take long to compile.  The statistics of a run name it.
        integrator: A fixed-step method ("rk4", "explicit_euler", …), an adaptive one
            ("dormand_prince", "adams", "radau" for stiff systems), or a routine of your own with
            the signature ``step(n, m, h, t, x, p, f, work)``.  Without it, "rk4" if a step is
            given, else "dormand_prince".
        options: Choices of the formulation; one that it does not use is refused.

    Raises:
        ModelError: A name is unknown, or the model cannot be simulated.
    """

    def __init__(
        self,
        system: System,
        formulation: str | None = None,
        integrator: str | Routine[..., Any] | None = None,
        options: Options | None = None,
    ) -> None:
        self.system = system
        if "V" in self.system:
            raise ModelError(
                f"{self.system.name} has joint unknowns; a simulation takes the multipliers of its "
                f"constraints instead: leave the unknowns out of the wrenches"
            )
        if formulation is not None and formulation not in FORMULATIONS:
            known = ", ".join(FORMULATIONS)
            raise ModelError(f"formulation {formulation!r} is not known; these are: {known}")
        if isinstance(integrator, str) and integrator not in (*METHODS, *ADAPTIVE_METHODS):
            known = ", ".join((*METHODS, *ADAPTIVE_METHODS))
            raise ModelError(f"integrator {integrator!r} is not known; these are: {known}")
        if formulation is None:
            formulation, options = default_formulation(
                self.system, options, integrator, SPLIT_METHODS
            )
        check_options(self.system.name, formulation, options)
        if formulation in REDUCED and integrator in SPLIT_METHODS:
            raise ModelError(
                f"{self.system.name}: integrator {integrator!r} treats positions and velocities "
                f"apart, which formulation {formulation!r} does not have in its state"
            )
        if integrator in SECOND_ORDER_METHODS and len(self.system.q) != len(self.system.v):
            raise ModelError(
                f"{self.system.name}: integrator {integrator!r} is for as many coordinates "
                f"as velocities, not for {len(self.system.q)} and {len(self.system.v)}; use "
                f"'semi_implicit_euler' or 'rk4'"
            )
        self.formulation, self.integrator = formulation, integrator
        self.options = options or Options()
        self._kernels: dict[tuple[Any, ...], Kernels] = {}
        self._equations: dict[tuple[LimitEnd, ...], ProjectedEquations] = {}
        #: How many constraints are independent, where independent velocities are chosen.
        self._rank: int | None = None

    def run(
        self,
        duration: float,
        *,
        q: Values = None,
        v: Values = None,
        t: float = 0.0,
        step: float | None = None,
        output: float | None = None,
        tolerance: float | None = None,
        parameters: Values = None,
        inputs: Values = None,
        control: Any = None,
        sample_time: float | None = None,
        on_event: Mapping[str, Reaction | str] | None = None,
        progress: bool | None = None,
        assemble: bool = True,
        timers: bool = False,
        events: bool = True,
        watch: str = "error",
    ) -> Results:
        """Simulate for a duration; see `biela.Simulator.run` for the arguments.

        Raises:
            AssemblyError: The start cannot be made consistent.
            SimulationError: The run diverges, or the motion is wrong; it holds the results until
                then.
        """
        began = time.perf_counter()
        system = self.system
        watch = check_watch(system.name, watch)
        given, t = duration, number(system, "the start time t", t)
        try:
            duration = number(system, "the duration", duration)
        except ModelError:
            duration = -1.0
        if not duration > 0:
            raise ModelError(f"{system.name}: the duration must be a positive time, not {given!r}")
        self._check_stepping(step, control, bool(asked_ends(limit_ends(system), on_event)))
        plan = Plan.make(
            self.integrator,
            duration,
            t,
            step,
            output,
            sample_time,
            control is not None,
            len(system.q) + 2 * len(system.v) + len(system.multipliers),
        )
        tolerance = plan.checked_tolerance(system.name, tolerance)
        p = values(system, "parameter", system.p, parameters)
        if plan.adaptive and system.begins is not None:
            known = {entry.name: float(x) for entry, x in zip(system.p, p, strict=True)}
            found = breaks(system.begins.model, plan.start, plan.duration, known)
            plan = replace(plan, stops=found)
        u = values(system, "input", system.u, inputs)
        if assemble:
            q0, v0 = start_state(system, q, v, t=t, u=u, p=p)
        else:
            q0 = values(system, "coordinate", system.q, q)
            v0 = values(system, "velocity", system.v, v)
        check_masses(system, t, q0, u, p)
        ends = limit_ends(system, p)
        watched = tuple(asked_ends(ends, on_event))
        if control is not None and self.formulation not in STEPPING:
            watched = tuple(ends)  # samples between stored instants leave no second look
        if not events:
            ends, watched = type(ends)(), ()
        led = None
        if assemble and control is None and self.formulation not in STEPPING:
            led = plan.led(system, q0, v0, u, p)
        kernels = self._compiled(t, q0 if led is None else led.q, u, p, plan, watched)
        plan = self._looking(plan, kernels.formulation, q0, u, p)
        law = controller(system, control, kernels.formulation) if control is not None else None
        units, rates = [e.unit for e in system.q], [e.unit for e in system.v]
        sizes = plan.sizes(q0, v0, units, rates)
        if on_event and not events:
            raise ModelError(
                f"{system.name}: on_event answers events, which events=False leaves out"
            )
        following = partial(
            self._stepper,
            law=law,
            plan=plan,
            tolerance=tolerance,
            p=p,
            u=u,
            sizes=sizes,
            events=events,
        )
        stepper = following(kernels)
        other = None
        if kernels.formulation.basis is not None:
            other = self._other_choices(following, plan, p, u, watched, controlled=law is not None)

        def again(
            at: float, place: Floats, basis: CoordinateBasis | None, part: Plan
        ) -> tuple[Kernels, Stepper]:
            made = kernels if basis is None else self._compiled(at, place, u, p, plan, (), basis)
            return made, following(made, law=None, plan=part, events=False)

        run = Run(
            *(system, kernels, stepper, law, on_event or {}, plan, p, u, other, timers),
            *(again, watch, tolerance, watched, ends),
        )
        prepared = time.perf_counter()
        try:
            return run.go(q0, v0, progress, began, prepared, led)
        finally:
            if law is not None and not isinstance(law.kernel, int):
                law.failures.clear()

    def _looking(self, plan: Plan, made: Formulation, q: Floats, u: Floats, p: Floats) -> Plan:
        """The plan with a look at constraints that laws of time move between stored instants."""
        closed = self.system.geometric and not made.drifts and not made.threshold > 0
        if not closed or not made.unrolled.needs("Phi", "t"):
            return plan
        rows = np.atleast_2d(self.system.evaluate("Phi_v", q, t=plan.start, u=u, p=p))
        return plan.looking(not independent(rows))

    def _other_choices(
        self,
        following: Callable[[Kernels], Stepper],
        plan: Plan,
        p: Floats,
        u: Floats,
        ends: tuple[LimitEnd, ...],
        *,
        controlled: bool,
    ) -> OtherChoices:
        """What a run asks when its independent velocities may have become a bad choice."""
        system, options = self.system, self.options
        watch = PartitionWatch(system, u, p, options.independent, options.partition, self._rank)

        def ask(t: float, q: Floats, present: Kernels) -> tuple[Kernels, Stepper] | None:
            made = present.formulation
            assert made.basis is not None, "looked at with independent velocities only"
            pivots = made.projected.least_pivots() if made.projected is not None else None
            basis = watch.another(t, q, made.basis, pivots)
            if basis is None:
                if made.projected is not None:
                    # where no choice is better, the run goes on as near as it has to
                    calm = watch.pace > 0 and not controlled
                    made.projected.stop_below(*(watch.limits if calm else (0.0, 0.0)))
                return None
            fresh = self._compiled(t, q, u, p, plan, ends, basis)
            return fresh, following(fresh)

        return OtherChoices(ask, watch)

    # ----------------------------------------------------------------- kernels

    def _compiled(
        self,
        t: float,
        q: Floats,
        u: Floats,
        p: Floats,
        plan: Plan,
        ends: tuple[LimitEnd, ...] = (),
        basis: CoordinateBasis | None = None,
    ) -> Kernels:
        system = self.system
        lacking = stiffening(system, t, q, u, p)
        if self.formulation not in PROJECTED:  # which do not write out the elimination
            lacking = ordered(lacking, system, t, q, u, p)
        options = self.options
        if basis is None and self.formulation in {*PARTITIONED, *PROJECTED} and system.multipliers:
            # without sets of dependent rows the rank may still be less than their number
            self._rank = lacking.rank(len(system.multipliers)) if lacking.ranked else None
            basis = independent_basis(
                system, t, q, u, p, options.independent, options.partition, self._rank
            )
        masses = moved_masses(system, t, q, u, p) if self.formulation in PENALISED else ()
        if options.refinements is None:
            options = replace(options, refinements=int(plan.adaptive))
        watched = bool(system.events or ends)
        steps = plan.steps if plan.integrator in FUSED and not watched else 0
        steps = min(steps, LONG_RUN) if steps >= LONG_RUN else min(steps, 1)
        chosen = None if basis is None else (basis.rows, basis.T.tobytes())
        method = str(plan.integrator) if steps else ""
        key = (lacking, chosen, masses, options, steps, method, ends)
        if key not in self._kernels:
            self._kernels[key] = self._make(lacking, basis, masses, options, steps, method, ends)
        return self._kernels[key]

    def _make(
        self,
        lacking: Stiffening,
        basis: CoordinateBasis | None,
        masses: tuple[float, ...],
        options: Options,
        steps: int,
        integrator: str,
        ends: tuple[LimitEnd, ...],
    ) -> Kernels:
        if self.formulation in PROJECTED and basis is not None:
            return self._make_projected(lacking, basis, options, ends)
        unrolled = Unrolled(self.system)
        made = formulate(unrolled, self.formulation, options, lacking, masses, basis)
        assert isinstance(made.f, Function), "all but projected ones are straight-line code"
        fused = options.fused if options.fused is not None else worth_fusing(made, steps)
        if steps and fused and made.project_v is not None and made.threshold == 0.0:
            step = fused_step(made, options.position_iterations, integrator)
            return Kernels(made, hoisted({"f": step}), whole_step=True, project=True)
        if self.formulation == "augmented3":
            return Kernels(made, hoisted({"f": made.f}), whole_step=True)
        if self.formulation == "generalised_alpha":
            return Kernels(made, Hoisted({}, (), len(unrolled.p) + len(unrolled.u)))
        functions = {"f": made.f}
        if made.project_q is not None:
            functions["project_q"] = made.project_q
        if made.project_v is not None:
            functions["project_v"] = made.project_v
        if self.system.events or ends:
            values = unrolled.watched(ends, *made.place)
            functions["events"] = unrolled.kernel("events", {"g": values}, made.symbols)
            return Kernels(made, hoisted(functions), watched=len(values))
        return Kernels(made, hoisted(functions))

    def _make_projected(
        self,
        lacking: Stiffening,
        basis: CoordinateBasis,
        options: Options,
        ends: tuple[LimitEnd, ...],
    ) -> Kernels:
        """Kernels that are routines with memory of their own; what they call is made once."""
        if ends not in self._equations:
            self._equations[ends] = ProjectedEquations(Unrolled(self.system), ends)
        equations = self._equations[ends]
        unrolled = equations.unrolled
        made = formulate(unrolled, self.formulation, options, lacking, (), basis, equations)
        assert made.projected is not None, "made as one of these"
        functions = {}
        if made.project_q is not None:
            functions["project_q"] = made.project_q
        if made.project_v is not None:
            functions["project_v"] = made.project_v
        given = len(unrolled.p) + len(unrolled.u)
        held = hoisted(functions) if functions else Hoisted({}, (), given)
        bound = {"f": made.f}
        if equations.events is not None:
            bound["events"] = made.projected.events()
        return Kernels(made, held, bound=bound, watched=equations.watched)

    def _stepper(
        self,
        kernels: Kernels,
        law: Controller | None,
        plan: Plan,
        tolerance: float,
        p: Floats,
        u: Floats,
        sizes: Floats,
        events: bool = True,
    ) -> Stepper:
        if self.formulation == "generalised_alpha":
            assert plan.step is not None, "a formulation with a step of its own has its length"
            made, options = kernels.formulation.unrolled, self.options
            return AlphaStepper(
                alpha_kernels(made),
                made,
                plan.step,
                plan.stride,
                options.rho,
                options.iterations or 10,
            )
        near = self._nearly_singular(kernels, p, u) if self.system.geometric else None
        # a state other than (q, v) has entries of any unit: then the smallest for all
        whole = kernels.formulation.size == len(sizes)
        return plan.stepper(
            self._problem(kernels, law, events),
            tolerance,
            kernels.whole_step,
            near,
            sizes if whole else float(sizes.min(initial=1.0)),
        )

    def _nearly_singular(
        self, kernels: Kernels, p: Floats, u: Floats
    ) -> Callable[[float, Floats], bool]:
        """Whether constraints are about to become dependent in a state.

        Those that depend on each other everywhere have singular values of rounding size.
        """
        read, given = kernels.formulation.read, np.concatenate([p, u])

        def nearly(t: float, x: Floats) -> bool:
            q = np.asarray(read([t], x, given)[0])
            rows = np.atleast_2d(self.system.evaluate("Phi_v", q, t=t, u=u, p=p))
            sizes = np.linalg.svd(rows, compute_uv=False)
            ratios = sizes / sizes[0]
            return bool(((ratios > 1e-14) & (ratios < 0.03)).any())

        return nearly

    def _check_stepping(self, step: float | None, control: Any, limited: bool) -> None:
        """Refuse what formulations with a step of their own cannot do."""
        if self.formulation not in STEPPING:
            return
        wrong = None
        if self.integrator is not None:
            wrong = "has its own integrator: leave integrator out"
        elif step is None:
            wrong = "takes steps of fixed length: give step=…, in s"
        elif self.system.events or limited:
            wrong = "does not stop at events: use formulation='multipliers'"
        elif control is not None and self.formulation == "generalised_alpha":
            wrong = "does not take controllers: use formulation='multipliers'"
        if wrong:
            raise ModelError(f"{self.system.name}: formulation {self.formulation!r} {wrong}")

    def _problem(self, kernels: Kernels, law: Controller | None, events: bool) -> Problem:
        native: dict[str, Any] = {n: f.native for n, f in kernels.hoisted.kernels.items()}
        native |= kernels.bound
        system, looked = self.system, native.get("events") if events else None
        return Problem(
            native["f"],
            kernels.formulation.size,
            kernels.hoisted.size,
            nq=len(system.q),
            project_q=native.get("project_q"),
            project_v=native.get("project_v"),
            q_iterations=self.options.position_iterations if "project_q" in native else 0,
            v_iterations=1 if "project_v" in native else 0,
            # kernels that restore unit norms compare with the threshold themselves
            threshold=0.0 if "retract" in system else kernels.formulation.threshold,
            control=law.kernel if law is not None else None,
            nu=len(system.u) if law is not None else 0,
            u_first=len(system.p),
            events=looked,
            directions=() if looked is None else [BOTH] * kernels.watched,
        )
