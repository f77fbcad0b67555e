"""Bodies beyond a joint whose coordinate is given: by a law of time, or as one unknown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biela.atoms import Atom, cos, sin
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.natural_joints import NaturalDerivation
from biela.equations.groups.natural_orientation import Span
from biela.equations.groups.natural_spanning import Spanning
from biela.equations.groups.natural_vectors import added, times
from biela.equations.groups.placing import driven_coordinates
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints import Coupling

__all__ = ["Transport", "coupled_coordinates"]


class Transport:
    """Places what is beyond joints.

    Attributes:
        driven: Coordinates that drivers give, and the drivers.
        coupled: Coordinates that couplings name, and no driver gives.
    """

    def __init__(self, derivation: NaturalDerivation, poses: Poses, spanning: Spanning) -> None:
        self.derivation, self.cast, self.poses = derivation, derivation.cast, poses
        self.spanning = spanning
        self.driven = driven_coordinates(derivation)
        self.coupled = [key for key in coupled_coordinates(derivation) if key not in self.driven]

    def gives_turn(self, number: int) -> bool:
        """Whether the angle of a joint is given, so that it places what is beyond."""
        key = (number, "angle")
        return self.cast.elements[number].joint.kind == "revolute" and (
            key in self.driven or key in self.coupled
        )

    def carry(self, key: tuple[int, str], coordinate: Callable[[], Atom] | None) -> bool:
        """Place what is beyond a joint whose coordinate is given.

        Without a coordinate: whether that is possible.
        """
        kind = self.cast.elements[key[0]].joint.kind
        if kind == "revolute":
            return self._turn_beyond(key[0], coordinate)
        return kind == "prismatic" and self._shift_beyond(key[0], coordinate)

    def law(self, key: tuple[int, str]) -> Atom:
        """The law that a driver gives to a coordinate; the driver has no equation then."""
        d = self.derivation
        number = self.driven[key]
        with d.element(number) as cast:
            element = cast.element
            assert isinstance(element, JointDriver)
            law = d.law(element.law, element.dimension)
        d.coordinates[key] = law
        d.satisfied.add(number)
        return law

    def _turn_beyond(self, number: int, coordinate: Callable[[], Atom] | None) -> bool:
        """The orientation beyond a pin whose angle is given.

        With σ = ±1 for z axes that agree or are opposite, x_j = c x_i + s y_i,
        y_j = σ (c y_i - s x_i) and z_j = σ z_i.
        """
        d = self.derivation
        slots = [m.slot for m in self.cast.elements[number].markers]
        complete = [s < 0 or d.orientation[s].complete for s in slots]
        if complete[0] == complete[1]:
            return False
        if coordinate is None:
            return True
        start, end = (0, 1) if complete[0] else (1, 0)
        theta = coordinate()
        sigma = d.factor(self.signs(number)[:, 0])
        marker = self.cast.elements[number].markers[end]
        orientation = d.orientation[marker.slot]
        d.kept_turns.add(number)
        if d.plane is not None:
            orientation.span = self._turned_in_plane(number, start, theta)
            return True
        x, y, z = (d.marker_axis(number, start, k) for k in range(3))
        c, s = cos(theta), sin(theta)
        if start == 0:
            V = (
                d.combined([(c, x), (s, y)]),
                d.combined([(sigma * c, y), (-sigma * s, x)]),
                times(sigma, z),
            )
        else:
            V = (
                d.combined([(c, x), (-sigma * s, y)]),
                d.combined([(s, x), (sigma * c, y)]),
                times(sigma, z),
            )
        A = orientation.turns[marker.slot] @ marker.frames.axes
        orientation.span = Span(V, np.swapaxes(A, 1, 2))
        return True

    def _turned_in_plane(self, number: int, start: int, theta: Atom) -> Span:
        """A vector of the body before, turned by the angle of a driven pin."""
        d = self.derivation
        near, far = (self.cast.elements[number].markers[m] for m in (start, 1 - start))
        # a direction that is simple before the joint: an axis of the ground, the vector of a span
        unit = np.zeros(3)
        unit[(d.normal + 1) % 3] = 1.0
        seen = np.broadcast_to(unit, (self.cast.count, 3))
        if near.slot >= 0:
            orientation = d.orientation[near.slot]
            if orientation.span is not None:
                v = orientation.span.V[0]
                a = np.linalg.inv(orientation.span.inverse)[:, :, 0]
                seen = np.einsum("nji,nj->ni", orientation.turns[near.slot], a)
            else:
                v = d.direction(near.slot, seen)
        else:
            v = d.known_direction(near.frames.body, seen)
        # the angle counts about z of i, and backwards from j to i
        (_, R) = self.poses.of(self.cast.elements[number].markers[0].frames)
        about = np.sign(R[:, d.normal, 2]) * (1.0 if start == 0 else -1.0)
        turn = d.factor(about) * sin(theta)
        across = d.perpendicular(v)
        turned = d.combined([(cos(theta), v), (turn, across)])
        # where the markers agree, seen from the body beyond
        signs = np.ones((self.cast.count, 3))
        signs[:, 1:] = self.signs(number)
        C = np.einsum("nij,nj,nkj->nik", far.frames.axes, signs, near.frames.axes)
        local = np.einsum("nij,nj->ni", C, seen)
        return self.spanning.plane_span(turned, d.orientation[far.slot].seen(far.slot, local))

    def _shift_beyond(self, number: int, coordinate: Callable[[], Atom] | None) -> bool:
        """The place beyond a slide whose displacement is given."""
        d = self.derivation
        markers = self.cast.elements[number].markers
        placed = [m.slot < 0 or m.slot in d.anchors for m in markers]
        if placed[0] == placed[1] or number not in d.kept_turns - d.kept_ways:
            return False
        start, end = (0, 1) if placed[0] else (1, 0)
        if not d.orientation[markers[end].slot].complete:
            return False
        if coordinate is None:
            return True
        s = coordinate()
        way = times(s if start == 0 else -s, d.marker_axis(number, 0))
        point = added(d.marker_point(number, start), way)
        d.anchors[markers[end].slot] = point, d.in_plane(markers[end].frames.place)
        d.kept_ways.add(number)
        return True

    def signs(self, number: int) -> Floats:
        """Whether the z axes of the markers of a joint agree or are opposite, (n, 1)."""
        i, j = self.cast.elements[number].markers
        (_, Ri), (_, Rj) = self.poses.of(i.frames), self.poses.of(j.frames)
        along = np.einsum("ni,ni->n", Ri[:, :, 2], Rj[:, :, 2])
        return np.where(along < 0, -1.0, 1.0)[:, None]


def coupled_coordinates(derivation: NaturalDerivation) -> list[tuple[int, str]]:
    """The coordinates of joints of the group that couplings name."""
    found: dict[tuple[int, str], None] = {}
    for number, cast in enumerate(derivation.cast.elements):
        if isinstance(cast.element, Coupling):
            for text in cast.element.couples:
                with derivation.element(number):
                    joint, _, coordinate = derivation.named(text)
                if isinstance(joint, int):
                    found[joint, coordinate.name] = None
    return list(found)
