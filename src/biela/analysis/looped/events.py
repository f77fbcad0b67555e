"""Events in the motion of large mechanisms, as they are answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.motion import LoopedMotion
from biela.errors import AssemblyError

Floats = npt.NDArray[np.float64]

#: Constraints that are missed by less are closed: of an iteration on the way, and at its end.
_CLOSED: Final = 1e-13
_NEARLY: Final = 1e-9
_ITERATIONS: Final = 20


@dataclass(frozen=True)
class LoopedEvents:
    """The events of a looped motion under given inputs, as `event_answers.Watched`."""

    motion: LoopedMotion
    u: Floats
    what: str = " of the bodies"

    @property
    def sizes(self) -> tuple[int, int]:
        """How many coordinates and velocities there are."""
        return self.motion.blocks.nq, self.motion.blocks.nv

    @property
    def names(self) -> tuple[Iterable[str], Iterable[str]]:
        """The names of coordinates and velocities."""
        return self.motion.blocks.coordinate_names, self.motion.blocks.velocity_names

    def values(self, t: float, q: Floats, v: Floats) -> Floats:
        """The event functions."""
        return self.motion.blocks.g(q, v, t, self.u)

    def moved(self, t: float, q: Floats, way: Floats) -> Floats:
        """The position a short way ahead."""
        return self.motion.blocks.moved(q, way)

    def accelerations(self, t: float, q: Floats, v: Floats) -> Floats:
        """The accelerations in a state."""
        return self.motion.accelerations(t, q, v, self.u)[0]

    def consistent(self, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The state nearest to one that fulfils the constraints of position and velocity.

        It is the nearest in the metric of the mass: velocities change as by impulses of the joints.

        Raises:
            AssemblyError: There is none near it.
        """
        motion, blocks = self.motion, self.motion.blocks
        if not len(blocks.rows):
            return q, v
        x = np.concatenate([q, v])
        missed = np.inf
        for _ in range(_ITERATIONS):
            motion.accelerations(t, x[: blocks.nq], x[blocks.nq :], self.u)
            corrected, before = motion.corrected(t, x, self.u)
            if (
                not np.isfinite(before)
                or before <= _CLOSED
                or (before <= _NEARLY and before > 0.3 * missed)
            ):
                missed = before
                break
            x, missed = corrected, before
        if not missed <= _NEARLY * (1.0 + float(np.abs(x).max())):
            raise AssemblyError(
                f"{blocks.name}: the state that a reaction returned at t = {t:.6g} s does not "
                f"fulfil the constraints, which are missed by {missed:.3g}, and none near it does"
            )
        return x[: blocks.nq], x[blocks.nq :]
