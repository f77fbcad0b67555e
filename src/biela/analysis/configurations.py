"""Configurations of a robot: names and numbers, limits, neutral and random ones, ways between two.

A coordinate is a number ("elbow.angle") or four of a unit quaternion ("wrist.rotation_e0" …), whose
velocities are an angular velocity ("wrist.rotation_wx" …).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.robot_table import RobotTable, robot_table
from biela.code import Function
from biela.errors import ModelError, ShapeError, UnknownNameError
from biela.model import Model
from biela.model.element import nearest
from biela.model.joints import Joint

Floats = npt.NDArray[np.float64]

#: How far from zero random coordinates without limits are: rad, m.
_UNLIMITED: Final = {"rad": np.pi, "m": 1.0}


class Configurations:
    """What a robot knows of its coordinates; a base of `biela.Robot`."""

    model: Model
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    frames: tuple[str, ...]
    start: Floats
    _p: Floats | None

    _rotors: dict[str, float]

    def function(self, name: str, *of: str) -> Function:
        """The function behind a method."""
        raise NotImplementedError

    def pose(self, frame: str, q: Any) -> Floats:
        """The pose of a frame in the ground."""
        raise NotImplementedError

    @property
    def rotors(self) -> Mapping[str, float]:
        """Inertia of rotors by joint."""
        return self._rotors

    @property
    def nq(self) -> int:
        """How many coordinates there are."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """How many freedoms there are."""
        return len(self.v_names)

    # ------------------------------------------------------------------------ names

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.model.name

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Bodies and markers, "body" and "body.marker"."""
        return self.frames

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that have coordinates, in their order."""
        return tuple(dict.fromkeys(name.rpartition(".")[0] for name in self.q_names))

    @cached_property
    def parameter_values(self) -> Mapping[str, float]:
        """The parameters of the model, with the values that this robot has."""
        model = self.model.flattened() if self.model.parts else self.model
        values = [] if self._p is None else self._p.tolist()
        return dict(zip(model.parameters, values, strict=False))

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """Rotations: numbers of the first coordinate and of the first velocity of each."""
        return tuple(
            (i, self.v_names.index(f"{name[:-3]}_wx"))
            for i, name in enumerate(self.q_names)
            if name.endswith("_e0") and f"{name[:-3]}_wx" in self.v_names
        )

    @cached_property
    def scalars(self) -> Mapping[str, tuple[int, int]]:
        """Coordinates that are numbers, by name: their places in q and in v."""
        known = {name: j for j, name in enumerate(self.v_names)}
        return {
            name: (i, known[f"{name}_rate"])
            for i, name in enumerate(self.q_names)
            if f"{name}_rate" in known
        }

    def q_index(self, name: str) -> slice:
        """Where a joint, or one coordinate "joint.coordinate", stands in q.

        Raises:
            UnknownNameError: There is none; the message has the nearest name.
        """
        return self._places(name, self.q_names, "coordinates")

    def v_index(self, name: str) -> slice:
        """Where the velocities of a joint, or of one coordinate, stand in v.

        Raises:
            UnknownNameError: There is none; the message has the nearest name.
        """
        return self._places(name, self.v_names, "velocities")

    def _places(self, name: str, names: tuple[str, ...], what: str) -> slice:
        own = [
            i
            for i, full in enumerate(names)
            if full == name or full.rpartition(".")[0] == name or full.rpartition("_")[0] == name
        ]
        if not own:
            raise UnknownNameError(
                f"{self.name}: nothing called {name!r} has {what}"
                f"{nearest(name, [*self.joint_names, *names])}"
            )
        return slice(own[0], own[-1] + 1)

    def configuration(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Floats:
        """Coordinates by name, the others where a motion starts.

        >>> import biela as bl
        >>> from biela.model.denavit_hartenberg import from_dh
        >>> robot = bl.Robot(from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0]))
        >>> robot.configuration(joint2=0.5)
        array([0. , 0.5])

        Args:
            values: By joint or by "joint.coordinate"; a rotation is four numbers.
            **more: Likewise.

        Raises:
            UnknownNameError: There is no such joint or coordinate.
            ShapeError: It has another number of coordinates.
        """
        q = self.start.copy()
        for name, value in {**(values or {}), **more}.items():
            place = self.q_index(name)
            given = np.ravel(np.asarray(value, dtype=float))
            if len(given) != place.stop - place.start:
                raise ShapeError(
                    f"{self.name}: {name} has {place.stop - place.start} coordinates, not "
                    f"{len(given)}"
                )
            q[place] = given
        return self.normalised(q)

    # ----------------------------------------------------------------------- limits

    @cached_property
    def lower(self) -> Floats:
        """The lowest value of each coordinate, -∞ where there is none."""
        return self._limits[0]

    @cached_property
    def upper(self) -> Floats:
        """The highest value of each coordinate, ∞ where there is none."""
        return self._limits[1]

    @cached_property
    def velocity_limits(self) -> Floats:
        """The largest size of each velocity, ∞ where there is none."""
        return self._sizes("velocity_limits")

    @cached_property
    def effort_limits(self) -> Floats:
        """The largest size of each joint force, ∞ where there is none."""
        return self._sizes("effort_limits")

    @cached_property
    def _joints(self) -> Mapping[str, Joint]:
        model = self.model.flattened() if self.model.parts else self.model
        return {name: j for name, j in model.joints.items() if isinstance(j, Joint)}

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        lower, upper = np.full(self.nq, -np.inf), np.full(self.nq, np.inf)
        for name, (i, _) in self.scalars.items():
            joint, _, coordinate = name.rpartition(".")
            pair = self._joints[joint].limits.get(coordinate) if joint in self._joints else None
            if pair is not None:
                lower[i], upper[i] = (self.model.number(x, self._dimension(name)) for x in pair)
        return lower, upper

    def _sizes(self, what: str) -> Floats:
        found = np.full(self.nv, np.inf)
        for name, (_, j) in self.scalars.items():
            joint, _, coordinate = name.rpartition(".")
            given = getattr(self._joints.get(joint), what, {}).get(coordinate)
            if given is not None:
                found[j] = self.model.number(given, "any")
        return found

    def _dimension(self, name: str) -> str:
        return {"rad": "angle", "m": "length"}.get(self._unit(name), "any")

    def _unit(self, name: str) -> str:
        joint, _, coordinate = name.rpartition(".")
        if joint not in self._joints:  # a body that floats
            return "m"
        return next(c.unit for c in self._joints[joint].coordinates if c.name == coordinate)

    def within_limits(self, q: Any, tolerance: float = 0.0) -> Any:
        """Whether a configuration, or each of many rows, is within the limits."""
        rows = self._checked("q", q)
        good = (rows >= self.lower - tolerance) & (rows <= self.upper + tolerance)
        return good.all(axis=-1)[()]

    # --------------------------------------------------------------- configurations

    def neutral(self) -> Floats:
        """All numbers zero and no rotation, whatever the limits."""
        q = np.zeros(self.nq)
        for first, _ in self.quaternions:
            q[first : first + 4] = (1.0, 0.0, 0.0, 0.0)
        return q

    def random(
        self, rng: np.random.Generator | int | None = None, count: int | None = None
    ) -> Floats:
        """Configurations drawn evenly from within the limits, rotations from all there are.

        A coordinate without limits is drawn from half a turn, or a metre, around zero.

        Args:
            rng: A generator, or the seed of one.
            count: How many rows; None for one configuration alone.

        Raises:
            ModelError: The count is negative.
        """
        if count is not None and count < 0:
            raise ModelError(f"{self.name}: {count} configurations cannot be drawn")
        generator = np.random.default_rng(rng)
        rows = 1 if count is None else count
        q = np.zeros((rows, self.nq))
        for name, (i, _) in self.scalars.items():
            reach = _UNLIMITED.get(self._unit(name), 1.0)
            low, high = self.lower[i], self.upper[i]
            if not np.isfinite(low):
                low = -reach if not np.isfinite(high) else high - 2 * reach
            if not np.isfinite(high):
                high = low + 2 * reach
            q[:, i] = generator.uniform(low, high, rows)
        for first, _ in self.quaternions:
            # a direction of four normal numbers is even on the sphere (Muller 1959)
            q[:, first : first + 4] = generator.normal(size=(rows, 4))
        q = self.normalised(q)
        return q[0] if count is None else q

    def normalised(self, q: Any) -> Floats:
        """The configuration, or each of many rows, with quaternions of unit length.

        Raises:
            ShapeError: It has another number of coordinates.
            ModelError: A quaternion is zero.
        """
        found = self._checked("q", q).copy()
        for first, _ in self.quaternions:
            e = found[..., first : first + 4]
            size = np.linalg.norm(e, axis=-1, keepdims=True)
            if not (size > 0).all():
                raise ModelError(
                    f"{self.name}: {self.q_names[first][:-3]} is no rotation: its quaternion is zero"
                )
            found[..., first : first + 4] = e / size
        return found

    def interpolate(self, q0: Any, q1: Any, s: Any) -> Floats:
        """The configuration a part s of the way from q0 to q1: q0 ⊕ s (q1 ⊖ q0).

        Numbers change linearly and rotations by turns about fixed axes, the shorter way round
        (*slerp*).

        Args:
            q0: Where s is 0.
            q1: Where s is 1.
            s: One number, or many, each of which gives a row.

        Raises:
            ShapeError: A configuration is not one.
        """
        first, last = self._checked("q0", q0), self._checked("q1", q1)
        if first.ndim != 1 or last.ndim != 1:
            raise ShapeError(f"{self.name}: interpolate goes from one configuration to one other")
        parts = np.atleast_1d(np.asarray(s, dtype=float))
        delta = np.asarray(self.function("difference")(first, last))
        rows = self.displaced(np.tile(first, (len(parts), 1)), parts[:, None] * delta)
        return rows if np.ndim(s) else rows[0]

    def displaced(self, q: Floats, delta: Floats) -> Floats:
        """Rows q ⊕ δ."""
        more = [] if self._p is None else [self._p]
        return np.asarray(self.function("integrate").map(q, delta, *more))

    def _checked(self, what: str, q: Any) -> Floats:
        rows = np.asarray(q, dtype=float)
        if rows.ndim == 0 or rows.shape[-1] != self.nq:
            raise ShapeError(
                f"{self.name}: {what} has {self.nq} coordinates ({', '.join(self.q_names[:3])} …), "
                f"not the shape {rows.shape}"
            )
        return rows

    # ---------------------------------------------------------------------- display

    @property
    def table(self) -> RobotTable:
        """Joints with their places in q and v and their limits, bodies with their masses."""
        return robot_table(self)

    def __str__(self) -> str:
        return str(self.table)
