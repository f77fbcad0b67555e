"""The angle of a direction as sums and products, which run in all lanes of the processor at once.

atan2 of the C library is called lane by lane, and would cost more than all the rest of a dyad.
With the smaller and the larger of |x| and |y|, m and M, and half an octant taken off where m is
above M tan(π/8),

    angle = k π/4 ± atan z,    z = m / M  or  (m - M) / (m + M),    |z| ≤ tan(π/8)
    atan z = z + z³ p(z²)

with one division; p is the interpolation of (atan z - z) / z³ at Chebyshev nodes, which is within
rounding of it.  (Muller, Elementary Functions, 3rd ed., 2016, chs 3 and 11.)
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from biela.atoms import Atom, maximum, minimum, select

__all__ = ["angle_of"]

_HALF_OCTANT: Final = math.tan(math.pi / 8)
_DEGREE: Final = 11
#: What a quotient is divided by at least: the angle of nothing is 0.
_TINY: Final = 1e-300


@cache
def _coefficients() -> tuple[float, ...]:
    """Of p, from the constant term on."""

    def p(u: float) -> float:
        # the series: the difference of atan z and z loses digits for small z
        total, power = 0.0, 1.0
        for k in range(1, 200):
            total += (-1) ** k * power / (2 * k + 1)
            power *= u
        return total

    top = _HALF_OCTANT**2
    found = np.polynomial.Chebyshev.interpolate(
        np.vectorize(p), _DEGREE, domain=[0.0, top]
    ).convert(kind=np.polynomial.Polynomial)
    return tuple(float(c) for c in found.coef)


def angle_of(y: Atom, x: Atom) -> Atom:
    """The angle of the vector (x, y), between -π and π, as `biela.atoms.atan2` gives it."""
    ax, ay = maximum(x, -x), maximum(y, -y)
    least, most = minimum(ax, ay), maximum(maximum(ax, ay), _TINY)
    upper = least > _HALF_OCTANT * most
    z = select(upper, least - most, least) / select(upper, least + most, most)
    u = z * z
    coefficients = _coefficients()
    p = u * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        p = p * u + c
    angle = select(upper, math.pi / 4, 0.0) + (z + z * u * p)
    angle = select(ay > ax, math.pi / 2 - angle, angle)
    angle = select(x < 0, math.pi - angle, angle)
    return select(y < 0, -angle, angle)
