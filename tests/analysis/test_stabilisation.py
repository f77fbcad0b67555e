"""What formulations do with constraints that are violated, by theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations.augmented3 import AugmentedStep
from biela.analysis.unrolled import Unrolled
from examples.mechanisms import bricard, slider_crank


def crank() -> bl.System:
    return slider_crank.slider_crank().equations().system


def violations(system: bl.System, r: bl.Results) -> np.ndarray:
    return np.array([system.evaluate("Phi", q) for q in r.q])


@pytest.mark.parametrize("alpha", [5.0, 20.0])
def test_baumgarte_lets_a_violation_decay_as_a_damped_oscillator(alpha) -> None:
    """Φ'' + 2α Φ' + α² Φ = 0 from rest: Φ = Φ₀ (1 + α t) exp(-α t)."""
    system = crank()
    q, _ = slider_crank.start()
    q = np.add(q, [0.0, 0.01, 0.02])
    r = bl.simulate(
        system,
        0.5,
        step=1e-4,
        output=0.01,
        q=q,
        v=[0.0, 0.0, 0.0],
        assemble=False,
        formulation="baumgarte",
        options=bl.Options(baumgarte=alpha),
    )
    found = violations(system, r)
    decay = (1 + alpha * r.t) * np.exp(-alpha * r.t)
    assert np.abs(found[0]).min() > 1e-3
    np.testing.assert_allclose(found, decay[:, None] * found[0], rtol=0, atol=1e-9)


def test_without_stabilisation_a_violation_of_velocity_grows_linearly() -> None:
    """Φ'' = 0 gives Φ = c₁ t + c₂."""
    system = crank()
    q, v = slider_crank.start()
    v = np.add(v, [0.0, 0.0, 1e-3])
    r = bl.simulate(
        system, 0.5, step=1e-4, output=0.01, q=q, v=v, assemble=False,
        options=bl.Options(projections="never"),
    )  # fmt: skip
    rate = system.evaluate("Phi_v", q) @ v
    assert np.abs(rate).max() == pytest.approx(1e-3)
    np.testing.assert_allclose(violations(system, r), np.outer(r.t, rate), rtol=0, atol=1e-10)


def test_the_violation_of_a_penalty_falls_with_its_size() -> None:
    system = crank()
    worst = [
        np.abs(violations(system, bl.simulate(
            system, 0.2, step=4e-5, output=1e-3, formulation="penalty",
            options=bl.Options(penalty=alpha),
        ))).max()
        for alpha in (1e3, 1e4, 1e5)
    ]  # fmt: skip
    ratios = np.array(worst[:-1]) / worst[1:]
    np.testing.assert_allclose(ratios, 10.0, rtol=0.1)


@pytest.mark.parametrize("formulation", ["penalty", "augmented"])
@pytest.mark.parametrize("damping", [0.2, 1.0])
def test_a_violation_of_a_penalty_decays_as_the_oscillator_that_is_asked_for(
    damping, formulation
) -> None:
    """With a large α, Φ'' + 2Ωμ Φ' + Ω² Φ = 0 from rest: frequency Ω and damping μ, each shown."""
    system = crank()
    frequency = 20.0
    q, _ = slider_crank.start()
    q = np.add(q, [0.0, 0.01, 0.02])
    r = bl.simulate(
        system,
        0.4,
        step=1e-4,
        output=0.01,
        q=q,
        v=[0.0, 0.0, 0.0],
        assemble=False,
        formulation=formulation,
        options=bl.Options(penalty=1e9, frequency=frequency, damping=damping, projections="never"),
    )
    found = violations(system, r)
    if damping == 1.0:
        decay = (1 + frequency * r.t) * np.exp(-frequency * r.t)
    else:
        swing = frequency * math.sqrt(1 - damping**2)
        decay = np.exp(-damping * frequency * r.t) * (
            np.cos(swing * r.t) + damping * frequency / swing * np.sin(swing * r.t)
        )
        assert decay.min() < -0.1  # it swings through
    assert np.abs(found[0]).min() > 1e-3
    np.testing.assert_allclose(found, decay[:, None] * found[0], rtol=0, atol=1e-6)


def test_rounds_of_the_augmented_lagrangian_remove_what_a_penalty_leaves() -> None:
    """Each round multiplies the violation of the accelerations by a number of the size of 1/α."""
    system = crank()
    q, v = slider_crank.start()
    rows, gamma = system.evaluate("Phi_v", q), system.evaluate("gamma", q, v)
    missed = []
    for rounds in (1, 2, 3):
        r = bl.simulate(
            system, 1e-4, step=1e-4, formulation="augmented",
            options=bl.Options(penalty=1e3, rounds=rounds),
        )  # fmt: skip
        missed.append(np.abs(rows @ r.a[0] - gamma).max())
    exact = bl.simulate(system, 1e-4, step=1e-4)
    np.testing.assert_allclose(r.lam[0], exact.lam[0], rtol=1e-5)
    assert missed[0] > 1e-4 * np.abs(gamma).max()
    assert missed[1] < 0.02 * missed[0] and missed[2] < 0.02 * missed[1]


@pytest.mark.parametrize(
    ("model", "redundant"), [(slider_crank.slider_crank, False), (bricard.bricard, True)]
)
def test_partitions_cannot_drift_in_what_they_solve_for(model, redundant) -> None:
    """Velocities with index two, positions too with index three, and none of it by projections."""
    system = model().equations().system
    errors = {}
    for formulation in ("multipliers", "index2", "index3"):
        r = bl.simulate(
            system, 1.0, step=5e-3, formulation=formulation,
            options=bl.Options(projections="never"),
        )  # fmt: skip
        errors[formulation] = r["constraint error"].max(), r["velocity error"].max()
    position, velocity = errors["index2"]
    assert 1e-12 < position < errors["multipliers"][0]
    # a redundant row is left out; it is redundant only as far as the positions are right
    assert velocity < (position if redundant else 1e-12)
    assert velocity < errors["multipliers"][1] / 10
    assert max(errors["index3"]) < 1e-12


@pytest.mark.parametrize("formulation", ["augmented3", "generalised_alpha"])
@pytest.mark.parametrize("model", [slider_crank.slider_crank, bricard.bricard])
def test_methods_of_index_three_are_of_order_two_and_meet_the_constraints(
    model, formulation
) -> None:
    system = model().equations().system
    duration = 0.1
    exact = bl.simulate(system, duration, tolerance=1e-11)
    simulator = bl.Simulator(system, formulation)
    errors = []
    for steps in (100, 200):
        r = simulator.run(duration, step=duration / steps)
        errors.append(np.abs(r.q[-1] - exact.q[-1]).max())
        assert r["constraint error"].max() < 1e-11
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_the_step_of_index_three_projects_velocities_and_accelerations() -> None:
    """The trapezoidal rule meets neither of their constraints, the projections do nearly."""
    system, h = crank(), 2e-3
    q, v = (np.array(part) for part in slider_crank.start())
    step = AugmentedStep(Unrolled(system), scale=1.0, iterations=4).function()
    start = bl.simulate(system, h, step=h)
    p = np.array([entry.value for entry in system.p] + [0.0] * len(system.u) + [h])
    a, lam = start.a[0], start.lam[0]
    end = np.asarray(step([0.0], np.concatenate([q, v, a, lam]), p))
    q1, v1, a1 = end[:3], end[3:6], end[6:9]
    rule_v = 2 / h * (q1 - q) - v
    rule_a = 4 / h**2 * (q1 - q) - 4 / h * v - a
    rows = system.evaluate("Phi_v", q1)
    assert np.abs(system.evaluate("Phi", q1)).max() < 1e-14
    missed = {"rule": np.abs(rows @ rule_v).max(), "projected": np.abs(rows @ v1).max()}
    assert missed["rule"] > 1e-4 and missed["projected"] < 1e-4 * missed["rule"]
    gamma = system.evaluate("gamma", q1, v1)
    missed = {
        "rule": np.abs(rows @ rule_a - gamma).max(),
        "projected": np.abs(rows @ a1 - gamma).max(),
    }
    assert missed["rule"] > 1e-2 and missed["projected"] < 1e-4 * missed["rule"]
