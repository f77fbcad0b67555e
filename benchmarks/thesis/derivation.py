"""M, delta, Phi_q and gamma of a mechanism by virtual power, on any algebra.

Signs are the thesis's: M q'' = delta with M the negative of the mass matrix, and
delta = -(applied generalised forces) + (Coriolis and centrifugal terms).
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.thesis.algebra import Algebra, Expression
from benchmarks.thesis.models import (
    Matrix,
    Model,
    Solid,
    Vector,
    cross,
    dot,
    minus,
    plus,
    scaled,
    times,
    transposed,
)


@dataclass(frozen=True)
class Equations:
    """[[M, Phi_q^T], [Phi_q, 0]] [q''; lambda] = [delta; gamma] (Plaza 2015, eq. 2.41)."""

    M: Matrix
    delta: Vector
    Phi_q: Matrix  # of the velocity equations, by the velocities
    gamma: Vector

    @property
    def groups(self) -> dict[str, list[Expression]]:
        """The entries of each, row by row."""
        return {
            "M": [x for row in self.M for x in row],
            "delta": self.delta,
            "Phi_q": [x for row in self.Phi_q for x in row],
            "gamma": self.gamma,
        }


def derive(algebra: Algebra, model: Model) -> Equations:
    n = len(model.q)
    M: Matrix = [[0] * n for _ in range(n)]
    delta: Vector = [0] * n
    for solid in model.solids:
        add_solid(algebra, model, solid, M, delta)
    velocity_equations = [*rate(algebra, model, model.geometric), *model.non_holonomic]
    if not velocity_equations:
        return Equations(M, delta, [], [])
    acceleration_equations = rate(algebra, model, velocity_equations)
    gamma = scaled(-1, algebra.without(acceleration_equations, model.ddq))
    return Equations(M, delta, algebra.jacobian(velocity_equations, model.dq), gamma)


def rate(algebra: Algebra, model: Model, expressions: Vector) -> Vector:
    """The time derivative: by the coordinates times dq, and by the velocities times ddq."""
    if not expressions:
        return []
    rates = dict(zip([*model.q, *model.dq], [*model.dq, *model.ddq], strict=True))
    return algebra.directional(expressions, rates)


def add_solid(algebra: Algebra, model: Model, solid: Solid, M: Matrix, delta: Vector) -> None:
    """Add the virtual power of a solid, B its reference point, mr its first moments:

    M     -= m v_q^T v_q + w_q^T I w_q + v_q^T S + S^T v_q,        S = R (w_q x mr)
    delta += v_q^T [m (a0 - g) + R (w0' x mr + w x (w x mr) - f)]
           + w_q^T [I w0' + w x I w + mr x R^T (a0 - g) - t]

    with a0 and w0' the accelerations for q'' = 0, v in the inertial base and w in the body's.
    """
    m, mr, I, R, w = solid.mass, solid.moments, solid.inertia, solid.rotation, solid.omega
    v = rate(algebra, model, solid.position)
    a0 = algebra.without(rate(algebra, model, v), model.ddq)
    w0 = algebra.without(rate(algebra, model, w), model.ddq)
    v_q = transposed(algebra.jacobian(v, model.dq))
    w_q = transposed(algebra.jacobian(w, model.dq))

    S = [times(R, cross(column, mr)) for column in w_q]
    momentum = [scaled(m, column) for column in v_q]
    spin = [[dot([a], [b]) for a, b in zip(I, column, strict=True)] for column in w_q]
    for i in range(len(model.q)):
        for j in range(i + 1):
            terms = [dot(v_q[i], momentum[j]), dot(w_q[i], spin[j])]
            terms += [dot(v_q[i], S[j]), dot(v_q[j], S[i])]
            entry = [M[i][j]]
            for term in terms:
                entry = minus(entry, [term])
            M[i][j] = M[j][i] = entry[0]

    fall = plus(a0, [0, 0, model.gravity])
    carried = plus(cross(w0, mr), cross(w, cross(w, mr)))
    force = plus(scaled(m, fall), times(R, minus(carried, solid.force)))
    turning = [dot([a], [b]) for a, b in zip(I, w0, strict=True)]
    gyroscopic = cross(w, [dot([a], [b]) for a, b in zip(I, w, strict=True)])
    torque = plus(turning, plus(gyroscopic, cross(mr, times(transposed(R), fall))))
    torque = minus(torque, solid.torque)
    for i in range(len(model.q)):
        delta[i] = plus([delta[i]], plus([dot(v_q[i], force)], [dot(w_q[i], torque)]))[0]
