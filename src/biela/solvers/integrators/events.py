"""Signs of event functions: which of them changed over a step, and which one stops it.

`signs` is kept from call to call. It holds the sign each function had at the start of the step, or
FIRED for an event that has just stopped the integration: that one has no sign at the restart,
so that it does not stop it again, whatever rounding or the caller have made of the state.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Real, Vector, routine
from biela.solvers.integrators.roots import sign

__all__ = ["FIRED", "crossing", "event_tolerance", "fire", "first_signs", "keep_signs"]

FIRED = 2

EVENT_TOLERANCE = 2.5e-13  # s: width of the bracket in which an event is left, at most
EVENT_SHARE = 2.5e-10  # … and as a share of the step, for motions of microseconds
EPSILON = 2.220446049250313e-16


@routine()
def event_tolerance(h: Real, elapsed: Real) -> Real:
    """Return how closely an event in a step of length h is located, s.

    `elapsed` is the time since the start of the integration, which rounds the result.
    """
    return max(min(EVENT_TOLERANCE, EVENT_SHARE * h), 2.0 * EPSILON * abs(elapsed))


@routine(t="1", x="n", p="m", events="1, n, m -> ne", signs="ne", fired="ne", g="ne")
def first_signs(
    n: Int,
    m: Int,
    ne: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    events: Kernel,
    signs: IntVector,
    fired: IntVector,
    g: Vector,
) -> None:
    """Set the signs at the start of an integration, and forget what fired before it."""
    if ne > 0:
        events(t, x, p, g)
    for i in range(ne):
        signs[i] = 0 if signs[i] == FIRED else sign(g[i])
        fired[i] = 0


@routine()
def crossing(before: Int, after: Int, direction: Int) -> Int:
    """Return 1 (rising) or -1 (falling) if a sign has changed in the direction asked for, else 0.

    Zero at the end counts as changed; zero at the start has no sign to change from.
    """
    if before == 0 or after == before or (direction != 0 and direction == before):
        return 0
    return -before


@routine(g="ne", directions="ne", signs="ne", fired="ne")
def fire(ne: Int, g: Vector, directions: IntVector, signs: IntVector, fired: IntVector) -> None:
    """Note the events that have their sign changed in g, the values at the place of the stop."""
    for i in range(ne):
        fired[i] = crossing(signs[i], sign(g[i]), directions[i])
        signs[i] = FIRED if fired[i] != 0 else sign(g[i])


@routine(g0="ne", g1="ne", signs="ne")
def keep_signs(ne: Int, g0: Vector, g1: Vector, signs: IntVector) -> None:
    """Take the values at the end of a step, g1, for those at the start of the next, g0."""
    for i in range(ne):
        g0[i] = g1[i]
        signs[i] = sign(g1[i])
