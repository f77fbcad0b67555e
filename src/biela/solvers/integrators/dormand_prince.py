"""The pair of Dormand & Prince of order 5(4), with a continuous solution of order four.

Dormand & Prince 1980, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6;
Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, §II.5 and §II.6.
"""

from __future__ import annotations

import numpy as np

from biela.solvers.integrators.embedded import Tableau, embedded_pair

__all__ = ["DORMAND_PRINCE", "dormand_prince"]

_A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
_C = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
_E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]

# the term by which the continuous solution differs from the cubic Hermite polynomial
_QUARTIC = [
    -12715105075 / 11282082432,
    0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
]


def _continuous() -> list[list[float]]:
    """Powers of θ in θ Δ + θ(1-θ) (k1 - Δ) + θ²(1-θ) (2Δ - k1 - k7) + θ²(1-θ)² quartic."""
    difference = np.array([*_A[6], 0.0])
    k1, k7 = np.eye(7)[0], np.eye(7)[6]
    cubic = 2 * difference - k1 - k7
    quartic = np.array(_QUARTIC)
    square = difference - k1 + cubic + quartic
    powers = np.array([k1, square, -cubic - 2 * quartic, quartic])
    return [[float(d) for d in row] for row in powers.T]


DORMAND_PRINCE = Tableau(5, 4, _A, _C, _E, _continuous())

dormand_prince = embedded_pair("dormand_prince", DORMAND_PRINCE)
