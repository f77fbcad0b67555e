"""Bodies whose passive spin is held, and about which axis each of them would turn.

Two halves of a strut turn together about the line of its ends: both are among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.cast import Cast, Poses

__all__ = ["held_bodies"]


def held_bodies(kinds: Sequence[Cast], poses: Poses) -> tuple[Integers, Floats]:
    """Numbers of the bodies, and unit vectors (n, 3) along the axes in their own frames."""
    numbers: list[Integers] = []
    axes: list[Floats] = []
    for cast in kinds:
        order = list(cast.example.bodies_in_order)
        for spin, described in zip(cast.spins, cast.example.locked, strict=True):
            line = spin.second - spin.first
            line = line / np.linalg.norm(line, axis=1, keepdims=True)
            _, R = poses.body(cast.bodies[:, spin.slot])
            direction = np.einsum("nij,nj->ni", R, line)
            together = {spin.slot} | {order.index(b) for b in described.bodies if b in order}
            for slot in sorted(together):
                bodies = cast.bodies[:, slot]
                numbers.append(bodies)
                axes.append(np.einsum("nji,nj->ni", poses.body(bodies)[1], direction))
    if not numbers:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    return np.concatenate(numbers), np.concatenate(axes)
