"""A driven orientation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.drivers.driver import Driver
from biela.model.element import quantity
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Place
from biela.model.reference import pair_from_ground
from biela.space import Base, Vector, angular_velocity


@dataclass(frozen=True, kw_only=True)
class OrientationDriver(Driver):
    """A marker is turned as a law says: from i by angles about axes, one after the other.

    With the base T(t) = R_i R(first) R(second) …, as the laws have it, and its axes t, three rows
    say that the axes of j do not turn out of it:

        Φ_x = (t_z · y_j - t_y · z_j) / 2 = 0,  and so on in turn:  Φ = n sin φ,

    φ being the angle about n that is left between the two.  The slope is 1 at the solution whatever
    the laws are, so this drives through any number of turns; Φ' = (ω_j - ω_T) · lever.
    """

    marker: Marker = quantity("marker", "marker that is turned")
    first: Law = quantity("law", "first angle as a function of the time t", "angle")
    second: Law | None = quantity(
        "law", "second angle, if there are two axes", "angle", default=None
    )
    third: Law | None = quantity(
        "law", "third angle, if there are three axes", "angle", default=None
    )
    axes: str = quantity("text", "axes of the turns, as z or zyx", default="z")
    i: Marker | None = quantity("marker", "marker to turn from; else the ground", default=None)

    kind: ClassVar[str] = "orientation"

    def __post_init__(self) -> None:
        if not self.axes or set(self.axes) - set("xyz") or len(self.axes) != len(self._laws()):
            raise ModelError(
                f"driver {self.name}: give one law for each axis, first, second and third in turn; "
                f"there are {len(self._laws())} for the axes {self.axes!r}"
            )

    def _laws(self) -> list[Law]:
        laws = [self.first, self.second, self.third]
        if self.second is None and self.third is not None:
            raise ModelError(f"driver {self.name}: there is a third angle and no second one")
        return [law for law in laws if law is not None]

    @property
    def removes(self) -> int:
        """Three."""
        return 3

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """Three sines of what is left to turn."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        angles = [derivation.law(law, "angle") for law in self._laws()]
        target = pair.i.base.euler(f"{self.name}_target", self.axes, angles)
        return rows_towards(target, pair.j)


def rows_towards(target: Base, j: Place) -> list[Row]:
    """Three rows that hold the axes of a marker at those of a base: sines of what is left."""
    turning = angular_velocity(target, j.base)
    # twice the cosine of what is left to turn, as the sine vanishes half a turn away too
    side = sum((_axis(target, a).dot(j.axis(a)) for a in "yz"), _axis(target, "x").dot(j.axis("x")))
    rows = []
    for k, letter in enumerate("xyz"):
        b, c = "xyz"[(k + 1) % 3], "xyz"[(k + 2) % 3]
        t_b, t_c = _axis(target, b), _axis(target, c)
        e_b, e_c = j.axis(b), j.axis(c)
        value = (t_c.dot(e_b) - t_b.dot(e_c)) / 2
        lever = (e_b.cross(t_c) - e_c.cross(t_b)) / 2
        nothing = Vector(target.space, {})
        rows.append(Row(f"about_{letter}", value, turning.dot(lever), nothing, lever, side - 1))
    return rows


def _axis(base: Base, letter: str) -> Vector:
    return base.vector(*(int(letter == other) for other in "xyz"))
