"""Base inertial parameters: by rank against by transfer, and both against the mechanics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.equations import Through, regrouped
from biela.equations.base_parameters import admissible_states, base_parameters, free_states
from biela.equations.pseudo_inertia import carried
from biela.equations.regressor import PARAMETERS, regressor
from biela.errors import AssemblyError, ModelError
from tests.mechanisms import block_pendulum, four_bar, random_tree, rolling_disc, symbolic

NAMES = ("m", "cx", "cy", "cz", "xx", "yy", "zz", "xy", "xz", "yz")
QUARTER_TURNS = {
    0: None,
    1: [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    -1: [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
}


def general_solid(s: bl.SymbolicSystem, name: str, at: Any, base: Any, seed: int) -> Any:
    """A solid with ten parameters of its own: mass near one, a cloud of points about its centre."""
    rng = np.random.default_rng(seed)
    m, r = float(rng.uniform(0.5, 1.5)), rng.uniform(-0.4, 0.4, (6, 3))
    second = m / 6 * r.T @ r
    I = np.trace(second) * np.eye(3) - second
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    values = [m, *r.mean(axis=0), *(float(I[pair]) for pair in pairs)]
    symbols = s.parameters(**{f"{n}_{name}": v for n, v in zip(NAMES, values, strict=True)})
    return s.solid(name, at, base, symbols[0], symbols[1:4], base.inertia(*symbols[4:]))


def puma(axes: int) -> bl.SymbolicSystem:
    """The first axes of a PUMA 560: Denavit-Hartenberg after Craig, first axis vertical."""
    s = bl.SymbolicSystem("puma")
    a2, a3, d3, d4, g = s.parameters(a2=0.4318, a3=0.0203, d3=0.15, d4=0.4331, g=9.81)
    turns = (0, -1, 0, -1, 1, -1)
    offsets = ((0, 0, 0), (0, 0, 0), (a2, 0, d3), (a3, d4, 0), (0, 0, 0), (0, 0, 0))
    base, point = s.base, s.origin
    for i, q in enumerate(s.coordinates(f"q:{axes}")):
        if i in (2, 3):
            point = point.offset(f"P{i + 1}", base.vector(*offsets[i]))
        turn = QUARTER_TURNS[turns[i]]
        if turn is not None:
            base = base.by_matrix(f"a{i + 1}", turn)
        base = base.rotated(f"b{i + 1}", "z", q)
        general_solid(s, f"link{i + 1}", point, base, i)
    s.gravity = (0, 0, -g)
    return s


def scara() -> bl.SymbolicSystem:
    """Two vertical axes, a quill that slides vertically and a tool that turns in it."""
    s = bl.SymbolicSystem("scara")
    q1, q2, d, q4 = s.coordinates("q1 q2 d q4")
    a, b, g = s.parameters(a=0.4, b=0.3, g=9.81)
    b1 = s.base.rotated("b1", "z", q1)
    b2 = b1.rotated("b2", "z", q2)
    b4 = b2.rotated("b4", "z", q4)
    elbow = s.origin.offset("E", b1.vector(a, 0, 0))
    quill = elbow.offset("W", b2.vector(b, 0, 0)).offset("D", b2.vector(0, 0, -d))
    places = (("one", s.origin, b1), ("two", elbow, b2), ("quill", quill, b2), ("tool", quill, b4))
    for seed, (name, point, base) in enumerate(places):
        general_solid(s, name, point, base, seed)
    s.gravity = (0, 0, -g)
    return s


def slider_crank() -> bl.SymbolicSystem:
    """The rod is placed from the crank, and closed to a slider that knows its own coordinate."""
    s = bl.SymbolicSystem("slider_crank")
    q1, q2, x = s.coordinates("q1 q2 x")
    r, length, g = s.parameters(r=0.5, l=1.4, g=9.81)
    b1, b2 = s.base.rotated("b1", "z", q1), s.base.rotated("b2", "z", q2)
    pin = s.origin.offset("A", b1.vector(r, 0, 0))
    end = pin.offset("B", b2.vector(length, 0, 0))
    slider = s.origin.offset("S", s.base.vector(x, 0, 0))
    places = (("crank", s.origin, b1), ("rod", pin, b2), ("slider", slider, s.base))
    for seed, (name, point, base) in enumerate(places):
        general_solid(s, name, point, base, seed)
    s.close(end, slider, "xy")
    s.gravity = (0, -g, 0)
    return s


def spatial_four_bar() -> bl.SymbolicSystem:
    """Crank and rocker about skew axes, joined by a rod with a ball at either end (RSSR)."""
    s = bl.SymbolicSystem("rssr")
    q1, a, b, c, q4 = s.coordinates("q1 a b c q4")
    r, length, k, w = s.parameters(r=0.4, l=1.5, k=0.9, w=1.2)
    b1, b4 = s.base.rotated("b1", "z", q1), s.base.rotated("b4", "y", q4)
    b2 = s.base.euler("b2", "zyx", (a, b, c))
    ball = s.origin.offset("A", b1.vector(r, 0, 0.1))
    ground = s.origin.offset("O2", s.base.vector(w, 0.2, 0))
    places = (("crank", s.origin, b1), ("rod", ball, b2), ("rocker", ground, b4))
    for seed, (name, point, base) in enumerate(places):
        general_solid(s, name, point, base, seed)
    s.close(ball.offset("B", b2.vector(length, 0, 0)), ground.offset("C", b4.vector(0, 0, k)))
    s.gravity = (0, 0, -9.81)
    return s


def on_a_floating_body(joint: str) -> bl.SymbolicSystem:
    """A body free in space, all of whose parameters are seen, and another joined to it."""
    s = bl.SymbolicSystem(joint)
    x, y, z, e1, e2, e3 = s.coordinates("x y z e1 e2 e3")
    alpha, d, r = s.parameters(alpha=0.6, d=0.5, r=0.3)
    parent = s.base.euler("parent", "zyx", (e1, e2, e3))
    place = s.origin.offset("place", s.base.vector(x, y, z))
    tilted = parent.rotated("tilted", "x", alpha)
    point = place.offset("foot", parent.vector(d, 0, 0)).offset("joint", tilted.vector(0, 0, r))
    base = tilted
    if joint in ("revolute", "cylindrical", "screw"):
        (theta,) = s.coordinates("theta")
        base = tilted.rotated("child", "z", theta)
        if joint == "cylindrical":
            point = point.offset("end", tilted.vector(0, 0, s.coordinates("slide")[0]))
        if joint == "screw":
            point = point.offset("end", tilted.vector(0, 0, 0.1 * theta))
    elif joint == "prismatic":
        point = point.offset("end", tilted.vector(0, 0, s.coordinates("slide")[0]))
    elif joint == "planar":
        u, v, theta = s.coordinates("u v theta")
        point = point.offset("end", tilted.vector(u, v, 0))
        base = tilted.rotated("child", "z", theta)
    elif joint == "universal":
        base = tilted.euler("child", "xy", s.coordinates("u:2"))
    elif joint == "spherical":
        base = tilted.euler("child", "xyz", s.coordinates("u:3"))
    general_solid(s, "parent", place, parent, 1)
    general_solid(s, "child", point, base, 2)
    s.gravity = (0, 0, -9.81)
    return s


def values(s: bl.SymbolicSystem) -> Any:
    return np.array(list(s.parameter_values.values()))


def inertial_numbers(s: bl.SymbolicSystem, solid: int) -> dict[str, float]:
    found = bl.evaluate(s.solids[solid].inertial_parameters, s.parameter_values)
    return dict(zip(PARAMETERS, (float(x) for x in found), strict=True))


def accelerations(eq: Any, t: float, q: Any, v: Any) -> Any:
    """From the constrained equations as a whole."""
    M, Q, Phi_v, gamma = (
        eq.system.evaluate(name, q, v, t=t) for name in ("M", "Q", "Phi_v", "gamma")
    )
    A = np.block([[M, Phi_v.T], [Phi_v, np.zeros((len(Phi_v), len(Phi_v)))]])
    return np.linalg.solve(A, np.concatenate([Q, gamma]))[: len(M)]


# --------------------------------------------------------------------------- joints


@pytest.mark.parametrize(
    ("joint", "moved"),
    [
        ("revolute", 3), ("prismatic", 6), ("spherical", 1), ("universal", 1),
        ("cylindrical", 1), ("screw", 1), ("planar", 1), ("welded", 10),
    ],
)  # fmt: skip
def test_a_joint_lets_pass_the_inertia_of_what_rests_in_both_bodies(joint, moved):
    found = regrouped(on_a_floating_body(joint))
    assert len(found.eliminated) == moved
    assert found.count == found.visible == 20 - moved


def test_a_revolute_joint_regroups_as_in_the_book():
    """Khalil & Dombre 2002, §9.4.2: the rules for link j of a tree, Denavit-Hartenberg after them.

    The mass, mz and Iyy of the link go to the one before it.
    """
    s = on_a_floating_body("revolute")
    old, link = inertial_numbers(s, 0), inertial_numbers(s, 1)
    alpha, d, r = values(s)[:3]
    S, C = np.sin(alpha), np.cos(alpha)
    m, mz, yy = link["m"], link["mz"], link["Iyy"]
    gain = {
        "m": m,
        "mx": d * m,
        "my": -S * mz - r * S * m,
        "mz": C * mz + r * C * m,
        "Ixx": yy + 2 * r * mz + r**2 * m,
        "Iyy": C * C * yy + 2 * r * C * C * mz + (d**2 + r**2 * C * C) * m,
        "Izz": S * S * yy + 2 * r * S * S * mz + (d**2 + r**2 * S * S) * m,
        "Ixy": d * S * mz + d * r * S * m,
        "Ixz": -d * C * mz - d * r * C * m,
        "Iyz": C * S * yy + 2 * r * C * S * mz + r**2 * C * S * m,
    }
    found = regrouped(s)
    assert set(found.eliminated) == {"child.m", "child.mz", "child.Iyy"}
    new = inertial_numbers(found.system, 0)
    assert new == pytest.approx({name: old[name] + gain[name] for name in PARAMETERS}, rel=1e-12)
    new = inertial_numbers(found.system, 1)
    assert new == pytest.approx(link | {"m": 0, "mz": 0, "Iyy": 0, "Ixx": link["Ixx"] - yy})


def test_an_axis_without_a_point_and_tilted_by_parameters_in_both_bodies_is_found():
    s = bl.SymbolicSystem("tilted")
    q1, q2 = s.coordinates("q1 q2")
    alpha, beta, a, c, g = s.parameters(alpha=0.4, beta=-0.7, a=0.5, c=0.2, g=9.81)
    first = s.base.rotated("first", "z", q1)
    turned = first.rotated("seat", "x", alpha).rotated("turned", "z", q2)
    second = turned.rotated("second", "y", beta)
    # one vector over the joint, in parts of both bodies
    end = s.origin.offset("end", first.vector(a, 0, 0.1) + second.vector(c, 0.3, 0))
    general_solid(s, "one", s.origin, first, 1)
    general_solid(s, "two", end, second, 2)
    s.gravity = (g, 0, 0)
    found = regrouped(s)
    assert found.count == found.visible == 3 + 7
    old, new = s.equations(), found.system.equations()
    for q, v in np.random.default_rng(5).normal(size=(3, 2, 2)):
        np.testing.assert_allclose(new.mass(q), old.mass(q), rtol=1e-12)
        np.testing.assert_allclose(new.forces(q, v), old.forces(q, v), rtol=1e-10, atol=1e-12)
    # what was found holds for other angles too, and divides by nothing that vanishes without tilt
    straight = {**s.parameter_values, alpha: 0.0, beta: 0.0}
    p = list(straight.values())
    np.testing.assert_allclose(
        new.mass(q, p=found.function()(p)), old.mass(q, p=p), rtol=1e-12, atol=1e-14
    )


def test_the_inertia_about_the_axis_of_a_revolute_joint_stays():
    """It looks the same in both bodies in all positions, and is seen all the same."""
    found = regrouped(on_a_floating_body("revolute"))
    assert "child.Izz" not in found.eliminated
    assert inertial_numbers(found.system, 1)["Izz"] == inertial_numbers(found.source, 1)["Izz"]


# --------------------------------------------------------------------- open chains


@pytest.mark.parametrize(("axes", "count"), [(1, 1), (2, 8), (3, 15), (6, 36)])
def test_an_arm_has_as_many_base_parameters_as_published(axes, count):
    """36 for the PUMA 560, Mayeda, Yoshida & Osuka 1990: one, and seven for each further link."""
    s = puma(axes)
    assert len(base_parameters(regressor(s), values(s)).independent) == count
    found = regrouped(s)
    assert found.count == found.visible == count


@pytest.mark.parametrize(
    "make",
    [
        block_pendulum,
        scara,
        *(
            lambda seed=seed: symbolic(random_tree(seed, 4, driven=seed % 2 > 0))
            for seed in range(7)
        ),
    ],
)
def test_transfers_leave_as_many_parameters_as_the_rank_of_the_regressor(make):
    s = make()
    assert regrouped(s).count == len(base_parameters(regressor(s), values(s)).independent)


@pytest.mark.parametrize(
    "make", [block_pendulum, four_bar, scara, lambda: puma(3), lambda: symbolic(random_tree(3, 3))]
)
def test_the_regrouped_system_has_the_same_mass_matrix_and_forces(make):
    s = make()
    found = regrouped(s)
    old, new = s.equations(), found.system.equations()
    u = np.random.default_rng(3).normal(size=len(old.system.u))
    p = values(s) * np.random.default_rng(4).uniform(
        0.5, 1.5, len(values(s))
    )  # any, not only given
    regrouped_p = found.function()(p) if len(p) else p
    states = free_states(s, 4, seed=1)
    for q, v in zip(states.q, states.v, strict=True):
        np.testing.assert_allclose(
            new.mass(q, p=regrouped_p), old.mass(q, p=p), rtol=1e-11, atol=1e-11
        )
        np.testing.assert_allclose(
            new.forces(q, v, u=u, p=regrouped_p), old.forces(q, v, u=u, p=p), rtol=1e-10, atol=1e-10
        )


def test_a_planar_arm_is_regrouped_in_symbols():
    s = bl.SymbolicSystem("arm")
    q1, q2 = s.coordinates("q1 q2")
    length, m1, m2, I1, I2, g = s.parameters(l=0.5, m1=1.0, m2=2.0, I1=0.1, I2=0.2, g=9.81)
    b1 = s.base.rotated("b1", "z", q1)
    b2 = b1.rotated("b2", "z", q2)
    elbow = s.origin.offset("E", b1.vector(length, 0, 0))
    s.solid("one", s.origin, b1, m1, (length / 2, 0, 0), b1.inertia(zz=I1))
    s.solid("two", elbow, b2, m2, (length / 2, 0, 0), b2.inertia(zz=I2))
    s.gravity = (0, -g, 0)
    found = regrouped(s)
    assert found.count == 6
    spelled = {symbol.name: expression for symbol, expression in found.definitions.items()}
    assert list(spelled) == ["one_mx", "one_Izz", "two_mx"]
    trial = {length: 0.7, m1: 1.3, m2: 2.9, I1: 0.3, I2: 0.8}
    numbers = [float(bl.evaluate(e, trial)) for e in spelled.values()]
    assert numbers == pytest.approx([1.3 * 0.35 + 2.9 * 0.7, 0.3 + 2.9 * 0.49, 2.9 * 0.35])
    # masses are gone; what gravity, geometry and the second inertia need stays
    assert [x.name for x in found.system.parameter_symbols] == ["l", "I2", "g", *spelled]
    assert "one_Izz = " in found.text()


def test_regrouping_twice_finds_nothing_more():
    once = regrouped(puma(2))
    twice = regrouped(once.system)
    assert not twice.definitions
    assert twice.system.parameter_values == once.system.parameter_values


# -------------------------------------------------------------------- closed chains


@pytest.mark.parametrize("make", [four_bar, slider_crank, spatial_four_bar, rolling_disc])
def test_admissible_states_satisfy_the_constraints_at_all_levels(make):
    s = make()
    eq = s.equations()
    states = admissible_states(s, values(s), 5)
    for t, q, v, a, Z in zip(states.t, states.q, states.v, states.a, states.allowed, strict=True):
        Phi_v, beta, gamma = (
            eq.system.evaluate(name, q, v, t=t) for name in ("Phi_v", "beta", "gamma")
        )
        if "Phi" in eq.system:
            np.testing.assert_allclose(eq.system.evaluate("Phi", q, t=t), 0, atol=1e-9)
        np.testing.assert_allclose(Phi_v @ v, beta, atol=1e-9)
        np.testing.assert_allclose(Phi_v @ a, gamma, atol=1e-9)
        np.testing.assert_allclose(Phi_v @ Z, 0, atol=1e-9)
        assert Z.shape[1] == len(q) - len(Phi_v)


@pytest.mark.parametrize(
    ("make", "tree", "loop"), [(four_bar, 9, 8), (slider_crank, 7, 6), (spatial_four_bar, 13, 12)]
)
def test_a_loop_hides_one_more_parameter_which_passes_through_the_closure(make, tree, loop):
    s = make()
    assert regrouped(s).count == tree
    found = regrouped(s, Through.LOOPS)
    assert found.count == loop
    assert len(base_parameters(regressor(s), values(s)).independent) == loop


@pytest.mark.parametrize("make", [four_bar, slider_crank, spatial_four_bar])
@pytest.mark.parametrize("through", Through)
def test_the_regrouped_mechanism_has_the_same_constrained_motion(make, through):
    s = make()
    found = regrouped(s, through)
    old, new = s.equations(), found.system.equations()
    states = admissible_states(s, values(s), 6, seed=8)
    for t, q, v in zip(states.t, states.q, states.v, strict=True):
        np.testing.assert_allclose(
            accelerations(new, t, q, v), accelerations(old, t, q, v), rtol=1e-8, atol=1e-8
        )


def test_through_a_loop_the_mass_matrix_changes_and_its_use_does_not():
    s = four_bar()
    old, new = s.equations(), regrouped(s, Through.LOOPS).system.equations()
    states = admissible_states(s, values(s), 4)
    for q, Z in zip(states.q, states.allowed, strict=True):
        before, after = old.mass(q), new.mass(q)
        assert np.abs(before - after).max() > 1.0
        np.testing.assert_allclose(Z.T @ after @ Z, Z.T @ before @ Z, rtol=1e-9)


def test_a_loop_that_cannot_close_is_refused():
    s = four_bar()
    p = [100.0 if x.name == "l4" else value for x, value in s.parameter_values.items()]
    with pytest.raises(AssemblyError, match=r"four_bar: of .* check that the mechanism closes"):
        base_parameters(regressor(s), p, states=2)


def test_a_system_without_solids_is_refused():
    s = bl.SymbolicSystem("empty")
    s.coordinates("q")
    with pytest.raises(ModelError, match="empty has no solids"):
        regrouped(s)


# ---------------------------------------------------------------------------- code


@pytest.mark.parametrize(
    ("make", "through", "share"),
    [
        (block_pendulum, Through.JOINTS, 0.95),
        (four_bar, Through.JOINTS, 0.8),
        (four_bar, Through.LOOPS, 0.7),
        (lambda: puma(3), Through.JOINTS, 0.8),
    ],
)
def test_regrouped_code_has_fewer_operations(make, through, share):
    s = make()
    before = s.equations().count()["M Q"].arithmetic
    after = regrouped(s, through).system.equations().count()["M Q"].arithmetic
    assert after < share * before


# --------------------------------------------------------------------------- units


def in_units(s: bl.SymbolicSystem, lengths: set[str], scale: float) -> Any:
    """The values of the parameters with some of them, the lengths, measured by another unit."""
    return np.array(
        [x * (scale if p.name in lengths else 1) for p, x in s.parameter_values.items()]
    )


@pytest.mark.parametrize(
    ("make", "lengths", "count"),
    [
        (four_bar, "l1 l2 l3 l4", 8),
        (slider_crank, "r l", 6),
        (lambda: puma(3), "a2 a3 d3 d4", 15),
        (scara, "a b", 8),
    ],
)
@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1.0, 1e3])
def test_as_many_parameters_are_seen_in_any_unit_of_length(make, lengths, count, scale):
    s = make()
    K = regressor(s)
    found = base_parameters(K, in_units(s, set(lengths.split()), scale))
    assert len(found.independent) == count


def test_regrouping_factors_are_lengths_in_the_unit_of_the_mechanism():
    """By powers of the unit: a mass enters a first moment by a length, an inertia by its square."""
    s = slider_crank()
    K = regressor(s)
    metres, millimetres = (
        base_parameters(K, in_units(s, {"r", "l"}, scale)) for scale in (1.0, 1e3)
    )
    assert metres.independent == millimetres.independent
    assert metres.dependent == millimetres.dependent
    powers = np.array([0 if n.endswith(".m") else 1 if ".m" in n else 2 for n in K.names])
    rows, columns = powers[list(metres.independent)], powers[list(metres.dependent)]
    unit = 1e3 ** (rows[:, None] - columns)
    np.testing.assert_allclose(millimetres.regrouping / unit, metres.regrouping, atol=1e-9)
    # some factors are lengths indeed
    assert np.abs(metres.regrouping[unit > 1]).max() > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_inertia_seen_from_another_frame_is_that_of_its_particles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.5, 1.5, 7), rng.uniform(-1, 1, (7, 3))
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    place = rng.uniform(-1, 1, 3)

    def ten(x: np.ndarray) -> list[float]:
        I = sum(k * (y @ y * np.eye(3) - np.outer(y, y)) for k, y in zip(m, x, strict=True))
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        return [m.sum(), *(m @ x), *(I[pair] for pair in pairs)]

    ws = bl.Workspace()
    atoms = [ws.atom(float(x)) for x in ten(r)]
    x, y, z = (ws.atom(float(k)) for k in place)
    found = carried(atoms, [[ws.atom(float(k)) for k in row] for row in R], (x, y, z, ws.atom(1)))
    np.testing.assert_allclose([float(e.value) for e in found], ten(r @ R.T + place), atol=1e-13)
