"""Friction in a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom, sqrt, tanh
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import Evaluate, quantity
from biela.model.forces.force import Force
from biela.model.quantities.conjugate import dimension_along, force_along
from biela.model.quantities.values import Value

#: The size of a reaction is rounded off below this, N or N m, to have a slope at zero.
_ROUNDED = 1e-9


@dataclass(frozen=True, kw_only=True)
class Friction(Force):
    """Friction along a coordinate: viscous, dry with stiction, and dry under the load of the joint.

    With the kinetic level C, the static level S and the rate v of the coordinate,

        Q = -C tanh(4 v/v_t) - (S - C) (v/v_t) / ((v/v_t)² / 4 + 3/4)² - c v,

    smooth, with its peak S at the transition speed v_t and C well beyond it (Brown & McPhee 2016,
    J. Comput. Nonlinear Dyn. 11(5), 054502).  At rest it is a stiff damper: a load below S creeps
    slower than v_t.  Under load the levels grow with the reaction of the joint,

        C + μ r N,   S + μ_s r N,   N = |F| + 2 |M| / b,

    with the force F of the joint, its moment M across the guide if that has a length b (two pads
    take ∓M/b each), and the radius r of the pin of an angle (1 for a displacement).  The components
    of F and M along the motion itself are zero, since the joint is free there.
    """

    coordinate: str = quantity("coordinate", "coordinate that is braked, e.g. pin.angle")
    viscous: Value = quantity("any", "viscous constant c", default=0.0)
    kinetic: Value = quantity("any", "torque or force C of sliding", default=0.0)
    static: Value | None = quantity("any", "torque or force S at rest; else C", default=None)
    coefficient: Value = quantity("none", "coefficient μ of sliding under load", default=0.0)
    static_coefficient: Value | None = quantity("none", "coefficient μ_s; else μ", default=None)
    radius: Value = quantity("length", "radius r of the pin; for angles", default=0.0)
    span: Value | None = quantity("length", "length b of the guide; moments count", default=None)
    transition: Value = quantity("any", "speed v_t of the highest friction", default=1e-3)

    kind: ClassVar[str] = "friction"

    def check(self, number: Evaluate) -> None:
        """Refuse what would drive the joint in place of braking it.

        Raises:
            ModelError: A level, coefficient or length is negative, the transition speed or the span
                is not above zero, or friction at rest is below that of sliding.
        """
        self.check_above_zero(
            number, "transition", "below the transition speed the joint all but sticks"
        )
        self.check_above_zero(number, "span")
        self.check_not_negative(
            number, "viscous", "kinetic", "static", "coefficient", "static_coefficient", "radius"
        )
        for resting, sliding in (("static", "kinetic"), ("static_coefficient", "coefficient")):
            S, C = self.number_of(number, resting), self.number_of(number, sliding)
            if S is not None and C is not None and S < C:
                raise ModelError(
                    f"force {self.name}: {resting} {getattr(self, resting)!r} is below {sliding} "
                    f"{getattr(self, sliding)!r}; friction is highest at rest"
                )

    @property
    def loaded(self) -> bool:
        """Whether it depends on the reaction of the joint."""
        return self.coefficient != 0.0 or self.static_coefficient not in (None, 0.0)

    @property
    def joint(self) -> str:
        """The joint of the coordinate."""
        return self.coordinate.rpartition(".")[0] or self.coordinate

    @property
    def needs_reactions(self) -> tuple[str, ...]:
        """Its joint, under load."""
        return (self.joint,) if self.loaded else ()

    def act(self, derivation: Derivation) -> None:
        """Brake the coordinate.

        Raises:
            ModelError: An angle under load has no radius, or a displacement has one.
        """
        unit = derivation.unit(self.coordinate)
        dimension, _ = force_along(unit)
        rate = derivation.speed(self.coordinate)
        kinetic = derivation.number(self.kinetic, dimension)
        static = kinetic if self.static is None else derivation.number(self.static, dimension)
        if self.loaded:
            load = self._load(derivation, unit)
            mu = derivation.number(self.coefficient, "none")
            held = self.static_coefficient
            mu_s = mu if held is None else derivation.number(held, "none")
            kinetic, static = kinetic + mu * load, static + mu_s * load
        x = rate / derivation.number(self.transition, dimension_along(unit, per="rate"))
        dry = kinetic * tanh(4 * x) + (static - kinetic) * x / (x**2 / 4 + 0.75) ** 2
        viscous = derivation.number(self.viscous, dimension_along(unit, per="damping"))
        derivation.push(rate, -(dry + viscous * rate))

    def _load(self, derivation: Derivation, unit: str) -> Atom:
        """R N."""
        radius = derivation.number(self.radius, "length")
        turns = unit == "rad"
        if turns == (radius.value == 0):
            raise ModelError(
                f"force {self.name}: friction under load "
                + (
                    f"of the angle {self.coordinate} needs the radius of the pin"
                    if turns
                    else f"along {self.coordinate} has no radius; leave it out"
                )
            )
        force, moment = derivation.reaction(self.joint)
        load = sqrt(force.sum_of_squares() + _ROUNDED**2)
        if self.span is not None:
            span = derivation.number(self.span, "length")
            load = load + 2 * sqrt(moment.sum_of_squares() + _ROUNDED**2) / span
        return radius * load if turns else load
