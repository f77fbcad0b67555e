"""Surface contact: a ball on a plane, and two profiles by splines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

import biela as bl
from biela.equations.contact import Surface, add_contact, add_friction
from biela.errors import ModelError

#: The mass of the table (kg).
TABLE = 10.0


def ball_on_table(friction: bool = False, loose: bool = False):
    """A ball with spherical surface on the plane z = 0 of a table, which may slide along x."""
    s = bl.SymbolicSystem("ball")
    x, y, z, a, b, c = s.coordinates("x y z a b c")
    m, r = s.parameters(m=2.0, r=0.3)
    (h,) = s.coordinates("h")
    k = s.coordinates("k")[0] if loose else 0
    turned = s.base.euler("ball", "zyx", [a, b, c])
    centre = s.origin.offset("C", s.base.vector(x, y, z))
    inertia = 0.4 * m * r**2
    ball = s.solid("ball", centre, turned, m, inertia=turned.inertia(inertia, inertia, inertia))
    ground = s.solid("table", s.origin.offset("T", s.base.vector(k, 0, h)), s.base, TABLE)
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


def test_what_falls_together_does_not_press():
    s, _ = ball_on_table()
    r = bl.simulate(s, 1e-3, step=1e-3, q=resting(s), v=np.zeros(11))
    # ball and table fall together: no force between them
    np.testing.assert_allclose(r.a[0][[2, 6]], -9.81, rtol=1e-12)
    np.testing.assert_allclose(r.lam[0], 0, atol=1e-9)


def sliding(s, names, speed: float) -> np.ndarray:
    """The ball slides without turning; its contact moves along on the table."""
    v = np.zeros(len(names))
    v[[names.index("x"), names.index("touch_j1")]] = speed
    return v


@pytest.mark.parametrize("formulation", ["multipliers", "index3"])
@pytest.mark.parametrize("loose", [False, True])
def test_friction_slows_a_sliding_ball_until_it_rolls(loose, formulation):
    """A ball set sliding on a table that stands, or that slides itself, by the textbook.

    With the slip s = v - r ω - V of ball and table, v' = -μ g, r ω' = 5/2 μ g and V' = μ g m/M;
    with μ = μ₀/(1 + s) that is s + s²/2 = s₀ + s₀²/2 - (7/2 + m/M) μ₀ g t.
    """
    s, _ = ball_on_table(friction=True, loose=loose)
    s.constrain(s.workspace["h"], name="held")
    names = [c.name for c in s.q]
    r = bl.simulate(
        s, 0.1, step=1e-3, q=resting(s), v=sliding(s, names, 1.0), formulation=formulation
    )
    load, mu, ratio = 2.0 * 9.81, 0.2, 2.0 / TABLE if loose else 0.0
    slip = np.sqrt(1 + 2 * (1.5 - (3.5 + ratio) * mu * 9.81 * r.t)) - 1
    lost = (1 - slip) / (3.5 + ratio)
    assert 0.2 < slip[-1] < 0.7
    np.testing.assert_allclose(r["dx"], 1 - lost, atol=1e-7)
    np.testing.assert_allclose(r.a[:, names.index("x")], -mu / (1 + slip) * 9.81, rtol=1e-6)
    if loose:
        np.testing.assert_allclose(r["dk"], ratio * lost, atol=1e-7)
    # the table carries the weight, whatever the slip
    np.testing.assert_allclose(np.abs(r.lam[:, 2]), load, rtol=1e-9)


def profiles():
    """A wheel on a rail, both by splines; the same by SciPy."""
    knots = [-1, -0.5, 0, 0.5, 1]
    heights = [0.5, 0.12, 0.0, 0.12, 0.5], [-0.3, -0.07, 0.0, -0.07, -0.3]
    s = bl.SymbolicSystem("cam")
    z, y = s.coordinates("z y")
    wheel, rail = (
        s.workspace.spline(name, knots, h) for name, h in zip(("w", "r"), heights, strict=True)
    )
    above = s.solid("above", s.origin.offset("A", s.base.vector(0, y, z)), s.base, 1.0)
    below = s.solid("below", s.origin, s.base, 1.0)
    add_contact(
        s,
        "touch",
        Surface(above, lambda u, v: (v, u, wheel(u))),
        Surface(below, lambda u, v: (v, u, rail(u))),
    )
    return s, [CubicSpline(knots, h, bc_type="not-a-knot") for h in heights]


@pytest.mark.parametrize("aside", [-0.25, 0.0, 0.1, 0.3])
def test_spline_profiles_touch_where_their_normals_agree(aside):
    """The wheel sinks until it meets the rail: its height is the largest need of any place.

    With profiles w and r by SciPy, z = max (r(y + u) - w(u)) at one u, where slopes are the same.
    """
    s, (wheel, rail) = profiles()
    found = bl.assemble(
        s,
        {"z": 0.05, "touch_i1": 0.1, "touch_j1": 0.1 + aside},
        hold={"y": aside, "touch_j2": 0.0},
    ).q
    at = dict(zip([c.name for c in s.q], found, strict=True))
    best = minimize_scalar(
        lambda u: wheel(u) - rail(u + aside),
        bounds=(-0.6, 0.6),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert at["z"] == pytest.approx(-best.fun, abs=1e-12)
    assert at["touch_i1"] == pytest.approx(best.x, abs=1e-6)
    assert at["touch_j1"] == pytest.approx(best.x + aside, abs=1e-6)
    assert wheel(at["touch_i1"], 1) == pytest.approx(rail(at["touch_j1"], 1), abs=1e-10)


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
