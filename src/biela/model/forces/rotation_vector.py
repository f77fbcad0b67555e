"""The rotation vector of one marker seen from another, and how it changes.

With R the axes of j seen from i, w = vec(R - Rᵀ) / 2 = n sin φ and s = (3 - tr R) / 4 = sin²(φ/2),
the rotation vector is

    n φ = w g(s) / √(1 - s),      g(s) = asin(√s) / √s = φ / (2 sin(φ/2)),

g being analytic at zero, where a series stands for it.  Every quantity here is a product of axes of
the two bodies, whose rates are (ω_j - ω_i) · lever; so the levers of n φ follow by the chain rule,
and a moment -k φ lever has exactly the power of the energy k φ² / 2.  It is singular where φ = π,
which has two rotation vectors.
"""

from __future__ import annotations

from math import comb

from biela.atoms import Atom, asin, maximum, select, sqrt
from biela.model.pair import Pair
from biela.space import Vector
from biela.space.vectors import total

#: Below this s the series, of which the first term left out is 1e-18 of the whole.
_SMALL = 0.01
_TERMS = 9
#: Coefficients of asin(√s) / √s.
_SERIES = [comb(2 * n, n) / (4**n * (2 * n + 1)) for n in range(_TERMS)]


def rotation_vector(pair: Pair) -> tuple[list[Atom], list[Vector]]:
    """The components of n φ along the axes of i, and the lever of each."""
    axes = [(pair.i.axis(letter), pair.j.axis(letter)) for letter in "xyz"]
    s = (3 - sum((a.dot(b) for a, b in axes[1:]), axes[0][0].dot(axes[0][1]))) / 4
    s_lever = total(pair.space, [b.cross(a) for a, b in axes]) * -0.25
    g, slope = _arc(s)
    cosine = sqrt(1 - s)
    factor = g / cosine
    # d(g / √(1 - s)) / ds
    of_factor = (slope + g / (2 * (1 - s))) / cosine
    components, levers = [], []
    for k in range(3):
        (a_1, b_1), (a_2, b_2) = axes[(k + 1) % 3], axes[(k + 2) % 3]
        w = (a_2.dot(b_1) - a_1.dot(b_2)) / 2
        w_lever = (b_1.cross(a_2) - b_2.cross(a_1)) / 2
        components.append(w * factor)
        levers.append(w_lever * factor + s_lever * (w * of_factor))
    return components, levers


def _arc(s: Atom) -> tuple[Atom, Atom]:
    """G and its derivative."""
    ws = s.workspace
    series, slope = ws.atom(0), ws.atom(0)
    for n in range(_TERMS - 1, -1, -1):
        series = series * s + _SERIES[n]
    for n in range(_TERMS - 1, 0, -1):
        slope = slope * s + n * _SERIES[n]
    far = maximum(s, _SMALL)  # the branch that is not taken must be finite too
    root = sqrt(far)
    exact = asin(root) / root
    exact_slope = (1 / sqrt(1 - far) - exact) / (2 * far)
    near = s < _SMALL
    return select(near, series, exact), select(near, slope, exact_slope)
