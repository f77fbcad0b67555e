"""Inverse kinematics of an arm of seven joints with limits: random poses, against Pinocchio.

Poses of positions drawn within the limits, each solved from the neutral position to 1e-10 m and
1e-10 rad with at most 20 restarts.  Pinocchio has no inverse kinematics of its own: the peer is the
usual loop of damped least squares on its kinematics, with the same starts and limits.  The
constants of both were tuned on the poses of another seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.panda import LOWER, UPPER, forward, panda, random_positions
from benchmarks.peers import PeerMissingError
from benchmarks.pinocchio_ik import Answers, InCpp, InPython, Loop
from benchmarks.report import Row, against, below
from biela.analysis.inverse_kinematics import InverseKinematics, PoseTarget

RESTARTS = 20
#: Poses that are timed together: bursts of some milliseconds.
BURST = 250
#: Share of the poses that must be solved, and the time for one (µs).
SHARE, LIMIT = 0.99, 1000.0


def run(quick: bool) -> Iterator[Row]:
    poses = forward(random_positions(1000 if quick else 10_000, seed=2))
    rounds = 3 if quick else 10
    ik = InverseKinematics(panda(), PoseTarget("hand"))
    neutral = np.zeros(7)

    def ours(some: np.ndarray) -> Any:
        return ik.batch(some, neutral, restarts=RESTARTS, progress=False)

    ours(poses[:50])  # compiled now
    found = ours(poses)
    (ours_time,) = alternately([ours], poses, rounds)
    check(poses, found.q, found.converged)
    what, count = "7 joints with limits, inverse kinematics", len(poses)
    effort = f"{found.iterations.mean():.1f} evaluations, {found.restarts.mean():.2f} restarts"
    share = f"{100 * found.solved:.2f} % of {count} poses, {effort}"
    yield Row(f"{what}: solved", share, f"≥ {100 * SHARE:g} %", None, found.solved >= SHARE)
    yield below(f"{what}, a pose", ours_time / count * 1e6, LIMIT, "µs")
    starts = np.vstack([neutral, LOWER + (UPPER - LOWER) * draws()])
    for language, make, some in (("C++", InCpp, poses), ("Python", InPython, poses[:300])):
        try:
            loop = make()
        except PeerMissingError as missing:
            yield Row(f"{what}, against Pinocchio in {language}", f"not measured: {missing}")
            continue
        both = [ours, lambda x, loop=loop: loop.solve(x, starts, Loop())]
        mine, theirs = (solve(some) for solve in both)
        own, seconds = alternately(both, some, rounds)
        check(some, theirs.q, theirs.solved)
        yield rivals(
            f"{what}, a solution, against Pinocchio in {language}",
            some,
            theirs,
            seconds,
            mine,
            own,
        )


def rivals(
    what: str, poses: np.ndarray, theirs: Answers, seconds: float, mine: Any, own: float
) -> Row:
    """Time for a solution, of all the time and of those that were solved."""
    us = own / max(mine.converged.sum(), 1) * 1e6
    them = seconds / max(theirs.solved.sum(), 1) * 1e6
    share = 100 * theirs.solved.mean()
    count = len(poses)
    effort = f"{theirs.evaluations / count:.1f} evaluations, {theirs.restarts / count:.2f} restarts"
    measured = f"{us:.3g} µs, Pinocchio {them:.3g} µs ({share:.2f} % solved, {effort})"
    return against(what, us, them, 1.0, measured)


def draws() -> np.ndarray:
    """The starts of the restarts, between 0 and 1: those that biela draws."""
    return np.random.default_rng(0).random((RESTARTS, 7))


def alternately(
    solvers: Sequence[Callable[[np.ndarray], Any]], poses: np.ndarray, rounds: int
) -> list[float]:
    """The time each solver takes: part by part the least of rounds in which they take turns."""
    total = [0.0] * len(solvers)
    for first in range(0, len(poses), BURST):
        best = [np.inf] * len(solvers)
        for _ in range(rounds):
            for k, solve in enumerate(solvers):
                start = time.perf_counter()
                solve(poses[first : first + BURST])
                best[k] = min(best[k], time.perf_counter() - start)
        total = [a + b for a, b in zip(total, best, strict=True)]
    return total


def check(poses: np.ndarray, q: np.ndarray, solved: np.ndarray) -> None:
    """Solutions reach their poses, within the limits, by kinematics of their own."""
    if not ((q >= LOWER) & (q <= UPPER)).all():
        raise WrongResultError("a position is outside of the limits")
    reached = forward(q)[solved]
    wanted = poses[solved]
    place = np.linalg.norm(reached[:, :3, 3] - wanted[:, :3, 3], axis=1)
    turned = reached[:, :3, :3] @ wanted[:, :3, :3].transpose(0, 2, 1)
    skew = turned - turned.transpose(0, 2, 1)
    # of small turns the sine, and only of small ones the trace is near 3
    angle = np.linalg.norm(skew[:, [2, 0, 1], [1, 2, 0]], axis=1) / 2
    near = np.trace(turned, axis1=1, axis2=2) > 2.9
    if not (near.all() and max(place.max(), angle.max()) <= 1.01e-10):
        raise WrongResultError("a solution misses its pose")
