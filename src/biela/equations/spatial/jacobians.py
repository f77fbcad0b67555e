"""Jacobians and accelerations of named frames.

The twist of a frame is J v, [angular; linear], seen in one of three ways: "local", at the origin of
the frame along its own axes; "aligned", at its origin along the axes of the ground; "world", at the
origin of the ground along its axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom
from biela.equations.spatial.motion import accelerations, frame_pose, poses
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Pose,
    Scalar,
    Triple,
    cross,
    minus,
    outward,
    plus,
    times,
    transposed,
    zero,
)
from biela.errors import ModelError

#: How a twist may be seen.
AXES = ("world", "local", "aligned")


def jacobian(tree: SpatialTree, frame: str, axes: str = "aligned") -> list[list[Atom]]:
    """J of a frame, six rows.

    Raises:
        ModelError: The axes are not one of `AXES`.
    """
    if axes not in AXES:
        raise ModelError(f"a Jacobian is seen from one of {', '.join(AXES)}, not {axes!r}")
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in tree.v]
    k, here = tree.frame(frame)
    if axes == "local":
        seen = _from_frame(tree, k, here)
        at: Triple = [0.0, 0.0, 0.0]
    else:
        whole = poses(tree)
        seen = {i: whole[i] for i in tree.path(k)}
        at = frame_pose(tree, frame, whole).p if axes == "aligned" else [0.0, 0.0, 0.0]
    for i in tree.path(k):
        link, pose = tree.links[i], seen[i]
        for number, H in zip(link.v, link.H, strict=True):
            angular, linear = _seen(pose, H[:3]), _seen(pose, H[3:])
            if not all(map(zero, H[:3])):
                linear = plus(linear, cross(angular, minus(at, pose.p)))
            columns[number] = plus(columns[number], [*angular, *linear])
    return [[tree.workspace.atom(x) for x in row] for row in zip(*columns, strict=True)]


def _seen(pose: Pose, x: Sequence[Scalar]) -> Triple:
    return [0.0, 0.0, 0.0] if all(map(zero, x)) else times(pose.R, x)


def _from_frame(tree: SpatialTree, k: int, here: Pose) -> dict[int, Pose]:
    """The links on the way to a frame, seen from it: so no column has to be turned afterwards."""
    found: dict[int, Pose] = {}
    pose = here.inverse()
    while k >= 0:
        found[k] = pose
        link = tree.links[k]
        rows = [outward(link.step.turn, row) for row in pose.R]
        p = pose.p
        if link.step.slides:
            p = minus(p, times(rows, link.step.way))
        rows = [outward(link.before, row) for row in rows]
        pose = Pose(rows, minus(p, times(rows, link.place.p)))
        k = link.parent
    return found


def frame_acceleration(
    tree: SpatialTree, frame: str, a: Sequence[Scalar], axes: str = "aligned"
) -> list[Atom]:
    """The acceleration [angular; of the origin] of a frame in the ground: J v' + J' v.

    Raises:
        ModelError: The axes are neither "local" nor "aligned".
    """
    if axes not in ("local", "aligned"):
        raise ModelError(f'accelerations are seen along "local" or "aligned" axes, not {axes!r}')
    k, here = tree.frame(frame)
    if k < 0:
        return [tree.workspace.atom(0)] * 6
    motion = accelerations(tree, tree.v, a)[k]
    angular, linear = motion.spin.alpha, plus(motion.a, times(motion.spin.U, here.p))
    if axes == "local":
        back = transposed(here.R)
        found = [*times(back, angular), *times(back, linear)]
    else:
        R = poses(tree)[k].R
        found = [*times(R, angular), *times(R, linear)]
    return [tree.workspace.atom(x) for x in found]
