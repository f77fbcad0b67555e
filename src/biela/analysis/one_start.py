"""The state that a motion starts from: the same for a model in all its coordinates.

It is assembled in the coordinates of the joints (`start_search`), for the parameters and the time
of the run, and carried over to others as the motion of the bodies, which is then polished there:
Newton's method changes what is rounding.  Values may be given by the names of joint coordinates
whatever the coordinates are; what is given by other names is kept after that, see
`biela.equations.model_start`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import (
    ClosureEquations,
    closing_velocity,
    left_free,
    moving_velocity,
    reason,
    solved,
    velocity_equations,
)
from biela.analysis.driving import driven
from biela.analysis.instant import Instant
from biela.analysis.preparation import Values, meant, numbers, refuse_unknown, values
from biela.analysis.start_search import named_places, position_near
from biela.equations import Quantity, System
from biela.equations.model_start import BodyMotion
from biela.equations.positions import normalised
from biela.equations.system import LazyFunctions
from biela.errors import AssemblyError, BielaError, ModelError
from biela.solvers.least_squares import CONVERGED

Floats = npt.NDArray[np.float64]
#: Bodies above which a mechanism is closed as a whole first, as by the engine for large ones.
WHOLE = 60
#: Values by name, and those whose names are not known.
_Split = tuple[dict[str, float | str], dict[str, float | str]]


@dataclass(frozen=True)
class Start:
    """A consistent state, and the iterations it took to find its position."""

    q: Floats
    v: Floats
    iterations: int


def start_state(
    system: System, q: Values, v: Values, *, t: float, u: Floats, p: Floats
) -> tuple[Floats, Floats]:
    """A consistent position and velocity; the first values named are kept as far as they can be.

    Initial conditions of the model hold where the call names nothing itself.

    Raises:
        AssemblyError: There is none.
        SingularityError: No motion goes through a singular position with the velocities named.
        ModelError: A name is unknown.
    """
    found = _started(system, q, v, t, u, p)
    return found.q, found.v


def start_position(system: System, q: Values, t: float, u: Floats, p: Floats) -> tuple[Floats, int]:
    """A consistent position alone, and the iterations it took.

    Raises:
        AssemblyError: There is none.
        ModelError: A name is unknown.
    """
    found = _started(system, q, None, t, u, p, moving=False)
    return found.q, found.iterations


def first_position(system: System, q: Values, t: float, u: Floats, p: Floats) -> Floats:
    """A first guess of a position: the start of the model, and what is given.

    Raises:
        ModelError: A name is unknown.
    """
    system = _at(system, t, p)
    if system.begins is None or system.begins.carrying is None or not _by_name(q):
        return values(system, "coordinate", system.q, q)
    try:
        return _Carried(system, q, None, t, u, p, moving=False).place
    except AssemblyError:
        return values(system, "coordinate", system.q, q)


def _started(
    system: System,
    q: Values,
    v: Values,
    t: float,
    u: Floats,
    p: Floats,
    moving: bool = True,
) -> Start:
    """As `start_state`, with the iterations; at rest, and maybe not consistent, if not moving."""
    system = _at(system, t, p)
    # no names at all are nothing given
    q = None if isinstance(q, Mapping) and not q else q
    v = None if isinstance(v, Mapping) and not v else v
    if system.begins is not None and system.begins.carrying is not None and _by_name(q):
        try:
            return _Carried(system, q, v, t, u, p, moving).start()
        except AssemblyError:
            # what cannot be assembled along joints may be in other coordinates, and if not they
            # say why; names of joints are not known there
            if _split(system, q, v)[1]:
                raise
    return _own(system, q, v, t, u, p, moving)


def _own(
    system: System, q: Values, v: Values, t: float, u: Floats, p: Floats, moving: bool
) -> Start:
    """The start in the coordinates of the system itself."""
    guess = values(system, "coordinate", system.q, q)
    speed = values(system, "velocity", system.v, v)
    place, iterations = _position(system, guess, q, t, u, p)
    if not moving:
        return Start(place, np.zeros(len(system.v)), iterations)
    asked = velocity_equations(system, place, t, u, p, conditions=v is None)
    named = named_places(system.v, v)
    kept = {i: float(speed[i]) for i in left_free(asked.rows, named)}
    velocity = closing_velocity(system, asked.rows, asked.right, speed, kept)
    instant = Instant(system, t, u, p)
    firm = _firm(system, v, kept)
    velocity = moving_velocity(instant, place, asked, velocity, list(kept), firm)
    return Start(place, velocity, iterations)


def _position(
    system: System, guess: Floats, q: Values, t: float, u: Floats, p: Floats
) -> tuple[Floats, int]:
    """A consistent position near a guess, and the iterations it took.

    Along joints; a model of many bodies, which other engines close as a whole, is closed so first,
    so that all start alike.

    Raises:
        AssemblyError: There is none.
    """
    begins = system.begins
    if begins is None or begins.carrying is not None or begins.drives or not _by_name(q):
        return position_near(system, guess, q, t, u, p)
    if len(begins.model.bodies) > WHOLE:
        closed = _closed_whole(system, guess, q, t, p)
        if closed is not None:
            with suppress(AssemblyError):
                return position_near(system, closed, q, t, u, p)
        return position_near(system, guess, q, t, u, p)
    return position_near(system, guess, q, t, u, p)


def _closed_whole(system: System, guess: Floats, q: Values, t: float, p: Floats) -> Floats | None:
    """Joint coordinates of the bodies closed as a whole; None if that fails."""
    from biela.analysis.looped.start import assembled_poses  # which starts small ones from here

    assert system.begins is not None, "asked for where there are bodies"
    model = system.begins.model
    known = {e.name: float(x) for e, x in zip(system.p, p, strict=True)}
    parameters = {name: x for name, x in known.items() if name in model.parameters}
    try:
        named = numbers(q)
        poses = assembled_poses(model, named, t, parameters)
    except BielaError:
        return None
    found = system.begins.read(poses, parameters)
    closed = np.array([found.get(e.name, x) for e, x in zip(system.q, guess, strict=True)])
    turns = np.array([e.unit == "rad" for e in system.q], dtype=bool)
    closed[turns] += 2 * np.pi * np.round((guess - closed)[turns] / (2 * np.pi))
    return closed


def _firm(system: System, v: Values, kept: Sequence[int] | Mapping[int, float]) -> int:
    """How many of the velocities that are kept somebody has named, and not given by the way.

    Those of the model are so where the call gives none; numbers in order are a guess as a whole.
    """
    if v is None:
        return len(kept)
    if not isinstance(v, Mapping):
        return 0
    names = [entry.name for entry in system.v]
    return len({names.index(meant(n, names)) for n in v if meant(n, names) in names} & {*kept})


def _by_name(given: Values) -> bool:
    """Whether values are given by name, if at all; others are a whole state by themselves."""
    return given is None or isinstance(given, Mapping)


def _at(system: System, t: float, p: Floats) -> System:
    """The system with first values of its coordinates as parameters and drivers have them."""
    begins = system.begins
    if begins is None or begins.carrying is not None:
        return system
    if t == 0.0 and np.array_equal(p, system.parameters):
        return system
    first = begins.guess(dict(zip((e.name for e in system.p), map(float, p), strict=True)), t)
    return replace(system, q=tuple(replace(e, value=first.get(e.name, e.value)) for e in system.q))


def _split(system: System, q: Values, v: Values) -> _Split:
    """Of values by name, those of the system and the others."""
    own: dict[str, float | str] = {}
    others: dict[str, float | str] = {}
    for given, entries in ((q, system.q), (v, system.v)):
        names = [entry.name for entry in entries]
        for name, value in given.items() if isinstance(given, Mapping) else ():
            (own if meant(name, names) in names else others)[name] = value
    return own, others


class _Carried:
    """A start that is carried over from joint coordinates."""

    def __init__(
        self,
        system: System,
        q: Values,
        v: Values,
        t: float,
        u: Floats,
        p: Floats,
        moving: bool,
    ) -> None:
        assert system.begins is not None, "asked for where there is one"
        self.system, self.t, self.u, self.p = system, t, u, p
        self.begins = system.begins
        self.joints = joint_system(system)
        self.own_q, to_joints = self._sorted(q, "coordinate")
        self.own_v, rates = self._sorted(v, "velocity")
        self.q, self.v, self.moving = q, v, moving
        self._assemble(to_joints or None, rates if rates or v is not None else None)

    def _sorted(self, given: Values, what: str) -> _Split:
        """Of values by name, those that joint coordinates do not know, and those they do.

        Raises:
            ModelError: Nobody knows a name.
        """
        system, joints = self.system, self.joints
        here, there = (system.q, joints.q) if what == "coordinate" else (system.v, joints.v)
        own: dict[str, float | str] = {}
        known: dict[str, float | str] = {}
        names = [entry.name for entry in there]
        if given is not None and not isinstance(given, Mapping):
            return dict(
                zip((e.name for e in here), values(system, what, here, given), strict=True)
            ), {}
        for name, value in (given or {}).items():
            (known if meant(name, names) in names else own)[name] = value
        refuse_unknown(system, what, own, [*names, *(entry.name for entry in here)])
        return own, known

    def _assemble(self, q: Values, v: Values) -> None:
        """Find the start in joint coordinates, and what it is here."""
        joints, t = self.joints, self.t
        u, p = values_in_joints(self.system, joints, self.u, self.p)
        begun = _started(joints, q, v, t, u, p, self.moving)
        self.iterations = begun.iterations
        self.place, self.speed = _carried(self.system, joints, begun.q, begun.v, t, self.u, self.p)
        system = self.system
        for entries, own, vector, what in (
            (system.q, self.own_q, self.place, "coordinate"),
            (system.v, self.own_v, self.speed, "velocity"),
        ):
            names = [entry.name for entry in entries]
            given = values(system, what, entries, own)
            for name in own:
                k = names.index(meant(name, names))
                vector[k] = given[k]

    def start(self) -> Start:
        """The state here: polished, and with what is given by names of this system."""
        system, t, u, p = self.system, self.t, self.u, self.p
        if self.own_q:
            # values of joints that are coordinates here are kept here too
            given = _split(system, self.q, None)[0]
            place, more = position_near(system, self.place, given, t, u, p)
            speed, conditions = values(system, "velocity", system.v, self.v), self.v is None
            kept_rates = self.v
        else:
            place, more = _polished(system, self.place, t, u, p)
            speed, conditions, kept_rates = self.speed, False, self.own_v or None
        if not self.moving:
            return Start(place, np.zeros(len(system.v)), self.iterations + more)
        asked = velocity_equations(system, place, t, u, p, conditions=conditions)
        named = [] if kept_rates is None else named_places(system.v, kept_rates)
        kept = {i: float(speed[i]) for i in left_free(asked.rows, named)}
        velocity = closing_velocity(system, asked.rows, asked.right, speed, kept)
        instant, firm = Instant(system, t, u, p), _firm(system, kept_rates, kept)
        velocity = moving_velocity(instant, place, asked, velocity, list(kept), firm)
        return Start(place, velocity, self.iterations + more)


def joint_system(system: System) -> System:
    """The same mechanism in joint coordinates, driven and with conditions as this one.

    Raises:
        AssemblyError: What is driven has no name there.
    """
    assert system.begins is not None, "asked for where there is one"
    joints = system.begins.joints
    if system.begins.drives:
        try:
            joints = driven(joints, system.begins.drives)
        except ModelError as error:
            raise AssemblyError(str(error)) from error
    if "Init_v" not in system:
        kept = [name for name in joints.functions if name not in ("Init_v", "Init_beta")]
        lazy = {name: partial(joints.functions.__getitem__, name) for name in kept}
        joints = replace(joints, functions=LazyFunctions({}, lazy))
    return joints


def carried_position(
    system: System, joints: System, q: Floats, t: float, u: Floats, p: Floats
) -> Floats:
    """A position of `joint_system` in the coordinates of the system itself.

    Raises:
        AssemblyError: It does not fulfil the constraints here.
    """
    place, _ = _carried(system, joints, q, np.zeros(len(joints.v)), t, u, p)
    return _polished(system, place, t, u, p)[0]


def values_in_joints(system: System, joints: System, u: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Inputs and parameters of a system, as its joint coordinates have them."""
    return _named(joints.u, system.u, u), _named(joints.p, system.p, p)


def _polished(system: System, place: Floats, t: float, u: Floats, p: Floats) -> tuple[Floats, int]:
    """A position that was carried over, without what is rounding; and the iterations."""
    equations = ClosureEquations(system, t, u, p, conditions=False)
    solution = solved(equations, normalised(system, place), {})
    if solution.status != CONVERGED or equations.half_a_turn_off(solution.x):
        raise AssemblyError(reason(equations, solution, {}))
    return solution.x, solution.iterations


def _carried(
    system: System, joints: System, q: Floats, v: Floats, t: float, u: Floats, p: Floats
) -> tuple[Floats, Floats]:
    """What a state in joint coordinates is in those of a system."""
    own_u, own_p = values_in_joints(system, joints, u, p)
    state: dict[str, Any] = {"t": t, "u": own_u, "p": own_p}
    rows = np.asarray(joints.evaluate("poses", q, **state))
    twists = np.asarray(joints.evaluate("twists", q, v, **state))
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, 3], poses[:, :3, :3] = rows[:, :3], rows[:, 3:].reshape(-1, 3, 3)
    motion = BodyMotion(
        dict(zip(joints.frames, poses, strict=True)),
        dict(zip(joints.frames, twists, strict=True)),
    )
    assert system.begins is not None and system.begins.carrying is not None, "carried over"
    found = system.begins.carrying.values(motion, p)
    found |= _read(system, joints, q, v, state)
    found |= {e.name: float(x) for e, x in zip(joints.q, q, strict=True)}
    found |= {e.name: float(x) for e, x in zip(joints.v, v, strict=True)}
    place = np.array([found.get(e.name, e.value) for e in system.q], dtype=float)
    speed = np.array([found.get(e.name, e.value) for e in system.v], dtype=float)
    return place, speed


def _read(
    system: System, joints: System, q: Floats, v: Floats, state: dict[str, Any]
) -> dict[str, float]:
    """Coordinates of joints that close loops there, half a turn from those here at most."""
    if "joint_coordinates" not in joints:
        return {}
    read, rates = joints.evaluate("joint_coordinates", q, v, **state)
    first = {entry.name: entry for entry in system.q}
    found: dict[str, float] = {}
    for entry, x, rate in zip(joints.joint_coordinates, read, rates, strict=True):
        here = first.get(entry.name)
        if here is None:
            continue
        turns = round((float(x) - here.value) / (2 * np.pi)) if here.unit == "rad" else 0
        found[entry.name] = float(x) - 2 * np.pi * turns
        found[f"{entry.name}_rate"] = float(rate)
    return found


def _named(wanted: Sequence[Quantity], known: Sequence[Quantity], numbers: Floats) -> Floats:
    """Numbers of one list of entries, as another has them."""
    by_name = {entry.name: x for entry, x in zip(known, numbers, strict=True)}
    return np.array([by_name.get(entry.name, entry.value) for entry in wanted], dtype=float)
