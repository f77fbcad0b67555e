"""The motion of a model as its groups have found it: points, joints and bodies at all instants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.stored import Stored
from biela.equations.groups.cast import Cast
from biela.equations.groups.items import components
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.analysis.groups.solver import GroupSolver

__all__ = ["GroupMotion", "PointMotion"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PointMotion:
    """Positions, velocities and accelerations of a point, (instants, 3) each; along the ground."""

    position: Floats
    velocity: Floats
    acceleration: Floats


class GroupMotion:
    """The motion of a model, as its groups have found it.

    Attributes:
        solver: Whose motion it is.
        t: Times.
        iterations: Steps of Newton's method a group and instant, in the mean; without groups that
            drivers alone give.
        newton_steps: The same of all groups and instants together.
        careful: Instants that were taken one by one, since several at a time did not converge.
        time_run: Seconds of the run itself.
        cpu_run: Seconds of the processor.
        cpu_native: Those of them in the code of the groups, without laws and the rest of Python;
            0 of a run that went tile by tile.
        time_total: With its start.
    """

    def __init__(
        self,
        solver: GroupSolver,
        stored: Stored,
        place: Mapping[int, int],
        *,
        time_run: float,
        cpu_run: float,
        time_total: float,
        instants: Integers | None = None,
    ) -> None:
        self.solver, self._stored, self._place = solver, stored, place
        self._instants = instants
        self.t = stored.t if instants is None else stored.t[instants]
        self.time_run, self.cpu_run, self.time_total = time_run, cpu_run, time_total
        unsolved = [len(c.groups) for c, k in self._kinds() if k.unknowns]
        self.newton_steps = round(stored.steps)
        self.iterations = stored.steps / max(1, sum(unsolved) * len(stored.t))
        self.careful, self.cpu_native = stored.careful, stored.solving

    def _kinds(self) -> list[tuple[Cast, Any]]:
        groups = self.solver.groups
        return list(zip(self.solver.casts.casts, groups.kernels, strict=True))

    def work(self) -> dict[str, int | float | str]:
        """What it took, in words, for statistics.

        Steps that polish go on from where the tolerance is met already, down to rounding.
        """
        structure, program = self.solver.structure, self.solver.groups
        solved = closed = 0
        for (cast, kernel), form in zip(self._kinds(), program.closed, strict=True):
            solved += cast.count if kernel.unknowns else 0
            closed += cast.count if kernel.unknowns and form is not None else 0
        polish = program.iteration.polish
        return {
            "groups": len(structure.groups),
            "kinds of groups": len(structure.kinds),
            "groups that drivers give": len(structure.groups) - solved,
            "groups in closed form": closed,
            "groups by Newton's method": solved - closed,
            "Newton steps a group and instant": round(self.iterations, 3),
            "of these to polish": polish if solved else 0,
            "instants taken one by one": self.careful,
            "lanes": self.solver.lanes,
        }

    def point(self, name: str) -> PointMotion:
        """The motion of a marker that was asked for.

        Raises:
            ModelError: It was not.
        """
        known = self.solver.points
        if name not in known:
            raise ModelError(
                f"the motion of {name!r} was not asked for; points are "
                f"{', '.join(known) or 'none: give points=[…]'}"
            )
        k = list(known).index(name)
        return PointMotion(*(self._rows(k, d)[:, 0] for d in range(3)))

    def joint(self, name: str) -> Floats:
        """A joint coordinate that was asked for: its value and two rates, (instants, 3).

        An angle that equations give starts within half a turn of zero, as in results, and is then
        counted over all turns.  One that a driver gives is its law, and gears and screws count
        from where the model starts.

        Args:
            name: As it was asked for, or "joint.coordinate".

        Raises:
            ModelError: It was not, or points alone are stored.
        """
        solver = self.solver
        asked = [key for key, joint in solver.joints.items() if name in (key, joint.name)]
        if not asked:
            raise ModelError(
                f"the coordinate {name!r} was not asked for; these were: "
                f"{', '.join(solver.joints) or 'none: give joints=[…]'}"
            )
        self._need_all(f"the coordinate {name}")
        number = len(solver.points) + len(solver.bodies) + list(solver.joints).index(asked[0])
        joint = solver.joints[asked[0]]
        place = int(solver.groups.request_places[number][0, 0])
        size = solver.groups.memory.sizes["y"]
        found = joint.sign * self._stored.columns(place + size * np.arange(3))
        if joint.turns:
            found[:, 0] = _over_turns(self._stored.t, found[:, 0], found[:, 1])
            counted = joint.name in solver.poses.coordinates
            if len(found) and not counted:
                found[:, 0] -= 2 * np.pi * np.round(found[0, 0] / (2 * np.pi))
        return found if self._instants is None else np.asarray(found[self._instants])

    def _need_all(self, what: str) -> None:
        """Refuse what is not stored where points alone are."""
        if self._place:
            raise ModelError(f'{what} is not stored: run with store="all"')

    def _rows(self, request: int, rate: int) -> Floats:
        """A request at all instants: (instants, bodies, 3 or 2)."""
        groups = self.solver.groups
        places = groups.request_places[request]
        kind = [*self.solver.points.values(), *self.solver.bodies][request].kind
        flat = places.ravel()
        if self._place:
            size = len(self._place)
            flat = np.array([self._place[int(p)] for p in flat])
        else:
            size = groups.memory.sizes["y"]
        found = self._stored.columns(flat + rate * size)
        found = found if self._instants is None else found[self._instants]
        found = found.reshape(len(self.t), *places.shape)
        plane = self.solver.model.plane
        if plane is None or kind == "turn":
            return found
        whole = np.zeros((*found.shape[:2], 3))
        for k, axis in enumerate(plane[: components(kind, plane)]):
            whole[:, :, "xyz".index(axis)] = found[:, :, k]
        return whole

    def at(self, instants: Integers) -> GroupMotion:
        """Some of the instants, by number."""
        return GroupMotion(
            self.solver,
            self._stored,
            self._place,
            time_run=self.time_run,
            cpu_run=self.cpu_run,
            time_total=self.time_total,
            instants=instants,
        )

    @cached_property
    def body_rows(self) -> list[list[Floats]]:
        """Of every request about bodies its values and two rates.

        Raises:
            ModelError: The motion of bodies was not asked for.
        """
        if not self.solver.bodies:
            raise ModelError("the motion of bodies was not asked for: give bodies=True")
        self._need_all("the motion of bodies")
        first = len(self.solver.points)
        return [
            [self._rows(first + k, d) for d in range(3)] for k in range(len(self.solver.bodies))
        ]


def _over_turns(t: Floats, angle: Floats, rate: Floats) -> Floats:
    """An angle that is known up to whole turns, counted on by its rate."""
    expected = 0.5 * (rate[1:] + rate[:-1]) * np.diff(t)
    turns = np.round((expected - np.diff(angle)) / (2 * np.pi))
    return angle + 2 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])
