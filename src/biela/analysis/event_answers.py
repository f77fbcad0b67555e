"""What is done at the events of a run: who has asked for what, and the state that goes on.

Where an event lies is found by the integrators; here a run is stopped, or goes on with another
state.  Engines tell how they see their events as `Watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import consistent
from biela.analysis.instant import Instant
from biela.equations import System
from biela.errors import ModelError
from biela.model.element import nearest
from biela.results import Event

Floats = npt.NDArray[np.float64]

#: What is called at an event, with t, q and v: it returns nothing, "stop", or the (q, v) to go on
#: with.
Reaction: TypeAlias = Callable[[float, Floats, Floats], Any]

#: How far ahead a state is looked at to see where it goes, s.
_AHEAD: Final = 1e-6
#: So many events are named in a message.
_SOME: Final = 5


class Watched(Protocol):
    """A mechanism with events, under given inputs."""

    @property
    def sizes(self) -> tuple[int, int]:
        """How many coordinates and velocities there are."""
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

    def consistent(self, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The state nearest to one that fulfils the constraints.

        Raises:
            AssemblyError: There is none.
        """
        ...


@dataclass(frozen=True)
class SystemEvents:
    """The events of a system under given inputs, as `Watched`."""

    system: System
    u: Floats
    p: Floats
    what: str = ""

    @property
    def sizes(self) -> tuple[int, int]:
        """How many coordinates and velocities there are."""
        return len(self.system.q), len(self.system.v)

    def values(self, t: float, q: Floats, v: Floats) -> Floats:
        """The event functions."""
        return np.atleast_1d(self.system.evaluate("events", q, v, t=t, u=self.u, p=self.p))

    def moved(self, t: float, q: Floats, way: Floats) -> Floats:
        """The position a short way ahead."""
        return Instant(self.system, t, self.u, self.p).moved(q, way)

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

    Attributes:
        events: Those met so far.
        until: When a state went on beyond an event that should have thrown it back, s.

    Raises:
        ModelError: An event is not known.
    """

    def __init__(
        self, owner: str, names: Sequence[str], reactions: Mapping[str, Reaction | str] | None
    ) -> None:
        if reactions is not None and not isinstance(reactions, Mapping):
            raise ModelError(
                f"{owner}: on_event gives a reaction for each event by its name, such as "
                f"{{{next(iter(names), 'hit')!r}: 'stop'}}, not {reactions!r}"
            )
        self._owner, self._names = owner, names
        self._reactions = dict(reactions or {})
        self.events: list[Event] = []
        self.until = np.inf
        self._turned: dict[int, int] = {}
        known = set(names) if self._reactions else set()
        for name in self._reactions:
            if name not in known:
                some = ", ".join(names[:_SOME]) or "none"
                hint = nearest(name, names) if len(names) > _SOME else f"; it has {some}"
                raise ModelError(f"{owner} has no event {name}{hint}")

    def react(
        self, watched: Watched, t: float, q: Floats, v: Floats, fired: npt.NDArray[np.int64]
    ) -> tuple[bool, list[tuple[Floats, Floats]]]:
        """Do what was asked for where events have fired.

        Returns whether to stop, and the states to go on with, one for each answer that is one: of
        events at the same instant a reaction gets what the one before has left.

        Raises:
            ModelError: A reaction returns something else.
            AssemblyError: The state that it returns cannot be made to fulfil the constraints.
        """
        stop, states = False, []
        for k in np.flatnonzero(fired):
            name, direction = self._names[int(k)], int(fired[k])
            self.events.append(Event(t, name, direction))
            answer: Any = self._reactions.get(name)
            if callable(answer):
                answer = answer(t, q.copy(), v.copy())
            if answer is None:
                continue
            if isinstance(answer, str):
                if answer != "stop":
                    raise ModelError(f"event {name}: {answer!r} is not a reaction; use 'stop'")
                stop = True
                continue
            q, v = self._answered(watched, name, answer)
            if _goes_back(watched, int(k), direction, t, q, v):
                self._turned[int(k)] = direction
            q, v = watched.consistent(t, q, v)
            states.append((q, v))
        return stop, states

    def awaits(self, t: float) -> bool:
        """Whether a state at that time is to be looked at by `fallen`."""
        return bool(self._turned) and t > self.events[-1].time

    def fallen(self, watched: Watched, t: float, q: Floats, v: Floats) -> str:
        """What to say if a state stays beyond an event that should have thrown it back."""
        values = watched.values(t, q, v)
        turned, self._turned = self._turned, {}
        for k, direction in turned.items():
            if values[k] * direction > 1e-9 * (1.0 + float(np.abs(q).max())):
                self.until = self.events[-1].time
                return (
                    f"after event {self._names[k]} at t = {self.until:.6g} s the state goes on "
                    f"beyond it: it comes back faster than can be resolved, or its reaction does "
                    f"not turn it around. Stop there (return 'stop'), or let the model change"
                )
        return ""

    def _answered(self, watched: Watched, name: str, answer: Any) -> tuple[Floats, Floats]:
        try:
            q, v = (np.asarray(part, dtype=float).reshape(-1) for part in answer)
        except (TypeError, ValueError):
            q = v = np.zeros(0)
        nq, nv = watched.sizes
        if (len(q), len(v)) != (nq, nv):
            raise ModelError(
                f"{self._owner}: the reaction to event {name} returned {answer!r}; return None, "
                f"'stop', or the pair (q, v) to go on with: {nq} coordinates and {nv} velocities"
                f"{watched.what}"
            )
        return q, v


def _goes_back(watched: Watched, k: int, direction: int, t: float, q: Floats, v: Floats) -> bool:
    """Whether a reaction lets the event function go back to where it came from."""
    ahead = watched.moved(t, q, _AHEAD * v)
    now, later = (watched.values(t, place, v)[k] for place in (q, ahead))
    return bool((later - now) * direction < 0)
