"""Runs tell whoever watches how far they have come, and end when they are told to."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.progress import watched


def pendulum() -> bl.Model:
    model = bl.Model("pendulum", plane="xz")
    rod = model.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    model.joint("revolute", "pivot", model.ground, rod, axis="y", start="60 deg")
    return model


def test_a_watch_is_told_growing_parts_and_only_of_runs_inside_of_it() -> None:
    seen: list[float] = []
    with watched(seen.append):
        bl.simulate(pendulum(), 1.0)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    count = len(seen)
    bl.simulate(pendulum(), 0.1)
    assert len(seen) == count


def test_a_watch_ends_a_run_which_returns_what_it_has() -> None:
    def watch(done: float) -> None:
        raise KeyboardInterrupt

    whole = bl.simulate(pendulum(), 20.0, step=1e-4, output=1e-2)
    with watched(watch):
        part = bl.simulate(pendulum(), 20.0, step=1e-4, output=1e-2)
    assert part.interrupted
    assert 1 < len(part) < len(whole)
    count = len(part) - 1  # the last one is where it was ended
    difference = part["pivot.angle"][:count] - whole["pivot.angle"][:count]
    assert np.abs(difference).max() < 1e-9
