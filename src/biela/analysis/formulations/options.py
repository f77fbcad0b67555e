"""The numbers and choices of a formulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biela.doors import doors
from biela.errors import ModelError
from biela.solvers.coordinate_basis import PARTITIONS
from biela.solvers.dependent import DEPENDENT_SOLVERS


@doors(ModelError)
@dataclass(frozen=True)
class Options:
    """Choices of a formulation; the defaults suit nearly every run.

    Attributes:
        metric: Metric of the projections, "M" or "identity".
        projections: "always", "never", or the violation above which to project; None leaves it
            to the formulation (always, but for Baumgarte, penalty and index 3).
        position_iterations: Corrections of the position after a step.
        baumgarte: α of Baumgarte's method, 1/s.
        penalty: α of the penalty methods, as a multiple of the mass that a constraint moves; None
            takes 1e7, and 1e4 for the augmented Lagrangian, whose rounds need no large one.
        frequency: Ω of the penalty methods, 1/s.
        damping: μ of the penalty methods.
        rounds: Rounds of the augmented Lagrangian.
        friction_rounds: Rounds for forces that depend on multipliers.
        independent: Names of coordinates, or velocities, preferred as independent ones, or one
            name; without them, coordinates of joints are preferred to those of bodies.
        partition: How independent velocities are chosen: "pivoting" (Gauss elimination with full
            pivoting), "qr" (with column pivoting), or "svd" (combinations of all velocities).
        index: Of "velocity_projection": 2 integrates all positions, 3 solves for the dependent
            ones by Newton's method in every evaluation.
        linear_solver: Of the systems with the dependent columns of the Jacobian, in the
            formulations with pivots chosen as they run: "dense" takes the full matrix, the
            reference; "reordered" orders it once into small blocks with a border.  None takes the
            second for more than 30 dependent coordinates.
        fused: Whether a step is compiled as a whole ("rk4" only), which runs faster and takes
            longer to compile; None decides by the size of the system and the length of the run.
        iterations: Newton iterations of the formulations of index 3 that step by themselves; None
            takes 3 for the augmented Lagrangian and at most 10 for the generalised-α method.
        rho: Spectral radius at infinity of the generalised-α method: 1 damps nothing.
        refinements: Sweeps that improve each solution of the linear system, which counts near
            singular positions; None leaves it to the integrator (one with adaptive steps).
    """

    metric: str = "M"
    projections: str | float | None = None
    position_iterations: int = 1
    baumgarte: float = 10.0
    penalty: float | None = None
    frequency: float = 10.0
    damping: float = 1.0
    rounds: int = 3
    friction_rounds: int = 16
    independent: Sequence[str] = ()
    partition: str = "pivoting"
    index: int = 2
    linear_solver: str | None = None
    refinements: int | None = None
    fused: bool | None = None
    iterations: int | None = None
    rho: float = 0.9

    def __post_init__(self) -> None:
        names = (self.independent,) if isinstance(self.independent, str) else self.independent
        object.__setattr__(self, "independent", tuple(names))
        if self.metric not in ("M", "identity"):
            raise ModelError(f"metric {self.metric!r} is not known; use 'M' or 'identity'")
        if not isinstance(self.projections, str | None) and not self.projections >= 0:
            raise ModelError(
                f"projections above a violation of {self.projections!r}: it must be 0 or more"
            )
        for what, given, known in (
            ("partition", self.partition, PARTITIONS),
            ("linear_solver", self.linear_solver or "dense", tuple(DEPENDENT_SOLVERS)),
            ("index", self.index, (2, 3)),
        ):
            if given not in known:
                listed = ", ".join(map(repr, known))
                raise ModelError(f"option {what} = {given!r} is not known; these are: {listed}")
        if self.partition == "svd" and self.independent:
            raise ModelError(
                "partition 'svd' takes combinations of all velocities as independent ones: leave "
                "independent out, or use partition='pivoting' or 'qr'"
            )
        if self.refinements is not None and self.refinements < 0:
            raise ModelError(f"option refinements must be 0 or more, not {self.refinements!r}")
        if isinstance(self.projections, str) and self.projections not in ("always", "never"):
            raise ModelError(
                f"projections {self.projections!r} is not known; use 'always', 'never' or the "
                f"violation above which to project"
            )
        for name in ("baumgarte", "penalty", "frequency", "damping"):
            value = getattr(self, name)
            if value is None:
                continue
            if not (np.isfinite(value) and value >= 0):
                raise ModelError(f"option {name} must be a number from 0, not {value!r}")
        for name in ("position_iterations", "rounds", "friction_rounds", "iterations"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"option {name} must be 1 or more, not {value!r}")
