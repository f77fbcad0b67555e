"""Damped least squares on Pinocchio: in Python with its calls, and in C++ from its headers."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.panda import FLANGE, LOWER, UPPER, placement
from benchmarks.pinocchio_headers import library, pinocchio

SOURCE = Path(__file__).with_name("pinocchio_ik.cpp")


@dataclass(frozen=True)
class Loop:
    """How a loop iterates: λ = damping |e|², and when an attempt is given up.

    The numbers are the best of 24 that were tried on other poses, by evaluations a solution; those
    of biela were chosen on the same poses.
    """

    tolerance: float = 1e-10
    damping: float = 0.03
    slow: float = 0.9
    iterations: int = 60
    patience: int = 4

    @property
    def numbers(self) -> np.ndarray:
        return np.array(
            [self.tolerance, self.damping, self.slow, self.iterations, self.patience], dtype=float
        )


@dataclass(frozen=True)
class Answers:
    """Positions, which of them are solutions, and how many evaluations and restarts it took."""

    q: np.ndarray
    solved: np.ndarray
    evaluations: int
    restarts: int


class InPython:
    """The loop in Python, one call of Pinocchio for the kinematics and one for the Jacobian."""

    def __init__(self) -> None:
        pin = self.pin = pinocchio()
        model = pin.Model()
        joint = 0
        for k in range(7):
            pose = pin.SE3(placement(k))
            joint = model.addJoint(joint, pin.JointModelRZ(), pose, f"joint{k + 1}")
        place = pin.SE3(np.eye(3), np.array([0, 0, FLANGE]))
        frame = pin.Frame("hand", joint, 0, place, pin.FrameType.OP_FRAME)
        self.model, self.frame = model, model.addFrame(frame)
        self.data = model.createData()

    def solve(self, poses: np.ndarray, starts: np.ndarray, loop: Loop) -> Answers:
        found, solved = np.zeros((len(poses), 7)), np.zeros(len(poses), dtype=bool)
        self.count, restarts = 0, 0
        for i, pose in enumerate(poses):
            for k, start in enumerate(starts):
                restarts += k > 0
                found[i], solved[i] = self._descend(pose, np.clip(start, LOWER, UPPER), loop)
                if solved[i]:
                    break
        return Answers(found, solved, self.count, restarts)

    def _descend(self, pose: np.ndarray, q: np.ndarray, loop: Loop) -> tuple[np.ndarray, bool]:
        pin, model, data, frame = self.pin, self.model, self.data, self.frame
        place, R = pose[:3, 3], pose[:3, :3].T
        before, slow = np.inf, 0
        for _ in range(loop.iterations):
            J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
            pin.updateFramePlacement(model, data, frame)
            hand = data.oMf[frame]
            e = np.concatenate([hand.translation - place, pin.log3(hand.rotation @ R)])
            self.count += 1
            size = np.sqrt(e @ e)
            if size <= loop.tolerance:
                return q, True
            slow = slow + 1 if size > loop.slow * before else 0
            if slow >= loop.patience:
                break
            before = size
            G = J @ J.T
            G.flat[::7] += loop.damping * size * size + 1e-16
            q = np.minimum(np.maximum(q - J.T @ np.linalg.solve(G, e), LOWER), UPPER)
        return q, False


class InCpp:
    """The same loop in C++, ``pinocchio_ik.cpp``, compiled once for a machine."""

    def __init__(self) -> None:
        self._native = library(SOURCE).solve_all
        flange = np.eye(4)
        flange[2, 3] = FLANGE
        self._placements = rows([*(placement(k) for k in range(7)), flange])
        self._limits = np.concatenate([LOWER, UPPER])

    def solve(self, poses: np.ndarray, starts: np.ndarray, loop: Loop) -> Answers:
        found, solved = np.zeros((len(poses), 7)), np.zeros(len(poses), dtype=np.int32)
        counts = np.zeros(2, dtype=np.int64)
        flat, first = rows(poses), np.ascontiguousarray(starts)
        arrays = (flat, self._placements, self._limits, first, loop.numbers, found, solved, counts)
        a = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
        self._native(len(poses), a[0], a[1], a[2], len(first), *a[3:])
        return Answers(found, solved.astype(bool), int(counts[0]), int(counts[1]))


def rows(poses: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Homogeneous matrices as rows of 12 numbers."""
    array = np.asarray(poses)
    flat = [array[:, :3, 3], array[:, :3, :3].reshape(-1, 9)]
    return np.ascontiguousarray(np.concatenate(flat, axis=1))
