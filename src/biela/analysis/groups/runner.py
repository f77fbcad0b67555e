"""Runs the groups of a model through many instants.

*Instants in the lanes*: the processor solves as many instants at a time as it has lanes, group
after group, each starting from what position, rate and acceleration at the last instant solved
before predict.  *Groups in the lanes*: one instant after the other, groups of a kind that do not
rest on each other side by side.  Where a group is not solved, or its determinant changes sign (it
would have passed a dead point to another branch), the instants are taken one by one
(`biela.analysis.groups.careful`); what cannot be passed is told with its time and its joints.

Newton's method keeps a branch only from near by.  A run that begins at another instant than that of
the assembled position therefore follows the motion from there, and stores nothing on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.careful import CarefulSteps
from biela.analysis.groups.kinks import coarse_blocks
from biela.analysis.groups.stored import Stored, Stretches, aligned_rows, joined
from biela.analysis.groups.tiles import GROUPS, Course, Tile, run_all, run_tile, tiles_of
from biela.analysis.groups.workspace import GroupWorkspace, Lanes
from biela.analysis.progress import Progress
from biela.equations.groups.cast import Poses
from biela.equations.groups.lowering import GroupProgram
from biela.errors import ShapeError, SimulationError
from biela.results import Results
from biela.solvers.block_sequence import run_blocks, run_watched_blocks

__all__ = ["CACHE", "GroupRunner"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Makes results of what is stored, from one of their instants on.
SoFarOf: TypeAlias = Callable[[Stored, int], Results]
#: Instants between looks at the clock and the keyboard, at most and at least; between these so many
#: that places times instants are this many: some hundredths of a second.
_CHUNK: Final = 65536
_SHORT_CHUNK: Final = 4096
_WORK: Final = 1 << 25
#: Bytes of a workspace above which it is run tile by tile, and blocks of instants of a tile.
CACHE: Final = 4_000_000
_BLOCKS: Final = 64
#: A determinant below this share of the largest may have vanished between two coarse instants.
_SMALL: Final = 0.5
#: On the way to the first instant of a run no law goes farther from one instant to the next than
#: this (rad, m), nor than this share of its range; and no more instants than these are taken.
_NEAR: Final = 0.02
_NEAR_OF_ALL: Final = 0.02
_FEWEST: Final = 32
_MOST: Final = 1 << 22
_ROUNDING: Final = 1e-12
#: Blocks of a chunk that is so short that its beginning is a state not far before its end.
_SHORT: Final = 4


def _alike(coarse: npt.NDArray[np.bool_]) -> int:
    """How many blocks are coarse, or not, as the first is."""
    others = coarse != coarse[0]
    return int(np.argmax(others)) if others.any() else len(coarse)


def _pool(threads: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    return ThreadPoolExecutor(threads) if threads > 1 else nullcontext()


class GroupRunner(GroupWorkspace):
    """A program of groups that is run through many instants.

    Args:
        groups: The program.
        poses: Where the model is at the start.
        lanes: What shares the lanes of the processor.
        threads: How many branches of the group diagram are run at a time.
        strands: The branch of every group, 0 for what several rest on.
    """

    def __init__(
        self,
        groups: GroupProgram,
        poses: Poses,
        lanes: Lanes,
        threads: int = 1,
        strands: Integers | None = None,
    ) -> None:
        super().__init__(groups, poses, lanes)
        self.threads = threads
        self._solving = 0.0
        self._every = 1  # lanes of which one is looked at for small ones
        self._tiles: list[Tile] = []
        large = groups.memory.size * self.lanes * 8 > CACHE
        if lanes == "instants" and (threads > 1 or large):
            nothing = np.zeros(0, dtype=np.int64)
            given = nothing if strands is None else strands
            size = GROUPS if large else len(groups.casts.structure.groups)
            self._tiles = tiles_of(groups, self.lanes, given, size)

    # --------------------------------------------------------------------------- runs

    def begin(self, start: float, first: float, progress: bool | None = None) -> None:
        """Assemble the groups at the start, and follow them from there to the first instant.

        Args:
            start: The time of the start.
            first: The first instant of a run.
            progress: As for a run.

        Raises:
            SimulationError: A group cannot be assembled at the start, or not followed to there.
        """
        if first == start:
            self.assemble(start)
            return
        advice = (
            f"to begin with a position that is assembled at the first instant, make the solver for "
            f"it: GroupSolver(model, t={first!r})"
        )
        way = self._way(start, first)
        if way is None:
            raise SimulationError(
                f"{self.model}: the motion from the start, t = {start:g} s, to the first instant, "
                f"t = {first:g} s, is too long to be followed, or a law jumps or is not finite on "
                f"the way; {advice}"
            )
        try:
            self.assemble(start)
            for k in range(0, len(way), _CHUNK):
                self.run(way[k : k + _CHUNK], [], progress)
        except SimulationError as error:
            failed = str(error).partition(". The results")[0].removeprefix(f"{self.model}: ")
            raise SimulationError(
                f"{self.model}: the motion from the start, t = {start:g} s, to the first instant, "
                f"t = {first:g} s: {failed}; {advice}"
            ) from None

    def _way(self, start: float, first: float) -> Floats | None:
        """Instants after the start up to another, so close together that groups keep their branch.

        None if these are too many.
        """
        instants = _FEWEST
        while instants <= _MOST:
            t = np.asarray(np.linspace(start, first, instants + 1), dtype=float)
            w, dw, _ = np.moveaxis(self.laws.at(t).reshape(len(t), 3, -1), 1, 0)
            if not np.isfinite(w).all():
                return None
            near = np.minimum(_NEAR, _NEAR_OF_ALL * np.ptp(w, axis=0))
            goes = np.maximum(np.abs(np.diff(w, axis=0)), np.abs(dw[1:] * np.diff(t)[:, None]))
            if (goes <= near + _ROUNDING * np.abs(w).max(axis=0)).all():
                return t[1:]
            instants *= 2
        return None

    def run(
        self,
        t: Floats,
        stretches: Stretches,
        progress: bool | None = None,
        room: Floats | None = None,
        so_far: SoFarOf | None = None,
    ) -> Stored:
        """Go through instants; what is stored are stretches of the workspace (first, length).

        ``room`` is where it is stored, (blocks, places, lanes); new if it is not given.  ``so_far``
        makes results of what is stored while the run goes on, for a record of it.

        Raises:
            DeadPointError: A group cannot pass; with what was stored until then.
            ShapeError: The room has another shape.
        """
        W, stretches = self.lanes, joined(stretches)
        blocks = -(-len(t) // W)
        padded = np.concatenate([t, np.full(blocks * W - len(t), t[-1])])
        kept = sum(length for _, length in stretches)
        rows = aligned_rows(blocks, kept, W) if room is None else room
        if rows.shape != (blocks, kept, W) or rows.dtype != float or not rows.flags.carray:
            raise ShapeError(
                f"the room for {len(t)} instants is an array of doubles of shape "
                f"{(blocks, kept, W)} in one piece that can be written to, not {rows.dtype} of "
                f"shape {rows.shape}"
            )
        self.steps[:] = 0.0
        self._solving = 0.0
        care = CarefulSteps(self)
        coarse, far = coarse_blocks(self.laws, padded, W)
        self._every = 1 if far else max(1, W // 2)
        tiled = self._tiles and not coarse.any()
        if tiled and self._tiled(padded, len(t), stretches, rows, progress, so_far):
            return Stored(t, rows, float(self.steps[0]), 0)
        careful = done = 0
        chunk = self._blocks_between_looks()
        together = 1  # coarse blocks that are run at once
        started: list[tuple[float, Floats]] = []  # where the last chunk began, if it was short
        with Progress(f"kinematics of {self.model}", blocks, progress) as bar:
            while done < blocks:
                longest = together if coarse[done] else chunk
                last = done + _alike(coarse[done : done + longest])
                before, began = self.w.copy(), self.t
                care.look()
                if coarse[done]:
                    limits = _SMALL * care.largest if last - done > 1 else None
                    good = self._chunk(padded, done, last, stretches, rows, limits)
                    if good < last - done > 1:  # far from where branches meet up to here
                        self.w[:], self.t = before, began
                        last, together = done + good, 1
                        if not good:
                            continue
                        self._chunk(padded, done, last, stretches, rows)
                    elif good and last - done == 1:
                        times = np.concatenate([[began], padded[done * W : last * W]])
                        good -= care.kinked(before, times)
                    together = min(2 * together, chunk)
                else:
                    good = self._chunk(padded, done, last, stretches, rows)
                if good < last - done:
                    # again as far as it goes, since the block that failed is written over
                    self.w[:], self.t = before, began
                    care.earlier = started[0] if started else None
                    if good > 1:
                        self._chunk(padded, done, done + good - 1, stretches, rows)
                    if good:
                        care.earlier = self.t, self.w.copy()
                        self._chunk(padded, done + good - 1, done + good, stretches, rows)
                    at = done + good
                    solved = partial(self._stored, t, rows[: at + 1], at * W, careful)
                    care.one_by_one(padded, at, stretches, rows, solved)
                    careful += W
                    good += 1
                started = [(began, before)] if good <= _SHORT else []
                done += good
                steps, spent = float(self.steps[0]), self._solving
                stored = Stored(t[: done * W], rows[:done], steps, careful, spent)
                bar.update(done, so_far and partial(so_far, stored))
        return Stored(t, rows, float(self.steps[0]), careful, self._solving)

    def _blocks_between_looks(self) -> int:
        instants = max(_SHORT_CHUNK, _WORK // self.groups.memory.size)
        return max(1, min(_CHUNK, instants) // self.lanes)

    def _stored(self, t: Floats, rows: Floats, before: int, careful: int, more: int) -> Stored:
        """What is stored up to some lanes of the last block."""
        steps = float(self.steps[0])
        return Stored(t[: before + more], rows, steps, careful + more, self._solving)

    def _tiled(
        self,
        t: Floats,
        count: int,
        stretches: Stretches,
        rows: Floats,
        progress: bool | None,
        so_far: SoFarOf | None,
    ) -> bool:
        """Run ``count`` instants tile by tile; False if a group failed, and nothing was done."""
        W, memory = self.lanes, self.groups.memory
        starting = self.w.reshape(-1, W)
        for tile in self._tiles:
            own = tile.w.reshape(-1, W)
            for part in tile.states:
                own[part] = starting[part]
        nothing = np.zeros(0, dtype=np.int64)
        places = np.concatenate([nothing, *(np.arange(a, a + n) for a, n in stretches)])
        courses = [Course.of(tile, self._tiles, self.driven, places, W) for tile in self._tiles]
        blocks, began = len(t) // W, self.t
        lock_steps = [np.zeros(1) for _ in self._tiles]
        # what tiles give each other stays in the caches where there are many of them
        length = _BLOCKS if len(self._tiles) > 2 * self.threads + 1 else 16 * _BLOCKS
        with (
            Progress(f"kinematics of {self.model}", blocks, progress) as bar,
            _pool(self.threads) as pool,
        ):
            for first in range(0, blocks, length):
                last = min(first + length, blocks)
                driven = self._driven(t[first * W : last * W])

                def run(
                    tile: Tile, first: int = first, last: int = last, driven: Any = driven
                ) -> bool:
                    return run_tile(
                        tile,
                        self._tiles,
                        courses[tile.number],
                        driven,
                        rows[first:last],
                        memory.first("status"),
                        W,
                        lock_steps[tile.number],
                    )

                if not run_all(self._tiles, pool, run):
                    self.t = began
                    return False
                self.t = float(t[last * W - 1])
                stored = Stored(t[: min(last * W, count)], rows[:last], float(self.steps[0]), 0)
                bar.update(last, so_far and partial(so_far, stored))
        self.steps[0] += sum(float(s[0]) for s in lock_steps)
        return True

    def _driven(self, times: Floats, rows: Floats | None = None) -> Floats:
        """What is written into the workspace before each block: times since, and laws.

        Of a run that writes its items right into ``rows`` also how far these are.
        """
        W, count = self.lanes, len(times) // self.lanes
        blocks = times.reshape(count, W)
        given = np.zeros((count, 3 + (1 + 3 * self.laws.size) * W))
        far, in_lanes = given[:, :3], given[:, 3:].reshape(count, -1, W)
        in_lanes[0, 0] = blocks[0] - self.t
        in_lanes[1:, 0] = blocks[1:] - blocks[:-1, -1:]
        laws = in_lanes[:, 1:].reshape(count, 3, -1, W)
        self.laws.write(blocks, laws.transpose(1, 2, 0, 3))
        if rows is not None and self.groups.window is not None:
            # in doubles from where items stand in the workspace
            start = (rows.ctypes.data - self.w.ctypes.data) // 8 - self.groups.window.first * W
            far[:, 0] = start + np.arange(count) * rows[0].size
            far[1:, 1] = far[:-1, 0]
            far[:-1, 2] = rows[0].size
        return given

    def _chunk(
        self,
        t: Floats,
        first: int,
        last: int,
        stretches: Stretches,
        rows: Floats,
        limits: Floats | None = None,
    ) -> int:
        """Blocks ``first`` to ``last - 1``: how many went well, with determinants above limits."""
        W = self.lanes
        times = t[first * W : last * W]
        in_place, here = self._in_place(stretches), rows[first:last]
        given = self._driven(times, here if in_place else None)
        out = here.reshape(last - first, -1)
        if in_place:
            out, stretches = np.zeros((last - first, 0)), []
        starts = np.array([a * W for a, _ in stretches], dtype=np.int64)
        lengths = np.array([n * W for _, n in stretches], dtype=np.int64)
        size, blocks, runs = len(self.w), last - first, len(stretches)
        began = time.thread_time()
        if limits is None:
            good = run_blocks(
                size, blocks, given.shape[1], out.shape[1], runs, W, self._status, self._program,
                self.w, given, self.driven, out, starts, lengths, self.steps,
            )  # fmt: skip
        else:
            good = run_watched_blocks(
                size, blocks, given.shape[1], out.shape[1], runs, len(limits), W // self._every,
                self._every, W,
                self._status, self._program, self.w, given, self.driven, out, starts, lengths,
                self.steps, self.gauges * W, limits,
            )  # fmt: skip
        self._solving += time.thread_time() - began
        if good:
            self.t = float(times[good * W - 1])
        window = self.groups.window
        if good and in_place and window is not None:
            items = slice(window.first * W, (window.first + window.count) * W)
            self.w[items] = here[good - 1].reshape(-1)
        return int(good)

    def _in_place(self, stretches: Stretches) -> bool:
        """Whether what is stored are all items, which the groups then write there themselves."""
        window = self.groups.window
        if window is None or self.lanes_of != "instants":
            return False
        return stretches == [(window.first, window.count)]
