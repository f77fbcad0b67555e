"""Where motions of large mechanisms start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import in_conflict
from biela.analysis.engine_choice import with_start
from biela.analysis.groups.poses import poses_of
from biela.analysis.looped.carried_start import carried_state, prototype_poses
from biela.analysis.looped.follower import Follower
from biela.analysis.looped.linked_start import Relative, relative_poses, unlinked
from biela.analysis.looped.masses import mass_entries
from biela.analysis.looped.sparse_rows import SparseRows
from biela.analysis.looped.stiffening import stiffening
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.equations.joint_coordinates import carrying_tree
from biela.errors import AssemblyError, ModelError, SingularityError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.drivers import Rotary, Translational
from biela.model.joints import Coordinate, Joint
from biela.model.laws.law import law_from
from biela.solvers import SparseLDLT, SymmetricPattern
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Names of the drivers that hold joints at rest begin so.
_REST = "rest of "
#: And those of the drivers that hold them where they start.
_START = "start of "
#: Inertia as a part of the squares of rates, and how often that is repeated.
_WEIGHT, _ROUNDS = 1e-2, 40
#: How far bodies are moved aside, rad or m, where a position may be a dead point.
_ASIDE = (0.03, 0.1, 0.3)
#: Starts of joints that are left out, at the most, before the others are left as they are.
_MOST_STARTS = 100


def first_blocks(
    model: Model,
    q: Mapping[str, float] | None,
    t: float,
    parameters: Mapping[str, float] | None,
) -> tuple[ReferenceBlocks, Floats]:
    """The equations of a model, and a first guess of its position.

    Raises:
        ModelError: A name in ``q`` is not known.
    """
    blocks, guess, _ = first_state(model, q, None, t, parameters)
    return blocks, guess


def first_state(
    model: Model,
    q: Mapping[str, float] | None,
    v: Mapping[str, float] | None,
    t: float,
    parameters: Mapping[str, float] | None,
) -> tuple[ReferenceBlocks, Floats, Floats | None]:
    """The equations of a model, a first guess of its position, and its velocity if that is known.

    Raises:
        ModelError: A name in ``q`` or ``v`` is not known.
    """
    given, rest = with_start(model, q or {})
    known = {**(_links(given, parameters, t) or {}), **prototype_poses(given, parameters, t)}
    blocks = reference_blocks(given, parameters=parameters, t=t, start=known or None)
    whole = carried_state(model, blocks, q, v, t, parameters)
    if whole is not None:
        return blocks, *whole
    guess = _guess(blocks, rest)
    named = [name for name in q or {} if name not in rest]
    return blocks, _kept(given, blocks, guess, named, t, parameters), None


def _links(model: Model, parameters: Mapping[str, float] | None, t: float) -> Relative | None:
    """The bodies of linked instances, each assembled as if its ground did not move.

    An angle that is a little wrong in each of a thousand cells throws the end of a chain far off.
    """
    alone = unlinked(model)
    if alone is None:
        return None
    blocks = reference_blocks(alone, parameters=parameters, t=t)
    try:
        q = Follower(blocks, 1e-10).assembled(t, blocks.start)
    except AssemblyError:
        return None  # only the whole can be assembled
    return relative_poses(blocks, q)


def _guess(blocks: ReferenceBlocks, given: Mapping[str, float]) -> Floats:
    q = blocks.start.copy()
    if given:
        places = {name: k for k, name in enumerate(blocks.coordinate_names)}
        for name, value in given.items():
            if name not in places:
                raise ModelError(
                    f"{blocks.name} has no coordinate {name!r}: give one of a joint, or of a body "
                    f"such as {', '.join(list(places)[:7])}"
                )
            q[places[name]] = float(value)
    return q


def _kept(
    model: Model,
    blocks: ReferenceBlocks,
    guess: Floats,
    named: Sequence[str],
    t: float,
    parameters: Mapping[str, float] | None,
) -> Floats:
    """A position near a guess with coordinates of joints where they start.

    Those that are ``named`` come first, then those of the model.  As many are kept as the
    constraints leave free, the first ones first; the others choose the branch.

    It is the guess itself where no position is found from there: then others search further.

    Raises:
        AssemblyError: One that is named is free, and no position has its value.
    """
    if not len(blocks.rows):
        return guess
    try:
        place = Follower(blocks, 1e-10).assembled(t, guess)
    except AssemblyError:
        return guess
    first = {_full(model, name) for name in named}
    others = [name for name in _starting(model) if name not in first]
    if not named and not others:
        return place
    holding = _Holding(model, blocks, [*named, *others], t, parameters)
    if not holding.missed(place):
        return place
    held: list[str] = []
    for name in named:
        found = holding.near(place, [*held, name])
        if found is not None:
            held.append(name)
            place = found
        elif holding.moves(name, held, place):
            with_others = f" and {', '.join(held)} as named" if held else ""
            raise AssemblyError(
                f"{model.name} cannot be assembled with {name} = {holding.value(name):g}"
                f"{with_others}: no position is found. Check lengths, name fewer coordinates, or "
                f"give a start nearer to it"
            )
    left = [name for name in others if name in holding.names]
    for _ in range(_MOST_STARTS):
        if not left:
            break
        # the longest row of them that can be held, and without the one that ends it
        count, most = 0, len(left) + 1
        while most - count > 1:
            middle = most - 1 if count == 0 and most > len(left) else (count + most) // 2
            found = holding.near(place, [*held, *left[:middle]], aside=False)
            if found is None:
                most = middle
            else:
                count, place = middle, found
        held, left = [*held, *left[:count]], left[count + 1 :]
    return place


def _starting(model: Model) -> list[str]:
    """The coordinates of joints that carry bodies whose starts the model gives, if loops close."""
    carrying = _carrying(model)
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    if len(carrying) == len(joints):
        return []  # bodies stand where the joints place them
    return [
        f"{joint.name}.{name}"
        for joint in joints
        if joint.name in carrying
        for name in joint.start
        if _held_by_driver(next(c for c in joint.coordinates if c.name == name))
    ]


def _held_by_driver(coordinate: Coordinate) -> bool:
    return coordinate.manifold != "rotation" and coordinate.reading is not None


def _full(model: Model, name: str) -> str:
    """The full name of a coordinate of a joint, which may be called as the joint."""
    joint, coordinate = _coordinate(model, name)
    return f"{joint.name}.{coordinate.name}"


def _coordinate(model: Model, name: str) -> tuple[Joint, Coordinate]:
    joint = model.joints.get(name) or model.joints[name.rpartition(".")[0]]
    assert isinstance(joint, Joint), "others have no coordinates"
    own = {coordinate.name: coordinate for coordinate in joint.coordinates}
    return joint, own.get(name.rpartition(".")[2], joint.coordinates[0])


class _Holding:
    """Assembles a large mechanism with coordinates of joints held, by drivers that do not move.

    Attributes:
        names: The coordinates that can be held, by the names given.
    """

    def __init__(
        self,
        model: Model,
        blocks: ReferenceBlocks,
        names: Sequence[str],
        t: float,
        parameters: Mapping[str, float] | None,
    ) -> None:
        self._model, self._own, self._t = model, blocks, t
        self.names = [name for name in names if _held_by_driver(_coordinate(model, name)[1])]
        driven = copy(model)
        driven.drivers = dict(model.drivers)
        for name in self.names:
            joint, coordinate = _coordinate(model, name)
            kind = Rotary if coordinate.unit == "rad" else Translational
            called = f"{_START}{_full(model, name)}"
            law = law_from(f"({joint.start.get(coordinate.name, 0.0)})")
            driven.drivers[called] = kind(name=called, coordinate=_full(model, name), law=law)
        self._blocks = reference_blocks(driven, parameters=parameters, t=t)
        self._follower = Follower(self._blocks, 1e-10)
        rows = self._blocks.rows
        self._rows = {
            name: int(rows.starting_with(f"{_START}{_full(model, name)}")[0]) for name in self.names
        }

    def missed(self, place: Floats) -> list[str]:
        """The coordinates that are not where they start."""
        Phi = self._blocks.Phi(self._there(place), self._t)
        return [name for name, row in self._rows.items() if abs(Phi[row]) > 1e-9]

    def near(self, place: Floats, names: Sequence[str], aside: bool = True) -> Floats | None:
        """A position with the starts of some coordinates; None if none is found.

        From the place given, and from ``aside`` of it: it may be a dead point.
        """
        free = self._free(names)
        for beside in chain([place], self._beside(place, free) if aside else ()):
            try:
                found = self._follower.assembled(self._t, self._there(beside), free)
            except AssemblyError:
                continue
            return self._back(found, place)
        return None

    def moves(self, name: str, held: Sequence[str], place: Floats) -> bool:
        """Whether a coordinate moves with the mechanism while others are held."""
        row = self._rows[name]
        before = self._blocks.Phi(self._there(place), self._t)[row]
        for beside in self._beside(place, self._free([*held, name])):
            try:
                found = self._follower.assembled(self._t, self._there(beside), self._free(held))
            except AssemblyError:
                continue
            if abs(self._blocks.Phi(found, self._t)[row] - before) > 1e-4 * _ASIDE[0]:
                return True
        return False

    def value(self, name: str) -> float:
        """Where a coordinate starts."""
        joint, coordinate = _coordinate(self._model, name)
        return float(joint.start.get(coordinate.name, 0.0))

    def _free(self, held: Sequence[str]) -> Integers:
        """The rows of coordinates that are not held."""
        return np.array([row for name, row in self._rows.items() if name not in held], dtype=int)

    def _beside(self, place: Floats, free: Integers) -> Iterator[Floats]:
        """Positions near one, of those bodies whose constraints contradict each other in it."""
        blocks = self._blocks
        Phi, J = blocks.position(self._there(place), self._t)
        rows, columns = blocks.indices
        left = np.abs(
            SparseRows(blocks).conflict(
                np.where(np.isin(rows, free), 0.0, J),
                np.where(np.isin(np.arange(len(Phi)), free), 0.0, Phi),
            )
        )
        width = blocks.widths[1]
        touched = np.unique(columns[left[rows] > 0.05 * left.max()] // width)
        bodies = touched[touched < blocks.world.count]
        moving = np.zeros(self._own.nv)
        moving[(width * bodies[:, None] + np.arange(width)).ravel()] = 1.0
        random = np.random.default_rng(0)
        for part in _ASIDE:
            delta = part * random.uniform(-1, 1, self._own.nv)
            yield self._own.moved(place, delta * moving)

    def _there(self, place: Floats) -> Floats:
        """A position as the equations with drivers have it, which count more turns."""
        bodies = self._own.widths[0] * self._own.world.count
        known = dict(zip(self._own.extra, place[bodies:], strict=True))
        first = zip(self._blocks.extra, self._blocks.start[bodies:], strict=True)
        return np.concatenate([place[:bodies], [known.get(name, x) for name, x in first]])

    def _back(self, found: Floats, place: Floats) -> Floats:
        """The reverse."""
        bodies = self._own.widths[0] * self._own.world.count
        known = dict(zip(self._blocks.extra, found[bodies:], strict=True))
        first = zip(self._own.extra, place[bodies:], strict=True)
        return np.concatenate([found[:bodies], [known.get(name, x) for name, x in first]])


def assembled_poses(
    model: Model, q: Mapping[str, float] | None, t: float, parameters: Mapping[str, float]
) -> dict[str, Floats]:
    """The poses of all bodies at the start, T (4, 4) by name, of a model without parts.

    They are closed as a whole with sparse rows, from where bodies stand along their joints.

    Raises:
        AssemblyError: The joints do not close.
        ModelError: A name in ``q`` is not known.
    """
    given, rest = with_start(model, q or {})
    blocks = reference_blocks(given, parameters=parameters, t=t)
    named = [name for name in q or {} if name not in rest]
    place = _kept(given, blocks, _guess(blocks, rest), named, t, parameters)
    place = Follower(blocks, 1e-10).assembled(t, place)
    found = {}
    poses = poses_of(blocks.world, place, None, blocks.across)
    for name, at, R in zip(blocks.bodies, poses.place, poses.axes, strict=True):
        found[name] = np.eye(4)
        found[name][:3, :3], found[name][:3, 3] = R, at
    return found


def named_values(
    blocks: ReferenceBlocks,
    what: str,
    names: Sequence[str],
    default: Floats,
    given: Mapping[str, float] | Sequence[float] | None,
) -> Floats:
    """Values given by name or in order; the others are those of the model.

    Raises:
        ModelError: There is no such name, or not as many as values.
    """
    found = np.array(default, dtype=float)
    if given is None:
        return found
    if not isinstance(given, Mapping):
        values = np.asarray(given, dtype=float).ravel()
        if len(values) != len(found):
            raise ModelError(f"{blocks.name} has {len(found)} {what}s, not {len(values)}")
        return values
    places = {name: k for k, name in enumerate(names)}
    for name, value in given.items():
        if name not in places:
            raise ModelError(f"{blocks.name} has no {what} {name!r}{nearest(name, places)}")
        found[places[name]] = float(value)
    return found


# ------------------------------------------------------------------------------- velocities


def first_velocity(
    model: Model,
    blocks: ReferenceBlocks,
    q: Floats,
    t: float,
    given: Mapping[str, float] | None,
    parameters: Mapping[str, float] | None,
) -> Floats:
    """The velocity at the start: joints move at their rates, and others rest as far as they can.

    Where velocities of bodies are given, it is the one nearest to them, in the metric of the mass,
    that fulfils all constraints and rates.

    Raises:
        ModelError: The rates contradict each other or the constraints, or a name is not known.
    """
    names = list(blocks.velocity_names) if given else []
    v = named_values(blocks, "velocity", names, np.zeros(blocks.nv), given)
    moving, asked = _moving_joints(model, resting=not given)
    full = reference_blocks(moving, parameters=parameters, t=t) if asked else blocks
    if not len(full.rows):
        return v
    bodies = blocks.widths[1] * blocks.world.count
    at = full.start.copy()
    at[: blocks.widths[0] * blocks.world.count] = q[: blocks.widths[0] * blocks.world.count]
    wanted = np.zeros(full.nv)
    wanted[:bodies] = v[:bodies]
    J, beta = full.Phi_v(at, t), full.beta(at, t)
    row, column = full.indices
    if not (beta - np.bincount(row, J * wanted[column], len(full.rows))).any():
        return v
    soft = full.rows.starting_with(_REST)
    hard = np.ones(len(full.rows), dtype=bool)
    hard[soft] = False
    found = wanted
    if len(soft):
        try:
            found = _nearest(full, J, beta, wanted, soft)
        except SingularityError:
            # rows that depend on others and weak inertia: those that can rest are not told apart
            found = wanted
    try:  # what rests is off by the rounding of weak inertia
        found = _nearest(full, np.where(hard[row], J, 0.0), beta, found, soft[:0])
    except SingularityError as error:
        raise ModelError(
            f"{blocks.name}: no velocity fulfils all joints and rates: {error}"
        ) from error
    left = np.abs(beta - np.bincount(row, J * found[column], len(full.rows)))
    left[soft] = 0.0
    worst = int(np.argmax(left))
    if left[worst] > 1e-9 * (1 + np.abs(beta).max()):
        held = np.where(hard, beta, 0.0)
        conflict = SparseRows(full).conflict(np.where(hard[row], J, 0.0), held)
        raise ModelError(
            f"{blocks.name}: no velocity fulfils all joints and their rates; {full.rows[worst]} "
            f"is missed by {left[worst]:.3g}: {in_conflict(full.rows, conflict)}. Check the laws "
            f"of drivers, and give rates to as many joints as there are freedoms"
        )
    v[:bodies] = found[:bodies]
    if len(blocks.extra):
        places = {name: k for k, name in enumerate(full.extra)}
        v[bodies:] = [found[bodies + places[name]] for name in blocks.extra]
    return v


def _nearest(blocks: ReferenceBlocks, J: Floats, beta: Floats, v: Floats, soft: Integers) -> Floats:
    """The velocity with Φ_v v = β that misses ``soft`` rows least, else nearest to ``v``.

    It minimises |soft rows|² + ε (v - v_k)ᵀ M (v - v_k) again and again, from v on, which converges
    to what ε = 0 would give (Rockafellar 1976, "Monotone operators and the proximal point
    algorithm", SIAM J. Control Optim. 14).  Without soft rows once is enough.
    """
    n, m, bodies = blocks.nv, len(blocks.rows), blocks.widths[1] * blocks.world.count
    first, second, M = mass_entries(blocks)
    extra = bodies + np.flatnonzero(blocks.rotors == 0)
    scale = _WEIGHT / float(np.abs(M).max()) if len(soft) else 1.0
    entries = np.concatenate([M, np.full(len(extra), M.mean())]) * scale
    at = np.concatenate([first, extra]), np.concatenate([second, extra])
    hard = np.where(np.isin(blocks.indices[0], soft), 0.0, J)
    stiff = stiffening(blocks, hard)
    products, h = (scale * x for x in stiff.values(hard, beta, n))
    pattern = SymmetricPattern(
        n + m,
        np.concatenate([at[0], n + soft, n + blocks.indices[0], stiff.places[0]]),
        np.concatenate([at[1], n + soft, blocks.indices[1], stiff.places[1]]),
    )
    solver = SparseLDLT(pattern, late=np.arange(n, n + m))
    solver.factor(np.concatenate([entries, -np.ones(len(soft)), J, products]))
    for _ in range(_ROUNDS if len(soft) else 1):
        pull = h + np.bincount(at[0], entries * v[at[1]], n)
        across = at[0] != at[1]
        pull += np.bincount(at[1][across], entries[across] * v[at[0][across]], n)
        found = solver.solve(np.concatenate([pull, beta]))[:n]
        done = float(np.abs(found - v).max()) <= 1e-15 * (1 + float(np.abs(found).max()))
        v = found
        if done:
            break
    return v


def _moving_joints(model: Model, resting: bool) -> tuple[Model, bool]:
    """The model with a driver for each rate of a joint, in its parts too; whether anything moves.

    With ``resting`` other joints get one, too, that holds them.
    """
    if not _moves(model):
        return model, False
    return _driven(model, resting), True


def _moves(model: Model) -> bool:
    """Whether a joint has a rate or there is a driver."""
    own = any(joint.rates for joint in model.joints.values() if isinstance(joint, Joint))
    return own or bool(model.drivers) or any(_moves(part.model) for part in model.parts.values())


def _driven(model: Model, resting: bool) -> Model:
    found = copy(model)
    found.drivers = dict(model.drivers)
    carrying = _carrying(model)
    for joint in model.joints.values():
        if not isinstance(joint, Joint):
            continue
        for coordinate in joint.coordinates:
            rate = joint.rates.get(coordinate.name)
            held = resting and joint.name in carrying and coordinate.manifold != "rotation"
            if rate is None and not (held and coordinate.reading is not None):
                continue
            kind = Rotary if coordinate.unit == "rad" else Translational
            full = f"{joint.name}.{coordinate.name}"
            called = f"{_REST}{full}" if rate is None else f"rate of {full}"
            start = joint.start.get(coordinate.name, 0.0)
            law = law_from(f"({start}) + ({rate or 0})*t")
            found.drivers[called] = kind(name=called, coordinate=full, law=law)
    found.parts = {
        name: replace(part, model=_driven(part.model, resting))
        for name, part in model.parts.items()
    }
    return found


def _carrying(model: Model) -> set[str]:
    """Names of the joints that carry bodies of the model itself, not those of its parts."""
    alone = copy(model)
    own = {GROUND, *model.bodies}
    alone.joints = {
        name: joint
        for name, joint in model.joints.items()
        if isinstance(joint, Joint) and {joint.i.body, joint.j.body} <= own
    }
    return {branch.joint.name for branch in carrying_tree(alone, loads=False).branches}
