"""The mass matrix of a large mechanism: a small constant block a body, and rotors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import ReferenceBlocks

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def mass_entries(blocks: ReferenceBlocks) -> tuple[Integers, Integers, Floats]:
    """Rows, columns and values of the lower triangle of M."""
    M = blocks.M()
    there = (np.abs(M) > 0).any(axis=0)
    i, j = np.nonzero(np.tril(there))
    first = blocks.widths[1] * np.arange(len(M))[:, None]
    turning = np.flatnonzero(blocks.rotors)
    own = blocks.body_sizes[1] + turning
    return (
        np.concatenate([(first + i).ravel(), own]),
        np.concatenate([(first + j).ravel(), own]),
        np.concatenate([M[:, i, j].ravel(), blocks.rotors[turning]]),
    )
