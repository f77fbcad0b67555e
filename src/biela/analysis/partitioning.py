"""The choice of independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def independent_velocities(
    system: System, t: float, q: Floats, u: Floats, p: Floats, preferred: Sequence[str] = ()
) -> tuple[int, ...]:
    """Places of the velocities that are integrated; the others follow from the constraints.

    By elimination of Φ_v with full pivoting: pivot columns are dependent, the rest independent
    (Wehage & Haug 1982); columns preferred as independent come last.

    Raises:
        ModelError: A preferred coordinate is unknown.
    """
    names = [entry.name for entry in system.q]
    for name in preferred:
        if name not in names:
            raise ModelError(f"{system.name} has no coordinate {name}; it has {', '.join(names)}")
    A = np.array(system.evaluate("Phi_v", q, t=t, u=u, p=p), dtype=float)
    last = [names.index(name) for name in preferred]
    first = [j for j in range(A.shape[1]) if j not in last]
    dependent: set[int] = set()
    scale = np.abs(A).max(initial=0.0)
    for group in (first, last):
        while True:
            left = [j for j in group if j not in dependent]
            if not left or not len(A):
                break
            i, k = np.unravel_index(np.argmax(np.abs(A[:, left])), (len(A), len(left)))
            if abs(A[i, left[k]]) <= 1e-9 * scale:
                break
            j = left[k]
            dependent.add(j)
            row = A[i] / A[i, j]
            A = np.delete(A, i, axis=0)
            A = A - A[:, [j]] * row
    return tuple(j for j in range(len(system.v)) if j not in dependent)


def nested_partition(
    rows: Floats, geometric: int, preferred: Sequence[int] = ()
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places of independent displacements, and among them those of independent velocities.

    The geometric rows, which come first, are eliminated with full pivoting; then the others, on the
    columns left.  Columns preferred as independent are used as pivots only where nothing else is
    left.
    """
    n = rows.shape[1]
    sizes = np.linalg.norm(rows, axis=1)
    A = rows / np.where(sizes > 0, sizes, 1.0)[:, None]
    first = [j for j in range(n) if j not in preferred]
    dependent: list[int] = []
    free: list[tuple[int, ...]] = []
    begin = 0
    for end in (geometric, len(rows)):
        left = list(range(begin, end))
        for group in (first, [j for j in reversed(preferred)]):
            while left:
                columns = [j for j in group if j not in dependent]
                part = np.abs(A[np.ix_(left, columns)])
                if not part.size or part.max() <= 1e-9:
                    break
                i, k = np.unravel_index(int(np.argmax(part)), part.shape)
                row, column = left.pop(int(i)), columns[int(k)]
                dependent.append(column)
                pivot = A[row] / A[row, column]
                others = [r for r in range(len(A)) if r != row]
                A[others] -= A[np.ix_(others, [column])] * pivot
        begin = end
        free.append(tuple(j for j in range(n) if j not in dependent))
    return free[0], free[1]
