"""One body displaced by a small step: q ⊖ δ, its orientation by the exponential map."""

from __future__ import annotations

from functools import cache

from biela.atoms import Workspace, cos, select, sin, sqrt
from biela.code import Function


@cache
def retraction_kernel(plane: str | None) -> Function:
    """The position of a body after the step -δ, from its coordinates q and δ.

    In space the Euler parameters become e ∘ exp(-δ/2), of unit norm again (see
    `ReferenceBlocks.moved`).
    """
    ws = Workspace("retraction")
    wide = (7, 6) if plane is None else (3, 3)
    q = [ws.symbol(f"q{k}") for k in range(wide[0])]
    d = [ws.symbol(f"d{k}") for k in range(wide[1])]
    if plane is not None:
        moved = [a - b for a, b in zip(q, d, strict=True)]
        return Function("retraction", {"q": q, "d": d}, {"moved": moved})
    half = [-x / 2 for x in d[3:]]
    square = half[0] * half[0] + half[1] * half[1] + half[2] * half[2]
    size = sqrt(square)
    tiny = square < 1e-16
    sine = select(tiny, 1 - square / 6, sin(size) / select(tiny, 1, size))
    d0 = cos(size)
    dx, dy, dz = (x * sine for x in half)
    e0, ex, ey, ez = q[3:]
    turned = [
        e0 * d0 - ex * dx - ey * dy - ez * dz,
        e0 * dx + d0 * ex + ey * dz - ez * dy,
        e0 * dy + d0 * ey + ez * dx - ex * dz,
        e0 * dz + d0 * ez + ex * dy - ey * dx,
    ]
    norm = sqrt(sum((x * x for x in turned[1:]), start=turned[0] * turned[0]))
    moved = [a - b for a, b in zip(q[:3], d[:3], strict=True)] + [x / norm for x in turned]
    return Function("retraction", {"q": q, "d": d}, {"moved": moved})
