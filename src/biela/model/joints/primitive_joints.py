"""Single conditions as joints: what a list of constraints, such as that of an old file, is made of.

They close loops and carry no body.  (DP1, DP2, CD and ⊥1 of Peinado's thesis; its D is the joint
"distance", its ⊥2 the joint "point_on_line".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.element import quantity
from biela.model.joints.joint import Joint
from biela.model.joints.moves import Move
from biela.model.joints.primitives import Along, Parallel, Perpendicular, Primitive, Projection
from biela.model.quantities.values import Number, Value

_AXES = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True, kw_only=True)
class PrimitiveJoint(Joint):
    """One condition between two markers; it closes loops only."""

    carries: ClassVar[bool] = False

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """It carries no body.

        Raises:
            ModelError: Always.
        """
        del q, number
        raise ModelError(f"joint {self.name}: a {self.kind} joint cannot carry a body in a tree")

    def _check_axis(self, axis: str, allowed: Sequence[str] = _AXES) -> None:
        if axis not in allowed:
            raise ModelError(
                f"joint {self.name}: {axis!r} is not an axis; use {', '.join(allowed)}"
            )


@dataclass(frozen=True, kw_only=True)
class Dot(PrimitiveJoint):
    """Two axes keep their angle: a_i · b_j = value, the cosine of it.

    It is singular where the value is 1 or -1: use "parallel_axes" there.
    """

    a: str = quantity("text", "axis of i: x, y, z, -x …", default="x")
    b: str = quantity("text", "axis of j: x, y, z, -x …", default="x")
    value: Value = quantity("none", "cosine of the angle; 0 for a right angle", default=0.0)

    kind: ClassVar[str] = "dot"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_axis(self.a)
        self._check_axis(self.b)
        if not isinstance(self.value, str) and not -1 <= self.value <= 1:
            raise ModelError(
                f"joint {self.name}: the cosine of an angle lies between -1 and 1; it is "
                f"{self.value!r}"
            )

    def conditions(self) -> Sequence[Primitive]:
        """One angle: 1 row."""
        return [Perpendicular(self.a, self.b, self.value)]


@dataclass(frozen=True, kw_only=True)
class InPlane(PrimitiveJoint):
    """The point of j stays in a plane across an axis of i: a_i · d = offset."""

    normal: str = quantity("text", "axis of i across the plane: x, y, z, -x …", default="z")
    offset: Value = quantity("length", "distance of the plane from the point of i", default=0.0)

    kind: ClassVar[str] = "in_plane"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_axis(self.normal)

    def conditions(self) -> Sequence[Primitive]:
        """One plane: 1 row."""
        return [Along(self.normal, self.offset)]


@dataclass(frozen=True, kw_only=True)
class CoordinateDifference(PrimitiveJoint):
    """The points keep a difference along an axis of the ground: c · (r_j - r_i) = value."""

    along: str = quantity("text", "axis of the ground: x, y or z")
    value: Value = quantity("length", "coordinate of j less that of i", default=0.0)

    kind: ClassVar[str] = "coordinate_difference"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_axis(self.along, _AXES[:3])

    def conditions(self) -> Sequence[Primitive]:
        """One coordinate: 1 row."""
        return [Projection(self.along, self.value)]


@dataclass(frozen=True, kw_only=True)
class ParallelAxes(PrimitiveJoint):
    """The z axes of both markers stay parallel, and may point either way."""

    kind: ClassVar[str] = "parallel_axes"

    def conditions(self) -> Sequence[Primitive]:
        """One direction: 2 rows."""
        return [Parallel(either_way=True)]
