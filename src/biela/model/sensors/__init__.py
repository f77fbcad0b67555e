"""The sensor library: one small file a kind."""

from biela.model.sensors.angle import AngleSensor
from biela.model.sensors.distance import DistanceSensor
from biela.model.sensors.expression import ExpressionSensor
from biela.model.sensors.joint import JointSensor
from biela.model.sensors.point import PointSensor
from biela.model.sensors.pose import PoseSensor
from biela.model.sensors.reaction import ReactionSensor
from biela.model.sensors.sensor import Sensor

__all__ = [
    "AngleSensor",
    "DistanceSensor",
    "ExpressionSensor",
    "JointSensor",
    "PointSensor",
    "PoseSensor",
    "ReactionSensor",
    "Sensor",
]
