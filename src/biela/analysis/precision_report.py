"""The errors of a kinematic solution, as `precision` finds them, and their tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.tables import table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Errors:
    """Bounds or spreads of the errors of a state.

    Attributes:
        q: Of the coordinates.
        v: Of the velocities.
        a: Of the accelerations.
    """

    q: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True)
class Sensitivity:
    """What a parameter does to an output.

    Attributes:
        output: Name of the output, coordinate, velocity or acceleration.
        parameter: Name of the parameter.
        slope: ∂y/∂p along the solutions.
        tolerance: Δp.
    """

    output: str
    parameter: str
    slope: float
    tolerance: float

    @property
    def contribution(self) -> float:
        """|∂y/∂p| Δp."""
        return abs(self.slope) * self.tolerance


@dataclass(frozen=True, eq=False)
class Precision:
    """The errors of a kinematic solution at an instant.

    Attributes:
        model: Its name.
        t: The instant, s.
        tolerance: ε, the residual at which positions are accepted.
        condition: Of Φ_v.
        names: Of coordinates, velocities and accelerations.
        truncation: Bounds of the errors due to ε.
        rounding: Spread of solutions with their data changed in the last digit.
        estimate: Condition times machine precision: the relative error that rounding may reach.
        modelling: Sensitivities of the outputs to the parameters.
    """

    model: str
    t: float
    tolerance: float
    condition: float
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    truncation: Errors
    rounding: Errors
    estimate: float
    modelling: tuple[Sensitivity, ...]

    def worst_case(self, output: str) -> float:
        """The largest error of an output that the tolerances of the parameters allow."""
        return sum(s.contribution for s in self.modelling if s.output == output)

    def root_sum_square(self, output: str) -> float:
        """Its likely error, if the parameters deviate independently."""
        return float(np.sqrt(sum(s.contribution**2 for s in self.modelling if s.output == output)))

    def __str__(self) -> str:
        """Return the report as tables."""
        lines = [
            f"Precision of {self.model} at t = {self.t:g} s",
            f"tolerance of positions {self.tolerance:.3g}, condition {self.condition:.3g}, "
            f"relative rounding up to {self.estimate:.2g}",
            "",
        ]
        rows = []
        for names, cut, rounded in zip(
            self.names,
            (self.truncation.q, self.truncation.v, self.truncation.a),
            (self.rounding.q, self.rounding.v, self.rounding.a),
            strict=True,
        ):
            for name, x, y in zip(names, cut, rounded, strict=True):
                rows.append((name, f"{x:.2e}", f"{y:.2e}"))
        lines += table(("", "truncation", "rounding"), rows)
        if self.modelling:
            lines.append("")
            found = [
                (s.output, s.parameter, f"{s.slope:.4g}", f"{s.tolerance:.3g}",
                 f"{s.contribution:.3g}")
                for s in self.modelling
            ]  # fmt: skip
            for output in dict.fromkeys(s.output for s in self.modelling):
                found.append((output, "worst case", "", "", f"{self.worst_case(output):.3g}"))
                found.append(
                    (output, "root sum square", "", "", f"{self.root_sum_square(output):.3g}")
                )
            lines += table(("output", "parameter", "slope", "tolerance", "error"), found)
        return "\n".join(lines)
