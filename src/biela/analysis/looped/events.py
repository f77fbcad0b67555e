"""Events in the motion of large mechanisms: who has asked for what, and what is done about it.

Where an event lies is found by the integrators, as in all simulations; here a run is stopped, or
goes on with another state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.event_answers import says_stop
from biela.analysis.looped.motion import LoopedMotion
from biela.errors import AssemblyError, ModelError
from biela.model.element import nearest
from biela.results import Event

Floats = npt.NDArray[np.float64]

#: What is called at an event, with t, q and v; see `EventAnswers.react`.
Reaction: TypeAlias = Callable[[float, Floats, Floats], Any]

#: Constraints that are missed by less are closed: of an iteration on the way, and at its end.
_CLOSED: Final = 1e-13
_NEARLY: Final = 1e-9
_ITERATIONS: Final = 20
#: How far ahead a state is looked at to see where it goes, s.
_AHEAD: Final = 1e-6


class EventAnswers:
    """Answers the events of a run.

    Args:
        motion: What moves.
        u: Its inputs.
        reactions: By the name of an event "stop", or a function of t, q and v that returns
            nothing, "stop", or the (q, v) of the bodies to go on with.

    Attributes:
        events: Those met so far.
        until: When a state went on beyond an event that should have thrown it back, s.

    Raises:
        ModelError: An event is not known.
    """

    def __init__(
        self, motion: LoopedMotion, u: Floats, reactions: Mapping[str, Reaction | str] | None
    ) -> None:
        blocks = motion.blocks
        if reactions is not None and not isinstance(reactions, Mapping):
            raise ModelError(
                f"{blocks.name}: on_event gives a reaction for each event by its name, such as "
                f"{{{next(iter(blocks.events), 'hit')!r}: 'stop'}}, not {reactions!r}"
            )
        self.motion, self.u = motion, u
        self.reactions = dict(reactions or {})
        self.events: list[Event] = []
        self.until = np.inf
        self._turned: dict[int, int] = {}
        names = set(blocks.events) if self.reactions else set()
        for name in self.reactions:
            if name not in names:
                some = ", ".join(blocks.events[:5]) or "none"
                more = f"{nearest(name, names)}; it has {some}" + ", …" * (len(names) > 5)
                raise ModelError(f"{blocks.name} has no event {name}{more}")

    def react(self, t: float, x: Floats, fired: npt.NDArray[np.int64]) -> tuple[bool, Floats]:
        """Do what was asked for where events have fired; whether to stop, and the state after it.

        A state that a reaction returns is corrected to fulfil the constraints, as little as it can
        be in the metric of the mass: velocities change as by impulses of the joints.

        Raises:
            ModelError: A reaction returns something else.
            AssemblyError: The state that it returns cannot be corrected.
        """
        blocks, stop = self.motion.blocks, False
        for k in np.flatnonzero(fired):
            name, direction = blocks.events[int(k)], int(fired[k])
            self.events.append(Event(t, name, direction))
            answer = self.reactions.get(name)
            if callable(answer):
                answer = answer(t, x[: blocks.nq].copy(), x[blocks.nq :].copy())
            if answer is None:
                continue
            if says_stop(name, answer):
                stop = True
                continue
            x = self._answered(name, answer)
            if self._goes_back(int(k), direction, t, x):
                self._turned[int(k)] = direction
            x = self._consistent(t, x)
        return stop, x

    def fallen(self, t: float, x: Floats) -> str:
        """What to say if a state stays beyond an event that should have thrown it back."""
        if not self._turned or t <= self.events[-1].time:
            return ""
        blocks = self.motion.blocks
        q, v = x[: blocks.nq], x[blocks.nq :]
        values = blocks.g(q, v, t, self.u)
        turned, self._turned = self._turned, {}
        for k, direction in turned.items():
            if values[k] * direction > 1e-9 * (1.0 + float(np.abs(q).max())):
                self.until = self.events[-1].time
                return (
                    f"after event {blocks.events[k]} at t = {self.until:.6g} s the state "
                    f"goes on beyond it: it comes back faster than can be resolved, or its "
                    f"reaction does not turn it around. Stop there (return 'stop'), or let the "
                    f"model change"
                )
        return ""

    def _answered(self, name: str, answer: Any) -> Floats:
        blocks = self.motion.blocks
        try:
            q, v = (np.asarray(part, dtype=float).reshape(-1) for part in answer)
        except (TypeError, ValueError):
            q = v = np.zeros(0)
        if len(q) != blocks.nq or len(v) != blocks.nv:
            raise ModelError(
                f"{blocks.name}: the reaction to event {name} returned {answer!r}; return None, "
                f"'stop', or the pair (q, v) to go on with: {blocks.nq} coordinates and "
                f"{blocks.nv} velocities of the bodies"
            )
        return np.concatenate([q, v])

    def _goes_back(self, k: int, direction: int, t: float, x: Floats) -> bool:
        """Whether a reaction lets the event function go back to where it came from."""
        blocks = self.motion.blocks
        q, v = x[: blocks.nq], x[blocks.nq :]
        now, later = (
            blocks.g(place, v, t, self.u)[k] for place in (q, blocks.moved(q, _AHEAD * v))
        )
        return bool((later - now) * direction < 0)

    def _consistent(self, t: float, x: Floats) -> Floats:
        """The state nearest to one that fulfils the constraints of position and velocity.

        Raises:
            AssemblyError: There is none near it.
        """
        motion, blocks = self.motion, self.motion.blocks
        if not len(blocks.rows):
            return x
        missed = np.inf
        for _ in range(_ITERATIONS):
            motion.accelerations(t, x[: blocks.nq], x[blocks.nq :], self.u)
            corrected, before = motion.corrected(t, x, self.u)
            if (
                not np.isfinite(before)
                or before <= _CLOSED
                or (before <= _NEARLY and before > 0.3 * missed)
            ):
                missed = before
                break
            x, missed = corrected, before
        if not missed <= _NEARLY * (1.0 + float(np.abs(x).max())):
            raise AssemblyError(
                f"{blocks.name}: the state that a reaction returned at t = {t:.6g} s does not "
                f"fulfil the constraints, which are missed by {missed:.3g}, and none near it does"
            )
        return x
