"""The forces that elements have said, along the velocities of the bodies of a kernel.

Q = F along r',    M + (p - r) x F along ω',    and force ∂rate/∂v for a force along a speed.
"""

from __future__ import annotations

from biela.atoms import Atom, jacobian
from biela.equations.blocks.deriving import KernelDerivation
from biela.equations.reference_point import NORMAL
from biela.space import position


def generalised(derivation: KernelDerivation) -> dict[str, list[Atom]]:
    """The forces that elements have said, along the velocities of each body and along x."""
    found = {f"Q{k}": _on_body(derivation, k) for k in range(len(derivation.bodies))}
    rates = [x.velocity for x in derivation.coordinates.values()]
    if rates:
        found["Qx"] = [derivation.workspace.atom(0) for _ in rates]
    if derivation.said.pushes:
        v = [*(v for body in derivation.bodies for v in body.v), *rates]
        speeds = jacobian([rate for rate, _ in derivation.said.pushes], v).rows
        for slopes, (_, force) in zip(speeds, derivation.said.pushes, strict=True):
            place = 0
            for total in found.values():
                for k in range(len(total)):
                    total[k] = total[k] + slopes[place + k] * force
                place += len(total)
    return {name: total for name, total in found.items() if any(x.ref for x in total)}


def _on_body(derivation: KernelDerivation, slot: int) -> list[Atom]:
    body = derivation.bodies[slot]
    zero = derivation.workspace.atom(0)
    forces, moments = [zero] * 3, [zero] * 3
    for on, point, force, moment in derivation.said.wrenches:
        if on != slot:
            continue
        about = moment + position(body.place.point, point).cross(force)
        F, M = force.components(derivation.system.base), about.components(body.place.base)
        forces = [a + b for a, b in zip(forces, F, strict=True)]
        moments = [a + b for a, b in zip(moments, M, strict=True)]
    if derivation.plane is None:
        return [*forces, *moments]
    at = ["xyz".index(axis) for axis in derivation.plane]
    return [forces[at[0]], forces[at[1]], moments["xyz".index(NORMAL[derivation.plane])]]
