"""Stops at the limits of a coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom, maximum, minimum
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import Evaluate, quantity
from biela.model.forces.force import Force
from biela.model.quantities.conjugate import dimension_along
from biela.model.quantities.values import Value


@dataclass(frozen=True, kw_only=True)
class Stop(Force):
    """One-sided springs and dampers at the ends of the way of a joint.

    For a depth x beyond an end, the stop pushes back by

        k x² / 2d + c w(x) x'   up to the depth d,      k (x - d/2) + c x'   beyond it,

    with w = (x/d)² (3 - 2 x/d): force and stiffness grow continuously from zero.  A stop never
    pulls: where strong damping would, it pushes nothing.  The events "<name>.lower" and
    "<name>.upper" are where the ends are met.
    """

    coordinate: str = quantity("coordinate", "coordinate that is stopped, e.g. knee.angle")
    stiffness: Value = quantity("any", "spring constant k, once d deep")
    lower: Value | None = quantity("any", "lowest value of the coordinate", default=None)
    upper: Value | None = quantity("any", "highest value of the coordinate", default=None)
    damping: Value = quantity("any", "damping constant c, once d deep", default=0.0)
    depth: Value = quantity("any", "depth d over which the stop sets in", default=1e-3)

    kind: ClassVar[str] = "stop"

    def __post_init__(self) -> None:
        if self.lower is None and self.upper is None:
            raise ModelError(f"force {self.name}: a stop needs a lower or an upper end")

    def check(self, number: Evaluate) -> None:
        """Refuse ends in the wrong order, and stops that pull.

        Raises:
            ModelError: The lower end is not below the upper one, stiffness or depth is not above
                zero, or the damping is negative.
        """
        self.check_above_zero(number, "stiffness")
        self.check_above_zero(number, "depth")
        self.check_not_negative(number, "damping")
        lower, upper = self.number_of(number, "lower"), self.number_of(number, "upper")
        if lower is not None and upper is not None and not lower < upper:
            raise ModelError(
                f"force {self.name}: the lower end {self.lower} is not below the upper {self.upper}"
            )

    def act(self, derivation: Derivation) -> None:
        """Push back at each end."""
        unit = derivation.unit(self.coordinate)
        dimension = dimension_along(unit)
        k = derivation.number(self.stiffness, dimension_along(unit, per="stiffness"))
        c = derivation.number(self.damping, dimension_along(unit, per="damping"))
        d = derivation.number(self.depth, dimension)
        q, rate = derivation.coordinate(self.coordinate), derivation.speed(self.coordinate)
        for end, value, way in (("lower", self.lower, -1), ("upper", self.upper, 1)):
            if value is None:
                continue
            x = (q - derivation.number(value, dimension)) * way
            near, far = minimum(maximum(x, 0), d), maximum(x, d)
            elastic = k * (near**2 / (2 * d) + (far - d))
            derivation.store(k * (near**3 / (6 * d) + (far**2 - d**2) / 2 - d * (far - d) / 2))
            derivation.push(rate, -way * self._push(elastic, c, near / d, rate * way))
            derivation.watch(f"{self.name}.{end}", x)

    @staticmethod
    def _push(elastic: Atom, c: Atom, depth: Atom, speed: Atom) -> Atom:
        if c.value == 0:
            return elastic
        return maximum(elastic + c * depth**2 * (3 - 2 * depth) * speed, 0)
