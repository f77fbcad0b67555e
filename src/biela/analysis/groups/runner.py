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
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.laws import Laws
from biela.analysis.groups.tiles import GROUPS, Course, Tile, run_all, run_tile, tiles_of
from biela.analysis.progress import Progress
from biela.code.llvm.host import host_lanes
from biela.code.looped import Failure
from biela.equations.groups.cast import Poses
from biela.equations.groups.lowering import GroupProgram
from biela.errors import DeadPointError, ShapeError, SimulationError
from biela.solvers.block_sequence import run_blocks

__all__ = ["GroupRunner", "Lanes", "Stored"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: What shares the lanes of the processor.
Lanes: TypeAlias = Literal["instants", "groups"]

#: Instants between looks at the clock and the keyboard.
_CHUNK: Final = 16384
#: Bytes of a workspace above which it is run tile by tile, and blocks of instants of a tile.
_CACHE: Final = 4_000_000
_BLOCKS: Final = 64
#: A step this many times smaller than asked for is so small that rates do not jump in it.
_SMALL: Final = 6
#: Halvings of a step before it is given up.
_HALVINGS: Final = 14


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
        groups.write_start(self._view, poses)
        self._tiles: list[Tile] = []
        large = memory.size * W * 8 > _CACHE
        if lanes == "instants" and (threads > 1 or large):
            nothing = np.zeros(0, dtype=np.int64)
            given = nothing if strands is None else strands
            size = GROUPS if large else len(groups.casts.structure.groups)
            self._tiles = tiles_of(groups, W, given, size)

    def _view(self, name: str) -> Floats:
        """A vector of the workspace, (places, lanes)."""
        W, memory = self.lanes, self.groups.memory
        first = memory.first(name)
        return self.w[first * W : (first + memory.sizes[name]) * W].reshape(-1, W)

    def _driven_places(self) -> Integers:
        W, memory = self.lanes, self.groups.memory
        places = [memory.places(name) for name in ("tau", "w", "dw", "ddw")]
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
        given = np.concatenate([np.atleast_1d(tau), self.laws.at(t)[0]])
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
        W = self.lanes
        blocks = -(-len(t) // W)
        padded = np.concatenate([t, np.full(blocks * W - len(t), t[-1])])
        kept = sum(length for _, length in stretches)
        rows = np.empty((blocks, kept, W)) if room is None else room
        if rows.shape != (blocks, kept, W) or rows.dtype != float or not rows.flags.c_contiguous:
            raise ShapeError(
                f"the room for {len(t)} instants is an array of doubles of shape "
                f"{(blocks, kept, W)} in one piece, not {rows.dtype} of shape {rows.shape}"
            )
        self.steps[:] = 0.0
        if self._tiles and self._tiled(padded, stretches, rows, progress):
            return Stored(t, rows, float(self.steps[0]), 0)
        careful = done = 0
        with Progress(f"kinematics of {self._model}", blocks, progress) as bar:
            while done < blocks:
                last = min(done + max(1, _CHUNK // W), blocks)
                before, began = self.w.copy(), self.t
                good = self._chunk(padded, done, last, stretches, rows)
                if good < last - done:
                    # again as far as it goes, since the block that failed is written over
                    self.w[:], self.t = before, began
                    if good:
                        self._chunk(padded, done, done + good, stretches, rows)
                    at = done + good
                    now = padded[at * W : (at + 1) * W]
                    solved = partial(self._stored, t, rows[: at + 1], at * W, careful)
                    self._one_by_one(now, stretches, rows[at], solved)
                    careful += W
                    good += 1
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

    def _driven(self, times: Floats) -> Floats:
        """What is written into the workspace before each block: times since, and laws."""
        W = self.lanes
        starts = np.concatenate([[self.t], times[W - 1 :: W][:-1]])
        tau = times.reshape(-1, W) - starts[:, None]
        given = np.concatenate([tau.reshape(-1, 1), self.laws.at(times)], axis=1)
        count = len(times) // W
        return np.ascontiguousarray(
            given.reshape(count, W, -1).transpose(0, 2, 1).reshape(count, -1)
        )

    def _chunk(
        self, t: Floats, first: int, last: int, stretches: list[tuple[int, int]], rows: Floats
    ) -> int:
        """Blocks ``first`` to ``last - 1``: how many went well."""
        W = self.lanes
        times = t[first * W : last * W]
        given = self._driven(times)
        out = rows[first:last].reshape(last - first, -1)
        good = run_blocks(
            len(self.w), last - first, given.shape[1], out.shape[1], len(stretches), W,
            self._status, self._program, self.w, given, self._into, out,
            np.array([a * W for a, _ in stretches], dtype=np.int64),
            np.array([n * W for _, n in stretches], dtype=np.int64), self.steps,
        )  # fmt: skip
        if good:
            self.t = float(times[good * W - 1])
        return int(good)

    # ----------------------------------------------------------------------- with care

    def _stored(self, t: Floats, rows: Floats, before: int, careful: int, more: int) -> Stored:
        """What is stored up to some lanes of the last block."""
        return Stored(t[: before + more], rows, float(self.steps[0]), careful + more)

    def _one_by_one(
        self,
        t: Floats,
        stretches: list[tuple[int, int]],
        row: Floats,
        solved: Callable[[int], Stored],
    ) -> None:
        """The instants of a block one after the other, in all lanes alike."""
        W = self.lanes
        for lane, instant in enumerate(t):
            self._reach(float(instant), solved(lane))
            at = 0
            for first, length in stretches:
                found = self.w[first * W : (first + length) * W].reshape(length, W)
                row[at : at + length, lane] = found[:, 0]
                at += length

    def _reach(self, t: float, stored: Stored) -> None:
        """One instant, by halves of the step where it must be.

        Raises:
            DeadPointError: It is not reached.
        """
        smallest = abs(t - self.t) / 2**_HALVINGS
        step = whole = t - self.t
        while self.t != t:
            target = t if abs(t - self.t) <= abs(step) * (1 + 1e-9) else self.t + step
            before = self.w.copy()
            self._put(np.array([target]), target - self.t)
            small = abs(target - self.t) < abs(whole) / _SMALL
            if self._run_once() and not (small and self._kinked(before, target - self.t)):
                self.t = target
                step *= 2
                continue
            failed = self._what_failed(0)
            self.w[:] = before
            step = (target - self.t) / 2
            if abs(step) < max(smallest, 1e-14 * (1 + abs(t))):
                raise DeadPointError(
                    f"{self._model}: after t = {self.t:.9g} s {failed}. The results until then "
                    f"are in the attribute results of this error",
                    stored,
                )

    def _kinked(self, before: Floats, tau: float) -> bool:
        """Whether rates jump in a small step, as where a group leaves a dead point by the way that
        it came; the group is then noted as failed.
        """
        W, memory = self.lanes, self.groups.memory
        for c, kernel in enumerate(self.groups.kernels):
            if not kernel.unknowns:
                continue
            first, size = memory.first(f"dx{c}") * W, memory.sizes[f"dx{c}"] * W
            now = self.w[first : first + size : W]
            last = before[first : first + size : W]
            second = memory.first(f"ddx{c}") * W
            expected = last + tau * before[second : second + size : W]
            jump = np.abs(now - expected)
            scale = np.maximum(np.abs(now), np.abs(last))
            worst = int(np.argmax(jump - 0.5 * scale))
            if jump[worst] > 0.5 * scale[worst] and jump[worst] > 1e-9:
                group = self.groups.kinds[c].groups[worst // len(kernel.unknowns)]
                self.w[self._status] = float(group + 1)
                self.w[self._status + W] = float(Failure.NOT_POSITIVE)
                return True
        return False

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
