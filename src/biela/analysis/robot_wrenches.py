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

from biela.errors import ModelError, ShapeError, UnknownNameError
from biela.model.element import nearest

if TYPE_CHECKING:
    from biela.analysis.robot_dynamics import Dynamics

Floats = npt.NDArray[np.float64]
External = Mapping[str, Any]

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
        if name not in robot.frames:
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
    local = [w if axes == "local" else _seen(robot, f, q, w, axes) for f, w in external_of(external, given)]
    try:
        rows = np.stack(np.broadcast_arrays(*local), axis=-2)
    except ValueError:
        spelled = ", ".join(f"{f} {w.shape}" for f, w in external_of(external, given))
        raise ShapeError(
            f"{robot.name}: the wrenches are for different numbers of states ({spelled}; "
            f"q {np.shape(q)})"
        ) from None
    return Wrenches(tuple(external), rows, given, axes)
