"""A tree as a `System`: what every analysis takes, with the short recursions behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from biela.atoms import Atom, diff
from biela.code import Function
from biela.equations.model_start import limits_of
from biela.equations.orientation import turned
from biela.equations.spatial import articulated, composite, momentum, newton_euler
from biela.equations.spatial.factorisation import factorised
from biela.equations.spatial.motion import accelerations, frame_pose, poses, velocities
from biela.equations.spatial.passive import measured
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, cross, plus, times
from biela.equations.system import LazyFunctions, Quantity, System
from biela.model import Model
from biela.model.joints import Joint
from biela.model.quantities.conjugate import dimension_along
from biela.model.quantities.values import Value

#: Velocities up to which accelerations come from the factors of M, which is shorter there.
_FEW = 12


def spatial_system(
    model: Model, *, rotors: Mapping[str, Value] | None = None, elements: bool = True
) -> System:
    """The equations of a tree of bodies, by recursions in place of virtual power.

    The coordinates, velocities and frames are those of `biela.formulate(model)`.  The inputs are
    those of the model, and after them the joint forces, one a velocity, called
    "tau.joint.coordinate".  Forces act, with their events, and sensors measure; those of reactions
    do not.

    Args:
        model: A tree of bodies.
        rotors: Inertia of rotors by joint, in place of those of the model.
        elements: Whether actuators, events and sensors are there; else the joint forces are the
            only inputs.

    Raises:
        ModelError: The model is no tree, or has elements that a tree cannot have.
    """

    def written() -> SpatialTree:
        return SpatialTree(model, rotors=rotors, inputs=elements)

    tree = written()
    tree.check_open("this system")

    def maker(name: str, outputs: Callable[[SpatialTree], Mapping[str, Any]]) -> Any:
        def made() -> Function:
            own = written()
            return _function(own, name, outputs(own))

        return made

    makers = {
        "M": maker("M", lambda t: {"M": composite.mass_matrix(t)}),
        "Q": maker("Q", lambda t: {"Q": _forces(t)}),
        "M_Q": maker("M_Q", lambda t: {"M": composite.mass_matrix(t), "Q": _forces(t)}),
        "accelerations": maker("accelerations", lambda t: {"a": _accelerations(t)}),
        "energy": maker(
            "energy",
            lambda t: {"T": momentum.kinetic_energy(t), "V": momentum.potential_energy(t)},
        ),
        "poses": maker("poses", lambda t: {"poses": _poses(t)}),
        "twists": maker("twists", lambda t: {"twists": _twists(t)}),
        "frame_accelerations": lambda: _frame_accelerations(written()),
    }
    sensed = measured(tree) if elements else []
    if sensed:
        makers["outputs"] = maker("outputs", lambda t: {"y": [x.value for x in measured(t)]})
    watched = tuple(tree.acting.watched) if elements else ()
    if watched:
        makers["events"] = maker("events", lambda t: {"e": list(t.acting.watched.values())})
    if tree.quaternions:
        makers["rates"] = maker("rates", lambda t: {"dq": t.rates()})
        makers["retract"] = lambda: _retract(written())
    if tree.coordinates.followers:
        makers["joint_coordinates"] = maker("joint_coordinates", _followers)
    return System(
        model.name,
        q=_coordinates(tree),
        v=_velocities(tree),
        u=(
            *(Quantity(x.name, x.unit, x.value) for x in tree.acting.inputs),
            *(Quantity(f"tau.{name.removesuffix('_rate')}") for name in tree.v_names),
        ),
        y=tuple(Quantity(x.name, x.unit, rate=x.rate) for x in sensed),
        events=watched,
        p=tuple(
            Quantity(name, value=value, unit=tree.model.parameter_units.get(name, ""))
            for name, value in tree.model.parameters.given.items()
        ),
        frames=tuple(name for name in tree.frames if name != "ground"),
        quaternions=tuple(first for first, _ in tree.quaternions),
        joint_coordinates=tuple(_quantities(tree, {n: 0.0 for n in tree.coordinates.followers})),
        limits=partial(limits_of, tree.model),
        functions=LazyFunctions({}, makers),
    )


def _function(tree: SpatialTree, name: str, outputs: Mapping[str, Any]) -> Function:
    return Function(name, _inputs(tree), outputs)


def _inputs(tree: SpatialTree) -> dict[str, Any]:
    u = [*(x.symbol for x in tree.acting.inputs), *tree.tau]
    return {"t": tree.workspace.time, "q": tree.q, "v": tree.v, "u": u, "p": tree.p}


# ------------------------------------------------------------------- what it is made of


def _joints(tree: SpatialTree) -> dict[str, tuple[Joint, Any]]:
    """The joint and coordinate of each "joint.coordinate"."""
    return {
        f"{joint.name}.{coordinate.name}": (joint, coordinate)
        for joint in tree.model.joints.values()
        if isinstance(joint, Joint)
        for coordinate in joint.coordinates
    }


def _coordinates(tree: SpatialTree) -> tuple[Quantity, ...]:
    return tuple(_quantities(tree, dict(zip(tree.q_names, tree.start, strict=True))))


def _quantities(tree: SpatialTree, named: Mapping[str, float]) -> Iterator[Quantity]:
    """Coordinates with their units and limits, by their names and values."""
    known = _joints(tree)
    for name, value in named.items():
        if name not in known:
            yield Quantity(name, value=value)
            continue
        joint, coordinate = known[name]
        low, high = joint.limits.get(coordinate.name, (-math.inf, math.inf))
        dimension = {"rad": "angle", "m": "length"}.get(coordinate.unit, "any")
        yield Quantity(
            name,
            coordinate.unit,
            value,
            given=coordinate.name in joint.start,
            lower=_limit(tree, low, dimension),
            upper=_limit(tree, high, dimension),
        )


def _limit(tree: SpatialTree, value: Any, dimension: str) -> float:
    infinite = isinstance(value, float) and math.isinf(value)
    return value if infinite else tree.model.number(value, dimension)


def _velocities(tree: SpatialTree) -> tuple[Quantity, ...]:
    known, found = _joints(tree), []
    for name in tree.v_names:
        owner = known.get(name.removesuffix("_rate"))
        if owner is None:
            found.append(Quantity(name, "rad/s"))
            continue
        joint, coordinate = owner
        rate = joint.rates.get(coordinate.name)
        dimension = dimension_along(coordinate.unit, per="rate")
        value = 0.0 if rate is None else tree.model.number(rate, dimension)
        found.append(Quantity(name, f"{coordinate.unit}/s", value, given=rate is not None))
    return tuple(found)


# ------------------------------------------------------------------------- expressions


def _forces(tree: SpatialTree) -> list[Atom]:
    """Q = τ - ξ."""
    xi = newton_euler.bias(tree)
    return [t - x for t, x in zip(tree.tau, xi, strict=True)]


def _accelerations(tree: SpatialTree) -> list[Atom]:
    if len(tree.v) > _FEW and not tree.coordinates.followers:
        return articulated.forward_dynamics(tree, tree.tau)
    found = factorised(composite.mass_matrix(tree), tree.v_names).solve(_forces(tree))
    return [tree.workspace.atom(x) for x in found]


def _frames(tree: SpatialTree) -> list[str]:
    return [name for name in tree.frames if name != "ground"]


def _rows(tree: SpatialTree, rows: list[list[Scalar]]) -> list[list[Atom]]:
    return [[tree.workspace.atom(x) for x in row] for row in rows]


def _poses(tree: SpatialTree) -> list[list[Atom]]:
    links = poses(tree)
    found = [frame_pose(tree, name, links) for name in _frames(tree)]
    return _rows(tree, [[*pose.p, *(x for row in pose.R for x in row)] for pose in found])


def _twists(tree: SpatialTree) -> list[list[Atom]]:
    links, moving = poses(tree), velocities(tree, tree.v)
    rows: list[list[Scalar]] = []
    for name in _frames(tree):
        k, here = tree.frame(name)
        if k < 0:
            rows.append([0.0] * 6)
            continue
        speed = plus(moving[k].v, cross(moving[k].omega, here.p))
        rows.append([*times(links[k].R, speed), *times(links[k].R, moving[k].omega)])
    return _rows(tree, rows)


def _frame_accelerations(tree: SpatialTree) -> Function:
    links, moving = poses(tree), accelerations(tree, tree.v, tree.a)
    rows: list[list[Scalar]] = []
    for name in _frames(tree):
        k, here = tree.frame(name)
        if k < 0:
            rows.append([0.0] * 6)
            continue
        acc = plus(moving[k].a, times(moving[k].spin.U, here.p))
        rows.append([*times(links[k].R, acc), *times(links[k].R, moving[k].spin.alpha)])
    outputs = {"frame_accelerations": _rows(tree, rows)}
    return Function("frame_accelerations", _inputs(tree) | {"a": tree.a}, outputs)


def _followers(tree: SpatialTree) -> dict[str, list[Atom]]:
    """Coordinates that follow others, and their rates."""
    values, rates = [], []
    for value, j in tree.coordinates.followers.values():
        values.append(value)
        rates.append(diff(value, tree.coordinates.leader(j)) * tree.v[j])
    return {"values": values, "rates": rates}


def _retract(tree: SpatialTree) -> Function:
    delta = list(tree.workspace.symbols([f"delta_{v.name}" for v in tree.v]))
    moved = list(tree.q)
    for i, j in tree.scalars.values():
        moved[i] = tree.q[i] + delta[j]
    for first, speed in tree.quaternions:
        e = tuple(tree.q[first : first + 4])
        moved[first : first + 4] = turned(e, delta[speed : speed + 3])  # type: ignore[arg-type]
    return Function("retract", {"q": tree.q, "delta": delta}, {"moved": moved})
