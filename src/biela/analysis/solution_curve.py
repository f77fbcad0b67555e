"""A curve of positions: what it holds, where coordinates turn back, where other curves cross."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from biela.analysis.arclength import Place, Tracer
from biela.errors import UnknownNameError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SolutionCurve:
    """Positions along a curve.

    Attributes:
        names: Of the coordinates, then of the outputs.
        length: Of the curve from the start on, (k,).
        t: Time, which only changes where it is free, (k,).
        q: Positions, (k, nq).
        tangents: Displacements for a unit of the length, (k, nv).
        y: Outputs, (k, ny).
        stopped: Why it ends: "closed", "limit of …" or "steps".
        dead_points: For each coordinate that turns back, its name and where (by length).
        bifurcations: Where other curves cross (by length).
    """

    names: tuple[str, ...]
    length: Floats
    t: Floats
    q: Floats
    tangents: Floats
    y: Floats
    stopped: str
    dead_points: tuple[tuple[str, float], ...] = field(default=())
    bifurcations: tuple[float, ...] = field(default=())

    @property
    def closed(self) -> bool:
        """Whether the curve returned to its start."""
        return self.stopped == "closed"

    def __len__(self) -> int:
        return len(self.length)

    def __getitem__(self, name: str) -> Floats:
        """A coordinate or an output along the curve.

        Raises:
            UnknownNameError: Nothing is called so.
        """
        if name not in self.names:
            raise UnknownNameError(f"the curve has no {name}; it has {', '.join(self.names)}")
        k, nq = self.names.index(name), self.q.shape[1]
        return np.asarray(self.q[:, k] if k < nq else self.y[:, k - nq])

    def __str__(self) -> str:
        """Return the figures of the curve."""
        lines = [
            f"{len(self)} positions over a length of {self.length[-1]:.6g}, stopped: {self.stopped}"
        ]
        lines += [f"{name} turns back at {at:.6g}" for name, at in self.dead_points]
        lines += [f"another curve crosses at {at:.6g}" for at in self.bifurcations]
        return "\n".join(lines)


def solution_curve(
    tracer: Tracer, places: list[Place], lengths: list[float], stopped: str
) -> SolutionCurve:
    """The curve through some points of it, with its outputs, dead points and crossings."""
    system = tracer.system
    nv = len(system.v)
    length = np.array(lengths)
    q = np.array([x.q for x in places])
    y = np.zeros((len(places), len(system.y)))
    if "outputs" in system:
        for k, x in enumerate(places):
            y[k] = np.atleast_1d(tracer.instant(x.t)("outputs", x.q))
    rates = np.array([tracer.instant(x.t).N(x.q) @ x.tangent[:nv] for x in places])
    dead = []
    for i, entry in enumerate(system.q):
        column = np.where(np.abs(rates[:, i]) > 1e-9, rates[:, i], 0.0)
        for k in np.flatnonzero(column[1:] * column[:-1] < 0).tolist():
            part = column[k] / (column[k] - column[k + 1])
            dead.append((entry.name, float(length[k] + part * (length[k + 1] - length[k]))))
        if stopped == "closed" and column[0] == 0 and column[-2] * column[1] < 0:
            dead.append((entry.name, 0.0))
        for k in (np.flatnonzero(column[1:-1] == 0) + 1).tolist():
            if column[k - 1] * column[k + 1] < 0:
                dead.append((entry.name, float(length[k])))
    return SolutionCurve(
        tuple(e.name for e in (*system.q, *system.y)),
        length,
        np.array([x.t for x in places]),
        q,
        np.array([x.tangent[:nv] for x in places]),
        y,
        stopped,
        tuple(sorted(dead, key=lambda pair: pair[1])),
        _crossings(tracer, places, length),
    )


def _crossings(tracer: Tracer, places: list[Place], length: Floats) -> tuple[float, ...]:
    """Where the determinant of J with the tangent changes its sign: other curves cross there."""
    if tracer.system.geometric != tracer.size - 1:
        return ()
    determinants = np.array(
        [np.linalg.det(np.vstack([tracer.rows(x.t, x.q), x.tangent])) for x in places]
    )
    found = []
    for k in np.flatnonzero(determinants[1:] * determinants[:-1] < 0):
        part = determinants[k] / (determinants[k] - determinants[k + 1])
        found.append(float(length[k] + part * (length[k + 1] - length[k])))
    return tuple(found)
