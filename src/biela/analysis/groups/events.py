"""Events in a run by groups: where functions of the bodies change their sign, and what is done.

The functions are those of the reference-point equations, so that events have the same names and
values as in `biela.simulate`.  They are looked at after every step; where one has changed its sign
the step is taken again, shortened, until the event lies at its end, as by the integrators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.event_answers import EventAnswers, Reaction, SystemEvents
from biela.analysis.groups.motion import body_coordinates, counted_coordinates
from biela.analysis.groups.poses import poses_of
from biela.analysis.groups.starting import across_plane
from biela.analysis.limits import asked_ends, limit_ends
from biela.analysis.preparation import values
from biela.equations import System
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.model import Model
from biela.solvers.integrators.events import FIRED, crossing, event_tolerance
from biela.solvers.integrators.roots import (
    ROOT_LIMIT,
    root_after,
    root_begin,
    root_close,
    root_point,
    root_update,
    sign,
)

if TYPE_CHECKING:
    from biela.analysis.groups.simulation import GroupSimulator

__all__ = ["GroupEvents"]

Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int64]
#: A step of some length from the state that is looked at; None if a group is not solved there.
Step = Callable[[float], Floats | None]


class GroupEvents:
    """The bodies of a run between its stored instants, its events and their answers.

    Args:
        model: The mechanism, of which there is no array.
        system: Its reference-point equations.
        parameters: Values other than those of the model.
        reactions: What to do at events, by their names.
        u: The inputs.
        every: Whether limits are looked at that nobody answers.

    Attributes:
        answers: What was met, and what is done.
        ne: How many functions are looked at.
        u: The inputs, now.
        counted: Coordinates that equations of bodies have besides those of the bodies.
    """

    def __init__(
        self,
        model: Model,
        system: System,
        parameters: Mapping[str, float] | None,
        reactions: Mapping[str, Reaction | str] | None,
        u: Floats,
        every: bool = False,
    ) -> None:
        self.system, self.u = system, u
        self.p = values(system, "parameter", system.p, parameters)
        ends = limit_ends(system, self.p)
        asked = ends if every else asked_ends(ends, reactions)
        self.answers = EventAnswers(system.name, system.events, reactions, asked, ends)
        self.ne = len(system.events) + len(asked)
        self.counted = counted_coordinates(model, system)
        self._world = World(model, parameters)
        self._across = across_plane(model, self._world)
        self._signs: Signs = np.zeros(self.ne, dtype=np.int64)

    @property
    def watched(self) -> SystemEvents:
        """The event functions under the inputs."""
        return SystemEvents(self.system, self.u, self.p, " of the bodies", self.answers.ends)

    def begin(self, t: float, q: Floats, v: Floats) -> None:
        """Note the signs at the start of a run, or of a part of it."""
        if self.ne:
            g = self.watched.values(t, q, v)
            self._signs = np.where(self._signs == FIRED, 0, np.sign(g).astype(np.int64))

    def first_look(self, t: float, q: Floats, v: Floats) -> None:
        """Note what is outside its limits at the start of the whole run."""
        if self.ne:
            self.answers.begin(self.watched.values(t, q, v), t)

    def poses(self, q: Floats) -> Poses:
        """Where all bodies are, and what poses do not tell."""
        known = {entry.name: float(x) for entry, x in zip(self.system.q, q, strict=True)}
        return poses_of(self._world, q, known, self._across)

    def bodies(
        self, simulator: GroupSimulator, near: Poses, t: Floats, states: Floats
    ) -> tuple[Floats, Floats]:
        """Positions and velocities of all bodies at some states, the first of them ``near``."""
        coordinates, solver = simulator.start.coordinates, simulator.solver
        rates = states[:, coordinates.positions :]
        bent = np.zeros_like(rates)
        if len(t) > 1 and (np.diff(t) > 0).all():
            bent = np.gradient(rates, t, axis=0)
        before, solver.poses = solver.poses, near
        try:
            laws = coordinates.laws(states, bent)
            motion = solver.run(t, given=(simulator.start.drivers, laws))
            q, v, _ = body_coordinates(motion, self.counted, still=True)
        finally:
            solver.poses = before
        return q, v

    def first(self, t: Floats, q: Floats, v: Floats) -> int:
        """After how many of some steps from the last look on a sign changes; -1 if none does."""
        if not self.ne:
            return -1
        rows = np.array(
            [self.watched.values(*one) for one in zip(t.tolist(), q, v, strict=True)]
        ).reshape(len(t), self.ne)
        signs = np.sign(rows).astype(np.int64)
        signs[0] = np.where(self._signs == FIRED, 0, self._signs)
        changed = (signs[:-1] != 0) & (signs[1:] != signs[:-1])
        if not changed.any():
            self._signs = signs[-1]
            return -1
        k = int(np.argmax(changed.any(axis=1)))
        self._signs = signs[k]
        return k

    def located(
        self,
        simulator: GroupSimulator,
        step: Step,
        t: float,
        x: Floats,
        q: Floats,
        v: Floats,
        length: float,
    ) -> tuple[float, Floats, tuple[Floats, Floats], Signs] | None:
        """The first event in a step from a state, of bodies (q, v), in which one is.

        Returns:
            How long after the state it is, the state there, that of the bodies, and which
            functions changed their sign in which direction; None if a group is not solved.
        """
        near = self.poses(q)

        def at(s: float) -> tuple[Floats, Floats, Floats, Floats] | None:
            found = step(s)
            if found is None:
                return None
            places, speeds = self.bodies(
                simulator, near, np.array([t, t + s]), np.array([x, found])
            )
            g = self.watched.values(t + s, places[-1], speeds[-1])
            return found, places[-1], speeds[-1], g

        z, g0, whole = np.zeros(7), self.watched.values(t, q, v), length
        now = at(length)
        if now is None:
            return None
        for e in range(self.ne):
            if not crossing(self._signs[e], sign(now[3][e]), 0):
                continue
            root_begin(0.0, g0[e], length, now[3][e], z)
            tolerance, closed = event_tolerance(whole, 0.0), now[3][e] == 0.0
            for _ in range(ROOT_LIMIT):
                if closed:
                    break
                s = root_point(z)
                now = at(s)
                if now is None:
                    return None
                closed = bool(root_update(s, now[3][e], tolerance, z))
            # a little behind it, as in the integrators
            length = min(root_after(z) + tolerance, length)
            root_close(length, z)
            now = at(length)
            if now is None:
                return None
        fired = np.array(
            [crossing(a, sign(b), 0) for a, b in zip(self._signs, now[3], strict=True)]
        )
        self._signs = np.where(fired != 0, FIRED, np.sign(now[3]).astype(np.int64))
        return length, now[0], (now[1], now[2]), fired

    def react(
        self, t: float, q: Floats, v: Floats, fired: Signs
    ) -> tuple[bool, list[tuple[Floats, Floats]]]:
        """Do what was asked for where events have fired; see `EventAnswers.react`."""
        return self.answers.react(self.watched, t, q, v, fired)

    def fallen(self, t: float, q: Floats, v: Floats) -> str:
        """What to say if a state is beyond an event that should have thrown it back."""
        return self.answers.fallen(self.watched, t, q, v) if self.answers.awaits(t) else ""


def inputs_of(system: System, given: Any) -> Floats:
    """The inputs of a run, by name or in order."""
    return values(system, "input", system.u, given)
