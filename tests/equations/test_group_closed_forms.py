"""Closed forms of planar dyads: they fulfil the equations of the group, on the branch asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import biela as bl
from biela.atoms import Atom, evaluate
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import ClosedForm, closed_form
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.group import Group
from biela.equations.groups.kernel import GroupEquations, known_values
from biela.equations.groups.natural import natural_group
from biela.equations.groups.reference_point import reference_point_group
from biela.equations.groups.relative import relative_group
from biela.equations.groups.structure import Structure
from biela.equations.groups.wanted import Wanted, component_atoms
from biela.model import Body, Orientation

KINDS = {"R": "revolute", "P": "prismatic"}
CHAINS = ("RRR", "RRP", "PRR", "RPR", "PRP", "RPP", "PPR")
TWO_BRANCHES = ("RRR", "RRP", "PRR", "RPR")


def of_joints(cast: Cast, poses: Poses) -> GroupDerivation:
    return relative_group(cast, poses, "relative")


WAYS = {
    "absolute": relative_group,
    "joints": of_joints,
    "reference": reference_point_group,
    "natural": natural_group,
}


def rotation(plane: str, angle: float) -> np.ndarray:
    """About the normal of a plane."""
    k = "xyz".index(({*"xyz"} - {*plane}).pop())
    a, b = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[a, a] = R[b, b] = np.cos(angle)
    R[b, a], R[a, b] = np.sin(angle), -np.sin(angle)
    return R


@dataclass
class Dyad:
    """Instances of a dyad between two bodies that somebody moves, with random geometry.

    All joints close where bodies start: they are made at places of the ground.
    """

    letters: str
    seed: int
    plane: str = "xz"
    grounded: int = -1  # the end that is on the ground, if one is

    def __post_init__(self) -> None:
        random = np.random.default_rng([self.seed, CHAINS.index(self.letters)])
        self.model = m = bl.Model(f"{self.letters} {self.seed}", plane=self.plane)
        normal = ({*"xyz"} - {*self.plane}).pop()
        place, axes = [], []

        def spot() -> np.ndarray:
            at = random.uniform(-1, 1, 3)
            at["xyz".index(normal)] = 0.0
            return at

        def body(name: str) -> Body:
            place.append(spot())
            angle = float(random.uniform(-3, 3))
            axes.append(rotation(self.plane, angle))
            turn = Orientation(turns=((normal, angle),))
            return m.body(name, mass=1.0, inertia=0.1, position=tuple(place[-1]), orientation=turn)

        ends = [m.ground if k == self.grounded else body(f"end{k}") for k in range(2)]
        names = [str(n) for n in random.permutation(["first", "second"])]
        made = {name: body(name) for name in ("first", "second")}
        chain = [ends[0], made[names[0]], made[names[1]], ends[1]]
        order = [int(k) for k in random.permutation(3)]
        for k in order:
            i, j = chain[k : k + 2] if random.uniform() < 0.5 else (chain[k + 1], chain[k])
            letter = self.letters[k]
            axis = random.choice([normal, f"-{normal}"]) if letter == "R" else tuple(spot())
            m.joint(KINDS[letter], "ABC"[k], i, j, at=tuple(spot()), axis=axis)
        self.poses = Poses(np.array(place), np.array(axes), self.plane)
        bodies = tuple(str(n) for n in random.permutation(names))
        joints = tuple("ABC"[k] for k in random.permutation(3))
        known = tuple(e.name for k, e in enumerate(ends) if k != self.grounded)
        group = Group(bodies, joints, (), known, (), 0, "plane", "k", self.letters, bodies, joints)
        structure = Structure("x", self.plane, 3, [group], {"k": (0,)}, {}, ((0,),))
        (self.cast,) = Casts(World(m), structure).casts

    def equations(self, way: str) -> GroupEquations:
        return GroupEquations(WAYS[way](self.cast, self.poses), self.poses)

    def moved(self, seed: int, size: float) -> Poses:
        """The known bodies somewhat elsewhere; those of the group left where they were."""
        random = np.random.default_rng(seed)
        place, axes = np.array(self.poses.place), np.array(self.poses.axes)
        for k in range(2 - (self.grounded >= 0)):
            for axis in self.plane:
                place[k, "xyz".index(axis)] += random.uniform(-size, size)
            axes[k] = rotation(self.plane, random.uniform(-size, size)) @ axes[k]
        return Poses(place, axes, self.plane)


@dataclass
class Solved:
    """The closed form of a group with numbers, at some position of the known bodies."""

    equations: GroupEquations
    form: ClosedForm
    poses: Poses
    branch: float

    def __post_init__(self) -> None:
        derivation = self.equations.derivation
        self.values: dict[Atom, object] = {}
        if self.form.branch is not None:
            self.values[self.form.branch] = self.branch
        start = [derivation.workspace.atom(0.0)] * len(derivation.unknowns)
        with np.errstate(all="raise"):
            self.x = [float(x) for x in self._evaluated(self.form.guess(start))]
        self.values |= dict(zip(self.equations.x, self.x, strict=True))

    def _evaluated(self, atoms: list[Atom]) -> list[float]:
        derivation = self.equations.derivation
        given = {c.symbol: c.values for c in derivation.columns}
        given |= {k.symbol: known_values(k, self.poses) for k in derivation.known}
        found = evaluate(atoms, given | self.values)
        return [float(np.ravel(v)[0]) for v in found]

    @property
    def residual(self) -> float:
        return float(np.linalg.norm(self._evaluated(self.equations.Phi)))

    @property
    def margin(self) -> float:
        assert self.form.margin is not None
        return self._evaluated([self.form.margin])[0]

    def whole(self) -> Poses:
        """Poses with those of the group as its unknowns say."""
        derivation = self.equations.derivation
        place, axes = np.array(self.poses.place), np.array(self.poses.axes)
        plane = derivation.plane
        for slot, number in enumerate(derivation.cast.bodies[0]):
            point = component_atoms(derivation, Wanted("point", slot, 0, np.zeros((1, 3))))
            values = self._evaluated(point)
            if plane is None:
                ways = [Wanted("axis", slot, k, np.eye(3)[None, k]) for k in range(3)]
                atoms = [component_atoms(derivation, way) for way in ways]
                place[number] = values
                axes[number] = np.array([self._evaluated(a) for a in atoms]).T
                continue
            for k, axis in enumerate(plane):
                place[number, "xyz".index(axis)] = values[k]
            c, s = self._evaluated(component_atoms(derivation, Wanted("turn", slot)))
            axes[number] = rotation(plane, float(np.arctan2(s, c)))
        return Poses(place, axes, plane)


def form_of(equations: GroupEquations) -> ClosedForm:
    form = closed_form(equations)
    assert form is not None
    return form


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("letters", CHAINS)
def test_a_dyad_is_found_where_it_is_assembled(letters: str, way: str) -> None:
    for seed in range(4):
        dyad = Dyad(letters, seed, plane=("xz", "xy", "yz")[seed % 3], grounded=seed % 3 - 1)
        equations = dyad.equations(way)
        form = form_of(equations)
        signs = form.branch_of(dyad.poses)
        assert (signs is not None) == (letters in TWO_BRANCHES)
        solved = Solved(equations, form, dyad.poses, 1.0 if signs is None else signs[0])
        assert solved.margin > 1e-6
        for x, unknown in zip(solved.x, equations.derivation.unknowns, strict=True):
            gap = x - unknown.start(dyad.poses)[0]
            assert abs(np.sin(gap / 2) if unknown.turns else gap) < 1e-11 / solved.margin


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("letters", CHAINS)
def test_a_dyad_closes_on_both_branches_wherever_its_ends_are(letters: str, way: str) -> None:
    reached = 0
    for seed in range(4):
        dyad = Dyad(letters, seed, grounded=seed % 3 - 1)
        equations = dyad.equations(way)
        form = form_of(equations)
        for k in range(6):
            for branch in (1.0, -1.0)[: form.branch_count]:
                solved = Solved(equations, form, dyad.moved(k, 0.4), branch)
                assert np.isfinite(solved.x).all()
                if solved.margin < 1e-3:
                    continue
                reached += 1
                assert solved.residual < 1e-11
                if form.sides is not None:
                    assert form.sides.signs(solved.whole())[0] == branch
    assert reached > 12


@pytest.mark.parametrize("letters", TWO_BRANCHES)
def test_a_dyad_out_of_reach_is_told_by_its_margin_and_stays_finite(letters: str) -> None:
    dyad = Dyad(letters, 1, grounded=1 if letters[2] == "P" else 0)
    equations = dyad.equations("reference")
    form = form_of(equations)
    far = dyad.moved(0, 0.0)
    # ends far apart; with a slide between the pins, nearer than its offset from them
    shift = np.array([7.0, 0.0, 7.0])
    if letters == "RPR":
        A, C = (known_point(dyad, name) for name in "AC")
        shift = C - A + [1e-3, 0.0, 0.0]
    far.place[0] += shift if dyad.grounded == 1 else -shift
    solved = Solved(equations, form, far, 1.0)
    assert solved.margin < 0
    assert solved.residual > 1e-3
    assert np.isfinite(solved.x).all()


def known_point(dyad: Dyad, joint: str) -> np.ndarray:
    """Where the joint of an end is on the body that is known."""
    (element,) = (e for e in dyad.cast.elements if e.label == joint)
    (marker,) = (m for m in element.markers if m.slot < 0)
    return dyad.poses.of(marker.frames)[0][0]
