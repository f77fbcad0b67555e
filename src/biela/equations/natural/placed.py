"""Natural coordinates of a model: points and axes that joints share, and six equations a body.

Every body is one point and three arrows, shared with other bodies where joints let it be; joints
that are not expressed by sharing, drivers, forces and sensors are written on markers, whose places
are linear in the coordinates, by the same rows as in all other coordinates.  Angles and distances
of joints become coordinates where somebody asks for them (mixed coordinates).

    v = q',     M constant,     ω = (a₃ · a₂', a₁ · a₃', a₂ · a₁') along the axes a_k of the body

(García de Jalón & Bayo 1994, ch. 2 to 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.natural.implied import implied
from biela.equations.natural.laying import Laying
from biela.equations.natural.rods import two_point_rods
from biela.equations.natural.sharing import axis_node, point_node
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.joints.primitives import all_rows
from biela.model.markers import Marker
from biela.model.pair import Place
from biela.space import Vector

Triple: TypeAlias = Sequence[Atom]


def placed(model: Model, rods: str | Sequence[str] | None = None) -> NaturalDerivation:
    """All bodies and joints, and what is given at the start as relative coordinates.

    ``rods`` are bodies on two points alone, see `two_point_rods`.

    Raises:
        ModelError: A body cannot be such a rod.
    """
    derivation = lay_out(NaturalDerivation(model, two_point_rods(model, rods)))
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.start_joint(joint)
    return derivation


def laid(model: Model) -> NaturalDerivation:
    """All bodies on shared points and axes, and joints held as far as these do not."""
    return lay_out(NaturalDerivation(model))


def lay_out(derivation: NaturalDerivation) -> NaturalDerivation:
    """Place the bodies, and hold the joints, of a derivation that has just begun."""
    model = derivation.model
    for name in model.bodies:
        derivation.lay(name)
    derivation.layout.lower()
    derivation.names |= derivation.layout.names
    derivation.sides |= derivation.layout.sides
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.hold_joint(joint)
    return derivation


class NaturalDerivation(Laying):
    """The equations of a model in natural coordinates, being derived."""

    # --------------------------------------------------------------------------- markers

    def place(self, marker: Marker) -> Place:
        """A marker: its point, one with those it shares it with, and its base."""
        if marker not in self._places:
            body = self.bodies[marker.body]
            turned = self.placer.marker(body, replace(marker, position=(0.0, 0.0, 0.0)))
            point = self._point_at(self._components(marker), marker.label)
            self._places[marker] = Place(point, turned.base)
        return self._places[marker]

    def _components(self, marker: Marker) -> list[Atom]:
        node = point_node(self, marker)
        if marker.body == GROUND:
            return list(node.at)
        carried = self.naturals[marker.body]
        root = self._point_classes.root(self._point_classes.node(node))
        if root not in carried.points:
            return carried.point(node.at)
        entity = self._point(root)
        if self.model.plane is None:
            return list(entity.components)
        # in the plane as it is; across it where the body is
        found = carried.point(node.at)
        for axis, x in zip(self.model.plane, entity.components, strict=True):
            found["xyz".index(axis)] = x
        return found

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its body.

        Along the velocity of the point itself, which is linear in the coordinates: a force with a
        potential then is its gradient in every position, also where bodies do not keep their shape
        yet.
        """
        if marker.body == GROUND:
            return
        place, base = self.place(marker), self.system.base
        for speeds, loads in (
            (place.velocity.components(base), force.components(base)),
            (place.angular_velocity.components(base), moment.components(base)),
        ):
            for speed, load in zip(speeds, loads, strict=True):
                if speed.ref and load.ref:
                    self.push(speed, load)

    # ---------------------------------------------------------------------------- joints

    def hold_joint(self, joint: Joint) -> None:
        """The equations of a joint that its markers do not fulfil by what they share."""
        pair = self.pair(joint.i, joint.j)
        rows = all_rows(joint.conditions(), pair)
        shared = self._realised(joint)
        if shared:
            known = implied(self.model, joint, shared)
            rows = [row for row, held in zip(rows, known, strict=True) if not held]
        self.hold(joint.name, rows, f"joint {joint.name}")
        self.hold_laws(joint, pair)

    def start_joint(self, joint: Joint) -> None:
        """Coordinates that are given at the start become relative coordinates.

        An assembly then keeps them, and tells branches by them, as it does in joint coordinates.
        """
        for coordinate in joint.coordinates:
            if coordinate.name in joint.start and coordinate.manifold == "line":
                self.as_coordinate(f"{joint.name}.{coordinate.name}")
                self.carried.add(joint.name)

    def _realised(self, joint: Joint) -> frozenset[str]:
        """What the markers of a joint share, of what they could."""
        found = set()
        if "point" in joint.shares and self.place(joint.i).point is self.place(joint.j).point:
            found.add("point")
        if "axis" in joint.shares:
            roots = [
                self._axis_classes.root(self._axis_classes.node(axis_node(self, marker)))
                for marker in (joint.i, joint.j)
            ]
            used = [
                marker.body == GROUND or root in self.naturals[marker.body].axes
                for marker, root in zip((joint.i, joint.j), roots, strict=True)
            ]
            if roots[0] == roots[1] and all(used):
                found.add("axis")
        return frozenset(found)
