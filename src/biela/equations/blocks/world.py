"""The populations of a model, and what a name of the host means in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from biela.budgets import check_equations
from biela.equations.blocks.populations import (
    NO_BODY,
    Floats,
    Frames,
    HostParameters,
    Integers,
    Names,
    NotVectorisedError,
    Population,
    settings_of,
)
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.element import SPECIAL
from biela.model.joints import Joint
from biela.model.markers import Marker
from biela.model.parts.flattening import body_count
from biela.model.parts.instances import _INSTANCE
from biela.model.parts.part import Part


class World:
    """All bodies of a model; those of arrays must be within the limit of memory.

    ``host`` is the model itself, ``populations`` it and its parts; ``centres`` are the centres of
    mass in the frames of the bodies, (bodies, 3).
    """

    def __init__(self, model: Model, parameters: Mapping[str, float] | None = None) -> None:
        if model.parts:
            check_equations(model.name, body_count(model))
        self.model = model
        fixed = Frames(np.array([NO_BODY]), np.zeros((1, 3)), np.eye(3)[None])
        known = HostParameters(model, parameters or {})
        self.host = Population(model, 1, 0, known, lambda k: "", fixed)
        self.populations = [self.host]
        self.parts: dict[str, Population] = {}
        first = len(model.bodies)
        for part in model.parts.values():
            population = self._population(part, first)
            first += population.count * len(population.local)
            self.populations.append(population)
            self.parts[part.name] = population
        for part in model.parts.values():
            self.parts[part.name].ground = self._ground(part)
        self.count = first
        self.names = Names()
        self.centres = np.zeros((first, 3))
        for population in self.populations:
            self.names.add(population.count, population.prefix, list(population.local))
            for name, body in population.prototype.bodies.items():
                com = population.rows(body.inertia.com, "length")
                self.centres[population.bodies(name)] = com

    def _population(self, part: Part, first: int) -> Population:
        prototype = part.model.flattened(limit=None)
        nowhere = Frames(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 3, 3)))
        settings = settings_of(part, self.host)
        return Population(prototype, part.size, first, settings, part.prefix, nowhere)

    def _ground(self, part: Part) -> Frames:
        """Where the ground of each instance is fixed."""
        host, own, n = self.host, self.parts[part.name], part.size
        R = host.axes(part.orientation)[0]
        place, shift = host.rows(part.position, "length")[0], host.rows(part.shift, "length")[0]
        body = self.body(part.on)
        if part.link is None:
            places = place + np.arange(n)[:, None] * shift
            return Frames(np.full(n, body), places, np.broadcast_to(R, (n, 3, 3)))
        name, marker = part.link_place
        link = own.prototype.bodies[name].markers[marker] if marker else Marker(name, "")
        frames = own.frames(link)
        places = frames.place + np.einsum("nij,j->ni", frames.axes, shift)
        return Frames(
            np.concatenate([[body], frames.body[:-1]]),
            np.concatenate([place[None], places[:-1]]),
            np.concatenate([R[None], frames.axes[:-1]]),
        )

    # --------------------------------------------------------------------- by name

    def body(self, name: str) -> int:
        """The number of a body of the whole.

        Raises:
            ModelError: There is none.
        """
        if name == GROUND:
            return NO_BODY
        population, k, local = self.located(name)
        if local not in population.local:
            raise ModelError(f"{self.model.name} has no body {name!r}")
        return population.first + k * len(population.local) + population.local[local]

    def located(self, name: str) -> tuple[Population, int, str]:
        """The population, the instance and the name in its prototype of a name of the host."""
        if name in self.host.local or name.partition(".")[0] in self.model.joints:
            return self.host, 0, name
        match = _INSTANCE.fullmatch(name)
        part = self.model.parts.get(match["part"]) if match else None
        if match is None or part is None:
            return self.host, 0, name
        return self.parts[part.name], part.number(int(match["number"] or 0)), match["rest"]

    def frames(self, population: Population, marker: Marker) -> Frames:
        """A marker of a prototype, or of the host on a body of a part."""
        if population is not self.host or marker.body == GROUND or marker.body in population.local:
            return population.frames(marker)
        place = population.rows(marker.position, "length")
        body = np.array([self.body(marker.body)])
        return Frames(body, place, population.axes(marker.orientation))

    # ------------------------------------------------------------- between instances

    def between(self) -> Iterator[tuple[Part, Joint, Frames, Frames, Integers]]:
        """Joints between instances: the part, the joint, its markers, the later instances."""
        for part in self.model.parts.values():
            if part.size < 2:
                continue
            later = np.arange(1, part.size)
            for said, joint in zip(part.between, part.joints_between, strict=True):
                places = ((said.i, joint.i), (said.j, joint.j))
                ends = [self._end(part, text, marker, later) for text, marker in places]
                yield part, self._plain(part, joint), ends[0], ends[1], later

    def _plain(self, part: Part, joint: Joint) -> Joint:
        """The joint with its own name, and with numbers in place of texts of the host."""
        changes: dict[str, Any] = {"name": joint.name.removeprefix(part.prefix(1))}
        for name, described in joint.settings().items():
            value, dimension = getattr(joint, name), described.metadata["dimension"]
            if isinstance(value, str) and dimension not in SPECIAL:
                changes[name] = self.host.value(value, dimension)
        return replace(joint, **changes)

    def _end(self, part: Part, text: str, marker: Marker, later: Integers) -> Frames:
        """A marker of the joint between two trial instances, in all of them.

        Raises:
            NotVectorisedError: It is on the ground, or made of parameters that differ.
        """
        population = self.parts[part.name]
        match = _INSTANCE.fullmatch(marker.body)
        body, _, name = text.rpartition(".")
        if match and body in population.prototype.bodies and body == match["rest"]:
            known = population.prototype.bodies[body].markers.get(name)
            if known is not None and known.orientation == marker.orientation:
                # its place may be made of parameters that differ from instance to instance
                return population.frames(known).at(later - 1 + int(match["number"] or 0))
        rows = any(isinstance(v, np.ndarray) for v in part.parameters.values())
        texts = (*marker.position, *(angle for _, angle in marker.orientation.turns))
        if match is None or (rows and any(isinstance(x, str) for x in texts)):
            raise NotVectorisedError(f"part {part.name}: a joint between instances on its ground")
        index = later - 1 + int(match["number"] or 0)
        one = replace(marker, body=match["rest"])
        if match["rest"] not in population.local:
            raise NotVectorisedError(f"part {part.name}: {marker.body} is inside an array of it")
        count = len(later)
        place = np.broadcast_to(self.host.rows(one.position, "length"), (count, 3))
        axes = np.broadcast_to(self.host.axes(one.orientation), (count, 3, 3))
        return Frames(population.bodies(match["rest"])[index], place, axes)


def pose_matrices(place: Floats, axes: Floats) -> Floats:
    """Poses (n, 4, 4) of places and axes."""
    T = np.zeros((len(place), 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = axes, place, 1.0
    return T
