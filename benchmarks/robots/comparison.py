"""The rows of the table of robots: every quantity at the same state, all candidates taking turns.

What biela gives is taken to Pinocchio's coordinates and compared before any time is told.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from benchmarks.agreement import check_equal
from benchmarks.peers import CompiledC
from benchmarks.report import Row, against
from benchmarks.robots import casadi_peer
from benchmarks.robots.models import Case, cases
from benchmarks.robots.pinocchio_peer import Array, Frames, PinocchioRobot
from benchmarks.timing import Burst, fastest, native_burst, python_burst
from biela.equations import spatial
from biela.model.parametrised import parametrised

#: For each quantity its name and the most that our time may be of Pinocchio's, for robots with a
#: fixed and with a free base.
LIMITS: Mapping[str, tuple[str, float, float]] = {
    "inverse": ("inverse dynamics", 0.2, 0.25),
    "forward": ("forward dynamics", 0.25, 0.3),
    "mass": ("mass matrix", 0.5, 0.5),
    "forward_derivatives": ("derivatives of forward dynamics", 0.5, 0.5),
}
MAKERS = {
    "inverse": spatial.inverse_dynamics,
    "forward": spatial.forward_dynamics,
    "mass": spatial.mass_matrix,
    "forward_derivatives": spatial.forward_dynamics_derivatives,
}
CASADI_LIMITS = (0.55, 0.65)
BATCH_LIMITS = {"inverse": 0.06, "forward": 0.08}
STATES = 10_000
#: Joints of a chain up to which its derivatives are measured: compiling them takes n² operations.
LONGEST = 20


class Comparison:
    """A robot in biela and in Pinocchio, at random states.

    Attributes:
        q, v, a, tau: Rows of states; the first is that of the single calls.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.tree = spatial.SpatialTree(case.model)
        self.peer = PinocchioRobot(case)
        self.frames: Frames = self.peer.frames(self.tree)
        #: Whatever owns code that is measured.
        self.kept: list[Any] = []
        self.functions = {key: MAKERS[key](case.model) for key in self.keys}
        n, random = len(self.tree.v), np.random.default_rng(1)
        self.q = random.normal(size=(STATES, len(self.tree.q)))
        for first, _ in self.tree.quaternions:
            e = self.q[:, first : first + 4]
            e /= np.linalg.norm(e, axis=1, keepdims=True)
        self.v, self.a = random.normal(size=(2, STATES, n))
        self.tau = self.functions["inverse"].map(self.q, self.v, self.a)

    @property
    def keys(self) -> list[str]:
        """The quantities that are measured."""
        long = self.case.kind == "chain" and len(self.tree.v) > LONGEST
        return [key for key in LIMITS if not (long and "derivatives" in key)]

    def inputs(self, key: str) -> list[Array]:
        """The arguments of a function, rows of states."""
        last = {"inverse": [self.v, self.a], "mass": []}.get(key, [self.v, self.tau])
        return [self.q, *last]

    def state_of_peer(self, key: str) -> list[Array]:
        """The first state as Pinocchio takes it."""
        q, v, a = self.frames.state(self.q[0], self.v[0], self.a[0])
        tau = self.frames.forces(self.q[0], self.tau[0])
        found = {"inverse": [q, v, a], "mass": [q]}.get(key, [q, v, tau])
        return [np.ascontiguousarray(x) for x in found]

    def as_peer(self, key: str, results: list[Array]) -> list[Array]:
        """Our results in Pinocchio's coordinates; of symmetric matrices half, as it fills them."""
        q, v, tau = self.q[0], self.v[0], self.tau[0]
        if key == "inverse":
            return [self.frames.forces(q, results[0])]
        if key == "forward":
            return [self.frames.state(q, v, results[0])[2]]
        if key == "mass":
            return [np.triu(self.frames.matrix(q, results[0]))]
        a, by_q, by_v, by_tau = results
        *found, inverse = self.frames.derivatives(q, v, tau, (a, by_q, by_v, by_tau))
        return [*found, np.triu(inverse)]

    def shapes(self, key: str) -> list[Any]:
        n = len(self.tree.v)
        known: dict[str, list[Any]] = {"mass": [(n, n)], "forward_derivatives": [n, *[(n, n)] * 3]}
        return known.get(key, [n])


def rows(quick: bool) -> Iterator[Row]:
    for case in cases(quick):
        yield from rows_of(Comparison(case), 0.6 if quick else 3.0)


def rows_of(robot: Comparison, seconds: float) -> Iterator[Row]:
    """All rows of a robot."""
    bursts: dict[Any, Burst] = {}
    results: dict[Any, list[Array]] = {}
    for key, function in robot.functions.items():
        one = [np.ascontiguousarray(x[0]) for x in robot.inputs(key)]
        sides = (("biela", function.native.address, one),)
        sides += (("pinocchio", robot.peer.address(key), robot.state_of_peer(key)),)
        for who, address, given in sides:
            room = [np.zeros(shape) for shape in robot.shapes(key)]
            bursts[key, who] = native_burst(address, [*given, *room])
            results[key, who] = room
    with tempfile.TemporaryDirectory() as folder:
        if robot.case.kind != "chain":
            _add_casadi(robot, Path(folder), bursts, results)
        times = _times(bursts, seconds)
    # apart, as each takes milliseconds
    many = {
        (key, "batch"): python_burst(robot.functions[key].map, *robot.inputs(key))
        for key in BATCH_LIMITS
    }
    times |= _times(many, seconds)
    yield from _against_pinocchio(robot, times, results)
    if robot.case.kind != "chain":
        yield from _against_casadi(robot, times, results)
    yield from _batches(robot, times)


def _times(bursts: Mapping[Any, Burst], seconds: float) -> dict[Any, float]:
    """Nanoseconds of this thread, so that other programs do not count."""
    return {key: 1e9 * t for key, t in fastest(bursts, seconds, clock=time.thread_time).items()}


def _add_casadi(robot: Comparison, folder: Path, bursts: Any, results: Any) -> None:
    """Inverse dynamics in CasADi, with the bodies as numbers and as inputs, and ours with these."""
    joints, given = robot.peer.joints, robot.state_of_peer("inverse")
    numbers = CompiledC(casadi_peer.inverse_dynamics("numbers", joints), folder)
    inputs = CompiledC(casadi_peer.with_symbolic_bodies("inputs", joints), folder)
    model = parametrised(robot.case.merged)
    ours = spatial.inverse_dynamics(model)
    p = np.array([float(x) for x in model.parameters.values()])
    prepared = ours.prepared()
    held = np.atleast_1d(prepared.prepare(p))
    state = [np.ascontiguousarray(x[0]) for x in robot.inputs("inverse")]
    candidates = {
        "casadi": (numbers.address, given),
        "casadi symbolic": (inputs.address, [*given, casadi_peer.body_numbers(joints)]),
        "symbolic": (ours.native.address, [*state, p]),
        "prepared": (prepared.run.native.address, [*state, p, held]),
    }
    for who, (address, arguments) in candidates.items():
        room = [np.zeros(len(robot.tree.v))]
        bursts["inverse", who] = native_burst(address, [*arguments, *room])
        results["inverse", who] = room
    robot.kept += [numbers, inputs, ours, prepared]


def _against_pinocchio(robot: Comparison, times: Any, results: Any) -> Iterator[Row]:
    name, free = robot.case.name, robot.case.floating
    for key in robot.keys:
        what, fixed_limit, free_limit = LIMITS[key]
        theirs = results[key, "pinocchio"]
        if key == "forward_derivatives":
            theirs[3] = np.triu(theirs[3])
        for mine, other in zip(
            robot.as_peer(key, results[key, "biela"]),
            [np.triu(theirs[0])] if key == "mass" else theirs,
            strict=True,
        ):
            check_equal(f"{name} {what}", mine, other)
        ours, peers = times[key, "biela"], times[key, "pinocchio"]
        measured = f"{ours:.1f} ns, Pinocchio in C++ {peers:.0f} ns"
        limit = free_limit if free else fixed_limit
        yield against(f"{name}: {what}", ours, peers, limit, measured)


def _against_casadi(robot: Comparison, times: Any, results: Any) -> Iterator[Row]:
    name, tau = robot.case.name, results["inverse", "pinocchio"][0]
    for who in ("casadi", "casadi symbolic"):
        check_equal(f"{name} {who}", results["inverse", who][0], tau)
    for who in ("symbolic", "prepared"):
        mine = robot.as_peer("inverse", results["inverse", who])[0]
        check_equal(f"{name} {who} bodies", mine, tau)
    ours, theirs = times["inverse", "biela"], times["inverse", "casadi"]
    limit = CASADI_LIMITS[robot.case.floating]
    measured = f"{ours:.1f} ns, CasADi C by gcc -O3 {theirs:.1f} ns"
    yield against(f"{name}: inverse dynamics", ours, theirs, limit, measured)
    for who, words in (
        ("symbolic", "bodies as inputs"),
        ("prepared", "bodies as inputs, prepared"),
    ):
        ours, theirs = times["inverse", who], times["inverse", "casadi symbolic"]
        times_as_long = ours / times["inverse", "biela"]
        measured = (
            f"{ours:.1f} ns ({times_as_long:.2f} times that with numbers), CasADi C {theirs:.1f} ns"
        )
        yield Row(f"{name}: inverse dynamics, {words}", measured, ratio=ours / theirs)


def _batches(robot: Comparison, times: Any) -> Iterator[Row]:
    for key, limit in BATCH_LIMITS.items():
        function: bl.Function = robot.functions[key]
        some = [x[:16] for x in robot.inputs(key)]
        single = np.array([function(*one) for one in zip(*some, strict=True)])
        check_equal(f"{robot.case.name} batch", function.map(*some), single)
        ours, theirs = times[key, "batch"] / STATES, times[key, "pinocchio"]
        what = f"{robot.case.name}: {LIMITS[key][0]} of {STATES} states, each"
        measured = f"{ours:.1f} ns, Pinocchio one by one {theirs:.0f} ns"
        yield against(what, ours, theirs, limit, measured)
