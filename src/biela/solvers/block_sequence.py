"""A native program run block after block of instants, with no Python between."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Vector, routine

__all__ = ["run_blocks", "run_watched_blocks"]


@routine(program="-> size", w="size", given="width", into="width", steps="1")
def run_block(
    size: Int,
    width: Int,
    lanes: Int,
    status: Int,
    program: Kernel,
    w: Vector,
    given: Vector,
    into: IntVector,
    steps: Vector,
) -> Int:
    """Write what is given to its places, run the program, count its steps; 1 if all went well."""
    for i in range(width):
        w[into[i]] = given[i]
    program(w)
    good = 1
    for lane in range(lanes):
        steps[0] += w[status + 2 * lanes + lane]
        if w[status + lane] != 0.0:
            good = 0
    return good


@routine(w="size", row="kept", first="runs", length="runs")
def keep_block(
    size: Int, kept: Int, runs: Int, w: Vector, row: Vector, first: IntVector, length: IntVector
) -> None:
    """Copy stretches of the workspace into a row, one after the other."""
    at = 0
    for k in range(runs):
        for i in range(length[k]):
            row[at + i] = w[first[k] + i]
        at += length[k]


@routine(
    program="-> size",
    w="size",
    given="blocks, width",
    into="width",
    stored="blocks, kept",
    first="runs",
    length="runs",
    steps="1",
)
def run_blocks(
    size: Int,
    blocks: Int,
    width: Int,
    kept: Int,
    runs: Int,
    lanes: Int,
    status: Int,
    program: Kernel,
    w: Vector,
    given: Matrix,
    into: IntVector,
    stored: Matrix,
    first: IntVector,
    length: IntVector,
    steps: Vector,
) -> Int:
    """Run a program once a block; return how many blocks went well.

    Row b of `given` is written to the places `into` of the workspace before the run, and `runs`
    stretches of it, from `first` on and of that `length`, make row b of `stored` after it.  The run
    stops at the first block of which a lane of `status` is not zero, which is not stored.  The
    steps that the program has counted, two vectors of lanes after the status, are added to `steps`.
    """
    for b in range(blocks):
        good = run_block(size, width, lanes, status, program, w, given[b], into, steps)
        if good == 0:
            return b
        keep_block(size, kept, runs, w, stored[b], first, length)
    return blocks


@routine(
    program="-> size",
    w="size",
    given="blocks, width",
    into="width",
    stored="blocks, kept",
    first="runs",
    length="runs",
    steps="1",
    watched="count",
    limits="count",
)
def run_watched_blocks(
    size: Int,
    blocks: Int,
    width: Int,
    kept: Int,
    runs: Int,
    count: Int,
    looks: Int,
    every: Int,
    lanes: Int,
    status: Int,
    program: Kernel,
    w: Vector,
    given: Matrix,
    into: IntVector,
    stored: Matrix,
    first: IntVector,
    length: IntVector,
    steps: Vector,
    watched: IntVector,
    limits: Vector,
) -> Int:
    """Run a program as `run_blocks`, as long as some numbers are not small; return how many blocks.

    Of the numbers that begin at `watched`, one a lane, none is below its limit in size in the
    blocks that are counted; one lane in so many is looked at.
    """
    for b in range(blocks):
        good = run_block(size, width, lanes, status, program, w, given[b], into, steps)
        if good == 0:
            return b
        for k in range(count):
            for n in range(looks):
                if abs(w[watched[k] + (n + 1) * every - 1]) < limits[k]:
                    return b
        keep_block(size, kept, runs, w, stored[b], first, length)
    return blocks
