"""Where the motion of large mechanisms starts: as it is if it is assembled, else brought there."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis.groups import starting
from biela.analysis.groups.starting import assembled_blocks, start_poses
from biela.analysis.looped.follower import Follower
from biela.analysis.looped.start import first_blocks
from biela.equations.blocks.world import World
from examples.groups.four_bar_chain import four_bar_chain


def test_a_chain_of_assembled_cells_starts_without_the_factors_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = four_bar_chain(300)
    blocks, guess = first_blocks(model, None, 0.0, None)
    by_factors = Follower(blocks, 1e-10).assembled(0.0, guess)
    monkeypatch.delattr(starting, "Follower")
    np.testing.assert_allclose(assembled_blocks(blocks, guess, 0.0), by_factors, rtol=0, atol=1e-9)
    poses = start_poses(model, World(model, None))
    # each rocker is as long as the base of its cell: its end is that of the coupler
    assert np.isfinite(poses.place).all()
    assert np.abs(blocks.Phi(guess, 0.0)).max() < 1e-10


def test_a_guess_that_is_off_is_brought_onto_the_joints_of_the_same_branch() -> None:
    blocks, guess = first_blocks(four_bar_chain(300), None, 0.0, None)
    random = np.random.default_rng(0)
    off = blocks.moved(guess, 1e-3 * random.normal(size=blocks.nv))
    assert np.abs(blocks.Phi(off, 0.0)).max() > 1e-4
    found = assembled_blocks(blocks, off, 0.0)
    assert np.abs(blocks.Phi(found, 0.0)).max() < 1e-10
    # drivers and joints determine the position: near the guess there is one
    np.testing.assert_allclose(found, guess, rtol=0, atol=1e-6)
