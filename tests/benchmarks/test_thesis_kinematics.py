"""The models that the benchmark of kinematics moves are the examples, of another size."""

from __future__ import annotations

import pytest

import biela as bl
from benchmarks.agreement import WrongResultError
from benchmarks.thesis_kinematics import LAWS, moved, scaled, verify


@pytest.mark.parametrize("name", LAWS)
def test_examples_of_changed_size_move_as_their_closed_forms(name: str) -> None:
    found = moved(bl.formulate(scaled(name, 1.25), "joint"))
    assert len(found) == 100
    verify(name, found, 1.25)
    with pytest.raises(WrongResultError):
        verify(name, found, 1.2499)
