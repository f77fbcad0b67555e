"""A model with its parts written out as plain bodies, joints, drivers, forces and sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.budgets import PARAMETERS, within
from biela.errors import ModelError
from biela.model.bodies import GROUND, Body
from biela.model.element import Element
from biela.model.markers import Marker
from biela.model.parts.instances import Instance
from biela.model.parts.part import plain_parameters, split_place
from biela.model.parts.renaming import moved_element, renamed
from biela.model.placing import body_pose

if TYPE_CHECKING:
    from biela.model.model import Model
    from biela.model.parts.part import Part

Floats = npt.NDArray[np.float64]

#: Bodies above which a model is written out only if one insists.
LARGEST = 20_000
#: Kinds that are written along axes of the ground and cannot be turned with a part.
_ALONG_GROUND = {("joint", "coordinate_difference"), ("driver", "position")}


def body_count(model: Model) -> int:
    """Number of bodies, those of all parts included; an instance without any counts as one."""
    known: dict[int, int] = {}  # a model may be shared by many parts

    def count(one: Model) -> int:
        if id(one) not in known:
            inner = sum(part.size * max(1, count(part.model)) for part in one.parts.values())
            known[id(one)] = len(one.bodies) + inner
        return known[id(one)]

    return count(model)


def flattened(model: Model, limit: int | None = LARGEST) -> Model:
    """The model without parts; itself if it has none.

    Raises:
        ModelError: It would have more bodies than ``limit``, or two things would have one name.
    """
    if not model.parts:
        return model
    count = body_count(model)
    if limit is not None and count > limit:
        raise ModelError(
            f"{model.name} has {count:,} bodies in arrays; written out one by one they would take "
            f"minutes and gigabytes: use fewer, or insist with flattened(limit=None)"
        )
    for part in model.parts.values():
        within(
            PARAMETERS,
            part.size * len(plain_parameters(part.model)),
            f"{model.name}: the instances of part {part.name} would set {{}} parameters",
            "use fewer parameters or instances",
        )
    whole = _copied(model)
    whole.written_out = True
    whole.rotors.clear()
    for part in model.parts.values():
        _add_part(model, part, whole)
    # of two rotors for one coordinate the last one holds: that of the host
    for name, inertia in model.rotors.items():
        whole.rotors.pop(name, None)
        whole.rotors[name] = inertia
    _keep_markers(whole)
    return whole


def snapshot(model: Model) -> Model:
    """The model as it is now, without parts: what is added or changed later is not in it."""
    whole = model.flattened() if model.parts else _copied(model)
    whole.run = dict(model.run)
    return whole


def _copied(model: Model) -> Model:
    """All but the parts."""
    whole = type(model)(model.name, gravity=model.gravity, plane=model.plane)
    whole.description, whole.written_out = model.description, model.written_out
    whole.parameters = model.parameters.copy()
    whole.rotors, whole.aliases = dict(model.rotors), dict(model.aliases)
    whole.ground = replace(model.ground, markers=dict(model.ground.markers))
    for name, body in model.bodies.items():
        whole.bodies[name] = replace(body, markers=dict(body.markers))
    for own, table in zip(_tables(model), _tables(whole), strict=True):
        table.update(own)
    return whole


def _tables(model: Model) -> tuple[dict[str, Element], ...]:
    return model.joints, model.drivers, model.forces, model.sensors  # type: ignore[return-value]


def _add_part(host: Model, part: Part, whole: Model) -> None:
    from biela.model.topology.tree import joint_tree  # which knows models

    prototype = flattened(part.model, limit=None)
    floating = set(joint_tree(prototype).floating)
    for k in range(part.size):
        instance = Instance(host, part, prototype, k)
        for name, value in part.parameter_values(k).items():
            if name in host.parameters:
                raise ModelError(
                    f"{host.name}: its parameter {name} has the name that a parameter of part "
                    f"{part.name} gets; call it something else"
                )
            whole.parameters.define(name, value)
        for name, dimension in prototype.parameters.dimensions.items():
            if instance.names[name] in whole.parameters:
                whole.parameters.dimensions[instance.names[name]] = dimension
        for name, inertia in prototype.rotors.items():
            whole.rotors[instance.prefix + name] = renamed(inertia, instance.names)
        outer = _start(whole, instance.ground.body)
        for name in prototype.bodies:
            body = instance.body(name, outer, name in floating)
            _check_free(host, body.name, whole.bodies)
            whole.bodies[body.name] = body
        base = whole.find_body(instance.ground.body)
        for marker in prototype.ground.markers.values():
            base.keep(instance.marker(marker))
        _add_elements(host, instance, whole)
        if k > 0:
            _add_between(part, replace(instance, number=k - 1), instance, whole)


def _start(whole: Model, name: str) -> Floats | None:
    """Where a body starts, if somebody said so."""
    if name == GROUND:
        return np.eye(4)
    body: Body = whole.find_body(name)
    if body.position is None and body.orientation is None:
        return None
    return body_pose(whole, body)


def _add_elements(host: Model, instance: Instance, whole: Model) -> None:
    ground = None if instance.at_home else instance.ground
    for inner, table in zip(_tables(instance.prototype), _tables(whole), strict=True):
        for element in inner.values():
            if instance.turned and (element.category, element.kind) in _ALONG_GROUND:
                raise ModelError(
                    f"{host.name}: {element.category} {instance.prefix}{element.name} "
                    f"({element.kind}) is written along the axes of the ground, but part "
                    f"{instance.part.name} is turned or stands on a body"
                )
            made = moved_element(element, instance.prefix, instance.names, instance.marker, ground)
            _check_free(host, made.name, table)
            table[made.name] = made


def _add_between(part: Part, before: Instance, after: Instance, whole: Model) -> None:
    """The joints to the instance before, with settings in the words of the host."""
    for between in part.between:
        whole.joint(
            between.kind,
            after.prefix + between.name,
            _between_place(before, between.i),
            _between_place(after, between.j),
            **between.settings,
        )


def _between_place(instance: Instance, text: str) -> str | Marker:
    """A marker of an instance; one on its ground is on the body that stands for it."""
    body, name = split_place(instance.part.model, text)
    if body != GROUND:
        return instance.prefix + text
    ground = instance.prototype.ground
    return instance.marker(ground.markers[name] if name else Marker(GROUND, ""))


def _check_free(host: Model, name: str, table: Mapping[str, object]) -> None:
    if name in table:
        raise ModelError(f"{host.name}: the name {name} is used twice once its parts are in place")


def _keep_markers(whole: Model) -> None:
    """Markers that elements of the host made on bodies of parts, kept there."""
    for table in _tables(whole):
        for element in table.values():
            for field in element.markers():
                marker = getattr(element, field)
                if marker is not None:
                    whole.find_body(marker.body).keep(marker)
