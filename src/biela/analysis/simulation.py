"""Forward dynamics: the motion of a model from its forces, by the engine that suits it.

Three engines move a model.  Unrolled, its equations are one piece of straight-line code, the
fastest at run time (`unrolled_simulator`); looped, each kind of joint is derived once, for large
mechanisms (`looped.simulation`); by structural groups, in independent coordinates
(`groups.simulation`).  `Simulator` is the one way to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from biela.analysis.engine_choice import UNROLLED_UP_TO, chosen_engine
from biela.analysis.event_answers import Reaction
from biela.analysis.formulations import Options
from biela.analysis.groups.simulation import GroupRuns
from biela.analysis.law_faults import names_laws
from biela.analysis.looped.simulation import LoopedSimulator
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.analysis.unrolled_simulator import UnrolledSimulator
from biela.code.routines import Routine
from biela.doors import door, doors
from biela.equations import System
from biela.errors import ModelError
from biela.model import Model as FileModel
from biela.model.parts.flattening import body_count
from biela.results import Results


class _Engine(Protocol):
    """What runs a prepared model."""

    @property
    def formulation(self) -> str:
        """How constraints enter."""

    @property
    def run(self) -> Callable[..., Results]:
        """Simulates for a duration, with those settings of `Simulator.run` that it knows."""


#: Settings of a run that may be given by name, and what others are where nobody gives them.
_BY_NAME: Final = ("q", "v", "parameters", "inputs", "on_event")
_USUAL: Final = {"t": 0.0, "assemble": True, "timers": False, "events": True, "watch": "error"}


@doors(ModelError)
class Simulator:
    """A model prepared for simulations; what is compiled for one run serves the next.

    Args:
        model: What moves: a `Model`, a `SymbolicSystem`, its equations, a `System`.
        formulation: How constraints enter, one of `FORMULATIONS`; None takes "multipliers", or
            "velocity_projection" of index 3 where those would take long to compile.  The
            statistics of a run name it.
        integrator: A fixed-step method ("rk4", "explicit_euler", …), an adaptive one
            ("dormand_prince", "adams", "radau" for stiff systems), or a routine of your own with
            the signature ``step(n, m, h, t, x, p, f, work)``.  Without it, "rk4" if a step is
            given, else "dormand_prince".
        options: Choices of the formulation; one that it does not use is refused.
        coordinates: "joint", "reference", "euler" or "natural", as in `formulate`, or "groups";
            None takes those of the joints, or those of the engine.
        engine: "unrolled" or "looped"; None takes the one that is ready sooner, see
            `engine_choice`.

    Raises:
        ModelError: A name is unknown, or the model cannot be simulated.
    """

    def __init__(
        self,
        model: Model,
        formulation: str | None = None,
        integrator: str | Routine[..., Any] | None = None,
        options: Options | None = None,
        *,
        coordinates: str | None = None,
        engine: str | None = None,
    ) -> None:
        self._model, self._wanted, self._coordinates = model, engine, coordinates
        self._formulation, self._integrator, self._options = formulation, integrator, options
        self._engines: dict[str, _Engine] = {}
        self._names: dict[tuple[bool, ...], str] = {}
        self._chosen = self._prepared({})

    @property
    def engine(self) -> str:
        """The engine of runs that ask for nothing unusual: "unrolled", "looped" or "groups"."""
        return next(name for name, made in self._engines.items() if made is self._chosen)

    @property
    def formulation(self) -> str:
        """How constraints enter."""
        return self._chosen.formulation

    @property
    def options(self) -> Options:
        """Choices of the formulation, those of its default included."""
        own = self._chosen.options if isinstance(self._chosen, UnrolledSimulator) else None
        return own or Options()

    @property
    def system(self) -> System:
        """The equations, of the unrolled engine.

        Raises:
            ModelError: Another engine writes none out.
        """
        if isinstance(self._chosen, UnrolledSimulator):
            return self._chosen.system
        raise ModelError(
            f"{getattr(self._model, 'name', 'the model')} is simulated by the engine "
            f"{self.engine!r}, which writes out no equations; ask formulate(model) for them, or "
            f'for Simulator(model, engine="unrolled")'
        )

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
        """Simulate for a duration, from a start that is assembled first.

        Args:
            duration: Time to simulate, s.
            q: Start positions, by name or in order: a guess where constraints leave no choice.
                What is not given is taken from the model.
            v: Start velocities, likewise.
            t: Start time, s.
            step: Step of a fixed-step method, s.
            output: Time between stored instants, s (default: every step up to 2000 of them, or
                500 instants of an adaptive run).
            tolerance: Relative tolerance of adaptive methods, 1e-8 if none is given; the absolute
                one is a hundredth.
            parameters: Values other than those of the model, by name or in order.
            inputs: Constant values of the inputs, likewise.
            control: Sampled controller ``u = law(t, q, v)``, or a compiled one (see `control`).
            sample_time: Time between its samples, s (default: the step).
            on_event: What to do at an event, by its name: "stop", or a function of t, q and v that
                returns None, "stop", or the (q, v) to go on with.  Limits of coordinates are
                events too, "limit of slide.displacement passed" and "slide.displacement within its
                limits again".
            progress: Whether to show a progress bar (default: on a terminal, for long runs).
            assemble: Whether to make the start consistent; False takes it as it is.
            timers: Whether to measure the time in linear solves after the run, on states that it
                went through; straight-line code is compiled once more for it.
            events: Whether to look for the events of the model; for the looped engine, where each
                is found by about ten steps of the whole.
            watch: What to do where the energy or the constraints go wrong by more than the
                tolerance or the step explains: "error" raises one; "event" goes on, and lists it
                among the events of the results.

        Raises:
            AssemblyError: The start cannot be made consistent.
            SimulationError: The run diverges, or the motion is wrong; it holds the results until
                then.
        """
        run: dict[str, Any] = {
            "q": q, "v": v, "t": t, "step": step, "output": output, "tolerance": tolerance,
            "parameters": parameters, "inputs": inputs, "control": control,
            "sample_time": sample_time, "on_event": on_event, "progress": progress,
            "assemble": assemble, "timers": timers, "events": events, "watch": watch,
        }  # fmt: skip
        return _moved(self._model, self._prepared(run), duration, run)

    def _prepared(self, run: Mapping[str, Any]) -> _Engine:
        """The engine for a run, made if no run has needed it yet."""
        unusual = self._unusual(run)
        asked = tuple(unusual.values())
        if asked not in self._names:
            self._names[asked] = self._name(unusual)
        name = self._names[asked]
        if name not in self._engines:
            self._engines[name] = self._made(name)
        return self._engines[name]

    def _name(self, unusual: Mapping[str, bool]) -> str:
        """The name of the engine for runs with unusual settings."""
        if self._coordinates != "groups":
            return chosen_engine(self._wanted, self._model, self._coordinates, unusual)
        if self._wanted is None:
            return "groups"
        raise ModelError(f"coordinates='groups' have no engine {self._wanted!r}: leave it out")

    def _made(self, name: str) -> _Engine:
        model, method = self._model, self._integrator
        if name == "unrolled":
            if self._coordinates is not None and not isinstance(model, FileModel):
                raise ModelError(
                    f"{as_system(model).name} has the coordinates of its author: "
                    f"coordinates={self._coordinates!r} is for a Model, of bodies and joints"
                )
            system = as_system(model, self._coordinates or "joint")
            return UnrolledSimulator(system, self._formulation, method, self._options)
        if name == "groups":
            return GroupRuns(model, self._formulation, method, self._options)
        assert isinstance(model, FileModel), "the choice of the engine has looked at it"
        return LoopedSimulator(model, method if isinstance(method, str) else None)

    def _unusual(self, run: Mapping[str, Any]) -> dict[str, bool]:
        """What the looped engine does not know, by name, and whether it is asked for."""
        method = self._integrator
        return {
            f"formulation={self._formulation!r}": self._formulation not in (None, "multipliers"),
            "options": self._options is not None,
            "an integrator of your own": not (method is None or isinstance(method, str)),
            "assemble=False": not run.get("assemble", True),
            "timers": bool(run.get("timers")),
            # who has written a controller knows the order of the coordinates
            "control": run.get("control") is not None and self._may_be_unrolled(),
        }

    def _may_be_unrolled(self) -> bool:
        """Whether nobody has asked for the engine, and the model is not large."""
        model = self._model
        small = isinstance(model, FileModel) and body_count(model) <= UNROLLED_UP_TO
        return self._wanted is None and small


@names_laws
def _moved(model: Model, engine: _Engine, duration: float, run: Mapping[str, Any]) -> Results:
    """A run by an engine, which is asked only for what was said."""
    given = {name: x for name, x in run.items() if not _usual(name, x)}
    return engine.run(duration, **given)


def _usual(name: str, given: object) -> bool:
    """Whether a setting is what it is where nobody gives it."""
    if name in _BY_NAME and isinstance(given, Mapping) and not given:
        return True
    usual = _USUAL.get(name)
    return given is usual or (type(given) is type(usual) and given == usual)


@door(ModelError)
def simulate(
    model: Model,
    duration: float,
    *,
    formulation: str | None = None,
    integrator: str | Routine[..., Any] | None = None,
    options: Options | None = None,
    coordinates: str | None = None,
    engine: str | None = None,
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
    """Simulate a model; see `Simulator` and `Simulator.run` for the arguments.

    Values of ``parameters`` by name are taken as if they stood in the description of the model.
    """
    model, parameters = with_values(model, parameters)
    made = Simulator(
        model, formulation, integrator, options, coordinates=coordinates, engine=engine
    )
    return made.run(
        duration,
        q=q,
        v=v,
        t=t,
        step=step,
        output=output,
        tolerance=tolerance,
        parameters=parameters,
        inputs=inputs,
        control=control,
        sample_time=sample_time,
        on_event=on_event,
        progress=progress,
        assemble=assemble,
        timers=timers,
        events=events,
        watch=watch,
    )
