"""Which joints a system has, from watching it move.

A symbolic system declares bases and points, not joints.  A joint between two solids shows as what
stays at rest in both: points of the one that stay at points of the other, and directions about
which alone they turn relative to each other.  A spherical joint has a point, a revolute a point and
a direction, anything that only slides three directions.

Watching means many random states, for several sets of parameters.  In states that satisfy the
constraints, joints that close loops show like those of the tree.  Numbers only find a joint: where
its points and directions lie in the solids is then written in the symbols of the model.  Points
are found by name; only an axis about which one coordinate turns needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, Kind, diff, evaluate, substitute
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations.base_parameters import (
    admissible_states,
    enough_states,
    free_states,
    observations,
)
from biela.equations.pseudo_inertia import Four
from biela.equations.regressor import Regressor, regressor
from biela.equations.symbolic import SymbolicSystem
from biela.errors import ModelError
from biela.singular_values import svd
from biela.space import Base, Point, angular_velocity, position, rotation_matrix, velocity
from biela.space import Frame as SpaceFrame

Floats = npt.NDArray[np.float64]

#: Sets of random parameters: what holds for all of them holds for the symbols.
DRAWS = 3
_SAME = 1e-9  # relative: the same place or direction in all states


class Through(Enum):
    """What inertia may be transferred through."""

    JOINTS = "joints of the tree: M and Q stay what they are"
    LOOPS = "joints that close loops too: the constrained motion stays what it is"


@dataclass(frozen=True)
class Body:
    """A solid, by its number, or the ground, with its frame."""

    solid: int | None
    point: Point
    base: Base


#: Two bodies, and the points and directions at rest in both, as each of them sees them.
Joint = tuple[Body, Body, list[tuple[Four, Four]]]


@dataclass(frozen=True)
class Sample:
    """Where everything is in many states, for one set of parameters: a row for each state."""

    parameters: Floats
    rotations: Floats  # (states, bodies, 3, 3): {u}_root = R {u}_body; the ground is last
    omegas: Floats  # (states, bodies, 3), in the root base
    points: Floats  # (states, points, 3), in the root base
    W: Floats  # the regressor at the states, in the motions allowed


class Survey:
    """A system in many states, and what its solids are seen to have in common.

    Raises:
        ModelError: If the system has no solids.
        AssemblyError: If loops are asked for and hardly any random position closes them.
    """

    def __init__(self, system: SymbolicSystem, through: Through, seed: int = 0) -> None:
        if not system.solids:
            raise ModelError(f"{system.name} has no solids: add one with solid(…)")
        self.system = system
        self.ground = Body(None, system.origin, system.base)
        self.bodies = [Body(i, s.point, s.base) for i, s in enumerate(system.solids)]
        self.points = list(system.space.points.values())
        self.zero, self.one = system.workspace.atom(0), system.workspace.atom(1)
        self.samples = self._samples(regressor(system), through, seed)
        symbols = system.parameter_symbols
        self._draws = {
            symbol: np.array([sample.parameters[k] for sample in self.samples])
            for k, symbol in enumerate(symbols)
        }

    def _samples(self, found: Regressor, through: Through, seed: int) -> list[Sample]:
        system = self.system
        inputs: dict[str, Entries] = {"t": system.time, "q": system.q, "v": system.v}
        inputs["p"] = system.parameter_symbols
        bodies, root = [*self.bodies, self.ground], system.base
        outputs: dict[str, Entries] = {
            "R": [[x for row in rotation_matrix(root, f.base) for x in row] for f in bodies],
            "omega": [list(angular_velocity(root, f.base).components(root)) for f in bodies],
            "r": [list(position(system.origin, p).components(root)) for p in self.points],
        }
        places = Function("places", inputs, outputs)
        values = np.array(list(system.parameter_values.values()))
        random = np.random.default_rng(seed)
        samples = []
        for k in range(DRAWS):
            # near the values given, so that loops still close; any value where none is given
            near = values * random.uniform(0.95, 1.05, len(values))
            p = np.where(values == 0, random.uniform(0.5, 1.5, len(values)), near)
            count = enough_states(system)
            states = (
                free_states(system, count, seed + k)
                if through is Through.JOINTS
                else admissible_states(system, p, count, seed + k)
            )
            R, omega, r = places.walk_map(states.t, states.q, states.v, p)
            W = observations(found, p, states)
            samples.append(Sample(p, R.reshape(count, -1, 3, 3), omega, r, W))
        return samples

    # ------------------------------------------------------------------- numbers

    def values(self, atoms: Sequence[Atom]) -> Floats:
        """The values of expressions of parameters, one column for each set of parameters."""
        found = evaluate(list(atoms), self._draws)
        return np.array([np.broadcast_to(x, (DRAWS,)) for x in found])

    # -------------------------------------------------------------------- joints

    @cached_property
    def outermost_first(self) -> list[Body]:
        """The solids from the tips of the trees to the root."""
        return sorted(
            self.bodies, key=lambda b: (b.base.depth + b.point.depth, b.solid), reverse=True
        )

    @cached_property
    def joints(self) -> list[Joint]:
        """All pairs of solids, the outer one first, that have something at rest in both.

        The strongest come first, and of those the ones with the ground.
        """
        order = [*self.outermost_first, self.ground]
        found = []
        for k, a in enumerate(order):
            for b in order[k + 1 :]:
                directions, point = self.common_directions(a, b), self.common_point(a, b)
                if not (directions and point):
                    axis = self._written_axis(a, b)
                    if axis is not None:
                        directions, point = directions or [axis[0]], point or axis[1]
                rest = directions + ([point] if point else [])
                if rest:
                    found.append((a, b, rest))
        return sorted(found, key=lambda joint: (-len(joint[2]), joint[1].solid is not None))

    def fixed_points(self, body: Body) -> dict[int, Four]:
        """The named points that a solid carries, by number, with their coordinates in its body."""
        k = self._number(body)
        origin = self.points.index(body.point)
        found = {}
        for number, point in enumerate(self.points):
            arms = [
                np.einsum(
                    "sij,si->sj", s.rotations[:, k], s.points[:, number] - s.points[:, origin]
                )
                for s in self.samples
            ]
            if all(np.abs(arm - arm[0]).max() <= _SAME * (1 + np.abs(arm).max()) for arm in arms):
                x, y, z = position(body.point, point).components(body.base)
                if not _moving((x, y, z)):  # not fixed by a constraint alone
                    found[number] = (x, y, z, self.one)
        return found

    def common_point(self, a: Body, b: Body) -> tuple[Four, Four] | None:
        """A point of one solid that stays at a point of another; the one written most simply."""
        pairs = [
            (here, there)
            for m, here in self._fixed[a].items()
            for n, there in self._fixed[b].items()
            if all(
                np.abs(s.points[:, m] - s.points[:, n]).max()
                <= _SAME * (1 + np.abs(s.points[:, m]).max())
                for s in self.samples
            )
        ]
        return min(
            pairs, key=lambda pair: sum(x.ref != 0 for x in (*pair[0], *pair[1])), default=None
        )

    @cached_property
    def _fixed(self) -> dict[Body, dict[int, Four]]:
        return {body: self.fixed_points(body) for body in [*self.bodies, self.ground]}

    def common_directions(self, a: Body, b: Body) -> list[tuple[Four, Four]]:
        """The directions fixed in both of two solids: none, that of one axis, or all three."""
        i, j = self._number(a), self._number(b)
        turning = np.concatenate([s.omegas[:, i] - s.omegas[:, j] for s in self.samples])
        scale = max(float(np.abs(s.omegas).max()) for s in self.samples)
        if np.abs(turning).max() <= _SAME * scale or not scale:
            return [self._both(a, b, axis) for axis in np.eye(3)]
        for first, second in ((a, b), (b, a)):
            R = np.concatenate([s.rotations[:, self._number(first)] for s in self.samples])
            seen = np.einsum("sij,si->sj", R, turning)
            _, sizes, rows = svd(seen, full_matrices=False)
            if sizes[1] <= _SAME * sizes[0]:
                here, there = self._both(first, second, rows[0] * np.sign(rows[0].sum() or 1.0))
                return [(here, there) if first is a else (there, here)]
        return []  # an axis that depends on parameters in both bodies, or no axis

    def _written_axis(self, a: Body, b: Body) -> tuple[tuple[Four, Four], tuple[Four, Four]] | None:
        """Direction and point of the axis about which one coordinate alone turns a body in another.

        For an axis that is tilted by parameters in both, or without a named point: from the
        velocities ω and v per unit of the rate, r = ω x v / ω².  That it is an axis and not a screw
        is not looked at here.
        """
        omega = angular_velocity(b.base, a.base).components(a.base)
        rates = [rate for rate in self.system.v if any(diff(x, rate).ref for x in omega)]
        if len(rates) != 1:
            return None
        v = velocity(SpaceFrame(b.point, b.base), a.point).components(a.base)
        if any(diff(x, rate).ref for x in v for rate in self.system.v if rate != rates[0]):
            return None
        u = self.at_rest([diff(x, rates[0]) for x in omega])
        w = self.at_rest([diff(x, rates[0]) for x in v])
        square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
        r = [u[i - 2] * w[i - 1] - u[i - 1] * w[i - 2] for i in range(3)]
        if np.abs(self.values([square]) - 1).max() > 1e-12:
            r = [x / square for x in r]
        arm = position(b.point, a.point) + a.base.vector(r[0], r[1], r[2])
        x, y, z = self.at_rest(a.base.vector(u[0], u[1], u[2]).components(b.base))
        p = self.at_rest(arm.components(b.base))
        return (
            ((u[0], u[1], u[2], self.zero), (x, y, z, self.zero)),
            ((r[0], r[1], r[2], self.one), (p[0], p[1], p[2], self.one)),
        )

    def _both(self, a: Body, b: Body, direction: Floats) -> tuple[Four, Four]:
        """A direction of one body, as numbers, and of another, as numbers or expressions."""
        i, j = self._number(a), self._number(b)
        R = np.concatenate(
            [np.einsum("sij,sik->sjk", s.rotations[:, j], s.rotations[:, i]) for s in self.samples]
        )
        seen = R @ direction
        if np.abs(seen - seen[0]).max() <= _SAME:
            there = self._numbers(seen.mean(axis=0))
        else:
            here = a.base.vector(*(float(x) for x in _rounded(direction)))
            x, y, z = self.at_rest(here.components(b.base))
            there = (x, y, z, self.zero)
        return self._numbers(direction), there

    def _numbers(self, direction: Floats) -> Four:
        x, y, z = (self.system.workspace.atom(float(x)) for x in _rounded(direction))
        return x, y, z, self.zero

    def _number(self, body: Body) -> int:
        return len(self.bodies) if body.solid is None else body.solid

    def at_rest(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Expressions that depend on no coordinate in truth, with the coordinates taken out."""
        if not _moving(atoms):
            return list(atoms)
        still: dict[Atom, Atom | float] = {q: 0 for q in (*self.system.q, self.system.time)}
        return list(substitute(list(atoms), still))


def _moving(atoms: Sequence[Atom]) -> bool:
    """Whether expressions contain a coordinate or the time."""
    table = atoms[0].table
    symbols = (table.symbols.get(atom) for atom in table.live(x.ref for x in atoms))
    return any(symbol is not None and symbol.kind is not Kind.PARAMETER for symbol in symbols)


def _rounded(direction: Floats) -> Floats:
    """A unit vector whose zeros and ones are exact, so that they leave no operations behind."""
    unit = direction / np.linalg.norm(direction)
    whole = np.round(unit)
    return np.where(np.abs(unit - whole) < 1e-12, whole, unit) + 0.0
