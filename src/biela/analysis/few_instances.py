"""A model with fewer instances of its arrays: what is looked at closely in place of 100,000."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from biela.errors import ModelError
from biela.model import Model
from biela.model.element import Element
from biela.model.parts.instances import is_body
from biela.model.parts.part import Part

__all__ = ["FewInstances", "few_instances"]


@dataclass(frozen=True, eq=False)
class FewInstances:
    """A smaller model, and what had to be left out of it.

    Attributes:
        model: The first instances of every array.
        left_out: Elements of the host that hold on to instances which are not there.
    """

    model: Model
    left_out: tuple[str, ...]


def few_instances(
    model: Model, most: int = 1, also: Mapping[str, int] | None = None
) -> FewInstances:
    """A copy with at most so many instances of arrays; ``also`` says how many of some parts."""
    copy = type(model)(model.name, gravity=model.gravity, plane=model.plane)
    copy.parameters = model.parameters.copy()
    copy.ground = replace(model.ground, markers=dict(model.ground.markers))
    for name, body in model.bodies.items():
        copy.bodies[name] = replace(body, markers=dict(body.markers))
    left: list[str] = []
    for name, part in model.parts.items():
        if not _known(copy, part.on):
            left.append(name)
            continue
        inner = few_instances(part.model, most)
        left += [f"{name}.{one}" for one in inner.left_out]
        copy.parts[name] = _shortened(part, (also or {}).get(name, most), inner.model)
    for own, table in zip(_tables(model), _tables(copy), strict=True):
        table.update({name: element for name, element in own.items() if _fits(copy, element)})
        left += [name for name in own if name not in table]
    for name, inertia in model.rotors.items():
        if _known_joint(copy, name):
            copy.rotors[name] = inertia
        else:
            left.append(f"the rotor of {name}")
    return FewInstances(copy, tuple(left))


def _tables(model: Model) -> tuple[dict[str, Element], ...]:
    return model.joints, model.drivers, model.forces, model.sensors  # type: ignore[return-value]


def _shortened(part: Part, most: int, model: Model) -> Part:
    if part.count is None:
        return replace(part, model=model)
    count = min(part.count, most)
    rows = {n: v[:count] if isinstance(v, np.ndarray) else v for n, v in part.parameters.items()}
    texts = {n: row[:count] for n, row in part.texts.items()}
    return replace(part, model=model, count=count, parameters=rows, texts=texts)


def _fits(model: Model, element: Element) -> bool:
    """Whether all that an element holds on to is there."""
    for field in fields(element):
        dimension = field.metadata.get("dimension")
        value = getattr(element, field.name)
        if value is None:
            continue
        if dimension == "marker" and not _known(model, value.body):
            return False
        if dimension in ("coordinate", "joint") and not _known_joint(model, value):
            return False
    return True


def _known(model: Model, body: str) -> bool:
    try:
        return is_body(model, body)
    except ModelError:
        return False


def _known_joint(model: Model, text: str) -> bool:
    """Whether "cell[3].A.angle" belongs to a joint that is there; those of the host are."""
    part, _, rest = text.partition("[")
    if part not in model.parts or not rest:
        return True
    number = rest.partition("]")[0]
    return number.isdigit() and int(number) < model.parts[part].size
