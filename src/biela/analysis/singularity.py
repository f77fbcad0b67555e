"""Singular positions of a driven mechanism: how near they are, and which joints make them.

Monitors over time of the Jacobian Φ_v of all rows: its smallest singular value that is not zero by
structure, its condition number, and the determinant of a square one.  A large condition is an alarm
that has no units; the determinant has, and cries wolf in ordinary positions of ordinary mechanisms:
its alarm (near 0 or above 1000 in Peinado 2016) is there for those who ask for it.

Where an alarm sounds, the weakest left singular vector tells which constraints lose their
independence, and the right one which velocities they leave free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import RANK_TOLERANCE, lever_units, unit_rows
from biela.equations import System
from biela.errors import ModelError
from biela.results import Event
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]
Monitors = dict[str, tuple[Callable[[], Floats], str]]

#: Parts of a singular vector below this fraction of its largest are not told.
_TOLD: Final = 0.1
_NUMBERED: Final = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Alarms:
    """When a position is reported as singular.

    Attributes:
        condition: Condition number of Φ_v above which it is.
        determinant: Magnitudes of the determinant of a square Φ_v below and above which it is;
            None for no such alarm.  Those of the source are (1e-6, 1000.0).

    Raises:
        ModelError: A limit is not positive, or the two are not in order.
    """

    condition: float = 1e6
    determinant: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.condition > 0:
            raise ModelError(f"the condition limit is a positive number, not {self.condition!r}")
        if self.determinant is not None:
            low, high = self.determinant
            if not 0 <= low < high:
                raise ModelError(
                    f"the limits of the determinant are two positive numbers in order, such as "
                    f"(1e-6, 1000.0), not {self.determinant!r}"
                )


def owner(multiplier: str) -> str:
    """The joint or drive that a constraint belongs to: "A" of "A.point_x" and of "A_1".

    >>> owner("elbow.point_x"), owner("left.elbow.x"), owner("pin_2"), owner("drive theta")
    ('elbow', 'left.elbow', 'pin', 'drive theta')
    """
    joint, dot, _ = multiplier.rpartition(".")
    return joint if dot else _NUMBERED.sub("", multiplier)


def joints_of(multipliers: Sequence[str]) -> list[str]:
    """The joints and drives that constraints belong to, each once."""
    return list(dict.fromkeys(owner(name) for name in multipliers))


def weakest(system: System, rows: Floats) -> tuple[list[str], list[str]]:
    """The constraints that are nearest to losing their independence, and what would move then.

    ``rows`` are those of Φ_v at one instant.  The velocities come with the largest part first.
    """
    unit, _ = unit_rows(rows)
    U, s, Vt = svd(unit)
    k = min(len(s), rows.shape[1]) - 1
    lost, free = np.abs(U[:, k]), np.abs(Vt[k])
    constraints = [
        system.multipliers[i] for i in np.flatnonzero(lost > _TOLD * lost.max(initial=0.0))
    ]
    order = [i for i in np.argsort(-free) if free[i] > _TOLD * free.max()]
    return constraints, [system.v[i].name for i in order[:3]]


def singularities(
    system: System, t: Floats, rows: Floats, alarms: Alarms
) -> tuple[list[Event], Monitors]:
    """The alarms of a motion as events, and the monitors that show them.

    Args:
        system: The driven mechanism.
        t: The instants, (k,).
        rows: Φ_v at each of them, (k, m, nv).
        alarms: When to tell.
    """
    if not system.multipliers or not len(t):
        return [], {}
    m, n = rows.shape[1:]
    sizes: Floats = np.asarray(np.linalg.svd(rows, compute_uv=False), dtype=float)
    # rows that are redundant everywhere are no singular position
    rank = int((sizes > RANK_TOLERANCE * sizes[:, :1]).sum(axis=1).max())
    least = sizes[:, max(rank - 1, 0)]
    with np.errstate(divide="ignore"):
        condition = np.where(least > 0, sizes[:, 0] / least, np.inf)
    alarm = condition > alarms.condition
    if alarm.any():
        # rows of small mechanisms are small beside those of angles
        lengths = np.array([entry.unit == "m/s" for entry in system.v], dtype=bool)
        even = rows * lever_units(np.abs(rows).max(axis=0), lengths)
        usual = np.linalg.norm(even, axis=2).max(axis=0)
        even = even[alarm] / np.where(usual > 0, usual, 1.0)[:, None]
        s = np.linalg.svd(even, compute_uv=False)
        alarm[alarm] = ~(s[:, max(rank - 1, 0)] * alarms.condition >= s[:, 0])
    events = [
        Event(float(t[k]), _told(system, "singular position", rows[k])) for k in _beginnings(alarm)
    ]
    more: Monitors = {
        "condition": (lambda: condition, ""),
        "smallest singular value": (lambda: least, ""),
    }
    if m == n:
        with np.errstate(invalid="ignore"):
            signs, logarithms = np.linalg.slogdet(rows)
        with np.errstate(over="ignore"):
            determinant = signs * np.exp(logarithms)
        more["determinant"] = (lambda: determinant, "")
        more["determinant sign"] = (lambda: signs, "")
        for k in np.flatnonzero(signs[1:] * signs[:-1] < 0):
            events.append(Event(float(t[k + 1]), "determinant changes sign", int(signs[k + 1])))
        if alarms.determinant is not None:
            low, high = alarms.determinant
            for k in _beginnings(np.abs(determinant) < low):
                events.append(Event(float(t[k]), _told(system, "determinant near zero", rows[k])))
            for k in _beginnings(np.abs(determinant) > high):
                events.append(Event(float(t[k]), f"determinant above {high:g}"))
    return events, more


def _beginnings(alarm: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """The first instants of the times of an alarm."""
    return np.flatnonzero(alarm & ~np.concatenate([[False], alarm[:-1]]))


def _told(system: System, what: str, rows: Floats) -> str:
    constraints, free = weakest(system, rows)
    return f"{what}: {', '.join(joints_of(constraints))} leave {', '.join(free)} free"
