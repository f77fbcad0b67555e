"""Trees in Pinocchio, where it is installed: an implementation that shares nothing with biela.

Only gravity and joint forces act here; force elements are compared with the oracle.
"""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import biela as bl
from tests.oracles.free_bodies import Oracle
from tests.soak.comparison import TOLERANCE, Finding
from tests.soak.mechanisms import Case

KNOWN = (
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
)


def installed() -> bool:
    return find_spec("pinocchio") is not None


def bare(case: Case) -> bl.Model | None:
    """The tree without forces and drivers; None if Pinocchio lacks one of its joints."""
    m = case.model
    if not case.tree or m.plane or any(j.kind not in KNOWN for j in m.joints.values()):
        return None
    found = bl.Model(m.name, gravity=m.gravity)
    found.parameters = dict(m.parameters)
    found.bodies, found.joints = m.bodies, dict(m.joints)
    return found


class Twin:
    """A tree built anew in Pinocchio, each joint with its frame at marker j."""

    def __init__(self, model: bl.Model, parameters: dict[str, float]) -> None:
        self.pin = pin = import_module("pinocchio")
        self.model, self.data = model, Oracle(model, parameters)
        self.made = pin.Model()
        self.made.gravity.linear = np.array([self.data.number(x) for x in model.gravity])
        self.carriers = {"ground": (0, pin.SE3.Identity())}
        self._add("ground")

    def _placed(self, marker: Any) -> Any:
        place, axes = self.data._marker(marker)
        return self.pin.SE3(axes, place)

    def _add(self, body: str) -> None:
        pin = self.pin
        for joint in self.model.joints.values():
            if joint.i.body != body or joint.j.body in self.carriers:  # type: ignore[attr-defined]
                continue
            parent, frame = self.carriers[body]
            at = frame * self._placed(joint.i)  # type: ignore[attr-defined]
            back = self._placed(joint.j).inverse()  # type: ignore[attr-defined]
            if joint.kind == "fixed":
                number, frame = parent, at * back
            else:
                number = self.made.addJoint(parent, self._kind(joint), at, joint.name)
                frame = back
            name = joint.j.body  # type: ignore[attr-defined]
            self.carriers[name] = number, frame
            data = self.model.bodies[name].inertia
            xx, yy, zz, xy, xz, yz = (self.data.number(x) for x in data.moments)
            I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            com = np.array([self.data.number(x) for x in data.com])
            inertia = pin.Inertia(self.data.number(data.mass), com, I)
            self.made.appendBodyToJoint(number, inertia, frame)
            self._add(name)

    def _kind(self, joint: Any) -> Any:
        pin = self.pin
        if joint.kind in ("cylindrical", "universal", "planar"):
            whole = pin.JointModelComposite()
            parts = {
                "cylindrical": (pin.JointModelPZ, pin.JointModelRZ),
                "universal": (pin.JointModelRX, pin.JointModelRY),
                "planar": (pin.JointModelPX, pin.JointModelPY, pin.JointModelRZ),
            }[joint.kind]
            for part in parts:
                whole.addJoint(part(), pin.SE3.Identity())
            return whole
        if joint.kind == "helical":
            return pin.JointModelHZ(self.data.number(joint.pitch) / (2 * math.pi))
        return {
            "revolute": pin.JointModelRZ,
            "prismatic": pin.JointModelPZ,
            "spherical": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[joint.kind]()

    def accelerations(
        self, robot: bl.Robot, q: Any, v: Any, tau: Any
    ) -> dict[str, tuple[Any, Any]]:
        """Of the origin of each body and its turning, along the axes of the ground."""
        pin, made = self.pin, self.made
        position, velocity, force = pin.neutral(made), np.zeros(made.nv), np.zeros(made.nv)
        for joint in self.model.joints.values():
            if joint.kind == "fixed":
                continue
            at = made.joints[made.getJointId(joint.name)]
            mine, rates = q[robot.q_index(joint.name)], v[robot.v_index(joint.name)]
            effort = tau[robot.v_index(joint.name)]
            if joint.kind in ("spherical", "free"):
                e = mine[-4:]
                mine = np.concatenate([mine[:-4], e[1:], e[:1]])
            if joint.kind == "free":
                # theirs has the velocity of the point in the turned frame
                R = pin.Quaternion(np.ascontiguousarray(mine[3:])).toRotationMatrix()
                rates = np.concatenate([R.T @ rates[:3], rates[3:]])
                effort = np.concatenate([R.T @ effort[:3], effort[3:]])
            position[at.idx_q : at.idx_q + at.nq] = mine
            velocity[at.idx_v : at.idx_v + at.nv] = rates
            force[at.idx_v : at.idx_v + at.nv] = effort
        data = made.createData()
        a = pin.aba(made, data, position, velocity, force)
        pin.forwardKinematics(made, data, position, velocity, a)
        found = {}
        for name in self.model.bodies:
            number, frame = self.carriers[name]
            R = (data.oMi[number] * frame).rotation
            motion = frame.actInv(data.a[number])
            speed = frame.actInv(data.v[number])
            point = motion.linear + np.cross(speed.angular, speed.linear)
            found[name] = R @ point, R @ motion.angular
        return found


def compared(case: Case, count: int) -> list[Finding]:
    """A tree in Pinocchio against the robot's recursions, from one state to the next."""
    model = bare(case) if installed() else None
    if model is None or any(j.kind in ("gear", "rack_pinion") for j in model.joints.values()):
        return []
    rng = np.random.default_rng([case.seed, 17])
    robot = bl.Robot(model, parameters=case.parameters or None)
    twin = Twin(model, case.parameters)
    findings = []
    for _ in range(count):
        q = robot.integrate(robot.start, rng.normal(size=robot.nv))
        v, tau = rng.normal(size=(2, robot.nv))
        a = robot.forward_dynamics(q, v, tau)
        exact = twin.accelerations(robot, q, v, tau)
        size, error = 1.0, 0.0
        for name, (linear, angular) in exact.items():
            found = robot.frame_acceleration(name, q, v, a)
            size = max(size, float(np.abs(linear).max()), float(np.abs(angular).max()))
            error = max(error, float(np.abs(found - np.concatenate([angular, linear])).max()))
        allowed = TOLERANCE * max(1.0, np.linalg.cond(robot.mass_matrix(q)) / 1e6)
        outcome = "agrees" if error <= allowed * size else "disagrees"
        text = "" if outcome == "agrees" else f"accelerations differ by {error:.3g} of {size:.3g}"
        findings.append(Finding("pinocchio", outcome, error / size, text))
    return findings
