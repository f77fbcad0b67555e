"""Inverse kinematics of a robot: configurations in which its frames are where they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biela.analysis.robots.motions import Motions
from biela.errors import ModelError, ShapeError, UnknownNameError
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.analysis.inverse_kinematics import IKBatch, IKSolution, InverseKinematics, Target


class Targets(Motions):
    """What a robot reaches; a base of `biela.Robot`."""

    def inverse_kinematics(
        self,
        frame: str | Target | Sequence[Target],
        target: ArrayLike,
        q: ArrayLike | None = None,
        *,
        limits: bool | Mapping[str, tuple[float, float]] = True,
        weights: Mapping[str, float] | None = None,
        tolerance: float = 1e-10,
        **options: Any,
    ) -> IKSolution | IKBatch:
        """The configuration q with pose(frame, q) = target, within the limits.

        >>> import biela as bl
        >>> from biela.model.denavit_hartenberg import from_dh
        >>> robot = bl.Robot(from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0]))
        >>> found = robot.inverse_kinematics("link2", [0.5, 0.2, 0.0], [0.1, 0.3])
        >>> bool(found.converged), robot.pose("link2", found.q)[:3, 3].round(9)
        (True, array([0.5, 0.2, 0. ]))

        Args:
            frame: A body or "body.marker"; or targets of `biela.analysis.inverse_kinematics`:
                points, directions, poses and coordinates, several of them at a time.
            target: Where the frame should be: a place (3,) or a pose (4, 4), or N of them; of
                targets a value for each.
            q: Where to start, or N rows of starts; the start of the model if not given.
            limits: Whether the limits of the model hold, or others by coordinate.
            weights: How dear it is to move each coordinate, by name; 1 where not given.
            tolerance: What may be missed, m and rad.
            **options: Of `biela.InverseKinematics`: ``restarts``, ``seed``, ``objective``, ``t``,
                and for many targets ``threads``.

        Returns:
            A solution, or a batch of N; where nothing reaches the target, the closest position, not
            ``converged``.

        Raises:
            UnknownNameError: There is no such frame; the message has the nearest name.
            ShapeError: The target is neither a place nor a pose.
            ModelError: An option makes no sense.
        """
        from biela.analysis.inverse_kinematics import PointTarget, PoseTarget, Target

        if not isinstance(frame, str):
            wanted = tuple(frame) if isinstance(frame, list | tuple) else (frame,)
            if not all(isinstance(one, Target) for one in wanted):
                raise ModelError(
                    f"{self.name}: what is to be reached is a frame by name, or targets such as "
                    f"PointTarget, not {frame!r}"
                )
            solver = self._solver(wanted, limits, weights, tolerance)
            values: Any = [target] if len(wanted) == 1 else target
            counts = {np.ndim(t.parsed(x)) for t, x in zip(wanted, values, strict=False)}
            return _solved(solver, target, q, max(counts, default=1) == 2, options)
        frame = self.own_frame(frame)
        if frame not in self.frames:
            raise UnknownNameError(
                f"{self.name}: there is no frame {frame!r}{nearest(frame, self.frames)}"
            )
        given = np.asarray(target, dtype=float)
        is_pose = given.shape[-2:] == (4, 4)
        if not is_pose and not (given.ndim in (1, 2) and given.shape[-1] == 3):
            raise ShapeError(
                f"{self.name}: the target of {frame} is a place (3,) or a pose (4, 4), or N of "
                f"them, not the shape {given.shape}"
            )
        kind = PoseTarget(frame) if is_pose else PointTarget(frame)
        many = given.ndim == (3 if is_pose else 2)
        return _solved(self._solver((kind,), limits, weights, tolerance), given, q, many, options)

    def _solver(
        self, targets: tuple[Target, ...], limits: Any, weights: Any, tolerance: float
    ) -> InverseKinematics:
        from biela.analysis.inverse_kinematics import InverseKinematics

        made: dict[Any, InverseKinematics] = self.__dict__.setdefault("_solvers", {})
        key = targets, repr(limits), repr(weights), tolerance
        if key not in made:
            made[key] = InverseKinematics(
                self.kinematic_system,
                targets,
                limits=limits,
                weights=weights,
                tolerance=tolerance,
                parameters=dict(self.parameter_values) or None,
            )
        return made[key]


def _solved(
    solver: InverseKinematics, values: Any, q: Any, many: bool, options: dict[str, Any]
) -> IKSolution | IKBatch:
    start = None if q is None else np.asarray(q, dtype=float)
    return (solver.batch if many else solver.solve)(values, start, **options)
