"""Where groups may have changed their branch unseen: rates that jump, steps that are coarse."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.laws import Laws
from biela.analysis.groups.workspace import GroupWorkspace

__all__ = ["coarse_blocks", "kinked_group"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Below this nothing is a rate.
_NOTHING: Final = 1e-9
#: A rate that jumps by more than this share of itself in a step has a kink, if that is more than
#: this share of the largest rate of its group.
_KINK: Final = 0.05
_LITTLE: Final = 1e-4
#: A law of which a rate jumps by more has one itself.
_LAW_KINK: Final = 0.01
#: Where a law goes farther in a block than this (rad, m), or than this share of all its way, rates
#: are looked at after each block.
_FAR: Final = 0.25
_FAR_OF_ALL: Final = 0.1
_FARTHER: Final = 6.0


def kinked_group(at: GroupWorkspace, before: Floats, t: Floats) -> int | None:
    """The number of a group whose rates jumped in a step, though its accelerations do not say so.

    x'(t) - x'(t - τ) = τ (x''(t - τ) + x''(t)) / 2 + O(τ³): where a group has left a bifurcation
    by another branch than it came on, what is missing is the difference of their rates.  Where a
    law has such a jump itself nothing is told.

    Args:
        at: After one step or some, one in each of its first lanes.
        before: Its workspace before them.
        t: The time before, and those of the steps.
    """
    groups, W = at.groups, at.lanes
    last, now = before.reshape(-1, W)[:, -1:], at.w.reshape(-1, W)[:, : len(t) - 1]
    rows = np.concatenate([last, now], axis=1)
    since = np.diff(t)
    for c in at.solved_kinds:
        _, rate, second = at.unknowns[c]
        jump, scale = _jump(rows[rate], rows[second], since)
        least = _NOTHING + _LITTLE * scale.max(axis=1, keepdims=True)
        kinks = ((jump > _KINK * scale) & (jump > least)).any(axis=1)
        if kinks.any():
            laws = np.moveaxis(at.laws.at(t).reshape(len(t), 3, -1), 0, 2)
            jump, scale = _jump(laws[1], laws[2], since)
            kinks &= ~(jump > _LAW_KINK * scale + _NOTHING).any(axis=0)
        if kinks.any():
            return int(groups.kinds[c].groups[int(np.argmax(kinks.any(axis=1)))])
    return None


def _jump(rates: Floats, seconds: Floats, since: Floats) -> tuple[Floats, Floats]:
    """Jumps of rates from instant to instant, the last axis, and the size of the rates."""
    expected = 0.5 * since * (seconds[..., 1:] + seconds[..., :-1])
    jump: Floats = np.abs(np.diff(rates, axis=-1) - expected)
    return jump, np.maximum(np.abs(rates[..., 1:]), np.abs(rates[..., :-1]))


def coarse_blocks(laws: Laws, t: Floats, lanes: int) -> tuple[Flags, bool]:
    """Blocks of instants in which laws go so far that a prediction tells little of the branch.

    And whether they go so much farther in some that half a block is coarse by itself.

    Args:
        laws: Of the drivers.
        t: The instants, a whole number of blocks.
        lanes: Instants of a block.
    """
    ends = np.concatenate([t[:1], t[lanes - 1 :: lanes]])
    w = laws.at(ends)[:, : laws.size]
    way = np.abs(np.diff(w, axis=0))
    limit = np.minimum(_FAR, _FAR_OF_ALL * np.ptp(w, axis=0))
    found: Flags = (way > limit).any(axis=1)
    return found, bool((way > _FARTHER * limit).any())
