"""Results of groups in which driven angles count as their drivers say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.laws import Laws
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.recording import Recording
from biela.equations.groups.dynamics.laws import law_places
from biela.model.drivers import Rotary
from biela.model.joints import Joint
from biela.results import Channels

__all__ = ["GroupRecording"]

Floats = npt.NDArray[np.float64]


class GroupRecording(Recording):
    """The states of a motion by groups: joints that drivers turn are read over all turns.

    The poses of bodies tell an angle within a turn; a driver of "420 deg + t" says where it is.

    Args:
        solver: Whose motion it is.
        more: As those of `Recording`.
    """

    def __init__(self, solver: GroupSolver, *more: Any) -> None:
        super().__init__(*more)
        self._solver = solver

    def of(self, t: Floats, motion: tuple[Floats, Floats, Floats], k: int) -> GroupRecording:
        """Another motion q, v, a of the same system, with the inputs of instant k."""
        q, v, a = motion
        states, inputs = np.zeros((len(t), 0)), np.repeat(self.inputs[k : k + 1], len(t), 0)
        rows = {"q": q, "v": v, "a": a}
        return GroupRecording(self._solver, self.system, rows, t, states, self._p, inputs)

    def among(self, kept: npt.NDArray[np.bool_]) -> GroupRecording:
        """The motion at some of its instants."""
        found = self.readings()
        rows = {name: found[name][kept] for name in "qva"}
        t, states, inputs = self.t[kept], self._states[kept], self.inputs[kept]
        return GroupRecording(self._solver, self.system, rows, t, states, self._p, inputs)

    def _multipliers(self) -> Floats:
        """The smallest multipliers, (Φ_v Φ_vᵀ) λ = Φ_v (Q - M v') where that finds them."""
        system = self.system
        if "M" not in system or any(a.name == "lam" for a in system["Q"].inputs):
            return super()._multipliers()
        M, Q, J = (np.asarray(self.evaluate(name)) for name in ("M", "Q", "Phi_v"))
        force = Q - np.einsum("kij,kj->ki", M, self.readings()["a"])
        try:
            lam = np.linalg.solve(J @ J.swapaxes(1, 2), (J @ force[:, :, None]))[:, :, 0]
        except np.linalg.LinAlgError:  # some of the constraints are redundant
            return super()._multipliers()
        left = np.abs(np.einsum("kij,ki->kj", J, lam) - force).max(axis=1, initial=0.0)
        size = np.abs(force).max(initial=0.0)
        small = np.abs(lam).max(initial=0.0) <= 1e6 * size
        if (left <= 1e-9 * size).all() and small:
            return np.asarray(lam)
        return super()._multipliers()

    def _joints(self) -> Channels:
        plain = super()._joints()
        said = self._said()
        columns = [k for k, name in enumerate(plain.names) if name in said]
        if not columns:
            return plain

        def counted() -> Floats:
            rows = plain.values.copy()
            for k in columns:
                turns = np.round((said[plain.names[k]] - rows[0, k]) / (2 * np.pi))
                rows[:, k] += 2 * np.pi * turns
            return rows

        return Channels(plain.names, counted, plain.units, plain.rates, plain.angles)

    def _said(self) -> dict[str, float]:
        """Driven angles at the first instant, by name."""
        solver = self._solver
        joints, found = solver.model.joints, {}
        at = Laws(solver.casts.laws).at(self.t[:1])[0] if len(self.t) else np.zeros(0)
        for name, driver in solver.model.drivers.items():
            if isinstance(driver, Rotary) and len(at):
                joint = joints.get(driver.coordinate)
                full = driver.coordinate
                if isinstance(joint, Joint):
                    full = f"{full}.{joint.coordinates[0].name}"
                found[full] = float(at[law_places(solver.casts, name)[0]])
        return found
