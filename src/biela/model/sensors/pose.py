"""Where a frame is and how it is turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom, atan2, sqrt
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.markers import Marker
from biela.model.reference import pair_from_ground
from biela.model.sensors.sensor import Sensor


@dataclass(frozen=True, kw_only=True)
class PoseSensor(Sensor):
    """The frame of a marker: "<name>.x", ".y", ".z" and three angles ".first", ".second", ".third".

    The angles are those of turns about axes of the turned frame one after the other: "zyx" gives
    yaw, pitch and roll.  The second lies between -π/2 and π/2 if all axes differ, else between 0
    and π; at the ends of that range the others are not defined.
    """

    marker: Marker = quantity("marker", "marker whose frame is measured")
    i: Marker | None = quantity("marker", "marker to see it from; else the ground", default=None)
    angles: str = quantity("text", "axes of the three turns, such as zyx or zxz", default="zyx")

    kind: ClassVar[str] = "pose"

    def __post_init__(self) -> None:
        a = self.angles
        if len(a) != 3 or set(a) - set("xyz") or a[0] == a[1] or a[1] == a[2]:
            raise ModelError(
                f"sensor {self.name}: the angles are three of x, y, z, no two neighbours alike, as "
                f"zyx or zxz, not {a!r}"
            )

    def read(self, derivation: Derivation) -> None:
        """Position and angles."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        for axis, value in zip("xyz", pair.gap.components(pair.i.base), strict=True):
            derivation.measure(f"{self.name}.{axis}", value, "m")
        axes = [(pair.i.axis(letter), pair.j.axis(letter)) for letter in "xyz"]
        R = [[a.dot(b) for _, b in axes] for a, _ in axes]
        names = ("first", "second", "third")
        for which, angle in zip(names, turns(R, self.angles), strict=True):
            derivation.measure(f"{self.name}.{which}", angle, "rad")


def turns(R: list[list[Atom]], sequence: str) -> tuple[Atom, Atom, Atom]:
    """The angles of R = R_a(first) R_b(second) R_c(third).

    With e = ±1 as the axes a, b and the remaining one follow each other, the entries of R of which
    two are a cosine and a sine times the same number give each angle by an arc tangent.
    """
    a, b, c = ("xyz".index(letter) for letter in sequence)
    third = 3 - a - b
    e = 1 if (b - a) % 3 == 1 else -1
    if c != a:
        first = atan2(-e * R[b][c], R[c][c])
        second = atan2(e * R[a][c], sqrt(R[a][a] ** 2 + R[a][b] ** 2))
        return first, second, atan2(-e * R[a][b], R[a][a])
    first = atan2(R[b][a], -e * R[third][a])
    second = atan2(sqrt(R[a][b] ** 2 + R[a][third] ** 2), R[a][a])
    return first, second, atan2(R[a][b], e * R[a][third])
