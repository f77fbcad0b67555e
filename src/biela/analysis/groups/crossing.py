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
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.quintic import quintic
from biela.analysis.groups.workspace import GroupWorkspace
from biela.atoms import evaluate
from biela.equations.groups.lowering import RATES

__all__ = ["Passage", "passage"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: Values, rates and second rates.
Motion: TypeAlias = tuple[Floats, Floats, Floats]
_TURN: Final = 2 * np.pi

#: A continuation is met if no group is farther from it than this share of its way, and no rate by
#: more than that share of the rates.
_MET: Final = 1e-5
_RATES_MET: Final = 1e-3
#: Equations hold if they are below so many times their bound.
_HELD: Final = 10.0
#: Below this nothing is a way, or a rate; of small mechanisms, times their size.
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

    def place(self, at: GroupWorkspace, t: float) -> None:
        """Put the state at such an instant into a workspace.

        What is neither motion nor branch, as reactions are, is not a number there.
        """
        groups, W = at.groups, at.lanes
        before, after = self.before.reshape(-1, W), self.after.reshape(-1, W)
        w = at.w.reshape(-1, W)
        w[:] = np.nan
        kept = [f"{name}{c}" for c in range(len(groups.kernels)) for name in ("gauge", "branch")]
        for name in ("tau", "w", "dw", "ddw", *kept):
            places = groups.memory.places(name)
            w[places] = after[places]
        w[groups.memory.places("status")] = 0.0
        for moving in _moving(at):
            first, last = ([state[p] for p in moving] for state in (before, after))
            last[0] = _unwound(first, last, 2 * self.h)
            found = quintic(first, last, 2 * self.h, t - (self.centre - self.h))
            for p, value in zip(moving, found, strict=True):
                w[p] = value
        at.t = t


def passage(at: GroupWorkspace, t: float, step: float, first: float) -> Passage | None:
    """Pass a bifurcation that a run has come to; None if it is none, or nothing decides.

    Args:
        at: In a state before it.
        t: About when it is.
        step: Between instants; its sign is that of the direction.
        first: When the run began.
    """
    start, began = at.w.copy(), at.t
    for length in _LENGTHS:
        h = length * step
        if abs(2 * h) > abs(t - first):
            continue
        centre: float | None = t
        for _ in range(_LOOKS):
            if centre is None:
                break
            at.w[:], at.t = start, began
            found = _passed(at, centre, h)
            centre = None if found is None else _when(at, found)
            if (
                found is not None
                and centre is not None
                and abs(centre - found.centre) < _OFF * abs(h)
            ):
                return found
    at.w[:], at.t = start, began
    return None


def _passed(at: GroupWorkspace, t: float, h: float) -> Passage | None:
    W = at.lanes
    states = []
    for target in (t - 2 * h, t - h):
        if not _walked(at, target, t, abs(h) / 64):
            return None
        states.append(at.w.copy())
    earlier, before = (state.reshape(-1, W) for state in states)
    expected = {}
    for c in at.solved_kinds:
        places = at.unknowns[c]
        first, last = ([state[p] for p in places] for state in (earlier, before))
        last[0] = _unwound(first, last, h)
        expected[c] = quintic(first, last, h, 3 * h)
    if not _landed(at, t + h, before, expected):
        return None
    found = Passage(t, h, states[1], at.w.copy())
    found.place(at, t)
    misses = _missed(at, t)
    at.w[:], at.t = found.after, t + h
    return found if misses <= _HELD else None


def _when(at: GroupWorkspace, passed: Passage) -> float | None:
    """When the determinant of a group vanished on the way; None if none changed its sign."""
    groups, W = at.groups, at.lanes
    for c in at.solved_kinds:
        places = groups.memory.places(f"gauge{c}")
        before, after = (w.reshape(-1, W)[places, 0] for w in (passed.before, passed.after))
        turned = np.flatnonzero(before * after < 0)
        if len(turned):
            a, b = float(before[turned[0]]), float(after[turned[0]])
            return passed.centre - passed.h * (a + b) / (b - a)
    return None


def _walked(at: GroupWorkspace, target: float, away: float, least: float) -> bool:
    """Go to an instant before a bifurcation, by steps of half the way to it, or of the least."""
    for _ in range(_STEPS):
        if at.t == target:
            return True
        longest = max(0.5 * abs(at.t - away), least)
        step = float(np.clip(target - at.t, -longest, longest))
        t = target if abs(target - at.t) <= longest else at.t + step
        before = at.w.copy()
        if not at.attempt(t, t - at.t):
            at.w[:] = before
            return False
        at.t = t
    return False


def _landed(at: GroupWorkspace, t: float, before: Floats, expected: dict[int, Motion]) -> bool:
    """Solve all groups at an instant from where they are expected, and see that they are there.

    Groups with a closed form are tried on the branch they were on, then on the other.
    """
    groups, w = at.groups, at.w.reshape(-1, at.lanes)
    turned: set[tuple[int, int]] = set()
    while True:
        w[:] = before
        _guess(at, expected)
        for c, instance in turned:
            w[groups.memory.first(f"branch{c}") + instance] *= -1.0
        at.attempt(t, 0.0)  # signs of determinants are those that this run finds
        _guess(at, expected)
        solved = at.attempt(t, 0.0)
        off = list(_off(at, before, expected))
        if not off:
            return solved
        # later groups rest on earlier ones: the first that is off is turned over, once
        first = min(off, key=lambda x: int(groups.kinds[x[0]].groups[x[1]]))
        if first in turned or not groups.memory.sizes[f"branch{first[0]}"]:
            return False
        turned.add(first)


def _guess(at: GroupWorkspace, expected: dict[int, Motion]) -> None:
    """Let the groups start where they are expected; as they are at rest, it is their guess."""
    w = at.w.reshape(-1, at.lanes)
    for c, (x, _, _) in expected.items():
        value, rate, second = at.unknowns[c]
        w[value] = x
        w[rate] = w[second] = 0.0


def _off(
    at: GroupWorkspace, before: Floats, expected: dict[int, Motion]
) -> Iterator[tuple[int, int]]:
    """Groups, as kind and instance, that are not where they are expected."""
    w = at.w.reshape(-1, at.lanes)
    for c, (x, dx, _) in expected.items():
        value, rate, _ = at.unknowns[c]
        way = np.abs(_within_turn(x - before[value])).max(axis=(1, 2))
        nothing = _NOTHING * min(1.0, float(np.abs(before[value]).max(initial=0.0)))
        near = np.abs(_within_turn(w[value] - x)).max(axis=(1, 2)) <= _MET * way + nothing
        speed = np.abs(dx).max(axis=(1, 2))
        alike = np.abs(w[rate] - dx).max(axis=(1, 2)) <= _RATES_MET * speed + nothing
        for instance in np.flatnonzero(~(near & alike)):
            yield c, int(instance)


def _missed(at: GroupWorkspace, t: float) -> float:
    """The largest norm of the equations of a group in the state of the workspace, in bounds."""
    groups = at.groups
    w = at.w.reshape(-1, at.lanes)[:, 0].copy()
    laws = [groups.memory.places(name) for name in ("w", "dw", "ddw")]
    w[np.concatenate(laws)] = at.laws.at(np.array([t]))[0]
    worst = 0.0
    for c in at.solved_kinds:
        equations, count = groups.equations[c], groups.kinds[c].count
        tested = evaluate(equations.tested, at.values(c, w))
        found = [np.broadcast_to(row, count) for row in tested]
        bound = equations.bound(groups.iteration.tolerance)
        worst = max(worst, float(np.linalg.norm(np.array(found), axis=0).max()) / bound)
    return worst


# --------------------------------------------------------------------------------------- parts


def _within_turn(difference: Floats) -> Floats:
    """A difference without whole turns, which some angles do not count."""
    return difference - _TURN * np.round(difference / _TURN)


def _unwound(first: list[Floats], last: list[Floats], length: float) -> Floats:
    """The last values without whole turns that their rates do not tell of."""
    told = 0.5 * length * (first[1] + last[1])
    return last[0] - _TURN * np.round((last[0] - first[0] - told) / _TURN)


def _moving(at: GroupWorkspace) -> Iterator[Sequence[Integers]]:
    """Places of all that has two rates: unknowns, and what is read of bodies."""
    for c in at.solved_kinds:
        yield at.unknowns[c]
    yield [at.groups.memory.places(f"{rate}y") for rate in RATES]
