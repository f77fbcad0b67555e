"""Singular values that are found where LAPACK gives up.

The divide-and-conquer routine behind `numpy.linalg.svd` fails to converge for a few harmless
matrices, about one in two thousand among those with rows that depend on each other exactly.  The
same rows in another order have the same singular values, and it finds those.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["pinv", "svd"]

Floats = npt.NDArray[np.float64]


def svd(A: npt.ArrayLike, full_matrices: bool = True) -> tuple[Floats, Floats, Floats]:
    """Returns U, s and Vᵀ with A = U diag(s) Vᵀ, of one matrix or of each in a stack.

    Raises:
        LinAlgError: A has entries that are not finite, or no order of its rows helps.
    """
    A = np.asarray(A, dtype=float)
    try:
        return _plain(A, full_matrices)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
    if A.ndim > 2:
        stack = A.reshape(-1, *A.shape[-2:])
        found = zip(*(svd(one, full_matrices) for one in stack), strict=True)
        U, s, Vt = (np.stack(part).reshape(*A.shape[:-2], *part[0].shape) for part in found)
        return U, s, Vt
    try:
        U, s, Vt = _plain(A[::-1], full_matrices)
        return U[::-1], s, Vt
    except np.linalg.LinAlgError:
        V, s, Ut = _plain(A.T, full_matrices)
        return Ut.T, s, V.T


def pinv(A: npt.ArrayLike, rcond: float | None = None, hermitian: bool = False) -> Floats:
    """Returns the pseudo-inverse of one matrix or of each in a stack.

    Singular values up to ``rcond`` times the largest count as 0; without it, rounding does.

    Raises:
        LinAlgError: As of `svd`.
    """
    A = np.asarray(A, dtype=float)
    try:
        return np.asarray(np.linalg.pinv(A, rcond, hermitian=hermitian), dtype=float)
    except np.linalg.LinAlgError:
        U, s, Vt = svd(A, full_matrices=False)
    part = max(A.shape[-2:]) * np.finfo(float).eps if rcond is None else rcond
    kept = s > part * s.max(axis=-1, initial=0.0, keepdims=True)
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    return np.asarray(np.swapaxes(Vt, -1, -2) @ (inverse[..., None] * np.swapaxes(U, -1, -2)))


def _plain(A: Floats, full_matrices: bool) -> tuple[Floats, Floats, Floats]:
    U, s, Vt = np.linalg.svd(A, full_matrices=full_matrices)
    return np.asarray(U), np.asarray(s), np.asarray(Vt)
