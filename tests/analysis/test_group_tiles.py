"""Large models tile by tile, and branches of the group diagram in threads: the same motion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups import runner as runner_module
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.tiles import strands_of
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError
from tests.group_solvers_in_c import four_bar_chain, slider_fan

Floats = npt.NDArray[np.float64]
#: Over several chunks of blocks of instants.
TIMES = np.linspace(0.0, 6.0, 1201)


def moved(solver: GroupSolver) -> list[Floats]:
    return [part for rows in solver.run(TIMES).body_rows for part in rows]


MODELS = {"chain": lambda: four_bar_chain(12), "fan": lambda: slider_fan(9, 1.0)}


@pytest.fixture(scope="module", params=MODELS)
def case(request: pytest.FixtureRequest) -> tuple[GroupSolver, list[Floats], float]:
    """A solver, and its motion in one piece with the steps it took."""
    model = MODELS[request.param]()
    solver = GroupSolver(model, lanes="instants", iteration=Iteration(polish=1))
    motion = solver.run(TIMES)
    rows = [part for rows in motion.body_rows for part in rows]
    return solver, rows, motion.iterations


@pytest.mark.parametrize("size", [1, 4, 5, 100])
def test_tiles_give_the_same_numbers_to_the_last_digit(
    case: tuple[GroupSolver, list[Floats], float], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, whole, iterations = case
    monkeypatch.setattr(runner_module, "CACHE", 0)
    monkeypatch.setattr(runner_module, "GROUPS", size)
    motion = plain.run(TIMES)  # tiles are made for a run
    assert motion.iterations == iterations
    for part, expected in zip((p for rows in motion.body_rows for p in rows), whole, strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize(("threads", "size"), [(2, 400), (3, 3)])
def test_threads_give_the_same_numbers_to_the_last_digit(
    case: tuple[GroupSolver, list[Floats], float],
    threads: int,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, whole, _ = case
    monkeypatch.setattr(runner_module, "CACHE", 0 if size < 400 else 10**9)
    monkeypatch.setattr(runner_module, "GROUPS", size)
    solver = GroupSolver(
        plain.model, plain.structure, lanes="instants", threads=threads,
        iteration=Iteration(polish=1),
    )  # fmt: skip
    for part, expected in zip(moved(solver), whole, strict=True):
        np.testing.assert_array_equal(part, expected)


def test_dyads_of_a_fan_are_spread_over_branches_and_a_chain_is_one() -> None:
    fan = bl.structural_groups(slider_fan(9))
    strands = strands_of(fan, 3)
    assert strands[0] == 0, "what all rest on"
    assert np.bincount(strands[1:]).tolist() == [0, 3, 3, 3]
    chain = strands_of(bl.structural_groups(four_bar_chain(5)), 2)
    assert chain[0] == 0
    assert len(set(chain[1:].tolist())) == 1
    assert not strands_of(fan, 1).any()


def test_points_alone_are_stored_from_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    model, names = four_bar_chain(12), ["c3.C", "c12.C"]
    plain = GroupSolver(model, points=names, bodies=False, lanes="instants")
    monkeypatch.setattr(runner_module, "CACHE", 0)
    monkeypatch.setattr(runner_module, "GROUPS", 5)
    tiled = GroupSolver(model, plain.structure, points=names, bodies=False, lanes="instants")
    runs = [tiled.run(TIMES, store="points")]
    monkeypatch.undo()
    runs.append(plain.run(TIMES, store="points"))
    for name in names:
        for part in ("position", "velocity", "acceleration"):
            found, expected = (getattr(run.point(name), part) for run in runs)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_dead_point_in_a_tile_is_told_as_without_them(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coupler of the last dyad of a chain is too short to go all the way."""
    model = four_bar_chain(5)
    model.joints.pop("C5")
    model.joint("revolute", "C5", model.bodies["c5"].at(4.5, 0, 0), model.bodies["r5"].at(6, 0, 0))
    structure = bl.structural_groups(model)
    said = []
    for cache in (10**9, 0):
        monkeypatch.setattr(runner_module, "CACHE", cache)
        monkeypatch.setattr(runner_module, "GROUPS", 2)
        solver = GroupSolver(model, structure, lanes="instants", threads=threads)
        with pytest.raises(DeadPointError, match=r"RRR \(c5, r5; joints") as error:
            solver.run(TIMES)
        said.append(str(error.value))
    assert said[0] == said[1]
