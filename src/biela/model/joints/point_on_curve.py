"""A point that stays on a curve: a ball in a curved groove, a bead on a wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biela.atoms import Atom
from biela.atoms.piecewise import End, cubic_spline
from biela.errors import ModelError
from biela.model.element import quantity
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Translate, Turn
from biela.model.joints.primitives import Primitive, Row
from biela.model.joints.readings import Offset
from biela.model.pair import Pair
from biela.model.quantities.units import evaluate, expression, parameters_of
from biela.model.quantities.values import Number, Value, triple


@dataclass(frozen=True, kw_only=True)
class PointOnCurve(Joint):
    """A bead on a wire: the point of marker j stays on the curve c(s) of marker i.

    The curve is given along the axes of i, by the texts x(s), y(s), z(s) with parameters of the
    model, or by points: then cubic splines go through them, with s the length of the polygon of
    the points, from 0 at the first.  A closed curve goes on to the first point again, and s may
    pass any number of laps.  The coordinate s moves with it:

        R_iᵀ (r_j - r_i) - c(s) = 0,      three equations with one unknown more.

    It needs dc/ds other than zero everywhere.
    """

    x: str = quantity("text", "x of the curve as a function of s", default="0")
    y: str = quantity("text", "y of the curve as a function of s", default="0")
    z: str = quantity("text", "z of the curve as a function of s", default="0")
    points: Sequence[Sequence[Value]] = quantity(
        "data", "points of the curve, in place of x, y and z", default=()
    )
    closed: bool = quantity("flag", "the curve goes back to the first point", default=False)

    kind: ClassVar[str] = "point_on_curve"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("s", ""),
        Coordinate("rotation", "", manifold="rotation"),
    )
    needs: ClassVar[tuple[str, ...]] = ("s",)
    laws: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    def __post_init__(self) -> None:
        super().__post_init__()
        texts = (self.x, self.y, self.z)
        who = f"joint {self.name}"
        if isinstance(self.points, str) or not hasattr(self.points, "__len__"):
            raise ModelError(
                f"{who}: the points of a curve are a list of (x, y, z), not {self.points!r}"
            )
        if len(self.points):
            if texts != ("0", "0", "0"):
                raise ModelError(f"{who}: the curve is given by texts or by points, not by both")
            self._knots()
        elif self.closed:
            raise ModelError(f"{who}: only a curve given by points can be closed")
        elif not any("s" in parameters_of(text) for text in texts):
            raise ModelError(f"{who}: none of x, y and z depends on s; the curve is a point")

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """The way to c(s), then any rotation."""
        x, y, z = self.curve(q[0], number)
        return [Translate("x", x), Translate("y", y), Translate("z", z), Turn(1)]

    def conditions(self) -> Sequence[Primitive]:
        """None but the laws."""
        return []

    def law_rows(self, q: Mapping[str, Atom], pair: Pair) -> Sequence[Row]:
        """R_iᵀ d - c(s) = 0."""
        curve = [pair.workspace.atom(c) for c in self.curve(q["s"], pair.number)]
        return [Offset(axis).held(pair, c) for axis, c in zip("xyz", curve, strict=True)]

    # ------------------------------------------------------------------------ curve

    def curve(self, s: Atom | float, number: Number) -> tuple[Atom | float, ...]:
        """The three components of c(s): atoms of an atom, numbers of a number."""
        if not len(self.points):
            return tuple(self._text(text, s, number) for text in (self.x, self.y, self.z))
        lengths, places = self._knots()
        end: End = "periodic" if self.closed else "not-a-knot"
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.name)
        found: list[Atom | float] = []
        for axis, values in zip("xyz", places, strict=True):
            name = f"curve_{plain}_{axis}"
            if isinstance(s, Atom):
                spline = s.workspace.spline(name, lengths, values, end=end)
                found.append(spline(s))
            else:
                found.append(cubic_spline(name, lengths, values, end=end)(s))
        return tuple(found)

    @staticmethod
    def _text(text: str, s: Atom | float, number: Number) -> Atom | float:
        known: dict[str, Atom | float] = {"s": s}
        for name in parameters_of(text):
            if name != "s":
                known[name] = number(name, "any")
        return expression(text, known, "length")

    def _knots(self) -> tuple[list[float], list[list[float]]]:
        """Values of s and x, y, z of the points; a closed curve ends with its first one."""
        who = f"joint {self.name}"
        rows = [triple(f"{who}: a point of the curve", point) for point in self.points]
        places = np.array([[evaluate(x, {}, "length") for x in row] for row in rows])
        if self.closed and not np.array_equal(places[0], places[-1]):
            places = np.vstack([places, places[0]])
        steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
        if len(places) < (4 if self.closed else 2) or not steps.all():
            raise ModelError(
                f"{who}: a curve needs at least {3 if self.closed else 2} points, no two "
                f"neighbours alike"
            )
        lengths = np.concatenate([[0.0], np.cumsum(steps)])
        return lengths.tolist(), places.T.tolist()
