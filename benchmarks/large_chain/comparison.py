"""A chain of 100 four-bars, 10 s at 1 ms, beside MuJoCo and Exudyn; and up to 100,000 of them."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.closed_loops.mechanism import Floats, Mechanism
from benchmarks.closed_loops.mujoco_peer import HARD, at_start, compiled, mujoco
from benchmarks.large_chain.chain import mechanism, model
from benchmarks.large_chain.exudyn_peer import ExudynChain
from benchmarks.large_chain.judging import drift, energy
from benchmarks.peers import PeerMissingError
from benchmarks.report import Row, against, below
from biela.analysis.looped.motion import LoopedMotion
from biela.equations.blocks import reference_blocks
from biela.solvers.integrators import FixedStep, Problem

STEP = 1e-3
LOOPS = 100
#: Time over that of MuJoCo, and of Exudyn.
TARGETS = {"MuJoCo": 0.2, "Exudyn": 1.0}
#: Time of a step and loop at 100,000 loops over that at 100.
GROWTH = 2.0


class Chain:
    """The chain in biela, ready to run."""

    def __init__(self, loops: int) -> None:
        self.loops = loops
        self.blocks = reference_blocks(model(loops))
        self.motion = motion = LoopedMotion(self.blocks)
        n = self.blocks.nq + self.blocks.nv
        self._integrator = FixedStep(Problem(motion.step, n, 1, nq=self.blocks.nq), "one_step_map")
        self._start = np.concatenate([self.blocks.start, np.zeros(self.blocks.nv)])

    def simulate(self, steps: int) -> tuple[float, Floats, Floats]:
        """CPU seconds, and where all bodies end: cranks, then couplers."""
        start = time.process_time()
        run = self._integrator.run(0.0, self._start, np.array([STEP]), STEP, 1, steps)
        spent = time.process_time() - start
        q = run.x[: self.blocks.nq].reshape(-1, 3)
        v = run.x[self.blocks.nq :].reshape(-1, 3)
        return spent, self._sorted(q, True), self._sorted(v, False)

    def _sorted(self, values: Floats, places: bool) -> Floats:
        """In the host the last crank comes first; about y angles count from z to x."""
        last, cells = values[:1], values[1:]
        found = np.concatenate([cells[0::2], last, cells[1::2]]) * [1.0, 1.0, -1.0]
        if places:
            found[: self.loops + 1, 2] -= np.pi / 2
        return found


def mujoco_run(made: Mechanism, steps: int) -> tuple[float, Floats, Floats]:
    """CPU seconds, and where all bodies end."""
    compiled_model = compiled(made, STEP, HARD)
    data = at_start(made, compiled_model)
    start = time.process_time()
    mujoco().mj_step(compiled_model, data, nstep=steps)
    spent = time.process_time() - start
    q, v = np.array(data.qpos), np.array(data.qvel)
    motion = made.motion(q, v)
    names = [b.name for b in made.bodies]
    order = [n for n in names if n.startswith("crank")] + [n for n in names if "coupler" in n]
    com = {b.name: b.com for b in made.bodies}
    place, speed = [], []
    for name in order:
        r, rate = motion.point(name, com[name])
        along = motion.R[name] @ ([0, 0, -1] if name.startswith("crank") else [1, 0, 0])
        place.append([r[0], r[2], np.arctan2(along[2], along[0])])
        speed.append([rate[0], rate[2], -motion.omega[name][1]])
    return spent, np.array(place), np.array(speed)


def rows(quick: bool) -> Iterator[Row]:
    steps = 1000 if quick else 10_000
    rounds = 2 if quick else 3
    chain, made = Chain(LOOPS), mechanism(LOOPS)
    first = energy(LOOPS, *_at_start(chain))
    peers = {"MuJoCo": lambda: mujoco_run(made, steps)}
    try:
        other = ExudynChain(LOOPS)
        peers["Exudyn"] = lambda: other.simulate(steps * STEP, STEP)
    except PeerMissingError as error:
        yield Row("chain of 100 four-bars, against Exudyn", f"not measured: {error}")
    ours = chain.simulate(steps)
    found = {name: run() for name, run in peers.items()}
    for _ in range(rounds - 1):
        again = chain.simulate(steps)
        ours = min(ours, again, key=lambda r: r[0])
        for name, run in peers.items():
            if name == "MuJoCo":
                found[name] = min(found[name], run(), key=lambda r: r[0])
    span = abs(first) or 1.0
    yield Row(f"chain of {LOOPS} four-bars, {steps} steps of 1 ms", _told(ours, first, span))
    for name, theirs in found.items():
        apart = np.abs(ours[1] - theirs[1]).max()
        if not apart < 1e-2:
            raise WrongResultError(f"{name} ends {apart:.1e} from biela")
        yield against(
            f"the same, against {name}", ours[0], theirs[0], TARGETS[name],
            _told(theirs, first, span),
        )  # fmt: skip
        drifts = [drift(LOOPS, run[1]) for run in (ours, theirs)]
        missed = [abs(energy(LOOPS, *run[1:]) - first) for run in (ours, theirs)]
        yield below(f"drift over that of {name}", drifts[0] / drifts[1], 1, "")
        yield below(f"energy error over that of {name}", missed[0] / missed[1], 1, "")
    yield from growth(quick)


def growth(quick: bool) -> Iterator[Row]:
    """The time of a step and loop, for longer and longer chains."""
    per_loop = {}
    for loops in (100, 1000, 10_000) if quick else (100, 1000, 10_000, 100_000):
        chain = Chain(loops)
        steps = max(5, 200_000 // loops)
        chain.simulate(2)
        per_loop[loops] = min(chain.simulate(steps)[0] for _ in range(3)) / steps / loops * 1e9
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield Row(f"{loops:,} four-bars, a step and loop", f"{per_loop[loops]:.0f} ns")
    most = max(per_loop)
    yield below(
        f"a step and loop of {most:,} four-bars over that of 100",
        per_loop[most] / per_loop[100], GROWTH, "",
    )  # fmt: skip
    yield below(f"memory for {most:,} four-bars", memory, 8, "GB")


def _at_start(chain: Chain) -> tuple[Floats, Floats]:
    q = chain.blocks.start.reshape(-1, 3)
    return chain._sorted(q, True), np.zeros_like(q)


def _told(found: tuple[float, Floats, Floats], first: float, span: float) -> str:
    spent, place, speed = found
    missed = abs(energy(LOOPS, place, speed) - first) / span
    return f"{spent:.3g} s, drift {drift(LOOPS, place):.1e} m, energy {missed:.1e}"
