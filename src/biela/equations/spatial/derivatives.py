"""Derivatives of the dynamics along displacements, velocities and forces.

A displacement δ of the coordinates is measured by velocities: q ⊕ δ, so that a quaternion has three
columns.  The graph of a recursion can be differentiated itself: a vector carried through the joint
of a column, Rᵀ x, has the derivative -z × Rᵀ x, whose atoms are there already, and what a column
does not move costs nothing.  For more than a few joints the closed form takes half the operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from biela.atoms import Atom, directional, substitute
from biela.equations.spatial import analytic_derivatives
from biela.equations.spatial.composite import mass_matrix
from biela.equations.spatial.factorisation import Factors, factorised, inverse_of_factors
from biela.equations.spatial.newton_euler import bias, coriolis_forces, inverse_dynamics
from biela.equations.spatial.one_frame import size
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, skew, zero

#: Velocities up to which the graph itself is differentiated, too.
_SHORT: Final = 8

Rows = list[list[Atom]]
Wrenches = analytic_derivatives.Wrenches


def by_displacement(tree: SpatialTree, expressions: Sequence[Atom]) -> Rows:
    """The derivatives of expressions by δ, a column for each velocity."""
    columns = [directional(expressions, tree.tangent(k)) for k in range(len(tree.v))]
    return [list(row) for row in zip(*columns, strict=True)]


def by_symbols(expressions: Sequence[Atom], symbols: Sequence[Atom]) -> Rows:
    """The derivatives of expressions by symbols, column by column."""
    columns = [directional(expressions, {symbol: 1.0}) for symbol in symbols]
    return [list(row) for row in zip(*columns, strict=True)]


def inverse_dynamics_derivatives(
    tree: SpatialTree, wrenches: Wrenches | None = None
) -> tuple[Rows, Rows, Rows]:
    """∂τ/∂δ, ∂τ/∂v and ∂τ/∂v' = M, in the way with the fewest operations.

    The graph of a short chain with many zeros is differentiated itself; else it is the closed form
    of `analytic_derivatives`, where that applies.
    """
    found: list[tuple[Rows, Rows, Rows]] = []
    if analytic_derivatives.applies(tree):
        found.append(_in_closed_form(tree, wrenches))
    if not found or len(tree.v) <= _SHORT:
        tau = inverse_dynamics(tree, tree.v, tree.a, wrenches=wrenches).tau
        found.append((by_displacement(tree, tau), by_symbols(tau, tree.v), mass_matrix(tree)))
    return min(found, key=lambda three: size(tree, three))


def _in_closed_form(tree: SpatialTree, wrenches: Wrenches | None) -> tuple[Rows, Rows, Rows]:
    by_q, by_v, M = analytic_derivatives.inverse_dynamics_derivatives(tree, wrenches)
    pushed = [tree.workspace.atom(x) for x in tree.pushed]
    if not all(map(zero, pushed)):
        by_q = [minus(*rows) for rows in zip(by_q, by_displacement(tree, pushed), strict=True)]
        by_v = [minus(*rows) for rows in zip(by_v, by_symbols(pushed, tree.v), strict=True)]
    return _atoms(tree, by_q), _atoms(tree, by_v), _atoms(tree, M)


def forward_dynamics_derivatives(
    tree: SpatialTree, wrenches: Wrenches | None = None
) -> tuple[list[Atom], Rows, Rows, Rows]:
    """V' and ∂v'/∂δ, ∂v'/∂v, ∂v'/∂τ = M⁻¹.

    With τ(q, v, v') the joint forces of a motion, ∂v'/∂x = - M⁻¹ ∂τ/∂x at the v' of the state.
    """
    by_q, by_v, M = inverse_dynamics_derivatives(tree, wrenches)
    a, factors = accelerations_and_factors(tree, M, wrenches)
    # all at once, which keeps the order of the recursions
    flat, n = (
        substitute([x for row in by_q for x in row], dict(zip(tree.a, a, strict=True))),
        len(a),
    )
    by_q = [flat[n * i : n * i + n] for i in range(n)]
    inverse = inverse_of_factors(factors)
    return a, _less(tree, inverse, by_q), _less(tree, inverse, by_v), _atoms(tree, inverse)


def accelerations_and_factors(
    tree: SpatialTree, M: Rows, wrenches: Wrenches | None = None
) -> tuple[list[Atom], Factors]:
    """V' of forces τ, and the factors of M."""
    factors = factorised(M, tree.v_names)
    forces = [t - x for t, x in zip(tree.tau, bias(tree, wrenches=wrenches), strict=True)]
    return [tree.workspace.atom(x) for x in factors.solve(forces)], factors


def _less(tree: SpatialTree, inverse: Sequence[Sequence[Scalar]], rows: Rows) -> Rows:
    columns = list(zip(*rows, strict=True))
    return _atoms(tree, [[-dot(row, column) for column in columns] for row in inverse])


def _atoms(tree: SpatialTree, rows: Sequence[Sequence[Scalar]]) -> Rows:
    return [[tree.workspace.atom(x) for x in row] for row in rows]


def coriolis_matrix(tree: SpatialTree) -> Rows:
    """C with C v the Coriolis and centrifugal forces and M' = C + Cᵀ.

    The forces c are quadratic in v, so that ½ ∂c/∂v is made of Christoffel symbols where the
    velocities are rates of coordinates.  Components ω of an angular velocity are not: their motions
    do not commute, and the connection without torsion has C = ½ ∂c/∂v + ½ M ad(v), with ad(v) = ω×
    for each ball.
    """
    c = coriolis_forces(tree)
    C = [[x / 2 for x in row] for row in by_symbols(c, tree.v)]
    if not tree.quaternions:
        return C
    M = mass_matrix(tree)
    for _, first in tree.quaternions:
        W = skew(tree.v[first : first + 3])
        for row, masses in zip(C, M, strict=True):
            for j in range(3):
                column = [W[i][j] for i in range(3)]
                row[first + j] = row[first + j] + dot(masses[first : first + 3], column) / 2
    return C
