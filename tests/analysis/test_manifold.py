"""Analyses of systems with q' = N(q) v: bodies turned by Euler parameters."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj

import biela as bl
from biela.analysis import (
    assemble,
    branches,
    equilibria,
    equilibrium,
    inverse_dynamics,
    kinematics,
    linearise,
    reactions,
    redundancy,
    simulate,
)
from biela.analysis.formulations import FORMULATIONS, STEPPING, Options
from biela.analysis.initial import initial_problem
from biela.errors import ModelError
from tests.simulators_in_c import CompiledSimulator

A, B, C = 1.0, 1.4, 2.0
SPIN = np.array([1.0, 0.0, 2.0])


@cache
def free_body() -> bl.System:
    s = bl.SymbolicSystem("free")
    body = s.orientation("b")
    moments = s.inputs("Tx Ty Tz")
    solid = s.solid("body", at=s.origin, base=body, mass=1.0, inertia=body.inertia(A, B, C))
    s.wrench(solid, moment=body.vector(*moments))
    s.frame("body", s.origin, body)
    return s.equations().system


def tumbling(t: np.ndarray) -> np.ndarray:
    """ω of a free body from `SPIN` on (Landau & Lifshitz, Mechanics, §37)."""
    inertia = np.array([A, B, C])
    twice, square = float(inertia @ SPIN**2), float(inertia**2 @ SPIN**2)
    rate = math.sqrt((C - B) * (square - twice * A) / (A * B * C))
    modulus = (B - A) * (twice * C - square) / ((C - B) * (square - twice * A))
    sn, cn, dn, _ = ellipj(rate * t, modulus)
    sizes = [
        math.sqrt((twice * C - square) / (A * (C - A))),
        math.sqrt((twice * C - square) / (B * (C - B))),
        math.sqrt((square - twice * A) / (C * (C - A))),
    ]
    return np.stack([sizes[0] * cn, sizes[1] * sn, sizes[2] * dn], axis=1)


def quaternion_errors(system: bl.System, results: Any) -> np.ndarray:
    norms = [np.linalg.norm(results.q[:, k : k + 4], axis=1) for k in system.quaternions]
    return np.abs(np.stack(norms) - 1).max(axis=0)


# --- a free body ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [{"step": 1e-2}, {"tolerance": 1e-11}, {"integrator": "adams"}])
def test_a_free_body_tumbles_as_jacobi_found_and_keeps_its_unit_norm(way: dict[str, Any]) -> None:
    found = simulate(free_body(), 100.0, v=SPIN, **way)
    loose = 1e-4 if way.get("integrator") else 2e-6
    assert np.abs(found.v - tumbling(found.t)).max() < loose
    assert quaternion_errors(free_body(), found).max() <= 1e-14
    poses = np.array([free_body().evaluate("poses", q)[0, 3:] for q in found.q[::50]])
    momentum = np.einsum("kij,kj->ki", poses.reshape(-1, 3, 3), found.v[::50] * (A, B, C))
    assert np.abs(momentum - momentum[0]).max() < loose
    assert np.ptp(found["energy"]) < loose


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_turns_a_free_body(formulation: str) -> None:
    errors = []
    for step in (8e-3, 4e-3):
        found = simulate(free_body(), 0.8, v=SPIN, formulation=formulation, step=step)
        errors.append(np.abs(found.v - tumbling(found.t)).max())
        assert quaternion_errors(free_body(), found).max() <= 1e-14
    order = 2 if formulation in STEPPING else 4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("integrator", ["explicit_euler", "semi_implicit_euler", "heun", "radau"])
def test_other_integrators_keep_the_unit_norm(integrator: str) -> None:
    way = {} if integrator == "radau" else {"step": 1e-2}
    found = simulate(free_body(), 1.0, v=SPIN, integrator=integrator, **way)
    assert quaternion_errors(free_body(), found).max() <= 1e-14
    assert np.abs(found.v - tumbling(found.t)).max() < 0.1


@pytest.mark.parametrize("method", ["second_order_euler", "nystrom"])
def test_a_method_that_adds_velocities_to_coordinates_is_refused(method: str) -> None:
    with pytest.raises(ModelError, match="not for 4 and 3; use 'semi_implicit_euler'"):
        simulate(free_body(), 1.0, integrator=method, step=1e-2)


def test_the_moments_of_a_tumbling_motion_are_found_again() -> None:
    torque = [0.3, -0.2, 0.5]
    found = simulate(free_body(), 1.0, v=SPIN, inputs=torque, step=1e-2)
    again = inverse_dynamics(free_body(), found)
    np.testing.assert_allclose(again.u, np.repeat([torque], len(found.t), 0), atol=1e-12)
    # the rates of Euler parameters are no velocities
    assert found.groups["q"].rates == ("", "", "", "")


# --- a heavy top ----------------------------------------------------------------------------------

MASS, ARM, G = 15.0, 1.0, 9.81
INERTIA = (0.234375, 0.46875, 0.234375)  # about the mass centre, spinning about y


@cache
def top() -> bl.System:
    """A body that is hinged by constraints; its coordinates are those of its mass centre."""
    s = bl.SymbolicSystem("top")
    place = s.coordinates("x y z")
    body = s.orientation("b")
    centre = s.origin.offset("C", s.base.vector(*place))
    s.solid("top", at=centre, base=body, mass=MASS, inertia=body.inertia(*INERTIA))
    s.close(s.origin, centre.offset("tip", body.vector(0, -ARM, 0)), name="hinge")
    s.gravity = s.base.vector(0, 0, -G)
    s.start(y=ARM)
    return s.equations().system


@cache
def top_by_angles() -> bl.System:
    s = bl.SymbolicSystem("top_by_angles")
    body = s.base.euler("body", "zxy", s.coordinates("a b c"))
    centre = s.origin.offset("C", body.vector(0, ARM, 0))
    s.solid("top", at=centre, base=body, mass=MASS, inertia=body.inertia(*INERTIA))
    s.gravity = s.base.vector(0, 0, -G)
    for name, x in zip("xyz", s.position(s.origin, centre).components(s.base), strict=True):
        s.output(name, x)
    return s.equations().system


TURN = {"b_wx": 0.0, "b_wy": 15.0, "b_wz": -4.61538}
DURATION = 0.25


@cache
def reference() -> np.ndarray:
    """The place of the mass centre after `DURATION`, of the top turned by angles."""
    found = simulate(top_by_angles(), DURATION, v=[-4.61538, 0.0, 15.0], tolerance=1e-12)
    return found.y[-1]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_moves_a_top_as_euler_angles_do(formulation: str) -> None:
    stepping = formulation in STEPPING
    loose = {"penalty": 1e-4, "baumgarte": 1e-7, "augmented": 1e-7}.get(formulation, 2e-8)
    steps = [1e-3, 5e-4] if stepping else [1e-3]
    errors = []
    for step in steps:
        found = simulate(top(), DURATION, v=TURN, formulation=formulation, step=step)
        assert quaternion_errors(top(), found).max() <= 1e-14
        errors.append(np.abs(found.q[-1, :3] - reference()).max())
    if stepping:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.15)
    else:
        assert errors[0] < loose
        adaptive = simulate(top(), DURATION, v=TURN, formulation=formulation, tolerance=1e-10)
        assert np.abs(adaptive.q[-1, :3] - reference()).max() < loose


@pytest.mark.parametrize("projections", ["always", "never", 1e-7])
def test_unit_norms_are_restored_whether_constraints_are_projected_or_not(projections: Any) -> None:
    options = Options(projections=projections, fused=False)
    found = simulate(top(), DURATION, v=TURN, step=2e-3, options=options)
    assert quaternion_errors(top(), found).max() <= 1e-14
    worst = found["constraint error"].max()
    assert {"always": worst < 1e-8, "never": worst > 1e-8}.get(projections, worst < 2e-7)


@pytest.mark.parametrize("seen_from", ["ground", "body"])
def test_a_sleeping_top_nutates_and_precesses_at_its_closed_frequencies(seen_from: str) -> None:
    spin = 40.0
    across = INERTIA[0] + MASS * ARM**2
    upright = {"z": ARM, "y": 0.0, "b_e0": math.sqrt(0.5), "b_e1": math.sqrt(0.5)}
    chosen = ("x", "y", "b_wy") if seen_from == "ground" else ("b_wx", "b_wy", "b_wz")
    found = linearise(top(), upright, {"b_wy": spin}, independent=chosen)
    named = tuple(f"displacement {name}" if name[:2] == "b_" else name for name in chosen)
    assert found.states[:3] == named
    # A θ'' - i C s θ' - m g l θ = 0 for a complex angle θ against the ground; seen from the body,
    # which turns with the spin, the frequencies are less by it
    about = INERTIA[1] * spin
    root = np.sqrt(complex(about**2 - 4 * across * MASS * G * ARM))
    turned = 0.0 if seen_from == "ground" else spin
    seen = [(1j * about + k * 1j * root) / (2 * across) - 1j * turned for k in (-1, 1)]
    expected = np.array([0, 0, *seen, *np.conj(seen)])
    got = found.eigenvalues
    distances = np.abs(got[:, None] - expected[None])
    assert distances.min(axis=0).max() < 1e-6 and distances.min(axis=1).max() < 1e-6


def test_a_hinged_body_hangs_at_rest() -> None:
    found = equilibrium(top(), {"b_e1": -0.4, "b_e3": 0.1}, method="relaxation")
    np.testing.assert_allclose(found.q[:3], [0, 0, -ARM], atol=1e-9)
    across = INERTIA[0] + MASS * ARM**2
    assert found.stiffness == pytest.approx([0, MASS * G / across, MASS * G / across], abs=1e-8)
    assert found.lam[2] == pytest.approx(found.linear.lam[2])
    # hanging and standing; which way it faces is free
    places = {round(e.q[2]) for e in equilibria(top(), restarts=20)}
    assert places == {-1, 1}


def test_the_hinge_of_a_top_carries_its_weight_and_its_centripetal_force() -> None:
    found = reactions(top(), {"y": ARM}, {"b_wz": 3.0})
    assert found.redundancy.mobility == 3 and found.redundancy.rank == 3
    assert abs(found["hinge_2"]) == pytest.approx(MASS * ARM * 9.0, rel=1e-12)
    across = INERTIA[0] + MASS * ARM**2
    carried = MASS * G * (1 - MASS * ARM**2 / across)
    assert abs(found["hinge_3"]) == pytest.approx(carried, rel=1e-12)


def test_named_values_are_kept_and_the_rest_is_brought_to_a_unit_quaternion() -> None:
    found = assemble(top(), {"b_e1": 0.6})
    assert found.mobility == 3 and not found.redundant
    assert found.q[4] == pytest.approx(0.6, abs=1e-12)
    assert np.linalg.norm(found.q[3:]) == pytest.approx(1, abs=1e-15)
    whole = assemble(top(), [0, 1, 0, 2, 0, 0, 0])
    np.testing.assert_allclose(whole.q, [0, 1, 0, 1, 0, 0, 0], atol=1e-15)
    with pytest.raises(ModelError, match="which is no orientation"):
        assemble(top(), [0, 1, 0, 0, 0, 0, 0])


def test_initial_conditions_may_be_given_on_euler_parameters() -> None:
    found = initial_problem(
        top(), positions=["b_e1 - 0.6", "b_e2", "b_e3"], velocities=["b_wx - 1", "b_wy", "b_wz"]
    )
    np.testing.assert_allclose(found.q[3:], [0.8, 0.6, 0, 0], atol=1e-10)
    # the mass centre moves across the arm
    np.testing.assert_allclose(found.v[:3], [0, -0.96 * ARM, 0.28 * ARM], atol=1e-10)
    np.testing.assert_allclose(found.v[3:], [1, 0, 0], atol=1e-12)


# --- a spatial slider-crank -----------------------------------------------------------------------

ROD = 0.3


@cache
def slider_crank() -> bl.System:
    s = bl.SymbolicSystem("slider_crank")
    (theta,) = s.coordinates("theta")
    place = s.coordinates("rx ry rz")
    rod = s.orientation("rod")
    (x,) = s.coordinates("x")
    crank = s.base.rotated("crank", "x", theta)
    shaft = s.origin.offset("A", s.base.vector(0, 0.1, 0.12))
    pin = shaft.offset("B", crank.vector(0, 0, 0.08))
    centre = s.origin.offset("G", s.base.vector(*place))
    slider = s.origin.offset("S", s.base.vector(x, 0, 0))
    s.solid("crank", at=shaft, base=crank, mass=0.12, inertia=crank.inertia(1e-4, 1e-5, 1e-4))
    s.solid("rod", at=centre, base=rod, mass=0.5, inertia=rod.inertia(4e-4, 4e-3, 4e-3))
    s.solid("slider", at=slider, base=s.base, mass=2.0)
    s.close(pin, centre.offset("P", rod.vector(-ROD / 2, 0, 0)), name="pin")
    s.close(centre.offset("R", rod.vector(ROD / 2, 0, 0)), slider, name="ball")
    # a universal joint at the slider: the rod does not spin
    s.constrain(rod.vector(0, 1, 0).dot(s.base.vector(1, 0, 0)), name="cross")
    s.gravity = s.base.vector(0, 0, -G)
    s.frame("rod", centre, rod)
    s.event("top", theta - 1.5)
    s.limits(theta, -10, 100)
    return s.equations().system


START = {"theta": 0.0, "x": 0.2, "rx": 0.1, "ry": 0.05, "rz": 0.1}


def along(theta: np.ndarray) -> np.ndarray:
    y, z = 0.1 - 0.08 * np.sin(theta), 0.12 + 0.08 * np.cos(theta)
    return np.sqrt(ROD**2 - y**2 - z**2)


def test_a_driven_slider_crank_follows_its_closed_form() -> None:
    found = kinematics(slider_crank(), 1.0, step=0.02, drives={"theta": "6*t"}, q=START)
    np.testing.assert_allclose(found["x"], along(6 * found.t), atol=1e-13)
    assert quaternion_errors(slider_crank(), found).max() <= 1e-14
    h = 1e-4
    speed = (along(6 * (found.t + h)) - along(6 * (found.t - h))) / (2 * h)
    np.testing.assert_allclose(found["dx"], speed, atol=1e-6)
    bent = (along(6 * (found.t + h)) - 2 * along(6 * found.t) + along(6 * (found.t - h))) / h**2
    np.testing.assert_allclose(found["ddx"], bent, atol=1e-5)
    integrated = kinematics(
        slider_crank(), 1.0, step=0.01, accelerations={"theta": "2.0"}, q=START, v={"dtheta": 6.0}
    )
    # the corrections after a step change the angle too, by as much as its positions are in error
    np.testing.assert_allclose(integrated["theta"], 6 * integrated.t + integrated.t**2, atol=5e-6)
    np.testing.assert_allclose(integrated["x"], along(integrated["theta"]), atol=1e-9)
    assert quaternion_errors(slider_crank(), integrated).max() <= 1e-14


@pytest.mark.parametrize("formulation", [f for f in FORMULATIONS if f not in STEPPING])
def test_every_formulation_keeps_a_slider_crank_closed(formulation: str) -> None:
    found = simulate(
        slider_crank(), 0.5, q=START, v={"dtheta": 6.0}, formulation=formulation, step=2e-3
    )
    loose = {"penalty": 1e-6, "baumgarte": 1e-6}.get(formulation, 1e-8)
    np.testing.assert_allclose(found["x"], along(found["theta"]), atol=loose)
    assert np.ptp(found["energy"]) < {"penalty": 1e-4, "baumgarte": 1e-5}.get(formulation, 1e-6)
    assert [event.name for event in found.events] == ["top"]


def test_independent_velocities_may_be_named_by_their_coordinates() -> None:
    for name in ("theta", "rod_wz"):
        options = Options(independent=(name,))
        found = simulate(
            *(slider_crank(), 0.2), q=START, formulation="index2", step=2e-3, options=options
        )
        np.testing.assert_allclose(found["x"], along(found["theta"]), atol=1e-8)
    with pytest.raises(ModelError, match="rod_e0"):
        options = Options(independent=("rod_e0",))
        simulate(slider_crank(), 0.2, q=START, formulation="index3", options=options)


def test_small_motions_of_a_slider_crank_are_those_of_its_energy() -> None:
    """One freedom: M(θ) θ'' + … with the inertia and potential seen along θ."""
    bottom = equilibrium(slider_crank(), {**START, "theta": 3.0})
    assert bottom.q[0] == pytest.approx(np.pi, abs=1e-9) and bottom.stability == "stable"
    found = linearise(slider_crank(), bottom.q, independent=["theta"])
    assert found.states == ("theta", "dtheta")
    curve = []
    for angle in (-1e-3, 0.0, 1e-3):
        place = assemble(slider_crank(), bottom.q, hold={"theta": np.pi + angle}).q
        curve.append(slider_crank().evaluate("energy", place)[1])
    stiffness = (curve[0] - 2 * curve[1] + curve[2]) / 1e-6
    motion = found.velocities[:, 1]
    inertia = motion @ slider_crank().evaluate("M", bottom.q) @ motion
    assert found.A[1, 0] == pytest.approx(-stiffness / inertia, rel=1e-4)


def test_the_branches_of_a_slider_crank_are_four_whatever_the_sign_of_the_quaternion() -> None:
    """The slider on either side, and the rod turned about itself by half a turn."""
    found = branches(slider_crank(), START, hold={"theta": 0.3}, restarts=40)
    assert len(found) == 4
    assert sorted(round(a.q[-1] / along(np.array(0.3))) for a in found) == [-1, -1, 1, 1]
    assert {a.mobility for a in found} == {1}
    assert redundancy(slider_crank(), found[0]).mobility == 1


# --- events, and real time ------------------------------------------------------------------------


@cache
def falling() -> bl.System:
    s = bl.SymbolicSystem("falling")
    (z,) = s.coordinates("z")
    body = s.orientation("b")
    centre = s.origin.offset("C", s.base.vector(0, 0, z))
    s.solid("body", at=centre, base=body, mass=1.0, inertia=body.inertia(A, B, C))
    s.gravity = s.base.vector(0, 0, -G)
    s.event("floor", z)
    s.start(z=1.0, b_wx=1.0, b_wz=2.0)
    return s.equations().system


def test_a_tumbling_body_bounces() -> None:
    def bounce(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return q, np.array([-v[0], *v[1:]])

    found = simulate(falling(), 1.2, step=1e-2, on_event={"floor": bounce})
    first = math.sqrt(2 / G)
    assert [event.time for event in found.events] == pytest.approx([first], abs=1e-9)
    late = found.t[-1] - first
    assert found["z"][-1] == pytest.approx(math.sqrt(2 * G) * late - G * late**2 / 2, abs=1e-9)
    assert np.abs(found.v[:, 1:] - tumbling(found.t)).max() < 1e-8


@pytest.mark.gcc
def test_the_exported_simulator_restores_unit_norms(tmp_path: Path) -> None:
    simulator = CompiledSimulator(free_body(), tmp_path, "-O1", v=SPIN)
    simulator.library.start()
    found = simulator.trajectory(200)
    expected = simulate(free_body(), 0.2, v=SPIN, step=1e-3)
    np.testing.assert_allclose(found, np.hstack([expected.q, expected.v]), atol=1e-13)
    assert np.abs(np.linalg.norm(found[:, :4], axis=1) - 1).max() <= 1e-14
