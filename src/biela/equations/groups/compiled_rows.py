"""Rows of large models, compiled.  Import it inside functions: numba takes a moment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.jit import njit

__all__ = ["filled", "null_vectors", "turned_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@njit(
    "void(int64[::1], int64[::1], float64[::1], int64[::1], int64[:, ::1], int64, int64,"
    " float64[:, :, ::1])",
)
def filled(
    row: Integers,
    column: Integers,
    entries: Floats,
    element: Integers,
    touched: Integers,
    width: int,
    bodies: int,
    A: Floats,
) -> None:
    """Put the entries of a sparse Jacobian on the bodies that the element of each row touches."""
    for k in range(len(row)):
        b = column[k] // width
        if b >= bodies:
            continue  # a coordinate that counts turns
        e = element[row[k]]
        for slot in range(touched.shape[1]):
            if touched[e, slot] == b:
                A[row[k], slot, column[k] % width] += entries[k]
                break


@njit("void(float64[:, :, ::1], int64[:, ::1], float64[:, :, ::1])")
def turned_units(A: Floats, touched: Integers, R: Floats) -> None:
    """Bring rows to unit length; with rotations R, first turn their moments out of the bodies."""
    for r in range(A.shape[0]):
        size = 0.0
        for slot in range(A.shape[1]):
            b = touched[r, slot]
            if b >= 0 and len(R) > 0:
                x, y, z = A[r, slot, 3], A[r, slot, 4], A[r, slot, 5]
                for i in range(3):
                    A[r, slot, 3 + i] = R[b, i, 0] * x + R[b, i, 1] * y + R[b, i, 2] * z
            for c in range(A.shape[2]):
                size += A[r, slot, c] ** 2
        if size > 0.0:
            factor = 1.0 / np.sqrt(size)
            for slot in range(A.shape[1]):
                for c in range(A.shape[2]):
                    A[r, slot, c] *= factor


@njit("float64[:, ::1](float64[:, :, ::1])")
def null_vectors(A: Floats) -> Floats:
    """The unit vector in the null space of each (n - 1, n) matrix, by full pivoting."""
    count, m, n = A.shape
    out = np.zeros((count, n))
    B = np.empty((m, n))
    free = np.empty(n, np.bool_)
    used = np.empty(m, np.int64)
    for k in range(count):
        for i in range(m):
            for j in range(n):
                B[i, j] = A[k, i, j]
        free[:] = True
        done = 0
        while done < m:
            best = 0.0
            p = done
            q = -1
            for i in range(done, m):
                for j in range(n):
                    if free[j] and abs(B[i, j]) > best:
                        best = abs(B[i, j])
                        p = i
                        q = j
            if q < 0:
                break
            for j in range(n):
                B[done, j], B[p, j] = B[p, j], B[done, j]
            free[q] = False
            used[done] = q
            for i in range(m):
                if i != done:
                    factor = B[i, q] / B[done, q]
                    for j in range(n):
                        B[i, j] -= factor * B[done, j]
            done += 1
        for j in range(n):
            if free[j]:
                out[k, j] = 1.0
                for i in range(done):
                    out[k, used[i]] = -B[i, j] / B[i, used[i]]
                break
        size = 0.0
        for j in range(n):
            size += out[k, j] ** 2
        for j in range(n):
            out[k, j] /= np.sqrt(size)
    return out
