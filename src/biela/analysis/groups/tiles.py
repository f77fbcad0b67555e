"""Large models tile by tile: some groups through many instants, then the next ones.

A workspace of a hundred thousand groups does not fit into the caches of a processor.  A *tile* is a
stretch of groups, in solution order, of one branch of the group diagram; it is run through a chunk
of instants with what it reads of earlier tiles given, and what later tiles read of it kept.  Every
branch has a workspace of its own, and branches run in threads of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.stored import aligned_zeros
from biela.code.looped import Segment, Solve
from biela.equations.groups.lowering import GroupProgram
from biela.equations.groups.structure import Structure
from biela.solvers.block_sequence import run_blocks

__all__ = ["GROUPS", "Course", "Tile", "run_all", "run_tile", "strands_of", "tiles_of"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Groups of a tile: their part of the workspace stays in the second cache.
GROUPS: Final = 400


@dataclass(eq=False)
class Tile:
    """A stretch of groups.

    Attributes:
        number: Its place in the order of tiles.
        strand: The branch of the diagram it stands on; tiles of one share a workspace.
        segments: What it runs.
        inputs: Places that earlier tiles write and it reads.
        owners: The tiles that write them.
        exports: Places that later tiles read.
        writes: Places of y, dy and ddy that it writes.
        states: Places that it keeps from block to block.
        code: Its native code.
        w: Its workspace.
        kept: What it exports in the chunk that is run, (blocks, places, lanes).
    """

    number: int
    strand: int
    segments: list[Segment]
    inputs: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    owners: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    exports: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    writes: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    states: list[Integers] = field(default_factory=list)
    code: Any = None
    w: Floats = field(default_factory=lambda: np.zeros(0))
    kept: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))


def strands_of(structure: Structure, threads: int) -> Integers:
    """Of every group a branch of the diagram, from 1 on, as many as threads; 0 for their trunk.

    Branches are what is left of the diagram without the groups that rest on the ground only, put
    together so that all have about as many groups.
    """
    count = len(structure.groups)
    found = np.zeros(count, dtype=np.int64)
    if threads < 2:
        return found
    trunk = set(structure.levels[0]) if structure.levels else set()
    parent = list(range(count))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for k, group in enumerate(structure.groups):
        if k not in trunk:
            for before in group.after:
                if before not in trunk:
                    parent[root(k)] = root(before)
    members: dict[int, list[int]] = {}
    for k in range(count):
        if k not in trunk:
            members.setdefault(root(k), []).append(k)
    loads = np.zeros(threads)
    for group_list in sorted(members.values(), key=len, reverse=True):
        lightest = int(loads.argmin())
        loads[lightest] += len(group_list)
        found[group_list] = lightest + 1
    return found


def tiles_of(groups: GroupProgram, lanes: int, strands: Integers, size: int) -> list[Tile]:
    """The tiles of a program: stretches of its tape of about ``size`` groups, of one branch."""
    tiles: list[Tile] = []
    rooms: dict[int, Floats] = {}
    room = 0
    last = -1
    for segment in groups.tape:
        first, left = segment.first, segment.count
        cast = groups.kinds[segment.stage - 1]
        number = int(cast.groups[groups.orders[segment.stage - 1][first]])
        branch = int(strands[number]) if len(strands) else 0
        if branch != last:
            room = 0
            last = branch
        while left:
            if room <= 0:
                tiles.append(Tile(len(tiles), branch, []))
                room = size
            take = min(left, room)
            tiles[-1].segments.append(Segment(segment.stage, first, take))
            first, left, room = first + take, left - take, room - take
    _link(groups, tiles)
    for tile in tiles:
        kept = ("last", "dlast", "ddlast", "gauge_before", "branch")
        tile.states = [_places(groups, tile, kept, written=False)]
        clear = Segment(0, 0, 0)
        tile.code = groups.program.states_part([clear, *tile.segments])
        if tile.strand not in rooms:
            rooms[tile.strand] = aligned_zeros(groups.memory.size, lanes)
        tile.w = rooms[tile.strand]
    return tiles


def _link(groups: GroupProgram, tiles: Sequence[Tile]) -> None:
    """Find what tiles read of each other."""
    owner = np.full(groups.memory.size, -1, dtype=np.int64)
    for tile in tiles:
        tile.writes = _places(groups, tile, ("y", "dy", "ddy"), written=True)
        owner[tile.writes] = tile.number
    wanted: list[list[Integers]] = [[] for _ in tiles]
    for tile in tiles:
        read = _places(groups, tile, ("h", "dh", "ddh"), written=False)
        others = read[(owner[read] >= 0) & (owner[read] != tile.number)]
        tile.inputs, tile.owners = others, owner[others]
        for number in np.unique(tile.owners):
            wanted[int(number)].append(others[tile.owners == number])
    for tile, places in zip(tiles, wanted, strict=True):
        tile.exports = np.unique(np.concatenate([np.zeros(0, np.int64), *places]))


def _places(groups: GroupProgram, tile: Tile, names: Sequence[str], *, written: bool) -> Integers:
    found: list[Integers] = [np.zeros(0, np.int64)]
    for segment in tile.segments:
        stage = groups.program.stages[segment.stage]
        assert isinstance(stage, Solve)
        rows = slice(segment.first, segment.first + segment.count)
        for name in names:
            if written and name in stage.scatter:
                first = np.asarray(stage.scatter[name].places)[rows]
                width = next(a.size for a in stage.kernel.outputs if a.name == name)
                found.append((first[:, None] + np.arange(width)).ravel().astype(np.int64))
            elif not written and name in stage.gather:
                places = np.asarray(stage.gather[name])[rows]
                if places.ndim == 1:
                    width = next(a.size for a in stage.kernel.inputs if a.name == name)
                    places = places[:, None] + np.arange(width)
                found.append(places.ravel().astype(np.int64))
    return np.unique(np.concatenate(found))


@dataclass(frozen=True, eq=False)
class Course:
    """How a tile is run through chunks of instants.

    Attributes:
        into: Where what is given goes in the workspace.
        sources: Tiles that give something, and which of their exports.
        first: Stretches of the workspace that are kept, and their lengths.
        length: Likewise.
        own: Places among what is stored that it writes.
    """

    into: Integers
    sources: tuple[tuple[int, Integers], ...]
    first: Integers
    length: Integers
    own: Integers

    @classmethod
    def of(
        cls, tile: Tile, tiles: Sequence[Tile], into: Integers, stored: Integers, W: int
    ) -> Course:
        """Of a tile, where laws go ``into`` the workspace and some places of it are stored."""
        places, sources = [into], []
        for number in np.unique(tile.owners):
            mine = tile.inputs[tile.owners == number]
            sources.append((int(number), np.searchsorted(tiles[int(number)].exports, mine)))
            places.append((mine[:, None] * W + np.arange(W)).ravel())
        own = np.flatnonzero(np.isin(stored, tile.writes))
        out = np.concatenate([tile.exports, stored[own]])
        cuts = np.flatnonzero(np.diff(out) != 1) + 1 if len(out) else np.zeros(0, np.int64)
        starts = np.concatenate([[0], cuts]).astype(np.int64) if len(out) else cuts
        lengths = np.diff(np.concatenate([starts, [len(out)]])) if len(out) else cuts
        first = out[starts] * W if len(out) else cuts
        return cls(np.concatenate(places), tuple(sources), first, lengths * W, own)


def run_tile(
    tile: Tile,
    tiles: Sequence[Tile],
    course: Course,
    driven: Floats,
    stored: Floats,
    status: int,
    lanes: int,
    steps: Floats,
) -> bool:
    """Run a tile through a chunk; whether all went well.

    Args:
        tile: The tile.
        tiles: All of them.
        course: How it is run.
        driven: What laws give, (blocks, numbers).
        stored: Rows of the chunk, (blocks, kept, lanes).
        status: The place of the status.
        lanes: Of the processor.
        steps: Where steps are counted.
    """
    blocks = len(driven)
    rows = [driven]
    for number, at in course.sources:
        rows.append(tiles[number].kept[:, at, :].reshape(blocks, -1))
    given = np.concatenate(rows, axis=1) if course.sources else driven
    size = int(course.length.sum())
    kept = np.empty((blocks, size))
    done = run_blocks(
        len(tile.w), blocks, len(course.into), size, len(course.first), lanes, status * lanes,
        tile.code, tile.w, given, course.into, kept, course.first, course.length, steps,
    )  # fmt: skip
    whole = kept.reshape(blocks, -1, lanes)
    tile.kept = whole[:, : len(tile.exports)]
    if len(course.own):
        stored[:, course.own, :] = whole[:, len(tile.exports) :]
    return bool(done == blocks)


def run_all(tiles: Sequence[Tile], pool: ThreadPoolExecutor | None, run: Any) -> bool:
    """Run tiles in order, those of different branches side by side."""
    if pool is None:
        return all(run(tile) for tile in tiles)
    futures: list[Future[bool]] = []
    last: dict[int, Future[bool]] = {}
    for tile in tiles:
        before = [futures[int(k)] for k in np.unique(tile.owners)]
        before += [last[tile.strand]] if tile.strand in last else []
        futures.append(pool.submit(_after, before, run, tile))
        last[tile.strand] = futures[-1]
    return all(future.result() for future in futures)


def _after(before: Sequence[Future[bool]], run: Any, tile: Tile) -> bool:
    return all(future.result() for future in before) and bool(run(tile))
