"""The closed mechanisms of the benchmarks are the same for biela, MuJoCo and Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.closed_loops import mujoco_peer, pinocchio_native, pinocchio_peer
from benchmarks.closed_loops.catalogue import Entry, entries
from benchmarks.closed_loops.peer_run import judged

NAMES = ("four_bar", "slider_crank", "stewart")


@cache
def entry(name: str) -> Entry:
    return entries()[name]


@cache
def values(name: str) -> dict[str, np.ndarray]:
    """Biela's matrices in the start, and the accelerations of M v' + Φ_vᵀ λ = Q, Φ_v v' = γ."""
    mechanism = entry(name).mechanism
    system = entry(name).system().equations().system
    q, v = np.array(mechanism.q), np.array(mechanism.v)
    found = {what: system.evaluate(what, q) for what in ("M", "Phi", "Phi_v")}
    found |= {what: system.evaluate(what, q, v) for what in ("Q", "gamma")}
    M, J = found["M"], found["Phi_v"]
    matrix = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    found["a"] = np.linalg.solve(matrix, np.concatenate([found["Q"], found["gamma"]]))[: len(q)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_start_closes_the_loops_of_biela_too(name: str) -> None:
    found = values(name)
    assert np.abs(found["Phi"]).max() < 1e-13
    assert np.abs(found["Phi_v"] @ entry(name).mechanism.v).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_numbers_have_the_energies_of_biela(name: str) -> None:
    """Kinetic energy is v·Mv/2; that of position falls at the power of the forces at rest."""
    mechanism = entry(name).mechanism
    system = entry(name).system().equations().system
    q, v = np.array(mechanism.q), np.array(mechanism.v)
    kinetic, _ = mechanism.energies(q, v)
    assert kinetic == pytest.approx(v @ values(name)["M"] @ v / 2, rel=1e-13)
    h = 1e-5
    near = mechanism.energies(np.array([q + h * v, q - h * v]), np.zeros((2, len(q))))[1]
    power = system.evaluate("Q", q, np.zeros(len(q))) @ v
    assert (near[1] - near[0]) / (2 * h) == pytest.approx(power, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_mujoco_has_the_same_mechanism(name: str) -> None:
    """Its closures are soft: an impedance of 0.9999 leaves a ten-thousandth to them.

    Without closures, accelerations agree to rounding.
    """
    pytest.importorskip("mujoco")
    mechanism = entry(name).mechanism
    kinetic, potential = mechanism.energies(np.array(mechanism.q), np.array(mechanism.v))
    assert mujoco_peer.start_energy(mechanism) == pytest.approx((potential, kinetic), rel=1e-12)
    free = mujoco_peer.accelerations(replace(mechanism, closures=()))
    exact = np.linalg.solve(values(name)["M"], values(name)["Q"])
    assert np.abs(free - exact).max() < 1e-10 * np.abs(exact).max()
    closed = mujoco_peer.accelerations(mechanism)
    scale = max(np.abs(exact).max(), np.abs(values(name)["a"]).max())
    assert np.abs(closed - values(name)["a"]).max() < 1e-3 * scale


@pytest.mark.parametrize("way", pinocchio_peer.Way)
@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_has_the_same_mechanism(name: str, way: pinocchio_peer.Way) -> None:
    pytest.importorskip("pinocchio")
    if not pinocchio_native.built():
        pytest.skip("compiled by python -m benchmarks.closed_loops, which takes minutes")
    mechanism = entry(name).mechanism
    simulation = pinocchio_peer.Simulation(mechanism, pinocchio_peer.Settings(way))
    kinetic, potential = mechanism.energies(np.array(mechanism.q), np.array(mechanism.v))
    assert simulation.start_energy() == pytest.approx((potential, kinetic), rel=1e-12)
    error = np.abs(simulation.accelerations() - values(name)["a"]).max()
    assert error < 1e-6 * np.abs(values(name)["a"]).max()


def test_drift_and_energy_are_judged_from_coordinates() -> None:
    mechanism = entry("slider_crank").mechanism
    q, v = np.array([mechanism.q] * 2), np.array([mechanism.v] * 2)
    q[1, 2] += 1e-3  # the slider alone, which has a mass but no weight along its way
    v[1] *= 1.01
    run = judged("none", mechanism, "", 1.0, 10, q, v)
    assert run.drift == pytest.approx(1e-3, rel=1e-9)
    assert run.energy == pytest.approx(1 - 1 / 1.01**2, rel=1e-9)
    assert run.end == pytest.approx((mechanism.q[2] + 1e-3, 0, 0))
