"""The inverse dynamics of a robot on CasADi's scalar expressions (SX).

The textbook recursion in the axes of each link (Luh, Walker & Paul 1980), as in
`examples.newton_euler`, for trees on a base that is fixed or free; joints, bodies and states are
those of Pinocchio's model.  Zeros are dropped by CasADi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import casadi
from benchmarks.robots.pinocchio_peer import Joint
from examples.newton_euler import clean, cross, plus, times, transposed_times

Vector = list[Any]


def inverse_dynamics(name: str, joints: Sequence[Joint], gravity: float = 9.81) -> Any:
    """τ(q, v, a) with the numbers of the bodies in the code."""
    ca = casadi()
    bodies = [(j.mass, *j.centre, *_moments(j.inertia)) for j in joints]
    q, v, a = _symbols(joints)
    tau = _recursion(joints, bodies, *(ca.vertsplit(x) for x in (q, v, a)), gravity)
    return ca.Function(name, [q, v, a], [ca.vertcat(*tau)])


def with_symbolic_bodies(name: str, joints: Sequence[Joint], gravity: float = 9.81) -> Any:
    """τ(q, v, a, p), with mass, centre and central inertia of each body in p."""
    ca = casadi()
    p = ca.SX.sym("p", 10 * len(joints))
    entries = ca.vertsplit(p)
    bodies = [entries[10 * k : 10 * k + 10] for k in range(len(joints))]
    q, v, a = _symbols(joints)
    tau = _recursion(joints, bodies, *(ca.vertsplit(x) for x in (q, v, a)), gravity)
    return ca.Function(name, [q, v, a, p], [ca.vertcat(*tau)])


def body_numbers(joints: Sequence[Joint]) -> np.ndarray:
    """Values of p."""
    return np.concatenate([[j.mass, *j.centre, *_moments(j.inertia)] for j in joints])


def _moments(I: np.ndarray) -> list[float]:
    return [float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _symbols(joints: Sequence[Joint]) -> tuple[Any, Any, Any]:
    ca = casadi()
    free = sum(j.kind == 3 for j in joints)
    nv = len(joints) + 5 * free
    return ca.SX.sym("q", nv + free), ca.SX.sym("v", nv), ca.SX.sym("a", nv)


def _recursion(
    joints: Sequence[Joint],
    bodies: Sequence[Sequence[Any]],
    q: Vector,
    v: Vector,
    a: Vector,
    gravity: float,
) -> Vector:
    ca = casadi()
    motions: list[tuple[Vector, Vector, Vector]] = []
    forces: list[tuple[Vector, Vector]] = []
    places: list[tuple[list[Vector], Vector]] = []
    first_q = first_v = 0
    numbers = []
    for joint, (m, cx, cy, cz, *moments) in zip(joints, bodies, strict=True):
        numbers.append(first_v)
        still = ([0, 0, 0], [0, 0, 0], [0, 0, gravity])
        omega, alpha, acc = still if joint.parent < 0 else motions[joint.parent]
        place = [[clean(float(x)) for x in row] for row in joint.R]
        p = [float(x) for x in joint.p]
        if joint.kind == 3:
            assert joint.parent < 0  # the ground is at rest
            R = _rotation(*q[first_q + 3 : first_q + 7])
            u, omega = v[first_v : first_v + 3], v[first_v + 3 : first_v + 6]
            alpha = a[first_v + 3 : first_v + 6]
            acc = plus(transposed_times(R, acc), plus(a[first_v : first_v + 3], cross(omega, u)))
            first_q, first_v = first_q + 7, first_v + 6
        else:
            R = _product(place, _turn(joint.kind, ca.sin(q[first_q]), ca.cos(q[first_q])))
            vi, ai = v[first_v], a[first_v]
            reach = plus(cross(alpha, p), cross(omega, cross(omega, p)))
            acc = transposed_times(R, plus(acc, reach))
            axis = [int(k == joint.kind) for k in range(3)]
            carried = transposed_times(R, omega)
            own = [x * vi for x in axis]
            alpha = plus(transposed_times(R, alpha), plus(cross(carried, own), _scaled(axis, ai)))
            omega = plus(carried, own)
            first_q, first_v = first_q + 1, first_v + 1
        c = [cx, cy, cz]
        motions.append((omega, alpha, acc))
        places.append((R, p))
        centre_acc = plus(acc, plus(cross(alpha, c), cross(omega, cross(omega, c))))
        f = _scaled(centre_acc, m)
        xx, yy, zz, xy, xz, yz = moments
        I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        n = plus(times(I, alpha), cross(omega, times(I, omega)))
        forces.append((plus(n, cross(c, f)), f))
    tau: Vector = [0] * first_v
    for k in range(len(joints) - 1, -1, -1):
        joint, (n, f) = joints[k], forces[k]
        if joint.kind == 3:
            tau[numbers[k] : numbers[k] + 6] = [*f, *n]
            continue
        tau[numbers[k]] = n[joint.kind]
        if joint.parent >= 0:
            R, p = places[k]
            f = times(R, f)
            n = plus(times(R, n), cross(p, f))
            before = forces[joint.parent]
            forces[joint.parent] = (plus(before[0], n), plus(before[1], f))
    return tau


def _scaled(x: Sequence[Any], factor: Any) -> Vector:
    return [y * factor for y in x]


def _turn(axis: int, s: Any, c: Any) -> list[Vector]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R: list[Vector] = [[int(k == m) for m in range(3)] for k in range(3)]
    R[i][i], R[i][j], R[j][i], R[j][j] = c, -s, s, c
    return R


def _product(A: list[Vector], B: list[Vector]) -> list[Vector]:
    columns = list(zip(*B, strict=True))
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in A]


def _rotation(x: Any, y: Any, z: Any, w: Any) -> list[Vector]:
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
