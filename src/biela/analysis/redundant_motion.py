"""Mechanisms with more freedoms than drives: the free motion is chosen to increase a measure.

    v = Φ_v⁺ β + k R Rᵀ ∇H(q),     q' = N v

with R a basis of the motions that constraints and drives allow (gradient projection: Liégeois 1977,
IEEE Trans. SMC 7; for singularity avoidance Yoshikawa 1985).  The drives are followed exactly: the
position is corrected after every step of the integration (RK4), by the smallest displacement.

With the drive rows J and the motions S that the joints alone allow, the measures H are

    "manipulability"            √det(J S Sᵀ Jᵀ), how far the drives are from a singular position
    "smallest singular value"   of J S, the same for the worst direction
    "limits"                    -½ Σ ((q - middle)/(upper - lower))², away from the limits of joints
    "speed"                     0: the smallest velocities, which is the pseudo-inverse alone

or any output of the model, or a function of t and q.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.driven_motion import Found, Plan
from biela.analysis.instant import Instant, motions
from biela.analysis.reach import obstacle
from biela.analysis.unrolled import Unrolled, derivatives
from biela.code import Function
from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]
Measure: TypeAlias = Callable[[float, Floats], float]

MEASURES: Final = ("manipulability", "smallest singular value", "limits", "speed")
#: Displacements of differences (m, rad), and of time (s).
_SMALL: Final = 1e-5


@dataclass(frozen=True)
class Objective:
    """What the free motion of a mechanism increases.

    Attributes:
        measure: One of `MEASURES`, the name of an output, or a function of t and q.
        gain: k, the speed of the free motion for a unit of the slope of the measure.
    """

    measure: str | Measure
    gain: float = 1.0


def as_objective(objective: str | Measure | Objective) -> Objective:
    """An objective, or one with the measure given and a gain of 1.

    Raises:
        ModelError: The gain is not finite.
    """
    found = objective if isinstance(objective, Objective) else Objective(objective)
    if not np.isfinite(found.gain):
        raise ModelError(f"the gain of an objective must be a finite number, not {found.gain!r}")
    return found


class RedundantMotion:
    """The velocities of a mechanism with free motions, as a function of time and position."""

    def __init__(self, system: System, u: Floats, p: Floats, objective: Objective) -> None:
        self.system, self.objective = system, objective
        self._u, self._p = u, p
        self._drives = [k for k, n in enumerate(system.multipliers) if n.startswith("drive ")]
        self._joints = [k for k in range(len(system.multipliers)) if k not in self._drives]
        if not self._drives:  # the model drives itself
            self._drives, self._joints = self._joints, []
        self._limits = _limits(system) if objective.measure == "limits" else None
        self._slope: Function | None = None
        self._output = -1
        measure = objective.measure
        if isinstance(measure, str) and measure not in MEASURES:
            names = [e.name for e in system.y]
            if measure not in names:
                raise ModelError(
                    f"{system.name} has no output {measure}, and it is no measure; measures are "
                    f"{', '.join(MEASURES)}, outputs {', '.join(names) or 'none'}"
                )
            self._output = names.index(measure)
            self._slope = _slope(system, self._output)

    def instant(self, t: float) -> Instant:
        """The system at a time."""
        return Instant(self.system, t, self._u, self._p)

    def measure(self, t: float, q: Floats) -> float:
        """H."""
        chosen = self.objective.measure
        instant = self.instant(t)
        if callable(chosen):
            return float(chosen(t, q))
        if self._output >= 0:
            return float(np.atleast_1d(instant("outputs", q))[self._output])
        if self._limits is not None:
            places, middle, width = self._limits
            return float(-0.5 * (((q[places] - middle) / width) ** 2).sum())
        if chosen == "speed":
            return 0.0
        rows = instant.Phi_v(q)
        A = rows[self._drives] @ motions(rows[self._joints]).R
        s = np.linalg.svd(A, compute_uv=False)
        if A.shape[0] > A.shape[1]:
            return 0.0
        return float(np.prod(s) if chosen == "manipulability" else s[-1])

    def velocity(self, t: float, q: Floats) -> Floats:
        """V."""
        instant = self.instant(t)
        allowed = motions(instant.Phi_v(q))
        v = allowed.inverse @ instant.beta(q)
        R = allowed.R
        if not R.shape[1] or self.objective.measure == "speed":
            return np.asarray(v)
        if self._slope is not None:
            by_q = np.atleast_1d(self._slope([t], q, np.concatenate([self._p, self._u])))
            slope = R.T @ (by_q @ instant.N(q))
        else:
            slope = np.array([self._difference(instant, q, column) for column in R.T])
        return np.asarray(v + self.objective.gain * (R @ slope))

    def acceleration(self, t: float, q: Floats, v: Floats) -> Floats:
        """V' along the motion: by differences, and then on the constraints."""
        instant = self.instant(t)
        ahead, behind = (self.velocity(t + e, instant.moved(q, e * v)) for e in (_SMALL, -_SMALL))
        a = (ahead - behind) / (2 * _SMALL)
        rows = instant.Phi_v(q)
        return np.asarray(a + motions(rows).inverse @ (instant.gamma(q, v) - rows @ a))

    def step(self, t: float, q: Floats, h: float) -> Floats | None:
        """The position after a step, on the constraints; None if there is none."""
        moved = self.instant(t).moved
        k1 = self.velocity(t, q)
        k2 = self.velocity(t + h / 2, moved(q, h / 2 * k1))
        k3 = self.velocity(t + h / 2, moved(q, h / 2 * k2))
        k4 = self.velocity(t + h, moved(q, h * k3))
        delta = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if not np.isfinite(delta).all():
            return None
        return self.instant(t + h).assembled(moved(q, delta), 1e-13)

    def _difference(self, instant: Instant, q: Floats, along: Floats) -> float:
        """The slope of H along a displacement."""
        up, down = (self.measure(instant.t, instant.moved(q, e * along)) for e in (_SMALL, -_SMALL))
        return (up - down) / (2 * _SMALL)


def redundant(plan: Plan, q: Floats, objective: Objective) -> Found:
    """The motion from a position that fulfils the constraints on."""
    system = plan.system
    motion = RedundantMotion(system, plan.u, plan.p, objective)
    began = time.perf_counter()
    places, failure = [q], ""
    for k in range((plan.steps // plan.stride) * plan.stride):
        t = plan.t + k * plan.step
        after = motion.step(t, q, plan.step)
        if after is None:
            failure = obstacle(motion.instant(t + plan.step), q, plan.tolerance)
            break
        q = after
        if (k + 1) % plan.stride == 0:
            places.append(q)
    times = plan.times(len(places))
    v = [motion.velocity(t, x) for t, x in zip(times, places, strict=True)]
    a = [motion.acceleration(t, x, w) for t, x, w in zip(times, places, v, strict=True)]
    return Found(
        {"q": np.array(places), "v": np.array(v), "a": np.array(a)},
        {
            "method": "drives followed, free motion along the slope of the objective",
            "integrator": f"rk4, {plan.step:g} s",
            "time_integration": time.perf_counter() - began,
        },
        failure,
        monitors={
            "objective": np.array(
                [motion.measure(t, x) for t, x in zip(times, places, strict=True)]
            )
        },
    )


def _limits(system: System) -> tuple[list[int], Floats, Floats]:
    places = [k for k, e in enumerate(system.q) if np.isfinite(e.lower) and np.isfinite(e.upper)]
    if not places:
        raise ModelError(
            f"{system.name}: no coordinate has limits to keep away from; give joints limits, or "
            f"an objective of your own"
        )
    bounds = np.array([(system.q[k].lower, system.q[k].upper) for k in places])
    return places, bounds.mean(axis=1), bounds[:, 1] - bounds[:, 0]


def _slope(system: System, output: int) -> Function:
    """The derivatives of an output by the coordinates."""
    u = Unrolled(system)
    y = list(u("outputs"))[output]
    refused = {s.ref for s in (*u.v, *u.lam, *u.a)} & set(y.table.live([y.ref]))
    if refused:
        raise ModelError(
            f"{system.name}: output {system.y[output].name} depends on more than the position; an "
            f"objective is a function of position and time"
        )
    inputs = {"t": [u.t], "q": u.q, "p": [*u.p, *u.u]}
    return Function("objective_slope", inputs, {"slope": derivatives([y], u.q)[0]})
