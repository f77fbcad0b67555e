"""The motion of the named frames of a symbolic system, in the inertial base, a row a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from biela.code import Function
from biela.space import Frame

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem


def poses(source: SymbolicSystem, frames: Mapping[str, Frame]) -> Function:
    """A row a frame: its place, and R by rows, whose columns are its axes, in the inertial base."""
    rows = []
    for frame in frames.values():
        place = source.position(source.origin, frame.point).components(source.base)
        axes = [
            frame.base.vector(*(int(i == k) for i in range(3))).components(source.base)
            for k in range(3)
        ]
        rows.append([*place, *(axes[k][i] for i in range(3) for k in range(3))])
    return source.function("poses", {"poses": rows})


def twists(source: SymbolicSystem, frames: Mapping[str, Frame]) -> Function:
    """A row a frame: velocity of its point and angular velocity, in the inertial base."""
    rows = [
        [
            *source.velocity(frame.point).components(source.base),
            *source.angular_velocity(frame.base).components(source.base),
        ]
        for frame in frames.values()
    ]
    return source.function("twists", {"twists": rows})


def frame_accelerations(source: SymbolicSystem, frames: Mapping[str, Frame]) -> Function:
    """A row a frame: acceleration of its point and angular acceleration, in the inertial base."""
    rows = [
        [
            *source.acceleration(frame.point).components(source.base),
            *source.angular_acceleration(frame.base).components(source.base),
        ]
        for frame in frames.values()
    ]
    a = [v.acceleration for v in source.v]
    return source.function("frame_accelerations", {"frame_accelerations": rows}, a=a)
