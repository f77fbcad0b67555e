"""Over an instant at which two branches of a group meet, where continuity tells the branch.

A parallelogram that is flat may go on as a parallelogram or as an antiparallelogram: its Jacobian
is singular there, and determinants or signs of branches tell nothing.  The motion before it does: a
polynomial of fifth degree through positions, rates and accelerations at t - 2h and t - h, continued
to t + h, meets one of the branches to its order, h⁶, while the other one is off by a share of h.
The bifurcation is passed if the groups close at t + h next to that continuation; else it is a dead
point, or the branch is not decided, and nothing is said of the motion after it.

Next to the bifurcation rates and accelerations that equations give lose all digits.  There the
motion is the polynomial between t - h and t + h, if it fulfils the equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.laws import Laws
from biela.analysis.groups.quintic import quintic
from biela.atoms import evaluate
from biela.equations.groups.lowering import GroupProgram

__all__ = ["RATES", "Passage", "Stepper", "coarse_blocks", "kinked_group", "passage"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
#: Values, rates and second rates.
Motion: TypeAlias = tuple[Floats, Floats, Floats]
RATES: Final = ("", "d", "dd")
_TURN: Final = 2 * np.pi

#: A continuation is met if no group is farther from it than this share of its way, and no rate by
#: more than that share of the rates.
_MET: Final = 1e-5
_RATES_MET: Final = 1e-3
#: Equations hold if they are below so many tolerances.
_HELD: Final = 10.0
#: Below this nothing is a way, or a rate.
_NOTHING: Final = 1e-9
#: Lengths h that are tried, in steps of the run.
_LENGTHS: Final = (1.0, 0.25, 4.0, 16.0, 64.0, 256.0, 2.0**-4, 2.0**-6, 2.0**-8)
#: Steps on the way to t - 2h and to t - h.
_STEPS: Final = 200
#: How often a bifurcation is put into the middle of its passage, and how far off it may be, of h.
_LOOKS: Final = 4
_OFF: Final = 0.02
#: Of h on both sides, where the motion is that of the polynomial.
_NEAR: Final = 0.125
#: A rate that jumps by more than this share of itself in a step has a kink, if that is more than
#: this share of the largest rate of its group.
_KINK: Final = 0.05
_LITTLE: Final = 1e-4
#: A law of which a rate jumps by more has one itself.
_LAW_KINK: Final = 0.01
#: Where a law goes farther in a block than this (rad, m), or than this share of all its way, rates
#: are looked at after each block.
_FAR: Final = 0.25
_FAR_OF_ALL: Final = 0.1
_FARTHER: Final = 6.0


class Stepper(Protocol):
    """What steps from instant to instant: a `GroupRunner`."""

    groups: GroupProgram
    laws: Laws
    lanes: int
    w: Floats
    t: float

    @property
    def unknowns(self) -> Sequence[Sequence[Integers]]:
        """Places of the unknowns of a kind and of their two rates, (instances, unknowns) each."""

    def attempt(self, t: float, since: float) -> bool:
        """Solve all groups at an instant, from the state of some time before; whether they are."""


@dataclass(frozen=True, eq=False)
class Passage:
    """A bifurcation that was passed.

    Attributes:
        centre: About when.
        h: Half the length of the passage; below zero where time runs backwards.
        before: The workspace at ``centre - h``.
        after: At ``centre + h``.
    """

    centre: float
    h: float
    before: Floats
    after: Floats

    def holds(self, t: float) -> bool:
        """Whether an instant is so near that the motion is the polynomial."""
        return abs(t - self.centre) < _NEAR * abs(self.h)

    def place(self, runner: Stepper, t: float) -> None:
        """Put the state at such an instant into the workspace of a runner.

        What is neither motion nor branch, as reactions are, is not a number there.
        """
        groups, W = runner.groups, runner.lanes
        before, after = self.before.reshape(-1, W), self.after.reshape(-1, W)
        w = runner.w.reshape(-1, W)
        w[:] = np.nan
        kept = [f"{name}{c}" for c in range(len(groups.kernels)) for name in ("gauge", "branch")]
        for name in ("tau", "w", "dw", "ddw", *kept):
            places = groups.memory.places(name)
            w[places] = after[places]
        w[groups.memory.places("status")] = 0.0
        for moving in _moving(runner):
            first, last = ([state[p] for p in moving] for state in (before, after))
            last[0] = _unwound(first, last, 2 * self.h)
            found = quintic(first, last, 2 * self.h, t - (self.centre - self.h))
            for p, value in zip(moving, found, strict=True):
                w[p] = value
        runner.t = t


def passage(runner: Stepper, t: float, step: float, first: float) -> Passage | None:
    """Pass a bifurcation that the runner has come to; None if it is none, or nothing decides.

    Args:
        runner: In a state before it.
        t: About when it is.
        step: Between instants; its sign is that of the direction.
        first: When the run began.
    """
    start, began = runner.w.copy(), runner.t
    for length in _LENGTHS:
        h = length * step
        if abs(2 * h) > abs(t - first):
            continue
        centre: float | None = t
        for _ in range(_LOOKS):
            if centre is None:
                break
            runner.w[:], runner.t = start, began
            found = _passed(runner, centre, h)
            centre = None if found is None else _when(runner, found)
            if (
                found is not None
                and centre is not None
                and abs(centre - found.centre) < _OFF * abs(h)
            ):
                return found
    runner.w[:], runner.t = start, began
    return None


def _passed(runner: Stepper, t: float, h: float) -> Passage | None:
    W, groups = runner.lanes, runner.groups
    states = []
    for target in (t - 2 * h, t - h):
        if not _walked(runner, target, t, abs(h) / 64):
            return None
        states.append(runner.w.copy())
    earlier, before = (state.reshape(-1, W) for state in states)
    expected = {}
    for c in _solved(groups):
        places = runner.unknowns[c]
        first, last = ([state[p] for p in places] for state in (earlier, before))
        last[0] = _unwound(first, last, h)
        expected[c] = quintic(first, last, h, 3 * h)
    if not _landed(runner, t + h, before, expected):
        return None
    found = Passage(t, h, states[1], runner.w.copy())
    found.place(runner, t)
    misses = _missed(runner, t)
    runner.w[:], runner.t = found.after, t + h
    return found if misses <= _HELD * groups.iteration.tolerance else None


def _when(runner: Stepper, passed: Passage) -> float | None:
    """When the determinant of a group vanished on the way; None if none changed its sign."""
    groups, W = runner.groups, runner.lanes
    for c in _solved(groups):
        places = groups.memory.places(f"gauge{c}")
        before, after = (w.reshape(-1, W)[places, 0] for w in (passed.before, passed.after))
        turned = np.flatnonzero(before * after < 0)
        if len(turned):
            a, b = float(before[turned[0]]), float(after[turned[0]])
            return passed.centre - passed.h * (a + b) / (b - a)
    return None


def _walked(runner: Stepper, target: float, away: float, least: float) -> bool:
    """Go to an instant before a bifurcation, by steps of half the way to it, or of the least."""
    for _ in range(_STEPS):
        if runner.t == target:
            return True
        longest = max(0.5 * abs(runner.t - away), least)
        step = float(np.clip(target - runner.t, -longest, longest))
        t = target if abs(target - runner.t) <= longest else runner.t + step
        before = runner.w.copy()
        if not runner.attempt(t, t - runner.t):
            runner.w[:] = before
            return False
        runner.t = t
    return False


def _landed(runner: Stepper, t: float, before: Floats, expected: dict[int, Motion]) -> bool:
    """Solve all groups at an instant from where they are expected, and see that they are there.

    Groups with a closed form are tried on the branch they were on, then on the other.
    """
    groups, w = runner.groups, runner.w.reshape(-1, runner.lanes)
    turned: set[tuple[int, int]] = set()
    while True:
        w[:] = before
        _guess(runner, expected)
        for c, instance in turned:
            w[groups.memory.first(f"branch{c}") + instance] *= -1.0
        runner.attempt(t, 0.0)  # signs of determinants are those that this run finds
        _guess(runner, expected)
        solved = runner.attempt(t, 0.0)
        off = list(_off(runner, before, expected))
        if not off:
            return solved
        # later groups rest on earlier ones: the first that is off is turned over, once
        first = min(off, key=lambda x: int(groups.kinds[x[0]].groups[x[1]]))
        if first in turned or not groups.memory.sizes[f"branch{first[0]}"]:
            return False
        turned.add(first)


def _guess(runner: Stepper, expected: dict[int, Motion]) -> None:
    """Let the groups start where they are expected; as they are at rest, it is their guess."""
    w = runner.w.reshape(-1, runner.lanes)
    for c, (x, _, _) in expected.items():
        value, rate, second = runner.unknowns[c]
        w[value] = x
        w[rate] = w[second] = 0.0


def _off(runner: Stepper, before: Floats, expected: dict[int, Motion]) -> Iterator[tuple[int, int]]:
    """Groups, as kind and instance, that are not where they are expected."""
    w = runner.w.reshape(-1, runner.lanes)
    for c, (x, dx, _) in expected.items():
        value, rate, _ = runner.unknowns[c]
        way = np.abs(_within_turn(x - before[value])).max(axis=(1, 2))
        near = np.abs(_within_turn(w[value] - x)).max(axis=(1, 2)) <= _MET * way + _NOTHING
        speed = np.abs(dx).max(axis=(1, 2))
        alike = np.abs(w[rate] - dx).max(axis=(1, 2)) <= _RATES_MET * speed + _NOTHING
        for instance in np.flatnonzero(~(near & alike)):
            yield c, int(instance)


def _missed(runner: Stepper, t: float) -> float:
    """The largest norm of the equations of a group in the state of the workspace."""
    groups = runner.groups
    w = runner.w.reshape(-1, runner.lanes)[:, 0].copy()
    laws = [groups.memory.places(name) for name in ("w", "dw", "ddw")]
    w[np.concatenate(laws)] = runner.laws.at(np.array([t]))[0]
    worst = 0.0
    for c in _solved(groups):
        equations, kernel = groups.equations[c], groups.kernels[c]
        columns = equations.derivation.columns
        values: dict[Any, Any] = {column.symbol: column.values for column in columns}
        x = w[groups.unknown_places(c)]
        values |= {u.symbol: x[:, k] for k, u in enumerate(kernel.unknowns)}
        if kernel.known:
            h = w[groups._known_places(c, kernel, "")]
            values |= {known.symbol: h[:, k] for k, known in enumerate(kernel.known)}
        found = [np.broadcast_to(r, len(x)) for r in evaluate(equations.tested, values)]
        worst = max(worst, float(np.linalg.norm(np.array(found), axis=0).max()))
    return worst


# --------------------------------------------------------------------------------------- kinks


def kinked_group(runner: Stepper, before: Floats, t: Floats) -> int | None:
    """The number of a group whose rates jumped in a step, though its accelerations do not say so.

    x'(t) - x'(t - τ) = τ (x''(t - τ) + x''(t)) / 2 + O(τ³): where a group has left a bifurcation
    by another branch than it came on, what is missing is the difference of their rates.  Where a
    law has such a jump itself nothing is told.

    Args:
        runner: After one step or some, one in each of its first lanes.
        before: Its workspace before them.
        t: The time before, and those of the steps.
    """
    groups, W = runner.groups, runner.lanes
    last, now = before.reshape(-1, W)[:, -1:], runner.w.reshape(-1, W)[:, : len(t) - 1]
    rows = np.concatenate([last, now], axis=1)
    since = np.diff(t)
    for c in _solved(groups):
        _, rate, second = runner.unknowns[c]
        jump, scale = _jump(rows[rate], rows[second], since)
        least = _NOTHING + _LITTLE * scale.max(axis=1, keepdims=True)
        kinks = ((jump > _KINK * scale) & (jump > least)).any(axis=1)
        if kinks.any():
            laws = np.moveaxis(runner.laws.at(t).reshape(len(t), 3, -1), 0, 2)
            jump, scale = _jump(laws[1], laws[2], since)
            kinks &= ~(jump > _LAW_KINK * scale + _NOTHING).any(axis=0)
        if kinks.any():
            return int(groups.kinds[c].groups[int(np.argmax(kinks.any(axis=1)))])
    return None


def _jump(rates: Floats, seconds: Floats, since: Floats) -> tuple[Floats, Floats]:
    """Jumps of rates from instant to instant, the last axis, and the size of the rates."""
    expected = 0.5 * since * (seconds[..., 1:] + seconds[..., :-1])
    jump: Floats = np.abs(np.diff(rates, axis=-1) - expected)
    return jump, np.maximum(np.abs(rates[..., 1:]), np.abs(rates[..., :-1]))


def coarse_blocks(laws: Laws, t: Floats, lanes: int) -> tuple[Flags, bool]:
    """Blocks of instants in which laws go so far that a prediction tells little of the branch.

    And whether they go so much farther in some that half a block is coarse by itself.

    Args:
        laws: Of the drivers.
        t: The instants, a whole number of blocks.
        lanes: Instants of a block.
    """
    ends = np.concatenate([t[:1], t[lanes - 1 :: lanes]])
    w = laws.at(ends)[:, : laws.size]
    way = np.abs(np.diff(w, axis=0))
    limit = np.minimum(_FAR, _FAR_OF_ALL * np.ptp(w, axis=0))
    found: Flags = (way > limit).any(axis=1)
    return found, bool((way > _FARTHER * limit).any())


# --------------------------------------------------------------------------------------- parts


def _solved(groups: GroupProgram) -> list[int]:
    """Kinds that have unknowns."""
    return [c for c, kernel in enumerate(groups.kernels) if kernel.unknowns]


def _within_turn(difference: Floats) -> Floats:
    """A difference without whole turns, which some angles do not count."""
    return difference - _TURN * np.round(difference / _TURN)


def _unwound(first: list[Floats], last: list[Floats], length: float) -> Floats:
    """The last values without whole turns that their rates do not tell of."""
    told = 0.5 * length * (first[1] + last[1])
    return last[0] - _TURN * np.round((last[0] - first[0] - told) / _TURN)


def _moving(runner: Stepper) -> Iterator[Sequence[Integers]]:
    """Places of all that has two rates: unknowns, and what is read of bodies."""
    for c in _solved(runner.groups):
        yield runner.unknowns[c]
    yield [runner.groups.memory.places(f"{rate}y") for rate in RATES]
