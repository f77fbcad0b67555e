"""Peaucellier's straight-line linkage in closed form, without biela.

The pivot O is the origin, C = (c, 0), P = c (1 + cos φ, sin φ).  With ψ = φ/2 and
ρ = |OP| = 2 c cos ψ the cell inverts: |OP| |OQ| = long² - side², so that Q stays at
x = (long² - side²)/(2 c).  Angles of the bars follow from right triangles at the middle of the
rhombus (Peaucellier 1864).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

Floats = npt.NDArray[np.float64]
BARS = ("CP", "OA", "OB", "AP", "BP", "AQ", "BQ")


@cache
def _functions() -> Any:
    """Of φ, long, side, c: x and y of Q and the angles of the bars, with two derivatives."""
    phi, long, side, c = sympy.symbols("phi long side c", positive=True)
    psi = phi / 2
    rho = 2 * c * sympy.cos(psi)
    power = long**2 - side**2
    middle = (rho + power / rho) / 2
    opening = sympy.acos(middle / long)
    slope = sympy.acos((rho - middle) / side)
    Q = [power / rho * sympy.cos(psi), power / rho * sympy.sin(psi)]
    angles = [
        phi,
        psi + opening,
        psi - opening,
        psi - slope,
        psi + slope,
        psi + slope - sympy.pi,
        psi - slope + sympy.pi,
    ]
    values = [*Q, *angles]
    rows = [[sympy.diff(x, phi, k) for x in values] for k in range(3)]
    return sympy.lambdify((phi, long, side, c), rows, "numpy", cse=True)


def motion(
    phi: Floats, rate: float, long: float, side: float, crank: float
) -> tuple[Floats, dict[str, Floats]]:
    """Q (3, instants, 2) and the angle of each bar (3, instants), for a φ that grows evenly.

    The first axis counts derivatives by time.
    """
    rows = [
        np.array([np.broadcast_to(x, phi.shape) for x in row]) * rate**k
        for k, row in enumerate(_functions()(phi, long, side, crank))
    ]
    found = np.array(rows)
    return found[:, :2].transpose(0, 2, 1), {bar: found[:, 2 + k] for k, bar in enumerate(BARS)}
