"""Forward kinematics and mass matrix of a URDF with numpy alone, to compare with.

Written apart from the loader: the standard library's element tree, elementary rotations, geometric
Jacobians, and M = Σ m J_cᵀ J_c + J_ωᵀ R I Rᵀ J_ω over the links.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def turn(axis: str, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    k = "xyz".index(axis)
    R = np.eye(3)
    a, b = (k + 1) % 3, (k + 2) % 3
    R[a, a] = R[b, b] = c
    R[a, b], R[b, a] = -s, s
    return R


def origin(element: ElementTree.Element | None) -> np.ndarray:
    T = np.eye(4)
    if element is not None:
        r, p, y = (float(x) for x in element.get("rpy", "0 0 0").split())
        T[:3, :3] = turn("z", y) @ turn("y", p) @ turn("x", r)
        T[:3, 3] = [float(x) for x in element.get("xyz", "0 0 0").split()]
    return T


@dataclass
class Oracle:
    """A robot whose root is at the pose ``base``; q are the values of its joints by name."""

    robot: ElementTree.Element

    @classmethod
    def of(cls, path: Path) -> Oracle:
        return cls(ElementTree.parse(path).getroot())

    @property
    def moving(self) -> list[str]:
        return [
            j.get("name") for j in self.robot.iter("joint") if j.get("type") not in (None, "fixed")
        ]

    def mass(self) -> float:
        return sum(float(m.get("value")) for m in self.robot.iter("mass"))

    def links(self, q: dict[str, float], base: np.ndarray | None = None):
        """The pose of every link, and the Jacobians (6, n) of its frame: speed of it, then ω."""
        joints = [j for j in self.robot.findall("joint")]
        children = {j.find("child").get("link") for j in joints}
        names = self.moving
        root = next(n for l in self.robot.findall("link") if (n := l.get("name")) not in children)
        poses = {root: np.eye(4) if base is None else base}
        ways: dict[str, list[tuple[int, str, np.ndarray, np.ndarray]]] = {root: []}
        waiting = joints
        while waiting:
            left = []
            for joint in waiting:
                parent, child = (joint.find(k).get("link") for k in ("parent", "child"))
                if parent not in poses:
                    left.append(joint)
                    continue
                T = poses[parent] @ origin(joint.find("origin"))
                ways[child] = list(ways[parent])
                kind, name = joint.get("type"), joint.get("name")
                if kind != "fixed":
                    given = joint.find("axis")
                    u = np.array([float(x) for x in given.get("xyz").split()])
                    u /= np.linalg.norm(u)
                    ways[child].append((names.index(name), kind, T[:3, 3].copy(), T[:3, :3] @ u))
                    step = np.eye(4)
                    if kind == "prismatic":
                        step[:3, 3] = u * q[name]
                    else:
                        S = np.cross(u, np.eye(3)).T  # S v = u × v
                        step[:3, :3] += math.sin(q[name]) * S + (1 - math.cos(q[name])) * S @ S
                    T = T @ step
                poses[child] = T
            assert len(left) < len(waiting)
            waiting = left
        return poses, ways

    def mass_matrix(self, q: dict[str, float]) -> np.ndarray:
        poses, ways = self.links(q)
        n = len(self.moving)
        M = np.zeros((n, n))
        for link in self.robot.findall("link"):
            inertial = link.find("inertial")
            if inertial is None:
                continue
            T = poses[link.get("name")] @ origin(inertial.find("origin"))
            m = float(inertial.find("mass").get("value"))
            given = {k: float(v) for k, v in inertial.find("inertia").items()}
            I = np.array([[given["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
            J_c, J_w = np.zeros((3, n)), np.zeros((3, n))
            for k, kind, place, axis in ways[link.get("name")]:
                if kind == "prismatic":
                    J_c[:, k] = axis
                else:
                    J_c[:, k], J_w[:, k] = np.cross(axis, T[:3, 3] - place), axis
            R = T[:3, :3]
            M += m * J_c.T @ J_c + J_w.T @ R @ I @ R.T @ J_w
        return M
