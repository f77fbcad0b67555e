"""Planar linkages solved by hand: complex points with their velocity and acceleration.

A point x + i z that moves is kept with its first and second time derivative, and every operation
carries the three along (truncated Taylor series).  A linkage is then solved with ruler and compass:
a pin on two bars is where two circles meet.  Nothing here knows of biela.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.complex128]


class Moving:
    """A complex number in time: (value, velocity, acceleration) at many instants (3, n)."""

    def __init__(self, parts: npt.ArrayLike) -> None:
        self.parts: Numbers = np.asarray(parts, dtype=complex)

    @classmethod
    def of(cls, other: Moving | complex) -> Moving:
        """A constant, or what moves already."""
        return other if isinstance(other, Moving) else cls(np.array([[other], [0], [0]]))

    def __add__(self, other: Moving | complex) -> Moving:
        return Moving(self.parts + Moving.of(other).parts)

    def __neg__(self) -> Moving:
        return Moving(-self.parts)

    def __sub__(self, other: Moving | complex) -> Moving:
        return self + -Moving.of(other)

    def __mul__(self, other: Moving | complex) -> Moving:
        (a, da, dda), (b, db, ddb) = self.parts, Moving.of(other).parts
        return Moving([a * b, da * b + a * db, dda * b + 2 * da * db + a * ddb])

    def __truediv__(self, other: Moving | complex) -> Moving:
        b, db, ddb = Moving.of(other).parts
        return self * Moving([1 / b, -db / b**2, 2 * db**2 / b**3 - ddb / b**2])

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: complex) -> Moving:
        return -self + other

    @property
    def conjugate(self) -> Moving:
        """x - i z."""
        return Moving(self.parts.conj())

    @property
    def x(self) -> Moving:
        """The part along x, a real number in time."""
        return Moving(self.parts.real)

    @property
    def z(self) -> Moving:
        """The part along z, a real number in time."""
        return Moving(self.parts.imag)

    @property
    def root(self) -> Moving:
        """The square root."""
        a, da, dda = self.parts
        r = np.sqrt(a)
        return Moving([r, da / (2 * r), dda / (2 * r) - da**2 / (4 * r**3)])

    @property
    def length(self) -> Moving:
        """The distance from zero."""
        return (self * self.conjugate).x.root

    @property
    def direction(self) -> Moving:
        """The unit vector."""
        return self / self.length

    @property
    def angle(self) -> npt.NDArray[np.float64]:
        """Angle, its rate and its second rate (3, n): the imaginary part of the logarithm."""
        a, da, dda = self.parts
        return np.array([np.unwrap(np.angle(a)), (da / a).imag, (dda / a - (da / a) ** 2).imag])


def turning(angle: Moving) -> Moving:
    """The unit vector at an angle."""
    a, da, dda = angle.parts
    u = np.exp(1j * a)
    return Moving([u, 1j * da * u, (1j * dda - da**2) * u])


def steady(t: npt.NDArray[np.float64], start: float, speed: float) -> Moving:
    """The angle start + speed t."""
    return Moving([start + speed * t, speed + 0 * t, 0 * t])


def swinging(t: npt.NDArray[np.float64], middle: float, swing: float, speed: float) -> Moving:
    """The angle or length middle + swing sin(speed t)."""
    sine, cosine = np.sin(speed * t), np.cos(speed * t)
    return Moving([middle + swing * sine, swing * speed * cosine, -swing * speed**2 * sine])


def meeting(
    A: Moving | complex, a: Moving | float, B: Moving | complex, b: Moving | float
) -> Moving:
    """Where circles about A and B meet, to the left of the way from A to B."""
    way = Moving.of(B) - Moving.of(A)
    d = way.length
    a, b = Moving.of(a), Moving.of(b)
    along = (a * a - b * b + d * d) / (2.0 * d)
    beside = (a * a - along * along).root
    return A + (along + 1j * beside) * way / d
