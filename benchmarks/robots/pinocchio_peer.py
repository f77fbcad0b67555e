"""Pinocchio's dynamics of a robot in C++, ``pinocchio.cpp``, at states of biela.

The model is that of Pinocchio's own reader of URDF, handed over joint by joint.  A free joint has
other velocities there than here: u = Rᵀ p' in the moving axes in place of p', so that

    u' = Rᵀ p'' - ω × u,     force' = Rᵀ force,

and derivatives keep other things constant; `Frames` takes what biela gives to what Pinocchio does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pinocchio_headers import library, pinocchio
from benchmarks.robots.models import Case
from biela.equations.spatial import SpatialTree
from biela.equations.spatial.algebra import skew

SOURCE = Path(__file__).with_name("pinocchio.cpp")
Array = np.ndarray
#: Kinds of joints of ``pinocchio.cpp``; continuous ones turn by an angle, too.
_KINDS = {"RX": 0, "RY": 1, "RZ": 2, "RUBX": 0, "RUBY": 1, "RUBZ": 2, "FreeFlyer": 3}


@dataclass(frozen=True)
class Joint:
    """A joint of Pinocchio's model and the body it carries."""

    name: str
    parent: int  # number of the joint before it; -1 for the ground
    kind: int  # the axis, or 3 for a free joint
    R: Array
    p: Array
    mass: float
    centre: Array
    inertia: Array  # about the centre of mass, 3 x 3


class PinocchioRobot:
    """A robot in Pinocchio; one at a time, since the library holds one model."""

    def __init__(self, case: Case) -> None:
        pin = pinocchio()
        root = [pin.JointModelFreeFlyer()] if case.floating else []
        made = pin.buildModelFromXML(case.text, *root)
        self.joints = joints_of(made)
        numbers = np.ascontiguousarray(
            [
                np.concatenate([j.p, j.R.ravel(), [j.mass], j.centre, j.inertia.ravel()])
                for j in self.joints
            ]
        )
        parents = np.array([j.parent + 1 for j in self.joints], dtype=np.int32)
        kinds = np.array([j.kind for j in self.joints], dtype=np.int32)
        gravity = np.array(made.gravity.linear)
        self._library: Any = library(SOURCE)
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (parents, kinds, numbers, gravity)]
        self._library.create(len(self.joints), *arrays)

    def address(self, name: str) -> int:
        """Of a function of the library."""
        found = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert found is not None
        return found

    def frames(self, tree: SpatialTree) -> Frames:
        """How states of biela are states of Pinocchio."""
        return Frames.of(self.joints, tree)


def joints_of(made: Any) -> list[Joint]:
    """The joints of a model of Pinocchio."""
    return [_joint(made, k) for k in range(1, made.njoints)]


def _joint(made: Any, k: int) -> Joint:
    kind = made.joints[k].shortname().removeprefix("JointModel")
    place, body = made.jointPlacements[k], made.inertias[k]
    return Joint(
        *(made.names[k], made.parents[k] - 1, _KINDS[kind]),
        *(np.array(place.rotation), np.array(place.translation)),
        *(body.mass, np.array(body.lever), np.array(body.inertia)),
    )


@dataclass(frozen=True)
class Frames:
    """The order of coordinates and velocities of Pinocchio, and whether the first joint is free."""

    q_order: Array
    v_order: Array
    floating: bool

    @classmethod
    def of(cls, joints: Sequence[Joint], tree: SpatialTree) -> Frames:
        """Those of a model with these joints."""
        q_order, v_order = [], []
        for joint in joints:
            if joint.kind == 3:
                names = [f"{joint.name}.{x}" for x in "xyz"]
                e = [f"{joint.name}.rotation_e{k}" for k in (1, 2, 3, 0)]
                q_order += [tree.q_names.index(x) for x in (*names, *e)]
                w = [f"{joint.name}.rotation_w{x}" for x in "xyz"]
                v_order += [tree.v_names.index(x) for x in (*(f"{x}_rate" for x in names), *w)]
            else:
                q_order.append(tree.q_names.index(f"{joint.name}.angle"))
                v_order.append(tree.v_names.index(f"{joint.name}.angle_rate"))
        return cls(np.array(q_order), np.array(v_order), joints[0].kind == 3)

    def B(self, q: Array) -> Array:
        """V of biela = B v of Pinocchio, both in Pinocchio's order; q is biela's."""
        B = np.eye(len(self.v_order))
        if self.floating:
            B[:3, :3] = _rotation(q[self.q_order[3:7]])
        return B

    def state(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and accelerations."""
        B, w = self.B(q), v[self.v_order]
        u, rate = B.T @ w, B.T @ a[self.v_order]
        if self.floating:
            rate[:3] -= np.cross(u[3:6], u[:3])
        return q[self.q_order], u, rate

    def forces(self, q: Array, tau: Array) -> Array:
        """Joint forces."""
        return np.asarray(self.B(q).T @ tau[self.v_order])

    def matrix(self, q: Array, M: Array) -> Array:
        """A matrix between velocities and forces, such as M or its inverse."""
        B = self.B(q)
        return np.asarray(B.T @ M[np.ix_(self.v_order, self.v_order)] @ B)

    def derivatives(
        self, q: Array, v: Array, tau: Array, found: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array, Array, Array]:
        """V' and its derivatives by displacements, velocities and forces.

        Pinocchio keeps u and the force in the moving axes constant while these turn by δ:
        p' = R u moves by -R (u×) δ, and likewise the force; u' = Rᵀ p'' - ω × u by (Rᵀ p'')× δ.
        """
        a, by_q, by_v, by_tau = found
        grid = np.ix_(self.v_order, self.v_order)
        by_q, by_v, by_tau = by_q[grid], by_v[grid], by_tau[grid]
        _, u, rate = self.state(q, v, a)
        B = self.B(q)
        inverse = B.T @ by_tau @ B
        if not self.floating:
            return rate, by_q, by_v, inverse
        turned = np.zeros((2, *B.shape))
        for part, x in zip(turned, (u, self.forces(q, tau)), strict=True):
            part[:3, 3:6] = -B[:3, :3] @ skew(x[:3])
        q_columns = B.T @ (by_q @ B + by_v @ turned[0] + by_tau @ turned[1])
        q_columns[:3, 3:6] += skew((B.T @ a[self.v_order])[:3])
        v_columns = B.T @ by_v @ B
        v_columns[:3, :3] -= skew(u[3:6])
        v_columns[:3, 3:6] += skew(u[:3])
        return rate, q_columns, v_columns, inverse


def _rotation(e: Array) -> Array:
    """R of a unit quaternion (x, y, z, w)."""
    x, w = skew(e[:3]), e[3]
    return np.eye(3) + 2 * w * x + 2 * x @ x
