"""Inverse kinematics of an arm of seven joints with limits: random poses, against Pinocchio.

Poses of positions drawn within the limits, each solved from the neutral position to 1e-10 m and
1e-10 rad with at most 20 restarts.  Pinocchio has no inverse kinematics of its own: the peer is the
usual loop of damped least squares on its kinematics, with the same starts, limits and damping.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.panda import LOWER, UPPER, forward, panda, random_positions
from benchmarks.peers import PeerMissingError
from benchmarks.pinocchio_ik import Answers, InCpp, InPython, Loop
from benchmarks.report import Row, against, below
from biela.analysis.inverse_kinematics import InverseKinematics, PoseTarget

RESTARTS = 20
#: Share of the poses that must be solved, and the time for one (µs).
SHARE, LIMIT = 0.99, 1000.0


def run(quick: bool) -> Iterator[Row]:
    poses = forward(random_positions(1000 if quick else 10_000, seed=1))
    rounds = 2 if quick else 5
    ik = InverseKinematics(panda(), PoseTarget("hand"))
    neutral = np.zeros(7)

    def ours(some: np.ndarray) -> Any:
        return ik.batch(some, neutral, restarts=RESTARTS, progress=False)

    ours(poses[:50])  # compiled now
    ours_time, found = timed(ours, poses, rounds)
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
        seconds, theirs = timed(lambda x, loop=loop: loop.solve(x, starts, Loop()), some, rounds)
        seconds_here, mine = timed(ours, some, rounds)
        check(some, theirs.q, theirs.solved)
        yield rivals(
            f"{what}, a solution, against Pinocchio in {language}",
            some,
            theirs,
            seconds,
            mine,
            seconds_here,
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


def timed(solve: Callable[[np.ndarray], Any], poses: np.ndarray, rounds: int) -> tuple[float, Any]:
    """The least time of several rounds, and the answers."""
    best, answers = np.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        answers = solve(poses)
        best = min(best, time.perf_counter() - start)
    return best, answers


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
