"""Reading a URDF file into its description, with every mistake by its line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from biela.budgets import LARGEST
from biela.model.files.urdf_description import Geometry, Mimic, Urdf, UrdfJoint, UrdfLink
from biela.model.files.xml_source import Floats, Xml, XmlSource
from biela.model.placing import posed
from biela.spelling import nearest

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
#: Children of a robot that say nothing about its mechanics.
_OTHER = ("material", "gazebo", "transmission", "sensor", "ros2_control", "mujoco", "drake")


Part = TypeVar("Part", UrdfLink, UrdfJoint)


def parsed(source: XmlSource) -> Urdf:
    """The robot in a URDF file.

    Raises:
        FileError: It has mistakes: all of them, each with its line.
    """
    robot = source.tree()
    _refuse_xacro(source, robot)
    if robot.tag != "robot":
        source.fault(robot, f"the outermost element of a URDF is <robot>, not <{robot.tag}>")
        source.check()
    links: dict[str, UrdfLink] = {}
    joints: dict[str, UrdfJoint] = {}
    for element in robot.children:
        if element.tag == "link":
            _add(source, element, links, _link(source, element))
        elif element.tag == "joint":
            _add(source, element, joints, _joint(source, element))
        elif element.tag not in _OTHER and not element.tag.startswith("{"):
            source.note(element, f"<{element.tag}> is not read")
    root = _root(source, robot, links, joints)
    source.check()
    return Urdf(robot.attributes.get("name", "robot"), root, links, joints)


# ------------------------------------------------------------------------------------ pieces


def _refuse_xacro(source: XmlSource, robot: Xml) -> None:
    for element in robot.walk():
        macro = element.tag.startswith("{") and "xacro" in element.tag
        if macro or any("${" in text for text in element.attributes.values()):
            source.fault(
                element,
                "this is Xacro, which is not expanded: run `xacro robot.xacro > robot.urdf` "
                "and load the result",
            )
            source.check()


def _add(source: XmlSource, element: Xml, known: dict[str, Part], made: Part) -> None:
    if made.name in known:
        first = known[made.name].line
        source.fault(element, f"{element.tag} {made.name!r} is there already, in line {first}")
    known[made.name] = made


def pose_of(source: XmlSource, origin: Xml | None) -> Floats:
    """T of an <origin>."""
    xyz = source.numbers(origin, "xyz", (0.0, 0.0, 0.0))
    roll, pitch, yaw = source.numbers(origin, "rpy", (0.0, 0.0, 0.0))
    return posed([float(x) for x in xyz], rpy_matrix(roll, pitch, yaw))


def rpy_matrix(roll: float, pitch: float, yaw: float) -> Floats:
    """R_z(yaw) R_y(pitch) R_x(roll)."""
    (a, b, c), (s, t, u) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [c * b, c * t * s - u * a, c * t * a + u * s],
            [u * b, u * t * s + c * a, u * t * a - c * s],
            [-t, b * s, b * a],
        ]
    )


def _link(source: XmlSource, element: Xml) -> UrdfLink:
    name = source.required(element, "name")
    inertial = element.first("inertial")
    mass, com, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    if inertial is not None:
        T = pose_of(source, inertial.first("origin"))
        mass = source.number(inertial.first("mass"), "value")
        if mass < 0:
            source.fault(inertial, f"link {name!r}: a mass is zero or positive, not {mass:g} kg")
        given = inertial.first("inertia")
        xx, xy, xz, yy, yz, zz = (
            source.number(given, f"i{key}") for key in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        com, tensor = T[:3, 3], T[:3, :3] @ I @ T[:3, :3].T
    return UrdfLink(
        name,
        element.line,
        mass,
        com,
        (tensor + tensor.T) / 2,
        _geometries(source, element, "visual"),
        _geometries(source, element, "collision"),
    )


def _geometries(source: XmlSource, link: Xml, purpose: str) -> tuple[Geometry, ...]:
    found = []
    for element in link.all(purpose):
        geometry = element.first("geometry")
        if geometry is None or not geometry.children:
            source.note(element, f"<{purpose}> without a geometry")
            continue
        made = _geometry(source, geometry.children[0], pose_of(source, element.first("origin")))
        if made is not None:
            found.append(made)
    return tuple(found)


def _geometry(source: XmlSource, shape: Xml, pose: Floats) -> Geometry | None:
    kind, line = shape.tag, shape.line
    if kind == "box":
        size = tuple(source.numbers(shape, "size", (0.0,) * 3))
        return Geometry(kind, size, pose, line)
    if kind in ("cylinder", "capsule"):
        size = (source.number(shape, "radius"), source.number(shape, "length"))
        return Geometry(kind, size, pose, line)
    if kind == "sphere":
        return Geometry(kind, (source.number(shape, "radius"),), pose, line)
    if kind == "mesh":
        scale = source.numbers(shape, "scale", (1.0,) * 3, counts=(1, 3))
        size = tuple(np.broadcast_to(scale, 3))
        return Geometry(kind, size, pose, line, source.required(shape, "filename"))
    source.note(shape, f"<{kind}> is not a shape of URDF and is left out")
    return None


def _joint(source: XmlSource, element: Xml) -> UrdfJoint:
    name = source.required(element, "name")
    kind = source.choice(element, "type", "", JOINT_TYPES)
    ends = [element.first(tag) for tag in ("parent", "child")]
    for tag, end in zip(("parent", "child"), ends, strict=True):
        if end is None:
            source.fault(element, f"joint {name!r} has no <{tag} link=…/>")
    parent, child = ("" if end is None else source.required(end, "link") for end in ends)
    axis = source.numbers(element.first("axis"), "xyz", (1.0, 0.0, 0.0))
    if kind not in ("fixed", "floating") and not axis.any():
        source.fault(element, f"joint {name!r}: the axis is zero; give a direction")
    lower, upper = _range(source, element, kind)
    limit, dynamics = element.first("limit"), element.first("dynamics")
    return UrdfJoint(
        name,
        kind,
        element.line,
        parent,
        child,
        pose_of(source, element.first("origin")),
        axis,
        lower,
        upper,
        source.number(limit, "effort", math.inf),
        source.number(limit, "velocity", math.inf),
        source.number(dynamics, "damping"),
        source.number(dynamics, "friction"),
        _mimic(source, element),
    )


def _range(source: XmlSource, joint: Xml, kind: str) -> tuple[float, float]:
    """Lower and upper limit; a bound that is left out is zero where the other is given."""
    limit = joint.first("limit")
    free = -math.inf, math.inf
    if kind not in ("revolute", "prismatic"):
        return free
    if limit is None or not {"lower", "upper"} & limit.attributes.keys():
        source.note(joint, f"joint {joint.attributes.get('name')!r} is given without limits")
        return free
    lower, upper = source.number(limit, "lower"), source.number(limit, "upper")
    if lower >= upper:
        source.note(limit, f"lower={lower:g} is not below upper={upper:g}: left without limits")
        return free
    return lower, upper


def _mimic(source: XmlSource, joint: Xml) -> Mimic | None:
    element = joint.first("mimic")
    if element is None:
        return None
    return Mimic(
        source.required(element, "joint"),
        source.number(element, "multiplier", 1.0),
        source.number(element, "offset"),
    )


def _check_mimics(source: XmlSource, joints: Mapping[str, UrdfJoint]) -> None:
    """See that joints that mimic each other in a row stay within the range of numbers."""
    #: By names of joints, how much each moves for the first of its row; None where that is refused.
    factors: dict[str, float | None] = {}
    for first in joints:
        row: list[UrdfJoint] = []
        name = first
        while name in joints and name not in factors:
            factors[name] = 1.0  # a ring, which is no row, ends here
            row.append(joints[name])
            if (mimic := joints[name].mimic) is None:
                break
            name = mimic.joint
        for joint in reversed(row):
            if joint.mimic is None or not joint.mimic.multiplier:  # the latter is held
                continue
            before = factors.get(joint.mimic.joint, 1.0)
            factor = None if before is None else before * joint.mimic.multiplier
            if factor is not None and not 1 / LARGEST <= abs(factor) <= LARGEST:
                source.fault(
                    joint.line,
                    f"joint {joint.name!r} mimics others in a row whose multipliers make "
                    f"{factor:.3g}; the limits are {1 / LARGEST:g} and {LARGEST:g}: use "
                    f"multipliers nearer to 1, or a shorter row",
                )
                factor = None
            factors[joint.name] = factor


def _root(
    source: XmlSource, robot: Xml, links: Mapping[str, UrdfLink], joints: Mapping[str, UrdfJoint]
) -> str:
    """The one link that is no child; every other hangs from it by one joint."""
    if not links:
        source.fault(robot, "the robot has no links")
        return ""
    carried: dict[str, str] = {}
    for joint in joints.values():
        for link in (joint.parent, joint.child):
            if link and link not in links:
                source.fault(
                    joint.line,
                    f"joint {joint.name!r}: there is no link {link!r}{nearest(link, links)}",
                )
        if joint.child in carried:
            source.fault(
                joint.line,
                f"link {joint.child!r} hangs from the joints {carried[joint.child]!r} and "
                f"{joint.name!r}: a URDF is a tree; close loops in the model",
            )
        carried[joint.child] = joint.name
        mimic = joint.mimic
        if mimic is not None and mimic.joint == joint.name:
            source.fault(joint.line, f"joint {joint.name!r} mimics itself; name another joint")
        elif mimic is not None and mimic.joint not in joints:
            source.fault(
                joint.line,
                f"joint {joint.name!r} mimics {mimic.joint!r}{nearest(mimic.joint, joints)}",
            )
    _check_mimics(source, joints)
    roots = [name for name in links if name not in carried]
    if len(roots) > 1:
        listed = ", ".join(repr(name) for name in roots)
        source.fault(
            links[roots[1]].line,
            f"{len(roots)} links hang from no joint ({listed}): a URDF has one root",
        )
    elif not roots:
        source.fault(robot, "every link hangs from another: there is a loop without a root")
    elif not source.faults:
        reached = {joint.child for joint in Urdf("", roots[0], links, joints).in_order()}
        for name in links:
            if name != roots[0] and name not in reached:
                source.fault(links[name].line, f"link {name!r} hangs from itself in a loop")
    return roots[0] if roots else ""
