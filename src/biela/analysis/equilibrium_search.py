"""Static equilibrium: positions in which the system stays at rest.

    Q(q, v = 0) = Φ_vᵀ λ,     Φ(q) = 0.

On the motions that the constraints allow, with an orthonormal basis R, this is g = -Rᵀ Q = 0, and
its tangent is H = Rᵀ K R with the stiffness K = ∂(Φ_vᵀ λ - Q)/∂q, in which the multipliers bring
the curvature of the constraints.  From a guess,

    Newton:        H z = -g, shortened until |g| falls;
    relaxation:    (Rᵀ M R/τ + H) z = -g, with τ growing as g falls,

q ← q ⊕ R z, back onto the constraints each time.  Newton finds the equilibrium nearby, stable or
not.  Relaxation follows the forces, like a motion damped so much that inertia does not matter, and
ends in stable ones (pseudo-transient continuation, Kelley & Keyes 1998); it takes over where Newton
stalls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.driving import driven
from biela.analysis.instant import Instant, motions, multipliers
from biela.analysis.linear_system import LinearSystem
from biela.analysis.linearisation import Linearisation
from biela.analysis.posing import placed
from biela.analysis.preparation import Values, meant, number, values
from biela.equations import System

Floats = npt.NDArray[np.float64]

#: Unbalanced force that is accepted, as a part of the forces and stiffnesses there.
TOLERANCE: Final = 1e-11
ITERATIONS: Final = 200
#: Stiffness that is rounding, as a part of the forces, multipliers and energy that cancel in it.
ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest.

    Attributes:
        q: The position.
        lam: The multipliers that hold it, Φ_vᵀ λ = Q.
        stability: "stable", "unstable" or "neutral", for small disturbances.
        stiffness: Eigenvalues of Rᵀ K R against Rᵀ M R, rising: squares of angular frequencies
            where the forces have a potential, 1/s².
        energy: Potential energy, J; nan if the system does not tell.
        residual: Largest force that is not balanced.
        iterations: How many it took.
        linear: The linear equations of small motions about it.
    """

    q: Floats
    lam: Floats
    stability: str
    stiffness: Floats
    energy: float
    residual: float
    iterations: int
    linear: LinearSystem


class EquilibriumSearch:
    """Equilibria of a system at a time, with inputs and parameters."""

    def __init__(
        self,
        system: System,
        hold: Mapping[str, float],
        t: float,
        parameters: Values,
        inputs: Values,
    ) -> None:
        units = {entry.name: entry.unit for entry in (*system.q, *system.y)}
        held = {
            name: number(system, f"the held {name}", value, units.get(meant(name, units), ""))
            for name, value in hold.items()
        }
        self.system = driven(system, held)
        p = values(system, "parameter", system.p, parameters)
        u = values(system, "input", system.u, inputs)
        self.instant = Instant(self.system, t, u, p)
        self._rest = np.zeros(len(system.v))
        self._linearisation = Linearisation(self.system)

    def assembled(self, q: Values) -> Floats:
        """The guess, brought onto the constraints."""
        i = self.instant
        return placed(self.system, q, t=i.t, parameters=i.p, inputs=i.u)[1]

    def reached(self, q: Floats, way: str) -> tuple[Floats, Floats, float, int] | None:
        """The equilibrium reached from a position: q, λ, residual and iterations; None if none."""
        tau, before = 0.0, np.inf
        lam = np.zeros(len(self.system.multipliers))
        for k in range(ITERATIONS):
            g, H, M, R, lam, scale = self._balance(q, lam)
            size = float(np.abs(g).max(initial=0.0))
            if not np.isfinite(size):
                return None
            if size <= TOLERANCE * scale:
                # Newton's method doubles the digits: one step more leaves rounding only
                last = self._shortened(q, R @ (-np.linalg.lstsq(H, g, rcond=1e-12)[0]), g, lam)
                if last is not None:
                    q = last
                    g, *_, lam, _ = self._balance(q, lam)
                return q, lam, float(np.abs(g).max(initial=0.0)), k
            if way == "newton":
                step = R @ (-np.linalg.lstsq(H, g, rcond=1e-12)[0])
                after = self._shortened(q, step, g, lam)
            else:
                # the first steps follow the forces for a moment; later ones are Newton's
                stiff = float(np.abs(np.linalg.eigvals(np.linalg.solve(M, H))).max(initial=0.0))
                tau = 0.5 / max(stiff, 1e-300) if not tau else tau * min(max(before / size, 0.3), 4)
                before = size
                step = -R @ np.linalg.lstsq(M / tau + H, g, rcond=1e-14)[0]
                if float(g @ (R.T @ step)) > 0:  # uphill: the stiffness is not positive here
                    step = -R @ np.linalg.solve(M, g) * min(tau, 0.5 / max(stiff, 1e-300))
                after = self._moved(q, self._bounded(step))
            if after is None:
                return None
            q = after
        return None

    def _balance(
        self, q: Floats, lam: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
        """Unbalanced force, stiffness and inertia on the motions allowed, their basis, λ, scale."""
        i = self.instant
        rows = i.Phi_v(q)
        R = motions(rows).R
        Q = i.Q(q, self._rest, lam if i.loaded() else None)
        lam = multipliers(rows, Q)
        K = np.atleast_2d(i("tangents", q, self._rest, lam=lam, a=self._rest)[0]) @ i.N(q)
        scale = float(max(np.abs(Q).max(initial=0.0), np.abs(K).max(initial=0.0), 1e-300))
        return -R.T @ Q, R.T @ K @ R, R.T @ i.M(q) @ R, R, lam, scale

    def _bounded(self, step: Floats) -> Floats:
        """At most half a unit (rad, m) at once: further away the tangent says little."""
        step = np.nan_to_num(step, posinf=1e300, neginf=-1e300)  # where there is hardly stiffness
        return step * min(1.0, 0.5 / max(float(np.abs(step).max(initial=0.0)), 1e-300))

    def _moved(self, q: Floats, step: Floats) -> Floats | None:
        return self.instant.assembled(self.instant.moved(q, step))

    def _shortened(self, q: Floats, step: Floats, g: Floats, lam: Floats) -> Floats | None:
        """The position after a step short enough for the unbalanced force to fall."""
        step = self._bounded(step)
        for _ in range(12):
            after = self._moved(q, step)
            if after is not None:
                there = self._balance(after, lam)[0]
                if np.linalg.norm(there) < (1 - 1e-4) * np.linalg.norm(g):
                    return after
            step = step / 2
        return None

    def described(self, q: Floats, lam: Floats, residual: float, iterations: int) -> Equilibrium:
        """What there is to say about an equilibrium."""
        i = self.instant
        linear = self._linearisation.about(
            q, self._rest, t=i.t, parameters=i.p, inputs=i.u, assemble=False
        )
        _, H, M, R, lam, scale = self._balance(q, lam)
        C = np.atleast_2d(i("tangents", q, self._rest, lam=lam, a=self._rest)[1])
        root = np.linalg.inv(np.linalg.cholesky(M)) if len(M) else M
        H, C = root @ H @ root.T, root @ (R.T @ C @ R) @ root.T
        energy = float(i("energy", q, self._rest)[1]) if "energy" in self.system else float("nan")
        cancelling = max(scale, np.abs(lam).max(initial=0.0), abs(np.nan_to_num(energy)))
        rounding = ROUNDING * cancelling * float(np.abs(root).max(initial=0.0)) ** 2
        stiffness = np.sort(np.linalg.eigvals(H).real)
        stiffness[np.abs(stiffness) <= rounding] = 0.0
        stability = _stability(H, C, linear, rounding)
        return Equilibrium(q, lam, stability, stiffness, energy, residual, iterations, linear)

    def reason(self, q: Floats) -> str:
        """Why none is found, with the force that stays."""
        g, _, _, R, _, _ = self._balance(q, np.zeros(len(self.system.multipliers)))
        force = R @ g
        worst = int(np.argmax(np.abs(force))) if len(force) else 0
        name = self.system.v[worst].name
        return (
            f"{self.system.name}: no equilibrium is found; at the guess a force of "
            f"{-force[worst]:.3g} along {name} is not balanced. Give another guess q=…, hold "
            f"coordinates with hold={{…}}, or see whether a force acts that nothing opposes"
        )


def _stability(H: Floats, C: Floats, linear: LinearSystem, rounding: float) -> str:
    """Of small motions: by the stiffness where there is a potential, else by the eigenvalues."""
    if not len(H):
        return "stable"
    size = max(float(np.abs(H).max()), 1e-300)
    slack = max(1e-9 * size, rounding)
    conservative = np.abs(H - H.T).max() <= slack
    rubbing = np.abs(C).max(initial=0.0)
    damping = np.linalg.eigvalsh((C + C.T) / 2)
    dissipative = np.abs(C - C.T).max() <= 1e-9 * max(rubbing, 1e-300) and (
        damping[0] >= -1e-9 * max(rubbing, 1e-300)
    )
    if conservative and (rubbing == 0.0 or dissipative):
        # Lagrange and Dirichlet; damping takes energy and changes no verdict (Kelvin, Tait)
        least = float(np.linalg.eigvalsh((H + H.T) / 2)[0])
        return "stable" if least > slack else "unstable" if least < -slack else "neutral"
    growth = linear.eigenvalues.real
    # double eigenvalues are known to the root of the rounding only
    slack = 1e-7 * max(float(np.abs(linear.eigenvalues).max()), 1e-300)
    return "stable" if growth[0] < -slack else "unstable" if growth[0] > slack else "neutral"
