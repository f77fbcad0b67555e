"""Pulling at a mechanism: a point of a body follows the hand, and all joints stay closed.

The drivers let go, and the inverse kinematics finds the position in which the point is where the
hand is, or as near to it as the joints and their limits allow,

    min |r(q) + R(q) s - target|,   Φ(q) = 0,   lower ≤ q ≤ upper.

The point s on the body is made of three parameters of the equations, so that to grip another one
derives and compiles nothing.  The hand is followed in small steps: each solution is near the one
before, so the mechanism stays on its branch; and where a target is out of reach, the steps end
where the way to it is square to all that the mechanism can do, which is the closest position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError, UnknownNameError
from biela.model.bodies import Body
from biela.model.joints import Joint
from biela.spelling import nearest
from biela.studio.building import without_masses
from biela.studio.posing import Poser

__all__ = ["Dragged", "Dragging", "Grip"]

Floats = npt.NDArray[np.float64]

#: The marker that is gripped, and its coordinates, which are parameters.
_MARKER: Final = "grip"
_PLACE: Final = ("grip_x", "grip_y", "grip_z")
#: As parts of the size of the mechanism: a step of the hand, what counts as being there, and what
#: counts as a closed joint.
_STEP: Final = 0.08
_NEAR: Final = 1e-6
_CLOSED: Final = 1e-7
#: Steps of a pull, each a solution: so few that the hand waits for some milliseconds only.
_STEPS: Final = 6


@dataclass(frozen=True, eq=False)
class Grip:
    """A point of a body in the hand.

    Attributes:
        body: Name of the body.
        point: The point in the frame of the body (m).
        q: The position of the mechanism.
    """

    body: str
    point: Floats
    q: Floats


@dataclass(frozen=True, eq=False)
class Dragged:
    """Where a mechanism went when it was pulled at.

    Attributes:
        grip: The grip in the new position.
        place: Where the point is now (m).
        missed: How far it is from the target (m).
        at_limit: Coordinates that are at a limit.
        settled: Whether it is there or can come no nearer; else pull again.
    """

    grip: Grip
    place: Floats
    missed: float
    at_limit: tuple[str, ...] = ()
    settled: bool = True

    def told(self, size: float) -> str:
        """What became of the pull, in words, of a mechanism of a size."""
        if self.missed <= 1e-3 * size:
            return f"{self.grip.body} is where you want it, all joints closed"
        if not self.settled:
            return f"{self.grip.body} is on its way"
        reason = f"; at its limit: {', '.join(self.at_limit)}" if self.at_limit else ""
        short = f"{self.missed:.3g} m" if self.missed >= 1 else f"{1e3 * self.missed:.3g} mm"
        return f"out of reach: {short} short, the closest{reason}"


class Dragging:
    """A mechanism without its drivers, to be pulled at.

    Args:
        model: The mechanism.
        size: How large it is (m), by which steps and errors are measured.
    """

    def __init__(self, model: bl.Model, size: float) -> None:
        self._model, self._size = model, size

    @cached_property
    def poser(self) -> Poser:
        """Positions of the mechanism, in the coordinates of its joints."""
        return Poser(bl.formulate(_with_grips(self._model), "joint"))

    @property
    def bodies(self) -> tuple[str, ...]:
        """What can be gripped."""
        frames = set(self.poser.system.frames)
        return tuple(name for name in _flat(self._model).bodies if f"{name}.{_MARKER}" in frames)

    def prepare(self, body: str) -> None:
        """Compile what a grip of a body needs, so that the first one does not wait for it."""
        place, _ = self.poser.frame(body, self.poser.start)
        try:
            grip = self.grip(body, place, self.poser.start)
            self._solver(grip).solve(place, grip.q, restarts=0)
        except BielaError:
            return  # who grips it will be told

    def grip(self, body: str, place: Floats, q: Floats) -> Grip:
        """Grip the point of a body that is at a place of the ground.

        A rod that is a joint, which holds two points at a distance, is gripped by the body at its
        nearer end, as if the place belonged to that.

        Raises:
            UnknownNameError: There is no such body.
        """
        at = np.asarray(place, dtype=float)
        if body not in self.bodies:
            body = self._end_of_rod(body, at, q)
        r, R = self.poser.frame(body, q)
        return Grip(body, R.T @ (at - r), q)

    def _end_of_rod(self, name: str, place: Floats, q: Floats) -> str:
        joint = _flat(self._model).joints.get(name)
        markers = [joint.i, joint.j] if isinstance(joint, Joint) else []
        frame = self.poser.placed(q)
        known = set(self.poser.system.frames)
        ends = [
            (marker.body, frame(marker.label if marker.label in known else marker.body)[0])
            for marker in markers
            if marker.body in self.bodies
        ]
        if not ends:
            raise UnknownNameError(f"there is no body {name!r} to grip{nearest(name, self.bodies)}")
        return min(ends, key=lambda end: float(np.linalg.norm(end[1] - place)))[0]

    def pull(self, grip: Grip, target: Floats) -> Dragged:
        """Bring the gripped point to a target, or as near as the mechanism can.

        Raises:
            BielaError: The inverse kinematics cannot be asked of this mechanism.
        """
        solver, target = self._solver(grip), np.asarray(target, dtype=float)
        q, place, stride = grip.q, self._place(grip, grip.q), _STEP * self._size
        limits: tuple[str, ...] = ()
        settled = False
        for _ in range(_STEPS):
            way = target - place
            distance = float(np.linalg.norm(way))
            if distance <= _NEAR * self._size or stride <= _NEAR * self._size:
                settled = True
                break
            aim = place + way * min(1.0, stride / distance)
            found = solver.solve(aim, q, restarts=0)
            if found.constraint_error > _CLOSED * self._size:
                stride /= 4  # so far off that the joints would open
                continue
            there = self._place(grip, found.q)
            gained = distance - float(np.linalg.norm(target - there))
            settled = gained <= _NEAR * self._size
            if gained >= 0:
                q, place, limits = found.q, there, found.at_limit
            if settled:
                break
        missed = float(np.linalg.norm(target - place))
        if settled and missed > _NEAR * self._size:
            # steps gain by the square of what is left of the way aside: the minimum is near
            found = solver.solve(target, q, restarts=0)
            there = self._place(grip, found.q)
            closed = found.constraint_error <= _CLOSED * self._size
            if closed and np.linalg.norm(there - place) < _STEP * self._size:
                nearer = float(np.linalg.norm(target - there))
                if nearer <= missed:
                    q, place, limits, missed = found.q, there, found.at_limit, nearer
        return Dragged(replace(grip, q=q), place, missed, limits, settled)

    def _place(self, grip: Grip, q: Floats) -> Floats:
        r, R = self.poser.frame(grip.body, q)
        return r + R @ grip.point

    def _solver(self, grip: Grip) -> bl.InverseKinematics:
        """The inverse kinematics of a grip; the same code for all points of a body."""
        key = (grip.body, tuple(grip.point))
        if self._last is None or self._last[0] != key:
            solver = bl.InverseKinematics(
                self.poser.system,
                bl.PointTarget(f"{grip.body}.{_MARKER}"),
                parameters=dict(zip(_PLACE, (float(x) for x in grip.point), strict=True)),
                tolerance=1e-9 * self._size,
            )
            self._last = (key, solver)
        return self._last[1]

    _last: tuple[object, bl.InverseKinematics] | None = None


def _flat(model: bl.Model) -> bl.Model:
    return model.flattened() if model.parts else model


def _with_grips(model: bl.Model) -> bl.Model:
    """The model without drivers, forces and sensors, with a marker on every body to grip it by."""
    free = without_masses(model)  # which positions do not depend on
    free.drivers, free.sensors, free.forces = {}, {}, {}
    free.parameters = free.parameters.copy()
    for name in _PLACE:
        free.parameters[name] = 0.0
    free.bodies = {name: _gripped(body) for name, body in free.bodies.items()}
    return free


def _gripped(body: Body) -> Body:
    made = replace(body, markers=dict(body.markers))
    if _MARKER not in made.markers:
        made.marker(_MARKER, _PLACE)
    return made
