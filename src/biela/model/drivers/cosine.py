"""The cosine driver, as old files have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import cos, sin
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.drivers.driver import Driver
from biela.model.element import quantity
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.space import Vector


@dataclass(frozen=True, kw_only=True)
class Cosine(Driver):
    """The angle between an axis of i and an axis of j follows a law: a_i · b_j = cos θ(t).

    It is **singular** where θ is a multiple of π, and as the cosine is even a mechanism may run
    backwards from there: use the driver "rotary" of the joint instead.  It is kept because old
    files have it (DP1 with a law: code 1, ``rvm``, of Peinado's thesis).
    """

    i: Marker = quantity("marker", "marker on the body before")
    j: Marker = quantity("marker", "marker on the body after")
    law: Law = quantity("law", "the angle θ as a function of the time t", "angle")
    a: str = quantity("text", "axis of i: x, y, z, -x …", default="x")
    b: str = quantity("text", "axis of j: x, y, z, -x …", default="x")

    kind: ClassVar[str] = "cosine"

    def __post_init__(self) -> None:
        for axis in (self.a, self.b):
            if axis not in ("x", "y", "z", "-x", "-y", "-z"):
                raise ModelError(f"driver {self.name}: {axis!r} is not an axis; use x, y, z, -x …")

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """A_i · b_j - cos θ = 0, with the rate (ω_j - ω_i) · (b x a) + θ' sin θ."""
        pair = derivation.pair(self.i, self.j)
        a, b = pair.i.axis(self.a), pair.j.axis(self.b)
        angle = derivation.law(self.law, "angle")
        lever = b.cross(a)
        speed = pair.turning.dot(lever) + sin(angle) * derivation.space.time_rate(angle)
        return [Row("cosine", a.dot(b) - cos(angle), speed, Vector(derivation.space, {}), lever)]
