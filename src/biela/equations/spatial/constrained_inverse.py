"""Inverse dynamics of a model with closed loops: the forces of its motors.

A motion v' needs r = M v' + ξ along the velocities of the tree, and the loops give -Jᵀ λ:

    τ = r + Jᵀ λ   along the velocities with a motor,      0 = r + Jᵀ λ   along the others.

With J_p the columns without a motor, the least forces in the norm Σ τ² are those with

    [ J Jᵀ   J_p ] [ λ ]     [ J r ]
    [ J_pᵀ   0   ] [ μ ] = - [ r_p ],

which is square and regular where each motion of the mechanism moves a motor; with as many motors
as freedoms there is one solution only (Nakamura & Ghodoussi 1989, Dynamics computation of
closed-link robot mechanisms with nonredundant and redundant actuators, IEEE Trans. Robotics and
Automation 5(3)).  Rows of J that depend on others are dropped by a select.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, select
from biela.equations.elimination import DROP_TOLERANCE, factorise
from biela.equations.ranked_rows import RankedRows
from biela.equations.spatial.newton_euler import inverse_dynamics
from biela.equations.spatial.rows import LoopRow, jacobian
from biela.equations.spatial.sampling import Samples
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, zero
from biela.errors import ModelError, UnknownNameError
from biela.singular_values import svd
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]

#: A singular value below this part of the largest is rounding.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class MotorForces:
    """Forces τ along all velocities, zero without a motor, and multipliers of the loops."""

    tau: list[Atom]
    multipliers: list[Atom]


def motor_forces(
    tree: SpatialTree,
    rows: Sequence[LoopRow],
    actuated: Sequence[int],
    *,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
    ranked: Sequence[RankedRows] = (),
) -> MotorForces:
    """The forces of the motors along the velocities ``actuated`` for the motion (v, a).

    ``ranked`` are rows that depend on each other wherever the loops are closed.

    Raises:
        ModelError: The motors cannot hold the mechanism; the message names what moves.
    """
    J = jacobian(tree, rows)
    r = inverse_dynamics(tree, tree.v, tree.a, wrenches=wrenches).tau
    passive = [k for k in range(len(tree.v)) if k not in set(actuated)]
    samples = Samples(tree)
    values = samples.of([x for row in J for x in row]).reshape(samples.count, len(J), len(tree.v))
    check_motors(tree.model.name, tree.v_names, passive, values[0])
    n, m = len(rows), len(passive)
    held = _held(tree, J, ranked)
    J = [[select(flag, 0, x) for x in row] if flag is not None else row for row, flag in held]
    A: list[list[Scalar]] = [[0.0] * (n + m) for _ in range(n + m)]
    for i in range(n):
        for j in range(i + 1):
            A[i][j] = A[j][i] = dot(J[i], J[j])
        if (left_out := held[i][1]) is not None:
            A[i][i] = A[i][i] + left_out
        for j, k in enumerate(passive):
            A[i][n + j] = A[n + j][i] = J[i][k]
    right = [-dot(row, r) for row in J] + [-r[k] for k in passive]
    lam = _solution(tree, A, right)[:n]
    columns = list(zip(*J, strict=True)) if J else [()] * len(r)
    tau = [r[k] + dot(columns[k], lam) if k in set(actuated) else 0.0 for k in range(len(tree.v))]
    atom = tree.workspace.atom
    return MotorForces([atom(x) for x in tau], [atom(x) for x in lam])


def _held(
    tree: SpatialTree, J: list[list[Scalar]], ranked: Sequence[RankedRows]
) -> list[tuple[list[Scalar], Atom | None]]:
    """The rows, each with the condition that it is left out; None where it never is."""
    if not ranked:
        return [(row, None) for row in J]
    atom = tree.workspace.atom
    G = [[atom(dot(a, b)) for b in J] for a in J]
    sets = [replace(found, sizes=found.lengths) for found in ranked]
    dropped = factorise(G, range(len(J)), DROP_TOLERANCE, ranked=sets).dropped
    taken = {k for found in ranked for k in found.rows}
    return [(row, dropped[k] if k in taken else None) for k, row in enumerate(J)]


def motors(tree: SpatialTree, names: Sequence[str] | None) -> list[int]:
    """The numbers of the velocities of joints or "joint.coordinate"; all for None.

    Raises:
        UnknownNameError: There is no such joint in the tree.
    """
    if names is None:
        return list(range(len(tree.v)))
    found: list[int] = []
    for name in names:
        own = [
            k
            for k, v in enumerate(tree.v_names)
            if v == name or v == f"{name}_rate" or v.rpartition(".")[0] == name
        ]
        if not own:
            known = [v.removesuffix("_rate") for v in tree.v_names]
            raise UnknownNameError(
                f"{tree.model.name}: no joint {name!r} of the tree can have a motor"
                f"{nearest(name, known)}; there are {', '.join(known)}"
            )
        found += own
    return sorted(set(found))


def check_motors(model: str, v_names: Sequence[str], passive: Sequence[int], J: Floats) -> None:
    """Refuse motors that leave a freedom of the mechanism loose.

    Raises:
        ModelError: That names the velocities without a motor that can still move.
    """
    held = J[:, list(passive)]
    if not len(passive):
        return
    _, s, V = svd(held)
    rank = int((s > _RANK * max(float(s.max(initial=0.0)), 1e-300)).sum()) if len(s) else 0
    loose = len(passive) - rank
    if loose:
        moving = np.abs(V[rank:]).max(axis=0) > 1e-6
        names = [
            v_names[k].removesuffix("_rate") for k, m in zip(passive, moving, strict=True) if m
        ]
        raise ModelError(
            f"{model}: the motors leave {loose} of its freedoms loose: with all of them held, "
            f"{', '.join(names)} can move; actuate {'one' if loose == 1 else f'{loose}'} of these"
        )


def _solution(tree: SpatialTree, A: list[list[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """A x = right by A = L D Lᵀ in the order given, with rows that depend on others dropped."""
    n, atom = len(A), tree.workspace.atom
    rest = [list(row) for row in A]
    magnitude = [abs(atom(rest[k][k])) for k in range(n)]
    x = list(right)
    inverse: list[Scalar] = []
    for k in range(n):
        pivot = rest[k][k]
        if zero(pivot):
            inverse.append(0.0)
            continue
        dropped = abs(atom(pivot)) <= DROP_TOLERANCE * magnitude[k]
        inverse.append(select(dropped, 0, 1.0 / pivot))
        for i in range(k + 1, n):
            if zero(rest[i][k]):
                continue
            part = rest[i][k] * inverse[k]
            x[i] = x[i] - part * x[k]
            for j in range(k + 1, i + 1):
                if not zero(rest[j][k]):
                    change = part * rest[j][k]
                    rest[i][j] = rest[i][j] - change
                    if i == j:
                        magnitude[i] = magnitude[i] + abs(atom(change))
    for k in reversed(range(n)):
        # rest[i][k] below the pivot is that of L times the pivot
        total = x[k]
        for i in range(k + 1, n):
            if not zero(rest[i][k]):
                total = total - rest[i][k] * x[i]
        x[k] = total * inverse[k]
    return x
