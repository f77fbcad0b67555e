"""The bodies of a mechanism cut free, each where a motion has it: what its joints must carry.

The state of every body, (pose, twist, acceleration of its frame), becomes the state of the same
mechanism in reference-point coordinates: r = x + R c, e from R, r' = v + ω x R c, ω' = Rᵀ ω.
Coordinates that gears and screws count turns with are no state of a body: those of the motion are
taken, or they are found from their own equations.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import RANK_TOLERANCE, Instant
from biela.analysis.preparation import Values, values
from biela.equations import System, formulate
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.model import Model
from biela.model.topology.tree import quaternion
from biela.results import Results
from biela.singular_values import pinv, svd

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Forces unbalanced by this part of the largest one come from what is not in the model.
_UNBALANCED: Final = 1e-6
#: Joints of a motion of this model are not open by more than this (m, or sine of an angle).
_OPEN: Final = 1e-4


class FreeBodies:
    """A mechanism with all joints as constraints of free bodies."""

    def __init__(self, model: Model, parameters: Values = None) -> None:
        self.system: System = formulate(model, "reference")
        self.p = values(self.system, "parameter", self.system.p, parameters)
        #: The model with the parameters as they are in the motion.
        self.model = copy(model)
        given = dict(zip(model.parameters.given, map(float, self.p), strict=True))
        self.model.parameters = model.parameters.changed(given, model.name)
        self.centres = {
            name: np.array([self.model.number(x, "length") for x in body.inertia.com])
            for name, body in model.bodies.items()
        }
        self.q = {entry.name: k for k, entry in enumerate(self.system.q)}
        self.v = {entry.name: k for k, entry in enumerate(self.system.v)}
        #: Columns of the angles that count turns, and the rows that read them from markers.
        self.counted: dict[str, int] = {}
        self.readings: dict[str, int] = {}
        for entry in self.system.q:
            read = [
                k
                for k, row in enumerate(self.system.multipliers)
                if row.rpartition(".")[0] == entry.name
            ]
            if read and entry.name.rpartition(".")[0] in model.joints:
                self.counted[entry.name] = self.v[f"{entry.name}_rate"]
                self.readings[entry.name] = read[0]

    def frames_of(self, motion: Results) -> dict[str, Floats]:
        """Pose, twist and acceleration (n, 24) of each body in a motion.

        Raises:
            ModelError: The motion has no such bodies.
        """
        groups = ("poses", "twists", "frame_accelerations")
        missing = [name for name in groups if name not in motion.groups]
        if missing:
            raise ModelError(
                f"the motion of {motion.name} has no {missing[0]}: joint reactions need the "
                f"results of a run of the model {self.model.name}"
            )
        parts = {}
        for group in groups:
            names = {name: k for k, name in enumerate(motion.groups[group].names)}
            width = 12 if group == "poses" else 6
            first = {"poses": "x", "twists": "vx", "frame_accelerations": "ax"}[group]
            array = np.asarray(motion[group])
            for body in self.model.bodies:
                if f"{body}.{first}" not in names:
                    raise ModelError(f"the motion of {motion.name} has no body {body}")
                k = names[f"{body}.{first}"]
                parts[body, group] = array[:, k : k + width]
        return {
            body: np.concatenate([parts[body, group] for group in groups], axis=1)
            for body in self.model.bodies
        }

    def counted_in(self, motion: Results) -> dict[str, Floats]:
        """The coordinates of joints, over all their turns, that a motion has: (n,) each."""
        known = {
            name for g in ("q", "joints") if g in motion.groups for name in motion.groups[g].names
        }
        return {
            entry.name: np.asarray(motion[entry.name])
            for entry in self.system.q
            if entry.name.rpartition(".")[0] in self.model.joints and entry.name in known
        }

    def states(self, frames: dict[str, Floats], turned: dict[str, Floats]) -> States:
        """All instants in the coordinates of the free bodies.

        ``turned`` are the coordinates that count turns, as far as they are known.
        """
        n = len(next(iter(frames.values()))) if frames else 0
        q = np.tile([entry.value for entry in self.system.q], (n, 1)).astype(float)
        v, a = np.zeros((n, len(self.v))), np.zeros((n, len(self.v)))
        own = np.zeros(len(self.v), dtype=bool)
        for name, state in frames.items():
            self._set(name, state, q, v, a, own)
        for name, value in turned.items():
            if name in self.q:
                q[:, self.q[name]] = value
        axes = {name: state[:, 3:12].reshape(-1, 3, 3) for name, state in frames.items()}
        return States(q, v, a, own, axes)

    def at(self, instant: Instant, q: Floats, v: Floats, a: Floats, own: Flags) -> Carried:
        """What the rows carry at an instant, with the bodies as they are.

        Raises:
            ModelError: The forces do not balance.
        """
        rows = instant.Phi_v(q)
        extra = ~own
        if extra.any():
            # angles that count turns: from their own rows, the bodies being where they are
            for _ in range(20):
                step = -pinv(rows[:, extra]) @ instant.Phi(q)
                delta = np.zeros(len(v))
                delta[extra] = step
                q = instant.moved(q, delta)
                rows = instant.Phi_v(q)
                if np.abs(step).max(initial=0.0) < 1e-14:
                    break
            inverse = pinv(rows[:, extra])
            v[extra] = inverse @ (instant.beta(q) - rows[:, own] @ v[own])
            a[extra] = inverse @ (instant.gamma(q, v) - rows[:, own] @ a[own])
        self._check_closed(instant, q)
        lam = np.zeros(len(rows))
        inertia = instant.M(q) @ a
        smallest, self_stresses = _reactions(rows)
        for _ in range(30 if instant.loaded() else 1):
            before = lam
            force = instant.Q(q, v, lam if instant.loaded() else None) - inertia
            lam = smallest(force)
            if np.abs(lam - before).max(initial=0.0) <= 1e-13 * np.abs(lam).max(initial=0.0):
                break
        left = force - rows.T @ lam
        scale = max(np.abs(force).max(initial=0.0), np.abs(inertia).max(initial=0.0), 1e-9)
        if np.abs(left).max(initial=0.0) > _UNBALANCED * scale:
            worst = self.system.v[int(np.argmax(np.abs(left)))].name
            raise ModelError(
                f"{self.model.name}: at t = {instant.t:g} s the forces of the model do not give "
                f"this motion: {np.abs(left).max():.3g} is missing along {worst}. Drives and "
                f"controls must be part of the model: model.driver(…), model.force(…)"
            )
        return Carried(self._through(rows), self_stresses, lam)

    def _check_closed(self, instant: Instant, q: Floats) -> None:
        """Refuse bodies whose joints are open: the motion was made with other numbers."""
        open_by = np.abs(instant.Phi(q))
        if open_by.max(initial=0.0) > _OPEN:
            worst = self.system.multipliers[int(np.argmax(open_by))]
            raise ModelError(
                f"{self.model.name}: at t = {instant.t:g} s {worst} is open by "
                f"{open_by.max():.3g}: the motion is not one of this model with these parameters; "
                f"give those it was made with, parameters={{…}}"
            )

    def _through(self, rows: Floats) -> Floats:
        """The rows with what acts on an angle that counts turns passed on to the bodies.

        Such an angle θ moves no body: whatever acts on it, the inertia of a rotor included, is
        carried by the row ρ that reads it from its markers,

            λ_ρ ∂ρ/∂θ = Q_θ - J θ'' - Σ λ_k ∂Φ_k/∂θ.

        The share of λ_k belongs to row k, the driver or the thread, and none to the hinge.
        """
        if not self.counted:
            return rows
        found = rows.copy()
        for name, column in self.counted.items():
            reading = self.readings[name]
            slope = rows[reading, column]
            for k in range(len(rows)):
                if k != reading and rows[k, column]:
                    found[k] -= rows[k, column] / slope * rows[reading]
            found[reading] = 0.0
        return found

    def _set(self, name: str, state: Floats, q: Floats, v: Floats, a: Floats, own: Flags) -> None:
        """The coordinates of a body, of poses, twists and accelerations (n, 24)."""
        x, R = state[:, :3], state[:, 3:12].reshape(-1, 3, 3)
        speed, omega, slope, alpha = (state[:, k : k + 3] for k in (12, 15, 18, 21))
        c = R @ self.centres[name]
        place = x + c
        velocity = speed + np.cross(omega, c)
        rate = slope + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
        if self.model.plane is None:
            turning, hurrying = (np.einsum("nji,nj->ni", R, w) for w in (omega, alpha))
            for k, axis in enumerate("xyz"):
                q[:, self.q[f"{name}.r{axis}"]] = place[:, k]
                at, turn = self.v[f"{name}.r{axis}_rate"], self.v[f"{name}.own_w{axis}"]
                v[:, at], a[:, at] = velocity[:, k], rate[:, k]
                v[:, turn], a[:, turn] = turning[:, k], hurrying[:, k]
                own[[at, turn]] = True
            columns = [self.q[f"{name}.e{k}"] for k in range(4)]
            q[:, columns] = [quaternion(each) for each in R]
            return
        for axis in self.model.plane:
            k = "xyz".index(axis)
            q[:, self.q[f"{name}.r{axis}"]] = place[:, k]
            at = self.v[f"{name}.r{axis}_rate"]
            v[:, at], a[:, at], own[at] = velocity[:, k], rate[:, k], True
        n = "xyz".index(NORMAL[self.model.plane])
        i, j = (n + 1) % 3, (n + 2) % 3
        q[:, self.q[f"{name}.angle"]] = np.arctan2(R[:, j, i], R[:, i, i])
        at = self.v[f"{name}.angle_rate"]
        v[:, at], a[:, at], own[at] = omega[:, n], alpha[:, n], True


def _reactions(rows: Floats) -> tuple[Callable[[Floats], Floats], Floats]:
    """The smallest λ of a force, Φ_vᵀ λ = f, as a function of it, and the self-stresses.

    Independent rows have no self-stress, and λ = R⁻¹ Qᵀ f with Φ_vᵀ = Q R, which costs a fifth of
    a singular value decomposition.  That they are independent is certain where 1 / |R⁻¹| is above
    the tolerance of |R|: the singular values are between these two (Frobenius norms).
    """
    m, n = rows.shape
    if 0 < m <= n:
        Q, R = np.linalg.qr(rows.T)
        if np.abs(np.diagonal(R)).min() > 0.0:
            inverse = np.linalg.inv(R)
            if np.linalg.norm(inverse) * np.linalg.norm(R) < 0.5 / RANK_TOLERANCE:
                T = inverse @ Q.T
                return (lambda force: np.asarray(T @ force)), np.zeros((m, 0))
    U, s, Vt = svd(rows, full_matrices=m > n)
    rank = int((s > RANK_TOLERANCE * s.max(initial=0.0)).sum())
    return (lambda force: np.asarray(U[:, :rank] @ ((Vt[:rank] @ force) / s[:rank]))), U[:, rank:]


@dataclass(frozen=True, eq=False)
class States:
    """The free bodies at n instants.

    Attributes:
        q: (n, coordinates).
        v: (n, velocities).
        a: (n, velocities), their rates.
        own: Which velocities are those of bodies; the others count turns.
        axes: Of each body, (n, 3, 3).
    """

    q: Floats
    v: Floats
    a: Floats
    own: Flags
    axes: dict[str, Floats]


@dataclass(frozen=True, eq=False)
class Carried:
    """What the rows of the joints carry at an instant.

    Attributes:
        through: The rows as they reach the bodies, see `FreeBodies`.
        self_stresses: An orthonormal basis of the null space of the transposed rows.
        lam: The multipliers.
    """

    through: Floats
    self_stresses: Floats
    lam: Floats
