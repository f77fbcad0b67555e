"""The oracle of any mechanism: its rows, golden motions, reactions and energy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.groups_oracle import closed_forms
from tests.groups_oracle.bodies import (
    KINDS,
    Driver,
    Joint,
    Marker,
    Mechanism,
    State,
    at_rest,
    driver_row,
    frame_along,
    joint_rows,
)
from tests.groups_oracle.dynamics import Mass, energy, forward_dynamics, inverse_dynamics
from tests.groups_oracle.golden import example
from tests.groups_oracle.motion import AssemblyError, point, solved, turned

X, Y, Z = np.eye(3)


def pin(body_a, p, body_b, q, axis=Z):
    """A revolute between points of two bodies whose axes are parallel at the start."""
    f = frame_along(axis)
    return Joint("revolute", Marker(body_a, np.array(p), f), Marker(body_b, np.array(q), f))


# --- rows -----------------------------------------------------------------------------------------


def random_state(rng):
    n = 3
    A = np.stack([np.eye(3), *(turned(rng.normal(size=3)) for _ in range(n - 1))])
    parts = [rng.normal(size=(n, 3)) for _ in range(5)]
    for part in parts:
        part[0] = 0.0
    r, v, w, a, dw = parts
    return State(r, A, v, w, a, dw)


def later(s, t):
    A = np.stack([turned(w * t + dw * t * t / 2) for w, dw in zip(s.w, s.dw, strict=True)]) @ s.A
    return s._replace(r=s.r + s.v * t + s.a * t * t / 2, A=A)


DRIVERS = ("angle", "slide", "distance", "cosine")


@pytest.mark.parametrize("bodies", [(1, 2), (0, 1), (2, 0)])
@pytest.mark.parametrize("kind", [*KINDS, *DRIVERS])
def test_rates_and_quadratic_terms_of_rows_are_their_derivatives(kind, bodies):
    rng = np.random.default_rng(11)
    s = random_state(rng)
    a, b = (Marker(k, rng.normal(size=3), turned(rng.normal(size=3))) for k in bodies)

    def found(state):
        if kind in DRIVERS:
            return [driver_row(Driver(kind, a, b), 0.0, state)]
        return joint_rows(Joint(kind, a, b, 0.7), state)

    def twist(row, linear, angular):
        return sum(J @ np.concatenate([linear[k], angular[k]]) for k, J in row.blocks)

    e = 1e-4
    for before, now, after in zip(found(later(s, -e)), found(s), found(later(s, e)), strict=True):
        assert twist(now, s.v, s.w) == pytest.approx(
            (after.value - before.value) / (2 * e), rel=1e-5, abs=1e-6
        )
        assert twist(now, s.a, s.dw) + now.quadratic == pytest.approx(
            (after.value - 2 * now.value + before.value) / e**2, rel=1e-4, abs=1e-5
        )


# --- golden motions -------------------------------------------------------------------------------


def four_bar(planar):
    """Crank 1 hinged at the origin, coupler 2, rocker 3 hinged at (10, 0); bars along their x."""
    joints = (
        pin(0, (0, 0, 0), 1, (0, 0, 0)),
        pin(1, (2, 0, 0), 2, (0, 0, 0)),
        pin(2, (8, 0, 0), 3, (5, 0, 0)),
        pin(3, (0, 0, 0), 0, (10, 0, 0)),
    )
    drive = Driver("angle", Marker(0, np.zeros(3)), Marker(1, np.zeros(3)))
    mechanism = Mechanism(3, joints, (drive,), planar)
    guess = at_rest(
        [(0, 0, 0), (1, 1.7, 0), (10, 0, 0)],
        [turned(Z * angle) for angle in (1.0, 0.4, 1.9)],
    )
    return mechanism, guess


@pytest.mark.parametrize("planar", [True, False])
def test_the_four_bar_moves_by_the_golden_table(planar):
    mechanism, s = four_bar(planar)
    for row in example("e1_four_bar")["points"].array():
        motion = solved(mechanism, s, [(np.radians(row[0]), 1.0, 1.0)])
        s = motion.state
        assert motion.determined.all()
        assert motion.rank == (9 if planar else 18)
        x, v, a = point(s, 2, np.array([8.0, 0, 0]))
        np.testing.assert_allclose(np.concatenate([x[:2], v[:2], a[:2]]), row[3:], atol=1e-9)
    if not planar:
        assert motion.redundant == 3


def slider():
    """Crank 1 on the inclined axis, rod 2 between balls, slider 3 along x: the spin is passive."""
    axis = np.array([np.cos(np.pi / 6), -np.sin(np.pi / 6), 0])
    # angle zero has the pin along z, and the angle counts about the axis
    f = np.stack([Z, np.cross(axis, Z), axis], axis=1)
    g = np.stack([Y, Z, X], axis=1)
    base = Marker(0, np.zeros(3), f)
    joints = (
        Joint("revolute", base, Marker(1, np.zeros(3), f)),
        Joint("spherical", Marker(1, 2 * Z), Marker(2, np.zeros(3))),
        Joint("spherical", Marker(2, 6 * X), Marker(3, np.zeros(3))),
        Joint("prismatic", Marker(0, np.zeros(3), g), Marker(3, np.zeros(3), g)),
    )
    mechanism = Mechanism(3, joints, (Driver("angle", base, Marker(1, np.zeros(3), f)),))
    rod = turned(Y * np.arcsin(1 / 3))
    return mechanism, at_rest([(0, 0, 0), (0, 0, 2), (5.6, 0, 0)], [np.eye(3), rod, np.eye(3)])


def test_the_spatial_slider_moves_by_the_golden_table_and_its_rod_may_spin():
    mechanism, s = slider()
    for row in example("e4_slider")["computed"].array():
        motion = solved(mechanism, s, [(np.radians(row[0]), 24.0, 0.0)])
        s = motion.state
        assert s.r[3][0] == pytest.approx(row[1], abs=1e-9)
        assert s.v[3][0] == pytest.approx(row[2], abs=1e-9)
        assert s.a[3][0] == pytest.approx(row[3], abs=3e-9)
        assert motion.rank == 17
        assert motion.redundant == 0
        assert motion.determined[[1, 3]].all()
        assert motion.determined[2, :3].all()
        assert not motion.determined[2, 3:].all()


def test_drivers_that_cannot_be_met_are_named():
    mechanism, s = four_bar(True)
    stretched = Mechanism(
        3, (*mechanism.joints, Joint("rod", Marker(0, -90 * X), Marker(3, 5 * X), 3.0)), (), True
    )
    with pytest.raises(AssemblyError, match="stay at"):
        solved(stretched, s, [])


# --- random mechanisms ----------------------------------------------------------------------------


def random_loop(rng, kinds):
    """A loop of bodies that closes where they lie, the first joint driven."""
    n = len(kinds) - 1
    r = rng.normal(size=(n, 3)) * 2
    A = [turned(rng.normal(size=3)) for _ in range(n)]
    s = at_rest(r, A)

    def marker(k, x, axes):
        return Marker(k, s.A[k].T @ (x - s.r[k]), s.A[k].T @ axes)

    joints = []
    for i, kind in enumerate(kinds):
        a, b = i, (i + 1) % (n + 1)
        x, axes = rng.normal(size=3) * 2, turned(rng.normal(size=3))
        other = axes[:, [1, 2, 0]] if kind == "universal" else axes
        joints.append(Joint(kind, marker(a, x, axes), marker(b, x, other)))
    first = joints[0]
    kind = "slide" if first.kind == "prismatic" else "angle"
    return Mechanism(n, tuple(joints), (Driver(kind, first.a, first.b),)), s


@pytest.mark.parametrize(
    "kinds",
    [
        ("revolute", "spherical", "universal", "revolute"),
        ("revolute", "spherical", "cylindrical", "revolute"),
        ("prismatic", "spherical", "universal", "revolute"),
        ("revolute", "universal", "cylindrical", "universal"),
        ("revolute",) * 7,
    ],
    ids="-".join,
)
def test_random_spatial_loops_move_as_their_differences_say(kinds):
    rng = np.random.default_rng(21)
    mechanism, s = random_loop(rng, kinds)
    freedoms = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3}
    assert sum(freedoms[kind] for kind in kinds) == 7
    w, dw, e = 0.3, -0.4, 1e-4

    def at(t, near):
        law = (w * t + dw * t * t / 2, w + dw * t, dw)
        return solved(mechanism, near, [law])

    now = at(0.0, s)
    assert now.rank == 6 * mechanism.bodies
    assert now.redundant == 0
    near = {k: at(k * e, now.state).state for k in (-2, -1, 1, 2)}
    for value, rate in (("r", "v"), ("v", "a"), ("w", "dw")):
        x = {k: getattr(state, value) for k, state in near.items()}
        difference = (8 * (x[1] - x[-1]) - (x[2] - x[-2])) / (12 * e)
        exact = getattr(now.state, rate)
        np.testing.assert_allclose(difference, exact, rtol=1e-6, atol=1e-7 * np.abs(exact).max())


def test_a_screw_carries_its_nut():
    base, nut = Marker(0, np.zeros(3)), Marker(1, np.zeros(3))
    mechanism = Mechanism(1, (Joint("helical", base, nut, 0.02),), (Driver("slide", base, nut),))
    s = at_rest([(0, 0, 0)])
    for turns in np.arange(0.0, 3.0, 0.2):
        s = solved(mechanism, s, [(0.02 * 2 * np.pi * turns, 0.1, 0.0)]).state
        np.testing.assert_allclose(s.A[1], turned(Z * 2 * np.pi * turns), atol=1e-9)
        assert s.w[1][2] == pytest.approx(5.0)


# --- reactions and energy -------------------------------------------------------------------------


def rod_mass(length, mass, rng):
    inertia = np.diag([0.02, mass * length**2 / 12, mass * length**2 / 12])
    turn = turned(0.1 * rng.normal(size=3))
    return Mass(mass, np.array([length / 2, 0.1, 0.05]), turn @ inertia @ turn.T)


def test_a_driven_bar_is_held_by_the_textbook_forces():
    mechanism = Mechanism(
        1,
        (pin(0, (0, 0, 0), 1, (0, 0, 0)),),
        (Driver("angle", Marker(0, np.zeros(3)), Marker(1, np.zeros(3))),),
    )
    m, l, q, w, dw, g = 3.0, 0.4, 0.7, 2.0, -1.5, 9.81
    mass = Mass(m, np.array([l, 0, 0]), np.diag([0.1, 0.2, 0.3]))
    laws = [(q, w, dw)]
    motion = solved(mechanism, at_rest([(0, 0, 0)]), laws)
    forces = inverse_dynamics(mechanism, motion.state, laws, [mass], (0, -g, 0))
    e, n = np.array([np.cos(q), np.sin(q), 0]), np.array([-np.sin(q), np.cos(q), 0])
    held = m * l * (dw * n - w * w * e) + m * g * Y
    np.testing.assert_allclose(forces.reactions[0].force, held, atol=1e-12)
    np.testing.assert_allclose(forces.reactions[0].torque, 0, atol=1e-12)
    assert forces.drivers[0] == pytest.approx((0.3 + m * l * l) * dw + m * g * l * np.cos(q))
    assert forces.reactions[0].determined.all()


@pytest.mark.parametrize("build", [lambda: four_bar(False), slider], ids=["four-bar", "slider"])
def test_the_driver_gives_the_power_that_the_energy_takes(build):
    mechanism, guess = build()
    rng = np.random.default_rng(31)
    masses = [rod_mass(length, mass, rng) for length, mass in ((2, 3.0), (8, 5.0), (5, 4.0))]
    if build is slider:  # a spinning rod takes no moment about its line: keep it slender
        masses[1] = Mass(5.0, np.array([3.0, 0, 0]), np.diag([1e-9, 15.0, 15.0]))
    gravity = (1.0, -9.0, 2.0)

    def at(t, near):
        return solved(mechanism, near, [(1.1 + 2 * t + 1.5 * t * t, 2 + 3 * t, 3.0)]).state

    e = 1e-3
    now = at(0.0, guess)
    forces = inverse_dynamics(mechanism, now, [(1.1, 2.0, 3.0)], masses, gravity)
    E = {k: energy(at(k * e, now), masses, gravity) for k in (-2, -1, 1, 2)}
    power = (8 * (E[1] - E[-1]) - (E[2] - E[-2])) / (12 * e)
    assert np.abs(forces.unbalanced).max() < 1e-6
    assert forces.drivers_determined.all()
    assert forces.drivers[0] * 2.0 == pytest.approx(power, rel=0, abs=1e-6)


def test_redundant_hinges_leave_in_plane_forces_determined():
    rng = np.random.default_rng(32)
    masses = [rod_mass(length, mass, rng) for length, mass in ((2, 3.0), (8, 5.0), (5, 4.0))]
    laws, gravity = [(1.1, 2.0, 3.0)], (0.5, -9.81, 0.0)
    found = []
    for planar in (True, False):
        mechanism, guess = four_bar(planar)
        s = solved(mechanism, guess, laws).state
        found.append(inverse_dynamics(mechanism, s, laws, masses, gravity))
    flat, spatial = found
    assert flat.drivers[0] == pytest.approx(spatial.drivers[0], rel=1e-10)
    for p, q in zip(flat.reactions, spatial.reactions, strict=True):
        np.testing.assert_allclose(p.force[:2], q.force[:2], rtol=1e-9, atol=1e-9)
        assert p.determined[:2].all()
        assert q.determined[:2].all()
        assert not q.determined[2:5].any()


@pytest.mark.parametrize("planar", [True, False])
def test_free_motion_asks_nothing_of_the_driver(planar):
    mechanism, guess = four_bar(planar)
    rng = np.random.default_rng(33)
    masses = [rod_mass(length, mass, rng) for length, mass in ((2, 3.0), (8, 5.0), (5, 4.0))]
    gravity = (0.5, -9.81, 0.0)
    s = solved(mechanism, guess, [(1.1, 2.0, 0.0)]).state
    free = forward_dynamics(mechanism, s, masses, gravity)
    law = [(1.1, 2.0, float(free.dw[1][2]))]
    driven = solved(mechanism, s, law).state
    np.testing.assert_allclose(driven.a, free.a, atol=1e-9)
    np.testing.assert_allclose(driven.dw, free.dw, atol=1e-9)
    forces = inverse_dynamics(mechanism, driven, law, masses, gravity)
    assert forces.drivers[0] == pytest.approx(0.0, abs=1e-9)


# --- a Stewart platform ---------------------------------------------------------------------------


def stewart():
    """Platform 1; legs (2, 3) … (12, 13): universal below, prismatic, spherical above."""
    # two regular hexagons would be singular everywhere: the points stand in pairs
    third, apart = 2 * np.pi / 3, 0.2
    below = [third * k + sign * apart for k in range(3) for sign in (-1, 1)]
    above = [third * k + sign * (np.pi / 3 - apart) for k in range(3) for sign in (-1, 1)]
    low = [np.array([2 * np.cos(a), 2 * np.sin(a), 0]) for a in below]
    high = [np.array([np.cos(a), np.sin(a), 0]) for a in above]
    top = np.array([0.1, -0.2, 2.0])
    joints, drivers, points, turns = [], [], [top], [np.eye(3)]
    for k, (p, q) in enumerate(zip(low, high, strict=True)):
        f = frame_along(top + q - p)
        points += [p, top + q]
        turns += [f, f]
        below, above = 2 + 2 * k, 3 + 2 * k
        # the hinge in the frame is square to the leg's own: the cross of a universal joint
        fixed = Marker(0, p, frame_along(np.cross(f[:, 1], f[:, 2])))
        joints += [
            Joint("universal", fixed, Marker(below, np.zeros(3), frame_along(Y))),
            Joint("prismatic", Marker(below, np.zeros(3)), Marker(above, np.zeros(3))),
            Joint("spherical", Marker(above, np.zeros(3)), Marker(1, q)),
        ]
        drivers.append(Driver("slide", Marker(below, np.zeros(3)), Marker(above, np.zeros(3))))
    return Mechanism(13, tuple(joints), tuple(drivers)), at_rest(points, turns), low, high


def test_a_stewart_platform_stretches_its_legs_to_its_points():
    mechanism, s, low, high = stewart()
    lengths = [
        np.linalg.norm(s.r[1] + q - p) * (1 + 0.01 * k)
        for k, (p, q) in enumerate(zip(low, high, strict=True))
    ]
    laws = [(length, 0.1 * k - 0.2, 0.05 * k) for k, length in enumerate(lengths)]
    motion = solved(mechanism, s, laws)
    assert motion.rank == 78
    assert motion.determined.all()
    for (length, rate, acceleration), p, q in zip(laws, low, high, strict=True):
        x, v, a = point(motion.state, 1, q)
        d = closed_forms.Motion(x - p, v, a)
        n = np.linalg.norm(d.x)
        e = d.x / n
        assert n == pytest.approx(length, rel=1e-12)
        assert e @ d.v == pytest.approx(rate, abs=1e-11)
        assert e @ d.a + (d.v @ d.v - (e @ d.v) ** 2) / n == pytest.approx(acceleration, abs=1e-10)
