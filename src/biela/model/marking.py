"""Which marker is meant: by itself, by its name, by a body and a place in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from biela.errors import ModelError
from biela.model.bodies import Body
from biela.model.markers import Marker
from biela.model.orientation import Orientation, by_rows
from biela.model.parts.instances import is_body
from biela.model.placing import body_pose, matrix, posed
from biela.model.quantities.units import parameters_of
from biela.model.quantities.values import Value, triple
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.model.model import Model

#: A marker, its name "body.marker", a body (its own frame), or a body and a place in it.
Place: TypeAlias = Marker | Body | str | tuple[Body | str, Sequence[Value]]


def marker(model: Model, place: Place, name: str) -> Marker:
    """The marker that is meant, kept on its body; one without a name gets the name given.

    Raises:
        ModelError: There is no such body or marker.
    """
    if isinstance(place, Marker):
        return model.find_body(place.body).named(place, name)
    if isinstance(place, str) and not is_body(model, place):
        return _by_name(model, place)
    body, where = _body_and_place(model, name, place)
    return body.named(Marker(body.name, "", where or (0.0, 0.0, 0.0)), name)


def joint_marker(
    model: Model,
    name: str,
    place: Place,
    at: Sequence[Value] | None,
    frame: Orientation | None,
) -> Marker:
    """The marker of a joint.

    ``frame`` turns those that are made for it: along the axes of the body, or of the ground where
    ``at`` gives the place of the joint in the ground.

    Raises:
        ModelError: The joint is placed twice, or there is no such body or marker.
    """
    who = f"{model.name}: joint {name}"
    if isinstance(place, Marker) and not place.name:
        plain = place.orientation == Orientation()
        if at is not None:
            raise ModelError(f"{who} is placed by its markers and by at=…; choose one")
        turned = replace(place, orientation=frame) if plain and frame else place
        return model.find_body(place.body).named(turned, name)
    if isinstance(place, Marker) or (isinstance(place, str) and not is_body(model, place)):
        if at is not None:
            raise ModelError(f"{who} is placed by its markers and by at=…; choose one")
        return marker(model, place, name)
    body, where = _body_and_place(model, who, place)
    orientation = frame or Orientation()
    if at is not None:
        if where is not None:
            raise ModelError(f"{who} is placed by {body.name} and by at=…; choose one")
        return body.named(_seen_from(model, body, who, at, orientation), name)
    return body.named(Marker(body.name, "", where or (0.0, 0.0, 0.0), orientation), name)


def _by_name(model: Model, text: str) -> Marker:
    owner, _, name = text.rpartition(".")
    if not is_body(model, owner):
        bodies = [model.ground, *model.bodies.values()]
        known = [*model.bodies, *(m.label for body in bodies for m in body.markers.values())]
        raise ModelError(f"{model.name}: there is no body or marker {text!r}{nearest(text, known)}")
    markers = model.find_body(owner).markers
    if name not in markers:
        raise ModelError(
            f"{model.name}: body {owner} has no marker {name!r}{nearest(name, markers)}"
        )
    return markers[name]


def _body_and_place(
    model: Model, who: str, place: Body | str | tuple[Body | str, Sequence[Value]]
) -> tuple[Body, tuple[Value, Value, Value] | None]:
    if isinstance(place, tuple):
        if len(place) != 2:
            raise ModelError(f"{who}: a place on a body is (body, (x, y, z)), not {place!r}")
        body, where = place
        found = model.find_body(body if isinstance(body, str) else body.name)
        return found, triple(f"{who}: place on {found.name}", where)
    return model.find_body(place if isinstance(place, str) else place.name), None


def _seen_from(
    model: Model, body: Body, who: str, at: Sequence[Value], orientation: Orientation
) -> Marker:
    """A frame of the ground as a marker of a body where it starts.

    Raises:
        ModelError: The body is turned, and the place depends on parameters.
    """
    where = triple(who, at)
    position = body.position or (0.0, 0.0, 0.0)
    if body.orientation is None or body.orientation == Orientation():
        x, y, z = (_less(a, b) for a, b in zip(where, position, strict=True))
        return Marker(body.name, "", (x, y, z), orientation)
    turns = [angle for _, angle in body.orientation.turns]
    named = {name for text in (*where, *position, *turns) for name in parameters_of(text)}
    if named:
        raise ModelError(
            f"{who}: {body.name} is turned where it starts, and parameter {min(named)} would not "
            f"stay one; place the joint by markers: {body.name}.at(…)"
        )
    T = body_pose(model, body)
    inside = np.linalg.inv(T) @ posed([model.number(x, "length") for x in where])
    R = T[:3, :3].T @ matrix(model, orientation)
    x, y, z = (float(c) for c in np.where(np.abs(inside[:3, 3]) < 1e-15, 0.0, inside[:3, 3]))
    return Marker(body.name, "", (x, y, z), by_rows(R))


def _less(a: Value, b: Value) -> Value:
    """A difference of values: a number, or a text that keeps its parameters."""
    if not isinstance(a, str) and not isinstance(b, str):
        return a - b
    return a if b == 0.0 else f"({a}) - ({b})"
