"""Closed forms and reference figures of the three examples of Peinado's thesis.

The dimensions of the first two are reconstructed from the numbers that the thesis prints; the
third, whose curves it shows out of the literature, has those of the spatial slider-crank of the
IFToMM library of benchmarks.  The thesis prints no error against others: these figures are exact.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Course(NamedTuple):
    """A quantity over time with its first two derivatives."""

    x: Floats
    v: Floats
    a: Floats


def table(text: str, columns: int) -> Floats:
    """The numbers of a printed table."""
    return np.array(text.split(), dtype=float).reshape(-1, columns)


# --- example 1: crank 2 m, rod 3.5 m, slider on the x axis ----------------------------------------

CRANK, ROD = 2.0, 3.5


def crank_angle(t: Floats, omega: float) -> Floats:
    return np.asarray(pi / 4 + omega * t)


def slider(t: Floats, omega: float) -> Course:
    """Of the slider, at the speed ω of the crank."""
    s, c = np.sin(crank_angle(t, omega)), np.cos(crank_angle(t, omega))
    R = np.sqrt(ROD**2 - CRANK**2 * s**2)
    return Course(
        CRANK * c + R,
        omega * (-CRANK * s - CRANK**2 * s * c / R),
        omega**2 * (-CRANK * c - CRANK**2 * (c * c - s * s) / R - CRANK**4 * s * s * c * c / R**3),
    )


def rod_angle(t: Floats, omega: float) -> Course:
    """Of the rod from the x axis: sin ψ = -2 sin θ / 3.5."""
    s, c = np.sin(crank_angle(t, omega)), np.cos(crank_angle(t, omega))
    psi = -np.arcsin(CRANK * s / ROD)
    dpsi = -CRANK * omega * c / (ROD * np.cos(psi))
    ddpsi = (CRANK * omega**2 * s + ROD * np.sin(psi) * dpsi**2) / (ROD * np.cos(psi))
    return Course(psi, dpsi, ddpsi)


#: t; x, v, a at 2π rad/s; x, v, a at 4π rad/s.
SLIDER_TABLE = table(
    """
    0.00 4.615776 -12.810841  -60.643006 4.615776 -25.621681 -242.572023
    0.05 3.920360 -14.571594   -8.814019 3.202140 -27.511344  156.013633
    0.10 3.202140 -13.755672   39.003408 2.104398 -15.643684  251.509149
    0.20 2.104398  -7.821842   62.877287 1.510611   1.703724  138.185419
    0.25 1.787349  -4.960691   51.018822 1.787349   9.921382  204.075286
    0.30 1.598160  -2.697354   40.214925 2.576402  22.135287  254.826195
    0.40 1.510611   0.851862   34.546355 5.162186  17.425343 -401.948742
    0.50 1.787349   4.960691   51.018822 4.615776 -25.621681 -242.572023
    0.60 2.576402  11.067643   63.706549 2.104398 -15.643684  251.509149
    0.70 3.920360  14.571594   -8.814019 1.510611   1.703724  138.185419
    0.80 5.162186   8.712672 -100.487185 2.576402  22.135287  254.826195
    0.90 5.461365  -3.079765 -121.423136 5.162186  17.425343 -401.948742
    0.99 4.740695 -12.157654  -69.902011 4.858630 -22.829531 -314.288197
    """,
    7,
)

#: q, q' and q'' of links 2 to 4 at t = 0 and 2π rad/s, (3, 7) each.
SLIDER_CRANK_START = np.array(
    [
        [
            [0, 0, 0, 0.923880, 0, 0, 0.382683],
            [3.014995, 0.707107, 0, -0.978451, 0, 0, 0.206480],
            [4.615776, 0, 0, 1, 0, 0, 0],
        ],
        [
            [0, 0, 0, -1.202235, 0, 0, 2.902453],
            [-10.848303, 4.442883, 0, 0.286537, 0, 0, 1.357819],
            [-12.810841, 0, 0, 0, 0, 0, 0],
        ],
        [
            [0, 0, 0, -9.118326, 0, 0, -3.776934],
            [-58.236960, -27.915457, 0, 0.435203, 0, 0, -7.264395],
            [-60.643006, 0, 0, 0, 0, 0, 0],
        ],
    ]
)

# --- example 2: an arm of 2 + 2 m on a column of 4 m, its hand led along y ------------------------


def column_angle(t: Floats) -> Course:
    y = 0.5 * t
    return Course(np.arctan(y), 0.5 / (1 + y**2), -0.5 * y / (1 + y**2) ** 2)


def pitch(t: Floats) -> Course:
    """The angle β of both arms with the horizontal: 4 cos β = ρ = √(1 + y²)."""
    y = 0.5 * t
    rho = np.sqrt(1 + y**2)
    drho = 0.5 * y / rho
    ddrho = 0.25 / rho - drho**2 / rho
    beta = np.arccos(rho / 4)
    dbeta = -drho / (4 * np.sin(beta))
    ddbeta = -(ddrho + 4 * np.cos(beta) * dbeta**2) / (4 * np.sin(beta))
    return Course(beta, dbeta, ddbeta)


#: t, y, θ, θ', θ'', β, β', β'', height of the elbow.
ARM_TABLE = table(
    """
    0.0  0.00 0.000000 0.500000  0.000000 1.318116  0.000000 -0.064550 5.93649
    0.2  0.10 0.099669 0.495050 -0.049015 1.316828 -0.012850 -0.063658 5.93585
    0.4  0.20 0.197396 0.480769 -0.092456 1.312999 -0.025352 -0.061113 5.93391
    0.6  0.30 0.291457 0.458716 -0.126252 1.306730 -0.037208 -0.057268 5.93067
    0.8  0.40 0.380506 0.431034 -0.148633 1.298174 -0.048204 -0.052594 5.92614
    1.0  0.50 0.463648 0.400000 -0.160000 1.287514 -0.058222 -0.047565 5.92029
    1.2  0.60 0.540420 0.367647 -0.162197 1.274952 -0.067233 -0.042574 5.91311
    1.4  0.70 0.610726 0.335570 -0.157651 1.260686 -0.075273 -0.037901 5.90460
    1.6  0.80 0.674741 0.304878 -0.148721 1.244902 -0.082425 -0.033708 5.89473
    1.8  0.90 0.732815 0.276243 -0.137358 1.227768 -0.088794 -0.030070 5.88348
    1.98 0.99 0.780373 0.252512 -0.126250 1.211314 -0.093948 -0.027280 5.87216
    2.0  1.00 0.785398 0.250000 -0.125000 1.209429 -0.094491 -0.026997 5.87083
    """,
    9,
)

# --- example 3: crank 0.08 m about the x axis at (0, 0.1, 0.12), slider on the x axis -------------

#: Shortest rod with which the crank turns round, m.
LOCK_UP = float(np.hypot(0.1, 0.12)) + 0.08


def piston(t: Floats, length: float, omega: float = 2 * pi) -> Course:
    s, c = np.sin(omega * t), np.cos(omega * t)
    y, z = 0.1 - 0.08 * s, 0.12 + 0.08 * c
    dy, dz = -0.08 * omega * c, -0.08 * omega * s
    ddy, ddz = 0.08 * omega**2 * s, -0.08 * omega**2 * c
    x = np.sqrt(length**2 - y**2 - z**2)
    w = y * dy + z * dz
    return Course(x, -w / x, -(dy**2 + y * ddy + dz**2 + z * ddz) / x - w**2 / x**3)


#: t; x, v, a with rods of 0.30, 0.27 and 0.24 m.
PISTON_TABLE = table(
    """
    0.0  .200000  .251327  1.579137 .151327  .332164  1.775356 .087178  .576585   .533885
    0.1  .230372  .330422   .051198 .189661  .401347  -.211463 .143776  .529436 -1.108181
    0.25 .274226  .219959 -1.328135 .241039  .250244 -1.570072 .206882  .291561 -1.937509
    0.4  .290065 -.017966 -1.698147 .258916 -.020127 -1.902759 .227459 -.022911 -2.166433
    0.5  .280000 -.179520 -1.468643 .247588 -.203020 -1.697213 .214476 -.234364 -2.023159
    0.6  .255595 -.297815  -.820311 .219610 -.346614 -1.097921 .181462 -.419481 -1.636359
    0.75 .207846 -.290208  1.114318 .161555 -.373363  1.092060 .103923 -.580416  -.202603
    0.9  .185101  .028154  2.655081 .131005  .039779  3.745414 .043154  .120758 11.068785
    """,
    10,
)
