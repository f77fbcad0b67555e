"""Laws of drivers that follow numbers: as told at their instants, and of fifth degree between."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis.groups.laws import Laws
from biela.equations.blocks.block import Block


class NoLaws:
    """A place for two laws that nothing evaluates."""

    size = 2

    def blocks(self) -> tuple[Block, ...]:
        return ()


def test_polynomials_of_fifth_degree_are_followed_and_numbers_kept() -> None:
    random = np.random.default_rng(3)
    parts = [np.polynomial.Polynomial(c) for c in random.normal(size=(2, 6))]
    known = np.array([0.0, 0.1, 0.35, 0.4, 1.0])

    def values(t: np.ndarray) -> np.ndarray:
        return np.stack([p.deriv(d)(t) for d in range(3) for p in parts], axis=1)

    laws = Laws(NoLaws())
    laws.follow(known, [0, 1], values(known))
    np.testing.assert_array_equal(laws.at(known), values(known))
    between = np.linspace(0.0, 1.0, 77)
    np.testing.assert_allclose(laws.at(between), values(between), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("t", [0.2, 5.0])
def test_one_instant_alone_is_held(t: float) -> None:
    laws = Laws(NoLaws())
    numbers = np.arange(6.0)
    laws.follow(np.array([0.2]), [0, 1], numbers[None])
    np.testing.assert_array_equal(laws.at(np.array([t]))[0], numbers)
