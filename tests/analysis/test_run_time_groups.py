"""Groups with dense and sparse solvers, and whole mechanisms as one group, against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.formulations import FORMULATIONS
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.whole import whole_structure
from biela.equations.blocks.world import World
from biela.equations.groups.entries import RunTimeKernel
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError, ModelError
from biela.model.files import load
from tests.four_bars import chain_of_dyads

GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"
INSTANTS = np.linspace(0.0, 0.5, 26)
EXACT = Iteration(tolerance=1e-10, polish=1)


def motion(solver: GroupSolver) -> list[np.ndarray]:
    """Positions, velocities and accelerations of all bodies, (instants, numbers) each."""
    rows = solver.run(INSTANTS).body_rows
    return [np.concatenate([r[d].reshape(len(INSTANTS), -1) for r in rows], 1) for d in range(3)]


def assert_same(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * (1 + np.abs(b).max()))


def axes_across(model: bl.Model, joint: str) -> np.ndarray:
    """The directions x and y of the marker of a joint on the ground, as rows."""
    world = World(model, None)
    return world.frames(world.host, model.joints[joint].i).axes[0].T[:2]


def test_dyads_are_the_same_with_every_solver_and_assembly():
    model = chain_of_dyads(2)
    groups = GroupSolver(model, solver="unrolled", iteration=EXACT)
    wanted = motion(groups)
    whole = whole_structure(model, groups.structure)
    for structure, solver, assembly in (
        (groups.structure, "dense", "generated"),
        (groups.structure, "sparse", "assembled"),
        (whole, "dense", "assembled"),
        (whole, "sparse", "generated"),
    ):
        one = GroupSolver(
            model, structure, solver=solver, assembly=assembly, iteration=EXACT, poses=groups.poses
        )
        assert one.lanes == "groups"
        assert_same(motion(one), wanted)


def test_formulations_of_whole_mechanisms_are_known_by_name():
    model = load(GALLERY / "geared_five_bar.toml")
    names = ("global dense", "global sparse", "relative loops")
    assert all(FORMULATIONS[name].whole for name in names)
    wanted = group_kinematics(model, 0.1, step=0.02, formulation="natural groups")
    for name in names:
        found = group_kinematics(model, 0.1, step=0.02, formulation=name)
        for channel in ("q", "v", "a"):
            there = getattr(wanted, channel)
            np.testing.assert_allclose(
                getattr(found, channel), there, rtol=0, atol=1e-10 * (1 + np.abs(there).max())
            )


def test_redundant_rows_are_left_to_pivots():
    """Bennett's linkage: six equations for three unknowns, or 24 for 21."""
    model = load(GALLERY / "bennett.toml")
    groups = GroupSolver(model, coordinates="relative", solver="unrolled", iteration=EXACT)
    wanted = motion(groups)
    whole = whole_structure(model, groups.structure)
    assert whole.redundant_count == 3
    for coordinates, solver in (("natural", "dense"), ("reference", "sparse")):
        one = GroupSolver(
            model, whole, coordinates=coordinates, solver=solver, iteration=EXACT,
            poses=groups.poses,
        )  # fmt: skip
        (kernel,) = one.groups.kernels
        assert len(kernel.rows) == len(kernel.unknowns) + 3
        assert_same(motion(one), wanted)


def test_a_long_chain_as_one_group_chooses_sparse_factors():
    """More unknowns than are eliminated by unrolled code: three of each of 91 bodies."""
    model = chain_of_dyads(45)
    groups = GroupSolver(model, coordinates="natural", iteration=EXACT)
    whole = whole_structure(model, groups.structure)
    solver = GroupSolver(model, whole, coordinates="reference", iteration=EXACT, poses=groups.poses)
    (kernel,) = solver.groups.kernels
    assert isinstance(kernel, RunTimeKernel)
    assert (kernel.solver, kernel.assembly) == ("sparse", "assembled")
    assert_same(motion(solver), motion(groups))


def test_kinds_have_solvers_of_their_own():
    model = chain_of_dyads(2)
    solver = GroupSolver(model, solver={"RRR": "dense"}, iteration=EXACT)
    kinds = {
        cast.example.name: type(kernel).__name__
        for cast, kernel in zip(solver.casts.casts, solver.groups.kernels, strict=True)
    }
    assert kinds == {"1R": "GroupKernel", "RRR": "RunTimeKernel"}
    assert_same(motion(solver), motion(GroupSolver(model, iteration=EXACT)))


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_dead_points_are_told_as_by_unrolled_groups(solver):
    """The four-bar of a crank too long to turn round: its coupler and rocker come in line."""
    m = bl.Model("double rocker", plane="xy")
    crank, coupler, rocker = (m.body(name, mass=1.0) for name in ("crank", "coupler", "rocker"))
    m.joint("revolute", "A", m.ground, crank, start={"angle": 1.0})
    m.joint("revolute", "B", crank.at(3.0, 0.0, 0.0), coupler.at(), start={"angle": -1.0})
    m.joint("revolute", "D", m.ground.at(4.0, 0.0, 0.0), rocker.at())
    m.joint("revolute", "C", coupler.at(2.0, 0.0, 0.0), rocker.at(0.0, 2.5, 0.0))
    m.driver("rotary", "motor", coordinate="A.angle", law="1.0 + t")
    # in line the distance of B and D is 4.5: 9 + 16 - 24 cos(angle) = 20.25
    dead = np.arccos((9 + 16 - 20.25) / 24) - 1.0
    times = np.linspace(0.0, 2.0, 41)
    for structure in (None, whole_structure(m)):
        with pytest.raises(DeadPointError, match="joints") as caught:
            GroupSolver(m, structure, solver=solver).run(times)
        told = float(str(caught.value).split("t = ")[1].split(" s")[0])
        assert told == pytest.approx(dead, abs=1e-3)


def test_whole_mechanisms_hold_passive_spins():
    m = bl.Model("spatial slider")
    crank, rod, slider = (m.body(name, mass=1.0) for name in ("crank", "rod", "slider"))
    m.joint("revolute", "A", m.ground.at(axis=(0.8, -0.6, 0.0)), crank.at(axis="z"))
    m.joint("spherical", "B", crank.at(2.0, 0.0, 0.0), rod.at())
    slider.marker("pin", (0.0, 0.0, 0.0))
    m.joint("spherical", "C", rod.at(6.0, 0.0, 0.0), slider.at())
    m.joint(
        "prismatic", "P", m.ground.at(axis="x"), slider.at(axis="x"), start={"displacement": 5.5}
    )
    m.driver("rotary", "motor", coordinate="A.angle", law="0.4 + t")
    whole = whole_structure(m)
    (group,) = whole.groups
    assert [spin.body for spin in group.locked] == ["rod"]
    found = []
    for coordinates, solver in (("natural", "sparse"), ("relative", "dense")):
        one = GroupSolver(
            m, whole, coordinates=coordinates, solver=solver, iteration=EXACT, bodies=False,
            points=["slider.pin"],
        )  # fmt: skip
        found.append(one.run(INSTANTS).point("slider.pin"))
    # the slider is where a sphere about the pin of the crank cuts its rail
    angle = 0.4 + INSTANTS
    axes = axes_across(m, "A")
    pin = 2.0 * (np.cos(angle)[:, None] * axes[0] + np.sin(angle)[:, None] * axes[1])
    x = pin[:, 0] + np.sqrt(36.0 - pin[:, 1] ** 2 - pin[:, 2] ** 2)
    for one in found:
        np.testing.assert_allclose(one.position[:, 0], x, atol=1e-10)


def test_what_makes_no_sense_is_refused():
    model = chain_of_dyads(1)
    with pytest.raises(ModelError, match="sparse"):
        GroupSolver(model, solver="spars")
    with pytest.raises(ModelError, match="assembled"):
        GroupSolver(model, solver="dense", assembly="asembled")
    with pytest.raises(ModelError, match="lanes"):
        GroupSolver(model, solver="dense", lanes="instants")
