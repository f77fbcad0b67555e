"""The tree of links of a model, on which all recursions run.

Joints that carry bodies become steps of links (`links`), bodies welded together become one link,
and the frames of the links are chosen such that most of their constants are zero (`frames`).  The
coordinates and velocities are those of `biela.formulate(model)`, in the same order and by the same
names: joint coordinates, and unit quaternions with the angular velocity in the turned frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from biela.atoms import Atom, Workspace, diff
from biela.equations.mechanism.placement import identifier
from biela.equations.orientation import product as quaternion_product
from biela.equations.spatial.coordinates import declared
from biela.equations.spatial.frames import regrouped, with_short_constants
from biela.equations.spatial.garbage import collector_paused
from biela.equations.spatial.links import (
    Link,
    Pseudo,
    added,
    congruent,
    no_inertia,
    pseudo,
)
from biela.equations.spatial.named_frames import NamedFrames
from biela.equations.spatial.passive import passive_forces
from biela.equations.spatial.segments import segments
from biela.equations.spatial.topology import carried_by_joints, inverse_move
from biela.equations.spatial.turning import Pose, Scalar, Triple
from biela.errors import ModelError, UnknownNameError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.joints.moves import Move, Rotate
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.quantities.units import expression
from biela.model.quantities.values import Value
from biela.model.topology.tree import Branch, start_values
from biela.spelling import nearest


class SpatialTree:
    """A model as a tree of links, with the symbols of its state.

    Args:
        model: Bodies and joints; a body that no joint carries floats, by a joint of its own name,
            free or planar.  Gears are allowed: a coordinate that follows another has no velocity
            of its own.  Joints that close loops carry nothing (`loop_rows` has their equations).
        rotors: Inertia of rotors, reflected to the joint (kg m², or kg along a slide), by joint or
            "joint.coordinate", in place of those of the model.
        short: Choose the frames of links such that constants vanish; else they are those of the
            markers.
        inputs: Let actuators act, by inputs; without them the joint forces stand in their place.

    Attributes:
        links: From the ground to the tips.
        coordinates: The coordinates and velocities, with their names.
        a, tau: The symbols of accelerations and joint forces.
        carriers: Each body and the body before it.
        closing: The joints that close loops.
        frames: For each body and marker its link (-1 for the ground) and its pose there.
        rotor: The inertia of the rotor along each velocity.
        acting: What the forces of the model say.
        stored: The energy of springs.
    """

    @collector_paused()
    def __init__(
        self,
        model: Model,
        *,
        rotors: Mapping[str, Value] | None = None,
        short: bool = True,
        inputs: bool = False,
    ) -> None:
        self.model = model.flattened() if model.parts else model
        if not self.model.bodies:
            raise ModelError(f"{model.name} has no bodies: add one with body(…)")
        self.workspace = Workspace(identifier(model.name))
        names = list(self.model.parameters.given)
        self.p: list[Atom] = list(self.workspace.parameters(names))
        self._parameters = self.model.parameters.expressions(dict(zip(names, self.p, strict=True)))
        self.links: list[Link] = []
        self.frames = NamedFrames()
        self.frames.put(GROUND, (-1, Pose.at()))
        #: Each body and the body before it, parents before children.
        self.carriers: dict[str, str] = {}
        self._markers: dict[int, tuple[Marker, Pose]] = {}
        #: For each body its link, and the pose there of the marker at which its joint holds it.
        self.held_at = NamedFrames()
        self.model, tree = carried_by_joints(self.model)
        self.closing: tuple[Joint, ...] = tree.closing
        values = start_values(self.model, tree)
        self.coordinates = declared(self.workspace, self.model, tree.branches, values, self.number)
        for branch in tree.branches:
            self._carry(branch)
        if short:
            self.links, moved = with_short_constants(self.links)
            self.frames.seen_from(moved)
            self.held_at.seen_from(moved)
        self.links = regrouped(self.links)
        for body in (self.model.ground, *self.model.bodies.values()):
            for marker in body.markers.values():
                self.frames.put(marker.label, partial(self.marker, marker))
        self.a = [v.acceleration for v in self.v]
        self.tau = list(self.workspace.inputs([f"tau_{v.name}" for v in self.v]))
        self.gravity: Triple = [self.number(g, "acceleration") for g in self.model.gravity]
        self.rotor = self._rotors(rotors or {})
        self.acting = passive_forces(self, inputs=inputs)
        self._pushed = self.acting.along_velocities()
        self.stored = self.acting.stored

    # ---------------------------------------------------------------- what there is

    @property
    def q(self) -> list[Atom]:
        """The coordinates."""
        return self.coordinates.q

    @property
    def v(self) -> list[Atom]:
        """The velocities."""
        return self.coordinates.v

    @property
    def q_names(self) -> list[str]:
        """What the coordinates are called."""
        return self.coordinates.q_names

    @property
    def v_names(self) -> list[str]:
        """What the velocities are called."""
        return self.coordinates.v_names

    @property
    def start(self) -> list[float]:
        """Values of the coordinates where a motion starts."""
        return self.coordinates.start

    @property
    def quaternions(self) -> list[tuple[int, int]]:
        """Rotations: number of the first coordinate and of the first velocity."""
        return self.coordinates.quaternions

    @property
    def scalars(self) -> dict[str, tuple[int, int]]:
        """Coordinates that are one symbol, by "joint.coordinate": their numbers in q and v."""
        return self.coordinates.scalars

    @property
    def pushed(self) -> list[Atom]:
        """The force of springs, friction and other forces of the model along each velocity.

        Raises:
            ModelError: One of them depends on reactions, or has an input that is not there.
        """
        for fault in self.acting.refused:
            raise ModelError(fault)
        return self._pushed

    @property
    def loads(self) -> dict[int, list[Scalar]]:
        """Wrenches of forces between markers by link, which are in `pushed`."""
        return self.acting.wrenches

    def check_uncoupled(self, what: str) -> None:
        """Refuse what eliminates the joints one by one where gears tie joints together.

        Raises:
            ModelError: A coordinate follows another.
        """
        if self.coordinates.followers:
            raise ModelError(
                f"{self.model.name}: {next(iter(self.coordinates.followers))} follows another "
                f"coordinate; {what} takes the joints one by one: use the method composite"
            )

    @property
    def is_closed(self) -> bool:
        """Whether joints close loops, or drivers prescribe motions."""
        return bool(self.closing or self.model.drivers)

    def check_open(self, what: str) -> None:
        """Refuse what is for trees only.

        Raises:
            ModelError: A joint closes a loop, or a driver prescribes a motion.
        """
        if self.closing:
            names = ", ".join(joint.name for joint in self.closing)
            raise ModelError(
                f"{self.model.name} is not a tree: {names} closes a loop, and {what} is for trees; "
                f"use forward_dynamics, or formulate(model)"
            )
        if self.model.drivers:
            raise ModelError(
                f"{self.model.name}: driver {next(iter(self.model.drivers))} prescribes a motion, "
                f"and {what} has none: leave the driver out, or use formulate(model)"
            )

    def number(self, value: Value, dimension: str) -> Scalar:
        """A value: a number, or an expression of the parameters of the model."""
        if type(value) is float and math.isfinite(value):
            return value
        known = self.model.parameters.dimensions
        found = expression(value, self._parameters, dimension, known)
        if isinstance(found, Atom) and found.value is not None:
            return float(found.value)
        return found

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time as an expression."""
        return law.expression(self.workspace, self._parameters, dimension)

    @property
    def children(self) -> list[list[int]]:
        """The links that follow each link."""
        found: list[list[int]] = [[] for _ in self.links]
        for k, link in enumerate(self.links):
            if link.parent >= 0:
                found[link.parent].append(k)
        return found

    def path(self, k: int) -> list[int]:
        """The links from the ground to link k."""
        found = []
        while k >= 0:
            found.append(k)
            k = self.links[k].parent
        return found[::-1]

    @property
    def moving_bodies(self) -> list[str]:
        """The bodies that a joint moves, each the first of those fixed to it."""
        return [
            body for body, (k, _) in self.held_at.items() if k >= 0 and body == self.links[k].name
        ]

    def frame(self, name: str) -> tuple[int, Pose]:
        """The link of a body or marker, "body" or "body.marker", and its pose there.

        Raises:
            UnknownNameError: There is none; the message has the nearest name.
        """
        if name not in self.frames:
            raise UnknownNameError(
                f"{self.model.name}: there is no frame {name!r}{nearest(name, self.frames)}"
            )
        return self.frames[name]

    def inertia_of(self, body: str) -> Pseudo:
        """The pseudo-inertia of a body in its own frame."""
        inertia = self.model.bodies[body].inertia
        return pseudo(
            self.number(inertia.mass, "mass"),
            [self.number(x, "length") for x in inertia.com],
            [self.number(x, "inertia") for x in inertia.moments],
        )

    def tangent(self, k: int) -> dict[Atom, Atom | float]:
        """Rates of the coordinates when velocity k is one and the others are zero."""
        for first, speed in self.quaternions:
            if speed <= k < speed + 3:
                e = self.q[first : first + 4]
                unit = [self.workspace.atom(float(k - speed + 1 == i)) for i in range(4)]
                rates = quaternion_product(tuple(e), tuple(unit))  # type: ignore[arg-type]
                return {x: r / 2 for x, r in zip(e, rates, strict=True)}
        return {self.coordinates.leader(k): 1.0}

    def rates(self) -> list[Atom]:
        """Q' = N(q) v."""
        found = [self.workspace.atom(0)] * len(self.q)
        for i, j in self.scalars.values():
            found[i] = self.v[j]
        for first, speed in self.quaternions:
            e = self.q[first : first + 4]
            w = (self.workspace.atom(0), *self.v[speed : speed + 3])
            rates = quaternion_product(tuple(e), w)  # type: ignore[arg-type]
            found[first : first + 4] = [r / 2 for r in rates]
        return found

    def __repr__(self) -> str:
        return (
            f"SpatialTree {self.model.name}: {len(self.model.bodies)} bodies, "
            f"{len(self.links)} links, {len(self.v)} freedoms"
        )

    # ----------------------------------------------------------------------- inside

    def marker(self, marker: Marker) -> tuple[int, Pose]:
        """The link of any marker, -1 for the ground, and its pose there."""
        k, pose = self.frames[marker.body]
        return k, pose @ self._marker(marker)

    def _marker(self, marker: Marker) -> Pose:
        known = self._markers.get(id(marker))
        if known is None:
            # with the marker itself, so that no other can have its number
            known = self._markers[id(marker)] = marker, self._pose_of(marker)
        return known[1]

    def _pose_of(self, marker: Marker) -> Pose:
        pose = Pose([list(row) for row in marker.orientation.axes], [0.0, 0.0, 0.0])
        found, rest = segments(
            marker.label,
            pose,
            [Rotate(axis, self.number(a, "angle")) for axis, a in marker.orientation.turns],
            {},
            {},
            {},
        )
        assert not found
        return Pose(rest.R, [self.number(x, "length") for x in marker.position])

    def _carry(self, branch: Branch) -> None:
        joint = branch.joint
        given, coordinates, velocities, quaternions = self.coordinates.of_joint(joint)
        first, last = (joint.j, joint.i) if branch.backwards else (joint.i, joint.j)
        moves: list[Move] = list(joint.moves(given, self.number))
        if branch.backwards:
            moves = [inverse_move(move) for move in reversed(moves)]
        parent, pose = self.frames[branch.before]
        steps, rest = segments(
            joint.name, pose @ self._marker(first), moves, coordinates, velocities, quaternions
        )
        for segment in steps:
            none = no_inertia()
            self.links.append(Link(joint.name, parent, segment.place, segment.step, none, none))
            parent = len(self.links) - 1
        self.held_at.put(branch.after, (parent, rest))
        pose = rest @ self._marker(last).inverse()
        self.frames.put(branch.after, (parent, pose))
        self.carriers[branch.after] = branch.before
        if parent >= 0:
            body = congruent(pose, self.inertia_of(branch.after))
            link = self.links[parent]
            J = added(link.inertia, body)
            name = branch.after if steps else link.name
            self.links[parent] = Link(name, link.parent, link.place, link.step, J, J)

    def _rotors(self, given: Mapping[str, Value]) -> list[Scalar]:
        found: list[Scalar] = [0.0] * len(self.v)
        named = {
            self._rotor_name(name): inertia
            for rotors in (self.model.rotors, given)
            for name, inertia in rotors.items()
        }
        for name, inertia in named.items():
            value, k = self.coordinates.value(name)
            # the rotor of a coordinate that follows another turns by its rate
            rate = diff(value, self.coordinates.leader(k))
            ratio = rate if rate.value is None else float(rate.value)
            found[k] = found[k] + self.number(inertia, "any") * ratio * ratio
        return found

    def _rotor_name(self, name: str) -> str:
        for joint in self.closing:
            if name == joint.name or name.rpartition(".")[0] == joint.name:
                raise ModelError(
                    f"{self.model.name}: joint {joint.name} closes a loop and has a rotor, and a "
                    f"robot knows rotors of the joints in its tree only; use simulate(model)"
                )
        try:
            return self.coordinates.full_name(name)
        except ModelError as error:
            raise ModelError(f"{self.model.name}: rotor of {name}: {error}") from None

    def coordinate_name(self, name: str) -> str:
        """The "joint.coordinate" of a name, or of a joint with one coordinate.

        Raises:
            ModelError: There is no such coordinate.
        """
        try:
            return self.coordinates.full_name(name)
        except ModelError as error:
            raise ModelError(f"{self.model.name}: {error}") from None
