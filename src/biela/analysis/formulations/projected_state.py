"""The derivative of the state by projections that choose their pivots while they run.

One routine evaluates a state of the formulations with a basis R of the motions allowed.  It calls
the kernels of a system for its matrices and does the algebra on numbers, so that the linear systems
may be factored with pivoting, and with the solver that is asked for:

    q_d by Newton's method (index 3 only)      J_d δ_d = -Φ
    J_d factored once, then
    R = T (-J_d⁻¹ J_i ; 1),   S b              v = S b + R ż
    S c                                        RᵀMR z̈ = Rᵀ (Q - M S c),   v' = S c + R z̈
    reactions                                  J_dᵀ λ = (Q - M v')_d

(Serna, Avilés & García de Jalón 1982): four kinds of systems with one factorisation.
"""

from __future__ import annotations

from math import cos, sqrt
from typing import Final

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.dependent import dependent_solve, dependent_solve_transposed, pivot_ratio
from biela.solvers.projected_motion import (
    factor_dependent,
    matrix_r_accelerations,
    motion_basis,
    null_space_accelerations,
    particular_motion,
    reactions_of_dependent,
    spread_dependent,
)
from biela.solvers.range_space import range_space_accelerations

#: What is evaluated: x', all of (q, v, v', λ), (q, v), or event functions.
RATES: Final = 0
READ: Final = 1
PLACE: Final = 2
EVENTS: Final = 3
#: How accelerations are found.
NULL_SPACE: Final = 0
MATRIX_R: Final = 1
RANGE_SPACE: Final = 2
#: Newton's method for the dependent positions: at most so many corrections, the last one below
#: this part of the position; the next would be its square.
ITERATIONS: Final = 12
SMALL: Final = 1e-8
#: Blocks are watched at one evaluation of so many.
SOME: Final = 2
#: How much of each entry of a probe is made anew.
SHAKEN: Final = 0.2
#: Rounds for forces that depend on multipliers end where these change by less than this part.
SETTLED: Final = 1e-14


@routine(scale="n", y="n", probe="n")
def next_probe(n: Int, k: Int, scale: Vector, y: Vector, probe: Vector) -> Real:
    """An estimate of the smallest singular value of D⁻¹A, with D = diag(`scale`).

    A step of inverse iteration on D⁻¹A Aᵀ D⁻¹, which goes on from one evaluation k to the next:
    `y` is A⁻ᵀ A⁻¹ D e of the unit vector e in `probe`, which becomes that of D y.  A part of it is
    shaken each time, so that directions that become singular anew are seen.
    """
    total = 0.0
    for i in range(n):
        total += (scale[i] * y[i]) ** 2
    length = sqrt(total)
    if not length > 0.0:
        return 0.0
    shaken = 0.0
    for i in range(n):
        probe[i] = scale[i] * y[i] / length + SHAKEN * cos(1.7 * (i + 1) ** 2 + 2.3 * k)
        shaken += probe[i] ** 2
    for i in range(n):
        probe[i] /= sqrt(shaken)
    return min(1.0, 1.0 / sqrt(length))


@routine(R="n, f")
def least_cosine(n: Int, f: Int, R: Matrix) -> Real:
    """The least cosine of the angles between motions R z and what is seen of them, B R z = z.

    Of unit vectors z: that of the longest column of R, where B is orthonormal.
    """
    most = 1.0
    for c in range(f):
        total = 0.0
        for i in range(n):
            total += R[i, c] ** 2
        most = max(most, total)
    return 1.0 / sqrt(most)


@routine(
    t="1", x="nx", p="np", place="1, nq + n, np -> g + m + nj",
    motion="1, nq + n + m, np -> nm + n + m + nq", moved="1, nq + n, np -> nq",
    events="1, nq + n, np -> no", factor="nj -> 1", solve="r -> r",
    transposed="r -> r", j_row="nj", j_column="nj", j_place="nj", m_row="nm",
    m_column="nm", rows="r", order="n", position="n", pivots="r", swaps="n", counts="4", T="n, n",
    J="r, n", JT="r, n", A="r, r", R="n, n - r", MR="n, n - r", K="n - r, n - r", full="m, n",
    Y="m, n", G="m, m", L="n, n", stiff="m", P="g + m + nj", Z="nm + n + m + nq", y="nq + n + m",
    trial="nq + n", Sb="n", Sc="n", a="n", h="n", w="r", room="r", scale="r", probe="r",
    status="1", z="n - r", before="m", monitor="4",
    sizes="m", step="m", out="no",
)  # fmt: skip
def projected_state(
    what: Int,
    method: Int,
    reduced: Int,
    index: Int,
    rounds: Int,
    kind: Int,
    selects: Int,
    nx: Int,
    np: Int,
    nq: Int,
    n: Int,
    m: Int,
    g: Int,
    r: Int,
    nj: Int,
    nm: Int,
    no: Int,
    rank_known: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    place: Kernel,
    motion: Kernel,
    moved: Kernel,
    events: Kernel,
    factor: Kernel,
    solve: Kernel,
    transposed: Kernel,
    j_row: IntVector,
    j_column: IntVector,
    j_place: IntVector,
    m_row: IntVector,
    m_column: IntVector,
    rows: IntVector,
    order: IntVector,
    position: IntVector,
    pivots: IntVector,
    swaps: IntVector,
    counts: IntVector,
    step: IntVector,
    T: Matrix,
    J: Matrix,
    JT: Matrix,
    A: Matrix,
    R: Matrix,
    MR: Matrix,
    K: Matrix,
    full: Matrix,
    Y: Matrix,
    G: Matrix,
    L: Matrix,
    stiff: Vector,
    P: Vector,
    Z: Vector,
    y: Vector,
    trial: Vector,
    Sb: Vector,
    Sc: Vector,
    a: Vector,
    h: Vector,
    w: Vector,
    room: Vector,
    scale: Vector,
    probe: Vector,
    status: Vector,
    z: Vector,
    before: Vector,
    monitor: Vector,
    sizes: Vector,
    out: Vector,
) -> None:
    """Evaluate a state x = (q, v), or (ż, q) where it is `reduced`, and write `out`.

    `place` gives (Φ, β, entries of Φ_v), `motion` (entries of M, Q, γ, q'), `moved` q ⊕ δ.
    `counts` are those of evaluations, Newton iterations, factorisations and systems solved;
    `monitor` is the smallest ratio of pivots of J_d so far, and one below which nothing is
    evaluated; then the same of the rows, where others could be chosen for combinations of
    velocities.
    """
    f = n - r
    singular = 0
    for i in range(nq + n + m):
        y[i] = 0.0
    for i in range(nq):
        y[i] = x[f + i] if reduced != 0 else x[i]
    if reduced == 0:
        for i in range(n):
            y[nq + i] = x[nq + i]
    place(t, y[0 : nq + n], p, P)

    # dependent positions, in a copy that leaves the state alone
    if reduced != 0 and index == 3 and g > 0:
        for _step in range(ITERATIONS):
            singular = factor_dependent(
                kind, n, r, nj, P[g + m : g + m + nj], j_place, j_column, selects, position, T, J,
                JT, A, pivots, factor, status,
            )  # fmt: skip
            counts[2] += 1
            for i in range(r):
                w[i] = -P[rows[i]] if rows[i] < g else 0.0
            dependent_solve(kind, r, A, pivots, solve, room, w)
            spread_dependent(n, r, selects, order, T, w, h)
            counts[1] += 1
            counts[3] += 1
            size = 0.0
            extent = 1.0
            for i in range(nq):
                trial[i] = y[i]
                extent = max(extent, abs(y[i]))
            for i in range(n):
                trial[nq + i] = h[i]
                size = max(size, abs(h[i]))
            moved(t, trial, p, y[0:nq])
            place(t, y[0 : nq + n], p, P)
            if not size > SMALL * extent or singular != 0:
                break

    # velocities
    if method != RANGE_SPACE or reduced != 0:
        singular = factor_dependent(
            kind, n, r, nj, P[g + m : g + m + nj], j_place, j_column, selects, position, T, J, JT,
            A, pivots, factor, status,
        )  # fmt: skip
        if singular == 0:
            motion_basis(kind, n, r, selects, order, T, JT, A, pivots, solve, room, w, h, R)
        counts[2] += 1
        counts[3] += f
        ratio = 1.0
        if singular != 0:
            ratio = 0.0
        elif selects == 0:
            ratio = least_cosine(n, n - r, R)
            if kind == 0 and m > r:
                of_rows = pivot_ratio(r, A, n, JT)
                monitor[2] = min(monitor[2], of_rows)
                if of_rows < monitor[3]:
                    singular = 1
        elif kind == 0:
            ratio = pivot_ratio(r, A, n, JT)
        elif counts[0] % SOME == 0 and r > 0:
            # blocks have no pivots to compare
            for i in range(r):
                w[i] = scale[i] * probe[i]
            dependent_solve(kind, r, A, pivots, solve, room, w)
            dependent_solve_transposed(kind, r, A, pivots, transposed, room, w)
            counts[3] += 2
            ratio = next_probe(r, counts[0], scale, w, probe)
        monitor[0] = min(monitor[0], ratio)
        # too near a dead point: the integrator has to stop, for another choice
        if ratio < monitor[1]:
            singular = 1
    if reduced != 0 and singular == 0:
        particular_motion(
            kind, n, m, r, selects, order, T, A, pivots, solve, room, rows, P[g : g + m], w, Sb
        )
        for i in range(n):
            value = Sb[i]
            for c in range(f):
                value += R[i, c] * x[c]
            y[nq + i] = value
        counts[3] += 1

    # accelerations and multipliers; in rounds where forces depend on these
    for _round in range(rounds if what <= READ else 0):
        motion(t, y, p, Z)
        for i in range(m):
            before[i] = y[nq + n + i]
        if method == RANGE_SPACE:
            rank = range_space_accelerations(
                n, m, rank_known, nm, Z[0:nm], m_row, m_column, nj, P[g + m : g + m + nj], j_row,
                j_column, stiff, Z[nm : nm + n], Z[nm + n : nm + n + m], full, L, Y, G, h,
                y[nq + n : nq + n + m], a, sizes, step,
            )  # fmt: skip
            counts[2] += 2
            counts[3] += m + 2
            if rank == 0 and m > 0:
                singular = 1
        elif singular == 0:
            if method == MATRIX_R:
                counts[2] += 1
                singular = matrix_r_accelerations(
                    n, m, n - r, r, nm, Z[0:nm], m_row, m_column, Z[nm : nm + n], R, J, rows,
                    Z[nm + n : nm + n + m], MR, L, swaps, a,
                )  # fmt: skip
            else:
                particular_motion(
                    kind, n, m, r, selects, order, T, A, pivots, solve, room, rows,
                    Z[nm + n : nm + n + m], w, Sc,
                )  # fmt: skip
                null_space_accelerations(
                    n,
                    n - r,
                    nm,
                    Z[0:nm],
                    m_row,
                    m_column,
                    Z[nm : nm + n],
                    R,
                    Sc,
                    MR,
                    K,
                    h,
                    z,
                    a,
                )
            if what == READ or rounds > 1:
                reactions_of_dependent(
                    kind, n, m, r, nm, Z[0:nm], m_row, m_column, Z[nm : nm + n], a, selects,
                    order, T, A, pivots, transposed, room, rows, h, w, y[nq + n : nq + n + m],
                )  # fmt: skip
            counts[3] += 2 if what == READ or rounds > 1 else 1
        if rounds > 1:
            change = 0.0
            most = 0.0
            for i in range(m):
                change = max(change, abs(y[nq + n + i] - before[i]))
                most = max(most, abs(y[nq + n + i]))
            if change <= SETTLED * most:
                break

    counts[0] += 1
    if what == EVENTS:
        events(t, y[0 : nq + n], p, out)
    elif what == PLACE:
        for i in range(nq + n):
            out[i] = y[i]
    elif what == READ:
        for i in range(nq + n):
            out[i] = y[i]
        for i in range(n):
            out[nq + n + i] = a[i]
        for i in range(m):
            out[nq + 2 * n + i] = y[nq + n + i]
    elif reduced != 0:
        for c in range(f):
            value = 0.0
            if selects != 0:
                value = a[order[r + c]]
            else:
                for i in range(n):
                    value += T[i, r + c] * a[i]
            out[c] = value
        for i in range(nq):
            out[f + i] = Z[nm + n + m + i]
    else:
        for i in range(nq):
            out[i] = Z[nm + n + m + i]
        for i in range(n):
            out[nq + i] = a[i]
    if singular != 0:
        zero = 0.0
        for i in range(no):
            out[i] = zero / zero
