"""Dependent Jacobians Φ_q^d in block form: two mechanisms of the thesis, and random ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class BorderedMatrix:
    """Entries of a matrix, and the blocks, border and band of its order."""

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    blocks: list[tuple[list[int], list[int]]]
    border: list[int]
    band: list[int]


def _blocks_of_three(A: np.ndarray, pattern: np.ndarray) -> BorderedMatrix:
    rows, columns = np.nonzero(pattern)
    blocks = [(list(range(k, k + 3)), list(range(k, k + 3))) for k in range(0, len(A), 3)]
    return BorderedMatrix(A.shape, rows, columns, A[rows, columns], blocks, [], [])


def pendulum(bars: int = 5) -> BorderedMatrix:
    """The pendulum of unit bars with revolutes, in points p_i and axes v_i.

    With u_i = p_i - p_{i-1}, six rows a bar: |u_i| = 1, u_i ⟂ v_{i-1} and the angle between u_{i-1}
    and u_i about v_{i-1} for p_i; then |v_i| = 1, v_i ⟂ u_i, v_i ⟂ v_{i-1} for v_i.
    """
    rng = np.random.default_rng(3)
    p, v = [np.zeros(3)], [np.array([0.0, 1.0, 0.0])]
    u = [np.array([0.0, 0.0, -1.0])]
    for _ in range(bars):
        side = np.cross(v[-1], rng.standard_normal(3))
        u.append(side / np.linalg.norm(side))
        axis = np.cross(u[-1], v[-1])
        p.append(p[-1] + u[-1])
        v.append(axis / np.linalg.norm(axis))
    n = 6 * bars
    A, pattern = np.zeros((n, n)), np.zeros((n, n), dtype=bool)

    def put(row: int, kind: str, i: int, value: np.ndarray) -> None:
        if i > 0:
            at = 6 * (i - 1) + (0 if kind == "p" else 3)
            A[row, at : at + 3] += value
            pattern[row, at : at + 3] = True

    for i in range(1, bars + 1):
        r = 6 * (i - 1)
        for sign, k in ((1.0, i), (-1.0, i - 1)):
            put(r, "p", k, 2 * sign * u[i])
            put(r + 1, "p", k, sign * v[i - 1])
            put(r + 4, "p", k, sign * v[i])
        put(r + 1, "v", i - 1, u[i])
        # (u_{i-1} × u_i)·v cos θ - u_{i-1}·u_i sin θ, with the pattern of both terms
        s, c = np.cross(u[i - 1], u[i]) @ v[i - 1], u[i - 1] @ u[i]
        along = np.cross(v[i - 1], u[i - 1]) * c - u[i - 1] * s
        back = np.cross(u[i], v[i - 1]) * c - u[i] * s
        put(r + 2, "p", i, along)
        put(r + 2, "p", i - 1, back - along)
        if i > 1:
            put(r + 2, "p", i - 2, -back)
        put(r + 2, "v", i - 1, np.cross(u[i - 1], u[i]) * c)
        put(r + 3, "v", i, 2 * v[i])
        put(r + 4, "v", i, u[i])
        put(r + 5, "v", i, v[i - 1])
        put(r + 5, "v", i - 1, v[i])
    return _blocks_of_three(A, pattern)


def tether(bodies: int = 10) -> BorderedMatrix:
    """A tether of bodies on spherical joints: blocks of order three, in the pattern of the thesis.

    Body i has a point and two vectors; the rows of its point are a length and two bendings against
    the body before, those of its first vector a length, a right angle and the torsion, those of its
    second a length and two right angles. The values are random.
    """
    rng = np.random.default_rng(4)
    n = 3 + 9 * (bodies - 1)
    A, pattern = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    # the first body is fixed along its axis: its vector a follows from b
    place = {(1, "a"): 0, (1, "b"): 0}
    for i in range(2, bodies + 1):
        for k, kind in enumerate("pab"):
            place[i, kind] = 3 + 9 * (i - 2) + 3 * k

    def put(row: int, *unknowns: tuple[int, str]) -> None:
        for unknown in unknowns:
            if unknown in place:
                at = place[unknown]
                A[row, at : at + 3] = rng.standard_normal(3)
                if at <= row < at + 3:
                    A[row, row] += 4.0
                pattern[row, at : at + 3] = True

    for row in range(3):
        put(row, (1, "b"))
    for i in range(2, bodies + 1):
        r = 3 + 9 * (i - 2)
        ends = (i, "p"), (i - 1, "p")
        before = (i - 1, "a"), (i - 1, "b")
        put(r, *ends)
        put(r + 1, *ends, *before)
        put(r + 2, *ends, *before)
        put(r + 3, (i, "a"))
        put(r + 4, *ends, (i, "a"))
        put(r + 5, *ends, (i - 1, "a"), (i, "a"))
        put(r + 6, (i, "b"))
        put(r + 7, *ends, (i, "b"))
        put(r + 8, (i, "a"), (i, "b"))
    return _blocks_of_three(A, pattern)


def bordered(columns: int, border: int, redundant: int = 0) -> BorderedMatrix:
    """A random matrix with blocks of order one to three, some five entries a row."""
    rng = np.random.default_rng(columns)
    orders: list[int] = []
    n = columns - border
    while sum(orders) < n:
        orders.append(min(int(rng.choice([1, 1, 1, 1, 2, 3])), n - sum(orders)))
    bounds = np.cumsum([0, *orders])
    band = border + redundant
    A = np.zeros((n + band, columns))
    for lo, hi in pairwise(bounds):
        for i in range(lo, hi):
            A[i, lo:hi] = rng.standard_normal(hi - lo)
            A[i, i] += 3.0
            if lo:
                near = rng.integers(max(0, lo - 12), lo, 3)
                A[i, near] = rng.standard_normal(3)
            if rng.random() < 0.3:
                A[i, n + rng.integers(border)] = rng.standard_normal()
    for i in range(n, n + border):
        A[i, rng.integers(0, n, 5)] = rng.standard_normal(5)
        A[i, i] = 1.0
    for i in range(n + border, n + band):
        A[i] = A[rng.integers(n)] - A[rng.integers(n, n + border)]
    rows, cols = np.nonzero(A)
    blocks = [(list(range(lo, hi)), list(range(lo, hi))) for lo, hi in pairwise(bounds.tolist())]
    return BorderedMatrix(
        A.shape,
        rows,
        cols,
        A[rows, cols],
        blocks,
        list(range(n, columns)),
        list(range(n, n + band)),
    )
