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
from biela.equations.groups.entries import RunTimeKernel
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError, ModelError
from biela.model.files import load

GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"
INSTANTS = np.linspace(0.0, 0.5, 26)
EXACT = Iteration(tolerance=1e-10, polish=1)


def dyads(count: int, law: str = "1.2 + t") -> bl.Model:
    """A crank and dyads RRR, each on the one before."""
    m = bl.Model("dyads", plane="xy")
    crank = m.body("crank", mass=1.0)
    m.joint("revolute", "A", m.ground, crank, start={"angle": 1.2})
    before = crank.at(1.0, 0.0, 0.0)
    for k in range(count):
        coupler = m.body(f"coupler{k}", mass=1.0)
        rocker = m.body(f"rocker{k}", mass=1.0)
        m.joint("revolute", f"B{k}", before, coupler.at(), start={"angle": -0.9})
        m.joint("revolute", f"D{k}", m.ground.at(3.0 * (k + 1), 0.0, 0.0), rocker.at())
        m.joint("revolute", f"C{k}", coupler.at(3.0, 0.0, 0.0), rocker.at(0.0, 2.5, 0.0))
        before = rocker.at(0.0, 2.5, 0.0)
    m.driver("rotary", "motor", coordinate="A.angle", law=law)
    return m


def motion(solver: GroupSolver) -> list[np.ndarray]:
    """Positions, velocities and accelerations of all bodies, (instants, numbers) each."""
    rows = solver.run(INSTANTS).body_rows
    return [np.concatenate([r[d].reshape(len(INSTANTS), -1) for r in rows], 1) for d in range(3)]


def assert_same(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * (1 + np.abs(b).max()))


def test_dyads_are_the_same_with_every_solver_and_assembly():
    model = dyads(3)
    wanted = motion(GroupSolver(model, solver="unrolled", iteration=EXACT))
    whole = whole_structure(model)
    for structure in (None, whole):
        for solver in ("dense", "sparse"):
            for assembly in ("generated", "assembled"):
                one = GroupSolver(
                    model, structure, solver=solver, assembly=assembly, iteration=EXACT
                )
                assert one.lanes == "groups"
                assert_same(motion(one), wanted)


@pytest.mark.parametrize("name", ["bennett", "quick_return", "geared_five_bar"])
def test_formulations_by_name_give_one_motion(name):
    model = load(GALLERY / f"{name}.toml")
    results = {
        formulation: group_kinematics(model, 0.1, step=0.02, formulation=formulation)
        for formulation in FORMULATIONS
    }
    first = results.pop("reference groups")
    for found in results.values():
        for channel in ("q", "v", "a"):
            wanted = getattr(first, channel)
            np.testing.assert_allclose(
                getattr(found, channel), wanted, atol=1e-10 * (1 + np.abs(wanted).max())
            )


def test_a_long_chain_as_one_group_chooses_sparse_factors():
    model = dyads(20)
    solver = GroupSolver(model, whole_structure(model), coordinates="reference", iteration=EXACT)
    (kernel,) = solver.groups.kernels
    assert isinstance(kernel, RunTimeKernel)
    assert (kernel.solver, kernel.assembly) == ("sparse", "assembled")
    assert_same(motion(solver), motion(GroupSolver(model, coordinates="natural", iteration=EXACT)))


def test_kinds_have_solvers_of_their_own():
    model = dyads(2)
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
    m.joint("spherical", "C", rod.at(6.0, 0.0, 0.0), slider.at())
    m.joint(
        "prismatic", "P", m.ground.at(axis="x"), slider.at(axis="x"), start={"displacement": 5.5}
    )
    m.driver("rotary", "motor", coordinate="A.angle", law="0.4 + t")
    whole = whole_structure(m)
    (group,) = whole.groups
    assert [spin.body for spin in group.locked] == ["rod"]
    found = {}
    for way, solver in (("natural", "sparse"), ("relative", "dense"), ("reference", "sparse")):
        one = GroupSolver(m, whole, coordinates=way, solver=solver, iteration=EXACT, bodies=False,
                          points=["slider.c"] if "c" in slider.markers else [])  # fmt: skip
        found[way] = one
    assert all(s.run(INSTANTS).careful == 0 for s in found.values())


def test_what_makes_no_sense_is_refused():
    model = dyads(1)
    with pytest.raises(ModelError, match="sparse"):
        GroupSolver(model, solver="spars")
    with pytest.raises(ModelError, match="assembled"):
        GroupSolver(model, solver="dense", assembly="asembled")
    with pytest.raises(ModelError, match="lanes"):
        GroupSolver(model, solver="dense", lanes="instants")
