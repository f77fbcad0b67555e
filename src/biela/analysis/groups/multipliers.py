"""What joints and drivers carry over time, as multipliers of their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from biela.errors import UnknownNameError
from biela.spelling import nearest

__all__ = ["Multipliers"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The multipliers of a motion, M v' + Φ_vᵀ λ = Q.

    Attributes:
        t: Times (n,).
        names: The multipliers, "joint.row", in the order of reference-point coordinates.
        lam: (n, multipliers); minus those of a driver are the force or torque of the motor.
        determinate: (n, multipliers) whether each is determinate; of the others the smallest are
            taken, in the norm Σ λ².
        missing: (n,) the largest moment about a passive spin that nothing gives.
        time_run: Seconds of the run.
    """

    t: Floats
    names: tuple[str, ...]
    lam: Floats
    determinate: Flags
    missing: Floats
    time_run: float

    def __getitem__(self, name: str) -> Floats:
        """A multiplier over time.

        Raises:
            UnknownNameError: There is none of that name.
        """
        if name not in self.names:
            raise UnknownNameError(f"there is no multiplier {name!r}{nearest(name, self.names)}")
        return self.lam[:, self.names.index(name)]

    def at(self, instants: Integers) -> Multipliers:
        """Some of the instants, by number."""
        return replace(
            self,
            t=self.t[instants],
            lam=self.lam[instants],
            determinate=self.determinate[instants],
            missing=self.missing[instants],
        )
