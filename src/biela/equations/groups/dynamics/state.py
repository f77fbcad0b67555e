"""The state of a motion by groups: independent coordinates, numbers and rotations, and their rates.

Coordinates are numbers z with rates z', or unit quaternions e with angular velocities ω along the
axes of the body that turns, seen from what it turns in:

    e' = ½ G(e) ω,      e'' = ½ G ω' - ¼ ω² e

with the rows of G (-e₁, -e₂, -e₃), (e₀, -e₃, e₂), (e₃, e₀, -e₁) and (-e₂, e₁, e₀)

(Haug 1989, §9.3).  Kernels of groups take them as laws: z, or the four components of e, with rates,
second rates at z'' = 0 and ω' = 0, and columns: 1, or those of ½ G.  Quaternions are scaled to unit
length where they are read, so that the slope does not depend on their length, which then needs no
correction after a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, Workspace, sqrt
from biela.code import Function
from biela.equations.blocks.populations import Floats

__all__ = ["StateCoordinates", "clock_kernel", "number_kernel", "rotation_kernel"]


@dataclass(frozen=True)
class StateCoordinates:
    """So many numbers, and after them so many rotations."""

    numbers: int
    rotations: int = 0

    @property
    def positions(self) -> int:
        """Size of the positions: quaternions have four components."""
        return self.numbers + 4 * self.rotations

    @property
    def freedoms(self) -> int:
        """Size of the velocities."""
        return self.numbers + 3 * self.rotations

    def columns(self, k: int) -> tuple[int, ...]:
        """The velocities of a coordinate."""
        if k < self.numbers:
            return (k,)
        first = self.numbers + 3 * (k - self.numbers)
        return first, first + 1, first + 2

    def laws(self, states: Floats, accelerations: Floats) -> Floats:
        """Laws with their rates and second rates at states: (instants, 3 x positions)."""
        n = self.numbers
        q, v = np.split(states, [self.positions], axis=1)
        w, dw, ddw = [q[:, :n]], [v[:, :n]], [accelerations[:, :n]]
        for r in range(self.rotations):
            e = q[:, n + 4 * r : n + 4 * r + 4]
            e = e / np.linalg.norm(e, axis=1, keepdims=True)
            omega, alpha = (a[:, n + 3 * r : n + 3 * r + 3] for a in (v, accelerations))
            square = np.square(omega).sum(axis=1, keepdims=True)
            w.append(e)
            dw.append(turning(e, omega))
            ddw.append(turning(e, alpha) - square / 4 * e)
        return np.concatenate([*w, *dw, *ddw], axis=1)


def turning(e: Floats, omega: Floats) -> Floats:
    """The rates (n, 4) of quaternions that turn with angular velocities along their own axes."""
    a, b, c, d = e.T
    x, y, z = omega.T
    rows = [
        -(b * x) - c * y - d * z,
        a * x - d * y + c * z,
        d * x + a * y - b * z,
        -(c * x) + b * y + a * z,
    ]
    return np.stack(rows, axis=1) / 2


def number_kernel(count: int) -> Function:
    """From numbers z and rates z' to laws, with what they have moved by since the last call."""
    ws = Workspace("state")
    z = [ws.symbol(f"z{k}") for k in range(count)]
    dz = [ws.symbol(f"dz{k}") for k in range(count)]
    last = [ws.symbol(f"last{k}") for k in range(count)]
    moves = [a - b for a, b in zip(z, last, strict=True)]
    outputs = {"w": z, "dw": dz, "ddw": [ws.atom(0.0)] * count}
    outputs |= {"move": moves, "now": z, "rate": dz}
    return Function("numbers", {"q": z, "v": dz, "last": last}, outputs)


def clock_kernel() -> Function:
    """From the time to how much has passed since the last call."""
    ws = Workspace("clock")
    t, last = ws.symbol("t"), ws.symbol("last")
    return Function("clock", {"t": [t], "last": [last]}, {"tau": [t - last], "now": [t]})


def rotation_kernel() -> Function:
    """The same from a quaternion e and an angular velocity ω, and the columns ½ G by rows."""
    ws = Workspace("rotation")
    given = [ws.symbol(f"e{k}") for k in range(4)]
    omega = [ws.symbol(f"w{k}") for k in range(3)]
    last = [ws.symbol(f"last{k}") for k in range(4)]
    size = 1 / sqrt(_dot(given, given))
    e = [a * size for a in given]
    G = [[a / 2 for a in row] for row in _rates(e)]
    quarter = _dot(omega, omega) / 4
    rate = [_dot(row, omega) for row in G]
    # the vector part of ē e, twice: the small turn from the last position
    before = _rates(last)
    moves = [2 * _dot([row[j] for row in before], e) for j in range(3)]
    outputs = {"w": e, "dw": rate, "ddw": [-(quarter * a) for a in e]}
    outputs |= {"move": moves, "now": e, "rate": rate, "turns": [a for row in G for a in row]}
    return Function("rotations", {"q": given, "v": omega, "last": last}, outputs)


def _rates(e: Sequence[Atom]) -> list[list[Atom]]:
    """The matrix G, (4, 3)."""
    a, b, c, d = e
    return [[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]]


def _dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total
