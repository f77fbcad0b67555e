"""Limits of coordinates in the motion of large mechanisms.

Those that nobody answers are read from the stored instants, by sensors of the joints that have
them; those that somebody answers are event functions of the run, and their coordinates count turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.limits import NEAR, LimitEnd, Track, asked_ends, events_beyond
from biela.analysis.looped.pictures import DRAWN_UP_TO
from biela.analysis.looped.simulated_motion import SimulatedMotion
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.equations.blocks.populations import Population
from biela.equations.blocks.world import World
from biela.model import Model
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces.force import Force
from biela.model.joints import Coordinate, Joint
from biela.model.parts.flattening import body_count
from biela.model.quantities.conjugate import dimension_along
from biela.model.quantities.values import Value
from biela.model.sensors import JointSensor
from biela.results import Event
from biela.results.orientation import unwrap_by_rate

__all__ = ["LoopedLimits"]

Floats = npt.NDArray[np.float64]
#: How events of ends are called behind their coordinates.
_ENDS: Final = {-1: ".lower limit", 1: ".upper limit"}
#: Second rates are differences of rates so long before and after an instant, s.
_APART: Final = 1e-4


@dataclass(frozen=True, kw_only=True)
class LimitWatch(Force):
    """Event functions at the ends of the range of a coordinate; it pushes nothing.

    It has no kind: it is no element of models that people describe.
    """

    coordinate: str = quantity("coordinate", "coordinate that is watched, e.g. knee.angle")
    lower: Value | None = quantity("any", "lowest value of the coordinate", default=None)
    upper: Value | None = quantity("any", "highest value of the coordinate", default=None)

    def act(self, derivation: Derivation) -> None:
        """Watch each end."""
        dimension = dimension_along(derivation.unit(self.coordinate))
        q = derivation.coordinate(self.coordinate)
        for value, side in ((self.lower, -1), (self.upper, 1)):
            if value is not None:
                end = derivation.number(value, dimension)
                name = f"{self.name}{_ENDS[side]}"
                derivation.watch(name, side * (q - end) - NEAR * (1 + abs(end)))


def _limited(model: Model) -> Iterator[tuple[Joint, Coordinate]]:
    """The coordinates of joints of a model itself that have limits."""
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            for coordinate in joint.coordinates:
                if coordinate.name in joint.limits:
                    yield joint, coordinate


def _everywhere(model: Model, change: Callable[[Model], None]) -> Model:
    """A copy of a model with something changed in it and in the prototypes of its parts."""
    found = copy(model)
    change(found)
    found.parts = {
        name: replace(part, model=_everywhere(part.model, change))
        for name, part in model.parts.items()
    }
    return found


class LoopedLimits:
    """The limits of the coordinates of a large mechanism.

    Args:
        model: The mechanism, with joints that start where its run starts.
        parameters: Values other than those of the model.
        reactions: What to do at events, by their names.
        every: Whether all are watched in the run.

    Attributes:
        ends: Those there are.
        asked: The coordinates that are watched in the run, as prototypes call them.
    """

    def __init__(
        self,
        model: Model,
        parameters: Mapping[str, float] | None,
        reactions: object,
        every: bool = False,
    ) -> None:
        self.parameters = parameters
        if model.parts and body_count(model) <= DRAWN_UP_TO and self._any(model):
            model = model.flattened()
        self.model = model
        self.ends: list[LimitEnd] = []
        self._starts: dict[str, float] = {}
        self._turning: set[str] = set()
        owners: dict[str, str] = {}
        if self._any(model):
            world = World(model, parameters)
            for population in world.populations:
                for joint, coordinate in _limited(population.prototype):
                    self._add(population, joint, coordinate, owners)
        asked = self.ends if every else asked_ends(self.ends, reactions)
        self.asked = {owners[end.coordinate] for end in asked}
        self._watched = {end for end in self.ends if owners[end.coordinate] in self.asked}

    @staticmethod
    def _any(model: Model) -> bool:
        models = [model, *(part.model for part in model.parts.values())]
        return any(True for one in models for _ in _limited(one))

    def _add(
        self, population: Population, joint: Joint, coordinate: Coordinate, owners: dict[str, str]
    ) -> None:
        own, dimension = f"{joint.name}.{coordinate.name}", dimension_along(coordinate.unit)
        rows = population.rows(joint.limits[coordinate.name], dimension)
        start = population.rows([joint.start.get(coordinate.name, 0.0)], dimension)[:, 0]
        given = coordinate.name in joint.start
        for k, row in enumerate(rows.tolist()):
            name = f"{population.prefix(k)}{own}"
            owners[name] = own
            if coordinate.unit == "rad":
                self._turning.add(name)
            if given:
                self._starts[name] = float(start[k])
            for limit, side in zip(row, (-1, 1), strict=True):
                if np.isfinite(limit):
                    self.ends.append(LimitEnd(name, side, limit))

    def watching(self, model: Model) -> Model:
        """The model with event functions for the ends that somebody answers."""
        asked = self.asked
        if not asked:
            return model

        def change(one: Model) -> None:
            one.forces = dict(one.forces)
            for joint, coordinate in _limited(one):
                name = f"{joint.name}.{coordinate.name}"
                if name in asked:
                    low, high = joint.limits[coordinate.name]
                    one.forces[name] = LimitWatch(
                        name=name, coordinate=name, lower=_finite(low), upper=_finite(high)
                    )

        return _everywhere(model, change)

    def started(
        self, plain: ReferenceBlocks, blocks: ReferenceBlocks, t: float, q: Floats, v: Floats
    ) -> tuple[Floats, Floats]:
        """A state of the equations without event functions as one of those that have them."""
        read = _Read(self._sensing(), plain)
        x, dx = read.at(np.array([t]), q[None], v[None])
        known = self._unwound(np.array([t]), read.names, x, dx, None)
        places = dict(zip(plain.coordinate_names, q.tolist(), strict=True))
        speeds = dict(zip(plain.velocity_names, v.tolist(), strict=True))
        own_q, own_v = list(blocks.coordinate_names), list(blocks.velocity_names)
        for name, rate in zip(blocks.extra, own_v[len(own_v) - len(blocks.extra) :], strict=True):
            if name not in places:
                places[name], speeds[rate] = (float(part[0]) for part in known[name])
        return np.array([places[name] for name in own_q]), np.array([speeds[n] for n in own_v])

    def places(self, blocks: ReferenceBlocks) -> dict[int, LimitEnd]:
        """The ends that are watched, by the places of their event functions."""
        if not self.asked:
            return {}
        names = {f"{end.coordinate}{_ENDS[end.side]}": end for end in self._watched}
        return {k: names[name] for k, name in enumerate(blocks.events) if name in names}

    def events(
        self,
        motion: SimulatedMotion,
        known: Collection[LimitEnd],
        closer: Callable[[int], SimulatedMotion | None],
    ) -> list[Event]:
        """The events of the ends that are not ``known``, in a motion that is stored.

        Args:
            motion: What is stored.
            known: Ends whose events were met in the run.
            closer: The run once more from a stored instant to the next, or nothing.
        """
        ends = [end for end in self.ends if end not in known]
        if not ends or not len(motion.t):
            return []
        read = _Read(self._sensing(), motion.blocks)
        whole = self._unwound(motion.t, *read(motion), None)
        seen: dict[int, tuple[Floats, dict[str, tuple[Floats, Floats, Floats]]]] = {}

        def track(name: str) -> Track:
            x, dx = whole[name]
            return Track(motion.t, x, dx, np.full(len(x), np.nan))

        def near(name: str, k: int) -> Track:
            if k not in seen:
                part = closer(k)
                if part is None:
                    part = motion.at(np.array([k, k + 1]))
                    part.u = motion.held[k + 1]
                first = {one: float(x[k]) for one, (x, _) in whole.items()}
                found = self._unwound(part.t, *read(part), first)
                bent = dict(zip(read.names, read.second_rates(part).T, strict=True))
                seen[k] = part.t, {one: (x, dx, bent[one]) for one, (x, dx) in found.items()}
            t, rows = seen[k]
            return Track(t, *rows[name])

        return events_beyond(ends, track, near)

    def _sensing(self) -> ReferenceBlocks:
        """The mechanism with sensors of all coordinates that have limits."""

        def change(one: Model) -> None:
            one.forces, one.drivers, one.sensors = {}, {}, {}
            for joint, coordinate in _limited(one):
                name = f"{joint.name}.{coordinate.name}"
                one.sensors[name] = JointSensor(name=name, coordinate=name)

        return reference_blocks(_everywhere(self.model, change), parameters=self.parameters)

    def _unwound(
        self,
        t: Floats,
        names: list[str],
        x: Floats,
        dx: Floats,
        first: Mapping[str, float] | None,
    ) -> dict[str, tuple[Floats, Floats]]:
        """Coordinates over all turns, from where they start, with their rates."""
        found = {}
        for k, name in enumerate(names):
            values = x[:, k]
            if name in self._turning:
                values = unwrap_by_rate(values, dx[:, k], t, 2 * np.pi)
                start = (first or self._starts).get(name)
                if start is not None:
                    turns = np.round((start - values[0]) / (2 * np.pi))
                    values = values + 2 * np.pi * turns
            found[name] = values, dx[:, k]
        return found


def _finite(value: Value) -> Value | None:
    return None if isinstance(value, float) and not np.isfinite(value) else value


class _Read:
    """Reads coordinates of joints in states of a run."""

    def __init__(self, sensing: ReferenceBlocks, own: ReferenceBlocks) -> None:
        self._sensing, self._own = sensing, own
        outputs = list(sensing.outputs)
        places = {name: k for k, name in enumerate(outputs)}
        self.names = [name for name in outputs if f"{name}_rate" in places]
        self._x = [places[name] for name in self.names]
        self._dx = [places[f"{name}_rate"] for name in self.names]

    @cached_property
    def _state(self) -> tuple[list[int], list[int]]:
        """Where coordinates and velocities of the sensing equations stand in a state."""
        found = []
        for theirs, mine in (
            (self._sensing.coordinate_names, self._own.coordinate_names),
            (self._sensing.velocity_names, self._own.velocity_names),
        ):
            places = {name: k for k, name in enumerate(mine)}
            found.append([places[name] for name in theirs])
        return found[0], found[1]

    def __call__(self, motion: SimulatedMotion) -> tuple[list[str], Floats, Floats]:
        """Names, coordinates and rates, a row an instant."""
        x, dx = self.at(motion.t, motion.q, motion.v)
        return self.names, x, dx

    def at(self, t: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Coordinates and rates in some states, a row an instant."""
        place, speed = self._state
        instants = zip(t.tolist(), q, v, strict=True)
        y = np.array([self._sensing.y(a[place], b[speed], at) for at, a, b in instants])
        y = y.reshape(len(t), -1)
        return y[:, self._x], y[:, self._dx]

    def second_rates(self, motion: SimulatedMotion) -> Floats:
        """Second rates, by differences of the rates along the motion."""
        found = []
        for side in (1, -1):
            way = side * _APART * motion.v + _APART**2 / 2 * motion.a
            q = np.array([self._own.moved(a, b) for a, b in zip(motion.q, way, strict=True)])
            v = motion.v + side * _APART * motion.a
            found.append(self.at(motion.t + side * _APART, q, v)[1])
        return (found[0] - found[1]) / (2 * _APART)
