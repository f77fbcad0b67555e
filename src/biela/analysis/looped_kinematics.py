"""Driven motion of large mechanisms: the equations by loops, the linear systems sparse.

At every instant the position by Newton's method from the prediction q ⊕ (h v + h² a / 2), then
velocity and acceleration,

    Φ(q, t) = 0,      Φ_v v = β,      Φ_v v' = γ,

in reference-point coordinates (`biela.equations.blocks`); the cost grows with the number of bodies
and not with its square.  Where a step does not converge it is halved.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.linked_start import Relative, relative_poses, unlinked
from biela.analysis.looped_results import Motion, looped_results
from biela.analysis.progress import Progress
from biela.analysis.sparse_rows import SparseRows, worst_rows
from biela.analysis.stepping import whole_steps
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.errors import AssemblyError, ModelError, SimulationError
from biela.model import Model
from biela.results import Results

Floats = npt.NDArray[np.float64]

#: Newton's method goes on to this error, m or rad, if it can.
_EXACT = 1e-13
#: A kept pivot this small: the rows are chosen again.
_SMALL_PIVOT = 1e-7
_HALVINGS = 8
#: Largest displacement of one iteration, m or rad.
_LONGEST = 0.5


@dataclass(frozen=True, eq=False)
class _Instant:
    """The motion at one time."""

    t: float
    q: Floats
    v: Floats
    a: Floats
    pivot: float
    iterations: int


def looped_kinematics(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    q: Mapping[str, float] | None = None,
    t: float = 0.0,
    output: float | None = None,
    end_point: bool = True,
    parameters: Mapping[str, float] | None = None,
    tolerance: float = 1e-10,
    progress: bool | None = None,
) -> Results:
    """The motion of a large mechanism all of whose freedoms are driven.

    Args:
        model: The mechanism, with a driver for every freedom; arrays of parts stay arrays.
        duration: Time to simulate, s.
        step: Time between instants, s.
        q: First guess of coordinates at the start, by name ("crank.rx", "crank.angle" …).
        t: Start time, s.
        output: Time between stored instants, s (default: the step).
        end_point: Whether the instant ``t + duration`` is stored too.
        parameters: Values other than those of the model.
        tolerance: Largest constraint error of an instant that is accepted (m, rad).
        progress: Whether to show a bar; None shows it on a terminal for long runs.

    Returns:
        Channels q, v, a of the bodies, outputs y, the motion of frames, and the monitors
        "constraint error", "velocity error", "smallest pivot" and "iterations".

    Raises:
        ModelError: Freedoms are left that nothing drives, or an argument makes no sense.
        AssemblyError: The mechanism cannot be assembled at the start.
        SimulationError: The mechanism cannot go on; it names the time and the constraints, and
            holds the results until then.
    """
    began = time.perf_counter()
    if not (np.isfinite(duration) and duration > 0):
        raise ModelError(f"the duration must be a positive time, not {duration!r}")
    if not (np.isfinite(step) and step > 0):
        raise ModelError(f"step must be a positive time, not {step!r}")
    blocks = reference_blocks(model, parameters=parameters, t=t, start=_links(model, parameters, t))
    steps = whole_steps(duration, step, "the step")
    stride = whole_steps(output, step, "the step") if output else 1
    whole = steps // stride * stride  # those after the last stored instant are not taken
    if not end_point and whole == steps:
        whole -= stride
    follower = _Follower(blocks, tolerance)
    motion = Motion(blocks)
    now = follower.first(t, _guess(blocks, q))
    motion.store(now.t, now.q, now.v, now.a, now.pivot, now.iterations)
    failure, halved = "", 0
    moving = time.perf_counter()
    with Progress(f"kinematics of {model.name}", whole, progress) as bar:
        for k in range(1, whole + 1):
            try:
                now, more = follower.next(now, t + k * step)
            except _StuckError as stuck:
                failure = str(stuck)
                break
            halved += more
            if k % stride == 0:
                motion.store(now.t, now.q, now.v, now.a, now.pivot, now.iterations)
            bar.update(k)
    ended = time.perf_counter()
    results = looped_results(
        motion,
        follower.rows,
        {"steps": whole, "failed_steps": halved, "iterations": follower.iterations},
        interrupted=bool(failure),
        spent=(ended - began, ended - moving),
    )
    if failure:
        raise SimulationError(
            f"{model.name}: after t = {now.t:.6g} s {failure}. The results until then are in the "
            f"attribute results of this error",
            results,
        )
    return results


def _links(model: Model, parameters: Mapping[str, float] | None, t: float) -> Relative | None:
    """The bodies of linked instances, each assembled as if its ground did not move.

    An angle that is a little wrong in each of a thousand cells throws the end of a chain far off.
    """
    alone = unlinked(model)
    if alone is None:
        return None
    blocks = reference_blocks(alone, parameters=parameters, t=t)
    try:
        q = _Follower(blocks, 1e-10).assembled(t, blocks.start)
    except AssemblyError:
        return None  # only the whole can be assembled
    return relative_poses(blocks, q)


def _guess(blocks: ReferenceBlocks, given: Mapping[str, float] | None) -> Floats:
    q = blocks.start.copy()
    if given:
        places = {name: k for k, name in enumerate(blocks.coordinate_names)}
        for name, value in given.items():
            if name not in places:
                raise ModelError(
                    f"{blocks.name} has no coordinate {name!r} in reference-point coordinates; "
                    f"they are called as {', '.join(list(places)[:7])}"
                )
            q[places[name]] = float(value)
    return q


class _StuckError(Exception):
    """A position was not found."""


class _Follower:
    """Follows a motion from one instant to the next."""

    def __init__(self, blocks: ReferenceBlocks, tolerance: float) -> None:
        if not len(blocks.rows):
            raise ModelError(f"{blocks.name} has no joints and no drivers: nothing moves it")
        self.blocks, self.tolerance = blocks, tolerance
        self.rows = SparseRows(blocks)
        self.iterations = 0

    # ------------------------------------------------------------------------------ start

    def first(self, t: float, q: Floats) -> _Instant:
        """The start: assembled, with its dependent rows found."""
        q = self.assembled(t, q)
        self._choose(t, q, start=True)
        try:
            q, count = self._position(t, q)
        except _StuckError as error:
            raise AssemblyError(f"{self.blocks.name}: at t = {t:g} s {error}") from None
        return self._moving(t, q, count)

    def assembled(self, t: float, q: Floats) -> Floats:
        """Damped least squares from afar, which minds no dependent rows (Wampler 1986)."""
        blocks, rows = self.blocks, self.rows
        Phi, J = blocks.position(q, t)
        damping = 1e-2
        for _ in range(200):
            size = float(np.linalg.norm(Phi))
            if not np.isfinite(size):
                break
            if float(np.abs(Phi).max()) <= _EXACT:
                return q
            rows.factor_damped(J, damping)
            delta = _limited(rows.damped_step(-Phi))
            trial = blocks.moved(q, delta)
            Phi_new, J_new = blocks.position(trial, t)
            self.iterations += 1
            if float(np.linalg.norm(Phi_new)) < size:
                q, Phi, J = trial, Phi_new, J_new
                damping = max(damping / 10, 1e-10)
                continue
            if float(np.abs(Phi).max()) <= self.tolerance:
                return q
            damping *= 30
            if damping > 1e8:
                break
        raise AssemblyError(
            f"{blocks.name} cannot be assembled at t = {t:g} s: no position was found; worst are "
            f"{worst_rows(blocks.rows, Phi)}. Give bodies a position or joints a start nearer to it"
        )

    def _choose(self, t: float, q: Floats, start: bool = False) -> None:
        """Choose independent rows at a position, and see that none is missing."""
        _, J = self.blocks.position(q, t)
        rank = self.rows.choose(J)
        free = self.blocks.nv - rank
        if not free:
            return
        if not start:
            raise _StuckError(
                f"a singular position is met, in which {free} "
                f"freedom{'s are' if free > 1 else ' is'} not determined by the drivers"
            )
        random = np.random.default_rng(0).normal(size=self.blocks.nv)
        left = np.abs(self.rows.free_motion(random))
        names = list(self.blocks.velocity_names) if self.blocks.nv < 100_000 else None
        order = np.argsort(-left)[: min(max(free, 3), 6)]
        moving = ", ".join(names[k] for k in order) if names else f"velocity {order[0]}"
        raise ModelError(
            f"{self.blocks.name}: {free} degree{'s' if free > 1 else ''} of freedom "
            f"{'are' if free > 1 else 'is'} not driven, or the start at t = {t:g} s is a singular "
            f"position; these velocities are still free: {moving}. Add a driver for each freedom"
        )

    # ----------------------------------------------------------------------------- motion

    def next(self, now: _Instant, t: float) -> tuple[_Instant, int]:
        """The motion at a later time, and how often the way there had to be halved."""
        halved, goals = 0, [t]
        while goals:
            goal = goals[-1]
            h = goal - now.t
            try:
                guess = self.blocks.moved(now.q, h * now.v + h * h / 2 * now.a)
                q, count = self._position(goal, guess)
                now = self._moving(goal, q, count)
            except _StuckError:
                if len(goals) > _HALVINGS:
                    raise
                goals.append(now.t + h / 2)
                halved += 1
                # another choice of rows may be better here
                self._choose(now.t, now.q)
            else:
                goals.pop()
        return now, halved

    def _position(self, t: float, q: Floats) -> tuple[Floats, int]:
        """A position near another one, and the iterations; the last matrix stays factored."""
        before = np.inf
        for count in range(20):
            Phi, J = self.blocks.position(q, t)
            error = self.rows.error(Phi)
            done = error <= _EXACT or (error <= self.tolerance and error > 0.3 * before)
            if count and done:
                break
            if not np.isfinite(error) or (count > 3 and error > before):
                raise _StuckError(self._open(Phi))
            before = error
            self.rows.factor(J)
            q = self.blocks.moved(q, _limited(self.rows.step(-Phi)))
            self.iterations += 1
        else:
            raise _StuckError(self._open(Phi))
        if not float(np.abs(Phi).max()) <= self.tolerance:
            raise _StuckError(self._open(Phi))
        return q, count

    def _open(self, Phi: Floats) -> str:
        return (
            f"no position is found in which all joints close; worst are "
            f"{worst_rows(self.blocks.rows, Phi)}. Look for a dead point, or take smaller steps"
        )

    def _moving(self, t: float, q: Floats, count: int) -> _Instant:
        """Velocity and acceleration at a position."""
        blocks, rows = self.blocks, self.rows
        _, J = blocks.position(q, t)
        pivot = rows.factor(J)
        if pivot < _SMALL_PIVOT:
            self._choose(t, q)
            pivot = rows.factor(J)
        v = rows.refined(J, blocks.beta(q, t))
        a = rows.refined(J, blocks.gamma(q, v, t))
        if not np.isfinite(a).all():
            raise _StuckError("the velocities become infinite; look for a singular position")
        return _Instant(t, q, v, a, pivot, count)


def _limited(delta: Floats) -> Floats:
    longest = float(np.abs(delta).max(initial=0.0))
    return delta if longest <= _LONGEST else delta * (_LONGEST / longest)
