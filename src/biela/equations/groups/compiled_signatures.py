"""Groups as short lists of integers, compiled.  Import it inside functions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.jit import njit

__all__ = ["signatures"]

Integers = npt.NDArray[np.int64]


@njit(
    "UniTuple(int64[::1], 5)(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[:, ::1], int64[:, ::1])",
)
def signatures(
    body_start: Integers,
    bodies: Integers,
    element_start: Integers,
    elements: Integers,
    body_colour: Integers,
    element_colour: Integers,
    attached: Integers,
    referred: Integers,
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """The signature of each group: its bodies and elements with colours, in local numbers.

    Own bodies are 0, 1 … as they come, known ones follow in the order in which they are met, the
    ground is -1 and nothing -2.  Elements referred to are local numbers, or -2 outside the group.

    Returns:
        Where each signature begins and the integers of all; where the known bodies of each group
        begin and those bodies; and their local numbers' count (that of own bodies) for each group.
    """
    groups = len(body_start) - 1
    wide, many = attached.shape[1], referred.shape[1]
    most = len(bodies) + len(elements) * (1 + wide + many) + 2 * groups
    out = np.empty(most, np.int64)
    start = np.zeros(groups + 1, np.int64)
    known = np.empty(len(elements) * wide + 1, np.int64)
    known_start = np.zeros(groups + 1, np.int64)
    own = np.zeros(groups, np.int64)
    count = len(body_colour)
    stamp = np.full(count, -1, np.int64)
    local = np.zeros(count, np.int64)
    element_stamp = np.full(len(element_colour), -1, np.int64)
    element_local = np.zeros(len(element_colour), np.int64)
    at = 0
    met = 0
    for g in range(groups):
        nb = body_start[g + 1] - body_start[g]
        ne = element_start[g + 1] - element_start[g]
        own[g] = nb
        out[at] = nb
        out[at + 1] = ne
        at += 2
        for k in range(nb):
            b = bodies[body_start[g] + k]
            stamp[b] = g
            local[b] = k
            out[at] = body_colour[b]
            at += 1
        for k in range(ne):
            e = elements[element_start[g] + k]
            element_stamp[e] = g
            element_local[e] = k
        more = 0
        for k in range(ne):
            e = elements[element_start[g] + k]
            out[at] = element_colour[e]
            at += 1
            for j in range(wide):
                b = attached[e, j]
                if b >= 0:
                    if stamp[b] != g:
                        stamp[b] = g
                        local[b] = nb + more
                        known[met] = b
                        met += 1
                        more += 1
                    out[at] = local[b]
                else:
                    out[at] = b
                at += 1
            for j in range(many):
                r = referred[e, j]
                out[at] = element_local[r] if r >= 0 and element_stamp[r] == g else -2
                at += 1
        start[g + 1] = at
        known_start[g + 1] = met
    return start, out[:at].copy(), known_start, known[:met].copy(), own
