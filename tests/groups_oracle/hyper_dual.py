"""Hyper-dual numbers a + b ε₁ + c ε₂ + d ε₁ε₂: exact first and second derivatives of any formula.

They know nothing of the matrices typed beside a constraint, and are what judges them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class HyperDual:
    """A number with two independent first derivatives and the mixed second one."""

    __slots__ = ("a", "b", "c", "d")

    def __init__(self, a: float, b: float = 0.0, c: float = 0.0, d: float = 0.0) -> None:
        self.a, self.b, self.c, self.d = a, b, c, d

    def __add__(self, other: Any) -> HyperDual:
        o = _dual(other)
        return HyperDual(self.a + o.a, self.b + o.b, self.c + o.c, self.d + o.d)

    def __neg__(self) -> HyperDual:
        return HyperDual(-self.a, -self.b, -self.c, -self.d)

    def __sub__(self, other: Any) -> HyperDual:
        return self + -_dual(other)

    def __rsub__(self, other: Any) -> HyperDual:
        return -self + other

    def __mul__(self, other: Any) -> HyperDual:
        o = _dual(other)
        return HyperDual(
            self.a * o.a,
            self.a * o.b + self.b * o.a,
            self.a * o.c + self.c * o.a,
            self.a * o.d + self.b * o.c + self.c * o.b + self.d * o.a,
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def chained(self, f: float, f1: float, f2: float) -> HyperDual:
        """f(x) from its value and first two derivatives at the real part."""
        return HyperDual(f, f1 * self.b, f1 * self.c, f1 * self.d + f2 * self.b * self.c)


def _dual(x: Any) -> HyperDual:
    return x if isinstance(x, HyperDual) else HyperDual(float(x))


def sin(x: Any) -> Any:
    """The sine of a float or of a hyper-dual number."""
    if not isinstance(x, HyperDual):
        return math.sin(x)
    s, c = math.sin(x.a), math.cos(x.a)
    return x.chained(s, c, -s)


def cos(x: Any) -> Any:
    """The cosine of a float or of a hyper-dual number."""
    if not isinstance(x, HyperDual):
        return math.cos(x)
    s, c = math.sin(x.a), math.cos(x.a)
    return x.chained(c, -s, -c)


def derivatives(f: Callable[[Sequence[Any]], Sequence[Any]], q: Floats) -> tuple[Floats, Floats]:
    """Jacobian (m, n) and tensor of second derivatives (m, n, n) of ``f`` at ``q``."""
    n, rows = len(q), len(f(list(q)))
    jacobian, tensor = np.zeros((rows, n)), np.zeros((rows, n, n))
    for j in range(n):
        for k in range(j, n):
            x = [HyperDual(float(v), float(i == j), float(i == k)) for i, v in enumerate(q)]
            for i, value in enumerate(map(_dual, f(x))):
                jacobian[i, j], jacobian[i, k] = value.b, value.c
                tensor[i, j, k] = tensor[i, k, j] = value.d
    return jacobian, tensor
