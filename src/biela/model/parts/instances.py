"""One instance of a part, seen from the host: its names, its parameters, where its frames are.

The ground of the prototype is fixed to a body of the host, or to the link of the instance before,
by a pose F.  Bodies keep their frames; markers of the ground become markers of that body:

    T_marker in the body = F · T_marker in the ground.

F is numbers in its rotation; its translation, and the places it moves, may be texts with
parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.model.bodies import GROUND, Body, Inertia
from biela.model.markers import Marker
from biela.model.orientation import Orientation, by_rows
from biela.model.parts.offsets import clean, combined, scaled
from biela.model.parts.renaming import renamed, renamed_orientation
from biela.model.placing import body_pose, matrix, posed
from biela.model.quantities.units import evaluate, parameters_of
from biela.model.quantities.values import Value
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.model.model import Model
    from biela.model.parts.part import Part
    from biela.model.shapes import Shape

Floats = npt.NDArray[np.float64]
_INSTANCE = re.compile(r"(?P<part>[^.\[\]]+)(?:\[(?P<number>-?\d+)\])?\.(?P<rest>.+)")


@dataclass(frozen=True, eq=False)
class Instance:
    """An instance of a part whose prototype has no parts itself."""

    host: Model
    part: Part
    prototype: Model
    number: int

    @cached_property
    def prefix(self) -> str:
        """What goes before the names of the prototype."""
        return self.part.prefix(self.number)

    @cached_property
    def names(self) -> dict[str, str]:
        """What stands for each parameter of the prototype."""
        return self.part.parameter_names(self.number)

    def value(self, value: Value, dimension: str = "any") -> float:
        """A value of the prototype as a number, with the parameters of this instance."""
        if isinstance(value, float):
            return value
        own: dict[str, Value] = {}
        for name, given in self.part.parameters.items():
            if isinstance(given, str):
                own[name] = self.host.number(given)
            else:
                own[name] = float(given[self.number] if isinstance(given, np.ndarray) else given)
        return self.prototype.parameters.changed(own, self.part.name).value(value, dimension)

    # ----------------------------------------------------------------------- ground

    @property
    def linked(self) -> bool:
        """Whether it stands on the instance before it."""
        return self.part.link is not None and self.number > 0

    @cached_property
    def ground(self) -> Marker:
        """The ground frame of the prototype as a marker of a body of the host."""
        part = self.part
        name = self.prefix.rstrip(".")
        if self.linked:
            before = replace_number(self, self.number - 1)
            body, marker = part.link_place
            link = self.prototype.bodies[body].markers[marker] if marker else Marker(body, "")
            link = before.marker(link)
            R = self._numeric(link.orientation)
            place = combined(self.host.number, link.position, R, part.shift)
            return Marker(link.body, name, place, by_rows(R))
        R = matrix(self.host, part.orientation)
        shift = tuple(scaled(self.host.number, self.number, x) for x in part.shift)
        place = combined(self.host.number, part.position, np.eye(3), shift)
        return Marker(part.on, name, place, by_rows(R))

    def _numeric(self, orientation: Orientation) -> Floats:
        if any(parameters_of(angle) for _, angle in orientation.turns):
            raise ModelError(
                f"{self.host.name}: part {self.part.name} is linked by a marker that is turned by "
                f"parameters; turn it by numbers"
            )
        return matrix(self.host, orientation)

    @cached_property
    def at_home(self) -> bool:
        """Whether its ground frame is that of the host."""
        ground = self.ground
        return (
            ground.body == GROUND
            and ground.orientation == Orientation()
            and not any(ground.position)
        )

    @cached_property
    def turned(self) -> bool:
        """Whether the axes of its ground are others than those of the host's."""
        return self.ground.body != GROUND or self.ground.orientation != Orientation()

    # ------------------------------------------------------------- bodies and markers

    def marker(self, marker: Marker) -> Marker:
        """A marker of the prototype as one of the host."""
        x, y, z = (renamed(v, self.names) for v in marker.position)
        own = Marker(
            self.prefix + marker.body,
            marker.name,
            (x, y, z),
            renamed_orientation(marker.orientation, self.names),
        )
        if marker.body != GROUND:
            return own
        frame = self.ground
        name = f"{frame.name}_{marker.name}" if marker.name else ""
        R = np.array(frame.orientation.axes)
        return Marker(
            frame.body,
            name,
            combined(self.host.number, frame.position, R, own.position),
            Orientation(by_rows(R @ np.array(own.orientation.axes)).axes, own.orientation.turns),
        )

    def body(self, name: str, outer: Floats | None, floating: bool = False) -> Body:
        """A body of the prototype; ``outer`` is the pose of the body its ground is fixed to.

        One that is ``floating``, as no joint carries it, starts in its own ground frame if nothing
        else is said.
        """
        body = self.prototype.bodies[name]
        made = Body(
            self.prefix + name,
            self._inertia(body.inertia),
            shapes=tuple(self._shape(shape) for shape in body.shapes),
            markers={n: self.marker(m) for n, m in body.markers.items()},
            points=renamed(body.points, self.names),
        )
        given = body.position is not None or body.orientation is not None
        if outer is None or not (given or (floating and not self.at_home)):
            return made
        T = outer @ self.pose(self.ground)
        where = tuple(renamed(x, self.names) for x in body.position or (0.0, 0.0, 0.0))
        x, y, z = (float(c) for c in clean(T[:3, 3]))
        made.position = combined(self.host.number, (x, y, z), T[:3, :3], where)
        frame = renamed_orientation(body.orientation or Orientation(), self.names)
        made.orientation = Orientation(by_rows(T[:3, :3] @ np.array(frame.axes)).axes, frame.turns)
        return made

    def _shape(self, shape: Shape) -> Shape:
        if not (self.names and shape.texts):
            return shape
        changes: dict[str, Any] = {
            item.name: renamed_orientation(value, self.names)
            if isinstance(value, Orientation)
            else renamed(value, self.names)
            for item in fields(shape)
            if (value := getattr(shape, item.name)) is not None
        }
        return replace(shape, **changes)

    def _inertia(self, inertia: Inertia) -> Inertia:
        if not self.names:
            return inertia
        return Inertia(
            renamed(inertia.mass, self.names),
            renamed(inertia.com, self.names),
            renamed(inertia.moments, self.names),
        )

    def pose(self, marker: Marker) -> Floats:
        """The numbers of a marker, which may hold parameters of the host or of this instance."""
        known = {**self.host.parameters, **self.part.parameter_values(self.number)}
        if self.linked:
            known.update(self.part.parameter_values(self.number - 1))
        place = [evaluate(x, known, "length") for x in marker.position]
        return posed(place, matrix(self.host, marker.orientation))


def replace_number(instance: Instance, number: int) -> Instance:
    """Another instance of the same part."""
    return replace(instance, number=number)


# --------------------------------------------------------------------------------- by name


def is_body(model: Model, text: str) -> bool:
    """Whether a text names a body, the ground or a body of a part."""
    if text == GROUND or text in model.bodies:
        return True
    found = _parsed(model, text)
    return found is not None and is_body(found[0].model, found[2])


def _parsed(model: Model, text: str) -> tuple[Part, int, str] | None:
    """Part, number and what follows, of "cell[3].crank.tip"; None if no part is called so."""
    match = _INSTANCE.fullmatch(text)
    part = model.parts.get(match["part"]) if match else None
    if match is None or part is None:
        return None
    if (part.count is None) != (match["number"] is None):
        given = f"{part.name}[{match['number']}]" if match["number"] else part.name
        there = f"{part.name}[0] to {part.name}[{part.size - 1}]" if part.count else part.name
        raise ModelError(f"{model.name}: there is no {given}, but {there}")
    return part, part.number(int(match["number"] or 0)), match["rest"]


def instance_body(model: Model, text: str) -> Body | None:
    """The body "cell[3].crank" of a part, made for the occasion; None if no part is called so.

    Its markers can be used like any others; those that are added to it are kept by the joints
    that use them.  "cell[3].ground" is the body that stands for the ground of the part.

    Raises:
        ModelError: There is no such instance, or it has no such body.
    """
    found = _parsed(model, text)
    if found is None:
        return None
    part, k, rest = found
    prototype = part.model.flattened()
    instance = Instance(model, part, prototype, k)
    if rest == GROUND:
        frame = instance.ground
        markers = (instance.marker(m) for m in prototype.ground.markers.values())
        names = prototype.ground.markers
        return Body(frame.body, markers=dict(zip(names, markers, strict=True)))
    name = prototype_name(part.model, rest)
    if name not in prototype.bodies:
        raise ModelError(
            f"{model.name}: {part.name} has no body {rest!r}{nearest(rest, prototype.bodies)}"
        )
    return instance.body(name, outer_pose(instance))


def prototype_name(model: Model, text: str) -> str:
    """The name of a body with the numbers of instances counted from 0."""
    found = None if text in model.bodies else _parsed(model, text)
    if found is None:
        return text
    part, k, rest = found
    return part.prefix(k) + prototype_name(part.model, rest)


def outer_pose(instance: Instance) -> Floats | None:
    """Where the body starts to which the ground of an instance is fixed; None if not known."""
    host, part = instance.host, instance.part
    body = host.find_body(part.on)
    if part.on == GROUND:
        T: Floats | None = np.eye(4)
    elif body.position is None and body.orientation is None:
        T = None
    else:
        T = body_pose(host, body)
    for k in range(instance.number if part.link is not None else 0):
        link = instance.prototype.bodies[part.link_place[0]]
        if T is None or (link.position is None and link.orientation is None):
            return None
        one = replace_number(instance, k)
        T = T @ one.pose(one.ground) @ one.pose(_body_frame(one, link))
    return T


def _body_frame(instance: Instance, body: Body) -> Marker:
    """The start pose of a body of the prototype as if it were a marker."""
    x, y, z = (renamed(v, instance.names) for v in body.position or (0.0, 0.0, 0.0))
    frame = Orientation(turns=()) if body.orientation is None else body.orientation
    turns = tuple((axis, instance.value(angle, "angle")) for axis, angle in frame.turns)
    return Marker("", "", (x, y, z), Orientation(frame.axes, turns))
