"""A system with four coordinates and three velocities, written down function by function."""

from __future__ import annotations

import biela as bl
from biela.equations import Quantity


def spinning_body(A: float, B: float, C: float) -> bl.System:
    """A free body with unit quaternion (e0, e) and angular velocity in its own axes.

    q' = N(q) ω with four rates of three velocities; Euler's equations I ω' = -ω x I ω.
    """
    ws = bl.Workspace("body")
    e = ws.symbols("e0 e1 e2 e3")
    w = ws.symbols("w1 w2 w3")
    rates = [
        (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]) / 2,
        (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]) / 2,
        (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]) / 2,
        (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]) / 2,
    ]
    zero = ws.atom(0)
    M = [[ws.atom(x) if i == j else zero for j in range(3)] for i, x in enumerate((A, B, C))]
    Q = [(B - C) * w[1] * w[2], (C - A) * w[2] * w[0], (A - B) * w[0] * w[1]]
    inputs = {"t": ws.time, "q": list(e), "v": list(w), "u": [], "p": []}
    made = {"rates": rates, "M": M, "Q": Q}
    return bl.System(
        "body",
        tuple(Quantity(x.name, value=float(k == 0)) for k, x in enumerate(e)),
        tuple(Quantity(x.name, "rad/s") for x in w),
        functions={name: bl.Function(name, inputs, {name: entry}) for name, entry in made.items()},
    )
