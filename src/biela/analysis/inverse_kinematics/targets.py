"""What an inverse kinematics can be asked for: places, directions, poses and coordinates.

Each target has rows f, what is there minus what is wanted, and rows of motion, linear in the
velocities, that are the rate of f close to the target.  All are written in the axes of the ground
or of the frame the target is relative to.  What is wanted are *entries*: symbols of the kernel,
given anew for every solution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.rotation_error import (
    cross,
    dot,
    rotation_vector,
    times,
    turn_between,
)
from biela.analysis.inverse_kinematics.scenery import Scenery
from biela.atoms import Atom
from biela.doors import doors
from biela.errors import ModelError, ShapeError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The rows of a target: their values, and how fast they change for velocities v."""

    f: list[Atom]
    motion: list[Atom]


class Target(ABC):
    """Something that is wanted of a position."""

    #: How many numbers say what is wanted, and how many rows there are.
    entries: int
    rows: int
    #: What a value is, in words.
    wanted: str

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in messages."""

    @property
    @abstractmethod
    def row_weights(self) -> tuple[float, ...]:
        """The weight of each row in the sum of squares, as a factor of the row."""

    @abstractmethod
    def expressions(self, scenery: Scenery, wanted: Sequence[Atom]) -> Rows:
        """The rows on the expressions of a system."""

    def parsed(self, value: Any) -> Floats:
        """The entries, one row a value, of what a user gives: one value, or N of them.

        Raises:
            ShapeError: It is not a value of this target.
        """
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise self._unreadable(value) from None
        if array.shape[-1:] == (self.entries,) and array.ndim <= 2:
            return np.ascontiguousarray(array)
        raise self._unreadable(value)

    def _unreadable(self, value: Any) -> ShapeError:
        shape = getattr(value, "shape", None)
        given = f"an array of shape {shape}" if shape is not None else f"{value!r}"
        return ShapeError(f"{self.label}: the value is {self.wanted}, not {given}")


def _triple(owner: str, what: str, given: Sequence[float]) -> tuple[float, float, float]:
    numbers = tuple(float(x) for x in given)
    if len(numbers) != 3 or not np.isfinite(numbers).all():
        raise ModelError(f"{owner}: {what} is three finite numbers, not {given!r}")
    return numbers[0], numbers[1], numbers[2]


def _weight(owner: str, weight: float) -> float:
    if not (np.isfinite(weight) and weight > 0):
        raise ModelError(f"{owner}: a weight is a positive number, not {weight!r}")
    return float(weight)


@doors(ModelError)
@dataclass(frozen=True)
class PointTarget(Target):
    """A point of a frame at a place.

    Args:
        frame: Name of the frame the point is fixed to.
        point: Its coordinates in that frame (m).
        weight: Of its distance (m) in the sum of squares, where not all targets can be met.
        relative_to: Name of the frame in whose axes and from whose origin the place is given; the
            ground, if none.
    """

    frame: str
    point: Sequence[float] = (0.0, 0.0, 0.0)
    weight: float = 1.0
    relative_to: str | None = None
    entries = rows = 3
    wanted = "a place: three numbers, or N rows of three"

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", _triple(self.label, "point", self.point))
        _weight(self.label, self.weight)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"point of {self.frame}"

    @property
    def row_weights(self) -> tuple[float, ...]:
        """The weight of each row."""
        return (float(self.weight),) * 3

    def expressions(self, scenery: Scenery, wanted: Sequence[Atom]) -> Rows:
        """Place minus the place wanted, and its velocity."""
        frame = scenery.seen(self.frame, self.relative_to)
        arm = times(frame.R, [scenery.number(x) for x in self.point])
        turning = cross(frame.angular, arm)
        f = [a + b - c for a, b, c in zip(frame.place, arm, wanted, strict=True)]
        return Rows(f, [a + b for a, b in zip(frame.velocity, turning, strict=True)])


@doors(ModelError)
@dataclass(frozen=True)
class DirectionTarget(Target):
    """An axis of a frame along a direction.

    Args:
        frame: Name of the frame.
        axis: The axis in that frame; its length does not matter.
        weight: Of the angle (rad) in the sum of squares, where not all targets can be met.
        relative_to: Name of the frame in whose axes the direction is given; the ground, if none.
    """

    frame: str
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    weight: float = 1.0
    relative_to: str | None = None
    entries = rows = 3
    wanted = "a direction: three numbers that are not all zero, or N rows of three"

    def __post_init__(self) -> None:
        axis = np.array(_triple(self.label, "axis", self.axis))
        length = float(np.linalg.norm(axis))
        if not length > 0:
            raise ModelError(f"{self.label}: the axis is a vector of length zero")
        object.__setattr__(self, "axis", tuple((axis / length).tolist()))
        _weight(self.label, self.weight)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"axis of {self.frame}"

    @property
    def row_weights(self) -> tuple[float, ...]:
        """The weight of each row."""
        return (float(self.weight),) * 3

    def expressions(self, scenery: Scenery, wanted: Sequence[Atom]) -> Rows:
        """The turn from the direction wanted to the axis; a turn about the axis does not count."""
        frame = scenery.seen(self.frame, self.relative_to)
        axis = times(frame.R, [scenery.number(x) for x in self.axis])
        along = dot(frame.angular, axis)
        motion = [w - along * e for w, e in zip(frame.angular, axis, strict=True)]
        return Rows(list(turn_between(wanted, axis)), motion)

    def parsed(self, value: Any) -> Floats:
        """Directions of unit length."""
        array = super().parsed(value)
        length = np.linalg.norm(array, axis=-1, keepdims=True)
        if not (length > 0).all():
            raise self._unreadable(value)
        return np.asarray(array / length)


@doors(ModelError)
@dataclass(frozen=True)
class PoseTarget(Target):
    """A frame at a place and in an orientation.

    A value is a 4 by 4 homogeneous matrix, a pair (place, R), or the 12 numbers of a row of the
    capability "poses": the place and R by rows.

    Args:
        frame: Name of the frame.
        weights: Of the distance (m) and of the angle (rad) in the sum of squares, where not all
            targets can be met.
        relative_to: Name of the frame the pose is seen from; the ground, if none.
    """

    frame: str
    weights: tuple[float, float] = (1.0, 1.0)
    relative_to: str | None = None
    entries, rows = 12, 6
    wanted = (
        "a pose: a 4 by 4 matrix with a rotation, a pair (place, R), or 12 numbers (place and R "
        "by rows), or N of them"
    )

    def __post_init__(self) -> None:
        if len(self.weights) != 2:
            raise ModelError(f"{self.label}: two weights are needed, of place and orientation")
        for weight in self.weights:
            _weight(self.label, weight)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"pose of {self.frame}"

    @property
    def row_weights(self) -> tuple[float, ...]:
        """The weight of each row."""
        place, turn = self.weights
        return (float(place),) * 3 + (float(turn),) * 3

    def expressions(self, scenery: Scenery, wanted: Sequence[Atom]) -> Rows:
        """Place minus the place wanted, and the turn from the orientation wanted."""
        frame = scenery.seen(self.frame, self.relative_to)
        f = [a - b for a, b in zip(frame.place, wanted[:3], strict=True)]
        R = [wanted[3 + 3 * i : 6 + 3 * i] for i in range(3)]
        # R_actual R_wantedᵀ; a row of it is R_wanted times a row of R_actual
        turned = [times(R, row) for row in frame.R]
        return Rows([*f, *rotation_vector(turned)], [*frame.velocity, *frame.angular])

    def parsed(self, value: Any) -> Floats:
        """Twelve numbers: the place and R by rows."""
        if isinstance(value, (tuple, list)) and len(value) == 2:
            place, R = (np.asarray(part, dtype=float) for part in value)
            if R.shape[-2:] != (3, 3) or place.shape != (*R.shape[:-2], 3):
                raise self._unreadable(value)
            array = np.concatenate([place, R.reshape(*R.shape[:-2], 9)], axis=-1)
        else:
            array = np.asarray(value, dtype=float)
            if array.shape[-2:] == (4, 4) and array.ndim <= 3:
                place, R = array[..., :3, 3], array[..., :3, :3]
                array = np.concatenate([place, R.reshape(*R.shape[:-2], 9)], axis=-1)
        entries = super().parsed(array)
        R = entries[..., 3:].reshape(-1, 3, 3)
        product = R @ R.transpose(0, 2, 1)
        if not (np.abs(product - np.eye(3)).max() < 1e-6 and (np.linalg.det(R) > 0).all()):
            raise ShapeError(
                f"{self.label}: the orientation is not a rotation matrix (R Rᵀ = 1, det R = 1)"
            )
        return entries


@doors(ModelError)
@dataclass(frozen=True)
class CoordinateTarget(Target):
    """A coordinate at a value.

    Args:
        name: Name of the coordinate.
        weight: Of its difference (rad or m) in the sum of squares, where not all can be met.
    """

    name: str
    weight: float = 1.0
    entries = rows = 1
    wanted = "a number, or N of them"

    def __post_init__(self) -> None:
        _weight(self.label, self.weight)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"coordinate {self.name}"

    @property
    def row_weights(self) -> tuple[float, ...]:
        """The weight of the row."""
        return (float(self.weight),)

    def expressions(self, scenery: Scenery, wanted: Sequence[Atom]) -> Rows:
        """Coordinate minus the value wanted."""
        q, rate = scenery.coordinate(self.name)
        return Rows([q - wanted[0]], [rate])

    def parsed(self, value: Any) -> Floats:
        """One number, or a column of them."""
        array = np.asarray(value, dtype=float)
        return super().parsed(array[..., None] if array.shape[-1:] != (1,) else array)
