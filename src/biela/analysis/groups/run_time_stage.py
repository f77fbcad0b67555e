"""Groups that are solved at run time as a stage of a looped program: tables of their kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biela.code.looped import Stage, Write
from biela.code.looped.loop import StageLoop
from biela.code.looped.solve_stage import STATUS
from biela.equations.blocks.populations import Integers
from biela.equations.groups.entries import Blocks, RunTimeKernel
from biela.solvers.group_newton_stage import GroupNewton, NewtonCall, NewtonOptions, NewtonPlaces

__all__ = ["StagePlaces", "run_time_stage", "work_room"]

#: In the order in which the iteration calls them.
_PHASES = ("position", "velocity", "acceleration", "items")


@dataclass(frozen=True, eq=False)
class StagePlaces:
    """Where the numbers of all instances stand in the workspace, in the order of the stage.

    Attributes:
        size: Of the workspace.
        x: (n,) first places of the unknowns, and of their two rates: by "", "d" and "dd".
        y: (n,) first places of what is read of an instance, likewise.
        h: (n, known numbers) places of what is known, likewise.
        gauge: (n,) signs of determinants.
        tau: Time since the last instant.
        work: (n,) first places of the room that each has for itself (instances may run in threads).
        status: Of the program.
        labels: (n,) of the instances.
    """

    size: int
    x: Mapping[str, Integers]
    y: Mapping[str, Integers]
    h: Mapping[str, Integers]
    gauge: Integers
    tau: int
    work: Integers
    status: int
    labels: Integers


def work_room(kernel: RunTimeKernel) -> int:
    """How many places of the workspace an instance of a kind needs besides."""
    return GroupNewton.room(len(kernel.rows), len(kernel.unknowns), kernel.pattern.shape[1])


def run_time_stage(
    kernel: RunTimeKernel, order: Integers, places: StagePlaces, options: NewtonOptions
) -> NewtonCall:
    """The instances of a kind, in some order, as a stage that solves them one after the other."""
    r, m = len(kernel.rows), len(kernel.unknowns)
    rows, columns = kernel.pattern
    newton = GroupNewton((r, m), rows, columns, kernel.solver, options)
    loops: dict[str, list[tuple[StageLoop, int]]] = {phase: [] for phase in _PHASES}
    for block in (*kernel.row_blocks, *kernel.item_blocks):
        for phase in block.functions:
            stage = _block_stage(kernel, block, phase, order, places)
            loops[phase].append((StageLoop(stage), block.count))
    tapes = [
        [
            [
                record
                for loop, count in loops[phase]
                for record in loop.records(i * count, (i + 1) * count)
            ]
            for phase in _PHASES
        ]
        for i in range(len(order))
    ]
    where = [
        NewtonPlaces(
            (int(places.x[""][i]), int(places.x["d"][i]), int(places.x["dd"][i])),
            places.tau,
            int(places.gauge[i]),
            int(places.work[i]),
            places.status,
        )
        for i in range(len(order))
    ]
    width = sum(block.rows.size for block in kernel.item_blocks)
    written = [(int(first), work_room(kernel)) for first in places.work]
    written.append((places.status, STATUS))
    for d in ("", "d", "dd"):
        written += [(int(first), m) for first in places.x[d]]
        written += [(int(first), width) for first in places.y[d]]
    written += [(int(first), 1) for first in places.gauge]
    return newton.stage(places.size, tapes, where, places.labels.tolist(), tuple(written), loops)


def _block_stage(
    kernel: RunTimeKernel, block: Blocks, phase: str, order: Integers, places: StagePlaces
) -> Stage:
    """Blocks of a shape, in all instances: those of an instance follow each other."""
    r, m, n = len(kernel.rows), len(kernel.unknowns), len(order)
    K = block.count
    function = block.functions[phase]

    def in_room(first: int, table: Integers) -> Integers:
        """Places in the room of each instance, from a first one on."""
        found: Integers = places.work[:, None, None] + first + table[None]
        return found.reshape(n * K, -1)

    gather: dict[str, Integers] = {}
    for array in function.inputs:
        d = array.name[:-1]
        if array.name.endswith("x"):
            gather[array.name] = in_room(len(d) * m, block.x)
        elif array.name.endswith("h"):
            gather[array.name] = places.h[d][:, block.h].reshape(n * K, -1)
    scatter: dict[str, Write] = {}
    for array in function.outputs:
        if array.name == "Phi":
            scatter["Phi"] = Write(in_room(3 * m, block.rows))
        elif array.name == "right":
            scatter["right"] = Write(in_room(3 * m + r, block.rows))
        elif array.name == "J":
            scatter["J"] = Write(in_room(3 * m + 2 * r, block.entries))
        else:
            start = places.y[array.name[:-1]][:, None, None] + block.rows[None]
            scatter[array.name] = Write(start.reshape(n * K, -1))
    parameters = None
    if any(array.name == "p" for array in function.inputs):
        parameters = block.p[order].reshape(n * K, -1)
    return Stage(function, gather, scatter, parameters, independent=K > 1, name=function.name)
