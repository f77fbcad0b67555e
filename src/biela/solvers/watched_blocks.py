"""A native program run block after block of instants, as long as some numbers are not small."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Vector, routine

__all__ = ["run_watched_blocks"]


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
    """Run a program once a block, as `run_blocks`; return how many went well and were not small.

    Of the numbers that begin at `watched`, one a lane, none is below its limit in size in the
    blocks that are counted; one lane in so many is looked at.
    """
    for b in range(blocks):
        for i in range(width):
            w[into[i]] = given[b, i]
        program(w)
        failed = 0
        for lane in range(lanes):
            steps[0] += w[status + 2 * lanes + lane]
            if w[status + lane] != 0.0:
                failed = 1
        for k in range(count):
            for n in range(looks):
                if abs(w[watched[k] + (n + 1) * every - 1]) < limits[k]:
                    failed = 1
        if failed == 1:
            return b
        at = 0
        for k in range(runs):
            for i in range(length[k]):
                stored[b, at + i] = w[first[k] + i]
            at += length[k]
    return blocks
