"""A whole step of the classical Runge–Kutta method with projections as one straight line of code.

The state enters a step with its position on the constraints.  The velocity is projected first, with
the factors that the first slope needs anyway; then come the other slopes, the sum, and the
correction of the position:

    v ← v + δv,    k1 … k4,    x ← x + h/6 (k1 + 2 k2 + 2 k3 + k4),    q ← q ⊕ δ.

Nyström's method has two of its slopes at one position, so that it factorises three times only.

Stored states are projected in velocity when they are read.  Compared with separate kernels this
saves one factorisation of six and all that is passed through memory; it takes longer to compile,
so it pays for small systems and for long runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.analysis.formulations import Formulation
from biela.analysis.unrolled import Row
from biela.atoms import Atom, Kind, substitute
from biela.code import Function

#: Systems with up to so many operations in f are worth it in every run, others in long ones.
SMALL = 1000
LONG_RUN = 300_000
#: Integrators that there are fused steps of.
FUSED = ("rk4", "nystrom")


def worth_fusing(made: Formulation, steps: int) -> bool:
    """Whether a fused step pays for a run of so many steps."""
    whole = made.project_v is not None and made.threshold == 0.0 and not made.reduced
    if not whole or not isinstance(made.f, Function):
        return False
    size = len(made.f.schedule.operations)
    return size <= SMALL or (steps >= LONG_RUN and size <= 20 * SMALL)


def fused_step(made: Formulation, position_iterations: int, integrator: str = "rk4") -> Function:
    """The map x ← step(t, x, p) with the length of the step as the last entry of p."""
    u = made.unrolled
    h = u.workspace.symbol("step_length", Kind.PARAMETER)
    x = made.symbols
    n = len(x)
    assert isinstance(made.f, Function), "straight-line code only"
    slope = made.f.expressions("dx")

    def at(expressions: Sequence[Atom], state: Row, time: Atom) -> Row:
        values: dict[Atom, Atom | float] = dict(zip(x, state, strict=True))
        return substitute(list(expressions), {**values, u.t: time})

    def ahead(slopes: Row, length: Atom) -> Row:
        return [a + length * k for a, k in zip(start, slopes, strict=True)]

    assert made.project_v is not None, "asked for with projections only"
    start = list(made.project_v.expressions("y"))[:n]
    half = h / 2
    k1 = at(slope, start, u.t)
    if integrator == "nystrom":
        nq = len(u.q)
        q, v = start[:nq], start[nq:]

        def along(length: Atom, bend: Atom, a: Row) -> Row:
            return [x + length * y + bend * z for x, y, z in zip(q, v, a, strict=True)]

        def faster(length: Atom, a: Row) -> Row:
            return [y + length * z for y, z in zip(v, a, strict=True)]

        middle = along(half, h * h / 8, k1[nq:])
        a1 = k1[nq:]
        a2 = at(slope, [*middle, *faster(half, a1)], u.t + half)[nq:]
        a3 = at(slope, [*middle, *faster(half, a2)], u.t + half)[nq:]
        a4 = at(slope, [*along(h, h * h / 2, a3), *faster(h, a3)], u.t + h)[nq:]
        both = [b + c for b, c in zip(a2, a3, strict=True)]
        bend = [a + b for a, b in zip(a1, both, strict=True)]
        sums = [a + 2 * b + d for a, b, d in zip(a1, both, a4, strict=True)]
        end = [*along(h, h * h / 6, bend), *faster(h / 6, sums)]
    else:
        k2 = at(slope, ahead(k1, half), u.t + half)
        k3 = at(slope, ahead(k2, half), u.t + half)
        k4 = at(slope, ahead(k3, h), u.t + h)
        sums = [a + 2 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
        end = ahead(sums, h / 6)
    if made.project_q is not None:
        corrected = list(made.project_q.expressions("y"))[:n]
        for _ in range(position_iterations):
            end = at(corrected, end, u.t + h)
    name = made.f.name.removesuffix("_rates") + "_step"
    return Function(name, {"t": [u.t], "x": x, "p": [*u.p, *u.u, h]}, {"y": end})
