"""A native program run block after block of instants, with no Python between."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Vector, routine

__all__ = ["run_blocks"]


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
        for i in range(width):
            w[into[i]] = given[b, i]
        program(w)
        failed = 0
        for lane in range(lanes):
            steps[0] += w[status + 2 * lanes + lane]
            if w[status + lane] != 0.0:
                failed = 1
        if failed == 1:
            return b
        at = 0
        for k in range(runs):
            for i in range(length[k]):
                stored[b, at + i] = w[first[k] + i]
            at += length[k]
    return blocks
