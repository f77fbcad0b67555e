"""The angle between two axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom, atan2, sqrt
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.markers import Marker
from biela.model.pair import Pair
from biela.model.sensors.sensor import Sensor
from biela.space import Vector


@dataclass(frozen=True, kw_only=True)
class AngleSensor(Sensor):
    """The angle "<name>" from an axis of marker i to one of marker j, and its rate "<name>_rate".

    It lies between 0 and π, φ = atan2(|a x b|, a · b), with a rate that is not defined at the two
    ends; or with ``about`` it counts about that axis w of i, over any number of turns, from the
    axis a across w to what is seen of b along w:

        tan φ = (w x a) · b / (a · b).
    """

    i: Marker = quantity("marker", "marker from which it counts")
    j: Marker = quantity("marker", "marker to which it counts")
    a: str = quantity("text", "axis of i: x, y, z, -x …", default="x")
    b: str = quantity("text", "axis of j: x, y, z, -x …", default="x")
    about: str | None = quantity("text", "axis of i about which it counts", default=None)
    rate: bool = quantity("flag", "measure the rate too; about an axis it always is", default=False)

    kind: ClassVar[str] = "angle"

    def __post_init__(self) -> None:
        for axis in (self.a, self.b, self.about or "x"):
            if axis not in ("x", "y", "z", "-x", "-y", "-z"):
                raise ModelError(f"sensor {self.name}: {axis!r} is not an axis; use x, y, z, -x …")
        if self.about is not None and self.about[-1] == self.a[-1]:
            raise ModelError(
                f"sensor {self.name}: an angle about {self.about} cannot count from {self.a}; "
                f"choose another axis a"
            )

    def read(self, derivation: Derivation) -> None:
        """The angle."""
        pair = derivation.pair(self.i, self.j)
        a, b = pair.i.axis(self.a), pair.j.axis(self.b)
        value, rate = self._between(pair, a, b) if self.about is None else self._about(pair, a, b)
        turns = self.about is not None
        wanted = rate if turns or self.rate else None
        derivation.measure(self.name, value, "rad", rate=wanted, turns=turns)

    @staticmethod
    def _between(pair: Pair, a: Vector, b: Vector) -> tuple[Atom, Atom]:
        """The angle, and (ω_j - ω_i) · (a x b) / |a x b|."""
        across = a.cross(b)
        size = sqrt(across.sum_of_squares())
        return atan2(size, a.dot(b)), pair.turning.dot(across) / size

    def _about(self, pair: Pair, a: Vector, b: Vector) -> tuple[Atom, Atom]:
        """Atan2(s, c), and (c s' - s c') / (s² + c²)."""
        side = pair.i.axis(str(self.about)).cross(a)
        s, c = side.dot(b), a.dot(b)
        lever = b.cross(side) * c - b.cross(a) * s
        return atan2(s, c), pair.turning.dot(lever) / (s * s + c * c)
