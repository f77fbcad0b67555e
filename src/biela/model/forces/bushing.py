"""A bushing: springs and dampers in all six directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces.force import Force
from biela.model.forces.rotation_vector import rotation_vector
from biela.model.markers import Marker
from biela.model.quantities.values import Triple, Value, triple
from biela.space import Vector
from biela.space.vectors import total

_Three = Callable[[Sequence[Value], str], list[Atom]]
_NONE: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Bushing(Force):
    """Three springs and dampers along the axes of marker i, and three about them.

    With the gap x from i to j along the axes of i, the rotation vector φ of j seen from i and its
    angular velocity ω, also along the axes of i, the body of j is pushed by -K (x - x0) - C x' and
    turned by -C ω and by the moment that has the power of -K φ (for small angles it is that; a turn
    about one axis has it at any angle below π).  Both forces go through the point of j: only so is
    their power that of the springs, and no couple is left over.

    Beyond half a turn φ is the way back on the other side, and the springs would turn the wrong
    way: simulations stop at 176°.  A ``torsional`` spring on the angle of a joint counts turns; the
    dampers work at any angle.
    """

    i: Marker = quantity("marker", "marker on the body whose axes are used")
    j: Marker = quantity("marker", "marker on the other body")
    stiffness: Sequence[Value] = quantity("data", "three constants, N/m", default=_NONE)
    damping: Sequence[Value] = quantity("data", "three constants, N s/m", default=_NONE)
    rest: Sequence[Value] = quantity("data", "gap without force, m", default=_NONE)
    torsional_stiffness: Sequence[Value] = quantity(
        "data", "three constants, N m/rad", default=_NONE
    )
    torsional_damping: Sequence[Value] = quantity(
        "data", "three constants, N m s/rad", default=_NONE
    )

    kind: ClassVar[str] = "bushing"

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping", "rest", "torsional_stiffness", "torsional_damping"):
            triple(f"force {self.name}: {what}", getattr(self, what))
        if self.i.body == self.j.body:
            raise ModelError(
                f"force {self.name}: both its markers are on body {self.i.body}; it does nothing"
            )

    def act(self, derivation: Derivation) -> None:
        """Push and turn both bodies."""

        def three(values: Sequence[Value], dimension: str) -> list[Atom]:
            return [derivation.number(value, dimension) for value in values]

        pair = derivation.pair(self.i, self.j)
        axes = pair.i.base
        gap = pair.gap.components(axes)
        x = [u - u0 for u, u0 in zip(gap, three(self.rest, "length"), strict=True)]
        rates = pair.relative_speed.components(axes)
        K, C = three(self.stiffness, "stiffness"), three(self.damping, "damping")
        fx, fy, fz = (k * u + c * du for k, u, c, du in zip(K, x, C, rates, strict=True))
        pull = axes.vector(fx, fy, fz)
        for k, u in zip(K, x, strict=True):
            derivation.store(k * u**2 / 2)
        moment = self._moment(derivation, three)
        derivation.apply(self.i, pull, pair.gap.cross(pull) + moment)
        derivation.apply(self.j, -pull, -moment)

    def _moment(self, derivation: Derivation, three: _Three) -> Vector:
        """The moment on the body of i."""
        K = three(self.torsional_stiffness, "torsional stiffness")
        C = three(self.torsional_damping, "torsional damping")
        pair = derivation.pair(self.i, self.j)
        parts = []
        if any(k.value != 0 for k in K):
            angles, levers = rotation_vector(pair)
            for k, angle, lever in zip(K, angles, levers, strict=True):
                derivation.store(k * angle**2 / 2)
                parts.append(lever * (k * angle))
        if any(c.value != 0 for c in C):
            turning = pair.turning.components(pair.i.base)
            x, y, z = (c * w for c, w in zip(C, turning, strict=True))
            parts.append(pair.i.base.vector(x, y, z))
        return total(derivation.space, parts)

    @property
    def turns_back(self) -> bool:
        """Whether it has torsional springs, whose angles are below half a turn."""
        return any(value != 0 for value in self.torsional_stiffness)
