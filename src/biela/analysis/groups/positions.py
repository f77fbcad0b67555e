"""Assembled positions of a model at which the ranks of its equations are looked at.

The first is the start, brought onto the constraints; the others are reached from it by random steps
along the motions that the joints allow without drivers, each brought back onto the joints.  Large
mechanisms are looked at where they start.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import motions
from biela.analysis.looped.follower import Follower
from biela.analysis.reach import damped_step
from biela.equations.blocks import ReferenceBlocks
from biela.errors import AssemblyError, BielaError

__all__ = ["assembled_positions", "later_positions"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Velocities up to which equations are looked at as full matrices, and above that up to which the
#: start is brought onto the constraints.
DENSE: Final = 90
SPARSE: Final = 20_000
#: A position is assembled when no equation misses by more (m, rad).
MISSED: Final = 1e-9
#: The way, about, between positions (m, rad a body).
_WAY: Final = 0.3
_ITERATIONS: Final = 200
#: Times after the start, s, at which a large mechanism is looked at if it starts at a dead point.
_LATER: Final = (0.03, 0.1, 0.25)


def assembled_positions(
    blocks: ReferenceBlocks,
    drives: Flags,
    *,
    t: float = 0.0,
    count: int = 3,
    seed: int = 0,
) -> list[Floats]:
    """Positions that fulfil the joints; the first fulfils the drivers too, if it can.

    Args:
        blocks: The equations.
        drives: Which rows are drivers.
        t: The time.
        count: How many positions; fewer if the joints allow no motion.
        seed: Of the random steps.

    Raises:
        AssemblyError: No position fulfils the joints.
    """
    if blocks.nv > DENSE:
        return [_large_start(blocks, t)]
    joints = ~drives
    first = _closed(blocks, blocks.start, np.ones(len(drives), dtype=bool), t)
    random = np.random.default_rng(seed)
    if first is None:
        first = _closed(blocks, blocks.start, joints, t)
    for _ in range(20):
        if first is not None:
            break
        shaken = blocks.moved(blocks.start, 0.3 * random.normal(size=blocks.nv))
        first = _closed(blocks, shaken, joints, t)
    if first is None:
        missed = np.abs(blocks.Phi(blocks.start, t)) * joints
        raise AssemblyError(
            f"{blocks.name}: no position is found in which all joints close; "
            f"{blocks.rows[int(np.argmax(missed))]} is farthest from it at the start. Give bodies "
            f"or joints a start nearer to a position of the mechanism"
        )
    found = [first]
    here = first
    for _ in range(6 * count):
        if len(found) >= count:
            break
        R = motions(_dense(blocks, here, t)[joints]).R
        if not R.shape[1]:
            break
        delta = R @ random.normal(size=R.shape[1])
        delta *= _WAY * np.sqrt(blocks.world.count) / float(np.linalg.norm(delta))
        place = _closed(blocks, blocks.moved(here, delta), joints, t)
        if place is None:
            here = first
            continue
        here = place
        found.append(place)
    return found


def later_positions(blocks: ReferenceBlocks, q: Floats, t: float) -> list[tuple[float, Floats]]:
    """Positions (time, q) of a large mechanism a little later, as far as they are found."""
    found = []
    follower = Follower(blocks, MISSED)
    for step in _LATER:
        with suppress(BielaError):
            q = follower.assembled(t + step, q)
            found.append((t + step, q))
    return found


def _large_start(blocks: ReferenceBlocks, t: float) -> Floats:
    """The start of a large mechanism, assembled if that is quick and can be done."""
    if blocks.nv > SPARSE or float(np.abs(blocks.Phi(blocks.start, t)).max(initial=0.0)) <= MISSED:
        return blocks.start
    try:
        return Follower(blocks, MISSED).assembled(t, blocks.start)
    except BielaError:
        if blocks.plane is None:
            return blocks.start
    # in a plane no axis can be parallel by chance: ranks off the constraints are those on them,
    # but for bars that a poor start has put in line
    random = np.random.default_rng(0)
    return blocks.moved(blocks.start, _WAY * random.normal(size=blocks.nv))


def _dense(blocks: ReferenceBlocks, q: Floats, t: float) -> Floats:
    A = np.zeros((len(blocks.rows), blocks.nv))
    A[blocks.indices[0], blocks.indices[1]] = blocks.Phi_v(q, t)
    return A


def _closed(blocks: ReferenceBlocks, q: Floats, rows: Flags, t: float) -> Floats | None:
    """The position near q that fulfils some rows, by damped least squares; None if there is none.

    (Levenberg 1944, Marquardt 1963; see `biela.analysis.reach`.)
    """
    if not rows.any():
        return q
    damping = 1e-3
    residual = blocks.Phi(q, t)[rows]
    for _ in range(_ITERATIONS):
        worst = float(np.abs(residual).max(initial=0.0))
        if worst <= 1e-13:
            break
        J = _dense(blocks, q, t)[rows]
        normal = J.T @ J + damping * np.eye(J.shape[1])
        step = damped_step(normal, -J.T @ residual)
        if step is not None:
            place = blocks.moved(q, step)
            value = blocks.Phi(place, t)[rows]
            if np.isfinite(value).all() and value @ value < residual @ residual:
                q, residual = place, value
                damping = max(0.2 * damping, 1e-13)
                continue
        if damping > 1e8 or worst <= MISSED:
            break
        damping *= 4
    return q if float(np.abs(residual).max(initial=0.0)) <= MISSED else None
