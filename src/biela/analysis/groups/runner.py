"""Runs the groups of a model through many instants.

*Instants in the lanes*: the processor solves as many instants at a time as it has lanes, group
after group, each starting from what position, rate and acceleration at the last instant solved
before predict.  *Groups in the lanes*: one instant after the other, groups of a kind that do not
rest on each other side by side.  Where a group is not solved, or its determinant changes sign (it
would have passed a dead point to another branch), the instants are taken one by one, then in
halves; what cannot be passed is told with its time and its joints.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.crossing import RATES, Passage, coarse_blocks, kinked_group, passage
from biela.analysis.groups.laws import Laws
from biela.analysis.groups.tiles import GROUPS, Course, Tile, run_all, run_tile, tiles_of
from biela.analysis.progress import Progress
from biela.code.llvm.host import host_lanes
from biela.code.looped import Failure
from biela.equations.groups.cast import Poses
from biela.equations.groups.lowering import GroupProgram
from biela.errors import DeadPointError, ShapeError, SimulationError
from biela.solvers.block_sequence import run_blocks
from biela.solvers.watched_blocks import run_watched_blocks

__all__ = ["GroupRunner", "Lanes", "Stored", "aligned_rows"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: What shares the lanes of the processor.
Lanes: TypeAlias = Literal["instants", "groups"]

#: Instants between looks at the clock and the keyboard.
_CHUNK: Final = 16384
#: Bytes of a workspace above which it is run tile by tile, and blocks of instants of a tile.
_CACHE: Final = 4_000_000
_BLOCKS: Final = 64
#: A determinant below this share of the largest may have vanished between two coarse instants.
_SMALL: Final = 0.5
#: Blocks of a chunk that is so short that its beginning is a state not far before its end.
_SHORT: Final = 4
#: Halvings of a step before it is given up.
_HALVINGS: Final = 14
#: Halvings before a bifurcation is looked for.
_FEW_HALVINGS: Final = 5
#: A determinant below this share of what it was is that of rounding.
_VANISHED: Final = 1e-4


@dataclass(frozen=True, eq=False)
class Stored:
    """What a run has stored.

    Attributes:
        t: Times.
        rows: (blocks, places, lanes) of the stretches stored, one after the other.
        steps: Steps of Newton's method, of all groups and instants.
        careful: Instants that were taken one by one.
    """

    t: Floats
    rows: Floats
    steps: float
    careful: int

    def column(self, place: int) -> Floats:
        """One place at all instants."""
        return self.rows[:, place, :].reshape(-1)[: len(self.t)]

    def columns(self, places: Integers) -> Floats:
        """Some places at all instants, (instants, places)."""
        found = np.moveaxis(self.rows[:, places, :], 1, 2)
        return found.reshape(-1, len(places))[: len(self.t)]


class _Callable:
    """Native code as a routine takes it."""

    def __init__(self, address: int) -> None:
        self.address = address


def joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches with those that follow each other as one."""
    found: list[tuple[int, int]] = []
    for first, length in stretches:
        if found and sum(found[-1]) == first:
            found[-1] = found[-1][0], found[-1][1] + length
        else:
            found.append((first, length))
    return found


def aligned_rows(blocks: int, kept: int, lanes: int) -> Floats:
    """Memory for rows, (blocks, places, lanes); vectors of lanes do not straddle cache lines."""
    raw = np.empty((blocks * kept + 1) * lanes)
    shift = (-raw.ctypes.data // 8) % lanes
    return raw[shift : shift + blocks * kept * lanes].reshape(blocks, kept, lanes)


def _alike(coarse: npt.NDArray[np.bool_]) -> int:
    """How many blocks are coarse, or not, as the first is."""
    others = coarse != coarse[0]
    return int(np.argmax(others)) if others.any() else len(coarse)


def _pool(threads: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    return ThreadPoolExecutor(threads) if threads > 1 else nullcontext()


class GroupRunner:
    """A program of groups with a workspace.

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
        self.groups, self.lanes_of, self.threads = groups, lanes, threads
        self.lanes = host_lanes() if lanes == "instants" else 1
        program = groups.program
        self._program = _Callable(
            program.states_address if lanes == "instants" else program.address
        )
        W, memory = self.lanes, groups.memory
        raw = np.zeros((memory.size + 1) * W)
        shift = (-raw.ctypes.data // 8) % W
        self.w = raw[shift : shift + memory.size * W]
        self._status = memory.first("status") * W
        self.laws = Laws(groups.casts.laws)
        self._into = self._driven_places()
        self.steps = np.zeros(1)
        self.t = 0.0
        self._first = 0.0  # when the run began
        self._earlier: tuple[float, Floats] | None = None  # a state some instants before
        self._passage: Passage | None = None
        self._largest = np.zeros(0)  # of determinants
        self._every = 1  # lanes of which one is looked at for small ones
        groups.write_start(self.w.reshape(-1, W), poses)
        self._tiles: list[Tile] = []
        large = memory.size * W * 8 > _CACHE
        if lanes == "instants" and (threads > 1 or large):
            nothing = np.zeros(0, dtype=np.int64)
            given = nothing if strands is None else strands
            size = GROUPS if large else len(groups.casts.structure.groups)
            self._tiles = tiles_of(groups, W, given, size)

    def _driven_places(self) -> Integers:
        W, memory = self.lanes, self.groups.memory
        places = [memory.places(name) for name in ("tau", "shift", "w", "dw", "ddw")]
        found: Integers = (np.concatenate(places)[:, None] * W + np.arange(W)).ravel()
        return found

    # ------------------------------------------------------------------------- start

    def assemble(self, t: float) -> None:
        """Solve all groups at the first instant, from the position of the start.

        Raises:
            SimulationError: A group cannot be assembled.
        """
        self._put(np.array([t]), 0.0)
        # the signs of determinants are not known before: the first run finds them
        self._run_once()
        if not self._run_once():
            raise SimulationError(
                f"{self._model}: at the start, t = {t:g} s, {self._what_failed(0)}"
            )
        self.t = t

    def _put(self, t: Floats, tau: float | Floats) -> None:
        """Write the laws at one instant in all lanes."""
        given = np.concatenate([np.atleast_1d(tau), [0.0, 0.0], self.laws.at(t)[0]])
        self.w[self._into] = np.repeat(given, self.lanes)

    def _run_once(self) -> bool:
        nothing = np.zeros(0, dtype=np.int64)
        done = run_blocks(
            len(self.w), 1, 0, 0, 0, self.lanes, self._status, self._program, self.w,
            np.zeros((1, 0)), nothing, np.zeros((1, 0)), nothing, nothing, self.steps,
        )  # fmt: skip
        return bool(done)

    @property
    def _model(self) -> str:
        return self.groups.casts.world.model.name

    # --------------------------------------------------------------------------- runs

    def run(
        self,
        t: Floats,
        stretches: list[tuple[int, int]],
        progress: bool | None = None,
        room: Floats | None = None,
    ) -> Stored:
        """Go through instants; what is stored are stretches of the workspace (first, length).

        ``room`` is where it is stored, (blocks, places, lanes); new if it is not given.

        Raises:
            DeadPointError: A group cannot pass; with what was stored until then.
        """
        W, stretches = self.lanes, joined(stretches)
        blocks = -(-len(t) // W)
        padded = np.concatenate([t, np.full(blocks * W - len(t), t[-1])])
        kept = sum(length for _, length in stretches)
        rows = aligned_rows(blocks, kept, W) if room is None else room
        if rows.shape != (blocks, kept, W) or rows.dtype != float or not rows.flags.c_contiguous:
            raise ShapeError(
                f"the room for {len(t)} instants is an array of doubles of shape "
                f"{(blocks, kept, W)} in one piece, not {rows.dtype} of shape {rows.shape}"
            )
        self.steps[:] = 0.0
        self._first, self._earlier, self._passage = self.t, None, None
        self._largest = np.abs(self._determinants())
        coarse, far = coarse_blocks(self.laws, padded, W)
        self._every = 1 if far else max(1, W // 2)
        if self._tiles and not coarse.any() and self._tiled(padded, stretches, rows, progress):
            return Stored(t, rows, float(self.steps[0]), 0)
        careful = done = 0
        together = 1  # coarse blocks that are run at once
        started: list[tuple[float, Floats]] = []  # where the last chunk began, if it was short
        with Progress(f"kinematics of {self._model}", blocks, progress) as bar:
            while done < blocks:
                longest = together if coarse[done] else max(1, _CHUNK // W)
                last = done + _alike(coarse[done : done + longest])
                before, began = self.w.copy(), self.t
                self._largest = np.maximum(self._largest, np.abs(self._determinants()))
                if coarse[done]:
                    limits = _SMALL * self._largest if last - done > 1 else None
                    good = self._chunk(padded, done, last, stretches, rows, limits)
                    if good < last - done > 1:  # far from where branches meet up to here
                        self.w[:], self.t = before, began
                        last, together = done + good, 1
                        if not good:
                            continue
                        self._chunk(padded, done, last, stretches, rows)
                    elif good and last - done == 1:
                        times = np.concatenate([[began], padded[done * W : last * W]])
                        good -= self._kinked(before, times)
                    together = min(2 * together, _CHUNK // W)
                else:
                    good = self._chunk(padded, done, last, stretches, rows)
                if good < last - done:
                    # again as far as it goes, since the block that failed is written over
                    self.w[:], self.t = before, began
                    self._earlier = started[0] if started else None
                    if good > 1:
                        self._chunk(padded, done, done + good - 1, stretches, rows)
                    if good:
                        self._earlier = self.t, self.w.copy()
                        self._chunk(padded, done + good - 1, done + good, stretches, rows)
                    at = done + good
                    solved = partial(self._stored, t, rows[: at + 1], at * W, careful)
                    self._one_by_one(padded, at, stretches, rows, solved)
                    careful += W
                    good += 1
                started = [(began, before)] if good <= _SHORT else []
                done += good
                bar.update(done)
        return Stored(t, rows, float(self.steps[0]), careful)

    def _tiled(
        self,
        t: Floats,
        stretches: list[tuple[int, int]],
        rows: Floats,
        progress: bool | None,
    ) -> bool:
        """Run all instants tile by tile; False if a group failed, and nothing was done."""
        W, memory = self.lanes, self.groups.memory
        starting = self.w.reshape(-1, W)
        for tile in self._tiles:
            own = tile.w.reshape(-1, W)
            for part in tile.states:
                own[part] = starting[part]
        nothing = np.zeros(0, dtype=np.int64)
        places = np.concatenate([nothing, *(np.arange(a, a + n) for a, n in stretches)])
        courses = [Course.of(tile, self._tiles, self._into, places, W) for tile in self._tiles]
        blocks, began = len(t) // W, self.t
        lock_steps = [np.zeros(1) for _ in self._tiles]
        # what tiles give each other stays in the caches where there are many of them
        length = _BLOCKS if len(self._tiles) > 2 * self.threads + 1 else 16 * _BLOCKS
        with (
            Progress(f"kinematics of {self._model}", blocks, progress) as bar,
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
                bar.update(last)
        self.steps[0] += sum(float(s[0]) for s in lock_steps)
        return True

    def _driven(self, times: Floats, rows: Floats | None = None) -> Floats:
        """What is written into the workspace before each block: times since, and laws.

        Of a run that writes its items right into ``rows`` also how far these are.
        """
        W, count = self.lanes, len(times) // self.lanes
        laws = self.laws.at(times)
        given = np.zeros((count, 3 + laws.shape[1], W))
        given[0, 0] = times[:W] - self.t
        given[1:, 0] = times[W:].reshape(-1, W) - times[W - 1 :: W][:-1, None]
        if rows is not None and self.groups.window is not None:
            # in doubles from where items stand in the workspace
            start = (rows.ctypes.data - self.w.ctypes.data) // 8 - self.groups.window.first * W
            given[:, 1] = (start + np.arange(count) * rows[0].size)[:, None]
            given[1:, 2] = given[:-1, 1]
        given[:, 3:] = laws.reshape(count, W, -1).transpose(0, 2, 1)
        return given.reshape(count, -1)

    def _chunk(
        self,
        t: Floats,
        first: int,
        last: int,
        stretches: list[tuple[int, int]],
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
        if limits is None:
            good = run_blocks(
                size, blocks, given.shape[1], out.shape[1], runs, W, self._status, self._program,
                self.w, given, self._into, out, starts, lengths, self.steps,
            )  # fmt: skip
        else:
            good = run_watched_blocks(
                size, blocks, given.shape[1], out.shape[1], runs, len(limits), W // self._every,
                self._every, W,
                self._status, self._program, self.w, given, self._into, out, starts, lengths,
                self.steps, self._gauges * W, limits,
            )  # fmt: skip
        if good:
            self.t = float(times[good * W - 1])
        window = self.groups.window
        if good and in_place and window is not None:
            items = slice(window.first * W, (window.first + window.count) * W)
            self.w[items] = here[good - 1].reshape(-1)
        return int(good)

    def _in_place(self, stretches: list[tuple[int, int]]) -> bool:
        """Whether what is stored are all items, which the groups then write there themselves."""
        window = self.groups.window
        if window is None or self.lanes_of != "instants":
            return False
        return stretches == [(window.first, window.count)]

    # ----------------------------------------------------------------------- with care

    def _stored(self, t: Floats, rows: Floats, before: int, careful: int, more: int) -> Stored:
        """What is stored up to some lanes of the last block."""
        return Stored(t[: before + more], rows, float(self.steps[0]), careful + more)

    def _one_by_one(
        self,
        t: Floats,
        block: int,
        stretches: list[tuple[int, int]],
        rows: Floats,
        solved: Callable[[int], Stored],
    ) -> None:
        """The instants of a block one after the other, in all lanes alike."""
        W = self.lanes
        for instant in range(block * W, (block + 1) * W):
            passed = self._passage
            self._reach(float(t[instant]), solved(instant - block * W))
            if self._passage is not passed:
                self._again(t, instant, stretches, rows)
            self._keep(instant, stretches, rows)

    def _keep(self, instant: int, stretches: list[tuple[int, int]], rows: Floats) -> None:
        """Store the state, that of all lanes, as that of an instant."""
        W, at = self.lanes, 0
        for first, length in stretches:
            found = self.w[first * W : (first + length) * W].reshape(length, W)
            rows[instant // W, at : at + length, instant % W] = found[:, 0]
            at += length

    def _again(
        self, t: Floats, instant: int, stretches: list[tuple[int, int]], rows: Floats
    ) -> None:
        """Store again the last instants before a bifurcation, so near that digits were lost."""
        assert self._passage is not None
        state, now = self.w.copy(), self.t
        for before in range(max(0, instant - 2 * self.lanes), instant):
            if self._passage.holds(t[before]):
                self._passage.place(self, float(t[before]))
                self._keep(before, stretches, rows)
        self.w[:], self.t = state, now

    def _reach(self, t: float, stored: Stored) -> None:
        """One instant, by halves of the step where it must be, or over a bifurcation.

        Raises:
            DeadPointError: It is not reached.
        """
        began, start, step = self.t, self.w.copy(), abs(t - self.t)
        failed = self._by_halves(t, step / 2**_FEW_HALVINGS)
        while failed:
            over = self._passed(t, began, start)
            if over is None:
                failed = self._by_halves(t, step / 2**_HALVINGS, self._largest)
                if not failed:
                    break
                raise DeadPointError(
                    f"{self._model}: after t = {self.t:.9g} s {failed}. The results until then "
                    f"are in the attribute results of this error",
                    stored,
                )
            began, start = self.t, self.w.copy()
            failed = "" if over.holds(t) else self._by_halves(t, step / 2**_FEW_HALVINGS)
        if self._passage is not None and self._passage.holds(t):
            self._passage.place(self, t)

    def _passed(self, t: float, began: float, start: Floats) -> Passage | None:
        """Go over a bifurcation just ahead, from a state before it; None if there is none."""
        ahead, here = self.t, self.w.copy()
        last = self._passage
        if last is not None and abs(ahead - last.centre) <= abs(last.h):
            return None  # it was just passed
        self.w[:], self.t = start, began
        farther = abs(began - ahead)
        since = np.inf if last is None else abs(ahead - last.centre) - abs(last.h)
        if self._earlier is not None and farther < abs(self._earlier[0] - ahead) < since:
            self.t, self.w[:] = self._earlier
        found = passage(self, ahead, t - began, self._first)
        if found is None:
            self.w[:], self.t = here, ahead
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
        step = t - self.t
        while self.t != t:
            target = t if abs(t - self.t) <= abs(step) * (1 + 1e-9) else self.t + step
            before, times = self.w.copy(), np.array([self.t, target])
            good = self.attempt(target, target - self.t) and not self._kinked(before, times)
            if good and was is not None:
                fallen = np.abs(self._determinants()) < _VANISHED * np.abs(was)
                if fallen.any():
                    self._note(self._solved_groups[int(np.argmax(fallen))])
                    good = False
            if good:
                self.t = target
                step *= 2
                continue
            failed = self._what_failed(0)
            self.w[:] = before
            step = (target - self.t) / 2
            if abs(step) < max(smallest, 1e-14 * (1 + abs(t))):
                return failed
        return ""

    @cached_property
    def unknowns(self) -> list[list[Integers]]:
        """Places of the unknowns of a kind and of their two rates, (instances, unknowns) each."""
        solved = [bool(kernel.unknowns) for kernel in self.groups.kernels]
        return [
            [self.groups.unknown_places(c, rate) for rate in RATES] if any_of_it else []
            for c, any_of_it in enumerate(solved)
        ]

    @cached_property
    def _gauges(self) -> Integers:
        """Where the determinants of groups stand."""
        memory, kernels = self.groups.memory, self.groups.kernels
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(memory.places(f"gauge{c}") for c in range(len(kernels)))])

    @cached_property
    def _solved_groups(self) -> Integers:
        """Which groups these are."""
        none = np.zeros(0, dtype=np.int64)
        kinds = zip(self.groups.kinds, self.groups.kernels, strict=True)
        return np.concatenate([none, *(cast.groups for cast, k in kinds if k.unknowns)])

    def _determinants(self) -> Floats:
        found: Floats = self.w.reshape(-1, self.lanes)[self._gauges, 0]
        return found

    def _note(self, group: int) -> None:
        """Note that a group is at a dead point."""
        self.w[self._status] = float(group + 1)
        self.w[self._status + self.lanes] = float(Failure.NOT_POSITIVE)

    def attempt(self, t: float, since: float) -> bool:
        """Solve all groups at an instant, from the state of some time before; whether they are."""
        self._put(np.array([t]), since)
        return self._run_once()

    def _kinked(self, before: Floats, t: Floats) -> bool:
        """Whether rates jump in a step, as where a group leaves a dead point by the way that it
        came; the group is then noted as failed.
        """
        group = kinked_group(self, before, t)
        if group is not None:
            self._note(group)
        return group is not None

    def _what_failed(self, lane: int) -> str:
        """Which group was not solved, and how, in words."""
        W = self.lanes
        group = self.groups.casts.structure.groups[int(self.w[self._status + lane]) - 1]
        how = Failure(int(self.w[self._status + W + lane]))
        joints = ", ".join(j for j in group.joints if j not in group.drivers)
        who = f"group {group.name} ({', '.join(group.bodies)}; joints {joints})"
        if how is Failure.NOT_POSITIVE:
            return (
                f"{who} is at a dead point: its joints are in line, and two branches meet; or an "
                f"angle is half a turn from what its driver says"
            )
        if how is Failure.NOT_FINITE:
            return f"{who} has no solution: the iterations leave all bounds"
        said = ""
        if len(group.drivers) > 1:
            said = f", or its drivers {', '.join(group.drivers)} contradict each other"
        return (
            f"{who} cannot be assembled: its joints do not reach each other, or it is at a dead "
            f"point, where they are in line{said}"
        )
