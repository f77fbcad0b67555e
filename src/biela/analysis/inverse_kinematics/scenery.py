"""The frames of a system as expressions: where they are, and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from biela.analysis.inverse_kinematics.rotation_error import cross, times, transposed
from biela.analysis.unrolled import Unrolled
from biela.atoms import Atom
from biela.equations import System
from biela.errors import ModelError


@dataclass(frozen=True)
class Seen:
    """A frame seen from another: place, orientation, velocity and angular velocity."""

    place: Sequence[Atom]
    R: Sequence[Sequence[Atom]]
    velocity: Sequence[Atom]
    angular: Sequence[Atom]


class Scenery:
    """The frames and coordinates of a system, in the workspace of its expressions."""

    def __init__(self, system: System) -> None:
        self.unrolled = Unrolled(system)

    def number(self, value: float) -> Atom:
        """A number as an expression."""
        return self.unrolled.workspace.atom(value)

    @cached_property
    def _poses(self) -> Sequence[Sequence[Atom]]:
        return list(self.unrolled("poses"))

    @cached_property
    def _twists(self) -> Sequence[Sequence[Atom]]:
        return list(self.unrolled("twists"))

    def _index(self, frame: str) -> int:
        system = self.unrolled.system
        if frame not in system.frames:
            raise ModelError(
                f"{system.name} has no frame {frame!r}; it has {', '.join(system.frames) or 'none'}"
            )
        return system.frames.index(frame)

    def _in_ground(self, frame: str) -> Seen:
        k = self._index(frame)
        pose, twist = list(self._poses[k]), list(self._twists[k])
        R = [pose[3:6], pose[6:9], pose[9:12]]
        return Seen(pose[:3], R, twist[:3], twist[3:])

    def seen(self, frame: str, base: str | None) -> Seen:
        """A frame seen from another one, or from the ground.

        Raises:
            ModelError: There is no such frame.
        """
        there = self._in_ground(frame)
        if base is None:
            return there
        here = self._in_ground(base)
        back = transposed(here.R)
        gap = [a - b for a, b in zip(there.place, here.place, strict=True)]
        carried = cross(here.angular, gap)
        speed = [a - b - c for a, b, c in zip(there.velocity, here.velocity, carried, strict=True)]
        turning = [a - b for a, b in zip(there.angular, here.angular, strict=True)]
        columns = transposed(there.R)
        R = transposed([times(back, column) for column in columns])
        return Seen(times(back, gap), R, times(back, speed), times(back, turning))

    def coordinate(self, name: str) -> tuple[Atom, Atom]:
        """A coordinate and its rate.

        Raises:
            ModelError: There is no such coordinate.
        """
        names = [entry.name for entry in self.unrolled.system.q]
        if name not in names:
            raise ModelError(
                f"{self.unrolled.system.name} has no coordinate {name!r}; it has {', '.join(names)}"
            )
        k = names.index(name)
        return self.unrolled.q[k], self.unrolled.rates()[k]
