"""The regressor against the equations of motion, and base parameters against known cases."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.base_parameters import base_parameters
from biela.equations.regressor import regressor
from tests.mechanisms import ALGEBRAS


def chain(joints: int, seed: int = 0) -> bl.SymbolicSystem:
    """Revolute joints about alternating axes, full inertias, gravity."""
    random = np.random.default_rng(seed)
    s = bl.SymbolicSystem(f"chain{joints}")
    base, point = s.base, s.origin
    for i, q in enumerate(s.coordinates(f"q:{joints}")):
        base = base.rotated(f"b{i}", "zyx"[i % 3], q)
        names = ("m", "cx", "cy", "cz", "xx", "yy", "zz", "xy", "xz", "yz")
        values = dict(zip((f"{n}{i}" for n in names), random.uniform(0.1, 1.0, 10), strict=True))
        m, cx, cy, cz, *inertia = s.parameters(**values)
        s.solid(f"s{i}", point, base, m, (cx, cy, cz), base.inertia(*inertia))
        point = point.offset(f"P{i}", base.vector(0.3, 0.1 * (i + 1), -0.2))
    s.gravity = (0, 0, -9.81)
    return s


@pytest.mark.parametrize("joints", [1, 2, 4])
def test_the_regressor_times_the_parameters_is_the_torque(joints):
    s = chain(joints)
    eq = s.equations()
    p = eq.system.parameters
    phi = [x for solid in s.solids for x in solid.inertial_parameters]
    values = [float(bl.evaluate(x, dict(zip(s.parameter_symbols, p, strict=True)))) for x in phi]
    K = regressor(s).function()
    for q, v, a in np.random.default_rng(1).normal(size=(5, 3, joints)):
        torque = eq.mass(q) @ a - eq.forces(q, v)
        np.testing.assert_allclose(K(0.0, q, v, a, p) @ values, torque, rtol=1e-11, atol=1e-11)


def test_the_regressor_does_not_depend_on_the_inertial_parameters():
    s = chain(2)
    K = regressor(s)
    used = {x.name for x in s.workspace if x.ref in s.workspace.table.live(
        e.ref for row in K.K for e in row)}  # fmt: skip
    # the first turn is about the vertical: its angle changes nothing
    assert used == {"q2", "dq1", "dq2", "ddq1", "ddq2"}


@pytest.mark.parametrize("joints", [2, 3, 4])
def test_the_regressor_with_mass_and_forces_computes_what_they_share_once(joints):
    s = chain(joints)
    eq, K = s.equations(), regressor(s)
    joint = K.joint()
    assert [a.name for a in joint.inputs] == ["t", "q", "v", "u", "p", "a"]
    apart = K.function().count.arithmetic + eq.joint("M", "Q").count.arithmetic
    assert joint.count.arithmetic < 0.97 * apart
    q, v, a = np.random.default_rng(4).normal(size=(3, joints))
    p = eq.system.parameters
    found = joint(0.0, q, v, [], p, a)
    expected = K.function()(0.0, q, v, a, p), eq.mass(q), eq.forces(q, v)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("algebra", ALGEBRAS, ids=str)
def test_the_regressor_is_derived_by_the_smallest_of_algebras_that_agree(algebra):
    s = chain(3)
    chosen, other = regressor(s), regressor(s, algebra)
    assert chosen.function().count.arithmetic <= other.function().count.arithmetic
    q, v, a = np.random.default_rng(5).normal(size=(3, 3))
    p = s.equations().system.parameters
    expected = chosen.function()(0.0, q, v, a, p)
    np.testing.assert_allclose(other.function()(0.0, q, v, a, p), expected, rtol=1e-11, atol=1e-11)


def test_the_joint_function_takes_inputs_and_multipliers_where_the_forces_do():
    s = chain(1)
    (tau,) = s.inputs("tau")
    s.wrench(s.solids[0], moment=(0, 0, tau))
    K, _, Q = regressor(s).joint()(0.0, [0.3], [0.2], [2.5], s.equations().system.parameters, [0.1])
    still = s.equations().forces([0.3], [0.2], u=[0.0])
    assert Q[0] - still[0] == pytest.approx(2.5)
    assert K.shape == (1, 10)


def test_a_pendulum_about_a_fixed_vertical_axis_shows_one_inertia():
    s = bl.SymbolicSystem("turntable")
    (q,) = s.coordinates("q")
    base = s.base.rotated("b", "z", q)
    s.solid("table", s.origin, base, s.parameters(m=1.0)[0], inertia=base.inertia(zz=2.0))
    s.gravity = (0, 0, -9.81)
    found = base_parameters(regressor(s), [1.0])
    assert [found.names[i] for i in found.independent] == ["table.Izz"]
    assert not found.dependent


def test_a_planar_two_link_arm_has_six_base_parameters():
    """Khalil & Dombre 2002, §9.4: mx1 + l m2, my1, Izz1 + l² m2, mx2, my2, Izz2 under gravity."""
    s = bl.SymbolicSystem("arm")
    q1, q2 = s.coordinates("q1 q2")
    (length,) = s.parameters(l=0.5)
    b1 = s.base.rotated("b1", "z", q1)
    b2 = b1.rotated("b2", "z", q2)
    elbow = s.origin.offset("E", b1.vector(length, 0, 0))
    for name, point, base in (("one", s.origin, b1), ("two", elbow, b2)):
        s.solid(name, point, base, *s.parameters(f"m_{name}"), inertia=base.inertia(zz=1.0))
    s.gravity = (0, -9.81, 0)
    p = np.array([0.5, 0.0, 0.0])
    found = base_parameters(regressor(s), p)
    assert [found.names[i] for i in found.independent] == [
        "one.mx", "one.my", "one.Izz", "two.mx", "two.my", "two.Izz"
    ]  # fmt: skip
    assert [found.names[i] for i in found.dependent] == ["two.m"]
    np.testing.assert_allclose(found.regrouping[:, 0], [0.5, 0, 0.25, 0, 0, 0], atol=1e-10)
    assert "one.Izz +0.25 two.m" in found.text()


def test_regrouped_parameters_give_the_same_torque():
    s = chain(3)
    p = s.equations().system.parameters
    K = regressor(s)
    found = base_parameters(K, p)
    assert len(found.independent) < len(K.names)
    phi = np.random.default_rng(2).normal(size=len(K.names))
    base = phi[list(found.independent)] + found.regrouping @ phi[list(found.dependent)]
    function = K.function()
    for q, v, a in np.random.default_rng(3).normal(size=(5, 3, 3)):
        matrix = function(0.0, q, v, a, p)
        np.testing.assert_allclose(
            matrix[:, list(found.independent)] @ base, matrix @ phi, rtol=1e-8, atol=1e-8
        )
