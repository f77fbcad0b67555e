"""Equalities and actuators of an MJCF file."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from biela.model.bodies import Body
from biela.model.files.mjcf_attributes import quaternion_matrix
from biela.model.files.mjcf_bodies import Known, MjcfBodies
from biela.model.files.xml_source import Floats, Xml
from biela.model.markers import Marker
from biela.model.orientation import by_rows
from biela.model.placing import posed
from biela.spelling import nearest

Thing = TypeVar("Thing")


def add_equalities(bodies: MjcfBodies, section: Xml) -> None:
    """Connect and weld as joints that close loops, joint as a pair of gears."""
    for k, given in enumerate(section.children):
        element = bodies.defaults.completed(bodies.source, given, "main", "equality")
        name = bodies.usable(element.attributes.get("name", ""), f"{element.tag}{k + 1}", element)
        if element.attributes.get("active", "true") == "false":
            bodies.source.note(element, f"the {element.tag} {name} is not active and is left out")
        elif element.tag in ("connect", "weld"):
            _close(bodies, element, name)
        elif element.tag == "joint":
            _couple(bodies, element, name)
        else:
            bodies.source.note(element, f"<{element.tag}> of an equality is not read")


def _close(bodies: MjcfBodies, element: Xml, name: str) -> None:
    """One point, or one frame, of two bodies: where the pose of the file has them.

    The joints of the tree of the file carry, as they do in MuJoCo.
    """
    kind = "spherical" if element.tag == "connect" else "fixed"
    source, model = bodies.source, bodies.model
    if "site1" in element.attributes:
        ends = [_site(bodies, element, key) for key in ("site1", "site2")]
        if ends[0] is not None and ends[1] is not None:
            model.joint(kind, name, ends[0], ends[1], closes=True)
        return
    first, second = _body(bodies, element, "body1"), _body(bodies, element, "body2", "world")
    if first is None or second is None:
        return
    T_1, T_2 = bodies.poses[first.name], bodies.poses[second.name]
    if kind == "spherical":
        at = posed([float(x) for x in source.numbers(element, "anchor", (0.0, 0.0, 0.0))])
        other = _marker(second, np.linalg.inv(T_2) @ T_1 @ at)
        model.joint(kind, name, _marker(first, at), other, closes=True)
        return
    between = np.linalg.inv(T_1) @ T_2
    pose = source.numbers(element, "relpose", (0.0,) * 7)
    if np.linalg.norm(pose[3:]):
        between = posed([float(x) for x in pose[:3]], quaternion_matrix(pose[3:]))
    model.joint(kind, name, _marker(first, between), _marker(second, np.eye(4)), closes=True)


def _couple(bodies: MjcfBodies, element: Xml, name: str) -> None:
    """The relation y - y₀ = c₀ + c₁ (x - x₀), as gears."""
    source = bodies.source
    second = _joint(bodies, element, "joint1")
    c = source.numbers(element, "polycoef", (0.0, 1.0, 0.0, 0.0, 0.0), counts=(1, 2, 3, 4, 5))
    if "joint2" not in element.attributes or c[2:].any():
        source.note(element, f"the equality {name} is not a linear relation of two joints")
        return
    first = _joint(bodies, element, "joint2")
    if first is None or second is None or first.coordinate is None or second.coordinate is None:
        source.note(element, f"the equality {name} is not between hinges or slides")
        return
    ratio = float(c[1]) if len(c) > 1 else 1.0
    if not ratio:  # held where it is, whatever the other does
        kind = "rotary" if second.coordinate.endswith(".angle") else "translational"
        held = float(c[0]) + second.ref
        bodies.model.driver(kind, name, coordinate=second.coordinate, law=held)
        return
    bodies.model.joint(
        "gear",
        name,
        first=first.coordinate,
        second=second.coordinate,
        ratio=ratio,
        phase=float(c[0]) + second.ref - ratio * first.ref,
    )


def add_actuators(bodies: MjcfBodies, section: Xml) -> None:
    """Motors on hinges and slides; controllers are left to the user."""
    for k, given in enumerate(section.children):
        element = bodies.defaults.completed(bodies.source, given, "main")
        if element.tag != "motor" or "joint" not in element.attributes:
            bodies.source.note(element, f"an actuator <{element.tag}> is not read")
            continue
        joint = _joint(bodies, element, "joint")
        if joint is None or joint.coordinate is None:
            bodies.source.note(element, "a motor acts on a hinge or a slide here")
            continue
        name = bodies.usable(element.attributes.get("name", ""), f"motor{k + 1}", element)
        gear = float(bodies.source.numbers(element, "gear", (1.0,), counts=range(1, 7))[0])
        # the force of a motor is its control, and the gear comes after both
        limits = [_limit(bodies, element, name, kind) for kind in ("ctrl", "force")]
        limit = min((x for x in limits if x is not None), default=None)
        bodies.model.force("actuator", name, coordinate=joint.coordinate, gear=gear, limit=limit)


def _limit(bodies: MjcfBodies, element: Xml, name: str, kind: str) -> float | None:
    """The size that the control or the force of a motor does not exceed; None if it may."""
    given = element.attributes
    if f"{kind}range" not in given or given.get(f"{kind}limited") == "false":
        return None
    low, high = bodies.source.numbers(element, f"{kind}range", (0.0, 0.0))
    if low != -high or high < 0:
        bodies.source.note(element, f"motor {name}: a range other than ±limit is left out")
        return None
    return float(high)


# -------------------------------------------------------------------------------------- names


def _named(
    bodies: MjcfBodies, element: Xml, key: str, known: dict[str, Thing], otherwise: str = ""
) -> Thing | None:
    name = element.attributes.get(key, otherwise)
    if name not in known:
        bodies.source.fault(
            element,
            f"<{element.tag}> {key}: there is no {key.rstrip('12')} {name!r}{nearest(name, known)}",
        )
        return None
    return known[name]


def _marker(body: Body, pose: Floats) -> Marker:
    x, y, z = (float(v) for v in pose[:3, 3])
    return Marker(body.name, "", (x, y, z), by_rows(pose[:3, :3]))


def _body(bodies: MjcfBodies, element: Xml, key: str, otherwise: str = "") -> Body | None:
    return _named(bodies, element, key, bodies.bodies, otherwise)


def _joint(bodies: MjcfBodies, element: Xml, key: str) -> Known | None:
    return _named(bodies, element, key, bodies.joints)


def _site(bodies: MjcfBodies, element: Xml, key: str) -> Marker | None:
    return _named(bodies, element, key, bodies.sites)
