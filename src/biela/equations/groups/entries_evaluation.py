"""The equations of a group as numbers: what the kernels of a kind give, put together.

For looking at a group, and for comparing ways to write it: those assembled of single joints with
those generated for the kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biela.equations.blocks.populations import Floats
from biela.equations.groups.entries import Blocks, RunTimeKernel

__all__ = ["GroupNumbers", "group_numbers"]


@dataclass(frozen=True, eq=False)
class GroupNumbers:
    """The equations of one group at one state.

    Attributes:
        Phi: (r,) Φ.
        Phi_phi: (r, m) Φ_φ.
        velocity: (r,) -Φ_h h'.
        acceleration: (r,) -(Φ_h h'' + c).
        y: (3, items) what is read of the group, with two rates.
    """

    Phi: Floats
    Phi_phi: Floats
    velocity: Floats
    acceleration: Floats
    y: Floats


def group_numbers(
    kernel: RunTimeKernel, x: Floats, h: Floats | None = None, instance: int = 0
) -> GroupNumbers:
    """Evaluate the equations of a group.

    Args:
        kernel: Of its kind.
        x: (3, unknowns) φ, φ' and φ''.
        h: (3, known numbers) h, h' and h''.
        instance: Which group of the kind.
    """
    r, m = len(kernel.rows), len(kernel.unknowns)
    h = np.zeros((3, len(kernel.known))) if h is None else h
    Phi, right = np.zeros(r), {phase: np.zeros(r) for phase in ("velocity", "acceleration")}
    V = np.zeros(kernel.pattern.shape[1])
    for block in kernel.row_blocks:
        for k in range(block.count):
            found = _called(block, "position", k, x, h, instance)
            Phi[block.rows[k]] = found["Phi"]
            if "J" in found:
                V[block.entries[k]] = found["J"]
            for phase, rows in right.items():
                rows[block.rows[k]] = _called(block, phase, k, x, h, instance)["right"]
    Phi_phi = np.zeros((r, m))
    Phi_phi[kernel.pattern[0], kernel.pattern[1]] = V
    y = np.zeros((3, sum(block.rows.size for block in kernel.item_blocks)))
    for block in kernel.item_blocks:
        for k in range(block.count):
            items = _called(block, "items", k, x, h, instance)
            for d, name in enumerate(("y", "dy", "ddy")):
                y[d, block.rows[k]] = items[name]
    return GroupNumbers(Phi, Phi_phi, right["velocity"], right["acceleration"], y)


def _called(
    block: Blocks, phase: str, k: int, x: Floats, h: Floats, instance: int
) -> dict[str, Floats]:
    """A kernel of a block, by names of its outputs."""
    function = block.functions[phase]
    given = []
    for array in function.inputs:
        d = len(array.name) - 1
        if array.name == "p":
            given.append(block.p[instance, k])
        elif array.name.endswith("x"):
            given.append(x[d, block.x[k]])
        else:
            given.append(h[d, block.h[k]])
    found = function(*given)
    several = found if len(function.outputs) > 1 else (found,)
    names = [array.name for array in function.outputs]
    return {name: np.asarray(v) for name, v in zip(names, several, strict=True)}
