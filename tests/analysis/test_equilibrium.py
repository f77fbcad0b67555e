"""Positions of rest against statics by hand, their stability, and what holds a position."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.equilibrium import equilibria, equilibrium, holding_inputs
from biela.errors import AssemblyError, ModelError
from biela.model.files.gallery import mechanisms
from examples.mechanisms.double_pendulum import FREQUENCIES, double_pendulum
from examples.mechanisms.slider_crank import closed_form, slider_crank

WEIGHT = 9.81


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


def pendulum(torque: bool = False) -> bl.SymbolicSystem:
    """A bob of 2 kg at 0.5 m, with friction in the joint."""
    s = bl.SymbolicSystem("pendulum")
    (theta,) = s.coordinates("theta")
    m, l, g, c = s.parameters(m=2.0, l=0.5, g=WEIGHT, c=0.1)
    arm = s.base.rotated("arm", "y", theta)
    bob = s.solid("bob", at=s.origin.offset("B", arm.vector(0, 0, -l)), base=arm, mass=m)
    s.gravity = s.base.vector(0, 0, -g)
    s.wrench(bob, moment=s.base.vector(0, -c * theta.velocity, 0))
    if torque:
        (tau,) = s.inputs("tau")
        s.wrench(bob, moment=s.base.vector(0, tau, 0))
    return s


def test_a_pendulum_is_stable_below_and_unstable_above() -> None:
    below, above = equilibria(pendulum())
    assert below.q[0] == pytest.approx(0, abs=1e-12) and below.stability == "stable"
    assert abs(above.q[0]) == pytest.approx(math.pi, abs=1e-12) and above.stability == "unstable"
    assert below.energy == pytest.approx(-2 * WEIGHT * 0.5) and above.energy == -below.energy
    assert below.stiffness == pytest.approx([WEIGHT / 0.5])
    assert above.stiffness == pytest.approx([-WEIGHT / 0.5])


def test_newton_finds_the_nearest_and_relaxation_the_stable_one() -> None:
    model = pendulum().equations()
    assert abs(equilibrium(model, [3.0], method="newton").q[0]) == pytest.approx(math.pi)
    assert equilibrium(model, [3.0], method="relaxation").q[0] == pytest.approx(0, abs=1e-12)


def test_a_double_pendulum_has_four_equilibria_with_the_known_frequencies() -> None:
    found = equilibria(double_pendulum())
    assert [e.stability for e in found] == ["stable"] + 3 * ["unstable"]
    assert [e.energy for e in found] == pytest.approx([-2 * WEIGHT, -WEIGHT, WEIGHT, 2 * WEIGHT])
    assert np.sqrt(found[0].stiffness) == pytest.approx(FREQUENCIES)
    assert found[-1].stiffness == pytest.approx(-found[0].stiffness[::-1])


def test_a_slider_crank_rests_with_its_crank_down_on_either_branch(crank: bl.System) -> None:
    found = equilibria(crank)
    assert [e.stability for e in found] == 2 * ["stable"] + 2 * ["unstable"]
    for e in found[:2]:
        assert e.q[0] == pytest.approx(-math.pi / 2, abs=1e-12)
        # crank and rod weigh (1.2 + 0.6)/2 kg at the pin
        assert e.energy == pytest.approx(-0.9 * WEIGHT * 0.1)
    assert {round(float(e.q[2]), 9) for e in found[:2]} == {
        round(x * math.sqrt(0.3**2 - 0.1**2), 9) for x in (1, -1)
    }
    # the pin carries half the rod at the piston, and nothing sideways
    assert np.abs(found[0].lam) == pytest.approx([0, 0.6 * WEIGHT / 2], abs=1e-10)


def test_springs_sag_under_a_weight_by_the_closed_form() -> None:
    s = bl.SymbolicSystem("bungee")
    (z,) = s.coordinates("z")
    k, m, width = s.parameters(k=200.0, m=3.0, width=0.4)
    bob = s.solid("bob", at=s.origin.offset("B", s.base.vector(0, 0, z)), base=s.base, mass=m)
    for name, side in (("left", -1), ("right", 1)):
        anchor = s.origin.offset(name, s.base.vector(side * width, 0, 0))
        s.spring(name, (None, anchor), (bob, bob.point), stiffness=k, length=0.4)
    s.gravity = s.base.vector(0, 0, -WEIGHT)
    found = equilibrium(s, [-0.3])
    assert found.stability == "stable"
    length = math.hypot(0.4, found.q[0])
    pull = 200.0 * (length - 0.4)
    assert 2 * pull * -found.q[0] / length == pytest.approx(3.0 * WEIGHT, rel=1e-12)


def test_a_free_slide_is_neutral() -> None:
    s = bl.SymbolicSystem("slide")
    x, z = s.coordinates("x z")
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, z)), base=s.base, mass=2.0)
    s.spring("spring", (None, s.origin), (body, s.origin.offset("P", s.base.vector(0, 0, z))), 50.0)
    found = equilibrium(s, [0.3, 0.2])
    assert found.stability == "neutral" and found.q == pytest.approx([0.3, 0], abs=1e-10)


@pytest.mark.parametrize("name", ["balanced-lamp", "cardan-shaft"])
def test_what_is_balanced_everywhere_is_neutral(name: str) -> None:
    """Weights and springs, or weights and bearings, cancel: what stays of them is rounding."""
    model = bl.load_model(mechanisms()[name])
    model.drivers.clear()
    found = equilibrium(model)
    assert found.stability == "neutral"
    assert not found.stiffness.any()


@pytest.mark.parametrize(("load", "verdict"), [(2.07, "neutral"), (2.10, "unstable")])
def test_a_column_under_a_follower_force_flutters_above_the_load_of_ziegler(
    load: float, verdict: str
) -> None:
    """Masses 2 m and m, springs k, lengths l: flutter from P = (7/2 - √2) k/l = 2.0858 k/l.

    Undamped and below it the motions neither grow nor die away.
    """
    s = bl.SymbolicSystem("ziegler")
    lower, upper = s.coordinates("lower upper")
    (P,) = s.parameters(P=load)
    first = s.base.rotated("first", "y", lower)
    second = s.base.rotated("second", "y", upper)
    A = s.origin.offset("A", first.vector(0, 0, 1))
    B = A.offset("B", second.vector(0, 0, 1))
    knee = s.solid("knee", at=A, base=first, mass=2.0)
    tip = s.solid("tip", at=B, base=second, mass=1.0)
    s.wrench(tip, second.vector(0, 0, -P), name="follower")
    bend = upper - lower
    s.wrench(knee, moment=s.base.vector(0, bend - lower, 0), name="springs")
    s.wrench(tip, moment=s.base.vector(0, -bend, 0), name="spring")
    assert equilibrium(s, [0.0, 0.0]).stability == verdict


def test_what_holds_a_coordinate_is_the_multiplier_of_its_lock() -> None:
    model = pendulum(torque=True).equations()
    angle = 0.7
    torque = 2.0 * WEIGHT * 0.5 * math.sin(angle)
    locked = equilibrium(model, hold={"theta": angle})
    assert locked.q[0] == pytest.approx(angle)
    assert -locked.lam[0] == pytest.approx(torque)
    assert holding_inputs(model, {"theta": angle}).u == pytest.approx([torque])
    # with that torque it rests there by itself
    free = equilibrium(model, {"theta": 0.5}, inputs={"tau": torque})
    assert free.q[0] == pytest.approx(angle, abs=1e-10) and free.stability == "stable"


def test_inputs_hold_a_slider_crank_by_virtual_work(crank: bl.System) -> None:
    theta = 1.0
    q, slope = closed_form(theta, 1.0)
    found = holding_inputs(crank, {"theta": theta}, unknown=["tau"], inputs={"F": 5.0})
    weight = 0.9 * WEIGHT * 0.1 * math.cos(theta)
    assert found.q == pytest.approx(q)
    assert found.u == pytest.approx([weight - 5.0 * slope[2], 5.0])
    # both free: the smallest pair with that virtual work
    both = holding_inputs(crank, {"theta": theta}).u
    arm = np.array([1.0, slope[2]])
    assert both == pytest.approx(arm * weight / (arm @ arm))


def test_what_cannot_rest_is_said() -> None:
    s = bl.SymbolicSystem("falling")
    x, z = s.coordinates("x z")
    (F,) = s.inputs("F")
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, z)), base=s.base, mass=2.0)
    s.wrench(body, s.base.vector(F, 0, 0))
    s.gravity = s.base.vector(0, 0, -WEIGHT)
    with pytest.raises(AssemblyError, match=r"-19\.6 along dz is not balanced"):
        equilibrium(s)
    with pytest.raises(ModelError, match="along dz is not balanced"):
        holding_inputs(s)
    with pytest.raises(ModelError, match="not known"):
        equilibrium(s, method="magic")


def test_held_values_may_be_texts_with_units_and_joints_go_by_their_names():
    m = bl.Model("arm")
    m.joint("revolute", "a", m.ground, m.body("b", mass=2.0, com=(0.5, 0, 0), inertia=0.1))
    assert bl.equilibrium(m, hold={"a": "90 deg"}).q[0] == pytest.approx(np.pi / 2)
    assert bl.assemble(m, hold={"a": "30 deg"}).q[0] == pytest.approx(np.pi / 6)
    assert bl.Robot(m).configuration(a="90 deg")[0] == pytest.approx(np.pi / 2)
    for wrong in ("90 mm", "x", float("nan"), None):
        with pytest.raises(bl.BielaError, match="a is not a finite number"):
            bl.equilibrium(m, hold={"a": wrong})
    with pytest.raises(bl.BielaError, match="a is no number: 'x'"):
        bl.Robot(m).configuration(a="x")
