"""What stands in a URDF file, as plain data: links, joints, and which hangs from which.

The format is that of the ROS robot description (wiki.ros.org/urdf/XML).  Lengths are in m, angles
in rad; ``rpy`` are turns about the fixed axes x, y, z: R = R_z(yaw) R_y(pitch) R_x(roll).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape of a link: "box", "cylinder", "sphere", "capsule" or "mesh" at a pose in it."""

    kind: str
    size: tuple[float, ...]
    pose: Floats
    line: int
    file: str = ""


@dataclass(frozen=True, eq=False)
class UrdfLink:
    """A link: mass, centre of mass and inertia (3, 3) about it along the axes of the link."""

    name: str
    line: int
    mass: float
    com: Floats
    inertia: Floats
    visual: tuple[Geometry, ...]
    collision: tuple[Geometry, ...]


@dataclass(frozen=True)
class Mimic:
    """q = multiplier · q of another joint + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A joint; ``pose`` is the frame of the child in the parent at zero, ``axis`` is in the child.

    What the file does not give is infinite (limits, effort, velocity), or zero.
    """

    name: str
    type: str
    line: int
    parent: str
    child: str
    pose: Floats
    axis: Floats
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    velocity: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Urdf:
    """A robot: its links and joints by name, and the link from which all others hang."""

    name: str
    root: str
    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]

    def in_order(self) -> list[UrdfJoint]:
        """The joints from the root outward, children in the order of the file."""
        below: dict[str, list[UrdfJoint]] = {}
        for joint in self.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        order: list[UrdfJoint] = []
        waiting = list(reversed(below.get(self.root, [])))
        while waiting:
            joint = waiting.pop()
            order.append(joint)
            waiting.extend(reversed(below.get(joint.child, [])))
        return order
