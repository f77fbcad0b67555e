"""An arm of seven joints with the geometry and the limits of the Franka Emika Panda.

Denavit-Hartenberg parameters after Craig, from the control interface's documentation.
"""

from __future__ import annotations

import math

import numpy as np

import biela as bl

A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
#: Quarter turns about x before each joint.
TURNS = (0, -1, 1, 1, -1, 1, 1)
FLANGE = 0.107
LOWER = np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973])
UPPER = np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973])


def panda() -> bl.SymbolicSystem:
    """The arm, with the frame "hand" at its flange."""
    s = bl.SymbolicSystem("panda")
    base, point = s.base, s.origin
    for k, (a, d, turn) in enumerate(zip(A, D, TURNS, strict=True)):
        (q,) = s.coordinates(f"q{k + 1}")
        s.limits(q, LOWER[k], UPPER[k])
        point = point.offset(f"A{k + 1}", base.vector(a, 0, 0))
        if turn:
            rows = [[1, 0, 0], [0, 0, -turn], [0, turn, 0]]
            base = base.by_matrix(f"T{k + 1}", rows)
        point = point.offset(f"D{k + 1}", base.vector(0, 0, d))
        base = base.rotated(f"L{k + 1}", "z", q)
    hand = point.offset("flange", base.vector(0, 0, FLANGE))
    s.frame("hand", hand, base)
    s.solid("load", hand, base, mass=1.0)
    return s


def placement(k: int) -> np.ndarray:
    """The pose of joint k in the link before it, where its angle is zero."""
    angle = TURNS[k] * math.pi / 2
    c, s = round(math.cos(angle)), round(math.sin(angle))
    pose = np.eye(4)
    pose[:3, :3] = [[1, 0, 0], [0, c, -s], [0, s, c]]
    pose[:3, 3] = [A[k], -s * D[k], c * D[k]]
    return pose


def forward(q: np.ndarray) -> np.ndarray:
    """The poses of the hand for rows of positions, (N, 4, 4), by products of matrices."""
    pose = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    for k in range(7):
        turn = np.zeros((len(q), 4, 4))
        turn[:, 0, 0] = turn[:, 1, 1] = np.cos(q[:, k])
        turn[:, 1, 0] = np.sin(q[:, k])
        turn[:, 0, 1] = -turn[:, 1, 0]
        turn[:, 2, 2] = turn[:, 3, 3] = 1
        pose = pose @ placement(k) @ turn
    flange = np.eye(4)
    flange[2, 3] = FLANGE
    return pose @ flange


def random_positions(count: int, seed: int) -> np.ndarray:
    """Positions within the limits, (count, 7)."""
    return LOWER + (UPPER - LOWER) * np.random.default_rng(seed).random((count, 7))
