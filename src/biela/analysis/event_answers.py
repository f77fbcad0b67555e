"""What is done at the events of a run: who has asked for what, and the state that goes on.

Where an event lies is found by the integrators; here a run is stopped, or goes on with another
state.  Engines tell how they see their events as `Watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import consistent
from biela.analysis.given_functions import called_in_vain, real_numbers, shown, takes
from biela.analysis.instant import Instant
from biela.analysis.limits import LimitEnd, beyond
from biela.budgets import LARGEST
from biela.equations import System
from biela.errors import ModelError, SimulationError
from biela.results import Event
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]

#: What is called at an event, with t, q and v: it returns nothing, "stop", or the (q, v) to go on
#: with.
Reaction: TypeAlias = Callable[[float, Floats, Floats], Any]

#: How far ahead a state is looked at to see where it goes, s.
_AHEAD: Final = 1e-6
#: How far ahead to see what forces do with a state at rest, s.
_PULLED: Final = 1e-4
#: An event function is at rest after an answer if its rate is less than this part of that before.
_AT_REST: Final = 1e-6
#: It is at zero if it is less than this, relative to the coordinates.
_AT_ZERO: Final = 1e-9
#: What numpy raises where numbers are too large to compute with.
_BEYOND_NUMBERS: Final = (np.linalg.LinAlgError, ArithmeticError)
#: So many events are named in a message.
_SOME: Final = 5


class Watched(Protocol):
    """A mechanism with events, under given inputs."""

    @property
    def sizes(self) -> tuple[int, int]:
        """How many coordinates and velocities there are."""
        ...

    @property
    def names(self) -> tuple[Iterable[str], Iterable[str]]:
        """The names of coordinates and velocities."""
        ...

    @property
    def what(self) -> str:
        """Whose these are, as the end of a message; may be empty."""
        ...

    def values(self, t: float, q: Floats, v: Floats) -> Floats:
        """The event functions."""
        ...

    def moved(self, t: float, q: Floats, way: Floats) -> Floats:
        """The position a short way ahead."""
        ...

    def accelerations(self, t: float, q: Floats, v: Floats) -> Floats:
        """The accelerations in a state."""
        ...

    def consistent(self, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The state nearest to one that fulfils the constraints.

        Raises:
            AssemblyError: There is none.
        """
        ...


@dataclass(frozen=True)
class SystemEvents:
    """The events of a system under given inputs, as `Watched`; limits come after its own."""

    system: System
    u: Floats
    p: Floats
    what: str = ""
    ends: tuple[LimitEnd, ...] = ()

    @property
    def sizes(self) -> tuple[int, int]:
        """How many coordinates and velocities there are."""
        return len(self.system.q), len(self.system.v)

    @property
    def names(self) -> tuple[Iterable[str], Iterable[str]]:
        """The names of coordinates and velocities."""
        return [e.name for e in self.system.q], [e.name for e in self.system.v]

    def values(self, t: float, q: Floats, v: Floats) -> Floats:
        """The event functions."""
        system = self.system
        own = np.zeros(0)
        if system.events:
            own = np.atleast_1d(system.evaluate("events", q, v, t=t, u=self.u, p=self.p))
        if not self.ends:
            return own
        known = dict(zip((entry.name for entry in system.q), q.tolist(), strict=True))
        if any(end.coordinate not in known for end in self.ends):
            read, _ = system.evaluate("joint_coordinates", q, v, t=t, u=self.u, p=self.p)
            entries = system.joint_coordinates
            known |= {e.name: float(x) for e, x in zip(entries, np.ravel(read), strict=True)}
        return np.concatenate([own, beyond(self.ends, [known[e.coordinate] for e in self.ends])])

    def moved(self, t: float, q: Floats, way: Floats) -> Floats:
        """The position a short way ahead."""
        return Instant(self.system, t, self.u, self.p).moved(q, way)

    def accelerations(self, t: float, q: Floats, v: Floats) -> Floats:
        """The accelerations in a state."""
        return Instant(self.system, t, self.u, self.p).motion(q, v)[0]

    def consistent(self, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The state nearest to one that fulfils the constraints.

        Raises:
            AssemblyError: There is none.
        """
        return consistent(self.system, q, v, t, self.u, self.p)


class EventAnswers:
    """Answers the events of a run.

    Args:
        owner: Whose events they are, for messages.
        names: Those there are.
        reactions: By the name of an event "stop", or a `Reaction`.
        ends: Ends of ranges of coordinates by the places of their event functions; or in order,
            where these come after those of the names.
        others: Ends that are not looked at in the run, for their names.

    Attributes:
        events: Those met so far.
        ends: Ends of ranges that are looked at.
        until: When a state went on beyond an event that should have thrown it back, s.

    Raises:
        ModelError: An event is not known, or its reaction is a function of other arguments.
    """

    def __init__(
        self,
        owner: str,
        names: Sequence[str],
        reactions: Mapping[str, Reaction | str] | None,
        ends: Sequence[LimitEnd] | Mapping[int, LimitEnd] = (),
        others: Sequence[LimitEnd] = (),
    ) -> None:
        if reactions is not None and not isinstance(reactions, Mapping):
            raise ModelError(
                f"{owner}: on_event gives a reaction for each event by its name, such as "
                f"{{{next(iter(names), 'hit')!r}: 'stop'}}, not {reactions!r}"
            )
        if not isinstance(ends, Mapping):
            ends = {len(names) + k: end for k, end in enumerate(ends)}
        self._owner, self._names, self._at = owner, names, ends
        self.ends = tuple(ends.values())
        self._reactions = dict(reactions or {})
        self.events: list[Event] = []
        self.until = np.inf
        #: By event the direction in which it fired last, and where its answer lets it go.
        self._ways: dict[int, tuple[int, _Way]] = {}
        if not self._reactions:
            return
        limits = dict.fromkeys(name for end in (*self.ends, *others) for name in end.names)
        names = [name for k, name in enumerate(names) if k not in ends]
        known = {*names, *limits}
        for name in self._reactions:
            if name not in known:
                listed = [*names[: _SOME + 1], *limits][: _SOME + 1]
                some = ", ".join(listed[:_SOME]) or "none"
                every = [*names, *limits]
                hint = nearest(name, every) if len(every) > _SOME else f"; it has {some}"
                raise ModelError(f"{owner} has no event {name}{hint}")
        for name, reaction in self._reactions.items():
            if callable(reaction) and takes(reaction, 3) is False:
                raise ModelError(self._uncalled(name, reaction))

    def _uncalled(self, name: str, reaction: Any) -> str:
        """What to say of a reaction that cannot be called."""
        return (
            f"{self._owner}: the reaction to event {name}, {shown(reaction)}, cannot be called "
            f"with t, q and v: give a function of these, lambda t, q, v: (q, -0.5*v), or 'stop'"
        )

    def begin(self, values: Floats, t: float) -> None:
        """Note the coordinates that are outside their limits from the start."""
        for k, end in self._at.items():
            if values[k] > end.tolerance:
                self.events.append(end.event(t, 0))

    def _event(self, k: int, t: float, direction: int) -> Event:
        """The event of a function that has changed its sign."""
        if k in self._at:
            return self._at[k].event(t, direction)
        return Event(t, self._names[k], direction)

    def passing(self, fired: npt.NDArray[np.int64]) -> bool:
        """Whether all that fired are limits to which nobody has an answer."""
        return all(
            k in self._at and self._event(k, 0.0, int(fired[k])).name not in self._reactions
            for k in np.flatnonzero(fired).tolist()
        )

    def react(
        self, watched: Watched, t: float, q: Floats, v: Floats, fired: npt.NDArray[np.int64]
    ) -> tuple[bool, list[tuple[Floats, Floats]]]:
        """Do what was asked for where events have fired.

        Returns whether to stop, and the states to go on with, one for each answer that is one: of
        events at the same instant a reaction gets what the one before has left.

        Raises:
            ModelError: A reaction returns something else, or the state that it was given.
            SimulationError: It returns a state so large that nothing can be computed with it.
            AssemblyError: The state that it returns cannot be made to fulfil the constraints.
        """
        stop, states = False, []
        for k in np.flatnonzero(fired):
            direction = int(fired[k])
            event = self._event(int(k), t, direction)
            name = event.name
            before = _Ahead(watched, int(k), direction, t, q, v)
            if self._left_again(before):
                continue
            self.events.append(event)
            answer: Any = self._reactions.get(name)
            if callable(answer):
                answer = self._called(name, answer, t, q, v)
            if answer is None:
                continue
            if isinstance(answer, str):
                if answer != "stop":
                    raise ModelError(f"event {name}: {shown(answer)} is not a reaction; use 'stop'")
                stop = True
                continue
            found, speed = self._answered(watched, name, t, answer)
            try:
                way = _way(before, replace(before, q=found, v=speed))
            except _BEYOND_NUMBERS as error:
                raise SimulationError(self._unusable(name, t, found, speed)) from error
            if way is _Way.ON and np.array_equal(found, q) and np.array_equal(speed, v):
                raise ModelError(
                    f"{self._owner}: the reaction to event {name} at t = {t:.6g} s returned the "
                    f"state that it was given, with which the motion goes on through the event. "
                    f"Return None if it is to do so, the velocities after an impact to throw it "
                    f"back ((q, -e*v), with a coefficient of restitution e), or 'stop'"
                )
            if way is not _Way.ON:
                self._ways[int(k)] = direction, way
            try:
                q, v = watched.consistent(t, found, speed)
            except _BEYOND_NUMBERS as error:
                raise SimulationError(self._unusable(name, t, found, speed)) from error
            states.append((q, v))
        return stop, states

    def _called(self, name: str, reaction: Reaction, t: float, q: Floats, v: Floats) -> Any:
        """What a reaction returns.

        Raises:
            ModelError: It cannot be called with a state.
        """
        try:
            return reaction(t, q.copy(), v.copy())
        except (TypeError, ValueError) as error:
            if takes(reaction, 3) or not called_in_vain(error):
                raise
            raise ModelError(self._uncalled(name, reaction)) from error

    def _unusable(self, name: str, t: float, q: Floats, v: Floats) -> str:
        """What to say of a state whose equations are not solved in doubles."""
        return (
            f"{self._owner}: the reaction to event {name} at t = {t:.6g} s returned a state with "
            f"which nothing can be computed: its largest coordinate is "
            f"{np.abs(q).max(initial=0.0):.3g}, its largest velocity "
            f"{np.abs(v).max(initial=0.0):.3g}; check what the reaction computes"
        )

    def _left_again(self, now: _Ahead) -> bool:
        """Whether an event fires that was left at rest a rounding error beyond zero, and goes back.

        Then it has been answered already.
        """
        direction, way = self._ways.pop(now.k, (0, _Way.ON))
        if way is not _Way.PUSHED or direction != -now.direction:
            return False
        # how far it has come back: rate² / (2 second rate)
        return bool(now.rate**2 <= 2 * abs(now.second_rate) * _at_zero(now.q))

    def awaits(self, t: float) -> bool:
        """Whether a state at that time is to be looked at by `fallen`."""
        return bool(self._ways) and t > self.events[-1].time

    def fallen(self, watched: Watched, t: float, q: Floats, v: Floats) -> str:
        """What to say if a state is beyond an event whose answer has thrown it back or held it.

        What is at the event still is looked at again later.
        """
        values = watched.values(t, q, v)
        for k, (direction, way) in list(self._ways.items()):
            beyond = values[k] * direction
            if beyond < -_at_zero(q):
                del self._ways[k]
            elif beyond > _at_zero(q) and way is not _Way.PUSHED:
                name = self._event(k, 0.0, direction).name
                self.until = max(event.time for event in self.events if event.name == name)
                after = f"after event {name} at t = {self.until:.6g} s the state goes on beyond it"
                if way is _Way.BACK:
                    return (
                        f"{after}: it comes back faster than can be resolved, or its reaction does "
                        f"not turn it around. Stop there (return 'stop'), or let the model change"
                    )
                return (
                    f"{after}: its reaction leaves it at rest there, and the forces pull it "
                    f"through, since nothing holds it: an event is no contact. Stop there (return "
                    f"'stop'); throw it back with (q, -e*v); or give the model a force that "
                    f"carries it, such as a stop. If it is to go on from rest, stop "
                    f"there and simulate again from that state"
                )
        return ""

    def _answered(
        self, watched: Watched, name: str, t: float, answer: Any
    ) -> tuple[Floats, Floats]:
        """The position and velocity that a reaction has returned.

        Raises:
            ModelError: It is no pair of them, or a number is not finite.
            SimulationError: A number is larger than any with which a model is computed.
        """
        try:
            q, v = (real_numbers(part).reshape(-1) for part in answer)
        except (TypeError, ValueError):
            q = v = np.zeros(0)
        nq, nv = watched.sizes
        if (len(q), len(v)) != (nq, nv):
            raise ModelError(
                f"{self._owner}: the reaction to event {name} at t = {t:.6g} s returned "
                f"{shown(answer)}; return None, 'stop', or the pair (q, v) to go on with: {nq} "
                f"coordinates and {nv} velocities{watched.what}"
            )
        for what, part, names in zip("qv", (q, v), watched.names, strict=True):
            bad = np.flatnonzero(~np.isfinite(part))
            if len(bad):
                k = int(bad[0])
                which = f"{what}[{k}] = {part[k]} ({list(names)[k]})"
                raise ModelError(
                    f"{self._owner}: the reaction to event {name} at t = {t:.6g} s returned "
                    f"{which}, which is not a finite number; check what the reaction computes"
                )
            if np.abs(part).max(initial=0.0) > LARGEST:
                raise SimulationError(self._unusable(name, t, q, v))
        return q, v


def _at_zero(q: Floats) -> float:
    """What an event function at zero is below."""
    return _AT_ZERO * (1.0 + float(np.abs(q).max(initial=0.0)))


class _Way(Enum):
    """Where a reaction lets an event function go."""

    ON = "on through the event, or it was set elsewhere"
    BACK = "back to where it came from"
    PULLED = "at rest, and forces pull it on if there are any"
    PUSHED = "at rest, and forces push it back"


@dataclass(frozen=True)
class _Ahead:
    """An event function in a state, in the direction in which it fired, and in a short time."""

    watched: Watched
    k: int
    direction: int
    t: float
    q: Floats
    v: Floats

    @property
    def at_zero(self) -> bool:
        """Whether it is zero but for rounding."""
        return abs(float(self.watched.values(self.t, self.q, self.v)[self.k])) <= _at_zero(self.q)

    @property
    def rate(self) -> float:
        """Its first derivative in time."""
        return self._change(_AHEAD, bent=False) / _AHEAD

    @property
    def second_rate(self) -> float:
        """Its second derivative, in a state at rest."""
        return 2 * self._change(_PULLED, bent=True) / _PULLED**2

    def _change(self, h: float, bent: bool) -> float:
        """What it gains in a time h, with the acceleration in the way or without."""
        watched, t, q, v = self.watched, self.t, self.q, self.v
        with np.errstate(all="ignore"):
            a = watched.accelerations(t, q, v)
        a = np.where(np.isfinite(a), a, 0.0)
        way = h * v + h * h / 2 * a if bent else h * v
        ahead = watched.values(t + h, watched.moved(t, q, way), v + h * a)
        return float(ahead[self.k] - watched.values(t, q, v)[self.k]) * self.direction


def _way(before: _Ahead, after: _Ahead) -> _Way:
    """Where a reaction lets an event function go, from its states before and after."""
    least, now = _AT_REST * abs(before.rate), after.rate
    if now < -least:
        return _Way.BACK
    if now > least or not after.at_zero:
        return _Way.ON
    return _Way.PULLED if after.second_rate >= 0.0 else _Way.PUSHED
