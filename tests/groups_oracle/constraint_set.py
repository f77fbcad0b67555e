"""A set of constraints Φ(φ, h) = 0 typed with its matrices, and its solution.

The same form serves a whole mechanism (φ dependent, h driven) and a structural group (h also what
earlier groups gave).  Position by Newton, the Jacobian evaluated again at the solution, then

    Φφ φ̇ = -Φh ḣ,    Φφ φ̈ = -(Φh ḧ + c),    c = Φ̇q q̇.

Rectangular Φφ (redundant rows) is solved by least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.groups_oracle.hyper_dual import derivatives

Floats = npt.NDArray[np.float64]


class DeadPointError(ArithmeticError):
    """The matrix of the unknowns is singular, or Newton does not come to an end."""


@dataclass(frozen=True)
class ConstraintSet:
    """Φ and its blocks, each a function of plain arrays."""

    name: str
    #: Φ(φ, h), written on sequences so that hyper-dual numbers pass
    phi: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]
    #: Φφ(φ, h)
    dependent: Callable[[Floats, Floats], Floats]
    #: Φh(φ, h)
    independent: Callable[[Floats, Floats], Floats]
    #: c(φ, h, φ̇, ḣ), typed as the time derivative
    convective: Callable[[Floats, Floats, Floats, Floats], Floats]

    def residual(self, f: Floats, h: Floats) -> Floats:
        """Φ as an array."""
        return np.array(self.phi(f, h), dtype=float)

    def differentiated(self, f: Floats, h: Floats) -> tuple[Floats, Floats, Floats]:
        """Φφ, Φh and the tensor of second derivatives in (φ, h), by hyper-dual numbers."""
        n = len(f)
        J, T = derivatives(lambda q: self.phi(q[:n], q[n:]), np.concatenate([f, h]))
        return J[:, :n], J[:, n:], T

    def convective_by_tensor(self, f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        """c = (Φqq q̇) q̇, the third-order tensor contracted twice."""
        _, _, T = self.differentiated(f, h)
        v = np.concatenate([fv, hv])
        return np.asarray((T @ v) @ v)


class Motion(NamedTuple):
    """Values with their first two derivatives."""

    x: Floats
    v: Floats
    a: Floats


class Solution(NamedTuple):
    """Unknowns of a set, their rates and accelerations, and the Newton updates it took."""

    x: Floats
    v: Floats
    a: Floats
    updates: int


def solve(
    constraints: ConstraintSet,
    guess: Iterable[float],
    h: Motion,
    tolerance: float = 1e-10,
    most: int = 25,
    tensor: bool = False,
    stale: bool = False,
) -> Solution:
    """Position, velocity and acceleration of the unknowns.

    ``tensor`` takes c from the tensor of second derivatives.  ``stale`` keeps the Jacobian of the
    last Newton update, the error behind the source's Cuadro 1.

    Raises:
        DeadPointError: Φφ loses rank, or ``most`` updates are not enough.
    """
    x = np.array(list(guess), dtype=float)
    hx = np.asarray(h.x, dtype=float)
    F, J, updates = constraints.residual(x, hx), None, 0
    while not np.linalg.norm(F) <= tolerance:
        if updates == most:
            raise DeadPointError(f"{constraints.name}: ‖Φ‖ = {np.linalg.norm(F):.1e} stays")
        J = constraints.dependent(x, hx)
        x = x - _divided(J, F, constraints.name)
        F = constraints.residual(x, hx)
        updates += 1
    if J is None or not stale:
        J = constraints.dependent(x, hx)
    Jh = constraints.independent(x, hx)
    v = -_divided(J, Jh @ h.v, constraints.name)
    c = constraints.convective_by_tensor if tensor else constraints.convective
    a = -_divided(J, Jh @ h.a + c(x, hx, v, np.asarray(h.v)), constraints.name)
    return Solution(x, v, a, updates)


def _divided(J: Floats, b: Floats, name: str) -> Floats:
    singular = np.linalg.svd(J, compute_uv=False)
    if singular[-1] < 1e-12 * max(singular[0], 1e-300):
        raise DeadPointError(f"{name}: Φφ is singular ({singular[-1]:.1e} of {singular[0]:.1e})")
    if J.shape[0] == J.shape[1]:
        return np.asarray(np.linalg.solve(J, b))
    return np.asarray(np.linalg.lstsq(J, b, rcond=None)[0])


def still(values: Iterable[float]) -> Motion:
    """Values that do not change."""
    x = np.array(list(values), dtype=float)
    return Motion(x, np.zeros_like(x), np.zeros_like(x))


def joined(*motions: Motion | Solution) -> Motion:
    """One motion of several put behind one another."""
    x, v, a = (np.concatenate([np.atleast_1d(m[k]) for m in motions]) for k in range(3))
    return Motion(x, v, a)
