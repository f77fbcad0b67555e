"""Natural coordinates: points and unit vectors that bodies share, and relative coordinates.

A `Layout` of entities, constraints and bodies, laid by hand, is lowered to a `System`; its pattern
is what orderings work on.  García de Jalón & Bayo, *Kinematic and Dynamic Simulation of Multibody
Systems* (1994).
"""

from biela.equations.natural.bodies import NaturalBody
from biela.equations.natural.entities import (
    Cross,
    NaturalPoint,
    NaturalVector,
    RelativeCoordinate,
    Segment,
)
from biela.equations.natural.impulses import struck
from biela.equations.natural.layout import Layout
from biela.equations.natural.pattern import JacobianPattern

__all__ = [
    "Cross",
    "JacobianPattern",
    "Layout",
    "NaturalBody",
    "NaturalPoint",
    "NaturalVector",
    "RelativeCoordinate",
    "Segment",
    "struck",
]
