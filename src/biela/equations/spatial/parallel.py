"""Recursions over a chain in log₂ n rounds, on arrays: what processors can do at the same time.

A recursion x_i = X_i x_{i-1} + h_i is a product of affine maps, and any bracketing of a product
will do: a prefix scan pairs neighbours, then pairs of pairs.  A block tridiagonal system loses
every other block in one round of odd–even reduction.  So every step of the constraint-force
algorithm (`constraint_forces`) takes O(log₂ n) rounds on n processors, as Jaramillo 1998 claims;
here each round is one operation on arrays.  `chain_accelerations` is the whole of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.spatial.algebra import inverse_inertia
from biela.equations.spatial.operators import OperatorValues
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


def chain_accelerations(
    o: OperatorValues,
    tau: Floats,
    *,
    rotors: Floats | None = None,
    external: Floats | None = None,
) -> tuple[Floats, int]:
    """V' of a chain by the constraint-force algorithm, and the rounds of its scans and reduction.

    Joints may have any number of freedoms and hold any number of forces: each block has six rows,
    those that are no force of its joint are 1 · F = 0.

    Args:
        o: The chain at a state, as `Operators.at` has it.
        tau: Joint forces (nv,), with those of springs and friction.
        rotors: Inertia of the rotor along each velocity (nv,).
        external: [moment; force] on each body at its origin along its axes, (n, 6).

    Raises:
        ShapeError: It is no chain, or an array does not fit to it.
        ModelError: A body has no inverse inertia.
    """
    n, nv = o.n, o.H.shape[1]
    if o.parent != tuple(range(-1, n - 1)):
        raise ShapeError(
            "the bodies branch, and odd-even reduction is for chains; use forward_dynamics(model, "
            "'constraint forces'), or its methods articulated and innovations"
        )
    J = np.zeros(nv) if rotors is None else np.asarray(rotors, dtype=float)
    loads = np.zeros((n, 6)) if external is None else np.asarray(external, dtype=float)
    if np.shape(tau) != (nv,) or J.shape != (nv,) or loads.shape != (n, 6):
        raise ShapeError(
            f"a chain of {n} bodies with {nv} velocities takes tau and rotors ({nv},) and external "
            f"({n}, 6), not {np.shape(tau)}, {J.shape} and {loads.shape}"
        )
    xi, rounds = _bias(o, loads)
    G, W = _split(o, J)
    inverse = np.array([inverse_inertia(I) for I in o.I_blocks])
    # K = Pᵀ I⁻¹ P by blocks: K_ii and K_{i,i-1}
    lower = np.zeros((n, 6, 6))
    lower[1:] = -o.Phi[1:].transpose(0, 2, 1) @ inverse[:-1]
    diagonal = inverse.copy()
    diagonal[1:] -= lower[1:] @ o.Phi[1:]

    def K(u: Floats) -> Floats:
        y = np.einsum("kij,kj->ki", diagonal, u)
        y[1:] += np.einsum("kij,kj->ki", lower[1:], u[:-1])
        y[:-1] += np.einsum("kji,kj->ki", lower[1:], u[1:])
        return np.asarray(y)

    back = W.transpose(0, 2, 1)
    A = back @ diagonal @ W + _alone(o)
    below = np.zeros_like(A)
    below[1:] = back[1:] @ lower[1:] @ W[:-1]
    y = K(np.einsum("kij,j->ki", G, np.asarray(tau) - xi))
    F_S, halvings = cyclic_reduction(A, below, -np.einsum("kij,kj->ki", back, y))
    y += K(np.einsum("kij,kj->ki", W, F_S))
    return np.einsum("kij,ki->j", G, y), rounds + halvings


def _bias(o: OperatorValues, loads: Floats) -> tuple[Floats, int]:
    """ξ by two scans: accelerations from the ground, forces from the tip."""
    back = o.Phi.transpose(0, 2, 1)
    h = o.b.copy()
    h[0] += back[0] @ np.concatenate([np.zeros(3), -o.gravity])
    acc, outward = scan(back, h)
    own = np.einsum("kij,kj->ki", o.I_blocks, acc) + o.gyr - loads
    # link i is reached from i + 1 by Φ of that
    carried = np.concatenate([o.Phi[1:], np.zeros((1, 6, 6))])[::-1]
    F, inward = scan(carried, own[::-1])
    return np.einsum("kij,ki->j", o.H_blocks, F[::-1]), outward + inward


def _split(o: OperatorValues, J: Floats) -> tuple[Floats, Floats]:
    """G (n, 6, nv) and W (n, 6, 6): held forces, then √J times those along rotors, then nothing."""
    G, W = np.zeros_like(o.H_blocks), np.zeros((o.n, 6, 6))
    for k, (numbers, held) in enumerate(zip(o.velocities, o.W_blocks, strict=True)):
        columns = list(numbers)
        H = o.H_blocks[k][:, columns]
        G[k][:, columns] = np.linalg.solve(H.T @ H, H.T).T
        W[k, :, : held.shape[1]] = held
        W[k, :, held.shape[1] :] = G[k][:, columns] * np.sqrt(J[columns])
    return G, W


def _alone(o: OperatorValues) -> Floats:
    """1 for the rows of rotors, and for rows that are no force of the joint."""
    found = np.zeros((o.n, 6, 6))
    for k, held in enumerate(o.W_blocks):
        rest = np.arange(held.shape[1], 6)
        found[k, rest, rest] = 1.0
    return found
