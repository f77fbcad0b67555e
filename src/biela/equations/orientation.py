"""Orientations by Euler parameters, with the angular velocity as their speeds.

A unit quaternion (e0, e) has four entries and three speeds, the components ω' of the angular
velocity in the turned base:

    ė = ½ Gᵀ ω',     G = [-e, -ẽ + e0 1]

(Nikravesh 1988, §6.3), which keeps |e| = 1.  A displacement δ, a rotation vector in the turned
base, leads to

    e ⊕ δ = e ⊗ (cos ½|δ|, δ sin(½|δ|)/|δ|),

normalised, so that rounding does not add up; its derivative by δ at 0 is that of ė by ω'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom, Workspace, cos, select, sin, sqrt
from biela.space import Base

Quaternion = tuple[Atom, Atom, Atom, Atom]

#: |δ|² below which series are used, whose first neglected terms are below rounding there.
_NEAR = 5e-3


@dataclass(frozen=True)
class Orientation:
    """A base turned by Euler parameters.

    Attributes:
        base: The turned base.
        parameters: The coordinates e0, e1, e2, e3.
        angular_velocity: The speeds: components of the angular velocity in the turned base, rad/s.
    """

    base: Base
    parameters: Quaternion
    angular_velocity: tuple[Atom, Atom, Atom]


def declared(ws: Workspace, name: str, symbols: Quaternion, parent: Base) -> Orientation:
    """The base turned from a parent by four coordinates, whose rates are given here."""
    wx, wy, wz = ws.speeds([f"{name}_w{axis}" for axis in "xyz"])
    for symbol, rate in zip(symbols, product(symbols, (ws.atom(0), wx, wy, wz)), strict=True):
        ws.give_rate(symbol, rate / 2)
    base = parent.by_euler_parameters(name, symbols, (wx, wy, wz))
    return Orientation(base, symbols, (wx, wy, wz))


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The product of two quaternions, a ⊗ b."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def turned(e: Quaternion, delta: Sequence[Atom]) -> Quaternion:
    """E ⊕ δ, normalised."""
    x, y, z = delta
    square = x * x + y * y + z * z
    # a square root and a quotient are never taken at 0, not even in a branch that is not used:
    # the derivatives of both branches are computed, and a nan times 0 is a nan
    near = square < _NEAR
    size = sqrt(select(near, 1, square))
    cosine = 1 - square / 8 * (1 - square / 48 * (1 - square / 120))
    sine = (1 - square / 24 * (1 - square / 80 * (1 - square / 168))) / 2
    cosine = select(near, cosine, cos(size / 2))
    sine = select(near, sine, sin(size / 2) / size)
    after = product(e, (cosine, x * sine, y * sine, z * sine))
    norm = sqrt(sum((a * a for a in after[1:]), after[0] * after[0]))
    return after[0] / norm, after[1] / norm, after[2] / norm, after[3] / norm
