"""An applied force and moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces.force import Force
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.space import Vector


@dataclass(frozen=True, kw_only=True)
class AppliedWrench(Force):
    """A force through the point of a marker, and a moment, on its body: laws of time.

    The components are along the axes of the ground; or of the marker ``along``, with which they
    turn (give the marker itself for a follower force).  With ``reaction`` the opposite acts on
    another body, through the same point of space.
    """

    marker: Marker = quantity("marker", "marker where the force acts")
    fx: Law | None = quantity("law", "force along x", "force", default=None)
    fy: Law | None = quantity("law", "force along y", "force", default=None)
    fz: Law | None = quantity("law", "force along z", "force", default=None)
    mx: Law | None = quantity("law", "moment about x", "torque", default=None)
    my: Law | None = quantity("law", "moment about y", "torque", default=None)
    mz: Law | None = quantity("law", "moment about z", "torque", default=None)
    along: Marker | None = quantity("marker", "marker whose axes are used", default=None)
    reaction: Marker | None = quantity("marker", "marker on the body that reacts", default=None)

    kind: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        laws = (self.fx, self.fy, self.fz, self.mx, self.my, self.mz)
        if all(law is None for law in laws):
            raise ModelError(f"force {self.name} has no component: give fx, fy, fz, mx, my or mz")
        if self.reaction is not None and self.reaction.body == self.marker.body:
            raise ModelError(f"force {self.name} acts and reacts on body {self.marker.body}")

    def act(self, derivation: Derivation) -> None:
        """Apply force and moment."""
        space = derivation.space
        base = space.root if self.along is None else derivation.place(self.along).base

        def vector(dimension: str, *laws: Law | None) -> Vector:
            x, y, z = (0 if law is None else derivation.law(law, dimension) for law in laws)
            return base.vector(x, y, z)

        force = vector("force", self.fx, self.fy, self.fz)
        moment = vector("torque", self.mx, self.my, self.mz)
        derivation.apply(self.marker, force, moment)
        if self.reaction is not None:
            arm = derivation.pair(self.reaction, self.marker).gap
            derivation.apply(self.reaction, -force, -(moment + arm.cross(force)))
