"""The equations of each body in its own frame: the blocks of which the operators are made.

For body i after body i-1 (its parent), [angular; linear] at the origin of the frame of the body,

    V_i  = Φ_iᵀ V_{i-1} + H_i v_i                                  (Jaramillo 1998, eq. 1.55)
    V'_i = Φ_iᵀ V'_{i-1} + H_i v'_i + b_i                          (1.56)
    F_i  = Σ Φ_j F_j + I_i V'_i + gyr_i - external                 (1.59)
    τ_i  = H_iᵀ F_i                                                (1.61)

A joint of several freedoms is one block here, however many links it is made of.  `blocks` has one
for each body, `rigid_blocks` one for bodies that are welded together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biela.equations.spatial.articulated import Six, spatial_inertia
from biela.equations.spatial.links import Pseudo, added, congruent
from biela.equations.spatial.motion import (
    NOTHING,
    Acceleration,
    Spin,
    following,
    to_child,
    to_frame,
)
from biela.equations.spatial.newton_euler import moving
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Pose,
    Scalar,
    cross,
    minus,
    plus,
    times,
    transposed,
    zero,
)
from biela.model.bodies import GROUND


@dataclass(frozen=True, eq=False)
class Block:
    """A body and the joint that carries it.

    Attributes:
        body: Its name.
        parent: Number of the body that carries it; -1 for the ground.
        way: Numbers of the links of its joint, from the parent to the body.
        v: Numbers of the velocities of its joint.
        Phi: 6 x 6, takes forces at the body to forces at its parent.
        H: Columns of 6, the motions its joint allows.
        I: Spatial inertia about the origin of the body, 6 x 6.
        V: Velocity.
        b: Acceleration by velocity alone.
        gyr: Force that the velocity alone takes.
    """

    body: str
    parent: int
    way: tuple[int, ...]
    v: tuple[int, ...]
    Phi: Six
    H: tuple[list[Scalar], ...]
    I: Six
    V: list[Scalar]
    b: list[Scalar]
    gyr: list[Scalar]


def blocks(tree: SpatialTree) -> list[Block]:
    """The blocks of all bodies, parents before children."""
    return _blocks(tree, tree.carriers, {body: tree.inertia_of(body) for body in tree.carriers})


def rigid_blocks(tree: SpatialTree) -> list[Block]:
    """The blocks of the bodies that move relative to each other, parents before children.

    Bodies welded together are one, in the frame of the first of them; those welded to the ground
    are none.  Nor is a body without mass and inertia that carries one other: it makes their two
    joints one, as the cross of a universal joint does, if that has no more than six freedoms.
    """
    first = {tree.frame(body)[0]: body for body in tree.moving_bodies}
    carriers: dict[str, str] = {}
    inertias: dict[str, Pseudo] = {}
    for body, before in tree.carriers.items():
        k, here = tree.frame(body)
        if k < 0:
            continue
        head = first[k]
        if head == body:
            link = tree.frame(before)[0]
            carriers[body] = first[link] if link >= 0 else GROUND
            inertias[body] = tree.inertia_of(body)
        else:
            seen = tree.frame(head)[1].inverse() @ here
            inertias[head] = added(inertias[head], congruent(seen, tree.inertia_of(body)))
    for body in list(carriers):
        carried = [other for other, before in carriers.items() if before == body]
        if len(carried) == 1 and all(zero(x) for row in inertias[body] for x in row):
            (other,) = carried
            start, end = (tree.frame(name)[0] for name in (carriers[body], other))
            if sum(len(tree.links[k].v) for k in _between(tree, start, end)) <= 6:
                carriers[other] = carriers.pop(body)
    return _blocks(tree, carriers, inertias)


def _blocks(
    tree: SpatialTree, carriers: Mapping[str, str], inertias: Mapping[str, Pseudo]
) -> list[Block]:
    number = {body: k for k, body in enumerate(carriers)}
    found: list[Block] = []
    for body, before in carriers.items():
        end, here = tree.frame(body)
        start, there = tree.frame(before)
        way = _between(tree, start, end)
        columns = joint_motions(tree, way)
        H = {n: to_frame(here, x) for n, x in columns.items()}
        parent = number.get(before, -1)
        # the columns of Φᵀ are the rows of Φ
        Phi = [_motion(tree, way, there, here, unit) for unit in _UNITS]
        V0: list[Scalar] = found[parent].V if parent >= 0 else [0.0] * 6
        V = _motion(tree, way, there, here, V0)
        for n, x in H.items():
            V = plus(V, [y * tree.v[n] for y in x])
        J = inertias[body]
        still = Acceleration(Spin(V[:3], NOTHING), NOTHING)
        found.append(
            Block(
                body,
                parent,
                tuple(way),
                tuple(H),
                Phi,
                tuple(H.values()),
                spatial_inertia(J),
                V,
                _bias(tree, way, there, here, V0),
                moving(J, still),
            )
        )
    return found


def joint_motions(tree: SpatialTree, way: Sequence[int]) -> dict[int, list[Scalar]]:
    """The motions of the last link of a joint, one for each of its velocities, in its own frame."""
    columns: dict[int, list[Scalar]] = {}
    for k in way:
        link = tree.links[k]
        columns = {n: to_child(link, x) for n, x in columns.items()}
        columns |= dict(zip(link.v, (list(x) for x in link.H), strict=True))
    return columns


_UNITS: list[list[Scalar]] = [[float(i == k) for i in range(6)] for k in range(6)]


def _between(tree: SpatialTree, start: int, end: int) -> list[int]:
    path = tree.path(end)
    return path[path.index(start) + 1 :] if start >= 0 else path


def _motion(
    tree: SpatialTree, way: list[int], there: Pose, here: Pose, x: list[Scalar]
) -> list[Scalar]:
    """A motion of the frame ``there`` on the first link carried to ``here`` on the last."""
    linear, angular = times(there.R, x[3:]), times(there.R, x[:3])
    x = [*angular, *minus(linear, cross(angular, there.p))]
    for k in way:
        x = to_child(tree.links[k], x)
    return to_frame(here, x)


def _bias(
    tree: SpatialTree, way: list[int], there: Pose, here: Pose, V0: list[Scalar]
) -> list[Scalar]:
    spin = Spin(times(there.R, V0[:3]), NOTHING)
    motion = Acceleration(spin, [-x for x in times(spin.U, there.p)])
    none = [0.0] * len(tree.v)
    for k in way:
        motion = following(tree.links[k], motion, tree.v, none)
    back = transposed(here.R)
    linear = plus(motion.a, times(motion.spin.U, here.p))
    return [*times(back, motion.spin.alpha), *times(back, linear)]
