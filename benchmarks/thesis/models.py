"""Four mechanisms of the published comparison (Plaza 2015, appendix A), on any algebra.

Every solid is given by the rotation matrix of its base, the position of its reference point, its
angular velocity, and its mass, first moments and inertia about that point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.thesis.algebra import Algebra, Expression

Vector = list[Expression]
Matrix = list[Vector]

UNIT: Matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@dataclass(frozen=True)
class Solid:
    """A rigid body; its actions are those on its reference point, gravity excepted."""

    mass: Expression
    position: Vector  # of the reference point, inertial base
    rotation: Matrix = field(default_factory=lambda: UNIT)  # body base to inertial base
    omega: Vector = field(default_factory=lambda: [0, 0, 0])  # body base
    moments: Vector = field(default_factory=lambda: [0, 0, 0])  # mass times centre, body base
    inertia: Vector = field(default_factory=lambda: [0, 0, 0])  # Ixx, Iyy, Izz, body base
    force: Vector = field(default_factory=lambda: [0, 0, 0])  # body base
    torque: Vector = field(default_factory=lambda: [0, 0, 0])  # body base


@dataclass(frozen=True)
class Model:
    """A mechanism: coordinates with their rates, solids, and equations of its loops."""

    q: Vector
    dq: Vector
    ddq: Vector
    solids: Sequence[Solid]
    gravity: Expression
    geometric: Vector = field(default_factory=list)  # Phi(q)
    non_holonomic: Vector = field(default_factory=list)  # linear in dq


def block_pendulum(algebra: Algebra) -> Model:
    """A.1: a pendulum hangs from a block on a rail; spring, friction, force and moment."""
    q, dq, ddq = coordinates(algebra, "x theta")
    m_b, m_p, l_p, Iyy_p, h = symbols(algebra, "m_b m_p l_p Iyy_p h")
    k, theta_0, c_vis, F_b, M_p, g = symbols(algebra, "k theta_0 c_vis F_b M_p g")
    (x, theta), (dx, dtheta) = q, dq
    block = Solid(m_b, [x, 0, 0], force=[F_b - c_vis * dx, 0, 0])
    pendulum = Solid(
        m_p,
        [x, 0, h],
        rotation_y(algebra, -theta),
        omega=[0, -dtheta, 0],
        moments=[0, 0, -(m_p * l_p)],
        inertia=[0, Iyy_p, 0],
        torque=[0, M_p + k * (theta - theta_0), 0],
    )
    return Model(q, dq, ddq, [block, pendulum], g)


def four_bar(algebra: Algebra) -> Model:
    """A.2: three bars in a chain of relative angles, closed on the ground; no spring."""
    q, dq, ddq = coordinates(algebra, "theta1 theta2 theta3")
    lengths = symbols(algebra, "l1 l2 l3")
    l4, g = symbols(algebra, "l4 g")
    position: Vector = [0, 0, 0]
    rotation, omega = UNIT, 0
    solids = []
    for i, (angle, rate, length) in enumerate(zip(q, dq, lengths, strict=True), start=1):
        rotation = product(rotation, rotation_y(algebra, angle))
        omega = omega + rate
        m, cgx, cgz, Iyy = symbols(algebra, f"m{i} cg{i}x cg{i}z I{i}yy")
        fx, fz, my = symbols(algebra, f"Fx{i} Fz{i} My{i}") if i > 1 else (0, 0, 0)
        solids.append(
            Solid(
                m,
                position,
                rotation,
                omega=[0, omega, 0],
                moments=[m * cgx, 0, m * cgz],
                inertia=[0, Iyy, 0],
                force=[fx, 0, fz],
                torque=[0, my, 0],
            )
        )
        position = plus(position, times(rotation, [length, 0, 0]))
    return Model(q, dq, ddq, solids, g, geometric=[position[0] - l4, position[2]])


def crank_rod_disc(algebra: Algebra) -> Model:
    """A.3: a crank drives a rod, the rod a disc that rolls on an inclined plane.

    y and z are the coordinates of the contact point P, which has no inertia.
    """
    q, dq, ddq = coordinates(algebra, "theta1 theta2 psi y z")
    l1, l2, r, m1, m2, m3, I1, I2, I3 = symbols(algebra, "l1 l2 r m1 m2 m3 I1 I2 I3")
    slope, y_D, z_D, M1, c_vis, g = symbols(algebra, "slope y_D z_D M1 c_vis g")
    (theta1, theta2, psi, y, z), (dtheta1, dtheta2, dpsi, _, _) = q, dq
    crank = Solid(
        m1,
        [0, 0, 0],
        rotation_x(algebra, theta1),
        omega=[dtheta1, 0, 0],
        moments=[0, m1 * l1 * 0.5, 0],
        inertia=[I1, 0, 0],
        torque=[M1 - c_vis * dtheta1, 0, 0],
    )
    A = times(crank.rotation, [0, l1, 0])
    rod = Solid(
        m2,
        A,
        product(crank.rotation, rotation_x(algebra, theta2)),
        omega=[dtheta1 + dtheta2, 0, 0],
        moments=[0, m2 * l2 * 0.5, 0],
        inertia=[I2, 0, 0],
    )
    C = plus(A, times(rod.rotation, [0, l2, 0]))
    disc = Solid(m3, C, rotation_x(algebra, psi), omega=[dpsi, 0, 0], inertia=[I3, 0, 0])
    tangent = [0, algebra.cos(slope), algebra.sin(slope)]
    normal = [0, -tangent[2], tangent[1]]
    radius = [0, y - C[1], z - C[2]]
    circle = dot(radius, radius) - r * r
    plane = dot(normal, [0, y - y_D, z - z_D])
    v_C = algebra.directional(C, dict(zip(q, dq, strict=True)))
    rolling = dot(tangent, plus(v_C, cross(disc.omega, radius)))
    return Model(
        q, dq, ddq, [crank, rod, disc], g, [circle, plane, dot(tangent, radius)], [rolling]
    )


def stewart(algebra: Algebra) -> Model:
    """A.4: a platform on six legs; a leg has two rotations and its length, and two solids.

    The drawings leave the geometry open; here the legs stand in pairs on three points of the
    ground and cross over to three points of the platform.
    """
    platform = "x y z phi1 phi2 phi3"
    legs = [f"alpha{i} beta{i} l{i}" for i in range(1, 7)]
    q, dq, ddq = coordinates(algebra, " ".join([platform, *legs]))
    m_P, I_Px, I_Py, I_Pz, g = symbols(algebra, "m_P I_Px I_Py I_Pz g")
    m_L, cg_L, I_L, J_L, m_U, cg_U, I_U, J_U = symbols(algebra, "m_L cg_L I_L J_L m_U cg_U I_U J_U")
    P = q[:3]
    R, omega = spherical(algebra, q[3:6], dq[3:6])
    solids = [Solid(m_P, P, R, omega, inertia=[I_Px, I_Py, I_Pz])]
    ground = [[*symbols(algebra, f"xA{k} yA{k}"), 0] for k in (1, 2, 3)]
    joints = [plus(P, times(R, [*symbols(algebra, f"xP{k} yP{k}"), 0])) for k in (1, 2, 3)]
    closure: Vector = []
    for leg in range(6):
        alpha, beta, length = q[6 + 3 * leg : 9 + 3 * leg]
        dalpha, dbeta, _ = dq[6 + 3 * leg : 9 + 3 * leg]
        (force,) = symbols(algebra, f"F{leg + 1}")
        R_x, R_y = rotation_x(algebra, alpha), rotation_y(algebra, beta)
        rotation = product(R_x, R_y)
        omega = plus(times(transposed(R_y), [dalpha, 0, 0]), [0, dbeta, 0])
        A = ground[leg // 2]
        C = plus(A, times(rotation, [0, 0, length]))
        lower = Solid(m_L, A, rotation, omega, [0, 0, m_L * cg_L], [I_L, I_L, J_L])
        upper = Solid(
            m_U, C, rotation, omega, [0, 0, -(m_U * cg_U)], [I_U, I_U, J_U], [0, 0, force]
        )
        solids += [lower, upper]
        closure += minus(C, joints[(leg + 1) // 2 % 3])
    return Model(q, dq, ddq, solids, g, closure)


MODELS: dict[str, Callable[[Algebra], Model]] = {
    "block-pendulum": block_pendulum,
    "four-bar": four_bar,
    "crank-rod-disc": crank_rod_disc,
    "stewart": stewart,
}


# ------------------------------------------------------------------------- symbols and vectors


def symbols(algebra: Algebra, names: str) -> Vector:
    return [algebra.symbol(name) for name in names.split()]


def coordinates(algebra: Algebra, names: str) -> tuple[Vector, Vector, Vector]:
    """Coordinates, velocities and accelerations: x, dx, ddx."""
    q, dq, ddq = (
        [algebra.symbol(f"{rate}{name}") for name in names.split()] for rate in ("", "d", "dd")
    )
    return q, dq, ddq


def rotation_x(algebra: Algebra, angle: Expression) -> Matrix:
    s, c = algebra.sin(angle), algebra.cos(angle)
    return [[1, 0, 0], [0, c, -s], [0, s, c]]


def rotation_y(algebra: Algebra, angle: Expression) -> Matrix:
    s, c = algebra.sin(angle), algebra.cos(angle)
    return [[c, 0, s], [0, 1, 0], [-s, 0, c]]


def rotation_z(algebra: Algebra, angle: Expression) -> Matrix:
    s, c = algebra.sin(angle), algebra.cos(angle)
    return [[c, -s, 0], [s, c, 0], [0, 0, 1]]


def spherical(algebra: Algebra, angles: Vector, rates: Vector) -> tuple[Matrix, Vector]:
    """Rotations about x, y and z one after the other, and the angular velocity in the last base."""
    R_y, R_z = rotation_y(algebra, angles[1]), rotation_z(algebra, angles[2])
    R = product(product(rotation_x(algebra, angles[0]), R_y), R_z)
    omega = plus(times(transposed(R_y), [rates[0], 0, 0]), [0, rates[1], 0])
    return R, plus(times(transposed(R_z), omega), [0, 0, rates[2]])


def dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    """The scalar product; entries that are the number 0 are left out."""
    total: Expression = 0
    for x, y in zip(a, b, strict=True):
        if not is_zero(x) and not is_zero(y):
            total = x * y if is_zero(total) else total + x * y
    return total


def is_zero(x: Expression) -> bool:
    return isinstance(x, int) and x == 0


def times(A: Matrix, x: Sequence[Expression]) -> Vector:
    return [dot(row, x) for row in A]


def transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def product(A: Matrix, B: Matrix) -> Matrix:
    return [times(transposed(B), row) for row in A]


def plus(a: Sequence[Expression], b: Sequence[Expression]) -> Vector:
    return [x if is_zero(y) else y if is_zero(x) else x + y for x, y in zip(a, b, strict=True)]


def minus(a: Sequence[Expression], b: Sequence[Expression]) -> Vector:
    return [x if is_zero(y) else x - y for x, y in zip(a, b, strict=True)]


def scaled(factor: Expression, a: Sequence[Expression]) -> Vector:
    return [0 if is_zero(x) else factor * x for x in a]


def cross(a: Sequence[Expression], b: Sequence[Expression]) -> Vector:
    def entry(i: int, j: int) -> Expression:
        return minus([dot([a[i]], [b[j]])], [dot([a[j]], [b[i]])])[0]

    return [entry(1, 2), entry(2, 0), entry(0, 1)]
