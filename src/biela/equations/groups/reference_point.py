"""Groups in reference-point coordinates: every body on its own, all joints as equations.

In the plane x, y and the angle of a body; in space the place of its frame and Euler parameters,
whose norm is one more equation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.placing import (
    add_quaternion,
    angle_in_plane,
    hold_spin,
    origin_place,
    own_rotation,
    place_by_point,
)
from biela.equations.reference_point import NORMAL

__all__ = ["place_freely", "reference_point_group"]


def reference_point_group(cast: Cast, poses: Poses) -> GroupDerivation:
    """The bodies of a group placed freely."""
    derivation = GroupDerivation(cast, poses)
    for slot, name in enumerate(cast.example.bodies_in_order):
        place_freely(derivation, slot, name)
    for spin in cast.spins:
        hold_spin(derivation, spin, poses)
    return derivation


def place_freely(derivation: GroupDerivation, slot: int, name: str) -> None:
    """Give a body of a group coordinates of its own."""
    cast = derivation.cast
    numbers = cast.bodies[:, slot]
    frame = np.zeros((cast.count, 3)), np.broadcast_to(np.eye(3), (cast.count, 3, 3))

    def at(poses: Poses) -> Floats:
        return poses.body(numbers)[0]

    r = place_by_point(derivation, slot, name, at)
    root = derivation.system.base
    turn: Callable[[Poses], Floats] = own_rotation(derivation, slot, frame[1])
    plane = derivation.plane
    if plane is not None:

        def angle(poses: Poses) -> Floats:
            return angle_in_plane(plane, turn(poses))

        theta = derivation.unknown(f"{name}.angle", angle, turns=True)
        base = root.rotated(derivation.fresh("turn"), NORMAL[plane], theta)
    else:
        base = add_quaternion(derivation, root, name, turn)
    derivation.put(slot, origin_place(derivation, r, base, name), frame)
