"""The way from marker i to marker j of a joint, in elementary moves.

Each is a rotation about, or a translation along, one of the axes as the moves before it have left
them.  Angles and distances are atoms where equations are derived and numbers where a position is
looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rotate:
    """A turn about "x", "y" or "z"."""

    axis: str
    angle: Atom | float


@dataclass(frozen=True, eq=False)
class Translate:
    """A way along "x", "y" or "z"."""

    axis: str
    distance: Atom | float


@dataclass(frozen=True, eq=False)
class Turn:
    """Any rotation: the coordinate with this number, a unit quaternion."""

    coordinate: int


Move: TypeAlias = Rotate | Translate | Turn


def transform(moves: Sequence[Move], rotations: dict[int, Floats] | None = None) -> Floats:
    """The pose T (4 x 4) at the end of moves by numbers.

    ``rotations`` gives the matrix of each coordinate that is a rotation.
    """
    T = np.eye(4)
    for move in moves:
        step = np.eye(4)
        if isinstance(move, Turn):
            step[:3, :3] = (rotations or {})[move.coordinate]
        elif isinstance(move, Translate):
            step["xyz".index(move.axis), 3] = float(move.distance)  # type: ignore[arg-type]
        else:
            k = "xyz".index(move.axis)
            a, b = (k + 1) % 3, (k + 2) % 3
            c, s = np.cos(float(move.angle)), np.sin(float(move.angle))  # type: ignore[arg-type]
            step[a, a] = step[b, b] = c
            step[a, b], step[b, a] = -s, s
        T = T @ step
    return T
