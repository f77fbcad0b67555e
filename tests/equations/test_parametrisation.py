"""Another choice of velocities against the same motion in the old ones."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.parametrisation import reparametrised
from biela.errors import ShapeError


def pendulum():
    """A double pendulum in relative angles; the new velocities are the absolute rates."""
    s = bl.SymbolicSystem("double")
    q = s.coordinates("q:2")
    base, point = s.base, s.origin
    for i in range(2):
        base = base.rotated(f"b{i}", "y", q[i])
        point = point.offset(f"P{i}", base.vector(0, 0, -1))
        s.solid(f"bob{i}", point, base, 1.0 + i)
    s.gravity = (0, 0, -9.81)
    return s


def test_absolute_rates_describe_the_same_motion():
    s = pendulum()
    eq = s.equations()
    ws = s.workspace
    w = ws.symbols("w1 w2")
    one, zero = ws.atom(1), ws.atom(0)
    B = [[one, zero], [-one, one]]  # q1' = w1, q2' = w2 - w1
    M, Q = reparametrised(s.space, eq.expressions["M"], eq.expressions["Q"], s.v, B, w)
    f = bl.Function("new", {"q": s.q, "w": w}, {"M": M, "Q": Q})
    q, rates = np.array([0.4, -0.7]), np.array([0.9, -0.2])
    numbers = np.array([[1.0, 0.0], [-1.0, 1.0]])
    new_M, new_Q = f(q, rates)
    a_new = np.linalg.solve(new_M, new_Q)
    a_old = np.linalg.solve(eq.mass(q), eq.forces(q, numbers @ rates))
    np.testing.assert_allclose(numbers @ a_new, a_old, rtol=1e-12)
    assert M[0][1] == M[1][0]


def test_velocities_that_depend_on_the_position_bring_the_rate_of_their_matrix():
    s = pendulum()
    eq = s.equations()
    ws = s.workspace
    w = ws.symbols("w1 w2")
    c = bl.cos(s.q[0])
    B = [[2 + c, ws.atom(0)], [bl.sin(s.q[1]), ws.atom(1)]]
    M, Q = reparametrised(s.space, eq.expressions["M"], eq.expressions["Q"], s.v, B, w)
    f = bl.Function("new", {"q": s.q, "w": w}, {"M": M, "Q": Q})

    def matrix(q):
        return np.array([[2 + np.cos(q[0]), 0.0], [np.sin(q[1]), 1.0]])

    q, rates, h = np.array([0.4, -0.7]), np.array([0.9, -0.2]), 1e-6
    v = matrix(q) @ rates
    new_M, new_Q = f(q, rates)
    a_new = np.linalg.solve(new_M, new_Q)
    B_rate = (matrix(q + h * v) - matrix(q - h * v)) / (2 * h)
    a_old = matrix(q) @ a_new + B_rate @ rates
    np.testing.assert_allclose(a_old, np.linalg.solve(eq.mass(q), eq.forces(q, v)), rtol=1e-8)


def test_fewer_velocities_are_the_motions_a_constraint_allows():
    """The second rod held level: q1' + q2' = 0, one velocity left."""
    s = pendulum()
    eq = s.equations()
    (w,) = s.workspace.symbols("w")
    one = s.workspace.atom(1)
    M, Q = reparametrised(
        s.space, eq.expressions["M"], eq.expressions["Q"], s.v, [[one], [-one]], [w]
    )
    f = bl.Function("new", {"q": s.q, "w": [w]}, {"M": M, "Q": Q})
    q, rate = np.array([0.5, -0.5]), np.array([0.3])
    new_M, new_Q = f(q, rate)
    # both bobs then move as the first: (m1 + m2) l² w' = -(m1 + m2) g l sin q1
    assert new_M[0, 0] == pytest.approx(3.0, rel=1e-14)
    assert new_Q[0] == pytest.approx(-3.0 * 9.81 * np.sin(0.5), rel=1e-12)


def test_a_matrix_of_the_wrong_shape_is_refused():
    s = pendulum()
    eq = s.equations()
    w = s.workspace.symbols("w1 w2")
    with pytest.raises(ShapeError, match="2 rows and 2 columns"):
        reparametrised(s.space, eq.expressions["M"], eq.expressions["Q"], s.v, [[w[0], w[1]]], w)
