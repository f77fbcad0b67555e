"""Inverse kinematics of any system: compiled once, solved for any number of targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import motions
from biela.analysis.inverse_kinematics.given import Given, instants
from biela.analysis.inverse_kinematics.kernels import Kernels
from biela.analysis.inverse_kinematics.limits import Limits, bounds, scales
from biela.analysis.inverse_kinematics.motion import accelerations, splined, velocities
from biela.analysis.inverse_kinematics.objective import Objective, preference
from biela.analysis.inverse_kinematics.search import Found, Search
from biela.analysis.inverse_kinematics.solution import IKBatch, IKPath, IKSolution
from biela.analysis.inverse_kinematics.targets import Target
from biela.analysis.preparation import Model, Values, as_system, at_values, values, with_values
from biela.doors import doors
from biela.errors import ModelError, ShapeError

Floats = npt.NDArray[np.float64]
Rates: TypeAlias = Literal["splined"] | Any

#: A coordinate nearer to its limit than this is at it (rad, m).
_AT_LIMIT = 1e-9


@doors(ModelError)
class InverseKinematics:
    """The positions in which a mechanism meets targets, within limits and constraints.

    >>> import biela as bl
    >>> from biela.analysis.inverse_kinematics import InverseKinematics, PointTarget
    >>> arm = bl.SymbolicSystem("arm")
    >>> a, b = arm.coordinates("a b")
    >>> upper = arm.base.rotated("upper", "z", a)
    >>> elbow = arm.origin.offset("elbow", upper.vector(0.4, 0, 0))
    >>> lower = upper.rotated("lower", "z", b)
    >>> hand = elbow.offset("hand_point", lower.vector(0.3, 0, 0))
    >>> _ = arm.solid("forearm", elbow, lower, mass=1.0)
    >>> _ = arm.frame("hand", hand, lower)
    >>> arm.limits(b, 0.1, 3.0)
    >>> ik = InverseKinematics(arm, [PointTarget("hand")])
    >>> solution = ik.solve([0.5, 0.2, 0.0])
    >>> solution.converged
    True
    >>> np.degrees(solution.q).round(3)
    array([-11.517,  80.406])

    Args:
        model: A symbolic system, its equations, or a System; open or closed, with drivers or not.
        targets: What is wanted, on one frame or several.
        limits: Whether the limits of the model's coordinates hold, or other limits by name:
            ``{"elbow": (0.0, 2.5)}``, which replace or add to them.
        weights: How dear it is to move each coordinate, by name or in order; 1 where not given.
        parameters: Values of parameters, as in other analyses.
        inputs: Values of inputs.
        tolerance: Bound of what all rows together (m, rad) may miss.

    Raises:
        ModelError: The model does not give poses and twists of frames, a name is unknown, or a
            value cannot be one.
    """

    def __init__(
        self,
        model: Model,
        targets: Target | Sequence[Target],
        *,
        limits: Limits = True,
        weights: Mapping[str, float] | None = None,
        parameters: Values = None,
        inputs: Values = None,
        tolerance: float = 1e-10,
    ) -> None:
        model, parameters = with_values(model, parameters)
        self.system = system = as_system(model)
        self.targets = (targets,) if isinstance(targets, Target) else tuple(targets)
        if not self.targets:
            raise ModelError(f"{system.name}: an inverse kinematics needs at least one target")
        if not tolerance > 0:
            raise ModelError(f"{system.name}: the tolerance must be positive, not {tolerance!r}")
        self._given = Given(self.targets)
        kernels = Kernels(system, self.targets)
        p = values(system, "parameter", system.p, parameters)
        self._limits = bounds(at_values(system, p), kernels.place, limits)
        rows = [1.0] * kernels.hard + [w for t in self.targets for w in t.row_weights]
        u = values(system, "input", system.u, inputs)
        self._search = Search(
            kernels,
            self._limits,
            np.array(rows),
            scales(system, kernels.place, weights),
            np.concatenate([p, u]),
            tolerance,
        )

    # --------------------------------------------------------------- questions

    def solve(
        self,
        values: Any,
        q0: Values = None,
        *,
        t: float = 0.0,
        restarts: int = 20,
        seed: int = 0,
        objective: Objective = None,
    ) -> IKSolution:
        """The position for one value of each target.

        Args:
            values: A value for each target, in order; of a single target its value.
            q0: Where to start, by name or in order; the start of the model, if not given.
            t: Time, for drivers and other laws.
            restarts: How many other starts are tried if the first fails.
            seed: Of those starts.
            objective: What to do with freedoms left: "closest" to the start, "middle" of the
                limits, or wanted values of some coordinates by name; nothing, if not given.

        Raises:
            ModelError, ShapeError: A value is not one of its target.
        """
        wanted = self._given.wanted(values, many=False)
        start = self._start(q0)[None]
        found = self._found(
            np.array([float(t)]), start, wanted, restarts, seed, objective, 1, False
        )
        return self._solution(float(t), found, wanted[0])

    def batch(
        self,
        values: Any,
        q0: Values = None,
        *,
        t: float | Sequence[float] | Floats = 0.0,
        restarts: int = 20,
        seed: int = 0,
        objective: Objective = None,
        threads: int = 1,
        progress: bool | None = None,
    ) -> IKBatch:
        """The positions for many values, each solved for itself.

        Args:
            values: N values for each target, in order; of a single target its N values.
            q0: One start, or N rows of starts.
            t: Time, or N times.
            restarts: How many other starts are tried if the first fails.
            seed: Of those starts, the same for all.
            objective: As in `solve`.
            threads: How many work at the same time.
            progress: Whether a bar is shown; None shows one on a terminal if it takes long.

        Raises:
            ModelError, ShapeError: A value is not one of its target.
        """
        wanted = self._given.wanted(values, many=True)
        count = len(wanted)
        if isinstance(q0, np.ndarray) and q0.ndim == 2:
            if q0.shape != (count, self._search.k):
                raise ShapeError(f"q0 has shape {q0.shape}, not {(count, self._search.k)}")
            start = np.array([self._start(row) for row in q0]).reshape(q0.shape)
        else:
            start = np.repeat(self._start(q0)[None], count, 0)
        times = instants(t, count)
        found = self._found(times, start, wanted, restarts, seed, objective, threads, progress)
        return IKBatch(found.q, found.converged, *self._errors(found))

    def follow(
        self,
        times: Sequence[float] | Floats,
        values: Any,
        q0: Values = None,
        *,
        restarts: int = 20,
        seed: int = 0,
        rates: Rates = None,
        second_rates: Any = None,
    ) -> IKPath:
        """The positions along a path, each found from the one before, so that none jumps.

        Restarts are made for the first instant only.  An instant whose targets cannot be met has
        the closest position nearby, and is not ``converged``.

        Args:
            times: N instants that increase (s).
            values: N values for each target, in order; of a single target its N values.
            q0: Where to start.
            restarts: Other starts for the first instant.
            seed: Of those starts.
            rates: How fast the targets move, to get velocities: N rows for each target, of 3 for a
                point, 3 for a direction (its angular velocity), 6 for a pose (velocity and angular
                velocity), 1 for a coordinate.  "splined" takes velocities and accelerations from
                cubic splines through the positions instead.
            second_rates: Their rates, to get accelerations.

        Raises:
            ModelError, ShapeError: A value is not one of its target, or times do not increase.
        """
        wanted = self._given.wanted(values, many=True)
        moments = instants(times, len(wanted))
        if not (np.diff(moments) > 0).all():
            raise ModelError(f"{self.system.name}: the instants of a path must increase")
        start = np.repeat(self._start(q0)[None], len(wanted), 0)
        search = self._search
        found = search.run(moments, start, wanted, search.draws(restarts, seed), path=True)
        v = a = None
        if isinstance(rates, str):
            v, a = splined(self.system, moments, found.q)
        elif rates is not None:
            v = velocities(search, moments, found.q, wanted, self._given.rates(rates, len(wanted)))
            if second_rates is not None:
                second = self._given.rates(second_rates, len(wanted))
                a = accelerations(search, moments, found.q, v, wanted, second)
        return IKPath(found.q, found.converged, *self._errors(found), moments, v, a)

    # ------------------------------------------------------------------ inside

    def _start(self, q0: Values) -> Floats:
        return values(self.system, "coordinate", self.system.q, q0)

    def _found(
        self,
        times: Floats,
        start: Floats,
        wanted: Floats,
        restarts: int,
        seed: int,
        objective: Objective,
        threads: int,
        progress: bool | None,
    ) -> Found:
        if restarts < 0:
            raise ModelError(f"{self.system.name}: the number of restarts is {restarts}")
        search = self._search
        preferred = preference(self.system, self._limits, objective, search.scale)
        aim = None if preferred is None else preferred.aim(start)
        draws = search.draws(restarts, seed)
        return search.run(times, start, wanted, draws, threads, progress, aim=aim)

    @np.errstate(over="ignore")  # what is missed by more than any double is missed
    def _errors(self, found: Found) -> tuple[dict[str, Floats], Floats, Any, Any]:
        # a position at which the rows have no value misses by any amount
        rows = np.nan_to_num(found.rows, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        hard = self._search.kernels.hard
        error: dict[str, Floats] = {}
        first = hard
        for target, label in zip(self.targets, self._given.labels, strict=True):
            error[label] = np.linalg.norm(rows[:, first : first + target.rows], axis=1)
            first += target.rows
        constraints = np.linalg.norm(rows[:, :hard], axis=1)
        return error, constraints, found.iterations, found.restarts

    def _solution(self, t: float, found: Found, wanted: Floats) -> IKSolution:
        error, constraints, iterations, restarts = self._errors(found)
        q, limits, names = found.q[0], self._limits, [e.name for e in self.system.q]
        at = [
            names[i]
            for i, low, high in zip(limits.place, limits.lower, limits.upper, strict=True)
            if i >= 0 and (q[i] - low <= _AT_LIMIT or high - q[i] <= _AT_LIMIT)
        ]
        return IKSolution(
            q,
            bool(found.converged[0]),
            {label: float(part[0]) for label, part in error.items()},
            float(constraints[0]),
            int(iterations[0]),
            int(restarts[0]),
            tuple(at),
            self._sigma_min(t, q, wanted),
            tuple(names),
        )

    def _sigma_min(self, t: float, q: Floats, wanted: Floats) -> float:
        search = self._search
        p = np.concatenate([search.given, wanted])
        A = np.atleast_2d(search.kernels.evaluate([t], q, p)[1])
        hard = search.kernels.hard
        R = motions(A[:hard]).R
        J = A[hard:] @ R
        return float(np.linalg.svd(J, compute_uv=False)[-1]) if J.size else 0.0
