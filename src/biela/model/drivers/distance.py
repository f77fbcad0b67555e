"""A driven distance: a hydraulic cylinder between two balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.drivers.driver import Driver
from biela.model.element import quantity
from biela.model.joints.primitives import Row
from biela.model.joints.readings import Length
from biela.model.laws.law import Law
from biela.model.markers import Marker


@dataclass(frozen=True, kw_only=True)
class DistanceDriver(Driver):
    """The points of two markers are L(t) apart: (d · d - L²) / 2L = 0, with L above zero.

    The multiplier is the force in the line, positive where it pulls the points together.  (Code 2,
    ``trm``, of Peinado's thesis, whose law is the square of the length.)
    """

    i: Marker = quantity("marker", "marker on the body before")
    j: Marker = quantity("marker", "marker on the body after")
    law: Law = quantity("law", "the distance as a function of the time t; above zero", "length")

    kind: ClassVar[str] = "distance"

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """(d · d - L²) / 2L = 0.

        Raises:
            ModelError: The length is a number that is not above zero.
        """
        L = derivation.law(self.law, "length")
        if L.value is not None and not L.value > 0:
            raise ModelError(
                f"driver {self.name}: the distance must be above zero, not {L.value}; for points "
                f"that coincide use a spherical joint"
            )
        pair = derivation.pair(self.i, self.j)
        return [Length().row(pair, L, derivation.space.time_rate(L))]
