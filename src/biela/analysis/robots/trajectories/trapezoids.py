"""Trapezoids of velocity: the fastest way over a distance from rest to rest.

With the distance d, the speed V and the acceleration α at most, a way takes

    T = d/V + V/α        if d ≥ V²/α, else  2 √(d/α),

and with more time the speed that makes it take T is the smaller root of V² - α T V + α d = 0
(Siciliano et al. 2009, §4.2.1).  Infinite limits are no limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trapezoid:
    """A way of length 1: acceleration α over ``rise``, constant speed, and the same back.

    ``duration`` may be longer than twice the rise; s is 1 at its end.
    """

    acceleration: float
    rise: float
    duration: float

    @classmethod
    def fastest(cls, velocity: float, acceleration: float) -> Trapezoid:
        """In the least time, for limits of s' and s''."""
        speed = min(velocity, math.sqrt(acceleration))
        return cls(acceleration, speed / acceleration, 1 / speed + speed / acceleration)

    def lasting(self, duration: float) -> Trapezoid:
        """Slower, with the same acceleration, such that it takes a time not below its own."""
        if duration <= self.duration:
            return self
        half = self.acceleration * duration / 2
        # the smaller root, without cancellation
        speed = self.acceleration / (half + math.sqrt(half * half - self.acceleration))
        return Trapezoid(self.acceleration, speed / self.acceleration, duration)

    def coefficients(self, start: float) -> Floats:
        """Coefficients (6,) of s in rising powers of the time after ``start``, in its piece."""
        alpha, rise, end = self.acceleration, self.rise, self.duration
        middle = start
        if middle < rise:
            s, ds, dds = alpha * middle**2 / 2, alpha * middle, alpha
        elif middle < end - rise:
            s, ds, dds = alpha * rise * (middle - rise / 2), alpha * rise, 0.0
        else:
            left = max(end - middle, 0.0)
            s, ds, dds = 1 - alpha * left**2 / 2, alpha * left, -alpha
        return np.array([s, ds, dds / 2, 0.0, 0.0, 0.0])

    @property
    def breaks(self) -> list[float]:
        """The times at which the acceleration changes, both ends included."""
        return [0.0, self.rise, self.duration - self.rise, self.duration]
