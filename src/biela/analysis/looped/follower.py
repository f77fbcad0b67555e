"""From one instant of a driven motion to the next, with sparse rows.

Newton's method from the prediction q ⊕ (h v + h² a / 2); a step that does not converge is halved,
and the independent rows are chosen again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import in_conflict
from biela.analysis.instant import ROUNDED_ANGLE, SMALL
from biela.analysis.looped.sparse_rows import SparseRows, longest_arm, worst_rows
from biela.equations.blocks import ReferenceBlocks
from biela.errors import AssemblyError, ModelError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Newton's method goes on to this error, m or rad, if it can.
_EXACT = 1e-13
#: A kept pivot this small: the rows are chosen again.
_SMALL_PIVOT = 1e-7
#: Rows that are left out and miss more than this, in proportion: those chosen do not suffice.
_SUFFICE = 1e-13
#: Damping of least squares, which further sweeps remove.
_DAMPING = 1e-7
_HALVINGS = 8
#: Part of velocities or accelerations by which redundant rows may miss them.
_MISSED = 1e-6
#: Largest displacement of one iteration, m or rad.
_LONGEST = 0.5


@dataclass(frozen=True, eq=False)
class LoopedInstant:
    """The motion at one time."""

    t: float
    q: Floats
    v: Floats
    a: Floats
    pivot: float
    iterations: int


class StuckError(Exception):
    """A position was not found."""


class Follower:
    """Follows a motion from one instant to the next."""

    def __init__(self, blocks: ReferenceBlocks, tolerance: float) -> None:
        if not len(blocks.rows):
            raise ModelError(f"{blocks.name} has no joints and no drivers: nothing moves it")
        self.blocks, self.tolerance = blocks, tolerance
        self.rows = SparseRows(blocks)
        self.iterations = 0
        levers, size = longest_arm(blocks)
        self._size = size if size < SMALL else 1.0
        if size < SMALL:
            # lengths are measured in units of the mechanism; angles are rounded all the same
            self.tolerance = max(size * tolerance, ROUNDED_ANGLE)
            turns = np.full(blocks.nv - levers.size, size)
            self.rows.weigh(np.square(np.concatenate([levers.ravel(), turns])))

    # ------------------------------------------------------------------------------ start

    def first(self, t: float, q: Floats) -> LoopedInstant:
        """The start: assembled, with its dependent rows found."""
        q = self.assembled(t, q)
        self._choose(t, q, start=True)
        try:
            q, count = self._position(t, q)
            return self._moving(t, q, count)
        except StuckError as error:
            raise AssemblyError(f"{self.blocks.name}: at t = {t:g} s {error}") from None

    def assembled(self, t: float, q: Floats, free: Integers | None = None) -> Floats:
        """Damped least squares from afar, which minds no dependent rows (Wampler 1986).

        Rows that are ``free`` do not count.
        """
        blocks, rows = self.blocks, self.rows
        dropped = np.zeros(0, dtype=np.int64) if free is None else free
        unset = np.isin(blocks.indices[0], dropped)

        def position(place: Floats) -> tuple[Floats, Floats]:
            Phi, J = blocks.position(place, t)
            Phi[dropped], J[unset] = 0.0, 0.0
            return Phi, J

        Phi, J = position(q)
        damping = 1e-2
        for _ in range(200):
            size = float(np.linalg.norm(Phi))
            if not np.isfinite(size):
                break
            if float(np.abs(Phi).max()) <= _EXACT * self._size:
                return q
            rows.factor_damped(J, damping)
            delta = _limited(rows.damped_step(-Phi))
            trial = blocks.moved(q, delta)
            Phi_new, J_new = position(trial)
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
        if float(np.abs(Phi).max()) <= self.tolerance:
            return q
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
            raise StuckError(self._singular(free))
        random = np.random.default_rng(0).normal(size=self.blocks.nv)
        left = np.abs(self.rows.free_motion(random))
        names = list(self.blocks.velocity_names) if self.blocks.nv < 100_000 else None
        order = np.argsort(-left)[: min(max(free, 3), 6)]
        moving = ", ".join(names[k] for k in order) if names else f"velocity {order[0]}"
        raise ModelError(
            f"{self.blocks.name}: {free} degree{'s' if free > 1 else ''} of freedom "
            f"{'are' if free > 1 else 'is'} not driven, or the start at t = {t:g} s is a singular "
            f"position; these velocities are still free: {moving}. Add a driver for each freedom"
            f"{self._doubt()}"
        )

    # ----------------------------------------------------------------------------- motion

    def next(self, now: LoopedInstant, t: float) -> tuple[LoopedInstant, int]:
        """The motion at a later time, and how often the way there had to be halved."""
        halved, goals = 0, [t]
        while goals:
            goal = goals[-1]
            h = goal - now.t
            try:
                guess = self.blocks.moved(now.q, h * now.v + h * h / 2 * now.a)
                q, count = self._position(goal, guess)
                now = self._moving(goal, q, count)
            except StuckError:
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
            done = error <= _EXACT * self._size or (
                error <= self.tolerance and error > 0.3 * before
            )
            if count and done:
                break
            if not np.isfinite(error) or (count > 3 and error > before):
                raise StuckError(self._open(Phi))
            before = error
            self.rows.factor(J)
            q = self.blocks.moved(q, _limited(self.rows.step(-Phi)))
            self.iterations += 1
        else:
            raise StuckError(self._open(Phi))
        if not float(np.abs(Phi).max()) <= self.tolerance:
            # the chosen rows hold, and others that depend on them do not
            raise StuckError(self._contradiction(J, Phi, worst_rows(self.blocks.rows, Phi, 1)))
        return q, count

    def _contradiction(self, J: Floats, missed: Floats, text: str) -> str:
        conflict = in_conflict(self.blocks.rows, self.rows.conflict(J, missed))
        return (
            f"{conflict}: redundant constraints miss {text}. Check the laws of drivers and the "
            f"lengths in closed loops{self._doubt()}"
        )

    def _singular(self, free: int) -> str:
        return (
            f"a singular position is met, in which {free} "
            f"freedom{'s are' if free > 1 else ' is'} not determined by the drivers; "
            f"engine='unrolled' goes through it{self._doubt()}"
        )

    def _doubt(self) -> str:
        """What to add if the rank is doubtful."""
        names = [self.blocks.rows[int(k)] for k in self.rows.doubtful[:3]]
        if not names:
            return ""
        more = len(self.rows.doubtful) - len(names)
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        return (
            f". It cannot be told for certain whether {listed} depend{'s' * (len(names) == 1)} on "
            f"the other constraints: the position is nearly singular"
        )

    def _open(self, Phi: Floats) -> str:
        return (
            f"no position is found in which all joints close; worst are "
            f"{worst_rows(self.blocks.rows, Phi)}. Look for a dead point, or take smaller steps"
        )

    def _moving(self, t: float, q: Floats, count: int) -> LoopedInstant:
        """Velocity and acceleration at a position."""
        blocks, rows = self.blocks, self.rows
        _, J = blocks.position(q, t)
        pivot = rows.factor(J)
        if pivot < _SMALL_PIVOT:
            self._choose(t, q)
            pivot = rows.factor(J)
        beta = blocks.beta(q, t)
        v = rows.refined(J, beta)
        gamma = blocks.gamma(q, v, t)
        a = rows.refined(J, gamma)
        if not np.isfinite(a).all():
            raise StuckError("the velocities become infinite; look for a singular position")
        for what, f, x in (("velocities", beta, v), ("accelerations", gamma, a)):
            missed = f - rows.product(J, x)
            allowed = max(_MISSED, 1e2 * self.tolerance)
            if np.abs(missed).max() > allowed * (1.0 + np.abs(f).max() + np.abs(x).max()):
                if pivot < _SMALL_PIVOT:  # what is missed is rounding, divided by the pivot
                    raise StuckError(self._singular(1))
                worst = worst_rows(blocks.rows, missed, 1)
                raise StuckError(self._contradiction(J, f, f"their {what}, {worst}"))
        if rows.missed(J, v, beta) > _SUFFICE or rows.missed(J, a, gamma) > _SUFFICE:
            q, v, a = self._with_all_rows(t, q)
        return LoopedInstant(t, q, v, a, pivot, count)

    def _with_all_rows(self, t: float, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Position, velocity and acceleration by least squares.

        Where the chosen rows nearly depend on each other, as near the fold of a Bennett linkage,
        the others tell what these have lost.
        """
        blocks, rows = self.blocks, self.rows
        for _ in range(2):
            Phi, J = blocks.position(q, t)
            rows.factor_damped(J, _DAMPING)
            q = blocks.moved(q, rows.least_squares(J, -Phi))
        _, J = blocks.position(q, t)
        v = rows.least_squares(J, blocks.beta(q, t))
        return q, v, rows.least_squares(J, blocks.gamma(q, v, t))


def _limited(delta: Floats) -> Floats:
    longest = float(np.abs(delta).max(initial=0.0))
    return delta if longest <= _LONGEST else delta * (_LONGEST / longest)
