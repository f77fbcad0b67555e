"""Three-dimensional mechanics on atoms: bases, points, frames, vectors, tensors, solids."""

from biela.space.algebra import Algebra, Toward
from biela.space.bases import Base
from biela.space.diagram import base_tree, point_tree
from biela.space.kinematics import (
    acceleration,
    acceleration_in,
    angular_acceleration,
    angular_velocity,
    derivative,
    position,
    rotation_matrix,
    velocity,
    velocity_in,
)
from biela.space.points import Frame, Point
from biela.space.solids import Solid, Wrench
from biela.space.space import Space
from biela.space.tensors import Tensor, skew
from biela.space.twists import Twist, twist
from biela.space.vectors import Vector, triple_cross

__all__ = [
    "Algebra",
    "Base",
    "Frame",
    "Point",
    "Solid",
    "Space",
    "Tensor",
    "Toward",
    "Twist",
    "Vector",
    "Wrench",
    "acceleration",
    "acceleration_in",
    "angular_acceleration",
    "angular_velocity",
    "base_tree",
    "derivative",
    "point_tree",
    "position",
    "rotation_matrix",
    "skew",
    "triple_cross",
    "twist",
    "velocity",
    "velocity_in",
]
