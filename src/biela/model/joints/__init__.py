"""The joint library: one small file a kind."""

from biela.model.joints.cylindrical import Cylindrical
from biela.model.joints.distance import Distance
from biela.model.joints.fixed import Fixed
from biela.model.joints.free import Free
from biela.model.joints.gear import Gear
from biela.model.joints.helical import Helical
from biela.model.joints.joint import Connection, Coordinate, Coupling, Joint
from biela.model.joints.planar import Planar
from biela.model.joints.point_on_curve import PointOnCurve
from biela.model.joints.point_on_line import PointOnLine
from biela.model.joints.primitive_joints import (
    CoordinateDifference,
    Dot,
    InPlane,
    ParallelAxes,
)
from biela.model.joints.prismatic import Prismatic
from biela.model.joints.rack_pinion import RackPinion
from biela.model.joints.revolute import Revolute
from biela.model.joints.spherical import Spherical
from biela.model.joints.universal import Universal

__all__ = [
    "Connection",
    "Coordinate",
    "CoordinateDifference",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Dot",
    "Fixed",
    "Free",
    "Gear",
    "Helical",
    "InPlane",
    "Joint",
    "ParallelAxes",
    "Planar",
    "PointOnCurve",
    "PointOnLine",
    "Prismatic",
    "RackPinion",
    "Revolute",
    "Spherical",
    "Universal",
]
