"""Instants one by one, where several at a time cannot be solved: by halves, or over bifurcations.

The normal course is that of `biela.analysis.groups.runner`; here the lanes are all alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.crossing import Passage, passage
from biela.analysis.groups.kinks import kinked_group
from biela.analysis.groups.stored import Stored, Stretches
from biela.analysis.groups.workspace import GroupWorkspace
from biela.errors import DeadPointError

__all__ = ["CarefulSteps"]

Floats = npt.NDArray[np.float64]

#: Halvings of a step before it is given up.
_HALVINGS: Final = 14
#: Halvings before a bifurcation is looked for.
_FEW_HALVINGS: Final = 5
#: A determinant below this share of what it was is that of rounding.
_VANISHED: Final = 1e-4


class CarefulSteps:
    """Single steps of a run.

    Args:
        workspace: What is stepped, at the first instant of the run.

    Attributes:
        largest: Determinants of groups, the largest that were seen between chunks.
        earlier: A time some instants before, and the workspace then.
    """

    def __init__(self, workspace: GroupWorkspace) -> None:
        self._at, self._first = workspace, workspace.t
        self._passage: Passage | None = None
        self.largest: Floats = np.abs(workspace.determinants())
        self.earlier: tuple[float, Floats] | None = None

    def look(self) -> None:
        """Look at the determinants as they are now."""
        self.largest = np.maximum(self.largest, np.abs(self._at.determinants()))

    def kinked(self, before: Floats, t: Floats) -> bool:
        """Whether rates jump in a step, or in one of a block.

        So they do where a group leaves a dead point by the way that it came; the group is then
        noted as failed.

        Args:
            before: The workspace before.
            t: The time then, and those of the lanes.
        """
        group = kinked_group(self._at, before, t)
        if group is not None:
            self._at.note_dead_point(group)
        return group is not None

    # -------------------------------------------------------------------------- a block

    def one_by_one(
        self,
        t: Floats,
        block: int,
        stretches: Stretches,
        rows: Floats,
        solved: Callable[[int], Stored],
    ) -> None:
        """The instants of a block one after the other, in all lanes alike.

        Args:
            t: All instants of the run.
            block: The number of the block.
            stretches: What is stored.
            rows: Where.
            solved: What is stored up to some lanes of this block.

        Raises:
            DeadPointError: One is not reached.
        """
        W = self._at.lanes
        for instant in range(block * W, (block + 1) * W):
            passed = self._passage
            self._reach(float(t[instant]), solved(instant - block * W))
            if self._passage is not passed:
                self._again(t, instant, stretches, rows)
            self._keep(instant, stretches, rows)

    def _keep(self, instant: int, stretches: Stretches, rows: Floats) -> None:
        """Store the state as that of an instant.

        It is that of all lanes, or of the last one where nothing has moved since a block was run.
        """
        W, at = self._at.lanes, 0
        for first, length in stretches:
            found = self._at.w[first * W : (first + length) * W].reshape(length, W)
            rows[instant // W, at : at + length, instant % W] = found[:, -1]
            at += length

    def _again(self, t: Floats, instant: int, stretches: Stretches, rows: Floats) -> None:
        """Store again the last instants before a bifurcation, so near that digits were lost."""
        assert self._passage is not None
        at = self._at
        state, now = at.w.copy(), at.t
        for before in range(max(0, instant - 2 * at.lanes), instant):
            if self._passage.holds(t[before]):
                self._passage.place(at, float(t[before]))
                self._keep(before, stretches, rows)
        at.w[:], at.t = state, now

    # ------------------------------------------------------------------------ an instant

    def _reach(self, t: float, stored: Stored) -> None:
        """One instant, by halves of the step where it must be, or over a bifurcation.

        Raises:
            DeadPointError: It is not reached.
        """
        at = self._at
        began, start, step = at.t, at.w.copy(), abs(t - at.t)
        failed = self._by_halves(t, step / 2**_FEW_HALVINGS)
        while failed:
            over = self._passed(t, began, start)
            if over is None:
                failed = self._by_halves(t, step / 2**_HALVINGS, self.largest)
                if not failed:
                    break
                raise DeadPointError(
                    f"{at.model}: after t = {at.t:.9g} s {failed}. The results until then "
                    f"are in the attribute results of this error",
                    stored,
                )
            began, start = at.t, at.w.copy()
            failed = "" if over.holds(t) else self._by_halves(t, step / 2**_FEW_HALVINGS)
        if self._passage is not None and self._passage.holds(t):
            self._passage.place(at, t)

    def _passed(self, t: float, began: float, start: Floats) -> Passage | None:
        """Go over a bifurcation just ahead, from a state before it; None if there is none."""
        at = self._at
        ahead, here = at.t, at.w.copy()
        last = self._passage
        if last is not None and abs(ahead - last.centre) <= abs(last.h):
            return None  # it was just passed
        at.w[:], at.t = start, began
        farther = abs(began - ahead)
        since = np.inf if last is None else abs(ahead - last.centre) - abs(last.h)
        if self.earlier is not None and farther < abs(self.earlier[0] - ahead) < since:
            at.t, at.w[:] = self.earlier
        found = passage(at, ahead, t - began, self._first)
        if found is None:
            at.w[:], at.t = here, ahead
        else:
            self._passage = found
        return found

    def _by_halves(self, t: float, smallest: float, was: Floats | None = None) -> str:
        """Go to an instant, or as far as it goes; what failed then, in words.

        Args:
            t: The instant.
            smallest: A step that is not halved.
            was: Determinants of groups; where one falls to nothing of that, it is rounding that
                tells which branch is followed, and the group has failed.
        """
        at = self._at
        step = t - at.t
        while at.t != t:
            target = t if abs(t - at.t) <= abs(step) * (1 + 1e-9) else at.t + step
            before, times = at.w.copy(), np.array([at.t, target])
            good = at.attempt(target, target - at.t) and not self.kinked(before, times)
            if good and was is not None:
                fallen = np.abs(at.determinants()) < _VANISHED * np.abs(was)
                if fallen.any():
                    at.note_dead_point(int(at.solved_groups[int(np.argmax(fallen))]))
                    good = False
            if good:
                at.t = target
                step *= 2
                continue
            failed = at.what_failed()
            at.w[:] = before
            step = (target - at.t) / 2
            if abs(step) < max(smallest, 1e-14 * (1 + abs(t))):
                return failed
        return ""
