"""Sizes of errors as shares of the tolerance, and the first step.

    weighted root mean square   √(1/n Σ (e_i / (a_i + r max(|x_i|, |y_i|)))²)
    MATLAB's                    max_i |e_i| / max(a_i, r max(|x_i|, |y_i|))

with the relative tolerance r and the absolute tolerances a_i.
"""

from __future__ import annotations

from math import pow, sqrt

from biela.code.routines import Int, IntVector, Kernel, Real, Vector, routine
from biela.solvers.integrators.adaptive_memory import (
    CONVENTION,
    COUNTS,
    EVALUATIONS,
    FIRST,
    H_MAX,
    NOW,
    RTOL,
    STORE,
)

__all__ = ["error_norm", "first_step"]


@routine(e="n", x="n", y="n", atol="n")
def error_norm(
    n: Int, convention: Int, rtol: Real, e: Vector, x: Vector, y: Vector, atol: Vector
) -> Real:
    """Return the size of e beside states x and y: at most 1 is within the tolerance."""
    total = 0.0
    for i in range(n):
        size = rtol * max(abs(x[i]), abs(y[i]))
        if convention == 1:
            share = abs(e[i]) / max(size, atol[i])
            # written so that a nan is kept
            total = total if share <= total else share
        else:
            total += (e[i] / (atol[i] + size)) ** 2
    return total if convention == 1 else sqrt(total / n)


@routine(
    t="1",
    x="n",
    p="m",
    f="1, n, m -> n",
    slope="n",
    atol="n",
    store=str(STORE),
    counts=str(COUNTS),
    y="n",
    e="n",
)
def first_step(
    n: Int,
    m: Int,
    order: Int,
    end: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    slope: Vector,
    atol: Vector,
    store: Vector,
    counts: IntVector,
    y: Vector,
    e: Vector,
) -> Real:
    """Return a first step for a method of the order, where `slope` is f(t, x, p).

    From the sizes of x, x' and of x'' by one Euler step (Hairer, Nørsett & Wanner 1993, §II.4);
    with MATLAB's convention from those of x and x' alone. y and e are scratch.
    """
    longest = min(store[H_MAX], end - store[NOW])
    if store[FIRST] > 0.0:
        return float(min(store[FIRST], longest))
    d1 = error_norm(n, counts[CONVENTION], store[RTOL], slope, x, x, atol)
    if counts[CONVENTION] == 1:
        rate = d1 * store[RTOL] / (0.8 * pow(store[RTOL], 1.0 / order))
        return float(1.0 / rate if longest * rate > 1.0 else longest)
    d0 = error_norm(n, 0, store[RTOL], x, x, x, atol)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, longest)
    start = t[0]
    for i in range(n):
        y[i] = x[i] + h0 * slope[i]
    t[0] = start + h0
    f(t, y, p, e)
    t[0] = start
    counts[EVALUATIONS] += 1
    for i in range(n):
        e[i] -= slope[i]
    d2 = error_norm(n, 0, store[RTOL], e, x, x, atol) / h0
    largest = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3) if largest <= 1e-15 else pow(0.01 / largest, 1.0 / order)
    # a slope that is not finite there says nothing but: be careful
    return float(min(min(100.0 * h0, h1), longest) if largest < 1e300 else h0)
