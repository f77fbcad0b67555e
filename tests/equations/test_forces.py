"""Force elements against closed forms: forces are slopes of an energy, and leave no couple."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import DomainError, ModelError
from tests.mechanisms import DIFFERENCE, ROUNDING, numbers, random_values, turn

K, C, REST = (300.0, 200.0, 100.0), (3.0, 2.0, 1.0), (0.01, -0.02, 0.03)


def test_a_bushing_to_the_ground_is_three_springs_and_dampers():
    s = bl.SymbolicSystem("mount")
    x = s.coordinates("x y z")
    at = s.origin.offset("P", s.base.vector(*x))
    block = s.solid("block", at=at, base=s.base, mass=2.0)
    s.bushing("mount", (None, s.origin), (block, at), stiffness=K, damping=C, rest=REST)
    eq = s.equations()
    q, v = np.array([0.1, 0.2, -0.3]), np.array([1.0, -2.0, 3.0])
    expected = -np.array(K) * (q - REST) - np.array(C) * v
    np.testing.assert_allclose(eq.forces(q, v), expected, rtol=1e-13)
    (energy,) = s.potentials
    values = dict(zip(x, q, strict=True))
    assert numbers(energy, values) == pytest.approx(np.array(K) @ (q - REST) ** 2 / 2, rel=1e-13)


def two_bodies(where: str, damping=(0, 0, 0)) -> tuple[bl.SymbolicSystem, list]:
    """Two free bodies with a bushing between a point of each; it is along a base of one."""
    s = bl.SymbolicSystem("pair")
    q = s.coordinates("x1 y1 z1 a1 b1 c1 x2 y2 z2 a2 b2 c2")
    ends, bases = [], []
    for i, start in enumerate((0, 6)):
        base = s.base.euler(f"b{i}", "zxy", q[start + 3 : start + 6])
        at = s.origin.offset(f"G{i}", s.base.vector(*q[start : start + 3]))
        solid = s.solid(f"solid{i}", at, base, 1.0 + i, inertia=base.inertia(0.3, 0.4, 0.5))
        ends.append((solid, at.offset(f"P{i}", base.vector(0.3, -0.2 * i, 0.1))))
        bases.append(base)
    along = {"first": bases[0], "second": bases[1], "oblique": bases[1].rotated("o", "x", 0.7)}
    s.bushing("bush", *ends, stiffness=K, damping=damping, rest=REST, base=along[where])
    return s, ends


def gap(where: str, q: np.ndarray) -> np.ndarray:
    """From the first point to the second in the base of the bushing, by matrices of numbers."""
    turns, points = [], []
    for i, start in enumerate((0, 6)):
        a, b, c = q[start + 3 : start + 6]
        R = turn([0, 0, 1], a) @ turn([1, 0, 0], b) @ turn([0, 1, 0], c)
        turns.append(R)
        points.append(q[start : start + 3] + R @ np.array([0.3, -0.2 * i, 0.1]))
    R = {"first": turns[0], "second": turns[1], "oblique": turns[1] @ turn([1, 0, 0], 0.7)}[where]
    return R.T @ (points[1] - points[0])


@pytest.mark.parametrize("where", ("first", "second", "oblique"))
def test_the_forces_of_a_bushing_are_slopes_of_its_energy(where):
    s, _ = two_bodies(where)
    eq = s.equations()
    q = np.random.default_rng(41).normal(scale=0.4, size=12)

    def energy(at: np.ndarray) -> float:
        return float(np.array(K) @ (gap(where, at) - REST) ** 2 / 2)

    (potential,) = s.potentials
    values = dict(zip(s.q, q, strict=True))
    assert numbers(potential, values) == pytest.approx(energy(q), rel=1e-12)
    h = 1e-6
    slopes = [(energy(q + h * e) - energy(q - h * e)) / (2 * h) for e in np.eye(12)]
    Q = eq.forces(q, np.zeros(12))
    np.testing.assert_allclose(Q, -np.array(slopes), atol=1e-7 * np.abs(Q).max(), rtol=1e-7)


@pytest.mark.parametrize("where", ("first", "second", "oblique"))
def test_the_dampers_of_a_bushing_take_power(where):
    with_dampers, without = two_bodies(where, damping=C)[0], two_bodies(where)[0]
    rng = np.random.default_rng(42)
    q, v = rng.normal(scale=0.4, size=12), rng.normal(size=12)
    power = v @ (with_dampers.equations().forces(q, v) - without.equations().forces(q, v))
    h = 1e-6
    rate = (gap(where, q + h * v) - gap(where, q - h * v)) / (2 * h)
    np.testing.assert_allclose(power, -np.array(C) @ rate**2, **DIFFERENCE)


@pytest.mark.parametrize("where", ("first", "second", "oblique"))
def test_a_bushing_is_action_and_reaction(where):
    s, _ = two_bodies(where, damping=C)
    values = random_values(s.workspace, 43)
    force, moment = np.zeros(3), np.zeros(3)
    for wrench in s.wrenches:
        f = numbers(wrench.force.components(s.base), values)
        r = numbers(s.position(s.origin, wrench.point).components(s.base), values)
        force, moment = force + f, moment + np.cross(r, f)
    assert np.abs(f).max() > 1
    np.testing.assert_allclose([force, moment], np.zeros((2, 3)), **ROUNDING)


def test_a_bushing_along_a_base_that_turns_against_both_bodies_is_refused():
    s, ends = two_bodies("first")
    with pytest.raises(ModelError, match="bushing b: base xyz must be fixed in one of its two"):
        s.bushing("b", *ends, stiffness=K, base=s.base)
    with pytest.raises(DomainError, match="three components"):
        s.bushing("b", *ends, stiffness=(1.0, 2.0))


# ------------------------------------------------------------------ inertia about the centre


def test_an_inertia_about_the_centre_of_mass_makes_a_compound_pendulum():
    s = bl.SymbolicSystem("compound")
    (theta,) = s.coordinates("theta")
    m, c, Ic, g = s.parameters(m=2.0, c=0.4, Ic=0.1, g=9.81)
    arm = s.base.rotated("arm", "y", theta)
    s.solid(
        "arm", at=s.origin, base=arm, mass=m, com=(0, 0, -c), central_inertia=arm.inertia(yy=Ic)
    )
    s.gravity = (0, 0, -g)
    eq = s.equations()
    np.testing.assert_allclose(eq.mass([0.3]), [[0.1 + 2.0 * 0.4**2]], rtol=1e-14)
    expected = [-2.0 * 9.81 * 0.4 * np.sin(0.3)]
    np.testing.assert_allclose(eq.forces([0.3], [1.0]), expected, rtol=1e-14)


@pytest.mark.parametrize("given", ("com", "first_moment"))
def test_the_inertia_about_the_point_is_that_of_steiner(given):
    s = bl.SymbolicSystem("steiner")
    base = s.base.rotated("b", "x", s.coordinates("a")[0])
    m, r = 3.0, np.array([0.2, -0.5, 0.7])
    central = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    where = {given: tuple(r if given == "com" else m * r)}
    solid = s.solid("a", s.origin, base, m, central_inertia=base.tensor(central.tolist()), **where)
    found = numbers(solid.inertia.components(base), {})
    expected = central + m * (r @ r * np.eye(3) - np.outer(r, r))
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_two_inertias_of_one_solid_are_refused():
    s = bl.SymbolicSystem("twice")
    I = s.base.inertia(1, 1, 1)
    with pytest.raises(ModelError, match="solid a has an inertia about its point and one about"):
        s.solid("a", s.origin, s.base, 1.0, inertia=I, central_inertia=I)


# ------------------------------------------------------------------------- springs of no length


def tied(length, **more) -> tuple[bl.SymbolicSystem, tuple]:
    """A mass on a spring from the origin, free in space."""
    s = bl.SymbolicSystem("tied")
    x = s.coordinates("x y z")
    at = s.origin.offset("P", s.base.vector(*x))
    bob = s.solid("bob", at=at, base=s.base, mass=2.0)
    s.spring("tie", (None, s.origin), (bob, at), stiffness=30.0, length=length, **more)
    return s, x


def test_a_spring_of_no_length_is_regular_where_its_points_meet():
    s, _ = tied(0)
    eq = s.equations()
    q = np.array([0.3, -0.4, 1.2])
    np.testing.assert_allclose(eq.forces(q, np.ones(3)), -30.0 * q, rtol=1e-14)
    np.testing.assert_array_equal(eq.forces(np.zeros(3), np.ones(3)), np.zeros(3))
    K, _ = eq.system.evaluate("tangents", np.zeros(3))
    np.testing.assert_allclose(K, 30.0 * np.eye(3), rtol=1e-14)
    _, potential = eq.system.evaluate("energy", q)
    assert potential == pytest.approx(15.0 * 1.69, rel=1e-14)


def test_a_spring_of_no_length_is_the_limit_of_short_ones():
    q = np.array([0.3, -0.4, 1.2])
    none, short = (tied(length)[0].equations().forces(q, np.zeros(3)) for length in (0, 1e-9))
    np.testing.assert_allclose(short, none + 30.0 * 1e-9 * q / 1.3, rtol=1e-14)


def test_a_damper_of_no_length_stays_in_its_line():
    s, _ = tied(0, damping=3.0, force=2.0)
    q, v = np.array([0.3, -0.4, 1.2]), np.array([1.0, 2.0, -0.5])
    along = q / np.linalg.norm(q)
    expected = -30.0 * q - 3.0 * (along @ v) * along + 2.0 * along
    np.testing.assert_allclose(s.equations().forces(q, v), expected, rtol=1e-13)


# --------------------------------------------------------------------------- what is refused


def test_the_ends_of_a_spring_are_pairs_of_a_solid_and_a_point():
    s, _ = tied(0)
    P, bob = s.space.points["P"], s.solids[0]
    for wrong in (P, (P, bob), (bob,), None, "P"):
        with pytest.raises(ModelError, match=r"an end of k is a pair \(solid, point\)"):
            s.spring("k", (None, s.origin), wrong, stiffness=1.0)
        with pytest.raises(ModelError, match=r"an end of k is a pair \(solid, point\)"):
            s.bushing("k", wrong, (bob, P), stiffness=K)
    other = bl.SymbolicSystem("other")
    with pytest.raises(ModelError, match="point O of k belongs to another system, other"):
        s.spring("k", (None, other.origin), (bob, P), stiffness=1.0)
    assert len(s.wrenches) == 1


def test_a_bushing_has_three_values_along_the_axes_of_a_base():
    s, _ = tied(0)
    ends = (None, s.origin), (s.solids[0], s.space.points["P"])
    with pytest.raises(DomainError, match=r"stiffness of bushing b is three values.*not 3\.0"):
        s.bushing("b", *ends, stiffness=3.0)
    with pytest.raises(DomainError, match=r"damping of bushing b is three values.*not 0\.1"):
        s.bushing("b", *ends, stiffness=K, damping=0.1)
    with pytest.raises(ModelError, match=r"bushing b: base is that of its frame.*not 'xyz'"):
        s.bushing("b", *ends, stiffness=K, base="xyz")


@pytest.mark.parametrize("value", (float("nan"), float("inf")))
def test_a_stiffness_that_is_no_finite_number_is_refused(value):
    s, _ = tied(0)
    ends = (None, s.origin), (s.solids[0], s.space.points["P"])
    with pytest.raises(DomainError, match=str(value)):
        s.spring("k", *ends, stiffness=value)
    with pytest.raises(DomainError, match=str(value)):
        s.bushing("b", *ends, stiffness=(1.0, value, 1.0))
