"""Saddle-point matrices of a chain of four-bars: parallelograms side by side on the ground.

N loops have N + 1 cranks and N couplers, uniform rods of unit mass and length, all cranks at one
angle, at rest under gravity. The motion is known: all cranks turn alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biela.solvers import SymmetricPattern

GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class SaddlePoint:
    """[[M, Φᵀ], [Φ, 0]] by entries, and a right-hand side (Q, γ)."""

    unknowns: int
    pattern: SymmetricPattern
    values: np.ndarray
    right: np.ndarray

    @property
    def multipliers(self) -> np.ndarray:
        return np.arange(self.unknowns, self.pattern.size)

    @property
    def dense(self) -> np.ndarray:
        return self.pattern.dense(self.values)

    @property
    def jacobian(self) -> np.ndarray:
        return self.dense[self.unknowns :, : self.unknowns]


class _Entries:
    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []

    def add(self, row: int, column: int, value: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)

    def system(self, unknowns: int, right: np.ndarray) -> SaddlePoint:
        pattern = SymmetricPattern(len(right), np.array(self.rows), np.array(self.columns))
        return SaddlePoint(unknowns, pattern, np.array(self.values), right)


def crank_acceleration(loops: int, angle: float) -> float:
    """Angular acceleration of the cranks, by the principle of energy."""
    inertia = (loops + 1) / 3 + loops
    return -GRAVITY * np.cos(angle) * ((loops + 1) / 2 + loops) / inertia


def natural(loops: int, angle: float) -> SaddlePoint:
    """In natural coordinates: the moving pins; a constant length a rod. Size 4 N + 3."""
    n = 2 * (loops + 1)
    c, s = np.cos(angle), np.sin(angle)
    entries, right = _Entries(), np.zeros(n + 2 * loops + 1)
    for k in range(loops + 1):
        neighbours = (k > 0) + (k < loops)
        for d in range(2):
            entries.add(2 * k + d, 2 * k + d, (1 + neighbours) / 3)
            if k < loops:
                entries.add(2 * k + 2 + d, 2 * k + d, 1 / 6)
        right[2 * k + 1] = -GRAVITY * (1 + neighbours) / 2
        entries.add(n + k, 2 * k, 2 * c)
        entries.add(n + k, 2 * k + 1, 2 * s)
    for k in range(loops):
        row = n + loops + 1 + k
        for d, direction in enumerate((1.0, 0.0)):
            entries.add(row, 2 * k + d, -2 * direction)
            entries.add(row, 2 * k + 2 + d, 2 * direction)
    return entries.system(n, right)


def pins(loops: int) -> list[tuple[int, int, float, float]]:
    """The revolutes: body, other body (-1 for the ground), and where along each rod, from -½ to ½.

    Cranks are bodies 0 to N, couplers N + 1 to 2 N.
    """
    found = [(k, -1, -0.5, 0.0) for k in range(loops + 1)]
    for k in range(loops):
        found += [(loops + 1 + k, k, -0.5, 0.5), (loops + 1 + k, k + 1, 0.5, 0.5)]
    return found


def reference_point(loops: int, angle: float) -> SaddlePoint:
    """In planar reference-point coordinates (x, y, φ) of each rod. Size 12 N + 5."""
    bodies = 2 * loops + 1
    n = 3 * bodies
    joints = pins(loops)
    angles = np.where(np.arange(bodies) <= loops, angle, 0.0)
    entries, right = _Entries(), np.zeros(n + 2 * len(joints))
    for b in range(bodies):
        for d, inertia in enumerate((1.0, 1.0, 1 / 12)):
            entries.add(3 * b + d, 3 * b + d, inertia)
        right[3 * b + 1] = -GRAVITY
    for k, (body, other, here, there) in enumerate(joints):
        for b, along, sign in ((body, here, 1.0), (other, there, -1.0)):
            if b < 0:
                continue
            row = n + 2 * k
            entries.add(row, 3 * b, sign)
            entries.add(row + 1, 3 * b + 1, sign)
            entries.add(row, 3 * b + 2, -sign * along * np.sin(angles[b]))
            entries.add(row + 1, 3 * b + 2, sign * along * np.cos(angles[b]))
    return entries.system(n, right)


def spatial(loops: int, angle: float, turn: np.ndarray) -> SaddlePoint:
    """In space, five rows a revolute, seen from axes turned by the rotation `turn`.

    Twist coordinates (v, ω) of each rod. A planar mechanism made of spatial revolutes has three
    redundant rows a loop, in directions that no single row shows.
    """
    bodies = 2 * loops + 1
    n = 6 * bodies
    joints = pins(loops)
    angles = np.where(np.arange(bodies) <= loops, angle, 0.0)
    ex, ey = turn.T[:2]
    entries, right = _Entries(), np.zeros(n + 5 * len(joints))
    for b in range(bodies):
        for d in range(6):
            entries.add(6 * b + d, 6 * b + d, 1.0 if d < 3 else 1 / 12)
        right[6 * b : 6 * b + 3] = -GRAVITY * ey
    for k, (body, other, here, there) in enumerate(joints):
        row = n + 5 * k
        for b, along, sign in ((body, here, 1.0), (other, there, -1.0)):
            if b < 0:
                continue
            arm = along * (np.cos(angles[b]) * ex + np.sin(angles[b]) * ey)
            # v + ω × arm
            cross = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
            for i in range(3):
                entries.add(row + i, 6 * b + i, sign)
                for j in range(3):
                    if i != j:
                        entries.add(row + i, 6 * b + 3 + j, sign * cross[i, j])
            for i, axis in enumerate((ex, ey)):
                for j in range(3):
                    entries.add(row + 3 + i, 6 * b + 3 + j, sign * axis[j])
    return entries.system(n, right)
