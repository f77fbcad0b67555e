"""The equations of motion of a long chain as integrators take them: x' = f(t, x, τ), x = (q, v)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biela.atoms import Workspace, maximum, sqrt
from biela.code import Function
from biela.code.looped import Clear, Memory, Program, Stage, Write
from biela.code.looped.dispatch import copying_code
from biela.equations.spatial.looped.lowering import Lowering


@dataclass(frozen=True, eq=False)
class NativeKernel:
    """The address of native code, and what it needs to stay alive."""

    address: int
    kept: Any


class LoopedMotion:
    """A right-hand side, and a correction of states where there are quaternions.

    Args:
        lowering: Of the tree.

    Attributes:
        f: ``1, nq + nv, nv -> nq + nv``: the rates of a state, of the time, it and joint forces.
        normalise: ``1, nq + nv, nv -> nq + nv + 1``: the state with unit quaternions, and the
            largest ``|e·e - 1|`` of what was given; None where there are none.

    Raises:
        NotLoopedError: A force depends on time, or on the state of many joints.
        ModelError: Gears tie joints together, or nothing has inertia along a velocity.
    """

    def __init__(self, lowering: Lowering) -> None:
        self._nq, self._nv = len(lowering.tree.q), len(lowering.tree.v)
        program, memory = lowering.forward_dynamics(rates=True)
        w = memory.array()
        memory.view(w, "acceleration")[3:6] = lowering.ground
        self.f = self._kernel(program, memory, w, "rates", 0)
        first = [k for k, _ in lowering.tree.quaternions]
        self.normalise = self._normalising(np.array(first)) if first else None

    def _normalising(self, first: Any) -> NativeKernel:
        nq, nv = self._nq, self._nv
        sizes = {"t": 1, "q": nq, "v": nv, "tau": nv}
        memory = Memory({**sizes, "out": nq + nv, "largest": 1})
        ws = Workspace("unit")
        x = ws.symbol("x")
        copy = Function("copy", {"x": [x]}, {"y": [x]})
        e, before = [ws.symbol(f"e{k}") for k in range(4)], ws.symbol("before")
        square = sum((x * x for x in e[1:]), e[0] * e[0])
        unit = Function(
            "unit",
            {"e": e, "before": [before]},
            {"u": [x / sqrt(square) for x in e], "size": [maximum(before, abs(square - 1.0))]},
        )
        largest = np.full((len(first), 1), memory.first("largest"))
        state = memory.first("q") + np.arange(nq + nv)
        stages: list[Stage | Clear] = [
            Clear(memory.first("largest"), 1),
            Stage(copy, {"x": state}, {"y": Write(memory.places("out"))}, independent=True),
            Stage(
                unit,
                {"e": memory.first("q") + first, "before": largest},
                {"u": Write(memory.first("out") + first), "size": Write(largest)},
            ),
        ]
        program = Program(stages, memory.size, name="unit quaternions")
        return self._kernel(program, memory, memory.array(), "out", 1)

    def _kernel(
        self, program: Program, memory: Memory, w: Any, out: str, more: int
    ) -> NativeKernel:
        """A program as a function of t, x = (q, v), which lie side by side, and τ."""
        size = self._nq + self._nv
        inputs = [
            (memory.first("t"), 1),
            (memory.first("q"), size),
            (memory.first("tau"), self._nv),
        ]
        outputs = [(memory.first(out), size + more)]
        code = copying_code(program.address, w.ctypes.data, inputs, outputs)
        return NativeKernel(int(code["run"]), (program, code, w))
