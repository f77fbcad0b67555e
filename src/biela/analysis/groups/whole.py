"""A whole mechanism as one group: what the global formulations solve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from biela.analysis.groups.finding import structural_groups
from biela.equations.groups.group import Group, Space
from biela.equations.groups.structure import KindTable, Structure
from biela.model import Model

__all__ = ["whole_structure"]

_NAME: Final = "whole"


def whole_structure(
    model: Model,
    structure: Structure | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    t: float = 0.0,
) -> Structure:
    """All bodies of a model in one group.

    Passive spins that are held, and rows that are superfluous, are those of its structural groups.

    Args:
        model: Bodies, joints and drivers.
        structure: Its structural groups; found if they are not given.
        parameters: Values other than those of the model.
        t: The time at which the model is assembled.

    Returns:
        One group; the structure as it is where drivers do not give the motion of all bodies.

    Raises:
        ModelError: The model has no bodies.
        AssemblyError: The joints close in no position.
    """
    if structure is None:
        structure = structural_groups(model, parameters=parameters, t=t)
    if not structure.determined or not structure.groups:
        return structure
    groups = list(structure.groups)
    joints = tuple(name for g in groups for name in g.joints)
    bodies = tuple(name for g in groups for name in g.bodies)
    spaces = {g.space for g in groups}
    space: Space = spaces.pop() if len(spaces) == 1 else "space"
    group = Group(
        bodies=bodies,
        joints=joints,
        drivers=tuple(name for g in groups for name in g.drivers),
        known=(),
        after=(),
        level=0,
        space=space,
        kind=_NAME,
        name=_NAME,
        bodies_in_order=bodies,
        joints_in_order=joints,
        known_in_order=("ground",),
        sides=(False,) * len(joints),
        locked=tuple(spin for g in groups for spin in g.locked),
        redundant=tuple(row for g in groups for row in g.redundant),
        independent=tuple(name for g in groups for name in g.independent),
    )
    count = len(bodies)
    table = KindTable(
        kind=_NAME,
        name=_NAME,
        groups=np.zeros(1, dtype=np.int64),
        bodies=np.concatenate([t.bodies.ravel() for t in structure.tables.values()])[None]
        if structure.tables
        else np.arange(count)[None],
        joints=np.concatenate(
            [np.zeros(0, np.int64), *(t.joints.ravel() for t in structure.tables.values())]
        )[None],
        known=np.full((1, 1), -1, dtype=np.int64),
        sides=np.zeros((1, len(joints)), dtype=bool),
        example=group,
    )
    return Structure(
        model=structure.model,
        plane=structure.plane,
        bodies=structure.bodies,
        groups=(group,),
        kinds={_NAME: (0,)},
        tables={_NAME: table},
        levels=((0,),),
        redundant=structure.redundant,
        redundant_count=structure.redundant_count,
        one_group="all bodies were put into one group",
        independent=structure.independent,
        positions=structure.positions,
    )
