"""The wrenches of joints and drivers, of what the rows of free bodies carry.

The rows of a joint act on the body after it by -Σ λ (∂Φ'/∂v_b) along its velocities: the force, and
the moment about its centre of mass, which are brought to the marker of the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.free_bodies import Carried, FreeBodies
from biela.analysis.groups.joint_wrenches import End, acting_end, holds, told_in_plane
from biela.equations.reference_point import NORMAL

__all__ = ["joint_wrenches"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: A part of a self-stress below this is rounding.
_PART: Final = 1e-7


def joint_wrenches(
    free: FreeBodies,
    names: Sequence[str],
    carried: Sequence[Carried],
    axes: dict[str, Floats],
    in_marker: bool,
) -> tuple[Floats, Flags]:
    """Force and moment of joints and drivers on the bodies after them, and what is determinate.

    Args:
        free: The bodies.
        names: Of joints and drivers (k).
        carried: At n instants.
        axes: Of the bodies, (n, 3, 3) each.
        in_marker: Whether they are along the axes of the markers, and not of the ground.

    Returns:
        Wrenches (n, k, 6), and flags (n, k, 6).
    """
    n = len(carried)
    found, sure = np.zeros((n, len(names), 6)), np.ones((n, len(names), 6), dtype=bool)
    if not n:
        return found, sure
    through = np.stack([each.through for each in carried])
    lam = np.stack([each.lam for each in carried])
    most = max(each.self_stresses.shape[1] for each in carried)
    null = np.zeros((n, lam.shape[1], most))
    for k, each in enumerate(carried):
        null[k, :, : each.self_stresses.shape[1]] = each.self_stresses
    for k, name in enumerate(names):
        element = free.model.joints.get(name) or free.model.drivers[name]
        rows = [r for r, row in enumerate(free.system.multipliers) if row.startswith(f"{name}.")]
        end = acting_end(free.model, element)
        if end is None or not holds(element):
            continue
        columns, map_, shown = _at_marker(free, end, axes[end.body], in_marker)
        # the wrench of a unit of each multiplier, with its sign to come
        unit = map_ @ np.swapaxes(through[:, rows][:, :, columns], 1, 2)
        found[:, k] = -(unit @ lam[:, rows, None])[:, :, 0]
        sure[:, k] = np.linalg.norm(unit @ null[:, rows], axis=2) <= _PART
        sure[:, k] &= told_in_plane(free.model.plane, shown)
    return np.where(np.abs(found) < 1e-300, 0.0, found), sure


def _at_marker(
    free: FreeBodies, end: End, R: Floats, in_marker: bool
) -> tuple[list[int], Floats, Floats]:
    """Velocities of a body, and forces along them as force and moment at its marker, (n, 6, c).

    Last come the axes along which these are, (n, 3, 3) by rows.
    """
    body, plane = end.body, free.model.plane
    arm = R @ (end.pose[:3, 3] - free.centres[body])
    if plane is None:
        columns = [free.v[f"{body}.r{axis}_rate"] for axis in "xyz"]
        columns += [free.v[f"{body}.own_w{axis}"] for axis in "xyz"]
        found = np.zeros((len(R), 6, 6))
        found[:, :3, :3], found[:, 3:, 3:] = np.eye(3), R
    else:
        normal = "xyz".index(NORMAL[plane])
        arm[:, normal] = 0.0
        columns = [free.v[f"{body}.r{axis}_rate"] for axis in plane]
        columns.append(free.v[f"{body}.angle_rate"])
        found = np.zeros((len(R), 6, 3))
        for k, axis in enumerate(plane):
            found[:, "xyz".index(axis), k] = 1.0
        found[:, 3 + normal, 2] = 1.0
    # from the centre of mass to the marker: M - arm x F
    found[:, 3:] -= np.cross(arm[:, :, None], found[:, :3], axis=1)
    axes = np.broadcast_to(np.eye(3), R.shape)
    if in_marker:
        axes = np.swapaxes(R @ end.pose[:3, :3], 1, 2)
        found = np.concatenate([axes @ found[:, :3], axes @ found[:, 3:]], axis=1)
    return columns, end.sign * found, axes
