"""What a run cost and how well it kept its invariants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

__all__ = ["RunStatistics"]

#: Row of the table for each field: label and unit.
_ROWS = {
    "method": ("method", ""),
    "integrator": ("integrator", ""),
    "steps": ("steps", ""),
    "failed_steps": ("failed steps", ""),
    "evaluations": ("evaluations", ""),
    "jacobians": ("Jacobians", ""),
    "factorisations": ("factorisations", ""),
    "iterations": ("Newton iterations", ""),
    "events": ("events", ""),
    "time_simulated": ("time simulated", "s"),
    "time_integration": ("time in integration", "s"),
    "time_solves": ("time in linear solves", "s"),
    "time_total": ("time in all", "s"),
    "max_constraint_error": ("largest constraint error", ""),
    "energy_drift": ("energy drift", ""),
}


@dataclass(frozen=True, kw_only=True)
class RunStatistics:
    """Figures of one run. A field that is None was not counted and is not shown.

    Attributes:
        method: the formulation of the equations, such as "reference point".
        integrator: the time stepping method, such as "generalised-α".
        steps: accepted steps.
        failed_steps: steps tried again with a smaller size.
        evaluations: evaluations of the equations of motion.
        jacobians: evaluations of their derivatives.
        factorisations: matrices factorised.
        iterations: Newton iterations in all.
        events: events located.
        time_simulated: length of the simulated interval, in seconds.
        time_integration: wall clock time inside the integrator, in seconds.
        time_solves: that part of it spent in linear algebra, in seconds.
        time_total: wall clock time of the whole run, in seconds.
        max_constraint_error: largest |Φ| at the stored instants.
        energy_drift: largest change of the energy that should be constant, over its scale.
        more: further figures of one method, by label.
    """

    method: str = ""
    integrator: str = ""
    steps: int | None = None
    failed_steps: int | None = None
    evaluations: int | None = None
    jacobians: int | None = None
    factorisations: int | None = None
    iterations: int | None = None
    events: int | None = None
    time_simulated: float | None = None
    time_integration: float | None = None
    time_solves: float | None = None
    time_total: float | None = None
    max_constraint_error: float | None = None
    energy_drift: float | None = None
    more: Mapping[str, int | float | str] = field(default_factory=dict)

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over the time of integration; above one is faster than real time."""
        spent = self.time_integration or self.time_total
        return self.time_simulated / spent if self.time_simulated and spent else None

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of every figure that was counted."""
        rows = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "more" and value is not None and value != "":
                label, unit = _ROWS[item.name]
                rows.append((label, f"{_text(value)} {unit}".rstrip()))
        if self.real_time_factor is not None:
            rows.append(("faster than real time", f"{self.real_time_factor:.3g} times"))
        return rows + [(label, _text(value)) for label, value in self.more.items()]

    def __str__(self) -> str:
        """Return a table of two columns.

        >>> print(RunStatistics(method="virtual power", steps=1200, time_total=0.0123))
        method       virtual power
        steps                 1200
        time in all       0.0123 s
        """
        rows = self.rows()
        left = max((len(label) for label, _ in rows), default=0)
        right = max((len(text) for _, text in rows), default=0)
        return "\n".join(f"{label:<{left}}  {text:>{right}}" for label, text in rows)


def _text(value: int | float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
