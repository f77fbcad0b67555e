"""The dynamics of models with closed loops as functions.

They take the arrays of `biela.equations.spatial.functions`, and are for models whose joints close
loops, or whose drivers prescribe motions.  In a row of the equations M v' + Jᵀ λ = Q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from biela.atoms import Atom
from biela.code import Function
from biela.equations.elimination import DROP_TOLERANCE, constrained_matrix, factorise
from biela.equations.ranked_rows import RankedRows
from biela.equations.spatial import composite, newton_euler
from biela.equations.spatial.active_rows import Elimination
from biela.equations.spatial.arrays import Rotors, external_wrenches, function_of, held
from biela.equations.spatial.articulated import innovations_of
from biela.equations.spatial.constrained import Constrained, constrained_dynamics
from biela.equations.spatial.constrained_by_inverse import constrained_by_inverse
from biela.equations.spatial.constrained_inverse import motor_forces, motors
from biela.equations.spatial.constraint_forces import ConstraintForceSolver
from biela.equations.spatial.loop_rows import idle_rows, loop_rows
from biela.equations.spatial.motion import accelerations
from biela.equations.spatial.relative_motion import LinkMotions
from biela.equations.spatial.rows import LoopRow, PointAxes, jacobian
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, plus
from biela.errors import ModelError
from biela.model import Model

#: Early elimination is taken where it has less than this part of the operations of the safe one.
_WORTHWHILE: Final = 0.75

#: Velocities up to which M and J are also factorised whole.
_TRIED: Final = 24

#: Velocities up to which they are where rows depend on each other.
_WHOLE: Final = 40

_METHODS: Final = (
    "fastest",
    "articulated",
    "early",
    "composite",
    "innovations",
    "constraint forces",
)


def constraint_names(model: Model) -> tuple[str, ...]:
    """The names of the rows, "joint.label", in the order of `closure`."""
    return tuple(row.name for row in loop_rows(SpatialTree(model)))


def held_by(model: Model) -> tuple[str, ...]:
    """The joints that close loops, and the drivers of markers: those that exert wrenches."""
    rows = loop_rows(SpatialTree(model))
    return tuple(dict.fromkeys(row.owner for row in rows if row.held is not None))


def closure(model: Model) -> Function:
    """Φ(q) of the loops and drivers: points along the axes of their marker i."""
    tree = SpatialTree(model)
    phi = [tree.workspace.atom(row.value) for row in loop_rows(tree)]
    return function_of("closure", tree, ("q",), {"Phi": phi})


def closure_jacobian(model: Model) -> Function:
    """J(q), the derivative of `closure` by displacements measured by velocities."""
    tree = SpatialTree(model)
    J = jacobian(tree, loop_rows(tree))
    rows = [[tree.workspace.atom(x) for x in row] for row in J]
    return function_of("closure_jacobian", tree, ("q",), {"J": rows})


def closure_drift(model: Model) -> Function:
    """Φ' - J v = ∂Φ/∂t, and Φ'' - J v' at (q, v)."""
    tree = SpatialTree(model)
    rows = loop_rows(tree)
    atom = tree.workspace.atom
    drift = [atom(row.drift) for row in rows]
    bias = [atom(x) for x in _biases(tree, rows)]
    return function_of("closure_drift", tree, ("q", "v"), {"Phi_t": drift, "bias": bias})


def _biases(tree: SpatialTree, rows: Sequence[LoopRow]) -> list[Scalar]:
    """Φ'' of each row where v' is zero."""
    still = accelerations(tree, tree.v, [0.0] * len(tree.v))
    found = []
    for row in rows:
        total = row.bias
        for k, W in row.wrenches.items():
            total = total + dot(W, [*still[k].spin.alpha, *still[k].a])
        found.append(total)
    return found


def loop_wrenches(model: Model) -> Function:
    """What units of λ do at (q), a column for each row of Φ and then for rows that always hold.

    ``H`` has six rows [moment; force] for each of `held_by`: on the body of marker j, at and along
    the axes of that marker.  ``L`` has six for each joint of the tree that moves, in its order: by
    which the body before holds the body after, at and along the marker on the latter.
    """
    tree = SpatialTree(model)
    moving = loop_rows(tree)
    rows = [*moving, *idle_rows(tree)]
    owners = dict.fromkeys(row.owner for row in moving if row.held is not None)
    atom = tree.workspace.atom
    H = [
        [atom(-row.held[k] if row.owner == owner and row.held else 0.0) for row in rows]
        for owner in owners
        for k in range(6)
    ]
    columns: list[list[Atom]] = []
    for row in rows:
        F = [list(row.wrenches.get(k, [0.0] * 6)) for k in range(len(tree.links))]
        newton_euler.gathered(tree, F)
        columns.append([x for body in tree.moving_bodies for x in held(tree, body, F)])
    L = [list(line) for line in zip(*columns, strict=True)]
    return function_of("loop_wrenches", tree, ("q",), {"H": H, "L": L} if H else {"L": L})


# -------------------------------------------------------------- forward dynamics


def constrained_forward_dynamics(
    model: Model,
    method: str = "fastest",
    *,
    external: Sequence[str] = (),
    rotors: Rotors | None = None,
    baumgarte: tuple[float, float] | None = None,
    reactions: bool = False,
    ranked: Sequence[RankedRows] = (),
) -> Function:
    """V'(q, v, tau) of a model with closed loops.

    Args:
        model: Bodies, joints, some of which close loops, and drivers.
        method: "articulated", which eliminates each loop after its freedoms, in time linear in the
            number of loops that do not overlap; "early", with fewer operations for legs of a
            platform; "composite", which factorises M and J whole; "innovations" or "constraint
            forces", the inverse of M for each row of J; or "fastest", the one of the first three
            with least to compute, "early" only for a quarter less
            (`biela.equations.spatial.constrained`).
        external: Frames on which wrenches act.
        rotors: Inertia of rotors by joint.
        baumgarte: Gains (k_v, k_p): the rows follow Φ'' + k_v Φ' + k_p Φ = 0.
        reactions: Also give ``multipliers``, one a row of `closure`; ``forces``, a row [moment;
            force] for each joint that closes a loop and each driver of markers (`held_by`): what it
            exerts on the body of its marker j, at and along the axes of that marker; and
            ``dropped``, 1 for rows that depend on others here.
        ranked: Rows that depend on each other wherever the loops are closed; M and J are then
            factorised whole, by "composite", or the inverse of M is taken.

    Raises:
        ModelError: There is no such method, or it cannot be used here.
    """
    if method not in _METHODS:
        raise ModelError(f"there is no method {method!r}; choose one of {', '.join(_METHODS)}")
    options: dict[str, Any] = {
        "external": external,
        "rotors": rotors,
        "baumgarte": baumgarte,
        "reactions": reactions,
    }
    if ranked and method in ("fastest", "articulated", "early"):
        method = "composite" if len(SpatialTree(model).v) <= _WHOLE else "innovations"
    if method == "fastest":
        return _fastest(model, options)
    tree = SpatialTree(model, rotors=rotors)
    given, more = external_wrenches(tree, external)
    rows = loop_rows(tree, PointAxes.MARKER if reactions else PointAxes.SHORT)
    wanted = None if baumgarte is None else _stabilised(tree, rows, baumgarte)
    if method == "composite":
        found = _by_composite(tree, rows, given, wanted, ranked)
    elif method in ("innovations", "constraint forces"):
        xi = newton_euler.bias(tree, wrenches=given)
        inverse = (
            innovations_of(tree)
            if method == "innovations"
            else ConstraintForceSolver(tree).accelerations
        )
        gamma = _rates(tree, rows, wanted)
        found = constrained_by_inverse(tree, rows, inverse, minus(tree.tau, xi), gamma, ranked)
    else:
        elimination = Elimination.EARLY if method == "early" else Elimination.LATE
        found = constrained_dynamics(
            tree, tree.tau, rows, wrenches=given, wanted=wanted, elimination=elimination
        )
    outputs: dict[str, Any] = {"a": found.accelerations}
    if reactions:
        outputs |= _reactions(rows, found.multipliers) | {"dropped": found.dropped}
    return function_of("forward_dynamics", tree, ("q", "v", "tau"), outputs, **more)


def _fastest(model: Model, options: Mapping[str, Any]) -> Function:
    """The method with least to compute."""
    tree = SpatialTree(model)
    if tree.coordinates.followers:
        return constrained_forward_dynamics(model, "composite", **options)
    tried = ["articulated", "early", *(["composite"] if len(tree.v) <= _TRIED else [])]
    made = {m: constrained_forward_dynamics(model, m, **options) for m in tried}
    counts = {m: len(function.schedule.operations) for m, function in made.items()}
    early = made.pop("early")
    safe = min(made, key=lambda m: counts[m])
    return early if counts["early"] < _WORTHWHILE * counts[safe] else made[safe]


def _stabilised(
    tree: SpatialTree, rows: Sequence[LoopRow], gains: tuple[float, float]
) -> list[Scalar]:
    """Φ'' = -k_v Φ' - k_p Φ."""
    motions = LinkMotions(tree)
    found: list[Scalar] = []
    for row in rows:
        rate = row.drift
        for k, c in row.along.items():
            rate = rate + c * tree.v[k]
        for k, W in row.wrenches.items():
            rate = rate + dot(W, [*motions.omega(k), *motions.velocity(k)])
        found.append(-(rate * gains[0] + row.value * gains[1]))
    return found


def _rates(
    tree: SpatialTree, rows: Sequence[LoopRow], wanted: Sequence[Scalar] | None
) -> list[Scalar]:
    """J v' of the rows."""
    gamma = [-x for x in _biases(tree, rows)]
    return gamma if wanted is None else plus(gamma, wanted)


def _by_composite(
    tree: SpatialTree,
    rows: Sequence[LoopRow],
    wrenches: Mapping[str, Sequence[Scalar]],
    wanted: Sequence[Scalar] | None,
    ranked: Sequence[RankedRows],
) -> Constrained:
    """[[M, Jᵀ], [J, 0]] factorised, multipliers after the velocities they act on."""
    n, atom = len(tree.v), tree.workspace.atom
    J = [[atom(x) for x in row] for row in jacobian(tree, rows)]
    A = constrained_matrix(composite.mass_matrix(tree), J)
    late = range(n, n + len(rows))
    last = [replace(found, rows=tuple(n + k for k in found.rows)) for found in ranked]
    factors = factorise(A, late, DROP_TOLERANCE, ranked=last)
    xi = newton_euler.bias(tree, wrenches=wrenches)
    gamma = _rates(tree, rows, wanted)
    right = [atom(x) for x in (*minus(tree.tau, xi), *gamma)]
    found = factors.solve(right)
    dropped = [factors.dropped.get(k, atom(0)) for k in late]
    return Constrained(found[:n], found[n:], dropped)


def _reactions(rows: Sequence[LoopRow], multipliers: Sequence[Atom]) -> dict[str, list[Any]]:
    """Multipliers, and wrenches at marker j."""
    total: dict[str, list[Scalar]] = {}
    for row, lam in zip(rows, multipliers, strict=True):
        if row.held is not None:
            W: list[Scalar] = [-x * lam for x in row.held]
            total[row.owner] = plus(total[row.owner], W) if row.owner in total else W
    outputs: dict[str, list[Any]] = {"multipliers": list(multipliers)}
    return outputs | ({"forces": list(total.values())} if total else {})


# -------------------------------------------------------------- inverse dynamics


def constrained_inverse_dynamics(
    model: Model,
    actuated: Sequence[str] | None = None,
    *,
    external: Sequence[str] = (),
    rotors: Rotors | None = None,
    reactions: bool = False,
    ranked: Sequence[RankedRows] = (),
) -> Function:
    """The forces of motors τ(q, v, a) for a motion of a model with closed loops.

    ``tau`` has an entry for each velocity, zero where there is no motor.  Drivers are left out:
    the motion is given.

    Args:
        model: Bodies and joints, some of which close loops.
        actuated: Joints of the tree, or "joint.coordinate", with motors; all of them for None.
            Of more motors than freedoms the forces are the smallest, in the norm Σ τ².
        external: Frames on which wrenches act.
        rotors: Inertia of rotors by joint.
        reactions: Also give ``multipliers`` of the loops, and ``forces`` as
            `constrained_forward_dynamics` has them.
        ranked: Rows that depend on each other wherever the loops are closed; those of drivers are
            not counted.

    Raises:
        ModelError: The motors cannot hold the mechanism; the message names what moves.
        UnknownNameError: There is no such joint in the tree.
    """
    tree = SpatialTree(model, rotors=rotors)
    given, more = external_wrenches(tree, external)
    rows = [row for row in loop_rows(tree) if row.owner not in model.drivers]
    found = motor_forces(tree, rows, motors(tree, actuated), wrenches=given, ranked=ranked)
    outputs: dict[str, Any] = {"tau": found.tau}
    if reactions:
        outputs |= _reactions(rows, found.multipliers)
    return function_of("inverse_dynamics", tree, ("q", "v", "a"), outputs, **more)
