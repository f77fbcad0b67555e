"""Speed without the right result is nothing: results of all candidates are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


class WrongResultError(Exception):
    """Two candidates that compute the same thing differ."""


def check_equal(what: str, ours: ArrayLike, theirs: ArrayLike) -> None:
    """Raise if two results differ by more than rounding."""
    a, b = np.asarray(ours), np.asarray(theirs)
    error = float(np.abs(a - b).max(initial=0) / np.abs(b).max(initial=1e-300))
    if not error < 1e-11:
        raise WrongResultError(f"{what}: the results differ by {error:.1e}")
