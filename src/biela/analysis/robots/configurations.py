"""Configurations of a robot: by name, neutral and random ones, and the ways between two.

A coordinate is a number ("elbow.angle") or four of a unit quaternion ("wrist.rotation_e0" …), whose
velocities are an angular velocity ("wrist.rotation_wx" …).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.analysis.robots.names import RobotNames
from biela.analysis.robots.table import RobotTable, robot_table
from biela.budgets import check_memory
from biela.errors import BielaError, ModelError, ShapeError
from biela.model.quantities.units import quantity

Floats = npt.NDArray[np.float64]

#: How far from zero random coordinates without limits are: rad, m.
_UNLIMITED: Final = {"rad": np.pi, "m": 1.0}


class Configurations(RobotNames):
    """Configurations of a robot; a base of `biela.Robot`."""

    def configuration(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Floats:
        """Coordinates by name, the others where a motion starts.

        >>> import biela as bl
        >>> from biela.model.denavit_hartenberg import from_dh
        >>> robot = bl.Robot(from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0]))
        >>> robot.configuration(joint2=0.5)
        array([0. , 0.5])

        Args:
            values: By joint or by "joint.coordinate"; a rotation is four numbers, and a text has
                its unit, "90 deg".
            **more: Likewise.

        Raises:
            ModelError: A value is no number.
            UnknownNameError: There is no such joint or coordinate.
            ShapeError: It has another number of coordinates.
        """
        q = self.start.copy()
        for name, value in {**(values or {}), **more}.items():
            place = self.q_index(name)
            try:
                one = quantity(value) if isinstance(value, str) else value
                given = np.ravel(np.asarray(one, dtype=float))
            except (BielaError, TypeError, ValueError):
                raise ModelError(f"{self.name}: {name} is no number: {value!r}") from None
            if len(given) != place.stop - place.start:
                raise ShapeError(
                    f"{self.name}: {name} has {place.stop - place.start} coordinates, not "
                    f"{len(given)}"
                )
            q[place] = given
        return self.normalised(q)

    def within_limits(self, q: ArrayLike, tolerance: float = 0.0) -> Any:
        """Whether a configuration, or each of many rows, is within the limits."""
        rows = self._checked("q", q)
        good = (rows >= self.lower - tolerance) & (rows <= self.upper + tolerance)
        return bool(good.all()) if rows.ndim == 1 else good.all(axis=-1)

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
            ModelError: The count is negative, or limits leave nothing.
        """
        if count is not None and count < 0:
            raise ModelError(f"{self.name}: {count} configurations cannot be drawn")
        check_memory(
            (count or 0) * self.nq,
            f"{self.name}: so many random configurations take {{}}",
            "draw fewer at a time",
        )
        try:
            generator = np.random.default_rng(rng)
        except ValueError as error:
            raise ModelError(f"{self.name}: {rng!r} is no seed: {error}") from None
        rows = 1 if count is None else count
        q = np.zeros((rows, self.nq))
        for name, (i, _) in self.scalars.items():
            reach = _UNLIMITED.get(self._unit(name), 1.0)
            low, high = self.lower[i], self.upper[i]
            if not np.isfinite(low):
                low = -reach if not np.isfinite(high) else high - 2 * reach
            if not np.isfinite(high):
                high = low + 2 * reach
            if low > high:
                raise ModelError(
                    f"{self.name}: the limits leave no value for {name}: at least {low:.6g} and at "
                    f"most {high:.6g}; those of coordinates that follow it by gears count, too"
                    f"{': ' * bool(self.narrowed)}{'; '.join(self.narrowed)}"
                )
            # 0.0 and -0.0 are the same, but no interval to numpy
            q[:, i] = generator.uniform(low, high, rows) if low < high else low
        for first, _ in self.quaternions:
            # a direction of four normal numbers is even on the sphere (Muller 1959)
            q[:, first : first + 4] = generator.normal(size=(rows, 4))
        q = self.normalised(q)
        return q[0] if count is None else q

    def normalised(self, q: ArrayLike) -> Floats:
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
                name = self.q_names[first].removesuffix("_e0")
                raise ModelError(f"{self.name}: {name} is no rotation: its quaternion is zero")
            found[..., first : first + 4] = e / size
        return found

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike) -> Floats:
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
