"""The mass matrix of a large mechanism: a small constant block a body."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import ReferenceBlocks
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def check_masses(blocks: ReferenceBlocks) -> None:
    """Refuse bodies whose inertia is not definite.

    Raises:
        ModelError: It names the first one.
    """
    least = np.linalg.eigvalsh(blocks.M())
    lacking = np.flatnonzero(~(least[:, 0] > 1e-12 * least[:, -1]))
    if len(lacking):
        raise ModelError(
            f"{blocks.name}: body {blocks.bodies[int(lacking[0])]} has no mass, or no inertia "
            f"about one of its axes (a thin rod); give it some, or simulate with "
            f'engine="unrolled", which needs none'
        )


def mass_entries(blocks: ReferenceBlocks) -> tuple[Integers, Integers, Floats]:
    """Rows, columns and values of the lower triangle of M."""
    M = blocks.M()
    there = (np.abs(M) > 0).any(axis=0)
    i, j = np.nonzero(np.tril(there))
    first = blocks.widths[1] * np.arange(len(M))[:, None]
    return (first + i).ravel(), (first + j).ravel(), M[:, i, j].ravel()
