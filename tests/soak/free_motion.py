"""Free motions of overconstrained linkages: ``python -m tests.soak.free_motion --starts 100``.

Each start is a linkage of random proportions, place, masses and speed.  It moves for 20 s under
its weight in all coordinates and both engines, with default options and with three fixed steps.
Nothing takes energy away, so that the energy says whether the motion can be right; and all
coordinates must lead to the same place.  A run ends in one of these ways:

kept
    The energy stays to 1e-7 of the largest kinetic energy.
explained
    It does not, but it does with half the step, or a tolerance of 1e-10 or 1e-12; or at least eight
    times less is missing: the error is that of the method.
reported
    More is missing, and an event of the results says so.
refused
    An error of biela, which must name the model and what to try.
silent
    Anything else, which is a fault; the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import biela as bl
from biela.analysis.formulations.choice import FORMULATIONS, STEPPING
from tests.overconstrained import LINKAGES, linkage, peaucellier

NAMES = (*LINKAGES, "peaucellier")
COORDINATES = ("joint", "reference", "natural", "euler")
#: What is asked of a run: None takes default options, a number is a fixed step.
STEPS = (None, 5e-3, 2e-3, 1e-3)
DURATION = 20.0
#: Linkages that all formulations are tried on.
METHODS = ("bennett", "bricard_trihedral", "sarrus", "bricard_plane", "goldberg", "myard")
#: Part of the largest kinetic energy that may go missing.
KEPT = 1e-7
#: By how much half a step, or a smaller tolerance, must lessen what is missing.
LESS = 8.0
#: That of the formulations.
STEP = 2e-3
#: How far from each other coordinates may end where each of them kept the energy, m.  An energy
#: that is off by 1e-7 changes the speed by half of that, and places near folds by much more; a
#: motion on another branch ends somewhere else altogether.
APART = 1e-2
#: Formulations and their orders, with the integrator that they take for a fixed step: Runge-Kutta
#: of fourth order, but for two that step by themselves.
ORDERS = {name: 2 if name in STEPPING else 4 for name in FORMULATIONS}
#: An error as small as this shows no order any more.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Run:
    """What came of one run."""

    linkage: str
    seed: int
    coordinates: str
    engine: str
    step: float | None
    outcome: str
    #: Missing energy, as a part of the largest kinetic energy, and with half the step.
    error: float
    finer: float | None
    #: Kinetic energy at the start, and where the first point of the last body ends.
    kinetic: float
    end: tuple[float, ...]
    seconds: float
    text: str = ""


def started(name: str, seed: int) -> bl.Model:
    """A linkage at a random speed."""
    m = peaucellier(seed)[0] if name == "peaucellier" else linkage(name, seed)
    first = next(iter(m.joints))
    speed = 0.5 if name == "peaucellier" else 3.0
    rate = float(np.random.default_rng(seed).uniform(-speed, speed))
    m.joints[first] = replace(m.joints[first], rates={"angle": rate})
    return m


class Engine:
    """A linkage in some coordinates, compiled once for all steps."""

    def __init__(self, model: bl.Model, coordinates: str, engine: str) -> None:
        self.model, self.looped = model, engine == "looped"
        if not self.looped:
            self.system = bl.formulate(model, coordinates)
            self.simulator = bl.Simulator(self.system)

    def run(self, step: float | None, tolerance: float | None = None) -> bl.Results:
        """The motion, stored every twentieth of a second."""
        how: dict[str, Any] = {"step": step, "output": 0.05, "progress": False}
        if tolerance is not None:
            how["tolerance"] = tolerance
        if self.looped:
            return bl.simulate(self.model, DURATION, engine="looped", **how)
        return self.simulator.run(DURATION, **how)

    def energies(self, r: bl.Results) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy and the total, from masses, weights and the motion of the bodies."""
        m = self.model
        kinetic, total = np.zeros(len(r.t)), np.zeros(len(r.t))
        for name, body in m.bodies.items():
            data, frame = body.inertia, r.frame(name)
            mass = float(data.mass)
            R = np.asarray(frame.orientation).reshape(-1, 3, 3)
            w = np.asarray(frame.angular_velocity)
            arm = R @ np.asarray(data.com, dtype=float)
            v = np.asarray(frame.velocity) + np.cross(w, arm)
            turning = np.einsum("kji,kj->ki", R, w)
            inertia = np.asarray(data.moments[:3], dtype=float)
            moved = mass * (v**2).sum(1) / 2 + (turning**2 * inertia).sum(1) / 2
            height = (np.asarray(frame.position) + arm) @ np.asarray(m.gravity, dtype=float)
            kinetic += moved
            total += moved - mass * height
        return kinetic, total


def missing(engine: Engine, r: bl.Results) -> tuple[float, float]:
    """The part of the energy that goes missing, and the kinetic energy at the start."""
    kinetic, total = engine.energies(r)
    return float(np.abs(total - total[0]).max() / kinetic.max()), float(kinetic[0])


def named(model: bl.Model, text: str) -> bool:
    """Whether a message says what it is about: the model, a body or a joint, or the time."""
    return any(word in text for word in (model.name, *model.bodies, *model.joints, "t = "))


def tried(engine: Engine, step: float | None) -> tuple[str, float, float | None, float, Any, str]:
    """One run: its outcome, the energy that is missing, the same with finer steps, and the rest."""
    try:
        r = engine.run(step)
    except bl.BielaError as error:
        text = f"{type(error).__name__}: {error}"
        outcome = "refused" if named(engine.model, text) else "silent"
        return outcome, np.nan, None, np.nan, (), text
    except Exception as error:  # not one that biela raises
        return "silent", np.nan, None, np.nan, (), f"{type(error).__name__}: {error}"
    error, kinetic = missing(engine, r)
    last = list(engine.model.bodies)[-1]
    end = tuple(np.asarray(r.frame(last).position)[-1].tolist())
    if error <= KEPT:
        return "kept", error, None, kinetic, end, ""
    told = [event.name for event in r.events if "energy" in event.name]
    if told:
        return "reported", error, None, kinetic, end, told[0]
    for how in ((step / 2, None),) if step else ((None, 1e-10), (None, 1e-12)):
        try:
            finer = missing(engine, engine.run(*how))[0]
        except bl.BielaError as why:
            return "silent", error, None, kinetic, end, f"finer: {type(why).__name__}: {why}"
        if finer <= KEPT or finer * LESS <= error:
            return "explained", error, finer, kinetic, end, ""
    return "silent", error, finer, kinetic, end, ""


def runs(name: str, seed: int, steps: tuple[float | None, ...] = STEPS) -> Iterator[Run]:
    """All runs of one start."""
    model = started(name, seed)
    for coordinates, which in (*((c, "unrolled") for c in COORDINATES), ("reference", "looped")):
        engine = Engine(model, coordinates, which)
        for step in steps:
            began = time.perf_counter()
            outcome, error, finer, kinetic, end, text = tried(engine, step)
            seconds = time.perf_counter() - began
            yield Run(
                name, seed, coordinates, which, step, outcome, error, finer, kinetic, end, seconds,
                text,
            )  # fmt: skip


def method(name: str, seed: int, formulation: str, duration: float = 1.5) -> Run:
    """A short motion in joint coordinates by one formulation: its energy error falls as its order.

    Half the order is enough, of 2^order with half the step.  What a penalty leaves of the
    constraints does not depend on the step: it falls with a larger penalty instead.
    """
    began = time.perf_counter()
    model = linkage(name, seed)
    engine = Engine(model, "joint", "unrolled")
    order = ORDERS[formulation]

    def lost(simulator: bl.Simulator, step: float) -> tuple[float, float]:
        return missing(engine, simulator.run(duration, step=step, output=5 * STEP, progress=False))

    text, error, finer, kinetic = "", np.nan, None, np.nan
    try:
        made = bl.Simulator(engine.system, formulation)
        error, kinetic = lost(made, STEP)
        finer = lost(made, STEP / 2)[0]
        good = error < ROUNDING or finer * 2 ** (order - 1) <= error
        if not good and formulation == "penalty":
            stiffer = bl.Simulator(engine.system, formulation, None, bl.Options(penalty=1e8))
            finer = lost(stiffer, STEP)[0]
            good = finer * 5 <= error
        outcome = "kept" if error <= KEPT else "explained" if good else "silent"
    except bl.BielaError as why:
        text = f"{type(why).__name__}: {why}"
        outcome = "refused" if model.name in text and "t = " in text else "silent"
    seconds = time.perf_counter() - began
    return Run(
        name, seed, "joint", formulation, STEP, outcome, error, finer, kinetic, (), seconds, text
    )


def apart(found: list[Run]) -> list[str]:
    """Starts whose runs begin or end in different places although each keeps its energy."""
    groups: dict[tuple[str, int, float | None], list[Run]] = defaultdict(list)
    for run in found:
        if run.outcome == "kept":
            groups[run.linkage, run.seed, run.step].append(run)
    lines = []
    for (name, seed, step), alike in groups.items():
        begins = np.ptp([run.kinetic for run in alike])
        gap = float(np.ptp(np.array([run.end for run in alike]), axis=0).max())
        if begins > 1e-8 * (1 + alike[0].kinetic):
            lines.append(f"{name} {seed}, step {step}: kinetic energies at the start: {begins:.2g}")
        if gap > APART:
            lines.append(f"{name} {seed}, step {step}: ends are {gap:.2g} m apart")
    return lines


def summary(found: list[Run]) -> str:
    """A table per step, the errors and the faults."""
    lines = [f"{len(found)} runs of {len({(r.linkage, r.seed) for r in found})} starts"]
    for step in STEPS:
        those = [r for r in found if r.step == step]
        counts = Counter(r.outcome for r in those)
        kept = max((r.error for r in those if r.outcome == "kept"), default=0.0)
        explained = max((r.error for r in those if r.outcome == "explained"), default=0.0)
        lines.append(
            f"step {step}: {dict(counts)}, largest error kept {kept:.2g}, explained {explained:.2g}"
        )
    for outcome in ("reported", "refused", "silent"):
        for r in found:
            if r.outcome == outcome:
                lines.append(
                    f"{outcome}: {r.linkage} {r.seed}, {r.coordinates}, {r.engine}, step {r.step}, "
                    f"{r.error:.2g}, finer {r.finer}: {r.text}"
                )
    return "\n".join([*lines, *(f"apart: {line}" for line in apart(found))])


def main(given: list[str] | None = None) -> int:
    """Run, write a line for each run, print a summary; 1 if anything is wrong without a word."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.free_motion", description=__doc__)
    parser.add_argument(
        "--starts", type=int, default=100, help="random linkages, all kinds in turn"
    )
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--log", type=Path, default=Path("out/soak/free_motion.jsonl"))
    parser.add_argument("--methods", type=int, default=3, help="linkages for each formulation")
    parser.add_argument("--resume", action="store_true", help="leave out starts in the log")
    arguments = parser.parse_args(given)
    log: Path = arguments.log
    log.parent.mkdir(parents=True, exist_ok=True)
    old = log.read_text().splitlines() if arguments.resume and log.exists() else []
    found = [Run(**json.loads(line)) for line in old]
    done = Counter((r.linkage, r.seed) for r in found)
    whole = len(STEPS) * (len(COORDINATES) + 1)
    found = [r for r in found if done[r.linkage, r.seed] == whole]
    with log.open("w") as file:
        for run in found:
            file.write(json.dumps(asdict(run)) + "\n")
        for k in range(arguments.first, arguments.first + arguments.starts):
            name, seed = NAMES[k % len(NAMES)], k // len(NAMES)
            if done[name, seed] == whole:
                continue
            for run in runs(name, seed):
                found.append(run)
                file.write(json.dumps(asdict(run)) + "\n")
                file.flush()
    methods = [
        method(name, k // len(METHODS), formulation)
        for k in range(arguments.methods)
        for name in METHODS[k % len(METHODS) :][:1]
        for formulation in FORMULATIONS
    ]
    for run in methods:
        print(
            f"{run.linkage} {run.seed}, {run.engine}: {run.outcome}, {run.error:.2g}, finer "
            f"{run.finer}: {run.text}"
        )
    print(summary(found))
    return int(any(r.outcome == "silent" for r in found + methods) or bool(apart(found)))


if __name__ == "__main__":
    # the code of these models is of no use later
    with TemporaryDirectory(prefix="biela-soak-") as folder:
        os.environ.setdefault("BIELA_CACHE_DIR", folder)
        sys.exit(main())
