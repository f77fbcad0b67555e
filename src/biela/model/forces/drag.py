"""Drag of air or water."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import sqrt
from biela.model.derivation import Derivation
from biela.model.element import Evaluate, quantity
from biela.model.forces.force import Force
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.quantities.values import Value
from biela.space import Vector


@dataclass(frozen=True, kw_only=True)
class Drag(Force):
    """Drag against a fluid: F = -½ ρ A C_d |v| v, through the point of a marker.

    v is the velocity of the point less the wind, a law for each axis of the ground.
    """

    marker: Marker = quantity("marker", "marker where the drag acts")
    area: Value = quantity("area", "area across the stream")
    coefficient: Value = quantity("none", "drag coefficient C_d")
    density: Value = quantity("density", "density of the fluid; air by default", default=1.225)
    wind_x: Law | None = quantity("law", "wind along x, m/s", "velocity", default=None)
    wind_y: Law | None = quantity("law", "wind along y, m/s", "velocity", default=None)
    wind_z: Law | None = quantity("law", "wind along z, m/s", "velocity", default=None)

    kind: ClassVar[str] = "drag"

    def check(self, number: Evaluate) -> None:
        """Refuse a drag that pushes.

        Raises:
            ModelError: Area, coefficient or density is negative.
        """
        self.check_not_negative(number, "area", "coefficient", "density")

    def act(self, derivation: Derivation) -> None:
        """Brake the point."""
        winds = (self.wind_x, self.wind_y, self.wind_z)
        x, y, z = (0 if law is None else derivation.law(law, "velocity") for law in winds)
        speed = derivation.place(self.marker).velocity - derivation.space.root.vector(x, y, z)
        factor = (
            derivation.number(self.density, "density")
            * derivation.number(self.area, "area")
            * derivation.number(self.coefficient, "none")
            / 2
        )
        # the tiny speed gives the root a slope where the point rests
        size = sqrt(speed.sum_of_squares() + 1e-24)
        derivation.apply(self.marker, speed * (-factor * size), Vector(derivation.space, {}))
