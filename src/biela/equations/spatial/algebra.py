"""Spatial algebra of one rigid body, on arrays: [angular; linear] motions, [moment; force] forces.

    translation(p):  F_1 = P̂ F_2,   V_2 = P̂ᵀ V_1    with p from point 1 to point 2    (1.2), (1.6)
    rotation(r):     components in frame 2 to those in frame 1                         (1.3)

(Jaramillo 1998, §§1.3 to 1.5; equation numbers are his, signs and indices corrected.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def skew(a: npt.ArrayLike) -> Floats:
    """a×, 3 x 3 (1.4)."""
    x, y, z = np.asarray(a, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def translation(p: npt.ArrayLike) -> Floats:
    """P̂ = [[1, p×], [0, 1]], 6 x 6: forces from the end of p to its beginning."""
    found = np.eye(6)
    found[:3, 3:] = skew(p)
    return found


def translation_rate(p_rate: npt.ArrayLike) -> Floats:
    """The time derivative of P̂; every P̂ leaves it as it is, from both sides (1.7)."""
    found = np.zeros((6, 6))
    found[:3, 3:] = skew(p_rate)
    return found


def rotation(r: npt.ArrayLike) -> Floats:
    """R = diag(r, r), 6 x 6."""
    found = np.zeros((6, 6))
    found[:3, :3] = found[3:, 3:] = r
    return found


def spatial_inertia(J: npt.ArrayLike, m: float, s: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """I about O of a body with the tensor J about its centre of mass, which is at s from O.

    I = P̂(s) diag(J, m 1) P̂(s)ᵀ = [[J - m s× s×, m s×], [-m s×, m 1]] (1.45).
    """
    central = np.zeros((6, 6))
    central[:3, :3] = J
    central[3:, 3:] = m * np.eye(3)
    S = translation(s)
    return np.asarray(S @ central @ S.T)


def inverse_inertia(I: npt.ArrayLike) -> Floats:
    """I⁻¹ = [[J⁻¹, -J⁻¹ s×], [s× J⁻¹, 1/m - s× J⁻¹ s×]], J about the centre of mass.

    Raises:
        ModelError: There is no mass, or no inertia about an axis.
    """
    I = np.asarray(I, dtype=float)
    m = float(I[3, 3])
    if m <= 0:
        raise ModelError(
            "a body without mass has no inverse inertia, which constraint forces need; use the "
            "method articulated or innovations"
        )
    s = I[:3, 3:] / m
    J = I[:3, :3] + m * s @ s
    if np.linalg.eigvalsh(J)[0] <= 1e-14 * np.trace(I[:3, :3]):
        raise ModelError(
            "a point or an ideal rod has no inverse inertia, which constraint forces need; give it "
            "a small inertia about its centre of mass, or use the method articulated or innovations"
        )
    Ji = np.linalg.inv(J)
    return np.block([[Ji, -Ji @ s], [s @ Ji, np.eye(3) / m - s @ Ji @ s]])


def velocity_acceleration(omega: npt.ArrayLike, s: npt.ArrayLike) -> Floats:
    """b_O = [0; ω × (ω × s)]: V'_cm = P̂(s)ᵀ V'_O + b_O (1.32), (1.38)."""
    w = np.asarray(omega, dtype=float)
    return np.concatenate([np.zeros(3), np.cross(w, np.cross(w, np.asarray(s, dtype=float)))])


def gyroscopic_force(I: npt.ArrayLike, omega: npt.ArrayLike) -> Floats:
    """[ω × J_O ω; m ω × (ω × s)]: F_O = I V'_O + this (1.53), (1.54); the sign below is +."""
    I = np.asarray(I, dtype=float)
    w = np.asarray(omega, dtype=float)
    ms = np.array([I[2, 4], I[0, 5], I[1, 3]])
    return np.concatenate([np.cross(w, I[:3, :3] @ w), np.cross(w, np.cross(w, ms))])


def schur_complement(whole: npt.ArrayLike, first: int) -> Floats:
    """C - Bᵀ A⁻¹ B of [[A, B], [Bᵀ, C]], with A the first rows and columns."""
    M = np.asarray(whole, dtype=float)
    A, B, C = M[:first, :first], M[:first, first:], M[first:, first:]
    return np.asarray(C - B.T @ np.linalg.solve(A, B))
