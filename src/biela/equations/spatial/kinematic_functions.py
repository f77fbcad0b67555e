"""Positions, velocities, momentum and energy of a tree as functions.

They take the same arrays as those of `biela.equations.spatial.functions`.
"""

from __future__ import annotations

from biela.code import Function
from biela.equations.orientation import turned
from biela.equations.spatial import jacobians, momentum
from biela.equations.spatial.arrays import Rotors, function_of
from biela.equations.spatial.displacements import displacement
from biela.equations.spatial.motion import frame_pose
from biela.equations.spatial.tree import SpatialTree
from biela.model import Model


def pose(model: Model, frame: str) -> Function:
    """The pose of a frame in the ground: ``axes``, the columns of R (3 x 3), and ``place``."""
    tree = SpatialTree(model)
    found = frame_pose(tree, frame)
    R = [[tree.workspace.atom(x) for x in row] for row in found.R]
    p = [tree.workspace.atom(x) for x in found.p]
    return function_of("pose", tree, ("q",), {"axes": R, "place": p})


def jacobian(model: Model, frame: str, axes: str = "aligned") -> Function:
    """J(q) of a frame, six rows [angular; linear], seen from "world", "local" or "aligned"."""
    tree = SpatialTree(model)
    J = jacobians.jacobian(tree, frame, axes)
    return function_of("jacobian", tree, ("q",), {"J": J})


def frame_acceleration(model: Model, frame: str, axes: str = "aligned") -> Function:
    """The acceleration of a frame for (q, v, a), [angular; of its origin]; "local" or "aligned"."""
    tree = SpatialTree(model)
    found = jacobians.frame_acceleration(tree, frame, tree.a, axes)
    return function_of("frame_acceleration", tree, ("q", "v", "a"), {"acceleration": found})


def energy(model: Model, *, rotors: Rotors | None = None) -> Function:
    """Kinetic and potential energy at (q, v)."""
    tree = SpatialTree(model, rotors=rotors)
    outputs = {
        "kinetic": momentum.kinetic_energy(tree),
        "potential": momentum.potential_energy(tree),
    }
    return function_of("energy", tree, ("q", "v"), outputs)


def centroidal(model: Model) -> Function:
    """Centre of mass and momentum about it at (q, v); see `biela.equations.spatial.momentum`."""
    tree = SpatialTree(model)
    c = momentum.centroid(tree)
    outputs = {
        "com": c.com,
        "com_velocity": c.velocity,
        "com_jacobian": c.jacobian,
        "A_G": c.matrix,
        "momentum": c.momentum,
        "inertia": c.inertia,
        "mass": c.mass,
    }
    return function_of("centroidal", tree, ("q", "v"), outputs)


def momentum_rate(model: Model) -> Function:
    """The rate of the momentum about the centre of mass at (q, v, a)."""
    tree = SpatialTree(model)
    found = momentum.momentum_rate(tree, tree.a, momentum.centroid(tree).com)
    return function_of("momentum_rate", tree, ("q", "v", "a"), {"rate": found})


# --------------------------------------------------------------------- positions


def rates(model: Model) -> Function:
    """Q' = N(q) v."""
    tree = SpatialTree(model)
    return function_of("rates", tree, ("q", "v"), {"dq": tree.rates()})


def integrate(model: Model) -> Function:
    """Q ⊕ δ for (q, v), the displacement δ given as velocities over one unit of time."""
    tree = SpatialTree(model)
    found = list(tree.q)
    for i, j in tree.scalars.values():
        found[i] = tree.q[i] + tree.v[j]
    for first, speed in tree.quaternions:
        e = tuple(tree.q[first : first + 4])
        found[first : first + 4] = turned(e, tree.v[speed : speed + 3])  # type: ignore[arg-type]
    return function_of("integrate", tree, ("q", "v"), {"q_after": found})


def difference(model: Model) -> Function:
    """The displacement δ with q ⊕ δ = q_after; rotations by at most half a turn."""
    tree = SpatialTree(model)
    after = list(tree.workspace.symbols([f"{q.name}_after" for q in tree.q]))
    delta = displacement(tree, tree.q, after)
    return Function("difference", {"q": tree.q, "q_after": after}, {"delta": delta})
