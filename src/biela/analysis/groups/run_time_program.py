"""The groups of a model as a looped program, some of them solved by factorisations at run time.

Kinds that are "unrolled" are stages of one kernel with its linear equations written out, see
`lowering`.  The others stand between them as native code that calls small kernels and a dense or
sparse solver, one instant after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from biela.analysis.groups.run_time_stage import StagePlaces, run_time_stage, work_room
from biela.code.looped import Memory
from biela.equations.blocks.populations import Integers
from biela.equations.groups.assembled import assembled_kernel
from biela.equations.groups.cast import Cast
from biela.equations.groups.casts import Casts
from biela.equations.groups.entries import (
    ASSEMBLED_FROM,
    ASSEMBLIES,
    RunTimeKernel,
    chosen_solver,
    generated_kernel,
)
from biela.equations.groups.items import Item
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import GroupProgram, Iteration, Request
from biela.equations.groups.wanted import Wanted
from biela.errors import ModelError
from biela.solvers.group_newton_stage import NewtonOptions
from biela.spelling import nearest

__all__ = ["MixedProgram"]

_RATES: Final = ("", "d", "dd")


class MixedProgram(GroupProgram):
    """The groups of a model, each kind with a solver of its own.

    Args:
        casts: Kinds of groups.
        equations: Of each kind, in coordinates of its own.
        requests: What is wanted of bodies besides what groups want of each other.
        iteration: How equations are solved.
        solver: How linear equations are solved, of all kinds or by their names ("RRR", "" for the
            others): "unrolled", "dense", "sparse", or "auto".
        assembly: Whether kernels of kinds that are not unrolled are "generated" for the kind or
            "assembled" from those of single joints; "auto" goes by size.

    Raises:
        ModelError: There is no such solver or way to assemble.
    """

    def __init__(
        self,
        casts: Casts,
        equations: Sequence[GroupEquations],
        requests: Sequence[Request | Item] = (),
        iteration: Iteration | None = None,
        *,
        solver: str | Mapping[str, str] = "auto",
        assembly: str = "auto",
        **options: Any,
    ) -> None:
        if assembly not in ASSEMBLIES:
            raise ModelError(
                f"equations of groups are not {assembly!r}{nearest(assembly, ASSEMBLIES)}; they "
                f"are one of {', '.join(ASSEMBLIES)}"
            )
        self._solver, self._assembly = solver, assembly
        super().__init__(casts, equations, requests, iteration, **options)

    @property
    def run_time(self) -> bool:
        """Whether some kinds are solved at run time, so that instants come one by one."""
        return any(isinstance(kernel, RunTimeKernel) for kernel in self.kernels)

    def _asked_solver(self, cast: Cast) -> str:
        if isinstance(self._solver, str):
            return self._solver
        return self._solver.get(cast.example.name, self._solver.get("", "auto"))

    def _kernel(
        self, c: int, equations: GroupEquations, name: str, wanted: Sequence[Wanted]
    ) -> Any:
        solver = chosen_solver(equations, self._asked_solver(self.kinds[c]))
        if solver == "unrolled":
            return super()._kernel(c, equations, name, wanted)
        self.closed[c] = None
        large = len(equations.x) >= ASSEMBLED_FROM
        if self._assembly == "assembled" or (self._assembly == "auto" and large):
            return assembled_kernel(equations, wanted, solver)
        return generated_kernel(equations, name, wanted, solver)

    def _among_items(self, kernel: Any) -> bool:
        return not isinstance(kernel, RunTimeKernel) and super()._among_items(kernel)

    def _make_memory(self) -> None:
        super()._make_memory()
        rooms = {
            f"work{c}": self.kinds[c].count * work_room(kernel)
            for c, kernel in enumerate(self.kernels)
            if isinstance(kernel, RunTimeKernel)
        }
        self.memory = Memory({**self.memory.sizes, **rooms})

    def _stage(self, c: int, kernel: Any, order: Integers, together: bool) -> Any:
        if not isinstance(kernel, RunTimeKernel):
            return super()._stage(c, kernel, order, together)
        memory, m = self.memory, len(kernel.unknowns)
        nothing = np.zeros((len(order), 0), dtype=np.int64)
        places = StagePlaces(
            size=memory.size,
            x={d: memory.first(f"{d}x{c}") + order * m for d in _RATES},
            y={
                d: memory.first(f"{d}y") + self._first_y[c] + order * self._widths[c]
                for d in _RATES
            },
            h={
                d: self._places_of(kernel.known, self._reads[c], d)[order]
                if kernel.known
                else nothing
                for d in _RATES
            },
            gauge=memory.first(f"gauge{c}") + order,
            tau=memory.first("tau"),
            work=memory.first(f"work{c}") + order * work_room(kernel),
            status=memory.first("status"),
            labels=self.kinds[c].groups[order] + 1,
        )
        i = self.iteration
        options = NewtonOptions(
            self.equations[c].bound(i.tolerance), i.iterations, i.polish, i.fixed
        )
        return run_time_stage(kernel, order, places, options)
