"""The motion of frames — bodies and markers — and of points fixed in them.

Three groups of channels hold it, in the fixed frame:

    poses                12 a frame: place x y z, and the orientation R by rows, R11 R12 … R33
    twists                6 a frame: velocity vx vy vz of its point, angular velocity wx wy wz
    frame_accelerations   6 a frame: acceleration ax ay az, angular acceleration alphax …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array, Channels
from biela.results.euler_angles import euler_angles
from biela.results.interpolation import hermite, inside, nearest_rotations, slopes
from biela.results.naming import unknown
from biela.results.orientation import euler_parameters, rotation_about, unit_axis

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["FRAME_GROUPS", "FrameMotion", "Framed", "PointMotion", "frame_channels"]

_XYZ = ("x", "y", "z")
#: The groups, and of each the channels of one frame.
FRAME_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "poses": (*_XYZ, *(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))),
    "twists": tuple(f"{letter}{axis}" for letter in ("v", "w") for axis in _XYZ),
    "frame_accelerations": tuple(f"{name}{axis}" for name in ("a", "alpha") for axis in _XYZ),
}
_UNITS: Final = {
    "poses": ("m",) * 3 + ("",) * 9,
    "twists": ("m/s",) * 3 + ("rad/s",) * 3,
    "frame_accelerations": ("m/s²",) * 3 + ("rad/s²",) * 3,
}
#: The group of the rates of another.
_AFTER: Final = {"poses": "twists", "twists": "frame_accelerations"}

Values: TypeAlias = ArrayLike | Callable[[], ArrayLike]


def frame_channels(
    frames: Sequence[str],
    poses: Values,
    twists: Values | None = None,
    accelerations: Values | None = None,
) -> dict[str, Channels]:
    """The groups of channels of frames, for `Results`.

    Args:
        frames: their names.
        poses: (k, n, 12) or (k, 12 n), or a function that computes them; see the module.
        twists: (k, n, 6) or (k, 6 n), likewise.
        accelerations: likewise.
    """
    given = dict(zip(FRAME_GROUPS, (poses, twists, accelerations), strict=True))
    slopes_of = {
        # the angular velocity is the rate of no entry of R
        "poses": ("vx", "vy", "vz", *[""] * 9) if twists is not None else ("",) * 12,
        "twists": FRAME_GROUPS["frame_accelerations"] if accelerations is not None else ("",) * 6,
        "frame_accelerations": ("",) * 6,
    }
    groups = {}
    for group, values in given.items():
        if values is not None:
            groups[group] = Channels(
                [f"{frame}.{part}" for frame in frames for part in FRAME_GROUPS[group]],
                _flat(values),
                _UNITS[group] * len(frames),
                [
                    f"{_AFTER[group]}.{frame}.{rate}" if rate else ""
                    for frame in frames
                    for rate in slopes_of[group]
                ],
            )
    return groups


def _flat(values: Values) -> Values:
    def rows(given: ArrayLike) -> Array:
        array = np.asarray(given, dtype=np.float64)
        return array.reshape(len(array), -1) if array.size else array.reshape(len(array), 0)

    return (lambda: rows(values())) if callable(values) else rows(values)


class PointMotion:
    """The motion of a point fixed in a frame, in the fixed frame; each part computed on first use.

    Attributes:
        name: of the frame, with the place of the point in it.
        frame: the frame that carries it.
        place: its coordinates in that frame, (3,).
    """

    def __init__(self, frame: FrameMotion, place: ArrayLike) -> None:
        """Take the point at `place` in the axes of the frame.

        Raises:
            ShapeError: the place is not three numbers.
        """
        self.place: Array = np.asarray(place, dtype=np.float64)
        if self.place.shape != (3,):
            raise ShapeError(f"a point is three numbers; this has shape {self.place.shape}")
        self.frame = frame
        self.name = f"{frame.name}({', '.join(f'{x:g}' for x in self.place)})"

    @property
    def t(self) -> Array:
        """The instants, (k,)."""
        return self.frame.t

    @cached_property
    def _arm(self) -> Array:
        arm: Array = self.frame.orientation @ self.place
        return arm

    @cached_property
    def position(self) -> Array:
        """Place r + R s, (k, 3)."""
        return self.frame.position + self._arm

    @cached_property
    def velocity(self) -> Array:
        """Velocity v + ω × R s, (k, 3)."""
        return self.frame.velocity + np.cross(self.frame.angular_velocity, self._arm)

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration a + α × R s + ω × (ω × R s), (k, 3)."""
        f = self.frame
        turning = np.cross(f.angular_velocity, np.cross(f.angular_velocity, self._arm))
        return f.acceleration + np.cross(f.angular_acceleration, self._arm) + turning

    def __repr__(self) -> str:
        return f"PointMotion({self.name!r}, {len(self.t)} instants)"


class FrameMotion:
    """The motion of one frame at k instants, all vectors in the fixed frame.

    Attributes:
        name: of the body or marker.
        t: the instants, (k,).
    """

    def __init__(self, name: str, t: Array, read: Callable[[str], Array]) -> None:
        """Look at a frame; `read` gives its columns of a group of `FRAME_GROUPS`."""
        self.name, self.t, self._read = name, t, read

    @property
    def position(self) -> Array:
        """Place of its point, (k, 3)."""
        return self._read("poses")[:, :3]

    @property
    def orientation(self) -> Array:
        """Rotation matrices R, (k, 3, 3), from components in the frame to those in the fixed."""
        return self._read("poses")[:, 3:].reshape(-1, 3, 3)

    @cached_property
    def euler_parameters(self) -> Array:
        """(k, 4) = (e0, e1, e2, e3), without jumps of sign."""
        return euler_parameters(self.orientation)

    @property
    def velocity(self) -> Array:
        """Velocity of its point, (k, 3)."""
        return self._read("twists")[:, :3]

    @property
    def angular_velocity(self) -> Array:
        """ω, (k, 3)."""
        return self._read("twists")[:, 3:]

    @property
    def acceleration(self) -> Array:
        """Acceleration of its point, (k, 3)."""
        return self._read("frame_accelerations")[:, :3]

    @property
    def angular_acceleration(self) -> Array:
        """α, (k, 3)."""
        return self._read("frame_accelerations")[:, 3:]

    def angles(self, sequence: str = "zyx", axes: str = "body") -> Array:
        """Euler or Tait–Bryan angles over time, (k, 3), without jumps of whole turns.

        Args:
            sequence: "zyx" for yaw, pitch and roll, or any other of the twelve.
            axes: "body" for turns about the axes of the frame (intrinsic), "fixed" for extrinsic.

        Raises:
            ResultsError: there is no such sequence.
        """
        found: Array = np.unwrap(euler_angles(self.euler_parameters, sequence, axes), axis=0)
        return found

    def rotation_about(self, axis: str | ArrayLike) -> Array:
        """The angle turned about an axis of the fixed frame, (k,), over any number of turns.

        Where the twists are at hand, turns are counted right also between distant instants.

        Raises:
            ResultsError: the axis is none.
        """
        try:
            w = self.angular_velocity
        except ResultsError:
            return rotation_about(self.euler_parameters, axis)
        return rotation_about(self.euler_parameters, axis, w, self.t)

    def direction(self, axis: str | ArrayLike) -> Array:
        """An axis of the frame, seen from the fixed one, (k, 3).

        Raises:
            ResultsError: the axis is none.
        """
        seen: Array = self.orientation @ unit_axis(axis)
        return seen

    def point(self, place: ArrayLike) -> PointMotion:
        """The point at that place (x, y, z) in the frame, and its motion.

        Raises:
            ShapeError: the place is not three numbers.
        """
        return PointMotion(self, place)

    def at(self, times: ArrayLike) -> FrameMotion:
        """The frame at those times (m,): cubics where rates are at hand, always a rotation.

        Raises:
            ResultsError: a time lies outside the stored interval.
        """
        wanted = inside(self.t, np.atleast_1d(np.asarray(times, dtype=np.float64)))
        return FrameMotion(self.name, wanted, lambda group: self._between(group, wanted))

    def _between(self, group: str, times: Array) -> Array:
        found = hermite(self.t, self._read(group), self._slopes(group), times)
        if group != "poses":
            return found
        turned = nearest_rotations(found[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
        return np.concatenate([found[:, :3], turned], axis=1)

    def _slopes(self, group: str) -> Array:
        """Rates of the columns of a group: from the group of their rates, or by differences."""
        if group not in _AFTER:
            return slopes(self.t, self._read(group))
        try:
            rate = self._read(_AFTER[group])
        except ResultsError:
            return slopes(self.t, self._read(group))
        if group == "twists":
            return rate
        # R' = ω̃ R: the cross product with each column
        turning = np.cross(rate[:, 3:, None], self.orientation, axis=1)
        return np.concatenate([rate[:, :3], turning.reshape(-1, 9)], axis=1)

    def __repr__(self) -> str:
        return f"FrameMotion({self.name!r}, {len(self.t)} instants)"


class Framed:
    """What results know of bodies and markers."""

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames whose motion is here."""
        poses = cast("Results", self).groups.get("poses")
        if poses is None:
            return ()
        width = len(FRAME_GROUPS["poses"])
        return tuple(name.removesuffix(".x") for name in poses.names[::width])

    def frame(self, name: str) -> FrameMotion:
        """The motion of a body or marker: place, orientation in any convention, velocities.

        Raises:
            ResultsError: these results have no frames.
            UnknownNameError: none is called so.
        """
        results = cast("Results", self)
        frames = self.frames
        if not frames:
            raise ResultsError(
                f"{results.name!r} has no frames: its formulation gives no poses of bodies"
            )
        if name not in frames:
            raise unknown(name, "frame", frames)
        number = frames.index(name)

        def read(group: str) -> Array:
            if group not in results.groups:
                raise ResultsError(
                    f"{results.name!r} has no {group.replace('_', ' ')} of {name!r}: "
                    f"there are {', '.join(results.groups)}"
                )
            width = len(FRAME_GROUPS[group])
            return results[group][:, number * width : (number + 1) * width]

        return FrameMotion(name, results.t, read)
