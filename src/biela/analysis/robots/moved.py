"""What moves in `Robot.simulate`: the equations, and what is given for them by robots' order.

A tree moves by its recursions: actuators, events and sensors are in them.  What depends on the
reactions of joints does not come before the accelerations there.  With friction under load, or
sensors of reactions, a robot moves by the equations of `biela.formulate(model)`, with the joint
forces as inputs besides, and so does one with closed loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from biela.analysis.control import is_compiled
from biela.analysis.control_state import ControlState
from biela.analysis.given_functions import takes
from biela.analysis.preparation import values
from biela.analysis.robots.joint_forces import TAU, with_joint_forces
from biela.equations import System, formulate
from biela.equations.spatial import SpatialTree
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions
    from biela.model import Model
    from biela.model.forces import Force
    from biela.model.sensors import Sensor

Floats = npt.NDArray[np.float64]
State = Callable[[float, Floats, Floats], tuple[Floats, Floats]]


def loaded(model: Model) -> list[str]:
    """The forces and sensors that need the reactions of joints."""
    elements: list[Force | Sensor] = [*model.forces.values(), *model.sensors.values()]
    return [f"{x.category} {x.name} ({x.kind})" for x in elements if x.needs_reactions]


def moving_system(robot: Motions) -> System:
    """The equations by which a robot moves."""
    if getattr(robot, "constraints", ()) or not loaded(robot.snapshot):
        return robot.kinematic_system
    names = [f"{TAU}{name.removesuffix('_rate')}" for name in robot.v_names]
    whole = with_joint_forces(SpatialTree(robot.snapshot), names, counts=True)
    whole.rotors = {**whole.rotors, **robot._rotors}
    return formulate(whole)


def moved(robot: Motions, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run, with arrays in the order of the robot told by names.

    Raises:
        ModelError: A function wants the coordinates of the robot where they are not there.
    """
    system, found = robot.moving_system, dict(options)
    own = [entry.name for entry in system.u if not entry.name.startswith(TAU)]
    found["inputs"] = _own_inputs(own, len(system.u), found.get("inputs"))
    law = found.get("control")
    other = system is not robot.kinematic_system
    if other:
        for what, names in (("q", robot.q_names), ("v", robot.v_names)):
            given = found.get(what)
            found[what] = _by_name(names, getattr(given, "q", given) if what == "q" else given)
    state = _state(robot, system, options) if other else None
    if callable(law) and not is_compiled(law):
        found["control"] = _controller(law, own, len(system.u), state)
    elif other and is_compiled(law):
        raise ModelError(
            f"{robot.name}: {loaded(robot.snapshot)[0]} needs reactions, and the state has other "
            f"coordinates than the robot then: give the controller in Python, not compiled"
        )
    answers = found.get("on_event")
    if state is not None and isinstance(answers, Mapping):
        found["on_event"] = {
            name: _answer(robot, answer, state) if callable(answer) else answer
            for name, answer in answers.items()
        }
    return found


def _own_inputs(own: list[str], count: int, given: Any) -> Any:
    """Inputs by name, where an array has those of the model and no joint forces."""
    if given is None or isinstance(given, Mapping) or len(own) == count:
        return given
    found = np.ravel(np.asarray(given, dtype=object))
    return dict(zip(own, found, strict=True)) if len(found) == len(own) else given


def _by_name(names: tuple[str, ...], given: Any) -> Any:
    """Coordinates by name, where they are an array in the order of the robot."""
    if isinstance(given, Mapping) or np.ndim(given) != 1 or len(given) != len(names):
        return given
    return dict(zip(names, given, strict=True))


def _controller(
    law: Callable[..., Any], own: list[str], count: int, state: State | None
) -> Callable[..., Any]:
    """A law that may return the inputs of the model only, of the state of the robot."""

    def named(found: Any) -> Any:
        if isinstance(found, Mapping) or not 0 < len(own) < count:
            return found
        return dict(zip(own, np.ravel(found), strict=True)) if np.size(found) == len(own) else found

    def by_vectors(t: float, q: Floats, v: Floats) -> Any:
        return named(law(t, *((q, v) if state is None else state(t, q, v))))

    def by_names(now: ControlState) -> Any:
        return named(law(now))

    called: Any = by_names if takes(law, 3) is False else by_vectors
    called.reset = getattr(law, "reset", None)
    return cast("Callable[..., Any]", called)


def _answer(robot: Motions, answer: Callable[..., Any], state: State) -> Callable[..., Any]:
    """An answer to an event that sees the state of the robot."""

    def called(t: float, q: Floats, v: Floats) -> Any:
        found = answer(t, *state(t, q, v))
        if found is not None and not isinstance(found, str):
            raise ModelError(
                f"{robot.name}: {loaded(robot.snapshot)[0]} needs reactions, and the state has "
                f"other coordinates than the robot then: an answer to an event cannot give one; "
                f"use biela.simulate"
            )
        return found

    return called


def _state(robot: Motions, system: System, options: Mapping[str, Any]) -> State:
    """The coordinates and velocities of a robot in a state of its equations."""
    own_q, own_v = ([entry.name for entry in entries] for entries in (system.q, system.v))
    read = [entry.name for entry in system.joint_coordinates]
    known = {*own_q, *own_v, *read, *(f"{name}_rate" for name in read)}
    lost = next((n for n in (*robot.q_names, *robot.v_names) if n not in known), "")
    if lost:

        def refused(t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
            raise ModelError(
                f"{robot.name}: {loaded(robot.snapshot)[0]} needs reactions, and {lost} is no "
                f"coordinate then: use biela.simulate, whose functions see other coordinates"
            )

        return refused
    p = values(system, "parameter", system.p, options.get("parameters"))

    def state(t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        known = dict(zip((*own_q, *own_v), (*q, *v), strict=True))
        if read:
            places, rates = system.evaluate("joint_coordinates", q, v, t=t, p=p)
            known |= zip(read, np.ravel(places), strict=True)
            known |= zip((f"{n}_rate" for n in read), np.ravel(rates), strict=True)
        return np.array([known[n] for n in robot.q_names]), np.array(
            [known[n] for n in robot.v_names]
        )

    return state
