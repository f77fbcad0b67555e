"""Functions of one variable given by points: cubic splines and linear tables.

Both are piecewise polynomials of degree at most three.  With breakpoints b_0 < … < b_n there are
n + 2 pieces: one before b_0, one for each interval, one after b_n.  Piece k is used where exactly k
breakpoints are <= x, and has the value

    ((c_k3 s + c_k2) s + c_k1) s + c_k0,      s = x - o_k,

with o_k the breakpoint at its left (b_0 for the first piece).  Extrapolation is thus nothing
special, and the derivative of a piecewise polynomial is another one.  Every target evaluates this
one form.

Spline equations: de Boor, *A Practical Guide to Splines* (2001), ch. IV.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from biela.atoms.symbols import checked_name
from biela.errors import DomainError

End = Literal["natural", "clamped", "not-a-knot", "periodic"]
Outside = Literal["linear", "constant", "periodic"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """A piecewise polynomial of one variable; see the module for its form.

    ``breaks`` has n + 1 entries, ``origins`` n + 2, ``coefficients`` n + 2 rows (c_k0 … c_k3).
    ``period`` is 0 unless the function repeats.
    """

    name: str
    breaks: tuple[float, ...]
    origins: tuple[float, ...]
    coefficients: tuple[tuple[float, float, float, float], ...]
    period: float = 0.0
    _derivative: list[PiecewisePolynomial] = field(default_factory=list, repr=False)

    def __call__(self, x: float) -> float:
        """The value at ``x``."""
        if self.period:
            first = self.breaks[0]
            x = x - self.period * float(np.floor((x - first) / self.period))
        k = bisect_right(self.breaks, x)
        s = x - self.origins[k]
        c0, c1, c2, c3 = self.coefficients[k]
        return ((c3 * s + c2) * s + c1) * s + c0

    def derivative(self) -> PiecewisePolynomial:
        """The derivative, a piecewise polynomial on the same breakpoints."""
        if not self._derivative:
            rows = tuple((c1, 2.0 * c2, 3.0 * c3, 0.0) for _, c1, c2, c3 in self.coefficients)
            self._derivative.append(
                PiecewisePolynomial(f"{self.name}_d", self.breaks, self.origins, rows, self.period)
            )
        return self._derivative[0]

    def is_zero(self) -> bool:
        """Whether it is zero everywhere."""
        return not any(any(row) for row in self.coefficients)

    def __reduce__(self) -> tuple[object, ...]:
        """What is stored: not the derivative, which is only remembered."""
        fields = (self.name, self.breaks, self.origins, self.coefficients, self.period)
        return PiecewisePolynomial, fields

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two piecewise polynomials the same function."""
        return (self.name, self.breaks, self.coefficients, self.period)


def table(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    *,
    outside: Outside = "constant",
) -> PiecewisePolynomial:
    """Straight lines through the points (x_i, y_i).

    ``outside`` the range the end value is held (``"constant"``), the end lines go on
    (``"linear"``), or the function repeats (``"periodic"``, y_0 = y_n).
    """
    xs, ys = _points(name, x, y, least=2)
    slopes = np.diff(ys) / np.diff(xs)
    inner = np.column_stack([ys[:-1], slopes, np.zeros_like(slopes), np.zeros_like(slopes)])
    return _assemble(name, xs, inner, (ys[-1], slopes[-1]), outside, ys)


def cubic_spline(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    *,
    end: End = "not-a-knot",
    slopes: tuple[float, float] = (0.0, 0.0),
    outside: Outside = "linear",
) -> PiecewisePolynomial:
    """The cubic spline through the points (x_i, y_i), twice continuously differentiable.

    ``end`` says what holds at the two ends: zero curvature (``"natural"``), the given ``slopes``
    (``"clamped"``), a third derivative continuous across the second and the last but one point
    (``"not-a-knot"``), or a closed curve (``"periodic"``, y_0 = y_n, which then repeats).
    """
    if end not in ("natural", "clamped", "not-a-knot", "periodic"):
        raise DomainError(
            f'{name}: end={end!r}; use "natural", "clamped", "not-a-knot" or "periodic"'
        )
    if not np.isfinite(slopes).all():
        raise DomainError(f"{name}: the slopes at the ends must be finite, not {slopes}")
    xs, ys = _points(name, x, y, least=3 if end == "periodic" else 2)
    if end == "periodic":
        outside = "periodic"
    if end == "not-a-knot" and len(xs) < 4:
        end = "natural" if len(xs) == 2 else "not-a-knot"
    h = np.diff(xs)
    d = _knot_slopes(xs, ys, end, slopes)
    secant = np.diff(ys) / h
    c2 = (3.0 * secant - 2.0 * d[:-1] - d[1:]) / h
    c3 = (d[:-1] + d[1:] - 2.0 * secant) / h**2
    inner = np.column_stack([ys[:-1], d[:-1], c2, c3])
    return _assemble(name, xs, inner, (ys[-1], d[-1]), outside, ys)


def _knot_slopes(xs: Floats, ys: Floats, end: End, slopes: tuple[float, float]) -> Floats:
    """The slopes d_i at the points, from continuity of the second derivative.

    d_{i-1}/h_{i-1} + 2 d_i (1/h_{i-1} + 1/h_i) + d_{i+1}/h_i = 3 (s_{i-1}/h_{i-1} + s_i/h_i).
    """
    n = len(xs)
    h = np.diff(xs)
    s = np.diff(ys) / h
    if end == "not-a-knot" and n == 3:
        # three points and a single cubic: the parabola through them
        bend = (s[1] - s[0]) / (xs[2] - xs[0])
        return np.array([s[0] - bend * h[0], s[0] + bend * h[0], s[1] + bend * h[1]])
    if end == "periodic":
        return _periodic_slopes(h, s)
    lower, diagonal, upper, b = np.zeros(n), np.ones(n), np.zeros(n), np.zeros(n)
    lower[1:-1], upper[1:-1] = 1.0 / h[:-1], 1.0 / h[1:]
    diagonal[1:-1] = 2.0 * (lower[1:-1] + upper[1:-1])
    b[1:-1] = 3.0 * (s[:-1] / h[:-1] + s[1:] / h[1:])
    if end == "clamped":
        b[0], b[-1] = slopes
    elif end == "not-a-knot" and n > 3:
        first, last = h[0] + h[1], h[-1] + h[-2]
        diagonal[0], upper[0] = h[1], first
        b[0] = ((h[0] + 2.0 * first) * h[1] * s[0] + h[0] ** 2 * s[1]) / first
        lower[-1], diagonal[-1] = last, h[-2]
        b[-1] = (h[-1] ** 2 * s[-2] + (2.0 * last + h[-1]) * h[-2] * s[-1]) / last
    else:
        diagonal[0], upper[0], b[0] = 2.0, 1.0, 3.0 * s[0]
        lower[-1], diagonal[-1], b[-1] = 1.0, 2.0, 3.0 * s[-1]
    return _tridiagonal(lower, diagonal, upper, b[:, None])[:, 0]


def _periodic_slopes(h: Floats, s: Floats) -> Floats:
    """The same equations around a circle: tridiagonal but for two corners.

    The corners are a rank-one change, removed by the formula of Sherman and Morrison.
    """
    before, b_before = np.roll(1.0 / h, 1), np.roll(s / h, 1)
    lower, upper = before, 1.0 / h
    diagonal = 2.0 * (lower + upper)
    b = 3.0 * (b_before + s / h)
    m = len(h)
    if m == 2:  # both neighbours are the same point
        d = np.linalg.solve(
            [[diagonal[0], lower[0] + upper[0]], [lower[1] + upper[1], diagonal[1]]], b
        )
        return np.append(d, d[0])
    corner = -diagonal[0]
    changed = diagonal.copy()
    changed[0] -= corner
    changed[-1] -= lower[0] * upper[-1] / corner
    u = np.zeros(m)
    u[0], u[-1] = corner, upper[-1]
    both = _tridiagonal(lower, changed, upper, np.column_stack([b, u]))
    x, z = both[:, 0], both[:, 1]
    v = lower[0] / corner
    d = x - z * (x[0] + v * x[-1]) / (1.0 + z[0] + v * z[-1])
    return np.append(d, d[0])


def _tridiagonal(lower: Floats, diagonal: Floats, upper: Floats, b: Floats) -> Floats:
    """Solve a tridiagonal system; the spline equations need no pivoting.

    ``lower[i]`` multiplies unknown i - 1 and ``upper[i]`` unknown i + 1 in row i.
    """
    d, x = diagonal.copy(), b.copy()
    for i in range(1, len(d)):
        factor = lower[i] / d[i - 1]
        d[i] -= factor * upper[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= d[-1]
    for i in range(len(d) - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return x


def _assemble(
    name: str,
    xs: Floats,
    inner: Floats,
    last: tuple[float, float],
    outside: Outside,
    ys: Floats,
) -> PiecewisePolynomial:
    """Add the pieces before the first and after the last breakpoint."""
    if outside == "periodic":
        if abs(ys[0] - ys[-1]) > 1e-12 * float(np.abs(ys).max()):
            raise DomainError(
                f"{name}: a periodic function needs equal first and last values, "
                f"not {ys[0]} and {ys[-1]}"
            )
        before, after = inner[0], inner[0]
    elif outside == "linear":
        before = np.array([inner[0][0], inner[0][1], 0.0, 0.0])
        after = np.array([last[0], last[1], 0.0, 0.0])
    elif outside == "constant":
        before = np.array([inner[0][0], 0.0, 0.0, 0.0])
        after = np.array([last[0], 0.0, 0.0, 0.0])
    else:
        raise DomainError(f'{name}: outside={outside!r}; use "linear", "constant" or "periodic"')
    rows = np.vstack([before, inner, after]).tolist()
    return PiecewisePolynomial(
        checked_name(name),
        tuple(xs.tolist()),
        (float(xs[0]), *xs.tolist()),
        tuple((c[0], c[1], c[2], c[3]) for c in rows),
        float(xs[-1] - xs[0]) if outside == "periodic" else 0.0,
    )


def _points(name: str, x: Sequence[float], y: Sequence[float], least: int) -> tuple[Floats, Floats]:
    try:
        xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    except (ValueError, TypeError) as error:
        raise DomainError(f"{name}: the points must be numbers: {error}") from None
    if xs.ndim != 1 or xs.shape != ys.shape or len(xs) < least:
        raise DomainError(
            f"{name}: needs two equally long lists of at least {least} numbers, "
            f"not shapes {xs.shape} and {ys.shape}"
        )
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise DomainError(f"{name}: every coordinate of the points must be a finite number")
    steps = np.diff(xs)
    if (steps <= 0).any():
        i = int(np.argmax(steps <= 0))
        raise DomainError(
            f"{name}: x must increase, but x[{i}] = {xs[i]} is followed by x[{i + 1}] = {xs[i + 1]}"
        )
    with np.errstate(all="ignore"):
        largest = np.abs(np.diff(ys) / steps).max() / steps.min() ** 2
    if not np.isfinite(largest):
        i = int(np.argmin(steps))
        raise DomainError(
            f"{name}: x[{i}] = {xs[i]} and x[{i + 1}] = {xs[i + 1]} are too close together for the "
            "derivatives to be doubles: leave one out"
        )
    return xs, ys
