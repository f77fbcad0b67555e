"""Biela beside its peers: the same mechanisms, 10 s at 1 ms by Runge and Kutta, in turns.

Biela also runs them by Nyström's method, the method of Runge and Kutta for second-order equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.closed_loops import biela_run, pinocchio_peer
from benchmarks.closed_loops.biela_run import run_biela
from benchmarks.closed_loops.catalogue import Entry, entries
from benchmarks.closed_loops.mujoco_peer import run_mujoco
from benchmarks.closed_loops.peer_run import PeerRun
from benchmarks.closed_loops.pinocchio_peer import run_pinocchio
from benchmarks.peers import PeerMissingError
from benchmarks.report import Row, against

SECONDS, STEP = 10.0, 1e-3
#: Methods of biela; the first is that of the peers.
INTEGRATORS = ("rk4", "nystrom")
#: Each takes its turn for so long.
TURN = 0.3

#: Time of biela over that of MuJoCo and of Pinocchio's function for closed loops.
TARGETS = {"four_bar": 0.1, "slider_crank": 0.1, "stewart": 0.15}

#: Simulates so many times and tells of the fastest.
Candidate = Callable[[int], PeerRun]

MUJOCO = "MuJoCo"
PROXIMAL = "Pinocchio, constraintDynamics"
BY_HAND = "Pinocchio, forwardDynamics and rows by hand"


def rows(quick: bool) -> Iterator[Row]:
    """The rows of the table."""
    seconds, rounds = (1.0, 2) if quick else (SECONDS, 8)
    for name, entry in entries().items():
        ours: dict[str, Candidate] = {}
        for integrator in INTEGRATORS:
            simulation = biela_run.Simulation(entry, integrator)
            simulation.simulate(seconds, STEP)  # compiles
            ours[integrator] = partial(_ours, simulation, seconds)
        peers, missing = available(entry, seconds)
        found = in_turns({**ours, **peers}, rounds)
        best = found["rk4"]
        for integrator in ours:
            yield Row(f"{name}, {seconds:g} s at 1 ms by {integrator}", told(found[integrator]))
        for peer in peers:
            theirs = found[peer]
            check_end(best, theirs)
            what = f"{name}, against {peer}"
            if peer == BY_HAND:
                yield Row(what, told(theirs), ratio=best.seconds / theirs.seconds)
            else:
                yield against(what, best.seconds, theirs.seconds, TARGETS[name], told(theirs))
        for integrator in ours if peers else ():
            yield accuracy(name, integrator, found[integrator], [found[peer] for peer in peers])
        for text in missing:
            yield Row(f"{name}, against a peer", f"not measured: {text}")


def accuracy(name: str, integrator: str, ours: PeerRun, peers: Sequence[PeerRun]) -> Row:
    """Whether loops and energy are kept at least as well as by every peer."""
    drift, energy = (min(getattr(run, what) for run in peers) for what in ("drift", "energy"))
    return Row(
        f"{name}, accuracy of {integrator}",
        f"drift {ours.drift:.2e} m, energy {ours.energy:.3e}",
        f"≤ {drift:.2e} m, {energy:.3e}",
        ok=ours.drift <= drift and ours.energy <= energy,
    )


def available(entry: Entry, seconds: float) -> tuple[dict[str, Candidate], list[str]]:
    """The peers that are installed, and what is said of the others."""
    mechanism = entry.mechanism
    peers: dict[str, Candidate] = {
        MUJOCO: lambda n: run_mujoco(mechanism, seconds, STEP, repeats=n),
        PROXIMAL: lambda n: run_pinocchio(
            mechanism, seconds, STEP, pinocchio_peer.PROXIMAL, repeats=n
        ),
        BY_HAND: lambda n: run_pinocchio(
            mechanism, seconds, STEP, pinocchio_peer.FASTEST, repeats=n
        ),
    }
    missing: dict[str, None] = {}
    for name, run in list(peers.items()):
        try:
            run(1)
        except PeerMissingError as error:
            del peers[name]
            missing[str(error)] = None
    return peers, list(missing)


def in_turns(candidates: Mapping[str, Candidate], rounds: int) -> dict[str, PeerRun]:
    """The fastest run of each, over rounds in which all take a turn of the same length."""
    best = {name: run(1) for name, run in candidates.items()}
    for _ in range(rounds):
        for name, run in candidates.items():
            new = run(max(1, round(TURN / best[name].seconds)))
            best[name] = min(best[name], new, key=lambda run: run.seconds)
    return best


def check_end(ours: PeerRun, theirs: PeerRun) -> None:
    """Stop if a peer's marked point ends elsewhere; its drift and energy leave it a millimetre.

    Raises:
        WrongResultError: The motions differ.
    """
    apart = float(np.linalg.norm(np.subtract(ours.end, theirs.end)))
    if not apart < 1e-3:
        raise WrongResultError(f"{ours.mechanism}: {theirs.package} ends {apart:.1e} m from biela")


def told(run: PeerRun) -> str:
    """A run in words."""
    return (
        f"{run.seconds * 1e3:.3g} ms, {run.microseconds:.3g} µs a step, drift {run.drift:.1e} m, "
        f"energy {run.energy:.1e}"
    )


def _ours(simulation: biela_run.Simulation, seconds: float, repeats: int) -> PeerRun:
    return run_biela(simulation, seconds, STEP, repeats)
