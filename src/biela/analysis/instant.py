"""A system at one instant, as matrices of numbers: what the algebraic analyses are written on.

Time, inputs and parameters are fixed; what is left are functions of the position and the velocity.
The motions that the constraints allow are the null space of Φ_v, found with its rank by a singular
value decomposition, so that dependent constraints do no harm:

    v' = Φ_v⁺ γ + R α,     Rᵀ M R α = Rᵀ (Q - M Φ_v⁺ γ),     Φ_vᵀ λ = Q - M v'

(velocity projection, Serna, Avilés & García de Jalón 1982), with the smallest λ where several
fulfil the last equation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.equations import System
from biela.errors import ModelError
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: Singular values below this part of the largest one belong to dependent rows.
RANK_TOLERANCE: Final = 1e-9
#: Mechanisms below this size, m, have their lengths measured in units of their own.
SMALL: Final = 1e-2
#: Distances below this one, m, are rounding: frames of a gimbal that stand in one point.
ROUNDING: Final = 1e-10
#: No angle is found more accurately, rad.
ROUNDED_ANGLE: Final = 1e-15
#: Rounds for forces that depend on multipliers, such as friction.
LOAD_ROUNDS: Final = 30


@dataclass(frozen=True)
class Motions:
    """The motions that constraint rows allow.

    Attributes:
        R: Orthonormal basis of them, (nv, mobility).
        inverse: Pseudo-inverse of the rows, (nv, m).
        rank: Number of independent rows.
    """

    R: Floats
    inverse: Floats
    rank: int

    @property
    def mobility(self) -> int:
        """Degrees of freedom of the velocities."""
        return int(self.R.shape[1])


def unit_rows(rows: Floats) -> tuple[Floats, Floats]:
    """The rows brought to unit length, and their lengths; a row that is rounding only becomes 0."""
    sizes = np.linalg.norm(rows, axis=1)
    real = sizes > RANK_TOLERANCE * sizes.max(initial=0.0)
    lengths = np.where(real, sizes, 1.0)
    return np.where(real[:, None], rows / lengths[:, None], 0.0), lengths


def independent(rows: Floats) -> bool:
    """Whether no row depends on the others, but for what is nearly so."""
    return int(np.linalg.matrix_rank(unit_rows(rows)[0], 1e-6)) == len(rows)


def lever_units(rows: Floats, lengths: npt.NDArray[np.bool_]) -> Floats:
    """Units of velocities in which rows are in proportion: for lengths, the longest lever arm.

    A row ∂Φ/∂x ẋ + ∂Φ/∂φ φ̇ has arms |∂Φ/∂φ| / |∂Φ/∂x|.  ``lengths`` marks the velocities in m/s;
    their unit is a power of ten.
    """
    along = np.abs(rows[:, lengths]).max(axis=1, initial=0.0)
    around = np.abs(rows[:, ~lengths]).max(axis=1, initial=0.0)
    arm = float((around[along > 0] / along[along > 0]).max(initial=0.0))
    size = 10.0 ** round(math.log10(arm)) if 0 < arm < math.inf else 1.0
    return np.where(lengths, size, 1.0)


def motions(rows: Floats) -> Motions:
    """The null space, pseudo-inverse and rank of constraint rows."""
    m, n = rows.shape
    if not m:
        return Motions(np.eye(n), np.zeros((n, 0)), 0)
    U, s, Vt = svd(rows)
    rank = int((s > RANK_TOLERANCE * s[0]).sum())
    inverse = Vt[:rank].T @ (U[:, :rank] / s[:rank]).T
    return Motions(Vt[rank:].T, inverse, rank)


class Instant:
    """The matrices of a system at fixed time, inputs and parameters."""

    def __init__(self, system: System, t: float, u: Floats, p: Floats) -> None:
        self.system, self.t, self.u, self.p = system, float(t), u, p

    def __call__(self, capability: str, q: Floats, v: Floats | None = None, **more: Any) -> Any:
        """The value of a capability in a state."""
        return self.system.evaluate(capability, q, v, t=self.t, u=self.u, p=self.p, **more)

    def M(self, q: Floats) -> Floats:
        """The mass matrix."""
        return np.atleast_2d(self("M", q))

    def Q(self, q: Floats, v: Floats | None = None, lam: Floats | None = None) -> Floats:
        """The forces."""
        return np.atleast_1d(self("Q", q, v, lam=lam))

    def Phi(self, q: Floats) -> Floats:
        """The geometric constraints."""
        return np.atleast_1d(self("Phi", q)) if self.system.geometric else np.zeros(0)

    def Phi_v(self, q: Floats) -> Floats:
        """The rows of all constraints."""
        if not self.system.multipliers:
            return np.zeros((0, len(self.system.v)))
        return np.atleast_2d(self("Phi_v", q))

    def beta(self, q: Floats) -> Floats:
        """The right-hand side at velocity level."""
        return np.atleast_1d(self("beta", q)) if self.system.multipliers else np.zeros(0)

    def gamma(self, q: Floats, v: Floats) -> Floats:
        """The right-hand side at acceleration level."""
        return np.atleast_1d(self("gamma", q, v)) if self.system.multipliers else np.zeros(0)

    def loaded(self) -> bool:
        """Whether the forces depend on the multipliers."""
        return any(a.name == "lam" for a in self.system["Q"].inputs)

    def N(self, q: Floats) -> Floats:
        """The matrix of the rates, q' = N v."""
        n = len(self.system.v)
        if "rates" not in self.system:
            return np.eye(n)
        return np.stack([np.atleast_1d(self("rates", q, e)) for e in np.eye(n)], axis=1)

    def extent(self, q: Floats) -> float:
        """The size of a mechanism that is smaller than a centimetre, by its frames; else 1 m."""
        if "poses" not in self.system or not self.system.frames:
            return 1.0
        places = np.asarray(self("poses", q), dtype=float)[:, :3]
        found = float(np.ptp(places, axis=0).max())
        return found if ROUNDING < found < SMALL else 1.0

    def moved(self, q: Floats, delta: Floats) -> Floats:
        """Q ⊕ δ: the position after a displacement along the velocities."""
        if "retract" in self.system:
            return np.atleast_1d(self.system["retract"].walk(q, delta))
        return q + self.N(q) @ delta if "rates" in self.system else q + delta

    def assembled(self, q: Floats, tolerance: float = 1e-11) -> Floats | None:
        """A position nearby that fulfils the geometric constraints; None if none is found.

        Newton's method with the pseudo-inverse, each step halved until the residual falls.  A
        position at other roots than those that are meant, with a body mirrored, say, is none.
        """
        count = self.system.geometric
        residual = self.Phi(q)
        for _ in range(50):
            met = bool(np.abs(residual).max(initial=0.0) <= tolerance)
            step = motions(self.Phi_v(q)[:count]).inverse @ residual
            if met:  # Newton's method doubles the digits: one step more leaves rounding only
                place = self.moved(q, -step) if count else q
                return None if self._elsewhere(place) else place
            for _ in range(20):
                place = self.moved(q, -step)
                value = self.Phi(place)
                if np.isfinite(value).all() and value @ value < residual @ residual:
                    break
                step = step / 2
            else:
                return None
            q, residual = place, value
        return None

    def _elsewhere(self, q: Floats) -> bool:
        """Whether an angle is half a turn off, or a body its mirror image."""
        return bool(self.system.sides) and bool((np.atleast_1d(self("sides", q)) < 0).any())

    def motion(self, q: Floats, v: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Accelerations and multipliers in a state."""
        M, rows, right = self.M(q), self.Phi_v(q), self.gamma(q, v)
        allowed = motions(rows)
        R, particular = allowed.R, allowed.inverse @ right
        lam = np.zeros(len(rows))
        loaded = self.loaded()
        a = particular
        for _ in range(LOAD_ROUNDS if loaded else 1):
            before = lam
            Q = self.Q(q, v, lam if loaded else None)
            a = particular + R @ solved(R.T @ M @ R, R.T @ (Q - M @ particular), self.system)
            lam = multipliers(rows, Q - M @ a, weights)
            if np.abs(lam - before).max(initial=0.0) <= 1e-13 * np.abs(lam).max(initial=0.0):
                break
        return a, lam


def solved(M: Floats, force: Floats, system: System) -> Floats:
    """M⁻¹ force, for the inertia along the motions allowed.

    Raises:
        ModelError: A motion moves no mass.
    """
    try:
        return np.asarray(np.linalg.solve(M, force))
    except np.linalg.LinAlgError:
        raise ModelError(
            f"{system.name}: a motion that the constraints allow moves no mass; give the bodies "
            f"masses and inertias, or constrain the coordinate"
        ) from None


def multipliers(rows: Floats, force: Floats, weights: Floats | None = None) -> Floats:
    """The smallest λ with Φ_vᵀ λ = force, in the norm Σ w λ² (w = 1 if not given)."""
    if not len(rows):
        return np.zeros(0)
    scale = np.ones(len(rows)) if weights is None else 1 / np.sqrt(weights)
    # the rank is that of the rows, the norm that of the weighted λ
    rank = motions(rows).rank
    U, s, Vt = svd(rows * scale[:, None], full_matrices=False)
    kept = slice(0, rank)
    return np.asarray(scale * (U[:, kept] @ ((Vt[kept] @ force) / s[kept])))
