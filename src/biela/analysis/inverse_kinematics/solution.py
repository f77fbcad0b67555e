"""What an inverse kinematics finds: one position, many, or a path of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IKSolution:
    """A position, and how well it does what was asked.

    Attributes:
        q: The position; the closest one that was found, if the targets cannot be met.
        converged: Whether all targets and constraints are within the tolerance.
        error: For each target by how much it is missed (m, rad, or both together for a pose).
        constraint_error: Norm of the geometric constraints.
        iterations: Evaluations of the rows, of all attempts.
        restarts: Attempts after the first.
        at_limit: Names of the coordinates that are at a limit.
        sigma_min: Smallest singular value of the Jacobian of the targets, along the motions that
            the constraints allow; near zero close to a singular position.
    """

    q: Floats
    converged: bool
    error: Mapping[str, float]
    constraint_error: float
    iterations: int
    restarts: int
    at_limit: tuple[str, ...]
    sigma_min: float
    names: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        """The value of a coordinate."""
        return float(self.q[self.names.index(name)])

    @property
    def summary(self) -> str:
        """One sentence."""
        missed = ", ".join(f"{name} by {value:.3g}" for name, value in self.error.items())
        said = "all targets met" if self.converged else f"not reached, the closest misses {missed}"
        text = f"{said}; {self.iterations} iterations, {self.restarts} restarts"
        if self.at_limit:
            text += f", at the limit: {', '.join(self.at_limit)}"
        return text


@dataclass(frozen=True, eq=False)
class IKBatch:
    """The positions of many targets.

    Attributes:
        q: A position a row; the closest one found where the targets cannot be met.
        converged: Whether each does what was asked.
        error: For each target an array of by how much it is missed.
        constraint_error: Norms of the geometric constraints.
        iterations: Evaluations of the rows of each.
        restarts: Attempts after the first of each.
    """

    q: Floats
    converged: Booleans
    error: Mapping[str, Floats]
    constraint_error: Floats
    iterations: Integers
    restarts: Integers

    def __len__(self) -> int:
        return len(self.q)

    @property
    def solved(self) -> float:
        """The share of those that do what was asked."""
        return float(self.converged.mean()) if len(self.q) else 1.0

    @property
    def summary(self) -> str:
        """One sentence."""
        mean = f"{self.iterations.mean():.1f} iterations, {self.restarts.mean():.2f} restarts"
        return f"{int(self.converged.sum())} of {len(self)} solved, on average {mean}"


@dataclass(frozen=True, eq=False)
class IKPath(IKBatch):
    """The positions along a path of targets, each near the one before.

    Attributes:
        t: The instants.
        v: Velocities at them, if asked for.
        a: Accelerations at them, if asked for.
    """

    t: Floats
    v: Floats | None = None
    a: Floats | None = None
