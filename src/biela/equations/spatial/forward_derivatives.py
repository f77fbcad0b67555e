"""Derivatives of forward dynamics, with the mass matrix factorised once for all columns.

    ∂v'/∂x = M⁻¹ b,     M = Lᵀ D L,     b = - ∂τ/∂x for δ and v, the unit matrix for τ,

(Carpentier & Mansard 2018, *Analytical derivatives of rigid body dynamics algorithms*): a solution
for each column of three matrices.  Between branches L has zeros.  The factors and b are straight
code; the solution is the same for every column and runs over them in vector lanes.  Of a humanoid
with 38 freedoms that is 60,000 operations in place of the 156,000 of M⁻¹ b written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from biela.atoms import Atom, Workspace
from biela.code.columns import ColumnFunction
from biela.code.function import Function
from biela.equations.spatial import derivatives
from biela.equations.spatial.arrays import Rotors, external_wrenches, function_of
from biela.equations.spatial.factorisation import Factors
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, zero
from biela.errors import ModelError
from biela.model import Model

_NAME: Final = "forward_dynamics_derivatives"
#: Velocities up to which everything is written out: the columns would be too short for the lanes.
_SHORT: Final = 8


def forward_dynamics_derivatives(
    model: Model,
    method: str = "fastest",
    *,
    external: Sequence[str] = (),
    rotors: Rotors | None = None,
) -> Function:
    """V' and ∂v'/∂δ, ∂v'/∂v, ∂v'/∂τ at (q, v, tau).

    Args:
        model: A tree of bodies.
        method: "columns", a `biela.code.columns.ColumnFunction`; "written out", which is better for
            few freedoms and for many states at once; or "fastest" for one state.
        external: Frames on which wrenches act, along the axes of each, with which they turn.
        rotors: Inertia of rotors by joint.

    Raises:
        ModelError: There is no such method, or joints close loops.
    """
    if method not in ("fastest", "columns", "written out"):
        raise ModelError(
            f"there is no method {method!r}; choose one of fastest, columns, written out"
        )
    tree = SpatialTree(model, rotors=rotors)
    tree.check_open("the derivative of forward dynamics")
    if method == "columns" or (method == "fastest" and len(tree.v) > _SHORT):
        return _by_columns(tree, external)
    given, more = external_wrenches(tree, external)
    a, by_q, by_v, by_tau = derivatives.forward_dynamics_derivatives(tree, given)
    outputs = {"a": a, "a_q": by_q, "a_v": by_v, "a_tau": by_tau}
    return function_of(_NAME, tree, ("q", "v", "tau"), outputs, **more)


def _by_columns(tree: SpatialTree, external: Sequence[str]) -> ColumnFunction:
    n = len(tree.v)
    given, more = external_wrenches(tree, external)
    by_q, by_v, M = derivatives.inverse_dynamics_derivatives(tree, given)
    a, factors = derivatives.accelerations_and_factors(tree, M, given)
    kept = [(i, j) for i in range(n) for j in range(i) if not zero(factors.L[i][j])]
    L = [factors.L[i][j] for i, j in kept] or [0.0]
    outputs = {"a": a, "L": L, "D_inverse": factors.inverse}
    first = function_of("first", tree, ("q", "v", "tau"), outputs, **more)
    b_q, b_v = ([[-x for x in row] for row in rows] for rows in (by_q, by_v))
    outputs = {"b_q": b_q, "b_v": b_v}
    second = function_of("second", tree, ("q", "v"), outputs, motion=tree.a, **more)
    head = _one_after_the_other(f"{_NAME}_head", first, second)
    matrices = {"a_q": "b_q", "a_v": "b_v", "a_tau": ""}
    return ColumnFunction(_NAME, head, _solution(n, kept), ["a"], matrices)


def _one_after_the_other(name: str, first: Function, second: Function) -> Function:
    """Both in one workspace, the accelerations of the first being the motion of the second.

    Written anew, the atoms stand in the order of the recursions, which compiles faster than what a
    substitution leaves.
    """
    ws = Workspace(first.workspace.name)
    taken = {array.name: array for array in (*first.inputs, *second.inputs)}
    del taken["motion"]
    order = [x for x in taken if x not in ("t", "p")] + [x for x in ("t", "p") if x in taken]
    symbols = first.table.symbols
    arrays = {
        key: taken[key].nested(
            [
                Atom(ws.table, ws.table.add_symbol(symbols[ref].name, symbols[ref].kind))
                for ref in taken[key].refs
            ]
        )
        for key in order
    }
    a, L, inverse = first.inline(*(arrays[array.name] for array in first.inputs))
    known = {**arrays, "motion": a}
    b_q, b_v = second.inline(*(known[array.name] for array in second.inputs))
    outputs = {"a": a, "L": L, "D_inverse": inverse, "b_q": b_q, "b_v": b_v}
    return Function(name, arrays, outputs)


def _solution(n: int, kept: list[tuple[int, int]]) -> Function:
    """M⁻¹ b of factors with these entries of L."""
    ws = Workspace("solution")
    entries: list[Atom] = list(ws.inputs([f"L{k + 1}" for k in range(max(len(kept), 1))]))
    inverse: list[Atom] = list(ws.inputs([f"D{k + 1}" for k in range(n)]))
    b: list[Atom] = list(ws.inputs([f"b{k + 1}" for k in range(n)]))
    L: list[list[Scalar]] = [[float(i == j) for j in range(n)] for i in range(n)]
    for (i, j), entry in zip(kept, entries, strict=False):
        L[i][j] = entry
    x = Factors(L, list(inverse)).solve(b)
    return Function("solution", {"L": entries, "D_inverse": inverse, "b": b}, {"x": x})
