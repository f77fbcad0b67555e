"""Where the motion of groups starts: the assembled position of the whole model, as poses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.poses import poses_of
from biela.analysis.instant import ROUNDING
from biela.analysis.looped.follower import Follower
from biela.analysis.looped.start import first_blocks
from biela.analysis.one_start import first_position, start_position
from biela.analysis.preparation import values
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.world import World
from biela.equations.formulate import formulate_later
from biela.equations.groups.cast import Poses
from biela.equations.reference_point import NORMAL
from biela.errors import AssemblyError, ModelError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.model.topology.tree import joint_tree
from biela.model.topology.tree import start_poses as tree_poses

__all__ = ["across_plane", "assembled_blocks", "check_size", "start_poses"]

Floats = npt.NDArray[np.float64]
#: A position is assembled when no equation misses by more (m, rad).
_ASSEMBLED: Final = 1e-10
#: Groups of smaller mechanisms, m, would change their branches by rounding.
_SMALLEST: Final = 3e-7


def start_poses(
    model: Model,
    world: World,
    q: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> Poses:
    """The poses of all bodies at the start of a motion.

    They close the joints if the model can be assembled as a whole from where it is drawn.  If not,
    they are where it is drawn, and no more than a first guess: assembling the groups, each of two
    or a few bodies on known ones, closes the joints or raises an error.
    """
    if model.parts or body_count(model) > LARGE:
        blocks, guess = first_blocks(model, q, t, parameters)
        try:
            found = assembled_blocks(blocks, guess, t)
        except AssemblyError:
            found = guess  # group by group it may close all the same
        names = list(blocks.extra)
        extra = dict(zip(names, found[-len(names) :], strict=True)) if names else {}
        return poses_of(world, found, extra, blocks.across)
    system = formulate_later(model, "reference")
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, None)
    try:
        found, _ = start_position(system, q, t, u, p)
    except AssemblyError:
        found = first_position(system, q, t, u, p)
    numbers = {e.name: float(x) for e, x in zip(system.q, found, strict=True)}
    return poses_of(world, found, numbers, across_plane(model, world))


def check_size(name: str, poses: Poses) -> Poses:
    """The poses of a mechanism that is not too small.

    Raises:
        ModelError: It is; it says what to do.
    """
    size = float(np.ptp(np.vstack([poses.place, np.zeros(3)]), axis=0).max())
    if ROUNDING < size < _SMALLEST:
        raise ModelError(
            f"{name} is {size:.2g} m large: too small for groups. Describe it in other units, such "
            f"as metres for micrometres, or use kinematics and simulate without formulation"
        )
    return poses


def assembled_blocks(blocks: ReferenceBlocks, guess: Floats, t: float) -> Floats:
    """The position of a large mechanism near a guess.

    A guess that fulfils all equations is left as it is: cells of a chain, each assembled in its
    frame, often do, and factors of the whole mechanism take longer than all else that groups need.

    Raises:
        AssemblyError: The joints do not close.
    """
    if float(np.abs(blocks.Phi(guess, t)).max(initial=0.0)) <= _ASSEMBLED:
        return guess
    return Follower(blocks, _ASSEMBLED).assembled(t, guess)


def across_plane(model: Model, world: World) -> Floats | None:
    """Where the centres of mass of a planar model are across its plane."""
    if model.plane is None:
        return None
    poses, _ = tree_poses(model, joint_tree(model))
    k = "xyz".index(NORMAL[model.plane])
    places = [
        poses[name][k, 3] + poses[name][k, :3] @ world.centres[world.body(name)]
        for name in model.bodies
    ]
    return np.array(places)
