"""What is drawn of a mechanism, as plain data on the frames of a system.

Places are given by the name of a frame, a row of the capability "poses"; "ground" is at rest.  How
large the signs of joints are is left to the picture, which knows how far the mechanism reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SolidFigure:
    """A part of a body: vertices (n, 3) in its frame, triangles (m, 3) seen from outside."""

    body: str
    vertices: Floats
    triangles: Integers


@dataclass(frozen=True)
class BallFigure:
    """A ball of a body, with its centre in the frame of the body."""

    body: str
    centre: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class LineFigure:
    """A line of a body through places, each a frame and a point in it; closed, it is a plate."""

    body: str
    places: tuple[tuple[str, tuple[float, float, float]], ...]
    closed: bool = False


@dataclass(frozen=True)
class StrutFigure:
    """What is between the origins of two frames: a "rod", a "spring", or a "length" that is set."""

    name: str
    i: str
    j: str
    style: str


@dataclass(frozen=True)
class SlideFigure:
    """A slide along the z axis of frame i, where frame j goes.

    ``guide`` is the body to whose frame i belongs, if the guide is to be drawn, and ``block`` that
    of frame j, if it is to be drawn as a block; "" if not.
    """

    i: str
    j: str
    guide: str
    block: str


@dataclass(frozen=True)
class JointFigure:
    """The sign of a joint at the origin of a frame, with its axis along z.

    ``kind`` is "revolute" or "spherical"; ``support`` says whether the frame is in the ground and
    what stands there is to be seen.
    """

    kind: str
    frame: str
    support: bool = False


Figure: TypeAlias = SolidFigure | BallFigure | LineFigure | StrutFigure | SlideFigure | JointFigure
