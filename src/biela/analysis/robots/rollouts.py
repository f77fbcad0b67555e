"""Rollouts: many motions of a robot at once, from many states or under many inputs.

The states are dealt into blocks that stay in the cache.  A block goes through all its steps in one
native call, with a state in every lane of the vector registers; threads take blocks.  Every state
goes through the same instructions wherever it is, so that the digits do not depend on threads.

    x' = (N(q) v, forward_dynamics(q, v, τ, t), 1),        τ held over a step of ``dt``,

where the last of x is the time since the start.

With closed loops the accelerations also take back the gaps that errors of the method leave,
Φ'' + 2ω Φ' + ω² Φ = 0 (Baumgarte 1972).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.configurations import Configurations
from biela.analysis.robots.rollout_inputs import input_rows, parameter_rows, state_rows
from biela.analysis.robots.rollout_kernels import dynamics, inputs_of, law_of, moved, normalised
from biela.analysis.stepping import resolved, storable
from biela.analysis.watch import UNSOUND, Account
from biela.code import Function
from biela.code.native import Block
from biela.equations.spatial import constraint_names
from biela.errors import ModelError, ShapeError
from biela.solvers.integrators.many_states import rk4_of_states, semi_implicit_euler_of_states
from biela.solvers.integrators.status import WITHOUT

Floats = npt.NDArray[np.float64]

METHODS: Final = ("rk4", "semi_implicit_euler")
#: Loops that open further than this part of their levers are wrong.
OPEN: Final = 1e-4
#: Bytes of a block of states with its scratch rows: well within the first cache.
_BLOCK_BYTES: Final = 24_000
_MOST_VECTORS: Final = 8


@dataclass(frozen=True, eq=False)
class Rollout:
    """Motions of N states over T samples.

    Attributes:
        t: Times (T + 1,).
        q: Coordinates (N, T + 1, nq).
        v: Velocities (N, T + 1, nv).
        tau: The joint forces held from each instant to the next, (N, T, nv).
        robot: What moves.
        parameters: Their values, (N, parameters) or (1, parameters).
    """

    t: Floats
    q: Floats
    v: Floats
    tau: Floats
    robot: Configurations | None = None
    parameters: Floats | None = None

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Which of the N motions stayed finite."""
        ends = np.concatenate([self.q[:, -1], self.v[:, -1]], axis=1)
        return np.asarray(np.isfinite(ends).all(axis=1))

    @cached_property
    def energy_error(self) -> Floats:
        """The largest energy of each motion that no force explains, as a part of its energy (N,).

        The energy of a motion must change by the work of the joint forces and of friction.  What
        is missing comes from steps that are too long, or from closed loops that were left.  Where
        the work is known less well than that, as of friction between samples that are far apart,
        only the rest counts.  Infinite for motions that did not stay finite; not a number where
        drivers move the robot, whose work is not known.
        """
        return motion_energy_errors(self)

    @cached_property
    def closure_error(self) -> Floats:
        """How far the loops of each motion open, as a part of the lengths of their levers (N,).

        They are open from the start where q0 does not close them with the parameters of that
        motion, and drift apart where v0 does not keep them closed.  Infinite for motions that did
        not stay finite, zero for robots without loops.
        """
        return motion_closure_errors(self)

    @cached_property
    def sound(self) -> npt.NDArray[np.bool_]:
        """Which of the N motions stayed finite, kept loops closed and energy to a twentieth.

        The energy of robots that drivers move is not known, so that the others are enough.
        """
        wrong = (self.energy_error > UNSOUND) | (self.closure_error > OPEN)
        return np.asarray(self.finite & ~wrong)

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        apart = self.finite & (self.closure_error > OPEN)
        lost, wrong = int((~self.finite).sum()), int((self.finite & ~self.sound & ~apart).sum())
        more = f", {lost} not finite" if lost else ""
        if apart.any():
            more += f", {apart.sum()} with open loops: start from assemble and project"
        if wrong:
            more += f", {wrong} with wrong energy: take smaller dt or more substeps"
        if np.isnan(self.energy_error).any():
            more += ", energy not known"
        length = self.t[-1] - self.t[0]
        return f"Rollout: {len(self)} motions of {length:g} s, {len(self.t) - 1} samples{more}"


@np.errstate(over="ignore", invalid="ignore")
def motion_energy_errors(rollout: Rollout) -> Floats:
    """See `Rollout.energy_error`.

    d(T + V)/dt = vᵀ τ + (d(T + V)/dt with v held - vᵀ ξ(q, v)), and the last is what friction
    takes: vᵀ (M v' + ξ) = vᵀ τ, as the forces that close loops do no work.
    """
    robot, count, samples = rollout.robot, len(rollout), len(rollout.t)
    if robot is None or samples < 2 or _driven(robot):
        return np.full(count, np.nan)
    given = _samples(rollout)
    values = partial(_evaluated, robot, given)
    with np.errstate(all="ignore"):
        kinetic, potential = (np.reshape(x, (count, samples)) for x in values("energy"))
        rates, ahead = np.asarray(values("rates")), 1e-5
        sums = [sum(values("energy", q=given["q"] + d * rates)) for d in (ahead, -ahead)]
        held = (sums[0] - sums[1]) / (2 * ahead)
        taken = held - (given["v"] * np.asarray(values("bias_forces"))).sum(axis=1)
    # differences of the energy have rounding in them, which is no friction
    noise = 1e-9 * (np.abs(held) + (np.abs(given["v"]) * np.abs(values("bias_forces"))).sum(axis=1))
    taken = np.where(np.abs(taken) <= noise + 1e-14 * np.abs(sums[0]) / ahead, 0.0, taken)
    taken = taken.reshape(count, samples)
    if robot.nq == robot.nv:
        work = np.einsum("ntj,ntj->nt", rollout.tau, np.diff(rollout.q, axis=1))
        unsure = np.zeros_like(work)
    else:
        before, after = (
            np.einsum("ntj,ntj->nt", rollout.tau, part)
            for part in (rollout.v[:, :-1], rollout.v[:, 1:])
        )
        work = np.diff(rollout.t) * (before + after) / 2
        unsure = np.diff(rollout.t) * np.abs(after - before) / 2
    errors = np.full(count, np.inf)
    for k in np.flatnonzero(rollout.finite):
        size = float(np.abs(kinetic[k]).max() + np.abs(potential[k]).max())
        account = Account(rollout.t, kinetic[k], potential[k], taken[k], size)
        done = np.concatenate([[0.0], np.cumsum(work[k])])
        missing = np.abs(account.in_all - done)
        doubt = account.doubt + np.concatenate([[0.0], np.cumsum(unsure[k])]) + account.floor
        scale = account.scale + float(np.ptp(done)) + account.floor
        errors[k] = float(np.maximum(missing - doubt, 0.0).max() / scale) if scale else 0.0
    return errors


def motion_closure_errors(rollout: Rollout) -> Floats:
    """See `Rollout.closure_error`: |Φ| over the largest entry of ∂Φ/∂q at the start."""
    robot, count = rollout.robot, len(rollout)
    if robot is None or not constraint_names(robot.snapshot):
        return np.zeros(count)
    given = _samples(rollout)
    with np.errstate(all="ignore"):
        gaps = np.abs(_evaluated(robot, given, "closure")).reshape(count, -1).max(axis=1)
        slopes = np.abs(_evaluated(robot, given, "closure_jacobian")).reshape(count, -1)
    levers = slopes[:, : slopes.shape[1] // len(rollout.t)].max(axis=1, initial=0.0)
    return np.where(rollout.finite, gaps / np.where(levers > 0, levers, 1.0), np.inf)


def _samples(rollout: Rollout) -> dict[str, Floats]:
    """Arguments of functions of the robot with a row for each sample of each motion."""
    count, samples, p = len(rollout), len(rollout.t), rollout.parameters
    given = {
        "q": rollout.q.reshape(count * samples, -1),
        "v": rollout.v.reshape(count * samples, -1),
        "t": np.tile(rollout.t, count)[:, None],
    }
    if p is not None:
        given["p"] = np.repeat(np.broadcast_to(p, (count, p.shape[1])), samples, axis=0)
    return given


def _evaluated(robot: Configurations, given: Mapping[str, Floats], name: str, **other: Any) -> Any:
    """What a function of the robot gives for all samples."""
    function, rows = robot.function(name), {**given, **other}
    return function.map(*(rows[a.name].reshape(len(given["q"]), *a.shape) for a in function.inputs))


def _driven(robot: Configurations) -> bool:
    """Whether drivers move the robot: the accelerations know the time, but no force does."""
    knows = [
        any(a.name == "t" for a in robot.function(name).inputs)
        for name in ("forward_dynamics", "bias_forces")
    ]
    return knows[0] and not knows[1]


class Roller:
    """The kernels of the rollouts of a robot under one law; made once, used for many rollouts.

    Args:
        robot: What moves.
        law: Joint forces as a function of ``q``, ``v``, the parameters ``p`` of the model if it
            wants them, and any further arrays, which then are the inputs; None for joint forces
            as inputs.
        bounds: The largest joint forces (nv,), to which they are cut off.
        omega: How fast gaps of closed loops are taken back, 1/s.
        shared: Functions that do not depend on the law, kept for the next one.

    Raises:
        ModelError: The law does not give a force for each velocity.
    """

    def __init__(
        self,
        robot: Configurations,
        law: Function | None = None,
        bounds: Floats | None = None,
        omega: float = 0.0,
        shared: dict[Any, Function] | None = None,
    ) -> None:
        self._robot = robot
        self._names = list(robot.parameter_values)
        self.inputs = robot.nv if law is None else inputs_of(robot, law)
        shared = {} if shared is None else shared
        if omega not in shared:
            shared[omega] = dynamics(robot, self._names, omega)
        self._dynamics = shared[omega]
        self._law = None
        if law is not None or bounds is not None:
            self._law = law_of(robot, law, self._names, self.inputs, bounds)
        self._normalised = normalised(robot) if robot.quaternions else None
        self._moved = moved(robot)
        self._blocks: dict[tuple[str, int], Block] = {}
        self.lanes = self._dynamics.native.lanes
        rows = max(1, _BLOCK_BYTES // (7 * 8 * (robot.nq + robot.nv + 1)))
        vectors = min(_MOST_VECTORS, max(1, rows // self.lanes))
        #: States in a block.
        self.size = vectors * self.lanes

    def run(
        self,
        x: Floats,
        inputs: Floats,
        parameters: Floats,
        h: float,
        substeps: int,
        method: str,
        threads: int,
    ) -> tuple[Floats, Floats]:
        """States (N, T + 1, n) and joint forces (N, T, nv) from states x (N, n).

        A state is (q, v, time since the start).

        Args:
            x: The states at the start.
            inputs: (N, T, inputs); an axis of N may have one entry for all.
            parameters: (N, parameters and the time of the start), likewise.
            h: The step.
            substeps: Steps in a sample.
            method: One of `METHODS`.
            threads: How many work at the same time.
        """
        count, n, samples = len(x), x.shape[1], inputs.shape[1]
        nv, m = self._robot.nv, self._robot.nv + len(self._names) + 1
        found, forces = np.empty((count, samples + 1, n)), np.empty((count, samples, nv))
        # few states: blocks as small as they may be, so that all threads have some
        least = -(-count // (threads * self.lanes)) * self.lanes
        size = min(self.size, max(self.lanes, least))
        advance = self._advance(method, size)

        def block(first: int) -> None:
            rows = np.minimum(np.arange(first, first + size), count - 1)
            u = inputs[rows if len(inputs) > 1 else np.zeros(size, int)]
            p = parameters[rows if len(parameters) > 1 else np.zeros(size, int)]
            whole = np.empty((samples, size, self.inputs + len(self._names) + 1))
            whole[:, :, : self.inputs] = u.transpose(1, 0, 2)
            whole[:, :, self.inputs :] = p
            U = whole.reshape(samples, -1)
            X = np.empty((samples + 1, size * n))
            X[0] = x[rows].ravel()
            P = U if self._law is None else np.empty((samples, size * m))
            advance(X, U, P, h, substeps)
            last = min(first + size, count)
            used = slice(0, last - first)
            found[first:last] = X.reshape(samples + 1, size, n).transpose(1, 0, 2)[used]
            forces[first:last] = P.reshape(samples, size, m).transpose(1, 0, 2)[used, :, :nv]

        starts = range(0, count, size)
        if threads == 1 or len(starts) == 1:
            for first in starts:
                block(first)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(block, starts))
        return found, forces

    def _advance(self, method: str, size: int) -> Callable[..., None]:
        """The native loop of a method over a block, its kernels compiled."""
        # time is one more velocity, of acceleration one
        nq, nv = self._robot.nq, self._robot.nv + 1
        n, m = nq + nv, nv + len(self._names)
        k = self.inputs + len(self._names) + 1
        f = self._block("dynamics", self._dynamics, size)
        law = WITHOUT if self._law is None else self._block("law", self._law, size)
        with_law = int(self._law is not None)
        chosen = rk4_of_states if method == "rk4" else semi_implicit_euler_of_states
        chosen.compiled  # noqa: B018 (before threads start)
        if method == "rk4":
            with_project = int(self._normalised is not None)
            project: Any = WITHOUT
            if self._normalised is not None:
                project = self._block("normalised", self._normalised, size)

            def rk4(X: Floats, U: Floats, P: Floats, h: float, substeps: int) -> None:
                work = np.empty((5, size * n))
                rk4_of_states(
                    *(size * n, size * k, size * m, len(U), substeps, with_law, with_project, h),
                    *(X, U, P, f, law, project, work),
                )

            return rk4
        move = self._block("moved", self._moved, size)

        def euler(X: Floats, U: Floats, P: Floats, h: float, substeps: int) -> None:
            work, delta = np.empty((2, size * n)), np.empty(size * nv)
            semi_implicit_euler_of_states(
                *(size, nq, nv, size * k, size * m, len(U), substeps, with_law, h),
                *(X, U, P, f, law, move, work, delta),
            )

        return euler

    def _block(self, name: str, function: Function, size: int) -> Block:
        if (name, size) not in self._blocks:
            self._blocks[name, size] = function.native.block(size)
        return self._blocks[name, size]


def rollout(
    robot: Configurations,
    roller: Roller,
    q0: Any,
    v0: Any = None,
    inputs: Any = None,
    *,
    dt: float,
    steps: int | None = None,
    substeps: int = 1,
    method: str = "rk4",
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    t: float = 0.0,
) -> Rollout:
    """See `Robot.rollout`."""
    if method not in METHODS:
        raise ModelError(
            f"{robot.name}: a rollout goes by {' or '.join(METHODS)}, not by {method!r}"
        )
    if not (np.isfinite(dt) and dt > 0):
        raise ModelError(f"{robot.name}: the time dt between samples is positive, not {dt!r}")
    for what, value in (("substeps", substeps), ("threads", threads)):
        if value < 1 or value != int(value):
            raise ModelError(f"{robot.name}: {what} is a whole number from 1, not {value!r}")
    q, v = state_rows(robot, "q0", q0, robot.nq), None
    v = np.zeros((1, robot.nv)) if v0 is None else state_rows(robot, "v0", v0, robot.nv)
    given, samples = input_rows(robot, inputs, roller.inputs, steps)
    names = list(robot.parameter_values)
    values = parameter_rows(robot, names, parameters or {})
    sizes = {len(part) for part in (q, v, given, values)} - {1}
    if len(sizes) > 1:
        spelled = f"q0 {q.shape}, v0 {v.shape}, inputs {given.shape}, parameters {values.shape}"
        raise ShapeError(
            f"{robot.name}: the first axis of all arrays counts the motions, or is 1 for what they "
            f"share; not {spelled}"
        )
    count = max(sizes, default=1)
    n = robot.nq + robot.nv
    storable(count * (samples + 1), n)
    x = np.empty((count, n + 1))
    x[:, : robot.nq], x[:, robot.nq : n], x[:, n] = q, v, 0.0
    values = np.append(values, np.full((len(values), 1), float(t)), axis=1)
    given = np.broadcast_to(given, (len(given), samples, given.shape[2]))
    h = dt / substeps
    resolved(t, samples * dt, h, "the step")
    found, tau = roller.run(x, given, values, h, substeps, method, threads)
    return Rollout(
        t + dt * np.arange(samples + 1.0),
        found[:, :, : robot.nq],
        found[:, :, robot.nq : n],
        tau,
        robot,
        values[:, :-1] if names else None,
    )
