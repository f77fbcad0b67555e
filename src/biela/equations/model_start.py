"""One model, one start: where its motions begin, whatever the coordinates are.

The start is assembled in joint coordinates, in which bodies follow the joints that people gave
values for, and is carried over to other coordinates as poses and twists of bodies:

    point       r = r_b + R_b s,     r' = v_b + ω_b x R_b s
    direction   a = R_b s,           a' = ω_b x R_b s
    rotation    e = e(R_b),          ω' = R_bᵀ ω_b,     e' = ½ L(e)ᵀ ω'

with s fixed in the body, and coordinates of joints as they are there.  Loops that close in two ways
then close in the same one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.code import Function
from biela.equations.joint_coordinates import carrying_tree
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.natural.entities import NaturalPoint
from biela.equations.natural.laying import Laying
from biela.equations.reference_point import NORMAL
from biela.model import Model
from biela.model.joints import Joint
from biela.model.placing import relative_pose
from biela.model.topology.tree import quaternion, start_poses

if TYPE_CHECKING:
    from biela.equations.system import System

Floats = npt.NDArray[np.float64]


def limits_of(model: Model, parameters: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The limits of coordinates of joints, by name, for values of parameters."""
    model = _at_values(model, parameters)
    found = {}
    for joint in model.joints.values():
        if not isinstance(joint, Joint):
            continue
        for coordinate in joint.coordinates:
            if coordinate.name in joint.limits:
                dimension = {"rad": "angle", "m": "length"}.get(coordinate.unit, "any")
                low, high = (model.number(x, dimension) for x in joint.limits[coordinate.name])
                found[f"{joint.name}.{coordinate.name}"] = low, high
    return found


def _at_values(model: Model, parameters: Mapping[str, float]) -> Model:
    model = copy(model)
    known = {name: x for name, x in parameters.items() if name in model.parameters}
    model.parameters = model.parameters.changed(known, model.name)
    return model


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Where bodies are and how they move: T (4, 4) by name, and velocity and ω (6) by name."""

    poses: Mapping[str, Floats]
    twists: Mapping[str, Floats]

    def point(self, body: str, s: Floats) -> tuple[Floats, Floats]:
        """Place and velocity of a point of a body."""
        T, twist = self.poses[body], self.twists[body]
        arm = T[:3, :3] @ s
        return T[:3, 3] + arm, twist[:3] + np.cross(twist[3:], arm)

    def direction(self, body: str, s: Floats) -> tuple[Floats, Floats]:
        """A direction fixed in a body, and its rate."""
        arm = self.poses[body][:3, :3] @ s
        return arm, np.cross(self.twists[body][3:], arm)

    def free(self, body: str, centre: Floats, plane: str | None) -> dict[str, float]:
        """The reference-point coordinates and velocities of a body, by name."""
        T, twist = self.poses[body], self.twists[body]
        r, speed = self.point(body, centre)
        found = {f"{body}.r{axis}": r[k] for k, axis in enumerate("xyz")}
        found |= {f"{body}.r{axis}_rate": speed[k] for k, axis in enumerate("xyz")}
        if plane is not None:
            across = "xyz".index(NORMAL[plane])
            a, b = (across + 1) % 3, (across + 2) % 3
            found[f"{body}.angle"] = float(np.arctan2(T[b, a], T[a, a]))
            found[f"{body}.angle_rate"] = twist[3 + across]
            return {name: float(x) for name, x in found.items()}
        e, omega = quaternion(T[:3, :3]), T[:3, :3].T @ twist[3:]
        rate = np.array([-e[1:] @ omega, *(e[0] * omega + np.cross(e[1:], omega))]) / 2
        found |= {f"{body}.own_w{axis}": omega[k] for k, axis in enumerate("xyz")}
        found |= {f"{body}.e{k}": x for k, x in enumerate(e)}
        found |= {f"{body}.e{k}_rate": x for k, x in enumerate(rate)}
        return {name: float(x) for name, x in found.items()}


@dataclass(frozen=True, eq=False)
class Carrying:
    """How coordinates of a system follow from the motion of bodies.

    Attributes:
        bodies: The body of each row of ``places``.
        places: A function of the parameters: places or directions in the bodies, a row each.
        entities: For each row the point ("p") or direction ("d") that it is, and its name; a free
            body ("b") by its own name.
        plane: That of a planar model.
    """

    bodies: tuple[str, ...]
    places: Function | None
    entities: tuple[tuple[str, str], ...]
    plane: str | None

    def values(self, motion: BodyMotion, p: Floats) -> dict[str, float]:
        """Coordinates and velocities by name."""
        found: dict[str, float] = {}
        if self.places is None:
            return found
        rows = np.reshape(self.places.walk(p), (-1, 3))
        for body, (kind, name), s in zip(self.bodies, self.entities, rows, strict=True):
            if kind == "b":
                found |= motion.free(name, s, self.plane)
                continue
            at, rate = motion.point(body, s) if kind == "p" else motion.direction(body, s)
            for k, axis in enumerate("xyz"):
                found[f"{name}.{axis}"] = float(at[k])
                found[f"{name}.{axis}_rate"] = float(rate[k])
        return found


def carrying(derivation: MechanismDerivation) -> Carrying:
    """How the coordinates of a derivation follow from the motion of its bodies."""
    model = derivation.model
    rows: list[tuple[str, str, str, Sequence[Atom]]] = []
    if isinstance(derivation, Laying):
        for name, (body, at) in derivation.stands.items():
            if body in model.bodies:
                is_point = isinstance(derivation.layout.entities[name], NaturalPoint)
                rows.append((body, "p" if is_point else "d", name, at))
    else:
        for name, body_of in model.bodies.items():
            com = [derivation.number(x, "length") for x in body_of.inertia.com]
            rows.append((name, "b", name, com))
    symbols = list(derivation.system.parameter_values)
    places = None
    if rows:
        places = Function("places", {"p": symbols}, {"places": [list(row[3]) for row in rows]})
    return Carrying(
        tuple(row[0] for row in rows),
        places,
        tuple((row[1], row[2]) for row in rows),
        model.plane,
    )


#: A law of time: a text of t and parameters, with units where they help ("30 deg*sin(3*t)"; without
#: any it is in SI units), a number, an expression of the time and parameters of a model, or times
#: and values that a cubic spline goes through (which goes on straight outside of them: let the
#: times reach beyond those of the run).
DriveLaw: TypeAlias = str | float | Atom | tuple[npt.ArrayLike, npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class ModelStart:
    """Where the motions of a model start.

    Attributes:
        model: What was described, written out, as it was when its equations were derived.
        derive: Gives its system in joint coordinates.
        carrying: How other coordinates follow; None for those of the joints themselves.
        drives: Laws of coordinates that a driven system has besides.
    """

    model: Model
    derive: Callable[[], System]
    carrying: Carrying | None
    drives: Mapping[str, DriveLaw] = field(default_factory=dict)

    @cached_property
    def joints(self) -> System:
        """The system in joint coordinates."""
        return self.derive()

    def driven(self, drives: Mapping[str, DriveLaw]) -> ModelStart:
        """The start of a system with further drives."""
        return replace(self, drives={**self.drives, **drives})

    def model_at(self, parameters: Mapping[str, float]) -> Model:
        """The model with other values of its parameters; names that it does not have are left."""
        return _at_values(self.model, parameters)

    def limits(self, parameters: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """The limits of coordinates of joints, by name, for values of parameters."""
        return limits_of(self.model, parameters)

    def guess(self, parameters: Mapping[str, float], t: float) -> dict[str, float]:
        """First values of the joint coordinates, by name, for values of parameters and a time."""
        model = self.model_at(parameters)
        tree = carrying_tree(model)
        poses, values = start_poses(model, tree, t)
        at_rest = {name: np.zeros(6) for name in poses}
        motion = BodyMotion(poses, at_rest)
        found: dict[str, float] = {}
        for name in tree.floating:
            com = [model.number(x, "length") for x in model.bodies[name].inertia.com]
            found |= motion.free(name, np.array(com), model.plane)
        for branch in tree.branches:
            joint = branch.joint
            for coordinate in joint.coordinates:
                name, value = f"{joint.name}.{coordinate.name}", values[joint.name][coordinate.name]
                if coordinate.manifold == "rotation":
                    R = np.asarray(value)
                    e = quaternion(R.T if branch.backwards else R)
                    found |= {f"{name}_e{k}": float(x) for k, x in enumerate(e)}
                else:
                    found[name] = float(value)
        for one in model.joints.values():
            if not isinstance(one, Joint):
                continue
            for coordinate in one.coordinates:
                given = one.start.get(coordinate.name)
                if given is not None:
                    dimension = {"rad": "angle", "m": "length"}.get(coordinate.unit, "any")
                    found[f"{one.name}.{coordinate.name}"] = model.number(given, dimension)
        return found

    def read(
        self, poses: Mapping[str, Floats], parameters: Mapping[str, float]
    ) -> dict[str, float]:
        """The joint coordinates of poses of all bodies, T (4, 4), by name; those that can be read.

        Angles are between minus and plus half a turn.
        """
        model = copy(self.model)
        model.parameters = {**model.parameters, **parameters}
        tree = carrying_tree(model)
        motion = BodyMotion(poses, {name: np.zeros(6) for name in poses})
        found: dict[str, float] = {}
        for name in tree.floating:
            com = [model.number(x, "length") for x in model.bodies[name].inertia.com]
            found |= motion.free(name, np.array(com), model.plane)
        for branch in tree.branches:
            joint = branch.joint
            before, after = (poses.get(m.body, np.eye(4)) for m in (joint.i, joint.j))
            T = relative_pose(model, joint, before, after)
            for coordinate in joint.coordinates:
                name = f"{joint.name}.{coordinate.name}"
                if coordinate.manifold == "rotation":
                    e = quaternion(T[:3, :3].T if branch.backwards else T[:3, :3])
                    found |= {f"{name}_e{k}": float(x) for k, x in enumerate(e)}
                elif coordinate.reading is not None:
                    found[name] = float(coordinate.reading.number(T))
        return found


def as_described(model: Model) -> Model:
    """A copy that later changes of a model leave alone."""
    found = copy(model)
    found.parameters, found.joints = model.parameters.copy(), dict(model.joints)
    found.drivers, found.forces = dict(model.drivers), dict(model.forces)
    found.sensors, found.rotors = dict(model.sensors), dict(model.rotors)
    found.bodies = {
        name: replace(body, markers=dict(body.markers)) for name, body in model.bodies.items()
    }
    found.ground = replace(model.ground, markers=dict(model.ground.markers))
    return found
