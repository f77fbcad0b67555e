"""The dynamics of a robot:  M(q) v' + C(q, v) v + g(q) = τ + Σ Jᵀ w,  with springs and friction.

Each method takes one state, or an array with a row for each of many, which are evaluated in the
vector lanes of the processor and shared among ``threads``; the digits do not depend on them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biela.analysis.robots.functions import Array, Floats
from biela.analysis.robots.kinematics import Kinematics
from biela.analysis.robots.wrenches import External, Wrenches, wrenches
from biela.equations.regressor import PARAMETERS


class Dynamics(Kinematics):
    """Forces and accelerations; a base of `biela.Robot`.

    ``external`` are wrenches [moment; force] on bodies or markers by name, (6,) or a row for each
    state.  Their ``wrench_axes`` are those of `jacobian`: "aligned" at the origin of the frame
    along the axes of the ground, "local" along its own, "world" at the origin of the ground.
    ``t`` is the time, where forces of the model depend on it.
    """

    def rnea(
        self,
        q: Array,
        v: Array,
        a: Array,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        threads: int = 1,
    ) -> Floats:
        """The joint forces τ = M v' + ξ - Σ Jᵀ w of a motion, by recursive Newton–Euler.

        Loops exert nothing.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            a: Accelerations.
            external: Wrenches from outside by frame, which take part in the motion.
            wrench_axes: How they are seen: "aligned", "local" or "world".
            t: Time, where forces depend on it.
            threads: How many work at the same time on many states.
        """
        given = self._wrenches(external, wrench_axes, q)
        if given is not None and self._looped.get("rnea") is not None:
            tau = self._array("rnea", q, v, a, t=t, threads=threads)
            return np.asarray(tau - given.joint_forces(self, q, threads))
        return self._array("rnea", q, v, a, t=t, threads=threads, **_acting(given))

    #: The same by another name.
    inverse_dynamics = rnea

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        threads: int = 1,
    ) -> Floats:
        """The accelerations M⁻¹ (τ + Σ Jᵀ w - ξ) for joint forces, with all loops closed.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            tau: Joint forces.
            external: Wrenches from outside by frame.
            wrench_axes: How they are seen: "aligned", "local" or "world".
            t: Time, where forces or drivers depend on it.
            threads: How many work at the same time on many states.
        """
        given = self._wrenches(external, wrench_axes, q)
        if given is not None and self._looped.get("forward_dynamics") is not None:
            tau = np.asarray(tau, dtype=float) + given.joint_forces(self, q, threads)
            given = None
        return self._array("forward_dynamics", q, v, tau, t=t, threads=threads, **_acting(given))

    def computed_torque(
        self,
        q: Array,
        v: Array,
        q_desired: Array,
        v_desired: Array | None = None,
        a_desired: Array | None = None,
        *,
        kp: ArrayLike,
        kd: ArrayLike,
        **options: Any,
    ) -> Floats:
        """Computed torque: τ = rnea(q, v, a_d + k_d (v_d - v) + k_p (q_d ⊖ q)).

        The error of an ideal loop is e'' + k_d e' + k_p e = 0 (Luh, Walker & Paul 1980).

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            q_desired: Where it should be.
            v_desired: How fast; at rest if not given.
            a_desired: Accelerations, likewise.
            kp: ω², 1/s²: one number, or one for each velocity.
            kd: 2 ζ ω, 1/s: likewise.
            **options: As of `rnea`.
        """
        v_d, a_d = (0.0 if x is None else np.asarray(x, float) for x in (v_desired, a_desired))
        error = self.difference(q, q_desired)
        rate = v_d - np.asarray(v, dtype=float)
        return self.rnea(q, v, a_d + np.asarray(kd) * rate + np.asarray(kp) * error, **options)

    # ------------------------------------------------------------------- the matrices

    def mass_matrix(self, q: Array, *, threads: int = 1) -> Floats:
        """M(q)."""
        return self._array("mass_matrix", q, threads=threads)

    def mass_product(self, q: Array, a: Array, *, threads: int = 1) -> Floats:
        """M(q) a; of a looped robot without the matrix."""
        if self._looped.get("mass_product") is None:
            M = self.mass_matrix(q, threads=threads)
            return np.asarray(np.einsum("...ij,...j->...i", M, np.asarray(a)))
        return self._array("mass_product", q, a, threads=threads)

    def inverse_mass_product(self, q: Array, tau: Array, *, threads: int = 1) -> Floats:
        """M⁻¹(q) τ; of a looped robot without the matrix."""
        if self._looped.get("inverse_mass_product") is None:
            M = self.mass_matrix(q, threads=threads)
            return np.asarray(np.linalg.solve(M, np.asarray(tau, dtype=float)[..., None])[..., 0])
        return self._array("inverse_mass_product", q, tau, threads=threads)

    def inverse_mass_matrix(self, q: Array, *, threads: int = 1) -> Floats:
        """M⁻¹(q)."""
        return self._array("inverse_mass_matrix", q, threads=threads)

    def bias_forces(self, q: Array, v: Array, *, t: float = 0.0, threads: int = 1) -> Floats:
        """ξ(q, v) = rnea(q, v, 0): Coriolis, centrifugal, gravity, springs and friction."""
        return self._array("bias_forces", q, v, t=t, threads=threads)

    def gravity_forces(self, q: Array, *, threads: int = 1) -> Floats:
        """The joint forces g(q) that hold the weight."""
        return self._array("gravity_forces", q, threads=threads)

    def coriolis_matrix(self, q: Array, v: Array, *, threads: int = 1) -> Floats:
        """C(q, v) with C v the Coriolis and centrifugal forces and M' = C + Cᵀ."""
        return self._array("coriolis_matrix", q, v, threads=threads)

    def christoffel(self, q: Array, *, threads: int = 1) -> Floats:
        """Γ(q), nv x nv x nv, with C_ij = Σ_k Γ_ijk v_k: Christoffel's symbols of the first kind.

        Where velocities are rates of coordinates, Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i).
        """
        rows = np.asarray(q, dtype=float)
        units = np.tile(np.eye(self.nv), (int(np.prod(rows.shape[:-1])), 1))
        places = np.repeat(rows.reshape(-1, rows.shape[-1]), self.nv, axis=0)
        C = self.coriolis_matrix(places, units, threads=threads)
        return np.moveaxis(C.reshape(*rows.shape[:-1], *[self.nv] * 3), -3, -1)

    # ----------------------------------------------------------------- identification

    def regressor(self, q: Array, v: Array, a: Array, *, threads: int = 1) -> Floats:
        """Y(q, v, v') with τ = Y φ, linear in the inertias φ; without rotors, springs, friction."""
        return self._array("regressor", q, v, a, threads=threads)

    @property
    def regressor_names(self) -> tuple[str, ...]:
        """The columns of `regressor`, "body.parameter".

        Of each body the mass m, the first moments mx, my, mz and the inertia Ixx, Iyy, Izz, Ixy,
        Ixz, Iyz about the origin of its frame.
        """
        model = self.snapshot.flattened() if self.snapshot.parts else self.snapshot
        return tuple(f"{body}.{name}" for body in model.bodies for name in PARAMETERS)

    # -------------------------------------------------------------------- derivatives

    def inverse_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        a: Array,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        threads: int = 1,
    ) -> tuple[Floats, Floats, Floats]:
        """∂τ/∂δ, ∂τ/∂v and M, with displacements δ of q as `integrate` takes them.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            a: Accelerations.
            external: Wrenches from outside by frame.
            wrench_axes: Along which they stay constant: "aligned", "local" or "world".
            t: Time, where forces depend on it.
            threads: How many work at the same time on many states.
        """
        given = self._wrenches(external, wrench_axes, q)
        by_q, by_v, M = self._answer(
            "inverse_dynamics_derivatives", q, v, a, t=t, threads=threads, **_acting(given)
        )
        if given is not None:
            by_q = by_q + given.stiffness(self, q, threads)
        return by_q, by_v, M

    def forward_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        threads: int = 1,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """The accelerations v', and ∂v'/∂δ, ∂v'/∂v and ∂v'/∂τ = M⁻¹; of trees.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            tau: Joint forces.
            external: Wrenches from outside by frame.
            wrench_axes: Along which they stay constant: "aligned", "local" or "world".
            t: Time, where forces depend on it.
            threads: How many work at the same time on many states.
        """
        given = self._wrenches(external, wrench_axes, q)
        a, by_q, by_v, by_tau = self._answer(
            "forward_dynamics_derivatives", q, v, tau, t=t, threads=threads, **_acting(given)
        )
        if given is not None:
            by_q = by_q - by_tau @ given.stiffness(self, q, threads)
        return a, by_q, by_v, by_tau

    def energy(self, q: Array, v: Array, *, threads: int = 1) -> tuple[Floats, Floats]:
        """Kinetic energy ½ vᵀ M v and potential energy, - Σ m g · r and that of springs."""
        found = self._looped.energy(q, v) or self._answer("energy", q, v, threads=threads)
        kinetic, potential = found
        return kinetic, potential

    def _wrenches(self, external: External | None, axes: str, q: Array) -> Wrenches | None:
        return wrenches(self, external, axes, q) if external else None


def _acting(given: Wrenches | None) -> dict[str, Any]:
    return {} if given is None else {"frames": given.frames, "wrenches": given.local}
