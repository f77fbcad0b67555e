"""Projections back onto the constraints, of positions and of velocities.

    [ W    Φ_vᵀ ] [ δ ]   [ 0  ]          [ W    Φ_vᵀ ] [ δv ]   [ 0         ]
    [ Φ_v  0    ] [ μ ] = [ -Φ ],         [ Φ_v  0    ] [ ν  ] = [ β - Φ_v v ]

the smallest change in the metric W that satisfies the linearised equations (García de Jalón & Bayo
1994, §5.3; Plaza 2015, eqs 2.44 and 2.45 with the sign of 2.43).  W = M keeps the momentum along
the motions allowed and never adds kinetic energy; W = 1 is cheaper.  One kernel does one
correction: the position needs a few, the velocity one.
"""

from __future__ import annotations

from biela.analysis.formulations.saddle import Saddle, geometric, identity
from biela.analysis.unrolled import Matrix, Row, Unrolled, largest
from biela.atoms import select
from biela.code import Function
from biela.equations.elimination import Stiffening

#: Geometric constraints that depend on others to this part are not corrected: the correction of
#: rounding errors would be magnified by its inverse root, and could throw a mechanism off its
#: branch where it passes a singular position.
DROP = 1e-8


def metric(unrolled: Unrolled, name: str) -> Matrix:
    """M or the identity."""
    return unrolled.M if name == "M" else identity(unrolled)


def metrics(
    unrolled: Unrolled, W: str, stiffening: Stiffening
) -> tuple[Matrix, Stiffening, Matrix, Stiffening]:
    """The metric of velocities and that of positions, each with what makes it definite."""
    chosen = stiffening if W == "M" else stiffening.for_unit_metric
    matrix = metric(unrolled, W)
    # where only velocity constraints make M definite, positions have the unit metric
    if all(k < unrolled.system.geometric for k in chosen.rows):
        return matrix, chosen, matrix, chosen
    return matrix, chosen, identity(unrolled), stiffening.for_unit_metric


def position_correction(
    unrolled: Unrolled, W: Matrix, stiffening: Stiffening, extra: tuple[Row, Matrix] = ([], [])
) -> tuple[Row, Row]:
    """The position after one correction, and the residual before it.

    ``extra`` are further equations and their rows, held together with the constraints.
    """
    rows = geometric(unrolled.system, unrolled.Phi_v) + extra[1]
    residual = [*unrolled.Phi, *extra[0]]
    saddle = Saddle(W, rows, stiffening.for_positions, drop=DROP)
    zero = [unrolled.zero] * len(unrolled.v)
    delta, _ = saddle.solve(zero, [-r for r in residual])
    return unrolled.moved(delta), residual


def velocity_correction(unrolled: Unrolled, W: Matrix, stiffening: Stiffening) -> tuple[Row, Row]:
    """The velocity after the correction, and the residual before it."""
    # with the factors of the accelerations, if the metric is M
    saddle = Saddle(W, unrolled.Phi_v, stiffening)
    zero = [unrolled.zero] * len(unrolled.v)
    delta, _ = saddle.solve(zero, [-r for r in unrolled.dPhi])
    return [v + d for v, d in zip(unrolled.v, delta, strict=True)], unrolled.dPhi


def normalising(unrolled: Unrolled, before: Row, after: Row, state: Row) -> Function | None:
    """The kernel that restores unit norms, of a state with ``before`` and ``after`` around q.

    None where there are none to restore.
    """
    q, change = unrolled.normalised()
    if not change:
        return None
    size = largest(change, unrolled.zero)
    return unrolled.kernel("normalise", {"y": [*before, *q, *after, size]}, state)


def projections(
    unrolled: Unrolled, W: str, stiffening: Stiffening, threshold: float = 0.0
) -> tuple[Function | None, Function | None]:
    """The kernels that correct the state (q, v) at position and at velocity level.

    The first restores unit norms too, whatever the violation: the ``threshold`` above which to
    project is therefore looked at inside of them, where there are such norms.
    """
    state = [*unrolled.q, *unrolled.v]
    if not unrolled.constrained:
        return normalising(unrolled, [], unrolled.v, state), None
    matrix, chosen, W_q, part = metrics(unrolled, W, stiffening)
    on_position: Function | None = None
    if unrolled.system.geometric:
        q, residual = position_correction(unrolled, W_q, part)
        size = largest(residual, unrolled.zero)
        unit, change = unrolled.normalised()
        if change and threshold:
            violated = size > threshold
            q = [select(violated, a, b) for a, b in zip(q, unit, strict=True)]
        if change:
            size = largest([size, *change], unrolled.zero)
        on_position = unrolled.kernel("project_q", {"y": [*q, *unrolled.v, size]})
    else:
        on_position = normalising(unrolled, [], unrolled.v, state)
    v, residual = velocity_correction(unrolled, matrix, chosen)
    size = largest(residual, unrolled.zero)
    if threshold and "retract" in unrolled.system:
        size = select(size > threshold, size, 0)
    on_velocity = unrolled.kernel("project_v", {"y": [*unrolled.q, *v, size]})
    return on_position, on_velocity
