"""A mechanism in Pinocchio: the tree in joint coordinates, its loops closed by 3-D constraints.

The steps are in C++, so that no time of Python is billed to Pinocchio: see `pinocchio_native`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from benchmarks.closed_loops.mechanism import AXES, ORIGIN, Body, Floats, Mechanism, Triple
from benchmarks.closed_loops.peer_run import STRIDE, PeerRun, judged
from benchmarks.closed_loops.pinocchio_native import library
from benchmarks.pinocchio_headers import pinocchio

#: Joints of Pinocchio for one or several freedoms of ours, the longest first.
KINDS = {
    ("slide x", "slide y", "slide z"): 6,
    ("hinge z", "hinge y", "hinge x"): 7,
    ("hinge x", "hinge y"): 8,
    ("slide x",): 0,
    ("slide y",): 1,
    ("slide z",): 2,
    ("hinge x",): 3,
    ("hinge y",): 4,
    ("hinge z",): 5,
}


class Way(IntEnum):
    """The algorithms of Pinocchio for the accelerations of a closed mechanism."""

    CONSTRAINT_DYNAMICS = 0
    FORWARD_DYNAMICS = 1


@dataclass(frozen=True)
class Settings:
    """How accelerations are found; ``baumgarte`` is the frequency of critically damped gaps."""

    way: Way
    baumgarte: float = 20.0
    accuracy: float = 1e-12
    mu: float = 1e-10
    iterations: int = 10

    def __str__(self) -> str:
        proximal = f"mu {self.mu:g}, accuracy {self.accuracy:g}, ≤ {self.iterations} iterations"
        hold = f"Baumgarte at {self.baumgarte:g} rad/s" if self.baumgarte else "no Baumgarte"
        if self.way is Way.FORWARD_DYNAMICS:
            return f"forwardDynamics with independent rows, {hold}"
        return f"constraintDynamics, {proximal}, {hold}"


#: The fastest way, without the row that a plane makes redundant.  Of Baumgarte's frequencies 10, 20
#: and 50 rad/s the middle one is best for the slider-crank; 10 drifts still less in the other two.
FASTEST = Settings(Way.FORWARD_DYNAMICS)
#: The function made for it, with the proximal iterations that redundant rows need.
PROXIMAL = Settings(Way.CONSTRAINT_DYNAMICS)


def run_pinocchio(
    mechanism: Mechanism,
    seconds: float = 10.0,
    step: float = 1e-3,
    settings: Settings = FASTEST,
    repeats: int = 3,
) -> PeerRun:
    """Simulate with Runge-Kutta of order four; all steps of a repeat are one call of native code.

    Raises:
        PeerMissingError: If Pinocchio, Eigen's headers or a C++ compiler are not installed.
    """
    simulation = Simulation(mechanism, settings)
    steps = round(seconds / step)
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        simulation.simulate(step, steps)
        best = min(best, time.process_time() - start)
    q, v = simulation.samples(step, steps)
    text = f"Pinocchio {pinocchio().__version__}, C++, RK4, {settings}"
    return judged("pinocchio", mechanism, text, best, steps, q, v)


class Simulation:
    """A mechanism as a model of Pinocchio in native code."""

    def __init__(
        self, mechanism: Mechanism, settings: Settings = FASTEST, native: Any = None
    ) -> None:
        self.mechanism = mechanism
        self._library = library() if native is None else native
        joints: list[tuple[int, int]] = []
        numbers: list[float] = []
        last = {"": 0}  # the last joint of every body
        for body in mechanism.bodies:
            parent = last[body.parent]
            for offset, kind, part in _parts(body):
                joints.append((parent, kind))
                numbers += (
                    [*offset, part.mass, *part.com, *part.inertia]
                    if part
                    else ([*offset, *[0.0] * 10])
                )
                parent = len(joints)
            last[body.name] = parent
        closures = [
            (last[c.first[0]], last[c.second[0]], sum(1 << AXES[axis] for axis in c.axes))
            for c in mechanism.closures
        ]
        places = [(*c.first[1], *c.second[1]) for c in mechanism.closures]
        springs = [[j.stiffness for j in mechanism.joints], [j.rest for j in mechanism.joints]]
        omega = settings.baumgarte
        solver = (settings.accuracy, settings.mu, settings.iterations)
        self._handle = self._library.create(
            len(joints),
            _integers(joints),
            _reals(numbers),
            len(closures),
            _integers(closures),
            _reals(places),
            _reals(springs),
            _reals([*mechanism.gravity, omega**2, 2 * omega, *solver]),
            int(settings.way),
        )
        if self._library.coordinates(self._handle) != len(mechanism.q):
            raise ValueError(f"{mechanism.name}: other coordinates in Pinocchio")

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self._library.destroy(self._handle)

    @property
    def handle(self) -> int:
        """What its library knows it by."""
        return int(self._handle)

    def accelerations(self) -> Floats:
        """The accelerations in the start."""
        q, v, a = (
            np.array(self.mechanism.q),
            np.array(self.mechanism.v),
            np.zeros(len(self.mechanism.q)),
        )
        self._library.accelerations(self._handle, q, v, a)
        return a

    def start_energy(self) -> tuple[float, float]:
        """Potential and kinetic energy in the start, by Pinocchio."""
        energy = np.zeros(2)
        self._library.energy(
            self._handle, np.array(self.mechanism.q), np.array(self.mechanism.v), energy
        )
        return float(energy[0]), float(energy[1])

    def simulate(self, step: float, steps: int) -> None:
        """Take the steps and keep nothing."""
        q, v = np.array(self.mechanism.q), np.array(self.mechanism.v)
        self._library.simulate(self._handle, step, steps, 0, q, v, np.zeros(1), np.zeros(1))

    def samples(self, step: float, steps: int) -> tuple[Floats, Floats]:
        """The coordinates and velocities of every tenth step, the start included."""
        q, v = np.array(self.mechanism.q), np.array(self.mechanism.v)
        shape = (steps // STRIDE, len(q))
        Q, V = np.zeros(shape), np.zeros(shape)
        self._library.simulate(self._handle, step, steps, STRIDE, q, v, Q, V)
        return np.vstack([self.mechanism.q, Q]), np.vstack([self.mechanism.v, V])


def _parts(body: Body) -> Iterator[tuple[Triple, int, Body | None]]:
    """The joints of Pinocchio between a body and its parent: offset, kind, and what they carry.

    Only the last one carries the body; the others move a frame without mass.
    """
    names = [f"{joint.kind} {joint.axis}" for joint in body.joints]
    offset = body.offset
    while names:
        group = next(g for g in KINDS if tuple(names[: len(g)]) == g)
        names = names[len(group) :]
        yield offset, KINDS[group], None if names else body
        offset = ORIGIN


def _integers(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int32)


def _reals(values: Any) -> Floats:
    return np.ascontiguousarray(values, dtype=float)
