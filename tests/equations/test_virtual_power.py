"""Mass matrix and forces: golden values, and five other ways to the same numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me

import biela as bl
from biela.atoms import diff, gradient
from biela.equations import SymbolicSystem
from biela.equations.energy import gravity_potential, kinetic_energy
from biela.equations.lagrange import (
    applied_forces,
    mass_and_forces_lagrange,
)
from biela.equations.newton_euler import virtual_powers, wrench_sums
from biela.equations.textbook import dynamic_equations, mass_and_forces_textbook, split
from biela.equations.thesis import PLAIN_UP, mass_and_forces_thesis
from biela.space import angular_velocity, velocity, velocity_in
from tests.mechanisms import (
    ALGEBRAS,
    DIFFERENCE,
    FOUR_BAR_INPUTS,
    FOUR_BAR_PARAMETERS,
    FOUR_BAR_STATE,
    ROUNDING,
    ROUTES,
    Tree,
    Values,
    block_pendulum,
    four_bar,
    four_bar_values,
    newton,
    numbers,
    random_tree,
    random_values,
    rate_of,
    symbolic,
    tree_values,
)

#: The published test vector, to the digits it has; M positive, Q = -δ.
FOUR_BAR_M = [
    [9.073119445125, 3.985981239800, 1.313395706325],
    [3.985981239800, 2.298843034474, 0.790421517237],
    [1.313395706325, 0.790421517237, 0.4],
]
FOUR_BAR_Q = [47.368079887892, 10.812750879026, 4.086200652711]
DIGITS = {"rtol": 0, "atol": 1e-11}


def newton_euler(system: SymbolicSystem):
    return split(system, virtual_powers(system, wrench_sums(system)))


#: Every route but that of biela itself.
ORACLES = {
    "lagrange": mass_and_forces_lagrange,
    "textbook": mass_and_forces_textbook,
    "newton-euler": newton_euler,
    "thesis": mass_and_forces_thesis,
}
TREES = [(seed, 1 + seed % 4, bool(seed % 2)) for seed in range(24)]


@cache
def tree_model(seed: int, bodies: int, driven: bool) -> tuple[Tree, SymbolicSystem, Values]:
    tree = random_tree(seed, bodies, driven)
    system = symbolic(tree)
    return tree, system, tree_values(system, seed)


# -------------------------------------------------------------------------- golden values


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_four_bar_has_its_known_mass_and_forces_by_every_route(route):
    s = four_bar()
    values = four_bar_values(s)
    M, Q = s.mass_and_forces(route)
    np.testing.assert_allclose(numbers(M, values), FOUR_BAR_M, **DIGITS)
    np.testing.assert_allclose(numbers(Q, values), FOUR_BAR_Q, **DIGITS)


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_four_bar_has_its_known_mass_and_forces_by_every_oracle(oracle):
    s = four_bar()
    values = four_bar_values(s)
    M, Q = ORACLES[oracle](s)
    np.testing.assert_allclose(numbers(M, values), FOUR_BAR_M, **DIGITS)
    np.testing.assert_allclose(numbers(Q, values), FOUR_BAR_Q, **DIGITS)


def test_the_four_bar_has_its_known_accelerations_and_multipliers():
    system = four_bar().equations().system
    q, v = FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"]
    M, Q, Phi_v, gamma = (
        system.evaluate(name, q, v, p=FOUR_BAR_PARAMETERS, u=FOUR_BAR_INPUTS)
        for name in ("M", "Q", "Phi_v", "gamma")
    )
    A = np.block([[M, Phi_v.T], [Phi_v, np.zeros((2, 2))]])
    x = np.linalg.solve(A, np.concatenate([Q, gamma]))
    np.testing.assert_allclose(x[:3], [10.508477125425, -10.504310715494, -11.472941341928])
    # multipliers change sign with M and Q
    np.testing.assert_allclose(x[3:], [7.636285935509, -9.500533653733])


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_block_pendulum_has_its_known_mass_and_forces(route):
    eq = block_pendulum().equations(route)
    q, v, u = [0.0, 0.4], [0.5, -0.8], [4.0, -0.6]
    p = {"m_b": 3, "m_p": 1.2, "l_p": 0.7, "Iyy_p": 0.65, "k": 20, "theta_0": 0.1, "c_vis": 0.9}
    known_M = [[4.2, 0.773691234962], [0.773691234962, 0.65]]
    np.testing.assert_allclose(eq.mass(q, p=p), known_M, **DIGITS)
    known_Q = [3.759351300825, -8.608962907960]
    np.testing.assert_allclose(eq.forces(q, v, p=p, u=u), known_Q, **DIGITS)


def test_the_block_pendulum_has_the_closed_form_of_the_textbook():
    s = block_pendulum()
    values = random_values(s.workspace, 41)
    x, theta = s.q
    get = {symbol.name: value for symbol, value in values.items()}
    m_b, m_p, l_p, k = get["m_b"], get["m_p"], get["l_p"], get["k"]
    sin, cos = np.sin(values[theta]), np.cos(values[theta])
    M, Q = s.mass_and_forces(ROUTES[0])
    np.testing.assert_allclose(
        numbers(M, values),
        [[m_b + m_p, l_p * m_p * cos], [l_p * m_p * cos, get["Iyy_p"]]],
        **ROUNDING,
    )
    spring = get["M_p"] + k * (values[theta] - get["theta_0"])
    expected = [
        get["F_b"] - get["c_vis"] * values[x.velocity] + l_p * m_p * get["dtheta"] ** 2 * sin,
        -spring - get["g"] * l_p * m_p * sin,
    ]
    np.testing.assert_allclose(numbers(Q, values), expected, **ROUNDING)


# ---------------------------------------------------------------------- random mechanisms


@pytest.mark.parametrize(("seed", "bodies", "driven"), TREES)
def test_random_trees_obey_the_second_law_for_every_particle(seed, bodies, driven):
    tree, s, values = tree_model(seed, bodies, driven)
    M, Q = newton(tree, numbers(s.q, values), numbers(s.v, values), values[s.time])
    for route in ROUTES:
        mass, forces = s.mass_and_forces(route)
        np.testing.assert_allclose(numbers(mass, values), M, **ROUNDING)
        np.testing.assert_allclose(numbers(forces, values), Q, **DIFFERENCE)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize(("seed", "bodies", "driven"), TREES)
def test_random_trees_have_the_equations_of_every_oracle(oracle, seed, bodies, driven):
    _, s, values = tree_model(seed, bodies, driven)
    M, Q = ORACLES[oracle](s)
    mass, forces = s.mass_and_forces(ROUTES[seed % len(ROUTES)])
    np.testing.assert_allclose(numbers(mass, values), numbers(M, values), **ROUNDING)
    np.testing.assert_allclose(numbers(forces, values), numbers(Q, values), **ROUNDING)


@pytest.mark.parametrize("algebra", ALGEBRAS, ids=str)
@pytest.mark.parametrize("oracle", ["lagrange", "textbook", "newton-euler"])
def test_oracles_work_in_every_algebra(oracle, algebra):
    s = four_bar()
    values = four_bar_values(s)
    with s.space.using(algebra):
        M, Q = ORACLES[oracle](s)
    np.testing.assert_allclose(numbers(M, values), FOUR_BAR_M, **DIGITS)
    np.testing.assert_allclose(numbers(Q, values), FOUR_BAR_Q, **DIGITS)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_mass_matrix_is_symmetric_atom_for_atom(route):
    for s in (four_bar(), tree_model(3, 4, True)[1]):
        M, _ = s.mass_and_forces(route)
        n = len(M)
        assert all(M[i][j] == M[j][i] for i in range(n) for j in range(n))


@pytest.mark.parametrize("seed", range(6))
def test_no_motion_has_negative_kinetic_energy(seed):
    _, s, values = tree_model(seed, 1 + seed % 4, bool(seed % 2))
    M = numbers(s.mass_and_forces(ROUTES[0])[0], values)
    assert np.linalg.eigvalsh(M).min() > -1e-12


# ----------------------------------------------------------------------------- principles


def test_kinetic_energy_is_half_the_mass_matrix_in_the_velocities():
    _, s, values = tree_model(6, 3, False)
    v = numbers(s.v, values)
    M = numbers(s.mass_and_forces(ROUTES[0])[0], values)
    assert numbers(kinetic_energy(s), values) == pytest.approx(v @ M @ v / 2)


def test_gravity_is_minus_the_gradient_of_its_potential():
    s = symbolic(replace(random_tree(6, 3), forces=(), springs=()))
    values = tree_values(s, 6)
    slope = gradient(gravity_potential(s), s.q)
    np.testing.assert_allclose(
        numbers(applied_forces(s), values), -numbers(slope, values), **ROUNDING
    )


def test_energy_changes_by_the_power_of_what_is_not_gravity():
    """d(T + V)/dt = Σ f · v + t · ω along any motion that obeys M q'' = Q."""
    tree = random_tree(10, 3, driven=False)
    s = symbolic(tree)
    values = tree_values(s, 10)
    M, Q = (numbers(x, values) for x in s.mass_and_forces(ROUTES[0]))
    for q, a in zip(s.q, np.linalg.lstsq(M, Q, rcond=None)[0], strict=True):
        values[q.acceleration] = a
    energy = kinetic_energy(s) + gravity_potential(s)
    power = 0.0
    for wrench in s.wrenches:
        v = velocity_in(s.space.inertial, wrench.point, wrench.solid)
        omega = angular_velocity(s.base, wrench.solid.base)
        power += float(numbers(wrench.force.dot(v) + wrench.moment.dot(omega), values))
    assert rate_of(energy, values) == pytest.approx(power, rel=1e-7)


def test_the_sums_of_a_free_body_vanish_in_its_motion():
    """Newton and Euler for a body without joints: six coordinates, six equations."""
    s = bl.SymbolicSystem("free body")
    x, y, z, a, b, c = s.coordinates("x y z a b c")
    base = s.base.euler("body", "zxy", [a, b, c])
    P = s.origin.offset("P", s.base.vector(x, y, z))
    body = s.solid(
        "body", at=P, base=base, mass=2.0, com=(0.1, -0.2, 0.3),
        inertia=base.inertia(xx=1.5, yy=1.2, zz=0.9, xy=0.1, xz=-0.05, yz=0.02),
    )  # fmt: skip
    s.gravity = s.base.vector(0, 0, -9.81)
    s.wrench(body, base.vector(1, 2, 3), s.base.vector(0.1, 0.2, 0.3))
    values = random_values(s.workspace, 42)
    M, Q = (numbers(e, values) for e in s.mass_and_forces(ROUTES[0]))
    for q, acceleration in zip(s.q, np.linalg.solve(M, Q), strict=True):
        values[q.acceleration] = acceleration
    ((_, force, moment),) = wrench_sums(s)
    for left_over in (force, moment):
        np.testing.assert_allclose(
            numbers(left_over.components(s.base), values), 0, rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_sums_of_a_body_turned_by_a_quaternion_vanish_in_its_motion(route):
    """Seven coordinates and |e|² = 1; its multiplier does no work, so nothing is left over."""
    s = bl.SymbolicSystem("satellite")
    x, y, z = s.coordinates("x y z")
    e = s.coordinates("e:4")
    base = s.base.by_euler_parameters("body", e)
    P = s.origin.offset("P", s.base.vector(x, y, z))
    inertia = base.inertia(xx=1.5, yy=1.2, zz=0.9, xy=0.1, xz=-0.05, yz=0.02)
    body = s.solid("body", at=P, base=base, mass=2.0, com=(0.1, -0.2, 0.3), inertia=inertia)
    s.gravity = s.base.vector(0, 0, -9.81)
    s.wrench(body, base.vector(1, 2, 3), s.base.vector(0.1, 0.2, 0.3))
    s.constrain((e[0] ** 2 + e[1] ** 2 + e[2] ** 2 + e[3] ** 2 - 1) / 2, name="unit")

    values = random_values(s.workspace, 46)
    place, speed = numbers(e, values), numbers([c.velocity for c in e], values)
    place = place / np.linalg.norm(place)
    speed = speed - place * (place @ speed)
    for c, c0, c1 in zip(e, place, speed, strict=True):
        values |= {c: c0, c.velocity: c1}
    M, Q = (numbers(part, values) for part in s.mass_and_forces(route))
    level = s.constraints()
    Phi_v, gamma = numbers(level.Phi_v, values), numbers(level.gamma, values)
    A = np.block([[M, Phi_v.T], [Phi_v, np.zeros((1, 1))]])
    accelerations = np.linalg.solve(A, np.concatenate([Q, gamma]))[:7]
    for q, acceleration in zip(s.q, accelerations, strict=True):
        values[q.acceleration] = acceleration
    ((_, force, moment),) = wrench_sums(s)
    for left_over in (force, moment):
        np.testing.assert_allclose(
            numbers(left_over.components(s.base), values), 0, rtol=0, atol=1e-9
        )


def test_the_textbook_equations_are_linear_in_the_accelerations():
    """e = Q - M q'' for any accelerations."""
    s = four_bar()
    values = random_values(s.workspace, 43)
    e = numbers(dynamic_equations(s), values)
    M, Q = (numbers(x, values) for x in s.mass_and_forces(ROUTES[0]))
    accelerations = numbers([q.acceleration for q in s.q], values)
    np.testing.assert_allclose(e, Q - M @ accelerations, **ROUNDING)


def test_a_moment_is_a_couple_of_forces():
    forces = []
    for couple in (True, False):
        s = bl.SymbolicSystem("couple")
        a, b = s.coordinates("a b")
        b1 = s.base.rotated("b1", "x", a)
        b2 = b1.rotated("b2", "z", b)
        P = s.origin.offset("P", b1.vector(0.3, 0.2, 0.1))
        body = s.solid("body", at=P, base=b2, mass=1.0, inertia=b2.inertia(1, 2, 3))
        if couple:
            arm = P.offset("E", b2.vector(0.5, 0.25, 0))
            s.wrench(body, b1.vector(1, 2, 3), at=arm)
            s.wrench(body, b1.vector(-1, -2, -3))
        else:
            s.wrench(body, moment=b2.vector(0.5, 0.25, 0).cross(b1.vector(1, 2, 3)))
        values = {a: 0.3, b: 0.7, a.velocity: 0.0, b.velocity: 0.0}
        forces.append(numbers(s.mass_and_forces(ROUTES[0])[1], values))
    np.testing.assert_allclose(*forces, **ROUNDING)


def test_internal_wrenches_do_no_work_in_a_common_motion():
    s = bl.SymbolicSystem("internal")
    x, a, b = s.coordinates("x a b")
    P = s.origin.offset("P", s.base.vector(x, 0, 0))
    b1 = s.base.rotated("b1", "z", a)
    b2 = b1.rotated("b2", "z", b)
    first = s.solid("first", at=P, base=b1, mass=1.0)
    second = s.solid("second", at=P, base=b2, mass=1.0)
    s.wrench(second, b2.vector(1, 2, 0), b2.vector(0, 0, 3), reaction_on=first)
    _, Q = s.mass_and_forces(ROUTES[0])
    values = random_values(s.workspace, 44)
    np.testing.assert_allclose(numbers(Q, values), [0, 0, 3], **ROUNDING)


# ---------------------------------------------------------------------- errata of the thesis


def wrong_forces(s: SymbolicSystem) -> list[bl.Atom]:
    """Q as eqs 4.30–4.38 print it: components differentiated as if their bases stood still."""
    space = s.space
    Q = [s.workspace.atom(0) for _ in s.v]
    for solid in s.solids:
        mr, I = solid.first_moment, solid.inertia
        v = velocity(space.inertial, solid.point)
        w = angular_velocity(s.base, solid.base)
        free = s.gravity - v.map(space.bias_rate)
        bias = w.map(space.bias_rate)
        force = free * solid.mass - bias.cross(mr) - w.cross(w.cross(mr))
        moment = mr.cross(free) - I @ bias - w.cross(I @ w)
        for wrench in s.wrenches:
            if wrench.solid is solid:
                force, moment = force + wrench.force, moment + wrench.moment
        for j, u in enumerate(s.v):
            Q[j] = Q[j] + v.diff(u).dot(force) + w.diff(u).dot(moment)
    return Q


def test_forgetting_that_bases_turn_gives_the_wrong_forces():
    s = four_bar()
    values = four_bar_values(s)
    with s.space.using(PLAIN_UP):
        Q = numbers(wrong_forces(s), values)
    np.testing.assert_allclose(-Q, [-48.091643, -11.690926, -4.114881], rtol=0, atol=5e-7)
    assert np.abs(Q - FOUR_BAR_Q).max() > 0.5


def test_the_mass_matrix_does_not_depend_on_the_first_angle():
    """It would if an angle had been turned forth and back without anybody seeing it."""
    s = four_bar()
    for route in ROUTES:
        M, _ = s.mass_and_forces(route)
        live = s.workspace.table.live(e.ref for row in M for e in row)
        if route.solids.extended and route.carry.extended:
            assert s.q[0].ref not in live
        values = four_bar_values(s)
        slope = [[diff(e, s.q[0]) for e in row] for row in M]
        np.testing.assert_allclose(numbers(slope, values), 0, **ROUNDING)


# ---------------------------------------------------------------------- another package


def test_a_spatial_arm_has_the_equations_of_kane_by_sympy():
    """A column that turns and rises, an arm on it with its centre of mass off the axis."""
    t = me.dynamicsymbols._t
    q, u = sp.Matrix(me.dynamicsymbols("q1:4")), sp.Matrix(me.dynamicsymbols("u1:4"))
    N = me.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q[0], N.z])
    B = A.orientnew("B", "Axis", [q[1], A.x])
    A.set_ang_vel(N, u[0] * N.z)
    B.set_ang_vel(A, u[1] * A.x)
    O, P, G = me.Point("O"), me.Point("P"), me.Point("G")
    O.set_vel(N, 0)
    P.set_pos(O, sp.Rational(1, 2) * A.y + q[2] * A.z)
    P.set_vel(N, u[2] * A.z + A.ang_vel_in(N).cross(sp.Rational(1, 2) * A.y))
    G.set_pos(P, sp.Rational(1, 5) * B.x + sp.Rational(3, 10) * B.y)
    G.v2pt_theory(P, N, B)
    I = me.inertia(B, 0.5, 0.4, 0.3, 0.02, -0.01, 0.03)
    column = me.RigidBody("column", O, A, 2, (me.inertia(A, 0, 0, 0.7), O))
    arm = me.RigidBody("arm", G, B, 3, (I, G))
    kane = me.KanesMethod(N, list(q), list(u), kd_eqs=list(q.diff(t) - u))
    g = sp.Rational(981, 100)
    loads = [(G, -3 * g * N.z), (P, 2 * B.x - q[2] * N.z), (B, 4 * A.x)]
    kane.kanes_equations([column, arm], loads)

    s = bl.SymbolicSystem("arm")
    x = s.coordinates("q:3")
    a = s.base.rotated("A", "z", x[0])
    b = a.rotated("B", "x", x[1])
    p = s.origin.offset("P", a.vector(0, 0.5, x[2]))
    s.solid("column", at=s.origin, base=a, mass=2, inertia=a.inertia(zz=0.7))
    r = np.array([0.2, 0.3, 0.0])
    about_G = np.array(I.to_matrix(B), dtype=float)
    about_P = about_G + 3 * (r @ r * np.eye(3) - np.outer(r, r))
    body = s.solid("arm", at=p, base=b, mass=3, com=r.tolist(), inertia=b.tensor(about_P.tolist()))
    s.gravity = s.base.vector(0, 0, -9.81)
    s.wrench(body, b.vector(2, 0, 0) + s.base.vector(0, 0, -x[2]), a.vector(4, 0, 0))
    values = random_values(s.workspace, 45)
    given = {**dict(zip(u, numbers(s.v, values), strict=True))}
    given |= dict(zip(q, numbers(s.q, values), strict=True))
    M, Q = s.mass_and_forces(ROUTES[0])
    theirs = np.array(kane.mass_matrix.subs(given).evalf(), dtype=float)
    np.testing.assert_allclose(numbers(M, values), theirs, **ROUNDING)
    forcing = np.array(kane.forcing.subs(given).evalf(), dtype=float).ravel()
    np.testing.assert_allclose(numbers(Q, values), forcing, **ROUNDING)
