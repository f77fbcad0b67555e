"""Driven overconstrained linkages: ``python -m tests.soak.driven_motion --linkages 30``.

Linkages of random proportions are driven through a whole turn where one of their hinges can make
it, else nearly as far as one goes, in all coordinates and both engines.  Places, velocities and
accelerations of all bodies are compared with `tests.oracles.hinge_loops`, which shares no code with
biela, and those of Peaucellier's linkage with its closed form.  The exit status is 1 if anything
differs by more than 1e-9, or is refused.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import cache
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

import biela as bl
from tests.oracles import peaucellier as inversor
from tests.oracles.hinge_loops import BodyMotion, HingeLoop
from tests.overconstrained import LINKAGES, Posed, peaucellier, posed_linkage

Floats = npt.NDArray[np.float64]

WAYS = ("joint", "reference", "natural", "euler", "looped")
PARTS = (
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "acceleration",
    "angular_acceleration",
)
INSTANTS = 101
#: Largest difference, in m, rad and s.
ALLOWED = 1e-9
#: Smallest singular value of the driven chain; below it accelerations lose digits, as 1/σ³.
GRIP = 0.02


@cache
def reach(name: str, seed: int) -> tuple[int, float]:
    """A hinge that makes a whole turn, or the one that goes farthest, and how far it is driven."""
    posed = posed_linkage(name, seed)[1]
    loop = HingeLoop(posed.chain.rows)
    best = (0, 0.0)
    for hinge in range(len(posed.theta)):
        for side in (1.0, -1.0):
            far = _far(loop, posed.theta, hinge, side)
            if far >= 2 * np.pi:
                return hinge, side * 2 * np.pi
            if far > abs(best[1]):
                best = (hinge, side * far)
    return best


def _far(loop: HingeLoop, theta: Floats, hinge: int, side: float) -> float:
    """The angle through which a hinge can be driven with a firm grip."""
    step, at, far = 0.05, theta, 0.0
    while far < 2 * np.pi:
        if loop.grip(at, hinge) < GRIP:
            break
        v, a = loop.rates(at, hinge, side)
        try:
            at = loop.closed(at + step * v + step**2 / 2 * a, hinge, at[hinge] + side * step)
        except ValueError:
            break
        far += step
    return far if far >= 2 * np.pi else max(0.0, far - 4 * step)


@cache
def exact(
    name: str, seed: int, hinge: int, span: float
) -> tuple[Posed, tuple[Floats, Floats, Floats], list[BodyMotion]]:
    """The linkage, its angles at all instants and the motions of its bars, at 1 rad/s."""
    posed = posed_linkage(name, seed)[1]
    loop = HingeLoop(posed.chain.rows)
    t = np.linspace(0, abs(span), INSTANTS)
    path = loop.path(posed.theta, hinge, float(np.sign(span)), t)
    bars = [
        loop.motion(k, path, posed.theta, posed.turn, posed.place)
        for k in range(len(posed.theta) - 1)
    ]
    return posed, path, bars


def driven(name: str, seed: int, hinge: int, span: float, way: str) -> bl.Results:
    """The motion by biela."""
    m, _ = posed_linkage(name, seed)
    law = "t" if span > 0 else "-t"
    m.driver("rotary", "motor", coordinate=f"j{hinge}.angle", law=law)
    return moved(m, abs(span), way)


def moved(m: bl.Model, span: float, way: str) -> bl.Results:
    """A driven model in some coordinates, or by the looped engine."""
    step = span / (INSTANTS - 1)
    if way == "looped":
        return bl.kinematics(m, span, step=step, engine="looped")
    return bl.kinematics(bl.formulate(m, way), span, step=step)


def gap(found: bl.Results, bars: list[BodyMotion]) -> float:
    """The largest difference of places (m, cosines), velocities and accelerations of all bars."""
    worst = 0.0
    for k, wanted in enumerate(bars):
        frame = found.frame(f"bar{k}")
        for part in PARTS:
            differ = np.abs(np.asarray(getattr(frame, part)) - getattr(wanted, part))
            worst = max(worst, float(differ.max()))
    return worst


def inversor_gap(seed: int, way: str) -> float:
    """The same of Peaucellier's linkage, from one side to the other, by its closed form.

    Angles of all bars are compared, the motion of the tracing point Q, and its line.
    """
    m, given = peaucellier(seed)
    rate = -float(np.sign(given.angle))
    m.driver("rotary", "motor", coordinate="C.angle", law="t" if rate > 0 else "-t")
    found = moved(m, 2 * abs(given.angle), way)
    phi = given.angle + rate * np.asarray(found.t)
    Q, angles = inversor.motion(phi, rate, given.long, given.side, given.crank)
    x, y, n = given.turn.T
    gaps = []
    for bar, (angle, speed, change) in angles.items():
        frame = found.frame(bar)
        c, s = np.cos(angle - angle[0]), np.sin(angle - angle[0])
        R = np.asarray(frame.orientation).reshape(-1, 3, 3)
        gaps += [
            R @ x - np.outer(c, x) - np.outer(s, y),
            np.asarray(frame.angular_velocity) - np.outer(speed, n),
            np.asarray(frame.angular_acceleration) - np.outer(change, n),
        ]
    frame = found.frame("AQ")
    R = np.asarray(frame.orientation).reshape(-1, 3, 3)
    arm = R @ (given.place + given.turn[:, :2] @ Q[0, 0])
    w, alpha = np.asarray(frame.angular_velocity), np.asarray(frame.angular_acceleration)
    place = np.asarray(frame.position) + arm - given.place
    velocity = np.asarray(frame.velocity) + np.cross(w, arm)
    acceleration = (
        np.asarray(frame.acceleration) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    )
    flat = Q @ given.turn[:, :2].T
    gaps += [place - flat[0], velocity - flat[1], acceleration - flat[2]]
    gaps.append(place @ x - (given.long**2 - given.side**2) / (2 * given.crank))
    return max(float(np.abs(gap).max()) for gap in gaps)


def main(given: list[str] | None = None) -> int:
    """Run, print a line for each motion; 1 if any differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.driven_motion", description=__doc__)
    parser.add_argument("--linkages", type=int, default=30, help="random ones, all kinds in turn")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    arguments = parser.parse_args(given)
    names, faults, worst = [*LINKAGES, "peaucellier"], 0, 0.0
    for k in range(arguments.first, arguments.first + arguments.linkages):
        name, seed = names[k % len(names)], k // len(names)
        if name == "peaucellier":
            hinge, span = 0, 2 * peaucellier(seed)[1].angle
        else:
            hinge, span = reach(name, seed)
        for way in WAYS:
            began = time.perf_counter()
            try:
                if name == "peaucellier":
                    error = inversor_gap(seed, way)
                else:
                    bars = exact(name, seed, hinge, span)[2]
                    error = gap(driven(name, seed, hinge, span, way), bars)
                text = f"{error:.2g}"
            except bl.BielaError as why:
                error, text = np.inf, f"{type(why).__name__}: {why}"
            faults += not error <= ALLOWED
            worst = max(worst, error)
            seconds = time.perf_counter() - began
            line = f"{name} {seed}, hinge {hinge} by {span:.2f} rad, {way}: {text}, {seconds:.1f} s"
            print(line, flush=True)
    print(f"{faults} differ; the largest difference is {worst:.2g}")
    return int(faults > 0)


if __name__ == "__main__":
    # the code of these models is of no use later
    with TemporaryDirectory(prefix="biela-soak-") as folder:
        os.environ.setdefault("BIELA_CACHE_DIR", folder)
        sys.exit(main())
