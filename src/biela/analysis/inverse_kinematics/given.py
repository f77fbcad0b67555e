"""What is given for the targets: values, rates and instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.targets import Target
from biela.errors import ModelError, ShapeError
from biela.given_files import shown

Floats = npt.NDArray[np.float64]


class Given:
    """Reads what users give for each target."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = tuple(targets)
        self.labels = _labels(targets)

    def wanted(self, given: Any, many: bool) -> Floats:
        """What is wanted, a row a problem."""
        parts = self._for_each(given)
        rows = [target.parsed(part) for target, part in zip(self.targets, parts, strict=True)]
        for label, row in zip(self.labels, rows, strict=True):
            if row.ndim != (2 if many else 1):
                said = "N values, a row each" if many else "one value"
                raise ShapeError(f"{label}: {said} are needed, not an array of shape {row.shape}")
            if not np.isfinite(row).all():
                raise ModelError(f"{label}: the value is not finite")
        if len({len(np.atleast_2d(row)) for row in rows}) != 1:
            sizes = ", ".join(
                f"{len(row)} for {name}" for name, row in zip(self.labels, rows, strict=True)
            )
            raise ShapeError(f"the targets need equally many values, not {sizes}")
        return np.ascontiguousarray(np.concatenate([np.atleast_2d(row) for row in rows], axis=1))

    def rates(self, given: Any, count: int) -> Floats:
        """How fast the targets move, a row an instant."""
        parts = self._for_each(given)
        rows = []
        for target, label, part in zip(self.targets, self.labels, parts, strict=True):
            array = _numbers(part, f"{label}: its rates")
            if array.ndim == 1 and target.rows == 1:
                array = array[:, None]
            if array.shape != (count, target.rows):
                raise ShapeError(
                    f"{label}: its rates are an array of shape {(count, target.rows)}, not "
                    f"{array.shape}"
                )
            if not np.isfinite(array).all():
                raise ModelError(f"{label}: its rates are not finite")
            rows.append(array)
        return np.concatenate(rows, axis=1)

    def _for_each(self, given: Any) -> list[Any]:
        """What is given for each target: of a single one the value itself will do."""
        labels, targets = self.labels, self.targets
        if isinstance(given, Mapping):
            missing = [label for label in labels if label not in given]
            unknown = [label for label in given if label not in labels]
            if missing or unknown:
                raise ModelError(
                    f"values are needed for {', '.join(labels)}, not for "
                    f"{', '.join(map(str, given))}"
                )
            return [given[label] for label in labels]
        if len(targets) == 1:
            return [given]
        if isinstance(given, (list, tuple)) and len(given) == len(targets):
            return list(given)
        raise ShapeError(
            f"a value is needed for each of {len(targets)} targets, in order "
            f"({', '.join(labels)}), as a list or by name"
        )


def instants(given: float | Sequence[float] | Floats, count: int) -> Floats:
    """One time a value."""
    times = _numbers(given, "the times")
    if times.ndim == 0:
        times = np.full(count, float(times))
    if times.shape != (count,) or not np.isfinite(times).all():
        raise ShapeError(f"{count} finite times are needed, one a value, not {given!r}")
    return np.ascontiguousarray(times)


def _numbers(given: Any, what: str) -> Floats:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{what} are an array of numbers, not {shown(given)}") from None


def _labels(targets: Sequence[Target]) -> tuple[str, ...]:
    """A name for each target, with a number where two are called alike."""
    found: list[str] = []
    for target in targets:
        name, k = target.label, 2
        while name in found:
            name, k = f"{target.label} ({k})", k + 1
        found.append(name)
    return tuple(found)
