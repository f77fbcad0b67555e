"""Closed forms in motion: branches are kept, and what cannot be passed is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.finding import structural_groups
from biela.analysis.groups.runner import GroupRunner
from biela.analysis.groups.starting import start_poses
from biela.analysis.groups.workspace import Lanes
from biela.code.looped import Failure
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import branches_of
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.lowering import GroupProgram, Iteration, Request
from biela.equations.groups.natural import natural_group
from biela.equations.groups.relative import relative_group
from biela.errors import DeadPointError, ModelError, SimulationError

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"


def of_joints(cast: Cast, poses: Poses) -> GroupDerivation:
    return relative_group(cast, poses, "relative")


class FourBar:
    """A four-bar with pivots at 0 and (ground, 0), driven by its crank; C is found by circles."""

    def __init__(
        self, bars: tuple[float, float, float, float], law: str, start: float, way: str = "natural"
    ) -> None:
        self.bars = crank, coupler, rocker, ground = bars
        m = bl.Model("four_bar", plane="xz")
        names = ("crank", "coupler", "rocker")
        a, b, c = (m.body(name, mass=1.0, inertia=0.1) for name in names)
        C = self.C(start, 1)
        B = crank * np.array([np.cos(start), np.sin(start)])
        angles = [start] + [float(np.arctan2(*(C - P)[::-1])) for P in (B, (ground, 0.0))]
        m.joint("revolute", "A", m.ground, a, axis="-y", start=angles[0])
        m.joint("revolute", "B", a.at(crank, 0, 0), b, axis="-y", start=angles[1] - angles[0])
        m.joint("revolute", "C", b.at(coupler, 0, 0), c.at(rocker, 0, 0), axis="-y")
        m.joint("revolute", "D", m.ground.at(ground, 0, 0), c, axis="-y", start=angles[2])
        m.driver("rotary", "motor", coordinate="A", law=law)
        world = World(m)
        self.poses = poses = start_poses(m, world)
        casts = Casts(world, structural_groups(m))
        dyad = {"natural": natural_group, "joints": of_joints}[way]
        equations = [
            GroupEquations((relative_group if k.example.explicit else dyad)(k, poses), poses)
            for k in casts.casts
        ]
        request = Request("point", np.array([1]), np.array([[coupler, 0.0, 0.0]]))
        self.program = GroupProgram(casts, equations, [request], closed_forms=True)
        self.runner = GroupRunner(self.program, poses, "instants")
        (self.kind,) = (k for k, form in enumerate(self.program.closed) if form is not None)

    def C(self, angle: float | np.ndarray, side: int) -> np.ndarray:
        """By the law of cosines at B: on the left of the way from B to D, or on the right."""
        a, b, c, d = self.bars
        x, z = a * np.cos(angle), a * np.sin(angle)
        way = np.hypot(d - x, z)
        at_B = np.arccos((way**2 + b * b - c * c) / (2 * b * way))
        turn = np.arctan2(-z, d - x) + side * at_B
        return np.stack([x + b * np.cos(turn), z + b * np.sin(turn)], axis=-1)

    def run(self, t: np.ndarray) -> np.ndarray:
        self.runner.assemble(float(t[0]))
        memory = self.program.memory
        size = memory.sizes["y"]
        self.stored = self.runner.run(t, [(memory.first("y"), size)])
        return self.stored.columns(self.program.request_places[0].ravel())

    def fails(self, t: float) -> Failure:
        """How the dyad fails at a time to which nothing leads."""
        assert not self.runner.attempt(t, 0.0)
        assert np.isfinite(self.rows(f"x{self.kind}")).all()
        return Failure(int(self.rows("status")[1, 0]))

    def rows(self, name: str) -> np.ndarray:
        """A vector of the workspace, (places, lanes)."""
        w = self.runner.w.reshape(-1, self.runner.lanes)
        first = self.program.memory.first(name)
        return w[first : first + self.program.memory.sizes[name]]


def test_a_crank_rocker_stays_on_its_side_through_full_turns_in_coarse_steps() -> None:
    four_bar = FourBar((2.0, 8.0, 5.0, 10.0), "1 + t", 1.0)
    program = four_bar.program
    (branches,) = branches_of(program.casts, program.closed, four_bar.poses)
    assert set(branches.bodies) == {"coupler", "rocker"}
    t = np.linspace(0.0, 4 * np.pi, 49)
    # left of the way from B to D is right of that from D to B
    backwards = branches.sentences[0].endswith("D to B")
    for side, word in ((1, "left"), (-1, "right")):
        sign = -branches.sign(word) if backwards else branches.sign(word)
        four_bar.rows(f"branch{four_bar.kind}")[:] = sign
        found = four_bar.run(t)
        assert np.abs(found - four_bar.C(1 + t, side)).max() < 1e-12
        assert four_bar.stored.steps == 0
    assert branches.sign("other") == -branches.sign("assembled")
    with pytest.raises(ModelError, match="no branch 'up': it is '"):
        branches.sign("up")


def test_an_angle_of_a_joint_goes_on_over_turns() -> None:
    """A drag link: the ground is the shortest bar, and all others turn round with the crank."""
    four_bar = FourBar((4.0, 3.0, 3.5, 1.0), "1 + t", 1.0, way="joints")
    t = np.linspace(0.0, 6 * np.pi, 241)
    start = four_bar.rows(f"x{four_bar.kind}")[:, 0].copy()
    assert np.abs(four_bar.run(t) - four_bar.C(1 + t, 1)).max() < 1e-12
    turned = four_bar.rows(f"x{four_bar.kind}")[:, -1] - start
    names = [u.name for u in four_bar.program.kernels[four_bar.kind].unknowns]
    # seen from the crank the coupler comes back; seen from the ground the rocker has turned thrice
    found = dict(zip(names, turned, strict=True))
    assert found.pop("D.angle") == pytest.approx(6 * np.pi, abs=1e-9)
    assert found == pytest.approx(dict.fromkeys(found, 0.0), abs=1e-9)


def test_a_crank_that_turns_too_far_is_told_with_the_group_and_the_time() -> None:
    """A triple rocker: the crank turns until coupler and rocker are in line."""
    four_bar = FourBar((4.0, 2.0, 2.5, 5.0), "t", 0.5)
    a, b, c, d = four_bar.bars
    limit = float(np.arccos((a * a + d * d - (b + c) ** 2) / (2 * a * d)))
    with pytest.raises(DeadPointError, match=r"group RRR \(coupler, rocker; joints"):
        four_bar.run(np.linspace(0.5, 3.0, 200))
    assert four_bar.runner.t == pytest.approx(limit, abs=1e-3)
    assert four_bar.fails(limit) is Failure.NOT_POSITIVE
    assert four_bar.fails(limit + 0.3) is Failure.NO_CONVERGENCE


def test_a_parallelogram_goes_on_as_one_where_it_is_flat() -> None:
    """Continuity decides: the coupler keeps its direction, though the Jacobian vanishes there."""
    four_bar = FourBar((2.0, 5.0, 2.0, 5.0), "1 + t", 1.0)
    t = np.linspace(0.0, 6.0, 301)
    crank, (_, _, length, ground) = 1 + t, four_bar.bars
    expected = np.stack([ground + length * np.cos(crank), length * np.sin(crank)], axis=1)
    assert np.abs(four_bar.run(t) - expected).max() < 1e-9


def test_a_parallelogram_that_starts_flat_is_not_decided() -> None:
    """Nothing before tells whether it goes on as one or as a contraparallelogram."""
    four_bar = FourBar((2.0, 5.0, 2.0, 5.0), "1 + t", 1.0)
    with pytest.raises(SimulationError, match=r"group RRR \(coupler, rocker; joints"):
        four_bar.run(np.pi - 1 + np.linspace(0.0, 1.0, 51))


@pytest.mark.parametrize("lanes", ["instants", "groups"])
def test_groups_of_a_kind_move_as_newtons_method_says_at_rounding(lanes: Lanes) -> None:
    """Theo Jansen's leg: three dyads, two of them of one kind and on different sides."""
    model = bl.load(EXAMPLES / "theo_jansen.toml")
    structure, world = structural_groups(model), World(model)
    poses, casts = start_poses(model, world), Casts(world, structure)
    t = np.linspace(0.0, 1.0, 51)
    found = []
    for closed in (True, False):
        equations = [
            GroupEquations(
                (relative_group if k.example.explicit else natural_group)(k, poses), poses
            )
            for k in casts.casts
        ]
        request = Request("point", np.arange(world.count), world.centres)
        polish = Iteration(polish=0 if closed else 1)
        program = GroupProgram(casts, equations, [request], polish, closed_forms=closed)
        runner = GroupRunner(program, poses, lanes)
        runner.assemble(0.0)
        size = program.memory.sizes["y"]
        stored = runner.run(t, [(program.memory.first("y"), 3 * size)])
        places = program.request_places[0].ravel()
        found.append([stored.columns(places + rate * size) for rate in range(3)])
        if closed:
            assert stored.steps == 0
    for rate, (a, b) in enumerate(zip(*found, strict=True)):
        assert np.abs(a - b).max() <= 1e-12 * 10**rate * np.abs(b).max()
