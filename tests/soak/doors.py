"""The ways in which biela finds accelerations, each asked for the motion of all bodies.

A door takes a case and gives samples: random states that it assembled itself, with the motion of
every body in them and the accelerations that it found.  Nothing is carried from one door to
another: the oracle starts from the places and velocities of the bodies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.formulations import Options
from biela.analysis.formulations import formulate as kernels
from biela.analysis.formulations.saddle import ordered, stiffening
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.motion import group_results
from biela.analysis.instant import Instant
from biela.analysis.looped.follower import Follower
from biela.analysis.looped.motion import LoopedMotion
from biela.analysis.looped.results import channel_groups
from biela.analysis.looped.simulated_motion import SimulatedMotion
from biela.analysis.looped.start import first_state
from biela.analysis.one_start import start_state
from biela.analysis.preparation import values
from biela.analysis.robots.lowering import Lowering
from biela.analysis.unrolled import Unrolled
from biela.code import Function
from biela.equations import System
from biela.errors import SimulationError
from tests.oracles.free_bodies import FARTHEST, Motion
from tests.soak.mechanisms import Case

Floats = npt.NDArray[np.float64]

COORDINATES = ("joint", "reference", "euler", "natural")
#: How far states are from where the bodies were drawn.
AWAY = 0.25


@dataclass
class Sample:
    """A state and what was found in it."""

    t: float
    state: dict[str, Motion]
    acceleration: dict[str, Floats]
    angular: dict[str, Floats]
    kinetic: float | None = None
    potential: float | None = None
    efforts: dict[str, float] = field(default_factory=dict)
    #: Kinds of forces that the door leaves to its user.
    without: tuple[str, ...] = ()
    #: Force and moment on the body after each joint, and which of the six are said to be sure.
    reactions: dict[str, tuple[Floats, npt.NDArray[np.bool_]]] | None = None


def _sample(t: float, names: list[str], poses: Any, twists: Any, accelerations: Any) -> Sample:
    """From rows of the bodies: 12, 6 and 6 numbers each."""
    state, a, alpha = {}, {}, {}
    for name, pose, twist, acceleration in zip(names, poses, twists, accelerations, strict=True):
        pose, twist, acceleration = (
            np.asarray(x, dtype=float) for x in (pose, twist, acceleration)
        )
        state[name] = Motion(pose[:3], pose[3:].reshape(3, 3), twist[:3], twist[3:])
        a[name], alpha[name] = acceleration[:3], acceleration[3:]
    return Sample(t, state, a, alpha)


# ------------------------------------------------------------------------------- unrolled systems


@cache
def posed_in(case: Case, coordinates: str) -> Posed:
    """The same equations for several doors."""
    return Posed(case, coordinates)


class Posed:
    """A model in some coordinates, and random states of it."""

    def __init__(self, case: Case, coordinates: str) -> None:
        self.case, self.coordinates = case, coordinates
        self.system: System = bl.formulate(case.model, coordinates)
        self.p = values(self.system, "parameter", self.system.p, case.parameters or None)
        self.u = self.system.inputs
        self.instant = Instant(self.system, case.t, self.u, self.p)
        self.start, _ = start_state(self.system, None, None, t=case.t, u=self.u, p=self.p)

    def states(self, count: int) -> Iterator[tuple[Floats, Floats]]:
        """Positions in which all joints hold, with velocities that keep them."""
        rng = np.random.default_rng([self.case.seed, COORDINATES.index(self.coordinates)])
        instant, n = self.instant, len(self.system.v)
        # the polish of a start may stop at 1e-10
        start = instant.assembled(self.start)
        start = self.start if start is None else start
        for k in range(count):
            q = start
            if k:
                moved = instant.assembled(instant.moved(start, AWAY * rng.normal(size=n)))
                q = start if moved is None or not self._counted(moved) else moved
            v = rng.normal(size=n)
            if self.system.multipliers:
                rows = instant.Phi_v(q)
                v = v - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ v - instant.beta(q))
            yield q, v

    def rank(self, q: Floats) -> int:
        """How many constraints are independent in a position."""
        if not self.system.multipliers:
            return 0
        return int(np.linalg.matrix_rank(self.instant.Phi_v(q), tol=1e-8))

    def _counted(self, q: Floats) -> bool:
        """Whether angles that are coordinates are within half a turn, as the oracle reads them.

        Coordinates that count turns have a second root half a turn away.
        """
        if self.system.sides and not (np.asarray(self.instant("sides", q)) > 0).all():
            return False
        # those that Euler parameters are read beside have no unit
        angles = [
            q[k]
            for k, e in enumerate(self.system.q)
            if e.unit == "rad" or e.name.endswith((".angle", ".first", ".second"))
        ]
        return bool(np.abs(angles).max(initial=0.0) < FARTHEST)

    def sample(self, q: Floats, v: Floats, a: Floats) -> Sample:
        """The motion of the bodies with accelerations a."""
        system, names = self.system, list(self.case.model.bodies)
        at = [system.frames.index(name) for name in names]
        poses = np.asarray(self.instant("poses", q))[at]
        twists = np.asarray(self.instant("twists", q, v))[at]
        found = np.asarray(self.instant("frame_accelerations", q, v, a=a))[at]
        made = _sample(self.case.t, names, poses, twists, found)
        made.kinetic, made.potential = (float(x) for x in self.instant("energy", q, v))
        return made


def instants(coordinates: str) -> Callable[[Case, int], Iterator[Sample]]:
    """Matrices in numbers, solved through the null space of the constraints."""

    def door(case: Case, count: int) -> Iterator[Sample]:
        posed = posed_in(case, coordinates)
        for k, (q, v) in enumerate(posed.states(count)):
            a, _ = posed.instant.motion(q, v)
            made = posed.sample(q, v, a)
            if coordinates == "joint" and k == 0:
                found = bl.joint_reactions(
                    case.model, q=q, v=v, t=case.t, parameters=case.parameters or None
                )
                made.reactions = {
                    name: (found.wrenches[0, i], found.determinate[0, i])
                    for i, name in enumerate(found.joints)
                }
            yield made

    return door


def eliminated(
    coordinates: str, *, native: bool = False
) -> Callable[[Case, int], Iterator[Sample]]:
    """The kernel that a simulation reads accelerations by: a symbolic elimination.

    It is walked through in Python, or run as native code.
    """

    def door(case: Case, count: int) -> Iterator[Sample]:
        posed = posed_in(case, coordinates)
        system, p, u, t = posed.system, posed.p, posed.u, case.t
        reads: dict[int, Callable[..., Any]] = {}

        def prepared(q: Floats) -> Callable[..., Any]:
            lacking = stiffening(system, t, q, u, p)
            lacking = ordered(lacking, system, t, q, u, p)
            made = kernels(Unrolled(system), "multipliers", Options(refinements=0), lacking)
            assert isinstance(made.read, Function)
            return made.read if native else made.read.interpret

        for q, v in posed.states(count):
            # a linkage may be assembled where it is not overconstrained, and no motion leads there
            rank = posed.rank(q)
            if rank not in reads:
                reads[rank] = prepared(q if reads else posed.start)
            a = reads[rank](np.array([t]), np.concatenate([q, v]), np.concatenate([p, u]))[2]
            yield posed.sample(q, v, np.asarray(a))

    return door


def simulated(coordinates: str, formulation: str) -> Callable[[Case, int], Iterator[Sample]]:
    """The first instant of a simulation, as users see it."""

    def door(case: Case, count: int) -> Iterator[Sample]:
        posed = posed_in(case, coordinates)
        options = Options(fused=False) if formulation == "multipliers" else None
        simulator = bl.Simulator(posed.system, formulation, None, options)
        for q, v in posed.states(count):
            try:
                run = simulator.run(
                    1e-6, q=q, v=v, t=case.t, step=1e-6, parameters=case.parameters or None,
                    assemble=False, progress=False,
                )  # fmt: skip
            except SimulationError as error:
                if not isinstance(error.results, bl.Results) or not len(error.results.t):
                    raise
                run = error.results
            yield from _first(case, run)

    return door


def _first(case: Case, run: bl.Results, count: int = 1) -> Iterator[Sample]:
    """The first instants of results."""
    for k in range(count):
        names, rows = list(case.model.bodies), []
        for name in names:
            frame = run.frame(name)
            pose = np.concatenate([frame.position[k], np.ravel(frame.orientation[k])])
            twist = np.concatenate([frame.velocity[k], frame.angular_velocity[k]])
            acceleration = np.concatenate([frame.acceleration[k], frame.angular_acceleration[k]])
            rows.append((pose, twist, acceleration))
        yield _sample(float(run.t[k]), names, *zip(*rows, strict=True))


# ----------------------------------------------------------------------------------------- looped


def looped(case: Case, count: int) -> Iterator[Sample]:
    """The engine for large mechanisms."""
    rng = np.random.default_rng([case.seed, 7])
    blocks, guess, _ = first_state(case.model, None, None, case.t, case.parameters or None)
    held = bool(len(blocks.rows))
    follower = Follower(blocks, 1e-10) if held else None
    start = follower.assembled(case.t, guess) if follower else guess
    motion = LoopedMotion(blocks, start)
    states = []
    for k in range(count):
        q = start
        if k:
            q = blocks.moved(start, AWAY * rng.normal(size=blocks.nv))
            q = follower.assembled(case.t, q) if follower else q
        v = rng.normal(size=blocks.nv)
        if held:
            for _ in range(2):  # one step of Newton more, to rounding
                J = np.zeros((len(blocks.rows), blocks.nv))
                np.add.at(J, tuple(blocks.indices), blocks.Phi_v(q, case.t))
                inverse = np.linalg.pinv(J, rcond=1e-9)
                q = blocks.moved(q, -inverse @ blocks.Phi(q, case.t))
            J = np.zeros((len(blocks.rows), blocks.nv))
            np.add.at(J, tuple(blocks.indices), blocks.Phi_v(q, case.t))
            v = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v - blocks.beta(q, case.t))
        states.append(np.concatenate([q, v]))
    t = np.full(count, case.t)
    stored = SimulatedMotion(motion, t, np.array(states), blocks.input_values)
    groups, energy = channel_groups(stored), stored.energies()
    names = list(case.model.bodies)
    frames = [entry.rpartition(".")[0] for entry in groups["poses"].names[::12]]
    at = [frames.index(name) for name in names]

    def rows(group: str, wide: int) -> Floats:
        found = np.asarray(groups[group].values).reshape(count, -1, wide)
        return found[:, at]

    poses, twists = rows("poses", 12), rows("twists", 6)
    accelerations = rows("frame_accelerations", 6)
    for k in range(count):
        made = _sample(case.t, names, poses[k], twists[k], accelerations[k])
        made.kinetic, made.potential = (float(part[k]) for part in energy)
        yield made


# ----------------------------------------------------------------------------------------- robots


def robot(lowering: Lowering) -> Callable[[Case, int], Iterator[Sample]]:
    """The recursions of a robot."""

    def door(case: Case, count: int) -> Iterator[Sample]:
        rng = np.random.default_rng([case.seed, 11])
        made = bl.Robot(case.model, parameters=case.parameters or None, lowering=lowering)
        start = made.assemble(t=case.t)
        for k in range(count):
            q = start
            if k:
                away = made.integrate(start, AWAY * rng.normal(size=made.nv))
                try:
                    q = made.assemble(away, t=case.t)
                except bl.BielaError:
                    q = start
            v = made.project(q, rng.normal(size=made.nv), t=case.t)
            tau, efforts = np.zeros(made.nv), {}
            for name, (_, at) in made.scalars.items():
                if name.rpartition(".")[0] in case.model.joints:  # not one that a robot adds
                    efforts[name] = tau[at] = rng.normal()
            a = made.forward_dynamics(q, v, tau, t=case.t)
            names, rows = list(case.model.bodies), []
            for name in names:
                T = made.pose(name, q)
                twist = np.roll(made.frame_velocity(name, q, v), 3)
                acceleration = np.roll(made.frame_acceleration(name, q, v, a), 3)
                pose = np.concatenate([T[:3, 3], T[:3, :3].ravel()])
                rows.append((pose, twist, acceleration))
            sample = _sample(case.t, names, *zip(*rows, strict=True))
            sample.efforts = efforts
            sample.without = ("actuator",)  # joint forces stand in their place
            sample.kinetic, sample.potential = (float(x) for x in made.energy(q, v))
            yield sample

    return door


# ----------------------------------------------------------------------------------------- groups


def groups(coordinates: Coordinates) -> Callable[[Case, int], Iterator[Sample]]:
    """Independent coordinates by structural groups."""

    def door(case: Case, count: int) -> Iterator[Sample]:
        rng = np.random.default_rng([case.seed, 13])
        made = bl.GroupSimulator(
            case.model, coordinates=coordinates, t=case.t, parameters=case.parameters or None
        )
        x = made.begin()
        nq, n = made.start.coordinates.positions, made.start.coordinates.freedoms
        states = np.repeat(x[None], count, 0)
        states[:, nq:] = rng.normal(size=(count, n))
        t = np.full(count, case.t)
        motion = made.body_motion(t, states)
        results = group_results([motion], "groups", 0.0, made.model, still=True)
        yield from _first(case, results, count)

    return door


Door = Callable[[Case, int], Iterator[Sample]]

#: All doors by name.
DOORS: dict[str, Door] = {
    **{f"instant, {c}": instants(c) for c in COORDINATES},
    **{f"eliminated, {c}": eliminated(c) for c in COORDINATES},
    "looped": looped,
    "robot": robot("unrolled"),
    "robot, looped": robot("looped"),
    "groups, natural": groups("natural"),
    "groups, relative": groups("relative"),
    "groups, reference": groups("reference"),
}
#: Those that compile whole simulations, which takes seconds each.
SLOW: dict[str, Door] = {
    **{f"simulate, {c}": simulated(c, "multipliers") for c in COORDINATES},
    **{
        f"simulate, {f}": simulated("joint", f)
        for f in ("index3", "velocity_projection", "null_space", "range_space", "matrix_r")
    },
}


def chosen(case: Case, *, slow: bool = False) -> list[str]:
    """The doors that a case goes through: groups in one of their coordinates, the others in all."""
    names = [name for name in DOORS if not name.startswith("groups")]
    names.append(("groups, natural", "groups, relative", "groups, reference")[case.seed % 3])
    if not case.tree:
        names.remove("robot, looped")  # closed loops are written out
    if slow:
        names.append(list(SLOW)[case.seed % len(SLOW)])
    return names


def samples(name: str, case: Case, count: int) -> list[Sample]:
    """What a door finds; warnings about what was drawn are of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list({**DOORS, **SLOW}[name](case, count))


@contextmanager
def walked() -> Iterator[None]:
    """Expressions are walked through in Python, which needs no compiler and is sooner done.

    What is compiled as a whole (looped programs, groups, simulations) is compiled as ever.
    """
    compiled = Function.__call__

    def call(self: Function, *arguments: Any, **named: Any) -> Any:
        return compiled(self, *arguments, **named) if named else self.interpret(*arguments)

    with patch.object(Function, "__call__", call):
        yield
