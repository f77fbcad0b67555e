"""Closed forms of spatial dyads: rods, legs and spherical dyads fulfil their equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import biela as bl
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import closed_form
from biela.equations.groups.group import Group, PassiveSpin
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.natural import natural_group
from biela.equations.groups.reference_point import reference_point_group
from biela.equations.groups.relative import relative_group
from biela.equations.groups.structure import Structure
from biela.model import Body, Orientation
from tests.equations.test_group_closed_forms import closes, form_of, found_at_start

KINDS = {"R": "revolute", "P": "prismatic", "S": "spherical", "U": "universal"}
CHAINS = ("SSP", "PSS", "SSR", "RSS", "SPU", "UPS", "SPS", "RRR", "USP", "PUS", "RSU", "SUR")
#: Those that move in a plane.
FLAT = ("flat RRR", "flat PRR", "flat RRP", "flat RPR", "flat PRP", "flat PPR", "flat RPP")
WAYS = {"relative": relative_group, "natural": natural_group}


def rotation(vector: np.ndarray) -> np.ndarray:
    """Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass
class SpatialDyad:
    """A dyad between two bodies that somebody moves, with random geometry and order."""

    chain: str
    seed: int
    grounded: bool = False

    def __post_init__(self) -> None:
        self.letters, self.flat = self.chain[-3:], self.chain in FLAT
        random = np.random.default_rng([self.seed, (CHAINS + FLAT).index(self.chain)])
        self.model = m = bl.Model(f"{self.letters} {self.seed}")
        place, axes = [], []

        def body(name: str) -> Body:
            angles = [float(a) for a in random.uniform(-2, 2, 3)]
            turn = Orientation(turns=tuple(zip("zyx", angles, strict=True)))
            R = np.eye(3)
            for axis, angle in turn.turns:
                R = R @ rotation(np.eye(3)["xyz".index(axis)] * float(angle))
            place.append(random.uniform(-1, 1, 3))
            axes.append(R)
            return m.body(name, mass=1.0, inertia=0.1, position=tuple(place[-1]), orientation=turn)

        ends = [body("end0"), m.ground if self.grounded else body("end1")]
        names = [str(n) for n in random.permutation(["first", "second"])]
        made = {name: body(name) for name in ("first", "second")}
        chain = [ends[0], made[names[0]], made[names[1]], ends[1]]
        points, ways = self._geometry(random)
        for k in (int(k) for k in random.permutation(3)):
            i, j = chain[k : k + 2] if random.uniform() < 0.5 else (chain[k + 1], chain[k])
            kind = KINDS[self.letters[k]]
            m.joint(kind, "ABC"[k], i, j, at=tuple(points[k]), axis=tuple(ways[k]))
        self.poses = Poses(np.array(place), np.array(axes))
        bodies = tuple(str(n) for n in random.permutation(names))
        joints = tuple("ABC"[k] for k in random.permutation(3))
        known = tuple(e.name for e in ends if e.name != "ground")
        group = Group(
            bodies, joints, (), known, (), 0, "space", "k", self.letters, bodies, joints,
            locked=self._spins(names, points),
        )  # fmt: skip
        structure = Structure("x", None, 6, [group], {"k": (0,)}, {}, ((0,),))
        (self.cast,) = Casts(World(m), structure).casts

    def _geometry(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Places and axes of the three joints in the ground."""
        points, ways = random.uniform(-1, 1, (3, 3)), random.normal(size=(3, 3))
        if self.flat:
            self.normal = ways[0] / np.linalg.norm(ways[0])
            across = np.cross(self.normal, random.normal(size=(3, 3)))
            hinge = np.array([[letter == "R"] for letter in self.letters])
            ways = np.where(hinge, self.normal, across)
            return points, ways * random.choice([1.0, -1.0], (3, 1))
        if self.letters[1] == "P":
            ways[:] = points[2] - points[0]
            points[1] = points[0] + random.uniform(0, 1) * ways[0]
        if "U" in self.letters and self.letters[1] != "P":
            ends = (1, 2) if self.letters[0] in "PR" else (0, 1)  # of the rod
            ways[self.letters.index("U")] = points[ends[1]] - points[ends[0]]
        if self.letters == "RRR":
            self.meeting = points[0].copy()
            points = self.meeting + random.uniform(-1, 1, (3, 1)) * ways
        return points, ways

    def _spins(self, names: list[str], points: np.ndarray) -> tuple[PassiveSpin, ...]:
        """Of the rod, or of both halves of a strut."""
        ends = {"SSP": (0, 0, 1), "SSR": (0, 0, 1), "PSS": (1, 1, 2), "RSS": (1, 1, 2)}
        found = ends.get(self.letters, (0, 0, 2) if self.letters == "SPS" else None)
        if found is None:
            return ()
        body, a, b = found
        name = names[body]
        number = list(self.model.bodies).index(name)
        r, R = self.poses.place[number], self.poses.axes[number]
        local = [tuple(R.T @ (points[k] - r)) for k in (a, b)]
        axis = np.array(local[1]) - local[0]
        turned = (name,) if self.letters != "SPS" else tuple(names)
        return (PassiveSpin(name, turned, ("ABC"[a], "ABC"[b]), tuple(local), tuple(axis)),)

    def equations(self, way: str) -> GroupEquations:
        return GroupEquations(WAYS[way](self.cast, self.poses), self.poses)

    def moved(self, seed: int, size: float) -> Poses:
        """The known bodies somewhat elsewhere; about the point where axes meet, if they do."""
        random = np.random.default_rng(seed)
        place, axes = np.array(self.poses.place), np.array(self.poses.axes)
        if self.flat:
            return self._moved_in_plane(random, size, place, axes)
        for k in range(1 if self.grounded else 2):
            turn = rotation(random.uniform(-size, size, 3))
            axes[k] = turn @ axes[k]
            if self.letters == "RRR":
                place[k] = self.meeting + turn @ (place[k] - self.meeting)
            else:
                place[k] += random.uniform(-size, size, 3)
        return Poses(place, axes)

    def _moved_in_plane(
        self, random: np.random.Generator, size: float, place: np.ndarray, axes: np.ndarray
    ) -> Poses:
        """Each end in the plane of the dyad, then this plane with both of them."""
        ends = range(1 if self.grounded else 2)
        for k in ends:
            axes[k] = rotation(self.normal * random.uniform(-size, size)) @ axes[k]
            place[k] += size * np.cross(self.normal, random.uniform(-1, 1, 3))
        if not self.grounded:
            turn, way = rotation(random.uniform(-1, 1, 3)), random.uniform(-1, 1, 3)
            for k in ends:
                place[k], axes[k] = way + turn @ place[k], turn @ axes[k]
        return Poses(place, axes)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chain", CHAINS + FLAT)
def test_a_spatial_dyad_is_found_where_it_is_assembled_and_closes_elsewhere(
    chain: str, way: str
) -> None:
    reached = 0
    for seed in range(3):
        dyad = SpatialDyad(chain, seed, grounded=seed == 1)
        equations = dyad.equations(way)
        form = form_of(equations)
        assert form.branch_count == (1 if dyad.letters in ("PRP", "PPR", "RPP") else 2)
        found_at_start(equations, form, dyad.poses)
        reached += closes(equations, form, [dyad.moved(k, 0.3) for k in range(5)])
    assert reached >= 8


def test_a_spatial_dyad_by_euler_parameters_is_left_to_newtons_method() -> None:
    dyad = SpatialDyad("SSR", 0)
    derivation = reference_point_group(dyad.cast, dyad.poses)
    assert closed_form(GroupEquations(derivation, dyad.poses)) is None


def test_hinges_whose_axes_do_not_meet_are_left_to_newtons_method() -> None:
    dyad = SpatialDyad("RRR", 0)
    first = dyad.cast.elements[0].markers[0].frames
    first.place[0] += first.axes[0][:, 0] * 1e-3
    assert closed_form(dyad.equations("relative")) is None
