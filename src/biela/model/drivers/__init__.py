"""The driver library: one small file a kind."""

from biela.model.drivers.cosine import Cosine
from biela.model.drivers.distance import DistanceDriver
from biela.model.drivers.driver import Driver
from biela.model.drivers.joint_driver import JointDriver, Rotary, Translational
from biela.model.drivers.orientation import OrientationDriver
from biela.model.drivers.path import Path
from biela.model.drivers.position import PositionDriver

__all__ = [
    "Cosine",
    "DistanceDriver",
    "Driver",
    "JointDriver",
    "OrientationDriver",
    "Path",
    "PositionDriver",
    "Rotary",
    "Translational",
]
