"""Independent coordinates of a motion as drivers: of joints, of rotations, of bodies that are free.

A coordinate that is a number is called "joint.coordinate"; of a body "body.rx", "body.ry" and
"body.rz" for its centre of mass, and "body.angle" in a plane; a rotation "joint.rotation" or
"body.rotation"; the spin of a rod between two balls "body.spin".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import with_drivers
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.groups.freedom_drivers import CoordinateDriver, RotationDriver, SpinDriver
from biela.equations.groups.placing import angle_in_plane
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.model import Model
from biela.model.drivers import Driver
from biela.model.drivers.joint_driver import JointDriver
from biela.model.drivers.position import PositionDriver
from biela.model.joints import Joint
from biela.model.laws.law import law_from
from biela.model.markers import Marker
from biela.model.orientation import Orientation
from biela.model.topology.tree import quaternion

__all__ = [
    "Drive",
    "Twists",
    "body_drives",
    "drive_values",
    "driven_model",
    "joint_drive",
    "named_drive",
    "rotation_drives",
    "spin_drive",
]

Floats = npt.NDArray[np.float64]
_CALLED = "drive "
_LAW = law_from("0")


@dataclass(frozen=True, eq=False)
class Drive:
    """An independent coordinate and the driver that stands for it."""

    name: str
    driver: Driver

    @property
    def rotation(self) -> bool:
        """Whether it is a unit quaternion."""
        return isinstance(self.driver, RotationDriver)

    @property
    def freedoms(self) -> int:
        """How many velocities it has."""
        return self.driver.removes

    def following(self, laws: Sequence[str]) -> Driver:
        """The driver with laws, one for each component."""
        settings = self.driver.settings()
        mine = [name for name, f in settings.items() if f.metadata["dimension"] == "law"]
        given = zip(mine, laws, strict=True)
        changed: dict[str, Any] = {name: law_from(law) for name, law in given}
        return replace(self.driver, **changed)


@dataclass(frozen=True, eq=False)
class Twists:
    """How all bodies move: velocities of their centres of mass, and angular velocities.

    Both are (bodies, 3), along the ground.
    """

    velocity: Floats
    angular: Floats

    @staticmethod
    def of(world: World, poses: Poses, v: Floats) -> Twists:
        """From the velocities of reference-point coordinates."""
        plane, count = poses.plane, world.count
        velocity, angular = np.zeros((count, 3)), np.zeros((count, 3))
        if plane is None:
            rows = v[: 6 * count].reshape(count, 6)
            velocity[:] = rows[:, :3]
            angular[:] = np.einsum("nij,nj->ni", poses.axes, rows[:, 3:])
        else:
            rows = v[: 3 * count].reshape(count, 3)
            for k, axis in enumerate(plane):
                velocity[:, "xyz".index(axis)] = rows[:, k]
            angular[:, "xyz".index(NORMAL[plane])] = rows[:, 2]
        return Twists(velocity, angular)


def driven_model(model: Model, drives: Sequence[Drive], laws: Sequence[Sequence[str]]) -> Model:
    """The model with drivers that follow laws.

    Raises:
        ModelError: A coordinate is driven already.
    """
    found = copy(model)
    found.drivers = dict(model.drivers)
    for drive, texts in zip(drives, laws, strict=True):
        if drive.driver.name in found.drivers:
            raise ModelError(f"{model.name}: {drive.name} is driven already")
        found.drivers[drive.driver.name] = drive.following(texts)
    return found


# ------------------------------------------------------------------------------------- by name


def named_drive(model: Model, name: str) -> Drive:
    """The drive of a coordinate that somebody names.

    Raises:
        ModelError: It is no coordinate of a joint, and none of a body.
    """
    rotations = {drive.name: drive for drive in rotation_drives(model)}
    alone = model.joints.get(name)
    if isinstance(alone, Joint) and len(alone.coordinates) == 1:
        name = f"{name}.{alone.coordinates[0].name}"
    if name in rotations:
        return rotations[name]
    owner, _, part = name.rpartition(".")
    if owner in model.bodies and owner not in model.joints:
        known = {drive.name: drive for drive in body_drives(model, [owner])}
        if name in known:
            return known[name]
        raise ModelError(
            f"{model.name}: {part!r} is no coordinate of a body; {owner} has {', '.join(known)}"
        )
    return joint_drive(model, name)


def joint_drive(model: Model, name: str) -> Drive:
    """The drive of a coordinate of a joint that is a number.

    Raises:
        ModelError: It is none.
    """
    driver = with_drivers(model, {name: _LAW}).drivers[f"{_CALLED}{name}"]
    alone = model.joints.get(name)
    full = f"{name}.{alone.coordinates[0].name}" if isinstance(alone, Joint) else name
    owner, _, part = full.rpartition(".")
    joint = model.joints.get(owner)
    units = {c.name: c.unit for c in joint.coordinates} if isinstance(joint, Joint) else {}
    called = f"{_CALLED}{full}"
    if units.get(part, "m") not in ("m", "rad"):
        return Drive(full, CoordinateDriver(name=called, coordinate=full, law=_LAW))
    assert isinstance(driver, JointDriver)
    return Drive(full, replace(driver, name=called, coordinate=full))


def rotation_drives(model: Model) -> Iterator[Drive]:
    """The rotations of joints: of balls, of balls in grooves, of free bodies with a joint."""
    if model.plane is not None:
        return
    for name, joint in model.joints.items():
        if isinstance(joint, Joint):
            for coordinate in joint.coordinates:
                if coordinate.manifold == "rotation":
                    called = f"{name}.{coordinate.name}"
                    yield Drive(called, _rotation(called, joint.j, joint.i))


def body_drives(model: Model, bodies: Sequence[str]) -> Iterator[Drive]:
    """The rotation or the angle of bodies in the ground, and the places of their centres."""
    for body in bodies:
        own = Marker(body, "frame")
        if model.plane is None:
            yield Drive(f"{body}.rotation", _rotation(f"{body}.rotation", own))
        else:
            yield Drive(f"{body}.angle", _angle(body, model.plane))
        centre = Marker(body, "centre", model.bodies[body].inertia.com)
        for axis in model.plane or "xyz":
            called = f"{_CALLED}{body}.r{axis}"
            driver = PositionDriver(name=called, marker=centre, axis=axis, law=_LAW)
            yield Drive(f"{body}.r{axis}", driver)


def spin_drive(body: str, axes: Floats, upright: str) -> Drive:
    """The spin of a body about the third of some axes in its frame; the first is level."""
    rows = tuple((float(r[0]), float(r[1]), float(r[2])) for r in axes)
    marker = Marker(body, "spin", orientation=Orientation(rows))
    called = f"{_CALLED}{body}.spin"
    return Drive(f"{body}.spin", SpinDriver(name=called, marker=marker, axis=upright, law=_LAW))


def _rotation(called: str, j: Marker, i: Marker | None = None) -> RotationDriver:
    name = f"{_CALLED}{called}"
    return RotationDriver(name=name, marker=j, i=i, e0=_LAW, e1=_LAW, e2=_LAW, e3=_LAW)


def _angle(body: str, plane: str) -> SpinDriver:
    k = "xyz".index(NORMAL[plane])
    columns = np.eye(3)[[(k + 1) % 3, (k + 2) % 3, k]].T
    rows = tuple((float(r[0]), float(r[1]), float(r[2])) for r in columns)
    marker = Marker(body, "angle", orientation=Orientation(rows))
    axis = "xyz"[(k + 2) % 3]
    return SpinDriver(name=f"{_CALLED}{body}.angle", marker=marker, axis=axis, law=_LAW)


# --------------------------------------------------------------------------------------- values


def drive_values(
    drive: Drive,
    world: World,
    poses: Poses,
    twists: Twists,
    outputs: Mapping[str, tuple[float, float]],
) -> tuple[Floats, Floats]:
    """Where a coordinate is, and its rate; ``outputs`` are those of joints, by name."""
    driver = drive.driver
    if isinstance(driver, RotationDriver):
        return _rotation_values(driver, world, poses, twists)
    if isinstance(driver, PositionDriver):
        b, k = world.body(driver.marker.body), "xyz".index(driver.axis)
        centre = poses.place[b] + poses.axes[b] @ world.centres[b]
        return centre[k : k + 1], twists.velocity[b, k : k + 1]
    if isinstance(driver, SpinDriver):
        b = world.body(driver.marker.body)
        if poses.plane is not None:
            k = "xyz".index(NORMAL[poses.plane])
            return angle_in_plane(poses.plane, poses.axes[b : b + 1]), twists.angular[b, k : k + 1]
        x, _, z = (poses.axes[b] @ world.frames(world.host, driver.marker).axes[0]).T
        w = np.eye(3)["xyz".index(driver.axis)]
        # x is level here: ψ is zero
        rate = twists.angular[b] @ np.cross(x, w) / np.linalg.norm(np.cross(w, z))
        return np.zeros(1), np.array([rate])
    value, rate = outputs[drive.name]
    return np.array([value]), np.array([rate])


def _rotation_values(
    driver: RotationDriver, world: World, poses: Poses, twists: Twists
) -> tuple[Floats, Floats]:
    j = world.frames(world.host, driver.marker)
    _, (R,) = poses.of(j)
    omega = twists.angular[int(j.body[0])]
    before = np.eye(3)
    if driver.i is not None:
        i = world.frames(world.host, driver.i)
        _, (before,) = poses.of(i)
        if i.body[0] >= 0:
            omega = omega - twists.angular[int(i.body[0])]
    return np.array(quaternion(before.T @ R)), R.T @ omega
