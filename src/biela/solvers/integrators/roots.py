"""A root of one equation in a bracket, asked for point by point.

The equation is evaluated by the caller, between `root_point` and `root_update`:

    root_begin(a, ga, b, gb, z)
    for _k in range(ROOT_LIMIT):
        s = root_point(z)
        ...                                    # the equation at s
        if root_update(s, g, tolerance, z) != 0:
            break

The state z is (a, g(a), b, g(b), c, g(c), share): a is the latest point, [a, b] the bracket, c the
point before, and `share` where between a and b the next point lies. Inverse quadratic interpolation
is used where it is safe, bisection elsewhere.

Chandrupatla 1997, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
function without using derivatives, Advances in Engineering Software 28.
"""

from __future__ import annotations

from biela.code.routines import Int, Real, Vector, routine

__all__ = [
    "ROOT_LIMIT",
    "root_after",
    "root_begin",
    "root_close",
    "root_point",
    "root_update",
    "sign",
]

ROOT_LIMIT = 100


@routine()
def sign(g: Real) -> Int:
    """Return -1, 0 or 1; 0 for a nan."""
    if g > 0.0:
        return 1
    if g < 0.0:
        return -1
    return 0


@routine(z="7")
def root_begin(a: Real, ga: Real, b: Real, gb: Real, z: Vector) -> None:
    """Begin with the bracket [a, b], where g has the values ga and gb of opposite sign."""
    z[0] = b
    z[1] = gb
    z[2] = a
    z[3] = ga
    z[4] = a
    z[5] = ga
    # the secant from one end to the other
    z[6] = gb / (gb - ga)


@routine(z="7")
def root_point(z: Vector) -> Real:
    """Return the next point at which g is wanted."""
    s = float(z[0] + z[6] * (z[2] - z[0]))
    return s


@routine(z="7")
def root_update(s: Real, g: Real, tolerance: Real, z: Vector) -> Int:
    """Take note of g(s); return 1 when the bracket is below the tolerance, else 0."""
    if sign(g) == sign(z[1]):
        z[4] = z[0]
        z[5] = z[1]
    else:
        z[4] = z[2]
        z[5] = z[3]
        z[2] = z[0]
        z[3] = z[1]
    z[0] = s
    z[1] = g
    width = abs(z[2] - z[0])
    if g == 0.0 or width <= tolerance:
        return 1

    xi = (z[0] - z[2]) / (z[4] - z[2])
    phi = (z[1] - z[3]) / (z[5] - z[3])
    share = 0.5
    if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
        share = z[1] / (z[3] - z[1]) * z[5] / (z[3] - z[5])
        share += (z[4] - z[0]) / (z[2] - z[0]) * z[1] / (z[5] - z[1]) * z[3] / (z[5] - z[3])
    # half the tolerance at least, so that a good guess is closed in from the other side
    margin = min(0.5, 0.5 * tolerance / width)
    z[6] = min(max(share, margin), 1.0 - margin)
    return 0


@routine(z="7")
def root_after(z: Vector) -> Real:
    """Return the end of the bracket that lies later, where g has changed its sign."""
    return float(z[0] if z[1] == 0.0 else max(z[0], z[2]))


@routine(z="7")
def root_close(s: Real, z: Vector) -> None:
    """Put both ends of the bracket at s, where the caller stops."""
    z[0] = s
    z[2] = s
