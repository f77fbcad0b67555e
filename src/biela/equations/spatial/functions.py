"""The dynamics of a tree as functions: each takes a model and gives native code.

Every function takes the arrays it needs of ``q`` (coordinates), ``v`` (velocities), ``a``
(accelerations) and ``tau`` (joint forces), in the order and by the names of
`biela.formulate(model)`; then ``wrenches``, a row [moment; force] for each external frame; ``t``,
the time, if forces or drivers of the model depend on it; and last ``p``, the parameters, if the
model has any.  Spatial vectors are [angular; linear].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from biela.atoms import Atom
from biela.code import Function
from biela.equations.spatial import (
    articulated,
    composite,
    derivatives,
    newton_euler,
)
from biela.equations.spatial.arrays import Rotors as Rotors
from biela.equations.spatial.arrays import external_wrenches as external_wrenches
from biela.equations.spatial.arrays import function_of as function_of
from biela.equations.spatial.arrays import held
from biela.equations.spatial.blocks import blocks
from biela.equations.spatial.constraint_forces import constraint_forces
from biela.equations.spatial.displacements import displacement
from biela.equations.spatial.factorisation import factorised, inverse_of
from biela.equations.spatial.inertial_parameters import regressor as regressor_of
from biela.equations.spatial.loop_functions import constrained_forward_dynamics
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, plus, times, transposed
from biela.errors import ModelError
from biela.model import Model

_Accelerations = Callable[..., list[Atom]]

#: Velocities up to which forward dynamics is derived in two ways.
_TRIED: Final = 24
#: An operation of the factorised mass matrix takes this part of the time of one of the recursion by
#: articulated bodies, whose operations wait for each other (measured on chains of 7 to 14 hinges).
_WEIGHT: Final = 0.83


# ---------------------------------------------------------------- inverse dynamics


def inverse_dynamics(
    model: Model,
    *,
    external: Sequence[str] = (),
    forces: bool = False,
    rotors: Rotors | None = None,
) -> Function:
    """τ(q, v, a) by recursive Newton–Euler.

    Args:
        model: A tree of bodies.
        external: Frames on which wrenches act: the function takes them along the axes of each.
        forces: Also give ``forces``, a row for each joint that moves, in the order of the tree:
            [moment; force] by which the body before holds the body after, at and along the axes of
            the marker on the latter; along the axis of the joint that is motor, spring and
            friction together.  Bodies fixed to each other are one.
        rotors: Inertia of rotors by joint, reflected to the joint.
    """
    tree = SpatialTree(model, rotors=rotors)
    given, more = external_wrenches(tree, external)
    found = newton_euler.inverse_dynamics(tree, tree.v, tree.a, wrenches=given, grouped=not forces)
    outputs: dict[str, Any] = {"tau": found.tau}
    if forces:
        loads = [list(tree.loads.get(k, [0.0] * 6)) for k in range(len(tree.links))]
        newton_euler.gathered(tree, loads)
        F = [minus(whole, load) for whole, load in zip(found.F, loads, strict=True)]
        outputs["forces"] = [held(tree, body, F) for body in tree.moving_bodies]
    return function_of("inverse_dynamics", tree, ("q", "v", "a"), outputs, **more)


def bias_forces(
    model: Model, *, external: Sequence[str] = (), rotors: Rotors | None = None
) -> Function:
    """ξ(q, v): Coriolis, centrifugal, gravity, springs, friction and external wrenches."""
    tree = SpatialTree(model, rotors=rotors)
    given, more = external_wrenches(tree, external)
    xi = newton_euler.bias(tree, wrenches=given)
    return function_of("bias_forces", tree, ("q", "v"), {"xi": xi}, **more)


def gravity_forces(model: Model) -> Function:
    """g(q): what holds the weight."""
    tree = SpatialTree(model)
    return function_of("gravity_forces", tree, ("q",), {"g": newton_euler.gravity_forces(tree)})


def coriolis_matrix(model: Model) -> Function:
    """C(q, v), with C v the Coriolis and centrifugal forces and M' = C + Cᵀ."""
    tree = SpatialTree(model)
    return function_of(
        "coriolis_matrix", tree, ("q", "v"), {"C": derivatives.coriolis_matrix(tree)}
    )


def regressor(model: Model) -> tuple[Function, tuple[str, ...]]:
    """Y(q, v, a) with τ = Y φ, and the names "body.parameter" of φ."""
    tree = SpatialTree(model)
    Y, names = regressor_of(tree)
    return function_of("regressor", tree, ("q", "v", "a"), {"Y": Y}), tuple(names)


def computed_torque(model: Model, *, rotors: Rotors | None = None) -> Function:
    """The law τ = rnea(q, v, a_d + k_v (v_d - v) + k_p (q_d - q)) (Jaramillo 1998, eq. 1.78).

    It takes ``q``, ``v``, the wanted ``q_d``, ``v_d``, ``a_d``, and the gains ``k_v`` and ``k_p``,
    numbers.  An ideal loop then has the error e'' + k_v e' + k_p e = 0.
    """
    tree = SpatialTree(model, rotors=rotors)
    ws = tree.workspace
    q_d = list(ws.inputs([f"{q.name}_d" for q in tree.q]))
    v_d = list(ws.inputs([f"{v.name}_d" for v in tree.v]))
    a_d = list(ws.inputs([f"{a.name}_d" for a in tree.a]))
    k_v, k_p = ws.inputs(["k_v", "k_p"])
    error = displacement(tree, tree.q, q_d)
    a = [
        wanted + k_v * (speed - v) + k_p * e
        for wanted, speed, v, e in zip(a_d, v_d, tree.v, error, strict=True)
    ]
    tau = newton_euler.inverse_dynamics(tree, tree.v, a).tau
    given = {"q_d": q_d, "v_d": v_d, "a_d": a_d, "k_v": k_v, "k_p": k_p}
    return function_of("computed_torque", tree, ("q", "v"), {"tau": tau}, **given)


# ------------------------------------------------------------------- mass matrix


def mass_matrix(
    model: Model, method: str = "composite", *, rotors: Rotors | None = None
) -> Function:
    """M(q).

    Args:
        model: A tree of bodies.
        method: "composite" (fewest operations), "unit accelerations", or "operators", the form
            Hᵀ ρ I ρᵀ H written out over bodies.
        rotors: Inertia of rotors by joint.

    Raises:
        ModelError: There is no such method.
    """
    tree = SpatialTree(model, rotors=rotors)
    ways = {
        "composite": composite.mass_matrix,
        "unit accelerations": composite.mass_matrix_by_unit_accelerations,
        "operators": _by_operators,
    }
    return function_of("mass_matrix", tree, ("q",), {"M": _chosen(ways, method)(tree)})


def _by_operators(tree: SpatialTree) -> list[list[Atom]]:
    """Hᵀ ρ I ρᵀ H: the velocity of every body for a unit of each velocity, then its momentum."""
    n = len(tree.v)
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    moved: list[dict[int, list[Scalar]]] = []
    for block in blocks(tree):
        back = transposed(block.Phi)
        columns = {} if block.parent < 0 else dict(moved[block.parent])
        columns = {k: times(back, x) for k, x in columns.items()}
        for k, x in zip(block.v, block.H, strict=True):
            columns[k] = plus(columns[k], x) if k in columns else x
        moved.append(columns)
        for i, x in columns.items():
            y = times(block.I, x)
            for j, other in columns.items():
                if j <= i:
                    M[i][j] = M[i][j] + dot(other, y)
    for k, rotor in enumerate(tree.rotor):
        M[k][k] = M[k][k] + rotor
    return [[tree.workspace.atom(M[max(i, j)][min(i, j)]) for j in range(n)] for i in range(n)]


def inverse_mass_matrix(
    model: Model, method: str = "composite", *, rotors: Rotors | None = None
) -> Function:
    """M⁻¹(q), by factorising the "composite" M, or by "innovations".

    Raises:
        ModelError: There is no such method.
    """
    tree = SpatialTree(model, rotors=rotors)
    ways: dict[str, Callable[[SpatialTree], Any]] = {
        "composite": lambda tree: inverse_of(composite.mass_matrix(tree), tree.v_names),
        "innovations": articulated.inverse_mass_matrix,
    }
    return function_of(
        "inverse_mass_matrix", tree, ("q",), {"M_inverse": _chosen(ways, method)(tree)}
    )


# -------------------------------------------------------------- forward dynamics


def forward_dynamics(
    model: Model,
    method: str = "fastest",
    *,
    external: Sequence[str] = (),
    rotors: Rotors | None = None,
) -> Function:
    """V'(q, v, tau); of a model with closed loops or drivers see `constrained_forward_dynamics`.

    Args:
        model: Bodies and joints.
        method: "articulated" bodies or "innovations", both O(n); "composite" M factorised, which is
            faster for few bodies; "constraint forces", the Schur complement of Jaramillo 1998; or
            "fastest", of the first and the third the one with less to compute.
        external: Frames on which wrenches act.
        rotors: Inertia of rotors by joint.

    Raises:
        ModelError: There is no such method, or it cannot be used here.
    """
    tree = SpatialTree(model, rotors=rotors)
    if tree.is_closed:
        return constrained_forward_dynamics(model, method, external=external, rotors=rotors)
    if method == "fastest":
        weights = {"articulated": 1.0, "composite": _WEIGHT}
        tried = list(weights) if len(tree.v) <= _TRIED else ["articulated"]
        if tree.coordinates.followers:
            tried = ["composite"]
        made = {m: forward_dynamics(model, m, external=external, rotors=rotors) for m in tried}
        return made[min(made, key=lambda m: weights[m] * len(made[m].schedule.operations))]
    given, more = external_wrenches(tree, external)
    ways: dict[str, _Accelerations] = {
        "articulated": articulated.forward_dynamics,
        "innovations": articulated.innovations,
        "composite": _by_composite,
        "constraint forces": lambda tree, tau, wrenches: (
            constraint_forces(tree, tau, wrenches=wrenches).accelerations
        ),
    }
    a = _chosen(ways, method)(tree, tree.tau, wrenches=given)
    return function_of("forward_dynamics", tree, ("q", "v", "tau"), {"a": a}, **more)


def _by_composite(
    tree: SpatialTree, tau: Sequence[Scalar], wrenches: Mapping[str, Sequence[Scalar]]
) -> list[Atom]:
    """M⁻¹ (τ - ξ)."""
    xi = newton_euler.bias(tree, wrenches=wrenches)
    found = factorised(composite.mass_matrix(tree), tree.v_names).solve(minus(tau, xi))
    return [tree.workspace.atom(x) for x in found]


def _chosen(ways: Mapping[str, Any], method: str) -> Any:
    if method not in ways:
        raise ModelError(f"there is no method {method!r}; choose one of {', '.join(ways)}")
    return ways[method]


def inverse_dynamics_derivatives(
    model: Model, *, external: Sequence[str] = (), rotors: Rotors | None = None
) -> Function:
    """∂τ/∂δ, ∂τ/∂v and M at (q, v, a), with displacements δ of q measured by velocities.

    Wrenches on external frames turn with them.
    """
    tree = SpatialTree(model, rotors=rotors)
    given, more = external_wrenches(tree, external)
    by_q, by_v, M = derivatives.inverse_dynamics_derivatives(tree, given)
    outputs = {"tau_q": by_q, "tau_v": by_v, "M": M}
    return function_of("inverse_dynamics_derivatives", tree, ("q", "v", "a"), outputs, **more)
