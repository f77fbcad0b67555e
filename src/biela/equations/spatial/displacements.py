"""The displacement between two positions, on atoms: the inverse of q ⊕ δ."""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom, atan2, select, sqrt
from biela.equations.spatial.tree import SpatialTree

#: Sine of the half angle below which a series is used.
_NEAR = 1e-4


def relative_rotation(e: Sequence[Atom], f: Sequence[Atom]) -> list[Atom]:
    """δ with e ⊕ δ = ±f, |δ| ≤ π: twice the angle of e⁻¹ ⊗ f along its axis.

    With (c, s) = e⁻¹ ⊗ f, c made positive, δ = 2 s atan2(|s|, c)/|s|; for small |s| the quotient is
    1/c (1 - |s|²/3c²), whose error is below rounding.
    """
    a0, a1, a2, a3 = e
    b0, b1, b2, b3 = f
    c = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
    s = [
        a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2,
        a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1,
        a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0,
    ]
    sign = select(c < 0, -1, 1)
    c = c * sign
    square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2]
    near = square < _NEAR**2
    # neither quotient is taken at 0, not even in the branch that is not used
    size = sqrt(select(near, 1, square))
    cosine = select(near, c, 1)
    far = atan2(size, c) / size
    close = (1 - square / (3 * cosine * cosine)) / cosine
    factor = 2 * sign * select(near, close, far)
    return [x * factor for x in s]


def displacement(tree: SpatialTree, q: Sequence[Atom], after: Sequence[Atom]) -> list[Atom]:
    """δ with q ⊕ δ = after, a value for each velocity."""
    found: list[Atom] = [tree.workspace.atom(0)] * len(tree.v)
    for i, j in tree.scalars.values():
        found[j] = after[i] - q[i]
    for first, speed in tree.quaternions:
        e, f = q[first : first + 4], after[first : first + 4]
        found[speed : speed + 3] = relative_rotation(e, f)
    return found
