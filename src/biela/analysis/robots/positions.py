"""Positions of a robot in which its loops are closed, and velocities that keep them so.

The joints that carry no body close loops.  Their equations Φ(q, t) = 0, and those of drivers, hold
the coordinates of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.ranking import dependent_sets, measured
from biela.analysis.robots.dynamics import Dynamics
from biela.analysis.robots.functions import Array, Floats
from biela.analysis.singularity import owner
from biela.code import Function
from biela.equations import spatial
from biela.equations.ranked_rows import RankedRows
from biela.errors import AssemblyError, UnknownNameError
from biela.model import Model
from biela.singular_values import svd
from biela.spelling import nearest

#: Of the gaps of loops, m or sine of an angle.
_CLOSED: Final = 1e-12
_STEPS: Final = 100
_TRIES: Final = 20
#: A singular value below this part of the largest is rounding.
_RANK: Final = 1e-9
#: Positions at which the rows of loops are looked at, besides the start.
_PLACES: Final = 6


@dataclass(frozen=True)
class _Closure:
    """The equations of the loops of a robot, as functions of its position."""

    robot: ClosedPositions
    rows: list[int]

    def Phi(self, q: Floats) -> Floats:
        return self.robot.closure(q)[self.rows]

    def Phi_v(self, q: Floats) -> Floats:
        return self.robot.closure_jacobian(q)[self.rows]

    def moved(self, q: Floats, delta: Floats) -> Floats:
        return self.robot._integrated(q, delta)


class ClosedPositions(Dynamics):
    """How a robot closes its loops; a base of `biela.Robot`."""

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """The equations that close its loops, and those of drivers, "joint.label"."""
        return spatial.constraint_names(self.snapshot)

    @cached_property
    def _ranked(self) -> tuple[RankedRows, ...]:
        """The equations that depend on each other wherever the loops are closed."""
        return self._dependent(range(len(self.constraints)))

    @cached_property
    def _ranked_loops(self) -> tuple[RankedRows, ...]:
        """The same without the equations of drivers, which are not counted."""
        loops = [k for k in range(len(self.constraints)) if not self._drives(k)]
        return self._ranked if len(loops) == len(self.constraints) else self._dependent(loops)

    def _drives(self, k: int) -> bool:
        return owner(self.constraints[k]) in self.snapshot.drivers

    def _dependent(self, rows: Sequence[int]) -> tuple[RankedRows, ...]:
        """Which of some equations depend on each other, looked for around the start.

        There are none where the start cannot be assembled.
        """
        picked = list(rows)
        if not picked:
            return ()
        try:
            q = self.assemble()
        except AssemblyError:
            return ()
        names = [self.constraints[k] for k in picked]
        joints = [i for i, k in enumerate(picked) if not self._drives(k)]
        random = np.random.default_rng(0)

        def places() -> list[Floats]:
            away = random.uniform(-1, 1, (_PLACES, len(self.v_names)))
            return [self._integrated(q, delta) for delta in away]

        closure = _Closure(self, picked)
        found = dependent_sets(closure, q, names, range(len(names)), lambda: joints, places)
        if not found:
            return ()
        looked = [q, *places()]
        jacobians = [closure.Phi_v(place) for place in looked]
        masses = [self.mass_matrix(place) for place in looked]
        lengths = np.max([np.square(J).sum(axis=1) for J in jacobians], axis=0)
        felt = [
            np.einsum("ij,ji->i", J, np.linalg.solve(M, J.T))
            for J, M in zip(jacobians, masses, strict=True)
        ]
        return measured(found, np.max(felt, axis=0).tolist(), lengths.tolist())

    @cached_property
    def _made(self) -> dict[tuple[Any, ...], Function]:
        return {}

    # ------------------------------------------------------------------ positions

    def closure(self, q: Array, *, t: float = 0.0, threads: int = 1) -> Floats:
        """Φ(q), how far each loop is open: points along the axes of their marker i."""
        return self._loops("closure", spatial.closure, q, t=t, threads=threads)

    def closure_jacobian(self, q: Array, *, t: float = 0.0, threads: int = 1) -> Floats:
        """J(q), the derivative of `closure` by displacements measured by velocities."""
        made = spatial.closure_jacobian
        found = self._loops("closure_jacobian", made, q, t=t, threads=threads)
        return found.reshape(*np.shape(q)[:-1], len(self.constraints), len(self.v_names))

    def assemble(
        self, q: Array | None = None, *, hold: Sequence[str] = (), t: float = 0.0
    ) -> Floats:
        """The position near q in which all loops are closed: steps of Newton, each the smallest.

        >>> import biela as bl
        >>> m = bl.Model("triangle")
        >>> a, b = (m.body(n, mass=1.0, inertia=(0.1, 0.1, 0.1)) for n in "ab")
        >>> _ = m.joint("revolute", "A", m.ground, a, start={"angle": 1.0})
        >>> _ = m.joint("revolute", "B", m.ground.at(1, 0, 0), b, start={"angle": 2.0})
        >>> _ = m.joint("revolute", "C", a.at(1, 0, 0), b.at(1, 0, 0))
        >>> bl.Robot(m).assemble().round(6)
        array([1.047198, 2.094395])

        Args:
            q: Where to start, or a row for each of many; the start of the model if left out.
            hold: Coordinates that keep their values.
            t: Time, of which drivers depend.

        Raises:
            AssemblyError: No such position was found; the message says what stays open.
            UnknownNameError: There is no such coordinate.
        """
        given = self.start if q is None else np.asarray(q, dtype=float)
        free = self._free(hold)
        if given.ndim == 2:
            return np.array([self._closed(row, free, t) for row in given])
        return self._closed(given, free, t)

    def _free(self, hold: Sequence[str]) -> npt.NDArray[np.int_]:
        known = [name.removesuffix("_rate") for name in self.v_names]
        held = set()
        for name in map(self.own_name, hold):
            own = [k for k, n in enumerate(known) if n == name or n.rpartition(".")[0] == name]
            if not own:
                raise UnknownNameError(
                    f"{self.name}: there is no coordinate {name!r} to hold{nearest(name, known)}"
                )
            held.update(own)
        return np.array([k for k in range(len(known)) if k not in held], dtype=int)

    def _closed(self, q: Floats, free: npt.NDArray[np.int_], t: float) -> Floats:
        random = np.random.default_rng(0)
        best, least = q, np.inf
        for attempt in range(_TRIES):
            spread = 0.1 * attempt * random.uniform(-1, 1, len(self.v_names))
            spread[[k for k in range(len(spread)) if k not in free]] = 0.0
            found = self._integrated(q, spread) if attempt else q
            found, gap = self._newton(found, free, t)
            if gap <= _CLOSED * (1 + float(np.abs(found).max(initial=0.0))):
                return found
            if gap < least:
                best, least = found, gap
        gaps = np.abs(self.closure(best, t=t))
        worst = ", ".join(
            f"{self.constraints[k]} by {gaps[k]:.3g}" for k in np.argsort(-gaps)[:3] if gaps[k] > 0
        )
        raise AssemblyError(
            f"{self.name}: no position was found in which all loops close; at the best, open "
            f"stay {worst}; start nearer, or hold fewer coordinates"
        )

    def _newton(self, q: Floats, free: npt.NDArray[np.int_], t: float) -> tuple[Floats, float]:
        """Levenberg's steps, damped by the gap itself, so that they end as those of Newton."""
        phi = self.closure(q, t=t)
        for _ in range(_STEPS):
            gap = float(np.linalg.norm(phi))
            if not np.isfinite(gap) or gap <= 1e-15 * (1 + float(np.abs(q).max(initial=0.0))):
                break
            J = self.closure_jacobian(q, t=t)[:, free]
            U, s, V = svd(J, full_matrices=False)
            kept = s > _RANK * s.max(initial=1e-300)
            damped = np.where(kept, s / (s**2 + min(gap, 1.0) ** 2 * 1e-2), 0.0)
            step = np.zeros(len(self.v_names))
            step[free] = -V.T @ (damped * (U.T @ phi))
            scale = 1.0
            while True:
                after = self._integrated(q, scale * step)
                new = self.closure(after, t=t)
                if np.linalg.norm(new) < gap or scale < 1e-3:
                    break
                scale /= 2
            if not np.linalg.norm(new) < gap:
                break
            q, phi = after, new
        return q, float(np.abs(phi).max(initial=0.0))

    def project(self, q: Array, v: Array, *, t: float = 0.0) -> Floats:
        """The velocities nearest to v that keep the loops closed: J v + ∂Φ/∂t = 0."""
        given, speed = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if given.ndim == 2:
            rows = zip(given, np.broadcast_to(speed, (len(given), speed.shape[-1])), strict=True)
            return np.array([self.project(one, own, t=t) for one, own in rows])
        if not self.constraints:
            return speed
        J = self.closure_jacobian(given, t=t)
        drift, _ = self._called("closure_drift", spatial.closure_drift, given, speed, t=t)
        change: Floats = np.linalg.lstsq(J, J @ speed + drift, rcond=_RANK)[0]
        return speed - change

    # --------------------------------------------------------------------- inside

    def _integrated(self, q: Floats, step: Floats) -> Floats:
        return np.asarray(self._called("integrate", spatial.integrate, q, step))

    def _loops(
        self,
        key: str,
        made: Callable[[Model], Function],
        *arrays: Array,
        t: float,
        threads: int = 1,
    ) -> Floats:
        if not self.constraints:
            return np.zeros((*np.shape(arrays[0])[:-1], 0))
        return np.asarray(self._called(key, made, *arrays, t=t, threads=threads))

    def _called(
        self,
        key: Any,
        made: Callable[[Model], Function],
        *arrays: Array,
        wrenches: Floats | None = None,
        t: float = 0.0,
        threads: int = 1,
    ) -> Any:
        known = (key,) if isinstance(key, str) else key
        if known not in self._made:
            self._made[known] = made(self.snapshot)
        function = self._made[known]
        given = [np.asarray(x, dtype=float) for x in arrays]
        many = max(x.ndim for x in given) == 2
        if wrenches is not None:
            many = many or wrenches.ndim == 3
            given.append(wrenches)
        names = {array.name for array in function.inputs}
        if "t" in names:
            given.append(np.asarray(float(t)))
        if "p" in names:
            given.append(np.asarray(self._p))
        return function.map(*given, threads=threads) if many else function(*given)
