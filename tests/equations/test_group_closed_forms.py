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
from biela.equations.groups.closed_forms.angles import angle_of
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
    driven: str = ""  # the joint that a driver moves, if one does

    def __post_init__(self) -> None:
        random = np.random.default_rng([self.seed, *self.letters.encode()])
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
        count = len(self.letters)
        names = [str(n) for n in random.permutation(["one", "two", "three"][: count - 1])]
        made = {name: body(name) for name in sorted(names)}
        chain = [ends[0], *(made[name] for name in names), ends[1]]
        for k in (int(k) for k in random.permutation(count)):
            i, j = chain[k : k + 2] if random.uniform() < 0.5 else (chain[k + 1], chain[k])
            letter = self.letters[k]
            axis = random.choice([normal, f"-{normal}"]) if letter == "R" else tuple(spot())
            m.joint(KINDS[letter], "ABCD"[k], i, j, at=tuple(spot()), axis=axis)
        self.poses = Poses(np.array(place), np.array(axes), self.plane)
        bodies = tuple(str(n) for n in random.permutation(names))
        elements = [*"ABCD"[:count]]
        if self.driven:
            kind = "rotary" if self.letters["ABCD".index(self.driven)] == "R" else "translational"
            m.driver(kind, "motor", coordinate=self.driven, law="t")
            elements.append("motor")
        joints = tuple(str(name) for name in random.permutation(elements))
        drivers = ("motor",) if self.driven else ()
        known = tuple(e.name for k, e in enumerate(ends) if k != self.grounded)
        order = (bodies, joints)
        group = Group(*order, drivers, known, (), 0, "plane", "k", self.letters, *order)
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
    """The closed form of a group with numbers, for some positions of the known bodies."""

    equations: GroupEquations
    form: ClosedForm
    poses: list[Poses]
    branch: np.ndarray
    law: float | np.ndarray = 0.0

    def __post_init__(self) -> None:
        derivation = self.equations.derivation
        self.values: dict[Atom, object] = {}
        self.known: dict[Atom, object] = {}
        if self.form.branch is not None:
            self.values[self.form.branch] = self.branch
        start = [derivation.workspace.atom(0.0)] * len(derivation.unknowns)
        self.x = self._evaluated(self.form.guess(start))
        self.values |= dict(zip(self.equations.x, self.x, strict=True))

    def _evaluated(self, atoms: list[Atom]) -> np.ndarray:
        """(atoms, positions)."""
        derivation = self.equations.derivation
        given: dict[Atom, object] = {c.symbol: c.values for c in derivation.columns}
        for known in derivation.known[len(self.known) :]:
            each = [known_values(known, poses)[0] for poses in self.poses]
            self.known[known.symbol] = self.law if known.item.kind == "law" else np.array(each)
        found = evaluate(atoms, given | self.known | self.values)
        return np.array([np.broadcast_to(v, len(self.poses)) for v in found])

    @property
    def residual(self) -> np.ndarray:
        return np.linalg.norm(self._evaluated(self.equations.Phi), axis=0)

    @property
    def margin(self) -> np.ndarray:
        assert self.form.margin is not None
        return self._evaluated([self.form.margin])[0]

    def far_from_start(self) -> np.ndarray:
        """How far unknowns are from what they are at these positions of all bodies."""
        found = []
        for x, unknown in zip(self.x, self.equations.derivation.unknowns, strict=True):
            gap = x - [unknown.start(poses)[0] for poses in self.poses]
            found.append(np.abs(np.sin(gap / 2) if unknown.turns else gap))
        return np.max(found, axis=0)

    def whole(self) -> list[Poses]:
        """Poses with those of the group as its unknowns say."""
        derivation = self.equations.derivation
        plane = derivation.plane
        found = [Poses(np.array(p.place), np.array(p.axes), plane) for p in self.poses]
        for slot, number in enumerate(derivation.cast.bodies[0]):
            point = component_atoms(derivation, Wanted("point", slot, 0, np.zeros((1, 3))))
            places = self._evaluated(point).T
            if plane is None:
                ways = [Wanted("axis", slot, k, np.eye(3)[None, k]) for k in range(3)]
                atoms = [a for way in ways for a in component_atoms(derivation, way)]
                turned = np.swapaxes(self._evaluated(atoms).T.reshape(-1, 3, 3), 1, 2)
            else:
                c, s = self._evaluated(component_atoms(derivation, Wanted("turn", slot)))
                turned = np.array([rotation(plane, float(a)) for a in np.arctan2(s, c)])
            for poses, at, R in zip(found, places, turned, strict=True):
                for k, axis in enumerate(plane or "xyz"):
                    poses.place[number, "xyz".index(axis)] = at[k]
                poses.axes[number] = R
        return found


def closes(equations: GroupEquations, form: ClosedForm, moved: list[Poses], law: float = 0) -> int:
    """How many positions are in reach, at all of which the group closes on the branch it should."""
    both = (1.0, -1.0)[: form.branch_count]
    branch = np.repeat(both, len(moved))
    solved = Solved(equations, form, moved * len(both), branch, law)
    assert np.isfinite(solved.x).all()
    near = solved.margin > 1e-3
    assert (solved.residual[near] < 1e-11).all()
    if form.sides is not None:
        signs = [form.sides.signs(poses)[0] for poses in solved.whole()]
        assert (np.array(signs) == branch)[near].all()
    return int(near.sum())


def found_at_start(equations: GroupEquations, form: ClosedForm, poses: Poses) -> None:
    """The closed form gives the position that the group is assembled in."""
    signs = form.branch_of(poses)
    solved = Solved(equations, form, [poses], np.ones(1) if signs is None else signs)
    assert solved.margin[0] > 1e-6
    assert solved.far_from_start()[0] < 1e-11 / solved.margin[0]


def form_of(equations: GroupEquations) -> ClosedForm:
    form = closed_form(equations)
    assert form is not None
    return form


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("letters", CHAINS)
def test_a_dyad_is_found_where_it_is_assembled_and_closes_elsewhere(letters: str, way: str) -> None:
    reached = 0
    for seed in range(3):
        dyad = Dyad(letters, seed, plane=("xz", "xy", "yz")[seed], grounded=seed - 1)
        equations = dyad.equations(way)
        form = form_of(equations)
        assert form.branch_count == (2 if letters in TWO_BRANCHES else 1)
        found_at_start(equations, form, dyad.poses)
        reached += closes(equations, form, [dyad.moved(k, 0.4) for k in range(5)])
    assert reached >= 8


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("letters", "driven"), [("RPRR", "B"), ("RRPR", "C"), ("RRRR", "B")])
def test_a_bar_may_be_two_bodies_with_an_actuator(letters: str, driven: str, way: str) -> None:
    reached = 0
    for seed in range(3):
        dyad = Dyad(letters, seed, grounded=seed - 1, driven=driven)
        equations = dyad.equations(way)
        form = form_of(equations)
        found_at_start(equations, form, dyad.poses)
        for law in (-0.3, 0.2):
            reached += closes(equations, form, [dyad.moved(k, 0.2) for k in range(4)], law)
    assert reached >= 12


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
    solved = Solved(equations, form, [far], np.ones(1))
    assert solved.margin[0] < 0
    assert solved.residual[0] > 1e-3
    assert np.isfinite(solved.x).all()


def known_point(dyad: Dyad, joint: str) -> np.ndarray:
    """Where the joint of an end is on the body that is known."""
    (element,) = (e for e in dyad.cast.elements if e.label == joint)
    (marker,) = (m for m in element.markers if m.slot < 0)
    return dyad.poses.of(marker.frames)[0][0]


def test_the_angle_of_a_direction_is_that_of_the_library_to_the_last_digit() -> None:
    ws = bl.Workspace("angles")
    x, y = ws.symbol("x"), ws.symbol("y")
    random = np.random.default_rng(0)
    angle, size = random.uniform(-np.pi, np.pi, 20000), 10 ** random.uniform(-9, 9, 20000)
    corners = np.array([(a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]).T
    X = np.concatenate([size * np.cos(angle), corners[0]])
    Y = np.concatenate([size * np.sin(angle), corners[1]])
    found = evaluate(angle_of(y, x), {x: X, y: Y})
    assert np.abs(found - np.arctan2(Y, X)).max() <= 2 * np.spacing(np.pi)
