"""The mechanisms of the benchmark of closed loops: the same for biela and its peers."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.closed_loops import mujoco_peer
from benchmarks.closed_loops.catalogue import stewart
from benchmarks.closed_loops.mechanism import Mechanism
from benchmarks.robot_loops import Ours, four_bars

pytest.importorskip("mujoco")


@pytest.mark.parametrize("mechanism", [four_bars(3), stewart()], ids=lambda m: m.name)
def test_robots_accelerate_as_mujoco_says_up_to_its_softness(mechanism: Mechanism) -> None:
    ours = Ours(mechanism)
    ours.burst(1)
    theirs = ours.shared_of_peer(mujoco_peer.accelerations(mechanism))
    size = np.abs(theirs).max()
    np.testing.assert_allclose(ours.shared(ours.accelerations), theirs, atol=1e-3 * size)
