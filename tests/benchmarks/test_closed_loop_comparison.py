"""Biela's own run of the closed mechanisms, and how runs are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biela as bl
from benchmarks.agreement import WrongResultError
from benchmarks.closed_loops.biela_run import Simulation, run_biela
from benchmarks.closed_loops.catalogue import entries
from benchmarks.closed_loops.comparison import accuracy, check_end, in_turns
from benchmarks.closed_loops.peer_run import PeerRun


@pytest.fixture(scope="module")
def crank() -> PeerRun:
    return run_biela(Simulation(entries()["slider_crank"]), 0.5, 1e-3, repeats=2)


def test_the_run_is_that_of_another_method(crank: PeerRun) -> None:
    entry = entries()["slider_crank"]
    mechanism = entry.mechanism
    other = bl.simulate(
        entry.system(), 0.5, q=mechanism.q, v=mechanism.v, tolerance=1e-11, output=0.01
    )
    assert crank.q.shape == other.q.shape
    assert np.abs(crank.q - other.q).max() < 1e-7
    assert crank.drift < 1e-13 and 0 < crank.energy < 1e-7
    assert crank.steps == 500 and crank.seconds > 0


def test_a_peer_that_ends_elsewhere_stops_the_benchmark(crank: PeerRun) -> None:
    x, y, z = crank.end
    check_end(crank, replace(crank, package="near", end=(x + 5e-4, y, z)))
    with pytest.raises(WrongResultError, match="slider_crank: far ends"):
        check_end(crank, replace(crank, package="far", end=(x, y, z + 2e-3)))
    with pytest.raises(WrongResultError):
        check_end(crank, replace(crank, package="lost", end=(float("nan"), y, z)))


def test_the_least_time_of_all_turns_counts(crank: PeerRun) -> None:
    times = {"one": iter([0.5, 0.1, 0.4]), "two": iter([0.9, 0.8, 0.7])}
    order: list[tuple[str, int]] = []

    def candidate(name: str):
        def run(repeats: int) -> PeerRun:
            order.append((name, repeats))
            return replace(crank, package=name, seconds=next(times[name]))

        return run

    best = in_turns({name: candidate(name) for name in times}, rounds=2)
    assert best["one"].seconds == 0.1 and best["two"].seconds == 0.7
    # in turns, and a fast one more often than a slow one
    assert order == [("one", 1), ("two", 1), ("one", 1), ("two", 1), ("one", 3), ("two", 1)]


def test_a_fused_step_of_nystrom_is_that_of_its_stages(crank: PeerRun) -> None:
    entry = entries()["slider_crank"]
    fused = run_biela(Simulation(entry, "nystrom"), 0.5, 1e-3, repeats=1)
    start = {"q": entry.mechanism.q, "v": entry.mechanism.v}
    simulator = bl.Simulator(entry.system(), integrator="nystrom", options=bl.Options(fused=False))
    apart = simulator.run(0.5, step=1e-3, output=0.01, **start)
    assert fused.q == pytest.approx(apart.q, rel=1e-12, abs=1e-12)
    assert fused.v == pytest.approx(apart.v, rel=1e-11, abs=1e-11)
    # another method of the same order
    assert 1e-12 < np.abs(fused.q - crank.q).max() < 1e-7
    assert fused.drift < 1e-13


def test_accuracy_is_that_of_the_best_peer_in_each_respect(crank: PeerRun) -> None:
    peers = [
        replace(crank, drift=1e-3, energy=2 * crank.energy),
        replace(crank, drift=2 * crank.drift, energy=1.0),
    ]
    assert accuracy("crank", "rk4", crank, peers).ok
    assert not accuracy("crank", "rk4", replace(crank, energy=3 * crank.energy), peers).ok
    assert not accuracy("crank", "rk4", replace(crank, drift=3 * crank.drift), peers).ok
