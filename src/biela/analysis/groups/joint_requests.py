"""Coordinates of joints that a user wants of the groups of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.equations.groups.casts import Casts
from biela.equations.groups.items import Item
from biela.errors import ModelError
from biela.model.joints import Joint
from biela.spelling import nearest

__all__ = ["JointRequest", "joint_requests"]

#: Joints whose coordinates change their sign where their two markers change places.
_ODD: Final = ("revolute", "prismatic", "cylindrical", "helical")


@dataclass(frozen=True, eq=False)
class JointRequest:
    """The coordinate of a joint.

    Attributes:
        name: "joint.coordinate".
        item: What is asked of its group.
        cast, element: The kind of group it is in, and which element it is there.
        coordinate: Its name.
        sign: -1 where the kind has the joint the other way round.
        turns: Whether it is an angle that equations give, up to whole turns.
    """

    name: str
    item: Item
    cast: int
    element: int
    coordinate: str
    sign: float
    turns: bool = False


def joint_requests(casts: Casts, names: Sequence[str]) -> dict[str, JointRequest]:
    """The coordinates, by the names somebody gave them: "joint", or "joint.coordinate".

    Raises:
        ModelError: There is no such coordinate, or it cannot be given.
    """
    if not names:
        return {}
    wanted = set(names) | {name.rpartition(".")[0] for name in names}
    found = {name: (c, e, k) for c, e, k, name in _joints(casts) if name in wanted}
    return {name: _request(casts, name, found) for name in names}


def _joints(casts: Casts) -> Iterator[tuple[int, int, int, str]]:
    """All joints: kind, element, instance and name."""
    for c, cast in enumerate(casts.casts):
        for e, element in cast.joints():
            for k, name in enumerate(element.names):
                yield c, e, k, name


def _request(casts: Casts, name: str, found: dict[str, tuple[int, int, int]]) -> JointRequest:
    model = casts.world.model.name
    owner, part = (name, "") if name in found else (name.rpartition(".")[0], name.split(".")[-1])
    if owner not in found:
        if isinstance(loose := casts.world.model.joints.get(owner), Joint):
            raise ModelError(
                f"{model}: groups do not give the coordinate {name}, since the {loose.kind} joint "
                f"{owner} has no equations here and is in no group; use kinematics(formulate("
                f'model, "reference"), …)'
            )
        known = [joint for *_, joint in _joints(casts)]
        raise ModelError(f"{model} has no joint {name!r}{nearest(name, known)}")
    c, e, k = found[owner]
    cast = casts.casts[c]
    joint = cast.elements[e].joint
    has = [x.name for x in joint.coordinates if x.manifold != "rotation"]
    if (part or (has[0] if len(has) == 1 else "")) not in has:
        raise ModelError(
            f"{model}: {name!r} is not one coordinate of a joint; {owner} has "
            f"{', '.join(f'{owner}.{x}' for x in has) or 'none that is a number'}"
        )
    coordinate = part or has[0]
    groups = casts.structure.groups
    sides = [groups[int(g)].sides for g in (cast.groups[0], cast.groups[k])]
    turned = all(sides) and sides[0][e] != sides[1][e]
    if turned and not _changes_sign(joint):
        raise ModelError(
            f"{model}: the coordinate {owner}.{coordinate} cannot be given, since other groups of "
            f"its kind have this {joint.kind} joint the other way round; exchange its markers"
        )
    full = f"{owner}.{coordinate}"
    item = Item("coordinate", np.zeros(1, dtype=np.int64), names=[full])
    return JointRequest(full, item, c, e, coordinate, -1.0 if turned else 1.0)


def _changes_sign(joint: Joint) -> bool:
    return joint.kind in _ODD
