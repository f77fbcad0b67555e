"""Random saddle-point systems through each solver: ``python -m tests.soak.saddle_systems``.

    [M  Φᵀ] [x]   [f]
    [Φ  0 ] [λ] = [g]

M is sparse and definite, or semidefinite with a row of Φ for each unknown without inertia; some
rows of Φ are combinations of others.  Ranks must be exact, dropped rows redundant, and solutions
those of dense least squares.  The exit status is 1 if one is not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from biela.solvers import DROP_TOLERANCE, BlockLDLT, SparseLDLT, ldlt_factor, ldlt_solve
from tests.solvers import test_fronts
from tests.solvers.sparse.test_block_ldlt import random_mechanism, saddle_point, well_posed

Floats = npt.NDArray[np.float64]
#: Largest error of the unknowns x, relative to the largest, times the condition number.
ALLOWED = 1e-13


def drawn(seed: int, massless: bool) -> tuple[Floats, Floats, list[int]]:
    """A well-posed system: M, Φ and the sizes of bodies and joints."""
    rng = np.random.default_rng([seed, massless])
    while True:
        repeated, without = int(rng.integers(0, 3)), int(rng.integers(0, 3)) if massless else 0
        M, Phi, blocks = random_mechanism(rng, repeated, without)
        if well_posed(Phi):
            return M, Phi, blocks


def judged(M: Floats, Phi: Floats, b: Floats, x: Floats, rank: int, dropped: Floats) -> str:
    """What is wrong with a solution, if anything."""
    n, m = len(M), len(Phi)
    A = np.block([[M, Phi.T], [Phi, np.zeros((m, m))]])
    exact = n + (int(np.linalg.matrix_rank(Phi, tol=1e-9)) if m else 0)
    if rank != exact:
        return f"rank {rank}, not {exact}"
    if len(dropped) != len(A) - exact or (np.asarray(dropped) < n).any():
        return f"{dropped} are dropped"
    kept = np.setdiff1d(np.arange(len(A)), dropped)
    condition = np.linalg.cond(A[np.ix_(kept, kept)])
    wanted = np.linalg.lstsq(A, b, rcond=1e-11)[0][:n]
    error = np.abs(x[:n] - wanted).max() / max(1.0, np.abs(wanted).max())
    if not error <= ALLOWED * condition:
        return f"error {error:.2g} at a condition of {condition:.2g}"
    residual = np.abs(A @ x - b).max() / (np.abs(A) @ np.abs(x) + np.abs(b)).max()
    return "" if residual < 1e-11 else f"residual {residual:.2g}"


def right(M: Floats, Phi: Floats, seed: int) -> Floats:
    """A right-hand side that dependent rows do not contradict."""
    n, m = len(M), len(Phi)
    A = np.block([[M, Phi.T], [Phi, np.zeros((m, m))]])
    return np.asarray(A @ np.random.default_rng([seed, 99]).standard_normal(n + m))


def scalar(seed: int) -> str:
    """Sparse scalar LDLᵀ."""
    M, Phi, _ = drawn(seed, massless=False)
    pattern, values, A = saddle_point(M, Phi)
    solver = SparseLDLT(pattern, range(len(M), len(A)))
    rank = solver.factor(values)
    b = right(M, Phi, seed)
    return judged(M, Phi, b, solver.solve(b), rank, solver.dropped)


def blocks(seed: int) -> str:
    """Block LDLᵀ, with unknowns without inertia."""
    M, Phi, sizes = drawn(seed, massless=True)
    pattern, values, A = saddle_point(M, Phi)
    solver = BlockLDLT(pattern, range(len(M), len(A)), blocks=sizes if seed % 2 else None, kinds=0)
    b = right(M, Phi, seed)
    x = solver.factor_solve(values, b)
    return judged(M, Phi, b, x, solver.rank, solver.dropped)


def dense(seed: int) -> str:
    """Dense LDLᵀ, multipliers after the unknowns."""
    M, Phi, _ = drawn(seed, massless=False)
    A = saddle_point(M, Phi)[2]
    b = right(M, Phi, seed)
    LD, x = A.copy(), b.copy()
    rank = ldlt_factor(len(b), LD, DROP_TOLERANCE)
    ldlt_solve(len(b), LD, x)
    return judged(M, Phi, b, x, rank, np.flatnonzero(np.diag(LD) == 0))


def fronts(seed: int) -> str:
    """Elimination by kind, as the looped engine has it: chains."""
    rng = np.random.default_rng([seed, 5])
    bodies = int(rng.integers(2, 7))
    extra = int(rng.integers(bodies)) if seed % 2 else None
    problem = test_fronts.chain(rng, bodies, extra)
    b = rng.standard_normal(len(problem.K))
    x, dropped = test_fronts.solved(problem, b, together=seed % 3 == 0)
    wanted = np.linalg.solve(problem.K, b)
    error = np.abs(x - wanted).max() / max(1.0, np.abs(wanted).max())
    # dropped rows are listed only where factors and solution are apart
    if seed % 3 and dropped.any():
        return "regular rows are dropped"
    good = error <= ALLOWED * np.linalg.cond(problem.K)
    return "" if good else f"error {error:.2g}"


SOLVERS: dict[str, Callable[[int], str]] = {
    "scalar": scalar,
    "blocks": blocks,
    "dense": dense,
    "fronts": fronts,
}


def main(given: list[str] | None = None) -> int:
    """Run and print how many of each solver are wrong; 1 if any is."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak.saddle_systems", description=__doc__
    )
    parser.add_argument("--count", type=int, default=1000, help="systems for each solver")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="names of solvers")
    arguments = parser.parse_args(given)
    faults = 0
    for name in arguments.solvers.split(","):
        wrong = 0
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            text = SOLVERS[name](seed)
            if text:
                wrong += 1
                print(f"{name}, seed {seed}: {text}", flush=True)
        print(f"{name}: {arguments.count} systems, {wrong} wrong", flush=True)
        faults += wrong
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
