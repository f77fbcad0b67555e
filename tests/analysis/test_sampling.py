"""Equal steps of a motion, and which of their ends are stored."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biela.analysis.sampling import sampling
from biela.errors import ModelError, ShapeError


def test_instants_begin_at_the_start_and_end_with_the_duration() -> None:
    found = sampling(0.6, 0.1, t=2.0, output=0.2)
    assert (found.steps, found.stride) == (6, 2)
    assert found.times == pytest.approx(np.linspace(2.0, 2.6, 7), abs=1e-15)


def test_the_last_instant_is_stored_if_it_is_wanted_and_an_output_falls_on_it() -> None:
    found = sampling(0.6, 0.1, output=0.2)
    assert found.stored().tolist() == [0, 2, 4, 6]
    assert found.stored(end_point=False).tolist() == [0, 2, 4]
    between = sampling(0.7, 0.1, output=0.2)
    assert between.stored().tolist() == between.stored(end_point=False).tolist() == [0, 2, 4, 6]


def test_of_a_motion_that_stopped_what_there_is_is_stored() -> None:
    assert sampling(0.6, 0.1, output=0.2).stored(found=4).tolist() == [0, 2]
    assert sampling(0.6, 0.1).stored(found=0).tolist() == []


@pytest.mark.parametrize("value", [0.0, -0.1, math.nan, math.inf, "1", None])
def test_times_are_positive_numbers(value: float) -> None:
    with pytest.raises(ModelError, match="the duration must be a positive time, not"):
        sampling(value, 0.1)
    with pytest.raises(ModelError, match="the step must be a positive time, not"):
        sampling(1.0, value)
    if value is not None:
        with pytest.raises(ModelError, match="the output must be a positive time, not"):
            sampling(1.0, 0.1, output=value)


def test_the_step_divides_the_duration_and_the_output() -> None:
    with pytest.raises(ShapeError, match=r"does not divide 1\.0 s"):
        sampling(1.0, 0.3)
    with pytest.raises(ShapeError, match=r"does not divide 0\.25 s"):
        sampling(1.0, 0.1, output=0.25)
