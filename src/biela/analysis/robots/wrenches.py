"""Wrenches from outside on frames of a robot.

A wrench w = [moment; force] on a frame with the twist J v has the joint forces Jᵀ w:

    M v' + ξ = τ + Σ Jᵀ w.

Its axes are those in which the twist is seen: "aligned", at the origin of the frame along the axes
of the ground; "local", along those of the frame, with which it turns; "world", at the origin of the
ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.errors import ModelError, ShapeError, UnknownNameError
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.analysis.robots.dynamics import Dynamics

Floats = npt.NDArray[np.float64]
External = Mapping[str, ArrayLike]

_AXES = ("aligned", "local", "world")


@dataclass(frozen=True, eq=False)
class Wrenches:
    """Wrenches at a state or at many.

    Attributes:
        frames: Where they act.
        local: Along the axes of each frame, (k, 6), or (N, k, 6) for many states.
        given: As they were given, (6,) or (N, 6) each.
        axes: In which they were given.
    """

    frames: tuple[str, ...]
    local: Floats
    given: tuple[Floats, ...]
    axes: str

    def joint_forces(self, robot: Dynamics, q: Any, threads: int = 1) -> Floats:
        """Σ Jᵀ w."""
        total = np.zeros(robot.nv)
        for frame, w in zip(self.frames, self.given, strict=True):
            J = robot.jacobian(frame, q, self.axes, threads=threads)
            total = total + np.einsum("...ij,...i->...j", J, w)
        return total

    def stiffness(self, robot: Dynamics, q: Any, threads: int = 1) -> Floats:
        """∂τ/∂δ of what the wrenches do not turn with their frames: - Σ Jᵀ ∂w/∂δ.

        Along the axes of a frame that turns by θ and moves by x, a force at rest changes by f × θ,
        a moment by m × θ, and by f × x, too, if the force stays where it is.
        """
        total = np.zeros((robot.nv, robot.nv))
        if self.axes == "local":
            return total
        for k, frame in enumerate(self.frames):
            J = robot.jacobian(frame, q, "local", threads=threads)
            moment, force = _crossing(self.local[..., k, :3]), _crossing(self.local[..., k, 3:])
            change = np.concatenate([moment @ J[..., :3, :], force @ J[..., :3, :]], axis=-2)
            if self.axes == "world":
                change[..., :3, :] += force @ J[..., 3:, :]
            total = total - np.swapaxes(J, -1, -2) @ change
        return total


def wrenches(robot: Dynamics, external: External, axes: str, q: Any) -> Wrenches:
    """The wrenches on frames by name.

    Raises:
        ModelError: There are no such axes.
        UnknownNameError: There is no such frame; the message has the nearest name.
        ShapeError: A wrench is not six numbers, or a row of them for each state.
    """
    if axes not in _AXES:
        raise ModelError(
            f"{robot.name}: the axes of a wrench are one of {', '.join(_AXES)}, not {axes!r}"
        )
    if not isinstance(external, Mapping):
        raise ModelError(
            f"{robot.name}: external are wrenches by frame, such as "
            f"{{{robot.frames[-1]!r}: [0, 0, 0, 0, 0, -10]}}, not {type(external).__name__}"
        )
    found = []
    for name, wrench in external.items():
        if robot.own_frame(name) not in robot.frames:
            raise UnknownNameError(
                f"{robot.name}: there is no frame {name!r} for a wrench"
                f"{nearest(name, robot.frames)}"
            )
        w = np.asarray(wrench, dtype=float)
        if w.ndim not in (1, 2) or w.shape[-1] != 6:
            raise ShapeError(
                f"{robot.name}: the wrench on {name} is [moment; force], six numbers or a row of "
                f"them for each state, not the shape {w.shape}"
            )
        found.append(w)
    given = tuple(found)
    pairs = list(zip(external, given, strict=True))
    local = [w if axes == "local" else _turned(robot, name, q, w, axes) for name, w in pairs]
    try:
        rows = np.stack(np.broadcast_arrays(*local), axis=-2)
    except ValueError:
        spelled = ", ".join(f"{name} {w.shape}" for name, w in pairs)
        raise ShapeError(
            f"{robot.name}: the wrenches are for different numbers of states: {spelled}"
        ) from None
    return Wrenches(tuple(map(robot.own_frame, external)), rows, given, axes)


def _turned(robot: Dynamics, frame: str, q: Any, w: Floats, axes: str) -> Floats:
    """A wrench at the origin and along the axes of its frame."""
    T = robot.pose(frame, q)
    if w.ndim == T.ndim - 1 == 2 and len(w) != len(T):
        raise ShapeError(
            f"{robot.name}: there are {len(T)} states, and {len(w)} wrenches on {frame}"
        )
    moment, force = w[..., :3], w[..., 3:]
    if axes == "world":
        moment = moment - np.cross(T[..., :3, 3], force)
    R = T[..., :3, :3]
    turned = [np.einsum("...ij,...i->...j", R, x) for x in (moment, force)]
    return np.concatenate(turned, axis=-1)


def _crossing(x: Floats) -> Floats:
    """The matrices X with X y = x × y."""
    X = np.zeros((*x.shape[:-1], 3, 3))
    X[..., 0, 1], X[..., 0, 2], X[..., 1, 2] = -x[..., 2], x[..., 1], -x[..., 0]
    return X - np.swapaxes(X, -1, -2)
