"""Capabilities of a symbolic system that are derived only when an analysis asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.atoms import Atom, Kind, jacobian, substitute
from biela.atoms import opcodes as op
from biela.code import Function
from biela.equations.elimination import (
    DROP_TOLERANCE,
    Stiffening,
    constrained_matrix,
    factorise,
    lacking,
    notable_positions,
    stiffened,
)
from biela.equations.energy import applied_power, kinetic_energy, potential_energy
from biela.equations.frames import frame_accelerations, poses, twists
from biela.equations.orientation import turned
from biela.equations.positions import displaced_places
from biela.equations.system import Drawing, Line
from biela.errors import ModelError
from biela.space import Point, Solid
from biela.space.rotations import AxisRotation, MatrixRotation

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem

Expressions = Mapping[str, Any]

#: Rounds for forces that depend on multipliers.
LOAD_ROUNDS = 12


def makers(source: SymbolicSystem, entries: Expressions) -> dict[str, Callable[[], Function]]:
    """What makes each of them, by name.

    The equations are those of the model as it stands now; later additions to it do not count, so
    what depends on them is refused.
    """
    constraints, solids = len(source.multipliers), len(source.solids)

    def unchanged(make: Callable[[], Function]) -> Callable[[], Function]:
        def made() -> Function:
            if (len(source.multipliers), len(source.solids)) != (constraints, solids):
                raise ModelError(
                    f"{source.name} was changed after equations(): derive them again, "
                    f"{source.name}.equations()"
                )
            return make()

        return made

    found: dict[str, Callable[[], Function]] = {
        "M_Q": lambda: source.function("M_Q", {"M": entries["M"], "Q": entries["Q"]}),
        "accelerations": partial(accelerations, source, entries),
        "tangents": partial(tangents, source, entries),
        "energy": partial(energy, source),
        "power": lambda: source.function("power", {"power": applied_power(source)}),
        "points": partial(points, source),
    }
    if source.orientations:
        found["retract"] = partial(retract, source)
    frames = source.frames
    if frames:
        found["poses"] = partial(poses, source, frames)
        found["twists"] = partial(twists, source, frames)
        found["frame_accelerations"] = partial(frame_accelerations, source, frames)
    return {name: unchanged(make) for name, make in found.items()}


def retract(source: SymbolicSystem) -> Function:
    """Q ⊕ δ: coordinates with a velocity of their own add, Euler parameters turn."""
    ws = source.workspace
    delta = [ws.symbol(f"delta_{v.name}") for v in source.v]
    along = dict(zip(source.v, delta, strict=True))
    after: dict[Atom, Atom] = {}
    for made in source.orientations.values():
        change = [along[w] for w in made.angular_velocity]
        after |= zip(made.parameters, turned(made.parameters, change), strict=True)
    moved = [after[q] if q in after else q + along[q.velocity] for q in source.q]
    return Function("retract", {"q": source.q, "delta": delta}, {"moved": moved})


def accelerations(source: SymbolicSystem, entries: Expressions) -> Function:
    """Accelerations ``a`` and multipliers ``lam`` solved for, without a numeric solver.

    The elimination is symbolic, in an order that is safe in every position, and drops dependent
    constraints; see `biela.equations.elimination`.
    """
    if "V" in entries:
        raise ModelError(
            f"{source.name} has joint unknowns, which multiply another matrix than the "
            f"constraints do: solve M v' + Vᵀ ε = Q with Φ_v v' = γ by "
            f"biela.analysis.joint_unknowns"
        )
    M, Q = entries["M"], entries["Q"]
    n = len(M)
    if "Phi_v" not in entries:
        return source.function("accelerations", {"a": factorise(M).solve(Q)})
    rows, right = entries["Phi_v"], entries["gamma"]
    missing = _lacking(source, entries)
    A = constrained_matrix(stiffened(M, rows, missing.rows, missing.weights), rows)
    factors = factorise(A, late=range(n, len(A)), drop=DROP_TOLERANCE)
    pull = [source.workspace.atom(0)] * n
    for k, weight in zip(missing.rows, missing.weights, strict=True):
        added = [e * right[k] * weight for e in rows[k]]
        pull = [a + b for a, b in zip(pull, added, strict=True)]
    symbols = source.multipliers
    refs = set(source.workspace.table.live(e.ref for e in Q))
    loaded = any(symbol.ref in refs for symbol in symbols)
    lam: list[Atom] = [source.workspace.atom(0)] * len(symbols)
    x: list[Atom] = []
    # forces that depend on multipliers: a bounded number of rounds with the same factors
    for _ in range(LOAD_ROUNDS if loaded else 1):
        values: dict[Atom, Atom | float] = dict(zip(symbols, lam, strict=True))
        force: list[Atom] = substitute(list(Q), values) if loaded else list(Q)
        x = factors.solve([*(a + b for a, b in zip(force, pull, strict=True)), *right])
        lam = x[n:]
    return source.function("accelerations", {"a": x[:n], "lam": lam})


def _lacking(source: SymbolicSystem, entries: Expressions) -> Stiffening:
    """What M lacks to be definite, seen at random positions."""
    both = source.function("both", {"M": entries["M"], "Phi_v": entries["Phi_v"]})
    turns = np.array([unit == "rad" for unit in coordinate_units(source).values()])
    if source.orientations:
        numbers = {v: k for k, v in enumerate(source.v)}
        own = [numbers.get(source.space.time_rate(q), -1) for q in source.q]
        start = [
            float(any(q == o.parameters[0] for o in source.orientations.values())) for q in source.q
        ]
        places = displaced_places(np.array(start), own, len(source.v), turns, retract(source))
    else:
        places = notable_positions(np.zeros(len(source.q)), turns)
    k = len(places)
    given = {
        "t": np.zeros(k),
        "q": places,
        "v": np.zeros((k, len(source.v))),
        "u": np.zeros((k, both.inputs[3].size)),
        "p": np.repeat([list(source.parameter_values.values())], k, 0),
    }
    M, Phi_v = both.walk_map(*(given[a.name] for a in both.inputs))
    return lacking(list(M), list(Phi_v))


def tangents(source: SymbolicSystem, entries: Expressions) -> Function:
    """K = ∂r/∂q and C = ∂r/∂v of the residual r = M a + Φ_vᵀ λ - Q, with a and λ held.

    K has a column a coordinate, (nv, nq); along displacements it is K N.
    """
    a = [v.acceleration for v in source.v]
    lam = source.multipliers
    residual: list[Atom] = []
    for i, row in enumerate(entries["M"]):
        total = -entries["Q"][i]
        for entry, rate in zip(row, a, strict=True):
            total = total + entry * rate
        for constraint, multiplier in zip(entries.get("Phi_v", []), lam, strict=True):
            total = total + constraint[i] * multiplier
        residual.append(total)
    K = jacobian(residual, source.q).rows
    C = jacobian(residual, source.v).rows
    return source.function("tangents", {"K": K, "C": C}, a=a, lam=lam)


def energy(source: SymbolicSystem) -> Function:
    """Kinetic and potential energy."""
    return source.function(
        "energy", {"kinetic": kinetic_energy(source), "potential": potential_energy(source)}
    )


def points(source: SymbolicSystem) -> Function:
    """Places to be drawn, in the inertial base, one row each: the points, and centres of mass."""
    places = [source.position(source.origin, point) for point in source.space.points.values()]
    for solid in _without_points(source):
        at = source.position(source.origin, solid.point)
        places.append(at + solid.first_moment / solid.mass)
    rows = [place.components(source.base) for place in places]
    return source.function("points", {"points": rows})


def _without_points(source: SymbolicSystem) -> list[Solid]:
    """Solids that have no point but their own, and a centre of mass beside it to draw them by."""
    drawn = {base for point in _placed(source) for base in point.vector.parts}
    return [
        solid
        for solid in source.solids
        if solid.base not in drawn and not solid.first_moment.is_zero and solid.mass.ref
    ]


def _placed(source: SymbolicSystem) -> list[Point]:
    return [point for point in source.space.points.values() if point.parent is not None]


def drawing(source: SymbolicSystem) -> Drawing:
    """Lines from each point to the points placed from it, named after the body they belong to."""
    bodies = {solid.base: solid.name for solid in reversed(source.solids)}
    at = {solid.point: solid.name for solid in reversed(source.solids)}
    order = {point: k for k, point in enumerate(source.space.points.values())}
    links = []
    for point in _placed(source):
        if point.parent is None or point.vector.is_zero:
            continue
        base = next(iter(point.vector.parts))
        name = bodies.get(base, base.name)
        if _moves(point):
            name = at.get(point, point.name)
        elif base is source.base:
            name = "ground"
        links.append(Line(name, order[point.parent], order[point], _moves(point)))
    names = [point.name for point in order]
    for solid in _without_points(source):
        links.append(Line(solid.name, order[solid.point], len(names)))
        names.append(f"centre of {solid.name}")
    return Drawing(tuple(names), tuple(links))


def _moves(point: Point) -> bool:
    """Whether the vector to a point changes in its base."""
    entries = [e.ref for part in point.vector.parts.values() for e in part]
    table = point.space.workspace.table
    kinds = {table.symbols[atom].kind for atom in table.live(entries) if atom in table.symbols}
    return not kinds <= {Kind.PARAMETER, Kind.FREE}


def coordinate_units(source: SymbolicSystem) -> dict[Atom, str]:
    """The unit of each coordinate: rad for one that turns a base, m for one that moves a point."""
    table = source.workspace.table

    def among(atoms: Iterable[Atom]) -> set[int]:
        return set(table.live(atom.ref for atom in atoms))

    angles: set[int] = set()
    for base in source.space.bases.values():
        if base.parent is None:
            continue
        if isinstance(base.rotation, AxisRotation):
            angles |= among([base.rotation.angle])
        elif isinstance(base.rotation, MatrixRotation):
            entries = among(e for row in base.rotation.matrix for e in row)
            # a matrix of sines was made from an angle; Euler parameters have no unit
            if any(table.ops[atom] in (op.SIN, op.COS) for atom in entries):
                angles |= entries
    lengths = among(
        component
        for point in source.space.points.values()
        if point.parent is not None
        for part in point.vector.parts.values()
        for component in part
    )
    # a mode is a displacement, whatever turns with it
    angles -= {mode.ref for body in source.flexible_bodies for mode in body.modes}
    lengths |= {mode.ref for body in source.flexible_bodies for mode in body.modes}
    # Euler parameters have no unit, whatever is made of them
    plain = {e.ref for made in source.orientations.values() for e in made.parameters}
    angles, lengths = angles - plain, lengths - plain
    return {q: "rad" if q.ref in angles else "m" if q.ref in lengths else "" for q in source.q}


def velocity_units(source: SymbolicSystem, units: Mapping[Atom, str]) -> dict[Atom, str]:
    """The unit of each velocity, from those of the coordinates; angular velocities are in rad/s."""
    turning = {e for made in source.orientations.values() for e in made.parameters}
    found = {q.velocity: units[q] and f"{units[q]}/s" for q in source.q if q not in turning}
    return {v: found.get(v, "rad/s") for v in source.v}
