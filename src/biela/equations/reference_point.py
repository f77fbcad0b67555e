"""Reference-point coordinates: every body on its own, all joints as equations.

    q = (r, e) a body:  r its centre of mass in the ground, e its Euler parameters,
    v = (r', ω'):       ω' its angular velocity along its own axes,

so that M is constant and block-diagonal, diag(m, m, m, I), and each joint brings the rows of its
primitives on its two bodies (Haug 1989, ch. 9 and 11; the constraints DP1, DP2, D and CD of
Peinado's thesis).  In a planar model a body has two coordinates of its place and one angle.

`placed_with_rates` is that thesis's own form: v = q', seven rates a body, and the norm of the Euler
parameters as one more equation, e · e = 1.  It is there to reproduce its figures, and as another
way to the same motion; its mass matrix is singular.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.placement import identifier
from biela.model import Model
from biela.model.joints import Joint
from biela.model.joints.primitives import Row
from biela.model.pair import Place
from biela.model.topology.tree import Floats, joint_tree, quaternion, start_poses
from biela.space import Base, Vector

NORMAL = {"xy": "z", "xz": "y", "yz": "x"}


def place_freely(
    derivation: MechanismDerivation, name: str, pose: Floats, rates: bool = False
) -> None:
    """Give a body coordinates of its own, and let them start at a pose.

    With ``rates`` the velocities of its orientation are those of its Euler parameters.
    """
    model = derivation.model
    inertia = model.bodies[name].inertia
    centre = np.array([model.number(x, "length") for x in inertia.com])
    start = pose[:3, :3] @ centre + pose[:3, 3]
    if model.plane is not None:
        _planar(derivation, name, model.plane, pose, start)
    elif rates:
        _with_rates(derivation, name, pose, start)
    else:
        _spatial(derivation, name, pose, start)


def _spatial(derivation: MechanismDerivation, name: str, pose: Floats, start: Floats) -> None:
    system, plain = derivation.system, identifier(name)
    r = _place(derivation, name)
    base = system.orientation(plain)
    turned = system.orientations[plain]
    for k, symbol in enumerate(turned.parameters):
        derivation.names[symbol.name] = f"{name}.e{k}"
    for axis, speed in zip("xyz", turned.angular_velocity, strict=True):
        derivation.names[speed.name] = f"{name}.own_w{axis}"
    e = quaternion(pose[:3, :3])
    begin = dict(zip(r, start, strict=True)) | dict(zip(turned.parameters, e, strict=True))
    system.start({q: float(value) for q, value in begin.items()})
    _solid(derivation, name, Place(system.origin, system.base), r, base)


def _with_rates(derivation: MechanismDerivation, name: str, pose: Floats, start: Floats) -> None:
    """Place a body with the rates of its Euler parameters as velocities, and hold their norm."""
    system = derivation.system
    r = _place(derivation, name)
    e = [derivation.declare(f"{name}.e{k}") for k in range(4)]
    base = system.base.by_euler_parameters(identifier(name), e, homogeneous=True)
    begin = dict(zip(r, start, strict=True)) | dict(zip(e, quaternion(pose[:3, :3]), strict=True))
    system.start({q: float(value) for q, value in begin.items()})
    nothing = Vector(system.space, {})
    norm = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1
    derivation.hold(name, [Row("norm", norm, None, nothing, nothing)], f"body {name}")
    _solid(derivation, name, Place(system.origin, system.base), r, base)


def _place(derivation: MechanismDerivation, name: str) -> list[Atom]:
    """The coordinates of the reference point of a body."""
    r = [derivation.declare(f"{name}.r{axis}") for axis in "xyz"]
    for axis, place in zip("xyz", r, strict=True):
        derivation.names[place.velocity.name] = f"{name}.r{axis}_rate"
    return r


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
    return _placed(model, rates=False)


def placed_with_rates(model: Model) -> MechanismDerivation:
    """The same with v = q' and the norms of the Euler parameters held by equations."""
    return _placed(model, rates=True)


def _placed(model: Model, rates: bool) -> MechanismDerivation:
    derivation = MechanismDerivation(model)
    derivation.differentiates = rates
    poses, _ = start_poses(model, joint_tree(model))
    for name in model.bodies:
        place_freely(derivation, name, poses[name], rates)
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.hold_joint(joint)
    return derivation
