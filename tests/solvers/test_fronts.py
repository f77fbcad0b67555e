"""Elimination by kind, against dense solutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from biela.code.looped import Memory, Program
from biela.errors import ShapeError
from biela.solvers.fronts import FrontStages, GeneralStages, TooMuchCodeError, find_fronts

Floats = npt.NDArray[np.float64]


@dataclass
class Problem:
    """A saddle-point matrix with groups of its unknowns."""

    K: Floats
    group: list[int]
    rank: list[int]
    late: list[bool]
    paired: list[int]


def chain(random: np.random.Generator, bodies: int, extra: int | None = None) -> Problem:
    """Bodies of two unknowns in a row, an equation between neighbours.

    With ``extra`` that body has a coordinate without inertia, tied to it by an equation and held
    by another.
    """
    n = 2 * bodies
    more = 0 if extra is None else 3
    size = n + bodies - 1 + more
    K = np.zeros((size, size))
    for k in range(bodies):
        A = random.normal(size=(2, 2))
        K[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = A @ A.T + np.eye(2)
    group = [k for k in range(bodies) for _ in range(2)]
    rank, late = [0, 1] * bodies, [False] * n
    for k in range(bodies - 1):
        K[n + k, 2 * k : 2 * k + 4] = random.normal(size=4)
        group.append(k + 1)
        rank.append(10)
        late.append(True)
    if extra is not None:
        x = n + bodies - 1
        K[x + 1, 2 * extra : 2 * extra + 2] = random.normal(size=2)
        K[x + 1, x], K[x + 2, x] = -1.0, 1.0
        group += [extra] * 3
        rank += [20, 21, 30]
        late += [False, True, True]
    K = np.tril(K) + np.tril(K, -1).T
    return Problem(K, group, rank, late, [] if extra is None else [size - 3])


def solved(problem: Problem, b: Floats, together: bool) -> tuple[Floats, Floats]:
    """The solution, and which multipliers were dropped (where factors and solution are apart)."""
    i, j = np.nonzero(np.tril(problem.K != 0))
    fronts = find_fronts(i, j, problem.group, problem.rank, problem.late, problem.paired)
    stages = FrontStages.of(fronts)
    memory = Memory(stages.sizes)
    w = memory.array()
    memory.view(w, "K")[fronts.slot] = problem.K[i, j]
    back = stages.outward(memory)
    if together:
        there = stages.factor_and_inward(memory)
        tape = stages.tape(0) + stages.outward_tape(len(there))
        program = Program([*there, *back], memory.size, tape=tape)
    else:
        factor, there = stages.factor(memory), stages.inward(memory)
        kinds = len(factor)
        tape = stages.tape(0) + stages.tape(kinds) + stages.outward_tape(2 * kinds)
        program = Program([*factor, *there, *back], memory.size, tape=tape)
    memory.view(w, "b")[fronts.place] = b
    program.run(w)
    return memory.view(w, "x").copy(), memory.view(w, "dropped").copy()


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_is_solved_as_a_dense_matrix(seed: int, together: bool) -> None:
    random = np.random.default_rng(seed)
    problem = chain(random, bodies=3 + 4 * seed)
    b = random.normal(size=len(problem.K))
    x, _ = solved(problem, b, together)
    assert x == pytest.approx(np.linalg.solve(problem.K, b), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("extra", [0, 2, 4])
def test_a_coordinate_without_inertia_is_eliminated_with_its_row(
    extra: int, together: bool
) -> None:
    random = np.random.default_rng(7)
    problem = chain(random, 5, extra)
    b = random.normal(size=len(problem.K))
    x, _ = solved(problem, b, together)
    assert x == pytest.approx(np.linalg.solve(problem.K, b), rel=1e-9, abs=1e-9)


def test_chains_of_any_length_have_the_same_kinds() -> None:
    counts = []
    for bodies in (6, 60):
        problem = chain(np.random.default_rng(0), bodies)
        i, j = np.nonzero(np.tril(problem.K != 0))
        fronts = find_fronts(i, j, problem.group, problem.rank, problem.late)
        counts.append(len(fronts.kinds))
    assert counts[0] == counts[1] <= 4


def test_a_repeated_row_is_dropped_and_its_multiplier_is_zero() -> None:
    random = np.random.default_rng(3)
    problem = chain(random, 4)
    n, size = 8, len(problem.K)
    K = np.zeros((size + 1, size + 1))
    K[:size, :size] = problem.K
    K[size, :n] = 2 * problem.K[n + 1, :n]  # the second equation again
    K = np.tril(K) + np.tril(K, -1).T
    again = Problem(K, [*problem.group, 2], [*problem.rank, 11], [*problem.late, True], [])
    b = random.normal(size=size)
    x, dropped = solved(again, np.append(b, 2 * b[n + 1]), together=False)
    expected = np.linalg.solve(problem.K, b)
    assert x[:size] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert x[size] == 0.0
    assert np.flatnonzero(dropped).tolist() == [size]


def test_a_nan_is_not_dropped() -> None:
    random = np.random.default_rng(5)
    problem = chain(random, 3)
    problem.K[6, 0] = problem.K[0, 6] = np.nan
    x, _ = solved(problem, np.ones(len(problem.K)), together=True)
    assert np.isnan(x).any()


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="group, rank and late"):
        find_fronts([0, 1], [0, 1], [0, 0], [0, 1], [False])


def test_a_general_solver_takes_the_place_of_kinds() -> None:
    random = np.random.default_rng(5)
    problem = chain(random, 6)
    K, n = problem.K, len(problem.K)
    rows, columns = np.nonzero(np.tril(K))
    # the last equation twice: one of them is dropped
    K = np.block([[K, K[:, -1:]], [K[-1:], np.zeros((1, 1))]])
    again = columns[rows == n - 1]
    rows = np.concatenate([rows, np.full(len(again), n)])
    columns = np.concatenate([columns, again])
    late = np.array([*problem.late, True])
    stages = GeneralStages(rows, columns, late, K[rows, columns], np.ones(n + 1, dtype=int))
    memory = Memory(stages.sizes)
    w = memory.array()
    b, b_2 = random.normal(size=(2, n + 1))
    b[n], b_2[n] = b[n - 1], b_2[n - 1]
    memory.view(w, "K")[stages.fronts.slot] = K[rows, columns]
    memory.view(w, "b")[:] = b
    Program(stages.factor_and_inward(memory), memory.size).run(w)
    expected = np.linalg.solve(K[:n, :n], b[:n])
    unknowns = np.flatnonzero(~late)
    assert memory.view(w, "x")[unknowns] == pytest.approx(expected[unknowns], rel=1e-10)
    assert stages.dependent(memory, w) == 1
    memory.view(w, "b_2")[:] = b_2
    Program(stages.inward_twice(memory), memory.size).run(w)
    for x, right in (("x", b), ("x_2", b_2)):
        expected = np.linalg.solve(K[:n, :n], right[:n])
        assert memory.view(w, x)[unknowns] == pytest.approx(expected[unknowns], rel=1e-10)


def test_more_operations_than_allowed_are_refused() -> None:
    problem = chain(np.random.default_rng(5), 6)
    rows, columns = np.nonzero(np.tril(problem.K))
    with pytest.raises(TooMuchCodeError, match="more than 10 operations"):
        find_fronts(rows, columns, problem.group, problem.rank, problem.late, most=10)


def test_a_general_solver_shows_that_an_unknown_other_than_a_multiplier_was_lost() -> None:
    problem = chain(np.random.default_rng(1), 3)
    i, j = np.nonzero(np.tril(problem.K != 0))
    stages = GeneralStages(i, j, problem.late, problem.K[i, j], np.ones(len(problem.K), dtype=int))
    memory = Memory(stages.sizes)
    made = stages.factor_and_inward(memory)
    program = Program(made, memory.size, tape=stages.tape(0))
    b = np.arange(1.0, len(problem.K) + 1)
    solutions = []
    for mass in (problem.K[0, 0], 0.0):
        K = problem.K.copy()
        K[0, 0] = mass
        K[1, 0] = K[0, 1] = K[1, 0] if mass else 0.0
        w = memory.array()
        memory.view(w, "K")[:] = K[i, j]
        memory.view(w, "b")[:] = b
        program.run(w)
        solutions.append(memory.view(w, "x").copy())
    assert solutions[0] == pytest.approx(np.linalg.solve(problem.K, b), rel=1e-9, abs=1e-9)
    assert np.isnan(solutions[1]).any()
