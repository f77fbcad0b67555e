"""Groups in relative coordinates: bodies along joints from what is known, loops closed by rows.

A tree of joints reaches the bodies of the group from known bodies and the ground; the joints that
are left close loops.  Joints with few freedoms carry, balls and pins are cut, where it is enough
that points coincide (Miralles 2018, ch. 5).  What a driver gives is no unknown: its coordinate is
the law.  In a plane the angle of a body may be that in the ground ("absolute", the source's choice)
or that of its joint ("relative"); a rod between two balls has two angles in the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, TypeAlias

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Cast, CastElement, Poses, Spin
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.given_places import given_rotation, place_as_given
from biela.equations.groups.placed_bodies import relative_poses
from biela.equations.groups.placing import (
    add_quaternion,
    angle_in_plane,
    driven_coordinates,
    frame_along,
    hold_spin,
    level_frame,
    own_rotation,
    rod_base,
)
from biela.equations.mechanism.placement import inverse_move
from biela.equations.reference_point import NORMAL
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.pair import Place
from biela.model.topology.planarity import keeps_plane
from biela.space import Base

__all__ = ["Angles", "Branch", "carrying_joints", "relative_group"]

#: Angles of bodies against the ground, or of joints.
Angles: TypeAlias = Literal["absolute", "relative"]


@dataclass(frozen=True)
class Branch:
    """A joint that carries a body: its number, the body, and which of its markers is on it."""

    element: int
    body: int
    marker: int


def carrying_joints(cast: Cast) -> list[Branch]:
    """The joints along which bodies are placed, in order: few freedoms first, near the known."""
    at: dict[int, list[tuple[int, int]]] = {}
    for number, element in cast.joints():
        for marker in (0, 1):
            other = element.markers[1 - marker].slot
            at.setdefault(max(other, -1), []).append((number, marker))
    queue: list[tuple[int, int, int, int]] = []
    reached: set[int] = set()
    branches: list[Branch] = []

    def look_from(slot: int, depth: int) -> None:
        for number, marker in at.get(slot, []):
            element = cast.elements[number]
            body = element.markers[marker].slot
            if body >= 0 and _carries(element, cast.plane):
                heappush(queue, (_freedoms(element, cast, body), depth, number, marker))

    look_from(-1, 0)
    while queue:
        _, depth, number, marker = heappop(queue)
        body = cast.elements[number].markers[marker].slot
        if body in reached:
            continue
        reached.add(body)
        branches.append(Branch(number, body, marker))
        look_from(body, depth + 1)
    return branches


def _carries(element: CastElement, plane: str | None) -> bool:
    """Whether a body can be placed along a joint, and stays in the plane of a planar model."""
    joint = element.joint
    if plane is None or not joint.carries:
        return joint.carries
    return keeps_plane(joint, element.markers[0].frames.axes, plane)


def _freedoms(element: CastElement, cast: Cast, body: int) -> int:
    """How many coordinates a joint brings; those of a plane, and of a rod, are fewer."""
    joint = element.joint
    count = sum(4 if c.manifold == "rotation" else 1 for c in joint.coordinates)
    if count == 4 and any(spin.slot == body for spin in cast.spins):
        return 2
    return count


def relative_group(cast: Cast, poses: Poses, angles: Angles = "absolute") -> GroupDerivation:
    """The bodies of a group placed along its joints.

    Bodies that no joint carries (all of theirs are mere conditions) are placed freely.
    """
    return _Carrier(cast, poses, angles).derivation


class _Carrier:
    def __init__(self, cast: Cast, poses: Poses, angles: Angles) -> None:
        self.cast, self.poses, self.angles = cast, poses, angles
        self.derivation = GroupDerivation(cast, poses)
        self.driven = driven_coordinates(self.derivation)
        self.asked = self._asked()
        self.spins = {spin.slot: spin for spin in cast.spins}
        branches = carrying_joints(cast)
        missing = set(range(cast.size)) - {branch.body for branch in branches}
        if missing:
            self._place_freely(missing)
        for branch in branches:
            self._carry(branch)
        for spin in self.spins.values():
            hold_spin(self.derivation, spin, poses)
        self.derivation.carried = {b.element for b in branches if b.body not in missing}

    def _place_freely(self, missing: set[int]) -> None:
        from biela.equations.groups.reference_point import place_freely

        for slot in sorted(missing):
            if not place_as_given(self.derivation, slot):
                place_freely(self.derivation, slot, self.cast.example.bodies_in_order[slot])

    def _asked(self) -> set[int]:
        """Joints whose coordinates somebody names."""
        return {j for cast in self.cast.elements for j in cast.joints if isinstance(j, int)}

    # ---------------------------------------------------------------------- one branch

    def _carry(self, branch: Branch) -> None:
        if branch.body in self.derivation.bodies:
            return
        element = self.cast.elements[branch.element]
        kind = element.joint.kind
        if kind == "spherical" and branch.body in self.spins:
            self._rod(branch, self.spins.pop(branch.body))
        elif (
            self.derivation.plane is not None
            and kind == "revolute"
            and self.angles == "absolute"
            and branch.element not in self.asked
        ):
            self._bar(branch)
        else:
            self._along(branch)

    def _start_point(self, branch: Branch) -> Place:
        return self.derivation.marker(branch.element, 1 - branch.marker)

    def _bar(self, branch: Branch) -> None:
        """A body of a planar group by its angle in the ground, seen from a pin."""
        derivation = self.derivation
        plane = derivation.plane
        assert plane is not None
        at = self.cast.elements[branch.element].markers[branch.marker].frames.place
        axes = frame_along(at, self._next_point(branch, at), plane)
        rotation = own_rotation(derivation, branch.body, axes)
        name = self.cast.example.bodies_in_order[branch.body]

        def angle(poses: Poses) -> Floats:
            return angle_in_plane(plane, rotation(poses))

        phi = derivation.unknown(f"{name}.angle", angle, turns=True)
        base = derivation.system.base.rotated(derivation.fresh("bar"), NORMAL[plane], phi)
        derivation.put(branch.body, Place(self._start_point(branch).point, base), (at, axes))

    def _next_point(self, branch: Branch, at: Floats) -> Floats:
        """Another point of the body, along which its frame is best laid: that of another joint."""
        far = at
        for number, element in self.cast.joints():
            for marker in element.markers:
                if number != branch.element and marker.slot == branch.body:
                    distance = np.linalg.norm(marker.frames.place - at, axis=1)
                    if (distance > 0).all():
                        return marker.frames.place
                    far = marker.frames.place
        return far

    def _rod(self, branch: Branch, spin: Spin) -> None:
        """A rod by two angles, seen from one of its balls."""
        derivation = self.derivation
        at = self.cast.elements[branch.element].markers[branch.marker].frames.place
        there = np.linalg.norm(spin.second - at, axis=1) > np.linalg.norm(spin.first - at, axis=1)
        along = frame_along(at, np.where(there[:, None], spin.second, spin.first), None)
        axes = level_frame(derivation, branch.body, along[:, :, 0], self.poses)
        label = self.cast.example.bodies_in_order[branch.body]
        base = rod_base(derivation, spin, axes, self.poses, label)
        derivation.put(branch.body, Place(self._start_point(branch).point, base), (at, axes))

    def _along(self, branch: Branch) -> None:
        """A body by the coordinates of its joint; its frame is the marker there."""
        derivation = self.derivation
        element = self.cast.elements[branch.element]
        joint = element.joint
        backwards = branch.marker == 0
        q: list[Atom | float] = []
        for coordinate in joint.coordinates:
            key = (branch.element, coordinate.name)
            if coordinate.manifold == "rotation":
                q.append(0.0)
            elif key in self.driven:
                q.append(self._law(key))
            else:
                q.append(derivation.joint_unknown(*key))
        with derivation.element(branch.element):
            moves = joint.moves(q, derivation.number)
        if backwards:
            moves = [inverse_move(move) for move in reversed(moves)]
        place = self._moved(self._start_point(branch), moves, branch)
        frames = element.markers[branch.marker].frames
        derivation.put(branch.body, place, (frames.place, frames.axes))

    def _law(self, key: tuple[int, str]) -> Atom:
        """The coordinate of a driven joint is the law itself."""
        driver = self.driven[key]
        with self.derivation.element(driver) as cast:
            element = cast.element
            assert isinstance(element, JointDriver)
            law = self.derivation.law(element.law, element.dimension)
        self.derivation.coordinates[key] = law
        self.derivation.satisfied.add(driver)
        return law

    def _moved(self, place: Place, moves: Sequence[Move], branch: Branch) -> Place:
        derivation = self.derivation
        point, base = place.point, place.base
        for move in moves:
            if isinstance(move, Rotate):
                base = base.rotated(derivation.fresh("turn"), move.axis, move.angle)
            elif isinstance(move, Translate):
                way: list[Atom | float] = [0.0, 0.0, 0.0]
                way["xyz".index(move.axis)] = move.distance
                point = point.offset(derivation.fresh("way"), base.vector(*way))
            else:
                base = self._free_turn(base, branch)
        return Place(point, base)

    def _free_turn(self, base: Base, branch: Branch) -> Base:
        element = self.cast.elements[branch.element]
        i, j = element.markers[0].frames, element.markers[1].frames
        first, last = (j, i) if branch.marker == 0 else (i, j)
        given = given_rotation(self.derivation, base, first, last)
        if given is not None:
            return given

        def rotation(poses: Poses) -> Floats:
            found: Floats = relative_poses(poses, first, last)[:, :3, :3]
            return found

        start: Callable[[Poses], Floats] = rotation
        return add_quaternion(self.derivation, base, f"{element.label}", start)
