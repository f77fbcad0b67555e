"""Arms and linkages with named frames, and their kinematics without biela."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import biela as bl
from tests.mechanisms import turn

Floats = npt.NDArray[np.float64]

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

#: Axis and the offset after it of each joint: a wrist whose axes meet, 0.2 m before the hand.
WRIST_ARM = (
    ("z", (0.0, 0.0, 0.4)),
    ("y", (0.5, 0.0, 0.0)),
    ("y", (0.45, 0.0, 0.0)),
    ("x", (0.0, 0.0, 0.0)),
    ("y", (0.0, 0.0, 0.0)),
    ("x", (0.2, 0.0, 0.0)),
)
#: Seven joints, as an arm has that can move its elbow while the hand rests.
SEVEN_JOINTS = (
    ("z", (0.0, 0.0, 0.333)),
    ("y", (0.0, 0.0, 0.0)),
    ("z", (0.0825, 0.0, 0.316)),
    ("y", (-0.0825, 0.0, 0.384)),
    ("z", (0.0, 0.0, 0.0)),
    ("y", (0.088, 0.0, 0.0)),
    ("z", (0.0, 0.0, 0.107)),
)

Links = Sequence[tuple[str, tuple[float, float, float]]]


def arm(
    links: Links, limits: Sequence[tuple[float, float]] = (), name: str = "arm"
) -> bl.SymbolicSystem:
    """A chain of joints with coordinates q1, q2 …, a frame "link1" … at the end of each.

    The last frame is called "hand".
    """
    s = bl.SymbolicSystem(name)
    base, point = s.base, s.origin
    for k, (axis, offset) in enumerate(links, 1):
        (q,) = s.coordinates(f"q{k}")
        base = base.rotated(f"B{k}", axis, q)
        point = point.offset(f"P{k}", base.vector(*offset))
        s.frame("hand" if k == len(links) else f"link{k}", point, base)
        if limits:
            s.limits(q, *limits[k - 1])
    s.solid("load", point, base, mass=1.0)
    return s


def planar(lengths: Sequence[float], **more) -> bl.SymbolicSystem:
    """An arm in the plane xy."""
    return arm([("z", (l, 0.0, 0.0)) for l in lengths], **more)


def forward(links: Links, q: Sequence[float]) -> Floats:
    """The pose of the hand as a homogeneous matrix, by multiplying those of the joints."""
    pose = np.eye(4)
    for (axis, offset), angle in zip(links, q, strict=True):
        step = np.eye(4)
        step[:3, :3] = turn(AXES[axis], angle)
        step[:3, 3] = step[:3, :3] @ np.array(offset)
        pose = pose @ step
    return pose


def five_bar(twice: bool = False, driven: bool = False) -> bl.SymbolicSystem:
    """Two arms of two links, 0.6 m and 0.8 m, from x = -0.3 and x = 0.3, that share their tip.

    ``twice`` closes the loop a second time, with equations that say nothing new.
    """
    s = bl.SymbolicSystem("five_bar")
    a1, b1, a2, b2 = s.coordinates("a1 b1 a2 b2")
    tips = []
    for k, (x, a, b) in enumerate(((-0.3, a1, b1), (0.3, a2, b2)), 1):
        foot = s.origin.offset(f"foot{k}", s.base.vector(x, 0, 0))
        crank = s.base.rotated(f"crank{k}", "z", a)
        pin = foot.offset(f"pin{k}", crank.vector(0.6, 0, 0))
        rod = crank.rotated(f"rod{k}", "z", b)
        tips.append(pin.offset(f"tip{k}", rod.vector(0.8, 0, 0)))
        s.solid(f"rod{k}", pin, rod, mass=1.0)
        if k == 1:
            s.frame("tip", tips[0], rod)
    s.close(*tips, "xy")
    if twice:
        s.close(*tips, "xy", name="again")
    if driven:
        s.constrain(a2 - 0.2 - 0.5 * s.time, name="drive")
    s.start(a1=2.2, b1=-1.2, a2=0.9, b2=1.2)
    return s
