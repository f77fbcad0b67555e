"""What a look over a model has found, and how it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.analysis.mobility import Mobility
from biela.model import Model
from biela.model.topology.planarity import Plane
from biela.model.topology.topology import Topology

__all__ = ["OPEN", "CheckReport", "Finding", "Opening"]

#: A joint further open than this at the start is mentioned (m, rad).
OPEN: Final = 1e-6


@dataclass(frozen=True)
class Finding:
    """Something to know: "error" where nothing can be computed, "warning", or "note"."""

    level: str
    text: str


@dataclass(frozen=True)
class Opening:
    """How far a joint is open where a motion starts."""

    joint: str
    distance: float
    angle: float

    def __str__(self) -> str:
        parts = []
        if self.distance > OPEN:
            parts.append(f"{self.distance:.3g} m")
        if self.angle > OPEN:
            parts.append(f"{np.degrees(self.angle):.3g}°")
        return f"{self.joint} is open by {' and '.join(parts)}"


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What was found.

    Attributes:
        model: The model that was looked at closely: itself, or a few instances of its arrays.
        topology: Of the whole model.
        freedoms: Freedoms by rank of the whole model, drivers left aside; None if not found.
        mobility: Rank and redundant rows of what was looked at closely.
        basis: How the freedoms were found, where not from the whole model.
        openings: Joints that are open at the start, widest first.
        plane: The plane it moves in, though it is not declared.
        suggestions: Joints to replace so that no row is redundant.
        findings: Everything worth saying, errors first.
    """

    model: Model
    topology: Topology
    freedoms: int | None
    mobility: Mobility | None
    basis: str
    openings: tuple[Opening, ...]
    plane: Plane | None
    suggestions: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(finding.level == "error" for finding in self.findings)

    def __str__(self) -> str:
        """Return the report as a text."""
        lines = [self.topology.report()]
        if self.freedoms is not None:
            lines.append(f"freedoms by rank: {self.freedoms:,}{self.basis and f' ({self.basis})'}")
        lines += [f"{finding.level}: {finding.text}" for finding in self.findings]
        sound = "no errors in the instances looked at" if self.basis else "no errors"
        lines.append(sound if self.ok else "there are errors")
        return "\n".join(lines)
