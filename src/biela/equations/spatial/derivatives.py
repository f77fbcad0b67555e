"""Derivatives of the dynamics along displacements, velocities and forces.

A displacement δ of the coordinates is measured by velocities: q ⊕ δ, so that a quaternion has three
columns.  The graph of the recursions is differentiated itself: a vector carried through the joint
of a column, Rᵀ x, has the derivative -z × Rᵀ x, whose atoms are there already, and what a column
does not move costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom, directional, substitute
from biela.equations.spatial.composite import mass_matrix
from biela.equations.spatial.factorisation import Factors, factorised, inverse_of_factors
from biela.equations.spatial.newton_euler import bias, coriolis_forces, inverse_dynamics
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, skew

Rows = list[list[Atom]]


def by_displacement(tree: SpatialTree, expressions: Sequence[Atom]) -> Rows:
    """The derivatives of expressions by δ, a column for each velocity."""
    columns = [directional(expressions, tree.tangent(k)) for k in range(len(tree.v))]
    return [list(row) for row in zip(*columns, strict=True)]


def by_symbols(expressions: Sequence[Atom], symbols: Sequence[Atom]) -> Rows:
    """The derivatives of expressions by symbols, column by column."""
    columns = [directional(expressions, {symbol: 1.0}) for symbol in symbols]
    return [list(row) for row in zip(*columns, strict=True)]


def inverse_dynamics_derivatives(tree: SpatialTree) -> tuple[Rows, Rows, Rows]:
    """∂τ/∂δ, ∂τ/∂v and ∂τ/∂v' = M."""
    tau = inverse_dynamics(tree, tree.v, tree.a).tau
    return by_displacement(tree, tau), by_symbols(tau, tree.v), mass_matrix(tree)


def forward_dynamics_derivatives(tree: SpatialTree) -> tuple[list[Atom], Rows, Rows, Rows]:
    """V' and ∂v'/∂δ, ∂v'/∂v, ∂v'/∂τ = M⁻¹.

    With τ(q, v, v') the joint forces of a motion, ∂v'/∂x = - M⁻¹ ∂τ/∂x at the v' of the state.
    """
    a, factors = accelerations_and_factors(tree)
    by_q, by_v = changes_of_forces(tree)
    state = dict(zip(tree.a, a, strict=True))
    by_q = [substitute(row, state) for row in by_q]
    inverse = inverse_of_factors(factors)
    return a, _product(tree, inverse, by_q), _product(tree, inverse, by_v), _atoms(tree, inverse)


def accelerations_and_factors(tree: SpatialTree) -> tuple[list[Atom], Factors]:
    """V' of forces τ, and the factors of M."""
    factors = factorised(mass_matrix(tree), tree.v_names)
    forces = [t - x for t, x in zip(tree.tau, bias(tree), strict=True)]
    return [tree.workspace.atom(x) for x in factors.solve(forces)], factors


def changes_of_forces(tree: SpatialTree) -> tuple[Rows, Rows]:
    """-∂τ/∂δ and -∂τ/∂v at accelerations v'."""
    tau = [-x for x in inverse_dynamics(tree, tree.v, tree.a).tau]
    return by_displacement(tree, tau), by_symbols(tau, tree.v)


def _product(tree: SpatialTree, inverse: Sequence[Sequence[Scalar]], rows: Rows) -> Rows:
    columns = list(zip(*rows, strict=True))
    return _atoms(tree, [[dot(row, column) for column in columns] for row in inverse])


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
