"""Reference-point coordinates: every body on its own, all joints as equations.

    q = (r, e) a body:  r its centre of mass in the ground, e its Euler parameters,
    v = (r', ω'):       ω' its angular velocity along its own axes,

so that M is constant and block-diagonal, diag(m, m, m, I), and each joint brings the rows of its
primitives on its two bodies (Haug 1989, ch. 9 and 11; the constraints DP1, DP2, D and CD of
Peinado's thesis).  In a planar model a body has two coordinates of its place and one angle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.placement import identifier
from biela.equations.mechanism.tree import Floats, joint_tree, quaternion, start_poses
from biela.model import Model
from biela.model.joints import Joint
from biela.model.pair import Place
from biela.space import Base

NORMAL = {"xy": "z", "xz": "y", "yz": "x"}


def place_freely(derivation: MechanismDerivation, name: str, pose: Floats) -> None:
    """Give a body coordinates of its own, and let them start at a pose."""
    model = derivation.model
    inertia = model.bodies[name].inertia
    centre = np.array([model.number(x, "length") for x in inertia.com])
    start = pose[:3, :3] @ centre + pose[:3, 3]
    if model.plane is None:
        _spatial(derivation, name, pose, start)
    else:
        _planar(derivation, name, model.plane, pose, start)


def _spatial(derivation: MechanismDerivation, name: str, pose: Floats, start: Floats) -> None:
    system, plain = derivation.system, identifier(name)
    r = [derivation.declare(f"{name}.r{axis}") for axis in "xyz"]
    base = system.orientation(plain)
    turned = system.orientations[plain]
    for k, symbol in enumerate(turned.parameters):
        derivation.names[symbol.name] = f"{name}.e{k}"
    for axis, speed in zip("xyz", turned.angular_velocity, strict=True):
        derivation.names[speed.name] = f"{name}.w{axis}"
    for axis, place in zip("xyz", r, strict=True):
        derivation.names[place.velocity.name] = f"{name}.v{axis}"
    e = quaternion(pose[:3, :3])
    begin = dict(zip(r, start, strict=True)) | dict(zip(turned.parameters, e, strict=True))
    system.start({q: float(value) for q, value in begin.items()})
    _solid(derivation, name, Place(system.origin, system.base), r, base)


def _planar(
    derivation: MechanismDerivation, name: str, plane: str, pose: Floats, start: Floats
) -> None:
    system = derivation.system
    normal = NORMAL[plane]
    moving = {axis: derivation.declare(f"{name}.r{axis}") for axis in plane}
    angle = derivation.declare(f"{name}.angle")
    across = "xyz".index(normal)
    r = [moving.get(axis, system.workspace.atom(float(start[k]))) for k, axis in enumerate("xyz")]
    base = system.base.rotated(identifier(name), normal, angle)
    a, b = (across + 1) % 3, (across + 2) % 3
    turn = float(np.arctan2(pose[b, a], pose[a, a]))
    begin: dict[Atom | str, float] = {
        q: float(start["xyz".index(axis)]) for axis, q in moving.items()
    }
    system.start(begin | {angle: turn})
    _solid(derivation, name, Place(system.origin, system.base), r, base)


def _solid(
    derivation: MechanismDerivation, name: str, ground: Place, r: Sequence[Atom], base: Base
) -> None:
    plain = identifier(name)
    inertia = derivation.model.bodies[name].inertia
    centre = ground.point.offset(f"{plain}_centre", ground.base.vector(*r))
    com = [derivation.number(x, "length") for x in inertia.com]
    if any(x.ref for x in com):
        frame = centre.offset(plain, base.vector(*(-x for x in com)))
    else:
        frame = centre
    derivation.bodies[name] = Place(frame, base)
    derivation.solid(name, Place(centre, base), at_centre=True)


def placed(model: Model) -> MechanismDerivation:
    """All bodies placed freely, and all joints held by equations."""
    derivation = MechanismDerivation(model)
    poses, _ = start_poses(model, joint_tree(model))
    for name in model.bodies:
        place_freely(derivation, name, poses[name])
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.hold_joint(joint)
    return derivation
