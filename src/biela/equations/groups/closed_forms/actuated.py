"""Planar dyads with an actuator: one of the bars is two bodies whose joint a driver moves.

A cylinder and its piston, or two arms with a motor between them, are one bar of a dyad RRR: the way
from its one pin to the other is a function of the law,

    v = m₁ + s e₁ + t (b₂ - m₂)

with the driven joint at m₁ and m₂ of the two bodies, s the displacement along e₁ of a slide, t how
the second is turned seen from the first, b₂ its other pin,
and its length |v| takes the place of a constant one.  Booms of cranes and excavators are such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, cos, sin, sqrt
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.dyad import Dyad, Key
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.planar_dyads import PlanarSolver
from biela.equations.groups.closed_forms.planar_view import PlanarView
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints import Joint

__all__ = ["ActuatedDyad", "actuated_dyad", "actuated_dyad_of"]


@dataclass(frozen=True)
class ActuatedDyad:
    """A dyad RRR whose first bar is two bodies.

    Attributes:
        dyad: The chain; its first body is the one at the known end.
        inner: The body between that and the pin in the middle.
        on_first: Marker of the driven joint on the first body.
        on_inner: Its marker on the other.
        driver: Number of the driver.
    """

    dyad: Dyad
    inner: int
    on_first: Key
    on_inner: Key
    driver: int


def actuated_dyad_of(cast: Cast) -> ActuatedDyad | None:
    """A group of three bodies, four joints and a driver as such a dyad, if it is one."""
    joints = {k: e for k, e in enumerate(cast.elements) if isinstance(e.element, Joint)}
    others = [k for k in range(len(cast.elements)) if k not in joints]
    if cast.size != 3 or len(joints) != 4 or len(others) != 1:
        return None
    (driver,) = others
    element = cast.elements[driver]
    if not isinstance(element.element, JointDriver) or len(element.joints) != 1:
        return None
    driven = element.joints[0]
    if not isinstance(driven, int) or joints[driven].joint.kind not in ("revolute", "prismatic"):
        return None
    if any(e.joint.kind != "revolute" for k, e in joints.items() if k != driven):
        return None
    outer: dict[int, tuple[Key, Key]] = {}
    inner: dict[frozenset[int], int] = {}
    for k, e in joints.items():
        own = [m for m in (0, 1) if e.slots[m] >= 0]
        if len(own) == 1:
            outer[e.slots[own[0]]] = (k, 1 - own[0]), (k, own[0])
        elif len(set(e.slots)) == 2:
            inner[frozenset(e.slots)] = k
    if len(outer) != 2 or len(inner) != 2 or driven not in inner.values():
        return None
    (middle,) = {0, 1, 2} - set(outer)
    (first,) = set(joints[driven].slots) - {middle}
    if middle not in joints[driven].slots or first not in outer:
        return None
    (second,) = set(outer) - {first}
    pin = inner.get(frozenset({middle, second}))
    if pin is None:
        return None

    def on(joint: int, slot: int) -> Key:
        return joint, joints[joint].slots.index(slot)

    (a_known, a_first), (c_known, c_second) = outer[first], outer[second]
    dyad = Dyad(
        "RRR", first, second, a_known, a_first, on(pin, middle), on(pin, second), c_second, c_known
    )
    return ActuatedDyad(dyad, middle, on(driven, first), on(driven, middle), driver)


def actuated_dyad(
    view: PlanarView, chain: ActuatedDyad, poses: Poses, branch: Atom
) -> Geometry | None:
    """Where the three bodies are."""
    return _Solver(view, chain.dyad, poses, branch).solved(chain)


class _Solver(PlanarSolver):
    def solved(self, chain: ActuatedDyad) -> Geometry | None:
        dyad, view = self.dyad, self.view
        second, cc = self.bar(dyad.c_second, dyad.b_second)
        kind = view.derivation.cast.elements[chain.on_first[0]].joint.kind
        slides = np.asarray(view.local_axis(chain.on_first).square)
        if np.abs(slides - (1.0 if kind == "prismatic" else 0.0)).max() > 1e-9:
            return None  # it leads out of the plane
        if not (cc > 0).all():
            return None
        to_joint, turn = self._driven(chain, kind)
        to_pin = view.local(dyad.b_first) - view.local(chain.on_inner)
        way = to_joint + view.column("pin", to_pin).turned(turn)
        square = way.square
        A, C = view.known(dyad.a_known), view.known(dyad.c_known)
        rocker = self.number("rocker2", cc), self.number("rocker", np.sqrt(cc))
        AB, margin = self.circles(C - A, (square, sqrt(square)), rocker)
        B = A + AB
        self.keep(dyad.first, dyad.a_first, A)
        self.keep(chain.inner, dyad.b_first, B)
        self.keep(dyad.second, dyad.b_second, B)
        self.keep(dyad.second, dyad.c_second, C)

        def of_first() -> Arrow:
            found: Arrow = AB.turned(way.conjugate) * (1.0 / square)
            return found

        self.found.turns = {
            dyad.first: of_first,
            chain.inner: lambda: self.found.turn(dyad.first).turned(turn),
            dyad.second: lambda: self.turn_along(second, cc, B - C),
        }
        return Geometry(self.found, margin, self.sides("RRR"))

    def _driven(self, chain: ActuatedDyad, kind: str) -> tuple[Arrow, Arrow]:
        """From the pin of the first body to the driven joint, and the turn of the other body."""
        view = self.view
        derivation = view.derivation
        with derivation.element(chain.driver) as cast:
            driver = cast.element
            assert isinstance(driver, JointDriver)
            law = derivation.law(driver.law, driver.dimension)
        # coordinates are those of marker j seen from marker i
        if chain.on_first[1] == 1:
            law = -law
        start = view.local(chain.on_first) - view.local(self.dyad.a_first)
        to_joint = view.column("joint", start)
        if kind == "prismatic":
            along = view.local_axis(chain.on_first)
            same = self.same_way(chain.on_first, chain.on_inner)
            turn = along.turned(view.local_axis(chain.on_inner).conjugate * same)
            return to_joint + view.column("along", along) * law, view.column("turn", turn)
        one, other = (view.local_axis(key, 0) for key in (chain.on_first, chain.on_inner))
        constant = view.column("zero", one.turned(other.conjugate))
        about = law * derivation.column("about", view.up(chain.on_first))
        return to_joint, constant.turned(Arrow(cos(about), sin(about)))
