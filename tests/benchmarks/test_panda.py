from __future__ import annotations

import numpy as np

from benchmarks.panda import LOWER, UPPER, forward, panda, random_positions


def test_the_symbolic_arm_is_the_one_whose_poses_are_asked_for():
    system = panda().equations().system
    hand = system.frames.index("hand")
    q = random_positions(20, seed=3)
    for row, pose in zip(q, forward(q), strict=True):
        found = system.evaluate("poses", row)[hand]
        assert np.abs(found[:3] - pose[:3, 3]).max() < 1e-14
        assert np.abs(found[3:] - pose[:3, :3].ravel()).max() < 1e-14


def test_the_limits_are_those_of_the_coordinates():
    system = panda().equations().system
    assert [e.lower for e in system.q] == LOWER.tolist()
    assert [e.upper for e in system.q] == UPPER.tolist()
