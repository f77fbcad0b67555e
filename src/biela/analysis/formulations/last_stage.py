"""The last slope of the classical Runge–Kutta method with the projections after it, in one kernel.

The last slope k4 is taken at the end of the step, at x4 = x + h k3, whose position differs from
that reached by O(h³).  The factors of its matrix therefore serve the projections too,

    x̄ + h/6 k4,    q ← q ⊕ δ,    v ← v + δv,         x̄ = x + h/6 (k1 + 2 k2 + 2 k3),

    [ W    Φ_vᵀ ] [ δ ]   [ 0     ]          [ W    Φ_vᵀ ] [ δv ]   [ 0               ]
    [ Φ_v  0    ] [ μ ] = [ -Φ(q) ],         [ Φ_v  0    ] [ ν  ] = [ β - Φ_v v (q, v) ]

with the matrices at x4 and the right-hand sides at the state to be corrected: simplified Newton
steps, which leave O(h³) of a violation that is O(h⁵).  A step takes four factorisations instead of
six.
"""

from __future__ import annotations

from biela.analysis.formulations.choice import Formulation
from biela.analysis.formulations.projection import DROP, metrics
from biela.analysis.formulations.saddle import Saddle, geometric
from biela.analysis.unrolled import Row, largest
from biela.atoms import Atom, Kind, substitute
from biela.code import Function
from biela.equations.elimination import Stiffening


def last_stage(
    made: Formulation, metric: str, stiffening: Stiffening, position_iterations: int
) -> Function | None:
    """The kernel of t, (x4, x̄, h) and p; it gives the state and both violations found.

    None for formulations that do not project after every step.
    """
    if made.project_v is None or made.threshold > 0.0 or not isinstance(made.f, Function):
        return None
    u = made.unrolled
    reached = [u.workspace.symbol(f"reached_{k}", Kind.VELOCITY) for k in range(made.size)]
    h = u.workspace.symbol("step_length", Kind.VELOCITY)
    slope = made.f.expressions("dx")
    end = [x + h / 6 * k for x, k in zip(reached, slope, strict=True)]
    q, v = end[: len(u.q)], end[len(u.q) :]

    def at(expressions: Row) -> Row:
        values: dict[Atom, Atom | float] = dict(zip([*u.q, *u.v], [*q, *v], strict=True))
        return substitute(expressions, values)

    W, chosen, W_q, part = metrics(u, metric, stiffening)
    zero = [u.zero] * len(u.v)
    missed: Row = []
    if u.system.geometric:
        on_position = Saddle(W_q, geometric(u.system, u.Phi_v), part.for_positions, drop=DROP)
        for k in range(position_iterations):
            residual = at(u.Phi)
            if k == 0:
                missed = [*residual, *u.normalised(q)[1]]
            delta, _ = on_position.solve(zero, [-r for r in residual])
            q = u.moved(delta, q)
    else:
        q, missed = u.normalised(q)
    residual = at(u.dPhi)
    delta, _ = Saddle(W, u.Phi_v, chosen).solve(zero, [-r for r in residual])
    v = [a + b for a, b in zip(v, delta, strict=True)]
    sizes = [largest(missed, u.zero), largest(residual, u.zero)]
    return u.kernel("last_stage", {"y": [*q, *v, *sizes]}, [*made.symbols, *reached, h])
