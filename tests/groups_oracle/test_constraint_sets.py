"""The typed matrices against hyper-dual numbers and finite differences; dead points."""

from __future__ import annotations

import numpy as np
import pytest

from tests.groups_oracle import natural, natural_groups, relative
from tests.groups_oracle.constraint_set import DeadPointError, Motion, joined, solve, still
from tests.groups_oracle.golden import example

COSINES = example("e8_actuator").data["cosines"]

#: constraint set, unknowns, known coordinates
SETS = {
    "four-bar, cosine": (natural.four_bar(2, 8, 5, (0, 0), (10, 0), True), 4, 1),
    "four-bar, sine": (natural.four_bar(2, 8, 5, (0.5, -1), (10, 2), False), 4, 1),
    "chain": (natural.four_bar_chain(3, True), 8, 1),
    **{
        f"spatial slider, {row}": (natural.spatial_slider(2, 6, np.pi / 6, row), 4, 1)
        for row in ("cos", "sin y", "sin x")
    },
    "four-bar loop": (relative.four_bar_loop(2, 8, 5, 10, 0.5), 2, 1),
    "slider loop": (relative.slider_loop(2, 6), 3, 1),
    "3R natural": (natural_groups.dyad_3r(8, 5), 2, 4),
    "2S1P NAT4": (natural_groups.slider_dyad(6, (0.1, 0.2, 0.3), (0.6, 0, 0.8)), 4, 3),
    "2S1P NAT8": (natural_groups.slider_dyad(6, (0.1, 0.2, 0.3), (0, -0.8, 0.6), 1.5), 8, 3),
    "actuator": (natural_groups.linear_actuator(COSINES), 16, 12),
    "actuator, 16 rows": (natural_groups.linear_actuator(COSINES, redundant=False), 16, 12),
    "3R relative": (relative.dyad_3r((8, 0), (5, 0)), 2, 4),
    "3R relative, any frames": (relative.dyad_3r((8, 1), (5, -2)), 2, 4),
    "2S1P relative": (relative.slider_dyad(6), 3, 8),
}


@pytest.mark.parametrize("name", SETS)
def test_typed_matrices_are_the_derivatives_of_the_constraints(name):
    constraints, n, m = SETS[name]
    rng = np.random.default_rng(3)
    for _ in range(3):
        f, h, fv, hv = (rng.normal(size=size) for size in (n, m, n, m))
        J, Jh, T = constraints.differentiated(f, h)
        np.testing.assert_allclose(constraints.dependent(f, h), J, atol=1e-12)
        np.testing.assert_allclose(constraints.independent(f, h), Jh, atol=1e-12)
        c = constraints.convective(f, h, fv, hv)
        v = np.concatenate([fv, hv])
        np.testing.assert_allclose(c, np.einsum("ijk,j,k", T, v, v), rtol=1e-12, atol=1e-12)
        by_tensor = constraints.convective_by_tensor(f, h, fv, hv)
        np.testing.assert_allclose(c, by_tensor, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_typed_matrices_agree_with_finite_differences(name):
    constraints, n, m = SETS[name]
    rng = np.random.default_rng(4)
    f, h, fv, hv = (rng.normal(size=size) for size in (n, m, n, m))
    e = 1e-6

    def along(df, dh):
        ahead = constraints.residual(f + e * df, h + e * dh)
        return (ahead - constraints.residual(f - e * df, h - e * dh)) / (2 * e)

    scale = max(1.0, np.abs(constraints.residual(f, h)).max())
    J = np.stack([along(column, 0) for column in np.eye(n)], axis=1)
    Jh = np.stack([along(0, column) for column in np.eye(m)], axis=1)
    np.testing.assert_allclose(constraints.dependent(f, h), J, rtol=1e-6, atol=1e-8 * scale)
    np.testing.assert_allclose(constraints.independent(f, h), Jh, rtol=1e-6, atol=1e-8 * scale)

    def rate(s):
        at = (f + s * fv, h + s * hv)
        return constraints.dependent(*at) @ fv + constraints.independent(*at) @ hv

    c = (rate(e) - rate(-e)) / (2 * e)
    np.testing.assert_allclose(
        constraints.convective(f, h, fv, hv), c, rtol=1e-6, atol=1e-7 * scale
    )


def test_the_determinants_of_the_groups_are_those_of_their_dead_points():
    rng = np.random.default_rng(5)
    p1, p2 = rng.normal(size=2)
    J = relative.dyad_3r((8, 0), (5, 0)).dependent(np.array([p1, p2]), np.zeros(4))
    assert np.linalg.det(J) == pytest.approx(40 * np.sin(p2 - p1), rel=1e-12)
    f, h = np.array([0.4, 1.1, 2.0]), np.array([*np.zeros(6), 0.3, -0.7])
    d, e = (np.array(relative._direction(*q)) for q in (f[:2], h[6:]))
    J = relative.slider_dyad(6).dependent(f, h)
    assert abs(np.linalg.det(J)) == pytest.approx(36 * np.cos(0.4) * abs(d @ e), rel=1e-12)


def test_the_actuator_has_three_redundant_rows():
    e8 = example("e8_actuator").data
    h = np.concatenate([e8[key] for key in ("P0", "P1", "v6", "v7")])
    guess = natural_groups.actuator_guess(*h.reshape(4, 3))
    square = natural_groups.linear_actuator(COSINES, redundant=False)
    full = natural_groups.linear_actuator(COSINES)
    found = solve(square, guess, still(h), tolerance=1e-13)
    assert np.abs(full.residual(found.x, h)).max() < 1e-12
    J = full.dependent(found.x, h)
    assert J.shape == (19, 16)
    assert np.linalg.matrix_rank(J) == 16
    stored = example("e8_actuator")["vectors"].array().ravel()
    np.testing.assert_allclose(found.x[:15], stored, atol=0.51e-8)
    assert found.x[15] == pytest.approx(e8["s"], abs=0.51e-8)
    assert solve(square, guess, still(h)).updates == e8["iterations"]
    np.testing.assert_allclose(solve(full, guess, still(h)).x, found.x, atol=1e-10)


def test_the_actuator_follows_a_moving_platform():
    e8 = example("e8_actuator").data
    P0, P1, v7 = (np.array(e8[key]) for key in ("P0", "P1", "v7"))
    rng = np.random.default_rng(6)
    A, B, w = rng.normal(size=3) * 0.2, rng.normal(size=3) * 0.1, 2.0
    group = natural_groups.linear_actuator(COSINES)

    def at(t):
        c, s = np.cos(w * t), np.sin(w * t)
        u = Motion(np.array([c, 0, s]), w * np.array([-s, 0, c]), -w * w * np.array([c, 0, s]))
        P = Motion(P1 + A * s + B * c, w * (A * c - B * s), -w * w * (A * s + B * c))
        return joined(still(P0), P, u, still(v7))

    t, e = 0.3, 1e-4
    guess = natural_groups.actuator_guess(*at(t).x.reshape(4, 3))
    now = solve(group, guess, at(t), tolerance=1e-13)
    before, after = (solve(group, now.x, at(t + k), tolerance=1e-13) for k in (-e, e))
    np.testing.assert_allclose(now.v, (after.x - before.x) / (2 * e), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(now.a, (after.v - before.v) / (2 * e), rtol=1e-6, atol=1e-6)
    tensor = solve(group, now.x, at(t), tensor=True)
    np.testing.assert_allclose(tensor.a, now.a, rtol=1e-12, atol=1e-12)


def test_a_moving_rail_carries_its_slider():
    group = relative.slider_dyad(6)

    def at(t):
        """Everything moves as a polynomial of time."""
        p = np.array([0.2, 0.1, 1.5, 0.1, -0.2, 0.3, 0.2, -0.3])
        q, r = np.linspace(-0.6, 0.9, 8), np.linspace(0.5, -0.4, 8)
        return Motion(p + q * t + r * t * t / 2, q + r * t, r)

    t, e = 0.2, 1e-4
    now = solve(group, [0.2, -0.2, 6.0], at(t), tolerance=1e-13)
    before, after = (solve(group, now.x, at(t + k), tolerance=1e-13) for k in (-e, e))
    np.testing.assert_allclose(now.v, (after.x - before.x) / (2 * e), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(now.a, (after.v - before.v) / (2 * e), rtol=1e-6, atol=1e-6)


def test_dead_points_have_a_name():
    with pytest.raises(DeadPointError, match="3R natural"):
        solve(natural_groups.dyad_3r(6, 4), [6.0, 0.0], still([0, 0, 10.0, 0]))
    with pytest.raises(DeadPointError, match="3R relative"):
        solve(relative.dyad_3r((6, 0), (4, 0)), [0.0, 0.0], still([10.0, 0, 0, 0]))
    with pytest.raises(DeadPointError, match="2S1P"):
        # the rod stands square on the rail
        h = still([0.0, 6.0, 0, 0, 0, 0, 0, 0])
        solve(relative.slider_dyad(6), [0.0, -np.pi / 2, 0.0], h)
    with pytest.raises(DeadPointError, match="stays"):
        solve(natural_groups.dyad_3r(1, 1), [2.0, 3.0], still([0, 0, 10.0, 0]))
