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
