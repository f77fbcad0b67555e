"""Block elimination against KLU and CHOLMOD, and bordered blocks against dense LAPACK.

Saddle-point matrices of chains of four-bars: refactor and solve, with the look at the backward
error inside, against KLU (refactor and solve, better of AMD and COLAMD) and CHOLMOD on the Schur
complement of the joints, which it gets for nothing: forming it and recovering accelerations are
not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.dependent_jacobians import BorderedMatrix, bordered, pendulum, tether
from benchmarks.four_bars import SaddlePoint, natural, reference_point
from benchmarks.peers import PeerMissingError, scipy_sparse
from benchmarks.report import Row, against, below
from benchmarks.timing import Burst, fastest
from biela.solvers import BlockLDLT, BorderedBlocks

ANGLE = np.pi / 4


def run(quick: bool) -> Iterator[Row]:
    for loops in (1000,) if quick else (1000, 10_000):
        for name, make, sizes in (
            ("natural", natural, (2, 1)),
            ("reference-point", reference_point, (3, 2)),
        ):
            yield from saddle_point(
                f"{loops:,} four-bars, {name}", make(loops, ANGLE), sizes, quick
            )
    yield from blocks("pendulum of five bars", pendulum(), 1 / 13, quick)
    yield from blocks("tether of ten bodies", tether(), 1 / 10, quick)
    yield from blocks("random matrix, 192 columns, border 14", bordered(192, 14), 1 / 6.6, quick)
    yield from blocks("random matrix, 36 by 34, border 3", bordered(34, 3, 2), 1 / 1.4, quick)


# --- saddle points --------------------------------------------------------------------------------


def saddle_point(
    what: str, system: SaddlePoint, sizes: tuple[int, int], quick: bool
) -> Iterator[Row]:
    """Rows for one matrix whose unknowns and multipliers come in blocks of these sizes."""
    sparse = scipy_sparse()
    n, m = system.unknowns, system.pattern.size - system.unknowns
    blocks = [sizes[0]] * (n // sizes[0]) + [sizes[1]] * (m // sizes[1])
    solver = BlockLDLT(system.pattern, system.multipliers, blocks=blocks)
    i, j, values = system.pattern.rows, system.pattern.columns, system.values
    off = i != j
    places = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    K = sparse.coo_array((np.concatenate([values, values[off]]), places)).tocsc()
    for name, b in (("gravity", system.right), ("ones", np.ones(n + m))):
        x = solver.factor_solve(values, b)
        error = backward_error(K, x, b)
        yield below(f"{what}, {name}: backward error", error, 1e-13, "")
        yield from refactor_and_solve(f"{what}, {name}", solver, system, K, b, sizes, quick)


def refactor_and_solve(
    what: str,
    solver: BlockLDLT,
    system: SaddlePoint,
    K: Any,
    b: np.ndarray,
    sizes: tuple[int, int],
    quick: bool,
) -> Iterator[Row]:
    """The row for one right-hand side: it decides whether a solution has to be refined."""
    sparse = scipy_sparse()
    n, values = system.unknowns, system.values
    try:
        from benchmarks.suitesparse.library import KLU, Cholmod

        candidates = {
            f"KLU {name}": _klu(KLU(K, ordering), b)
            for ordering, name in enumerate(("AMD", "COLAMD"))
        }
        if sizes == (3, 2):
            Phi = K[n:, :n]
            S = (Phi @ sparse.diags_array(1 / K.diagonal()[:n]) @ Phi.T).tocsc()
            for kind, name in enumerate(("simplicial", "as it chooses")):
                candidates[f"CHOLMOD {name}"] = _cholmod(Cholmod(S, kind), np.ones(len(b) - n))
    except PeerMissingError as missing:
        yield Row(f"{what}: refactor and solve", f"skipped: {missing}")
        return
    x = np.zeros(len(b))
    KLU(K, 0).run(1, b, x)
    ours = solver.factor_solve(values, b)
    if not np.abs(ours[:n] - x[:n]).max() < 1e-7 * np.abs(x[:n]).max():
        raise WrongResultError(f"{what}: KLU and BlockLDLT differ")
    candidates["biela"] = _block_ldlt(solver, values, b)
    times = fastest(candidates, 2.0 if quick else 6.0)
    us = times.pop("biela") * 1e3
    peer, best = min(times.items(), key=lambda item: item[1])
    measured = f"{us:.3g} ms, " + ", ".join(f"{k} {v * 1e3:.3g} ms" for k, v in times.items())
    yield against(f"{what}: refactor and solve, to {peer}", us, best * 1e3, 0.5, measured)


def backward_error(K: Any, x: np.ndarray, b: np.ndarray) -> float:
    """‖r‖ / (‖K‖ ‖x‖ + ‖b‖) in the norm of maxima."""
    norm = np.abs(K).sum(axis=1).max()
    return float(np.abs(b - K @ x).max() / (norm * np.abs(x).max() + np.abs(b).max()))


def _klu(peer: Any, b: np.ndarray) -> Burst:
    x = np.zeros_like(b)
    return lambda count: peer.run(count, b, x)


def _cholmod(peer: Any, b: np.ndarray) -> Burst:
    x = np.zeros_like(b)
    return lambda count: peer.run(count, b, x)


def _block_ldlt(solver: BlockLDLT, values: np.ndarray, b: np.ndarray) -> Burst:
    from biela.solvers.sparse.block_routines import block_ldlt_factor_solve

    n = len(b)
    out = np.zeros(n), np.zeros(2 * n), np.zeros(n, dtype=np.int64), np.zeros(3)
    arguments = (solver.plan, solver.addresses, values, b, 1e-12, 3, solver.work, *out)

    def burst(count: int) -> None:
        for _ in range(count):
            block_ldlt_factor_solve(*arguments)

    return burst


# --- bordered blocks ------------------------------------------------------------------------------


def blocks(what: str, matrix: BorderedMatrix, limit: float, quick: bool) -> Iterator[Row]:
    """Factor and four solutions of one matrix, against dense LAPACK and against KLU."""
    times = block_times(what, matrix, quick)
    measured = ", ".join(f"{k} {v:.3g} µs" for k, v in times.items())
    us = times["biela"]
    yield against(f"{what}: factor and four solutions", us, times["LAPACK"], limit, measured)
    klu = [v for k, v in times.items() if k.startswith("KLU")]
    if klu:
        yield against(f"{what}: the same, to KLU", us, min(klu), 1.0, measured)


def block_times(what: str, matrix: BorderedMatrix, quick: bool) -> dict[str, float]:
    """Microseconds of a factorisation and four solutions, by biela, LAPACK, and KLU if it is there.

    KLU takes no matrix with redundant rows.
    """
    i, j = matrix.rows, matrix.columns
    solver = BorderedBlocks(matrix.shape, i, j, matrix.blocks, matrix.border, matrix.band)
    dense = np.zeros(matrix.shape)
    np.add.at(dense, (i, j), matrix.values)
    expected = np.random.default_rng(0).standard_normal(matrix.shape[1])
    b = dense @ expected
    solver.factor(matrix.values)
    error = float(np.abs(solver.solve(b) - expected).max())
    if not error < 1e-9:
        raise WrongResultError(f"{what}: error {error:.1e}")
    square = matrix.shape[0] == matrix.shape[1]
    candidates = {
        "biela": _bordered(solver, matrix.values, b),
        "LAPACK": _lapack(dense, b) if square else _lapack_rectangular(dense, b),
    }
    if square:
        try:
            from benchmarks.suitesparse.library import KLU

            A = scipy_sparse().csc_array(dense)
            x = np.zeros(len(b))
            for ordering, name in enumerate(("AMD", "COLAMD")):
                peer = KLU(A, ordering)
                candidates[f"KLU {name}"] = lambda count, peer=peer, x=x: peer.run(count, b, x, 4)
        except PeerMissingError:
            pass
    return {k: v * 1e6 for k, v in fastest(candidates, 1.0 if quick else 3.0).items()}


def _bordered(solver: BorderedBlocks, values: np.ndarray, b: np.ndarray) -> Burst:
    x, y = np.zeros(solver.shape[1]), np.zeros(sum(solver.shape) + solver.spare)
    loop = _bordered_loop()
    arrays = solver.plan, solver.addresses, values, solver.work, solver.state
    return lambda count: loop(count, *arrays, b, x, y)


@cache
def _bordered_loop() -> Callable[..., int]:
    from numba import njit

    from biela.solvers.sparse.bordered_routines import bordered_factor, bordered_solve

    @njit
    def loop(count, plan, addresses, A, S, state, b, x, y):  # type: ignore[no-untyped-def]
        status = 0
        for _ in range(count):
            status += bordered_factor(plan, addresses, A, S, state)
            for _ in range(4):
                bordered_solve(plan, addresses, A, S, state, b, x, y)
        return status

    return loop


def _lapack_function(name: str, arguments: int) -> Any:
    """A function of LAPACK that numba can call: SciPy's own, all arguments by address."""
    import ctypes

    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def _lapack(dense: np.ndarray, b: np.ndarray) -> Burst:
    """dgetrf, and dgetrs four times."""
    loop = _lapack_loop()
    n = len(b)
    A, work = np.asfortranarray(dense).ravel(order="F"), np.zeros(n * n)
    sizes = np.array([n, 1, 0], dtype=np.int32)
    letter = np.frombuffer(b"N", dtype=np.uint8).copy()
    x, pivots = np.zeros(n), np.zeros(n, dtype=np.int32)
    loop(1, A, work, sizes, letter, b, x, pivots)
    if not np.abs(dense @ x - b).max() < 1e-9 * np.abs(b).max():
        raise WrongResultError("LAPACK is called wrongly")
    return lambda count: loop(count, A, work, sizes, letter, b, x, pivots)


@cache
def _lapack_loop() -> Callable[..., None]:
    from numba import njit

    factor, solve = _lapack_function("dgetrf", 6), _lapack_function("dgetrs", 9)

    @njit
    def loop(count, A, work, sizes, letter, b, x, pivots):  # type: ignore[no-untyped-def]
        n, one, info = sizes[0:].ctypes, sizes[1:].ctypes, sizes[2:].ctypes
        for _ in range(count):
            work[:] = A
            factor(n, n, work.ctypes, n, pivots.ctypes, info)
            for _ in range(4):
                x[:] = b
                solve(letter.ctypes, n, one, work.ctypes, n, pivots.ctypes, x.ctypes, n, info)

    return loop


def _lapack_rectangular(dense: np.ndarray, b: np.ndarray) -> Burst:
    """dgeqrf, and dormqr with dtrtrs four times: least squares for redundant rows."""
    loop = _lapack_rectangular_loop()
    m, n = dense.shape
    A, work = np.asfortranarray(dense).ravel(order="F"), np.zeros(m * n)
    sizes = np.array([m, n, 1, 64 * n, 0], dtype=np.int32)
    letters = np.frombuffer(b"LTUN", dtype=np.uint8).copy()
    x, tau, room = np.zeros(m), np.zeros(n), np.zeros(64 * n)
    loop(1, A, work, sizes, letters, b, x, tau, room)
    if not np.abs(dense @ x[:n] - b).max() < 1e-9 * np.abs(b).max():
        raise WrongResultError("LAPACK is called wrongly")
    return lambda count: loop(count, A, work, sizes, letters, b, x, tau, room)


@cache
def _lapack_rectangular_loop() -> Callable[..., None]:
    from numba import njit

    factor, turn, solve = (
        _lapack_function(name, count)
        for name, count in (("dgeqrf", 8), ("dormqr", 13), ("dtrtrs", 10))
    )

    @njit
    def loop(count, A, work, sizes, letters, b, x, tau, room):  # type: ignore[no-untyped-def]
        m, n, one = sizes[0:].ctypes, sizes[1:].ctypes, sizes[2:].ctypes
        length, info = sizes[3:].ctypes, sizes[4:].ctypes
        left, transposed = letters[0:].ctypes, letters[1:].ctypes
        upper, plain = letters[2:].ctypes, letters[3:].ctypes
        w, t, r, y = work.ctypes, tau.ctypes, room.ctypes, x.ctypes
        for _ in range(count):
            work[:] = A
            factor(m, n, w, m, t, r, length, info)
            for _ in range(4):
                x[:] = b
                turn(left, transposed, m, one, n, w, m, t, y, m, r, length, info)
                solve(upper, plain, plain, n, one, w, m, y, m, info)

    return loop
