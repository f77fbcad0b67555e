"""Recursions over a chain in log₂ n rounds, on arrays: what processors can do at the same time.

A recursion x_i = X_i x_{i-1} + h_i is a product of affine maps, and any bracketing of a product
will do: a prefix scan pairs neighbours, then pairs of pairs.  A block tridiagonal system loses
every other block in one round of odd–even reduction.  So every step of the constraint-force
algorithm (`constraint_forces`) takes O(log₂ n) rounds on n processors, as Jaramillo 1998 claims;
here each round is one operation on arrays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.errors import ShapeError

Floats = npt.NDArray[np.float64]


def scan(X: Floats, h: Floats) -> tuple[Floats, int]:
    """All x_i = X_i x_{i-1} + h_i with x_0 = 0, and the number of rounds, ⌈log₂ n⌉.

    Args:
        X: Matrices, (n, m, m); the first is not used.
        h: (n, m).
    """
    maps, found = X.copy(), h.copy()
    reach, rounds = 1, 0
    while reach < len(h):
        # what each has gathered, applied after what the one `reach` before it has
        found[reach:] += np.einsum("kij,kj->ki", maps[reach:], found[:-reach])
        maps[reach:] = maps[reach:] @ maps[:-reach]
        reach *= 2
        rounds += 1
    return found, rounds


def block_tridiagonal(diagonal: Floats, lower: Floats, right: Floats) -> Floats:
    """The solution of a symmetric positive definite block tridiagonal system, block by block.

    Args:
        diagonal: A_ii, (n, m, m).
        lower: A_{i, i-1}, (n, m, m); the first is not used.
        right: (n, m).
    """
    n = len(diagonal)
    D, y = diagonal.copy(), right.copy()
    for i in range(1, n):
        T = np.linalg.solve(D[i - 1], np.column_stack([lower[i].T, y[i - 1]]))
        D[i] -= lower[i] @ T[:, :-1]
        y[i] -= lower[i] @ T[:, -1]
    x = np.empty_like(y)
    for i in reversed(range(n)):
        known = y[i] if i == n - 1 else y[i] - lower[i + 1].T @ x[i + 1]
        x[i] = np.linalg.solve(D[i], known)
    return x


def cyclic_reduction(diagonal: Floats, lower: Floats, right: Floats) -> tuple[Floats, int]:
    """The same by odd–even reduction, and the number of rounds, ⌊log₂ n⌋.

    In a round the blocks 1, 3, 5 … (of 1 … n) are eliminated at once:

        A'_kk = A_kk - a A_{k,k-1}ᵀ - c A_{k+1,k},   A'_{k,k-2} = -a A_{k-1,k-2},
        a = A_{k,k-1} A_{k-1,k-1}⁻¹,   c = A_{k+1,k}ᵀ A_{k+1,k+1}⁻¹.

    Raises:
        ShapeError: The arrays do not fit together.
    """
    n = len(diagonal)
    if diagonal.shape != lower.shape or right.shape != diagonal.shape[:2] or not n:
        raise ShapeError(
            f"blocks {diagonal.shape}, {lower.shape} and right-hand side {right.shape} do not fit "
            f"together: give (n, m, m), (n, m, m) and (n, m)"
        )
    if n == 1:
        return np.asarray(np.linalg.solve(diagonal, right[..., None])[..., 0]), 0
    odd = slice(0, n, 2)
    down, up = lower[1::2], lower[2::2]  # of each kept block: to the one before, from the next
    before = np.linalg.inv(diagonal[odd])
    a = down @ before[: len(down)]
    D = diagonal[1::2] - a @ down.transpose(0, 2, 1)
    s = right[1::2] - np.einsum("kij,kj->ki", a, right[odd][: len(down)])
    c = up.transpose(0, 2, 1) @ before[1:]
    D[: len(up)] -= c @ up
    s[: len(up)] -= np.einsum("kij,kj->ki", c, right[odd][1:])
    coupled = np.zeros_like(D)
    coupled[1:] = -a[1:] @ lower[odd][1 : len(down)]
    kept, rounds = cyclic_reduction(D, coupled, s)
    rest = right[odd].copy()
    rest[: len(down)] -= np.einsum("kji,kj->ki", down, kept)
    rest[1:] -= np.einsum("kij,kj->ki", up, kept[: len(up)])
    x = np.empty_like(right)
    x[1::2] = kept
    x[odd] = np.einsum("kij,kj->ki", before, rest)
    return x, rounds + 1
