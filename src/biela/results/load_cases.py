"""Load cases of joints: the instants at which some reaction is extreme, with all loads then.

A stress analysis takes loads that act together. The extremes of single components belong to
different instants, so each case is one instant and has the loads of all joints at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array, instants
from biela.results.naming import unknown
from biela.results.tables import Table

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["COMPONENTS", "LoadCase", "LoadCases", "joint_loads", "load_cases"]

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
_UNITS = ("N",) * 3 + ("N·m",) * 3
#: A load below this part of the largest of its kind is zero: it has no extremes worth a case.
_ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class LoadCase:
    """The loads of all joints at one instant.

    Attributes:
        number: counted from one.
        time: in seconds.
        reasons: what is extreme then, such as ("A: max Fx", "B: max |F|").
        loads: the six components of every joint, (joints, 6).
    """

    number: int
    time: float
    reasons: tuple[str, ...]
    loads: Array


@dataclass(frozen=True, eq=False)
class LoadCases:
    """Load cases in the order of time.

    Attributes:
        joints: names of the joints.
        cases: one for each instant at which something is extreme.
    """

    joints: tuple[str, ...]
    cases: tuple[LoadCase, ...]

    def table(self) -> Table:
        """A row a case: number, time, reasons, and six columns a joint."""
        return Table(
            ("case", "t", "extreme", *(f"{j}.{c}" for j in self.joints for c in COMPONENTS)),
            ("", "s", "", *_UNITS * len(self.joints)),
            tuple(
                (case.number, case.time, "; ".join(case.reasons), *case.loads.ravel().tolist())
                for case in self.cases
            ),
            "load cases",
        )

    def save(self, path: str | Path) -> Path:
        """Write the table; .csv for a stress program, or .md, .tex, .txt.

        Raises:
            ResultsError: the suffix is none of these, or the file cannot be written.
        """
        return self.table().save(path)

    def __len__(self) -> int:
        return len(self.cases)

    def __str__(self) -> str:
        """Return the table as text."""
        return str(self.table())


def load_cases(
    t: ArrayLike,
    loads: Mapping[str, ArrayLike],
    joints: Sequence[str] | None = None,
    extremes: Sequence[str] = (*COMPONENTS, "F", "M"),
) -> LoadCases:
    """The instants at which the loads of joints are extreme, each a case with all loads.

    Instants found for several reasons make one case. What is zero all the time has no extremes.

    Args:
        t: the instants, (k,).
        loads: Fx, Fy, Fz, Mx, My, Mz of each joint over time, (k, 6), by name.
        joints: those whose extremes are looked for, and whose loads are listed; by default all.
        extremes: what is looked for: components, of which the least and the largest values, and
            the magnitudes "F" and "M", of which the largest.

    Raises:
        UnknownNameError: a joint or a component is not there.
        ShapeError: loads are not (k, 6).
        ResultsError: no joint is there, or a load is not a number at every instant.
    """
    times = instants(t)
    chosen = tuple(loads) if joints is None else tuple(joints)
    if not chosen:
        raise ResultsError("name at least one joint")
    arrays = []
    for joint in chosen:
        if joint not in loads:
            raise unknown(joint, "joint", loads)
        array = np.asarray(loads[joint], dtype=np.float64)
        if array.shape != (len(times), 6):
            raise ShapeError(
                f"the loads of {joint!r} should have shape ({len(times)}, 6), Fx … Mz over time; "
                f"they have {array.shape}"
            )
        if not np.isfinite(array).all():
            k = int(np.argwhere(~np.isfinite(array))[0, 0])
            raise ResultsError(f"the loads of {joint!r} are not known at {times[k]:g} s")
        arrays.append(array)
    together = np.stack(arrays, axis=1)
    scale = [float(np.abs(together[..., part]).max()) for part in (slice(0, 3), slice(3, 6))]
    reasons: dict[int, list[str]] = {}
    for number, joint in enumerate(chosen):
        for quantity in extremes:
            for reason, k in _extremes(together[:, number], quantity, scale):
                reasons.setdefault(k, []).append(f"{joint}: {reason}")
    return LoadCases(
        chosen,
        tuple(
            LoadCase(number, float(times[k]), tuple(reasons[k]), together[k])
            for number, k in enumerate(sorted(reasons), 1)
        ),
    )


def _extremes(load: Array, quantity: str, scale: Sequence[float]) -> list[tuple[str, int]]:
    """What is extreme, and at which instant; the first of equal ones."""
    moment = quantity.startswith("M")
    if quantity in ("F", "M"):
        size = np.linalg.norm(load[:, 3:] if moment else load[:, :3], axis=1)
        found = [(f"max |{quantity}|", _first(size, scale[moment]))]
    elif quantity in COMPONENTS:
        size = load[:, COMPONENTS.index(quantity)]
        high, low = (_first(sign * size, scale[moment]) for sign in (1.0, -1.0))
        found = [(f"max {quantity}", high), (f"min {quantity}", low)]
    else:
        raise unknown(quantity, "load", (*COMPONENTS, "F", "M"))
    zero = np.abs(size).max() <= _ZERO * scale[moment]
    return [] if zero else found


def _first(size: Array, scale: float) -> int:
    """The first instant of the largest value: of a motion that repeats itself that of the first
    time round, whatever the rounding of the others is.
    """
    return int(np.argmax(size >= size.max() - _ZERO * scale))


def joint_loads(results: Results, *joints: str) -> dict[str, Array]:
    """Loads (k, 6) of joints from channels `joint.Fx` … `joint.Mz`, for `load_cases`.

    Components without a channel, as those out of the plane of a planar mechanism, are zero.

    Args:
        results: of a run.
        joints: their names; by default every joint that has such channels.

    Raises:
        UnknownNameError: a joint has none of these channels.
        ResultsError: no joint has.
    """
    ends = tuple(f".{component}" for component in COMPONENTS)
    there = list(dict.fromkeys(name[:-3] for name in results.names if name.endswith(ends)))
    if not there:
        raise ResultsError(
            f"{results.name!r} has no loads of joints: no channels called joint.Fx … joint.Mz"
        )
    loads = {}
    for joint in joints or there:
        if joint not in there:
            raise unknown(joint, "joint", there)
        columns = [f"{joint}.{component}" for component in COMPONENTS]
        loads[joint] = np.stack(
            [results[name] if name in results else np.zeros(len(results)) for name in columns],
            axis=1,
        )
    return loads
