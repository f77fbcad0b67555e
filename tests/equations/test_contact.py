"""Surface contact: a ball on a plane, and two profiles by splines."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.contact import Surface, add_contact, add_friction
from biela.errors import ModelError


def ball_on_table(friction: bool = False):
    """A ball with spherical surface on the plane z = 0 of a heavy table."""
    s = bl.SymbolicSystem("ball")
    x, y, z, a, b, c = s.coordinates("x y z a b c")
    m, r = s.parameters(m=2.0, r=0.3)
    (h,) = s.coordinates("h")
    turned = s.base.euler("ball", "zyx", [a, b, c])
    centre = s.origin.offset("C", s.base.vector(x, y, z))
    inertia = 0.4 * m * r**2
    ball = s.solid("ball", centre, turned, m, inertia=turned.inertia(inertia, inertia, inertia))
    ground = s.solid("table", s.origin.offset("T", s.base.vector(0, 0, h)), s.base, 100.0)
    s.gravity = (0, 0, -9.81)
    contact = add_contact(
        s,
        "touch",
        Surface(
            ball,
            lambda u, v: (
                r * bl.cos(u) * bl.cos(v), r * bl.sin(u) * bl.cos(v), r * bl.sin(v)
            ),
        ),
        Surface(ground, lambda u, v: (u, v, 0)),
    )  # fmt: skip
    if friction:
        (mu,) = s.parameters(mu=0.2)
        add_friction(s, contact, lambda speed: mu / (1 + speed), 1e-6)
    return s, contact


def resting(s) -> np.ndarray:
    """The ball above (0.4, -0.1), touching at its lowest point.

    Spherical coordinates are singular at the very pole, so the ball is turned by 0.5 about y: its
    lowest point is then (sin 0.5, 0, -cos 0.5) in its base.
    """
    q = dict.fromkeys((q.name for q in s.q), 0.0)
    q |= {"x": 0.4, "y": -0.1, "z": 0.3, "b": 0.5}
    q |= {"touch_i1": 0.0, "touch_i2": -np.arctan2(np.cos(0.5), np.sin(0.5)), "touch_j1": 0.4}
    q["touch_j2"] = -0.1
    return np.array([q[c.name] for c in s.q])


def test_a_contact_adds_four_coordinates_and_five_equations():
    s, contact = ball_on_table()
    assert len(s.q) == 7 + 4
    assert len(contact.constraints) == len(s.constraint_list) == 5
    eq = s.equations()
    M = eq.mass(resting(s))
    assert not M[7:].any() and not M[:, 7:].any()


def test_a_ball_that_touches_fulfils_the_equations():
    s, _ = ball_on_table()
    system = s.equations().system
    q = resting(s)
    np.testing.assert_allclose(system.evaluate("Phi", q), 0, atol=1e-12)
    lifted = q.copy()
    lifted[2] += 0.01
    assert np.abs(system.evaluate("Phi", lifted)).max() > 0.009


def solve(s, q, v, p=None):
    """Accelerations and multipliers, with friction found by a fixed-point iteration."""
    system = s.equations().system
    M, J = system.evaluate("M", q), system.evaluate("Phi_v", q)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    lam = np.zeros(len(J))
    for _ in range(50):
        right = np.concatenate(
            [system.evaluate("Q", q, v, lam=lam), system.evaluate("gamma", q, v)]
        )
        found = np.linalg.solve(K, right)
        lam = found[len(M) :]
    return found[: len(M)], lam


def test_what_falls_together_does_not_press():
    s, _ = ball_on_table()
    a, lam = solve(s, resting(s), np.zeros(11))
    # ball and table fall together: no force between them
    np.testing.assert_allclose(a[[2, 6]], -9.81, rtol=1e-12)
    np.testing.assert_allclose(lam, 0, atol=1e-9)


def test_friction_slows_a_sliding_ball_by_the_coefficient_times_the_load():
    s, _ = ball_on_table(friction=True)
    # the table is held: the ball presses on it with its weight
    s.constrain(s.workspace["h"], name="held")
    q = resting(s)
    v = np.zeros(11)
    names = [c.name for c in s.q]
    v[names.index("x")] = 1.0
    v[names.index("touch_j1")] = 1.0
    a, lam = solve(s, q, v)
    load = 2.0 * 9.81
    assert abs(lam[2]) == pytest.approx(load, rel=1e-9)
    mu = 0.2 / (1 + 1.0)
    assert a[names.index("x")] == pytest.approx(-mu * load / 2.0, rel=1e-6)
    assert "lam" in [x.name for x in s.equations().system["Q"].inputs]


def test_spline_profiles_touch_where_their_normals_agree():
    s = bl.SymbolicSystem("cam")
    z, y = s.coordinates("z y")
    wheel = s.workspace.spline("wheel", [-1, -0.5, 0, 0.5, 1], [0.5, 0.12, 0.0, 0.12, 0.5])
    rail = s.workspace.spline("rail", [-1, -0.5, 0, 0.5, 1], [-0.3, -0.07, 0.0, -0.07, -0.3])
    above = s.solid("above", s.origin.offset("A", s.base.vector(0, y, z)), s.base, 1.0)
    below = s.solid("below", s.origin, s.base, 1.0)
    add_contact(
        s,
        "touch",
        Surface(above, lambda u, v: (v, u, wheel(u))),
        Surface(below, lambda u, v: (v, u, rail(u))),
    )
    system = s.equations().system
    # by symmetry the profiles touch in their middles; moved aside they still have common normals
    np.testing.assert_allclose(system.evaluate("Phi", np.zeros(6)), 0, atol=1e-15)
    q = np.array([0.0, 0.2, 0, 0, 0, 0])
    q[1] = 0.2
    for _ in range(50):
        step = np.linalg.lstsq(system.evaluate("Phi_q", q), -system.evaluate("Phi", q), rcond=None)
        q = q + step[0]
    np.testing.assert_allclose(system.evaluate("Phi", q), 0, atol=1e-12)


def test_surfaces_of_one_solid_cannot_touch():
    s = bl.SymbolicSystem("one")
    (x,) = s.coordinates("x")
    body = s.solid("body", s.origin.offset("P", s.base.vector(x, 0, 0)), s.base, 1.0)
    plane = Surface(body, lambda u, v: (u, v, 0))
    with pytest.raises(ModelError, match="body"):
        add_contact(s, "self", plane, plane)
    other = s.solid("other", s.origin, s.base, 1.0)
    with pytest.raises(ModelError, match="2 components"):
        add_contact(s, "flat", plane, Surface(other, lambda u, v: (u, v)))
