"""Linkages that a count of freedoms takes for structures: their rank holds on the constraints only.

What is compared: the energy of a free motion, which nothing takes away; the motion in other
coordinates; Bennett's relation of half angles; least squares with all rows.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations.ranking import ranked_rows
from biela.analysis.instant import Instant, motions
from biela.analysis.looped.dependence import dependent_rows
from biela.equations.blocks.reference import reference_blocks
from biela.equations.elimination import factorise
from biela.equations.ranked_rows import RankedRows
from biela.solvers.ldlt import best_rows_solve
from tests.overconstrained import LINKAGES, double_bennett, linkage, peaucellier
from tests.simulators_in_c import CompiledSimulator

#: Simulates by the looped engine.
looped = partial(bl.simulate, engine="looped")

GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"

#: Rows that close the loop, and how many of them count; in joint coordinates.
RANKS = {
    "bennett": (5, 2),
    "goldberg": (5, 3),
    "myard": (5, 3),
    "bricard_trihedral": (5, 4),
    "bricard_line": (5, 4),
    "bricard_plane": (5, 4),
    "bricard_threefold": (5, 4),
}


def free_bennett() -> bl.Model:
    m = bl.load(GALLERY / "bennett.toml")
    m.drivers.clear()
    return m


def sets_of(system: bl.System) -> Any:
    q = np.array([entry.value for entry in system.q])
    return ranked_rows(system, 0.0, q, system.inputs, system.parameters)


def energies(system: bl.System, q: Any, v: Any) -> np.ndarray:
    """Kinetic energy by the mass matrix, and the total; one row per state."""
    found = []
    for place, speed in zip(q, v, strict=True):
        M = np.asarray(system.evaluate("M", place))
        potential = float(np.asarray(system.evaluate("energy", place, 0 * speed)[1]))
        kinetic = float(speed @ M @ speed) / 2
        found.append((kinetic, kinetic + potential))
    return np.array(found)


def drift(system: bl.System, q: Any, v: Any) -> float:
    kinetic, total = energies(system, q, v).T
    return float(np.abs(total - total[0]).max() / kinetic.max())


# --------------------------------------------------------------------------- rank


@pytest.mark.parametrize("name", RANKS)
def test_the_rank_of_a_loop_is_that_of_its_screws(name: str) -> None:
    (found,) = sets_of(bl.formulate(linkage(name, 0)))
    assert (len(found[0]), found[1]) == RANKS[name]


@pytest.mark.parametrize("name", [name for name in LINKAGES if name not in RANKS])
def test_parallel_hinges_keep_their_rank_beside_the_constraints(name: str) -> None:
    assert sets_of(bl.formulate(linkage(name, 0))) == ()
    blocks = reference_blocks(linkage(name, 0))
    found = dependent_rows(blocks, blocks.start, blocks.Phi_v(blocks.start))
    assert found.sets == []  # rows are chosen by their pivots in every position there
    assert found.whole
    assert found.seen > 0
    assert looped_drift(linkage(name, 0), 1.0, step=1e-3) < 1e-6


def test_each_of_two_coupled_loops_has_its_own_rank() -> None:
    sets = sets_of(bl.formulate(double_bennett()))
    assert [(len(rows), rank) for rows, rank in sets] == [(5, 2), (5, 2)]
    sets = sets_of(bl.formulate(double_bennett(), "reference"))
    assert [(len(rows), rank) for rows, rank in sets] == [(5, 2), (5, 2)]


def test_ordinary_mechanisms_have_no_dependent_rows() -> None:
    for name in ("four_bar", "rssr", "stewart", "double_wishbone"):
        assert sets_of(bl.formulate(bl.load(GALLERY / f"{name}.toml"))) == ()


@pytest.mark.parametrize("name", ["bennett", "goldberg", "bricard_plane"])
def test_linkages_of_any_size_move_alike(name: str) -> None:
    """Those of a micrometre, with gravity in proportion, take the same time for the same angles."""
    count, rank = RANKS[name]
    for coordinates in ("joint", "reference", "natural"):
        system = bl.formulate(linkage(name, 0, scale=1e-6), coordinates)
        assert sum(len(rows) - kept for rows, kept in sets_of(system)) == count - rank
        r = bl.simulate(system, 0.5, step=1e-3)
        assert drift(system, r.q, r.v) < 2e-9
    blocks = reference_blocks(linkage(name, 0, scale=1e-6))
    (found,) = dependent_rows(blocks, blocks.start, blocks.Phi_v(blocks.start)).sets
    assert len(found.rows) - found.rank == count - rank
    large, small = (
        looped(linkage(name, 0, scale=scale), 0.5, step=1e-3, output=0.1) for scale in (1.0, 1e-6)
    )
    turns = [name for name in large.names if name.rpartition(".")[2] in ("e0", "e1", "e2", "e3")]
    assert len(turns) >= 12
    assert max(np.abs(large[name] - small[name]).max() for name in turns) < 1e-12


def test_the_best_rows_solve_what_all_rows_solve_by_least_squares() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        m, rank = 6, int(random.integers(1, 6))
        B = random.normal(size=(m, rank)) * 10.0 ** random.uniform(-2, 2, (m, 1))
        G = B @ B.T
        x = random.normal(size=m)
        b = G @ x
        # what makes it seem of full rank
        noisy = G + 1e-11 * np.diag(np.diag(G)) * random.uniform(0, 1, m)[:, None]
        step, found = np.zeros(m, np.int64), b.copy()
        assert best_rows_solve(m, rank, 1e-13, noisy.copy(), np.diag(G).copy(), step, found) == rank
        assert (found != 0).sum() == rank
        assert np.allclose(B.T @ found, B.T @ x, rtol=1e-7, atol=1e-7 * np.abs(B.T @ x).max())


def test_the_elimination_takes_the_best_rows_whatever_their_order() -> None:
    """Rows 0 and 1 are nearly the same direction: with row 2 they would lose nine digits."""
    random = np.random.default_rng(5)
    ws = bl.Workspace("rows")
    M = np.diag(random.uniform(1, 3, 4))
    base = random.normal(size=(2, 4))
    mix = np.array([[1.0, 0.0], [1.0, 1e-9], [0.3, 1.0], [-0.7, 0.4]])
    J = mix @ base
    A = np.block([[M, J.T], [J, np.zeros((4, 4))]])
    gamma = mix @ random.normal(size=2)
    force = random.normal(size=4)
    wanted = np.linalg.lstsq(A, np.concatenate([force, gamma]), rcond=1e-12)[0][:4]
    sizes = np.einsum("ij,ji->i", J, np.linalg.solve(M, J.T))
    rows = RankedRows((4, 5, 6, 7), 2, tuple(sizes.tolist()), (1.0,) * 4)
    symbols = [[ws.atom(0)] * 8 for _ in range(8)]
    for i, j in np.argwhere(np.triu(A)):
        symbols[i][j] = symbols[j][i] = ws.parameter(f"a_{i}_{j}")
    b = [ws.parameter(f"b_{i}") for i in range(8)]
    given = {(i, j): symbols[i][j] for i in range(8) for j in range(i, 8) if symbols[i][j].ref}
    f = bl.Function(
        "solve",
        {"A": list(given.values()), "b": b},
        {"x": factorise(symbols, range(4, 8), 1e-12, ranked=[rows]).solve(b)},
    )
    found = f([A[place] for place in given], np.concatenate([force, gamma]))
    assert np.abs(found[:4] - wanted).max() < 1e-12
    assert (np.abs(found[4:]) > 0).sum() == 2


# --------------------------------------------------------------------------- free motion


@pytest.mark.parametrize("step", [None, 1e-3, 5e-4])
def test_the_bennett_linkage_of_the_gallery_keeps_its_energy(step: float | None) -> None:
    system = bl.formulate(free_bennett())
    r = bl.simulate(system, 3.0, step=step, q={"A.angle": 1.0})
    assert drift(system, r.q, r.v) < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_a_bennett_linkage_keeps_its_energy_from_random_speeds(seed: int) -> None:
    rate = float(np.random.default_rng(seed).uniform(-8, 8))
    system = bl.formulate(free_bennett())
    r = bl.simulate(system, 2.0, step=1e-3, v={"A.angle_rate": rate})
    assert abs(r.v[0][0] - rate) < 1e-9
    assert drift(system, r.q, r.v) < 1e-9


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
@pytest.mark.parametrize("name", ["bennett", "bricard_trihedral"])
def test_linkages_keep_their_energy_in_all_coordinates(name: str, coordinates: str) -> None:
    system = bl.formulate(linkage(name, 0), coordinates)
    r = bl.simulate(system, 1.5)
    assert drift(system, r.q, r.v) < 1e-7
    r = bl.simulate(system, 1.5, step=2e-3)
    assert drift(system, r.q, r.v) < 1e-7


@pytest.mark.parametrize("name", ["goldberg", "myard", "bricard_line", "bricard_plane"])
def test_linkages_keep_their_energy_with_a_fixed_step(name: str) -> None:
    system = bl.formulate(linkage(name, 0))
    r = bl.simulate(system, 2.0, step=1e-3)
    assert drift(system, r.q, r.v) < 1e-8
    assert r.statistics.max_constraint_error < 1e-12


def test_coupled_loops_keep_their_energy() -> None:
    system = bl.formulate(double_bennett())
    r = bl.simulate(system, 1.0, step=1e-3)
    assert drift(system, r.q, r.v) < 1e-8


def test_coordinates_agree_on_the_motion_of_a_linkage() -> None:
    m = linkage("bennett", 2)
    m.sensor("point", "tip", marker=m.bodies["bar1"].at(0.3, 0.2, 0.1))
    found = [
        bl.simulate(bl.formulate(m, coordinates), 1.0, step=1e-3)
        for coordinates in ("joint", "reference", "natural")
    ]
    names = [name for name in found[0].names if name.startswith("tip")]
    assert len(names) >= 3
    for name in names:
        for other in found[1:]:
            assert np.abs(found[0][name] - other[name]).max() < 1e-8


@pytest.mark.parametrize(
    "formulation",
    ["baumgarte", "index2", "velocity_projection", "matrix_r", "null_space", "range_space"],
)
def test_all_formulations_hold_the_rank(formulation: str) -> None:
    system = bl.formulate(linkage("bennett", 0))
    r = bl.simulate(system, 1.5, step=2e-3, formulation=formulation)
    assert drift(system, r.q, r.v) < 1e-7


def test_accelerations_are_those_of_least_squares_with_all_rows() -> None:
    """Along a motion, with the singular value decomposition at every instant."""
    system = bl.formulate(linkage("bricard_line", 1))
    r = bl.simulate(system, 1.0, step=2e-3)
    instant = Instant(system, 0.0, system.inputs, system.parameters)
    for k in range(0, len(r.t), 20):
        wanted = instant.motion(r.q[k], r.v[k])[0]
        assert np.abs(r.a[k] - wanted).max() < 1e-9 * np.abs(wanted).max()


# --------------------------------------------------------------------------- driven


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural", "euler"])
def test_a_driven_bennett_linkage_passes_its_fold(coordinates: str) -> None:
    """tan(A/2) tan(B/2) is constant; A runs backwards through the fold at A = 0."""
    m = free_bennett()
    m.driver("rotary", "motor", coordinate="A.angle", law="A0 - 2*t")
    r = bl.kinematics(bl.formulate(m, coordinates), 3.0, step=1e-2)
    p = m.parameters
    ratio = np.sin((p["beta"] + p["alpha"]) / 2) / np.sin((p["beta"] - p["alpha"]) / 2)
    A = p["A0"] - 2 * r.t
    c, s = np.cos(A / 2), np.sin(A / 2)
    wanted = 2 * np.arctan2(ratio * c, s)  # B, of tan(B/2) = ratio/tan(A/2)
    assert np.abs(np.exp(1j * r["angle_B"]) - np.exp(1j * wanted)).max() < 1e-11
    # B' = -ratio A'/(s² + ratio² c²)
    square = s**2 + ratio**2 * c**2
    rate = 2 * ratio / square
    slope = 2 * ratio * (1 - ratio**2) * 2 * c * s / square**2
    joint = {e.name: k for k, e in enumerate(bl.formulate(m, coordinates).v)}
    if "B.angle_rate" in joint:
        k = joint["B.angle_rate"]
        assert np.abs(r.v[:, k] - rate).max() < 1e-9
        assert np.abs(r.a[:, k] - slope).max() < 1e-9
    if coordinates == "reference":
        looped = bl.kinematics(m, 3.0, step=1e-2, engine="looped")
        assert np.abs(looped.q - r.q).max() < 1e-12
        assert np.abs(looped.v - r.v).max() < 1e-11
        assert np.abs(looped.a - r.a).max() < 1e-9
    assert not r.events


# --------------------------------------------------------------------------- looped


def looped_drift(model: bl.Model, duration: float, **how: float) -> float:
    """The energy that goes missing, as a part of the largest kinetic energy."""
    r = looped(model, duration, output=duration / 20, **how)
    blocks = reference_blocks(model)
    return float(np.ptp(r["energy"]) / blocks.kinetic_energy(r.v).max())


@pytest.mark.parametrize("name", ["bennett", "bricard_plane"])
def test_looped_equations_know_the_rank_of_loops(name: str) -> None:
    model = linkage(name, 0)
    assert looped_drift(model, 2.0, step=1e-3) < 1e-9
    assert looped_drift(model, 2.0) < 1e-6


def test_looped_equations_of_coupled_loops_keep_their_energy() -> None:
    assert looped_drift(double_bennett(), 0.5, step=1e-3) < 1e-9


def test_each_linkage_of_an_array_has_its_rank() -> None:
    """Alike ones are looked at once; a Bennett linkage beside a free body and ordinary loops."""
    cell = linkage("bennett", 0)
    ordinary = linkage("four_bar", 1)
    m = bl.Model("array", gravity=cell.gravity)
    m.part("cell", cell, 21, shift=(3, 0, 0))
    m.part("plain", ordinary, 2, shift=(3, 0, 0))
    blocks = reference_blocks(m)
    found = dependent_rows(blocks, blocks.start, blocks.Phi_v(blocks.start)).sets
    assert [
        (len(one.rows), one.rank, len(one.part))
        for one in found
        if "cell" in blocks.rows[int(one.rows[0])]
    ] == [(5, 2, 20)] * 21
    assert looped_drift(m, 0.4, step=2e-3) < 1e-8


# --------------------------------------------------------------------------- robots, exports


@pytest.mark.parametrize("name", ["bennett", "bricard_trihedral"])
def test_rollouts_of_overconstrained_robots_keep_their_energy(name: str) -> None:
    robot = bl.Robot(linkage(name, 0))
    q = robot.assemble()
    rollout = robot.rollout(q, np.zeros(robot.nv), np.zeros((1500, robot.nv)), dt=1e-3)
    picked = range(0, 1501, 50)
    total = np.array([np.sum(robot.energy(rollout.q[0, k], rollout.v[0, k])) for k in picked])
    kinetic = [
        v @ robot.mass_matrix(x) @ v / 2 for x, v in zip(rollout.q[0], rollout.v[0], strict=True)
    ]
    assert np.ptp(total) < 1e-8 * max(kinetic)


def test_motor_forces_of_an_overconstrained_robot_are_the_least_that_move_it_so() -> None:
    robot = bl.Robot(linkage("myard", 0))
    q = robot.assemble()
    rollout = robot.rollout(q, np.zeros(robot.nv), np.zeros((200, robot.nv)), dt=5e-3)
    random = np.random.default_rng(0)
    for k in range(0, 200, 9):
        place = robot.assemble(rollout.q[0, k])
        speed = robot.project(place, rollout.v[0, k])
        tau = random.normal(size=robot.nv)
        a = robot.constrained_forward_dynamics(place, speed, tau)
        R = motions(robot.closure_jacobian(place)).R
        found = robot.constrained_inverse_dynamics(place, speed, a)
        assert np.abs(found - R @ (R.T @ tau)).max() < 1e-12


def test_an_exported_bennett_linkage_keeps_its_energy(tmp_path: Path) -> None:
    system = bl.formulate(linkage("bennett", 0))
    made = CompiledSimulator(system, tmp_path, step=1e-3)
    n = len(system.q)
    states = [made.x]
    for _ in range(2000):
        assert made.step() == 0
        states.append(made.x)
    q, v = np.array(states)[::50, :n], np.array(states)[::50, n : 2 * n]
    assert drift(system, q, v) < 1e-9


@pytest.mark.parametrize("seed", [0, 1])
def test_independent_coordinates_change_though_rows_depend_on_others(seed: int) -> None:
    """Three rows are redundant in every position; the coordinate chosen first has a dead point."""
    system = bl.formulate(peaucellier(seed)[0], "natural")
    how = {"formulation": "velocity_projection", "options": bl.Options(index=3)}
    r = bl.simulate(system, 2.5, step=1e-3, **how)
    assert 1 <= r.statistics.more["changes of independent coordinates"] <= 5
    assert drift(system, r.q, r.v) < 1e-8
